//! The categories of a column while a table is read.

use super::excerpt::quoted;
use super::number;
use crate::data::categories::{code_of, not_a_code};
use crate::error::{Error, Place, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The distinct texts of a column, numbered as they come. Rows refer to them by number until all are known.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(super) struct ColumnCategories {
    texts: Vec<String>,
    /// Not sent to other machines, where texts are only [`join`](ColumnCategories::join)ed to others.
    #[serde(skip)]
    numbers: HashMap<String, u32>,
    /// The first text that is a number and no code: an error if all the others are numbers, too.
    misfit: Option<(Place, String)>,
}

impl ColumnCategories {
    /// The number of a text. `place` finds where it is.
    pub(super) fn number(&mut self, text: &str, place: impl FnOnce() -> Place) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        if self.misfit.is_none() && code(text).is_none() && number::parse(text.as_bytes()).is_some() {
            self.misfit = Some((place(), text.to_owned()));
        }
        self.add(text)
    }

    fn add(&mut self, text: &str) -> u32 {
        let number = self.texts.len() as u32;
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), number);
        number
    }

    /// Adds the texts of rows that come after. Returns the number here of each of theirs.
    pub(super) fn join(&mut self, more: &ColumnCategories) -> Vec<u32> {
        if self.misfit.is_none() {
            self.misfit.clone_from(&more.misfit);
        }
        let number = |text: &String| self.numbers.get(text).copied().unwrap_or_else(|| self.add(text));
        more.texts.iter().map(number).collect()
    }

    /// The texts by their numbers.
    pub(super) fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The code of each number, and the texts by code. Where all texts are numbers, they are the codes themselves, and
    /// there are no texts.
    pub(super) fn codes(self) -> Result<(Vec<u32>, Vec<String>)> {
        if self.texts.iter().all(|text| number::parse(text.as_bytes()).is_some()) {
            if let Some((place, text)) = self.misfit {
                return Err(Error::parse(place, not_a_code(&quoted(text.as_bytes()))));
            }
            return Ok((self.texts.iter().map(|text| code(text).unwrap_or_default()).collect(), Vec::new()));
        }
        let mut order: Vec<usize> = (0..self.texts.len()).collect();
        order.sort_unstable_by_key(|&number| &self.texts[number]);
        let mut codes = vec![0; order.len()];
        order.iter().enumerate().for_each(|(code, &number)| codes[number] = code as u32);
        let mut texts = self.texts;
        texts.sort_unstable();
        Ok((codes, texts))
    }
}

/// The code that a text stands for, if it is a number.
fn code(text: &str) -> Option<u32> {
    number::parse(text.as_bytes()).and_then(code_of)
}
