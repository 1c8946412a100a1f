//! Categorical features: which columns hold categories, and what their codes stand for.
//!
//! A category is a whole number from 0 in memory, its code. Where the source has text, a dictionary gives each text a
//! code. Data sets that meet, and a model and the data that it scores, are brought to the same codes by their texts.

use super::{Dataset, Features};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The largest code of a category: features are single precision, which has all whole numbers up to it.
pub const MAX_CATEGORY: u32 = (1 << 24) - 1;

/// The categorical columns of a data set or a model, with the text of each code where categories are text.
///
/// ```
/// use rankwise::data::{Categories, Columns, Dataset};
/// let brands = Categories::default().with(1, ["acme", "zenith"])?;
/// let data = Dataset::dense(vec![0.5, 1.0, 0.2, 0.0], 2, vec![1.0, 0.0], &[2])?
///     .with_columns(Columns { categories: brands, ..Columns::default() })?;
/// assert_eq!(data.columns().categories.name(1, 0), "acme");
/// assert_eq!(data.columns().categories.code(1, "zenith"), Some(1));
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<u32, Vec<String>>", into = "BTreeMap<u32, Vec<String>>")]
pub struct Categories(BTreeMap<u32, Vec<String>>);

impl TryFrom<BTreeMap<u32, Vec<String>>> for Categories {
    type Error = Error;

    fn try_from(columns: BTreeMap<u32, Vec<String>>) -> Result<Categories> {
        for texts in columns.values() {
            check_texts(texts)?;
        }
        Ok(Categories(columns))
    }
}

impl From<Categories> for BTreeMap<u32, Vec<String>> {
    fn from(categories: Categories) -> Self {
        categories.0
    }
}

fn check_texts(texts: &[String]) -> Result<()> {
    if texts.len() > MAX_CATEGORY as usize {
        return Err(Error::data(format!(
            "a categorical feature has {} categories, and more than {MAX_CATEGORY} are not allowed",
            texts.len()
        )));
    }
    let mut seen = BTreeSet::new();
    match texts.iter().find(|text| !seen.insert(*text)) {
        Some(text) => Err(Error::data(format!("the category `{text}` is in its dictionary twice"))),
        None => Ok(()),
    }
}

impl Categories {
    /// The same with `column` (from 0) as a categorical one. Code `c` stands for `texts[c]`; without texts, the codes
    /// are what the source has. Fails if a text occurs twice.
    pub fn with<T: Into<String>>(
        mut self,
        column: usize,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Categories> {
        let texts: Vec<String> = texts.into_iter().map(Into::into).collect();
        check_texts(&texts)?;
        self.0.insert(column as u32, texts);
        Ok(self)
    }

    /// The same with columns whose categories are numbers.
    pub fn with_numbers(mut self, columns: impl IntoIterator<Item = usize>) -> Categories {
        self.0.extend(columns.into_iter().map(|column| (column as u32, Vec::new())));
        self
    }

    /// Whether no column is categorical.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The categorical columns, ascending.
    pub fn columns(&self) -> impl Iterator<Item = usize> {
        self.0.keys().map(|&column| column as usize)
    }

    /// Whether `column` is categorical.
    pub fn contains(&self, column: usize) -> bool {
        self.0.contains_key(&(column as u32))
    }

    /// The texts of a categorical column by code; none where its categories are numbers. `None` if the column is not
    /// categorical.
    pub fn texts(&self, column: usize) -> Option<&[String]> {
        self.0.get(&(column as u32)).map(Vec::as_slice)
    }

    /// The text of a category, or its number if it has no text.
    pub fn name(&self, column: usize, code: u32) -> Cow<'_, str> {
        match self.texts(column).and_then(|texts| texts.get(code as usize)) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(code.to_string()),
        }
    }

    /// The text of a feature value, if it is a category that has one.
    pub fn text(&self, column: usize, x: f32) -> Option<&str> {
        self.texts(column)?.get(code_of(x)? as usize).map(String::as_str)
    }

    /// The code of a category by its text or, where categories are numbers, by its number.
    pub fn code(&self, column: usize, text: &str) -> Option<u32> {
        match self.texts(column)? {
            [] => text.parse().ok().filter(|code| *code <= MAX_CATEGORY),
            texts => texts.iter().position(|known| known == text).map(|code| code as u32),
        }
    }

    /// The columns that `place` keeps, where it moves them to.
    pub(crate) fn moved(&self, place: impl Fn(usize) -> Option<usize>) -> Categories {
        let moved =
            |(&column, texts): (&u32, &Vec<String>)| Some((place(column as usize)? as u32, texts.clone()));
        Categories(self.0.iter().filter_map(moved).collect())
    }

    /// Rejects columns beyond `width`.
    pub(crate) fn check(&self, width: usize) -> Result<()> {
        match self.columns().find(|&column| column >= width) {
            Some(column) => Err(Error::data(format!(
                "column {column}, from 0, is categorical, and there are only {width} columns"
            ))),
            None => Ok(()),
        }
    }
}

/// The code that a value stands for, if it is one.
#[inline]
pub(crate) fn code_of(x: f32) -> Option<u32> {
    // A cast saturates, and it takes a missing value to 0.
    let code = x as u32;
    (code as f32 == x && code <= MAX_CATEGORY).then_some(code)
}

/// Why a value is no category.
pub(super) fn not_a_code(found: &str) -> String {
    format!(
        "{found} is not a category: categories are text, or whole numbers from 0 to {MAX_CATEGORY}; leave the value empty \
         or NaN where it is missing"
    )
}

impl Dataset {
    /// The data with these columns as categorical ones, whose values are codes.
    pub fn with_categories(self, categories: Categories) -> Result<Dataset> {
        let columns = super::Columns { categories, ..self.columns().clone() };
        self.with_columns(columns)
    }

    /// Whether some column is categorical.
    pub fn has_categories(&self) -> bool {
        !self.columns().categories.is_empty()
    }

    /// Rejects values of categorical columns that are not codes.
    pub(super) fn check_categories(&self) -> Result<()> {
        let categories = &self.columns().categories;
        categories.check(self.width())?;
        for column in categories.columns() {
            let texts = categories.texts(column).unwrap_or_default().len();
            let limit = if texts == 0 { MAX_CATEGORY as usize } else { texts - 1 };
            let known = |x: f32| x.is_nan() || code_of(x).is_some_and(|code| code as usize <= limit);
            let values = (0..self.len()).map(|row| self.row(row).get(column));
            if let Some((row, x)) = values.enumerate().find(|(_, x)| !known(*x)) {
                return Err(Error::data(format!(
                    "feature {} of document {} (query {}): {}",
                    self.columns().name(column),
                    row + 1,
                    self.query(self.query_of(row)).id(),
                    not_a_code(&x.to_string())
                )));
            }
        }
        Ok(())
    }

    /// The same data with `target` as the codes of its categories. Categories that `target` does not have get codes of
    /// their own behind it.
    pub(crate) fn recoded(self, target: &Categories) -> Result<Dataset> {
        if self.columns().categories == *target {
            return Ok(self);
        }
        let own = self.columns().categories.clone();
        let numeric = |column: &usize| !target.contains(*column);
        if let Some(column) = own.columns().filter(numeric).find(|&c| own.texts(c) != Some(&[])) {
            return Err(Error::data(format!(
                "feature {} has categories as text in the data, and it was trained on as a number",
                self.columns().name(column)
            )));
        }
        let mut parts = self.into_parts();
        let mut categories = target.clone();
        for (&column, texts) in &mut categories.0 {
            let known = own.texts(column as usize).unwrap_or_default();
            let mut dictionary = Dictionary::new(texts);
            parts.features.change_column(column as usize, |x| dictionary.recode(x, known));
        }
        parts.columns.categories = categories;
        Dataset::new(parts)
    }

    /// The same without a copy where the codes are those of `target` already.
    pub(crate) fn in_codes(&self, target: &Categories) -> Result<Cow<'_, Dataset>> {
        match self.columns().categories == *target {
            true => Ok(Cow::Borrowed(self)),
            false => self.clone().recoded(target).map(Cow::Owned),
        }
    }

    /// The data with dictionaries of the texts that occur in it, in the order of the texts. A model then depends on
    /// what it was trained on, and not on files that were read beside it.
    pub(crate) fn with_own_categories(&self) -> Result<Cow<'_, Dataset>> {
        let categories = &self.columns().categories;
        let mut own = Categories::default();
        for column in categories.columns() {
            let texts = categories.texts(column).unwrap_or_default();
            let mut occurring: Vec<&String> =
                codes_in(self, column).into_iter().filter_map(|code| texts.get(code as usize)).collect();
            occurring.sort_unstable();
            own.0.insert(column as u32, occurring.into_iter().cloned().collect());
        }
        if own == *categories { Ok(Cow::Borrowed(self)) } else { self.clone().recoded(&own).map(Cow::Owned) }
    }

    /// The categories of several data sets together: those of the first, then what the others add.
    pub(super) fn united_categories(sets: &[Dataset]) -> Categories {
        let columns: BTreeSet<usize> =
            sets.iter().flat_map(|set| set.columns().categories.columns()).collect();
        let mut united = Categories::default();
        for column in columns {
            let texts = |set: &Dataset| set.columns().categories.texts(column).unwrap_or_default().to_vec();
            let mut all: Vec<String> = Vec::new();
            if sets.iter().any(|set| !texts(set).is_empty()) {
                let mut seen = BTreeSet::new();
                for set in sets {
                    let own = match &texts(set)[..] {
                        [] => codes_in(set, column).iter().map(u32::to_string).collect(),
                        own => own.to_vec(),
                    };
                    all.extend(own.into_iter().filter(|text| seen.insert(text.clone())));
                }
            }
            united.0.insert(column as u32, all);
        }
        united
    }
}

/// The codes that occur in a column, ascending.
fn codes_in(data: &Dataset, column: usize) -> BTreeSet<u32> {
    (0..data.len()).filter_map(|row| code_of(data.row(row).get(column))).collect()
}

/// The codes of one column, which grow by the categories that are new.
struct Dictionary<'a> {
    /// Empty where categories are numbers.
    texts: &'a mut Vec<String>,
    by_text: HashMap<String, u32>,
    /// The new codes of the old ones met before.
    met: HashMap<u32, f32>,
}

impl<'a> Dictionary<'a> {
    fn new(texts: &'a mut Vec<String>) -> Dictionary<'a> {
        let by_text = texts.iter().enumerate().map(|(code, text)| (text.clone(), code as u32)).collect();
        Dictionary { texts, by_text, met: HashMap::new() }
    }

    /// The code of a value whose own code has its text in `known`, or is a number. What is no code stays as it is.
    fn recode(&mut self, x: f32, known: &[String]) -> f32 {
        let Some(code) = code_of(x) else { return x };
        if let Some(&new) = self.met.get(&code) {
            return new;
        }
        let text = known.get(code as usize);
        let new = if self.by_text.is_empty() {
            // Text that is no number is a category that no model with numbers knows.
            text.map_or(Some(code), |text| text.parse().ok())
                .map_or(MAX_CATEGORY, |code| code.min(MAX_CATEGORY))
        } else {
            let text = text.cloned().unwrap_or_else(|| code.to_string());
            *self.by_text.entry(text).or_insert_with_key(|text| {
                self.texts.push(text.clone());
                self.texts.len() as u32 - 1
            })
        };
        self.met.insert(code, new as f32);
        new as f32
    }
}

impl Features {
    /// Replaces all values of a column.
    pub(crate) fn change_column(&mut self, column: usize, mut change: impl FnMut(f32) -> f32) {
        match self {
            Features::Dense { width, values } => {
                values.iter_mut().skip(column).step_by(*width).for_each(|x| *x = change(*x));
            }
            Features::Sparse { starts, columns, values, .. } => {
                let (mut new_columns, mut new_values) = (Vec::new(), Vec::new());
                let mut begin = 0;
                for start in starts.iter_mut().skip(1) {
                    let (old, end) = (begin..*start, *start);
                    begin = end;
                    let place = columns[old.clone()].partition_point(|&c| (c as usize) < column) + old.start;
                    let stored = place < end && columns[place] as usize == column;
                    let x = change(if stored { values[place] } else { 0.0 });
                    let rest = if stored { place + 1 } else { place };
                    new_columns.extend_from_slice(&columns[old.start..place]);
                    new_values.extend_from_slice(&values[old.start..place]);
                    if x != 0.0 {
                        new_columns.push(column as u32);
                        new_values.push(x);
                    }
                    new_columns.extend_from_slice(&columns[rest..end]);
                    new_values.extend_from_slice(&values[rest..end]);
                    *start = new_values.len();
                }
                (*columns, *values) = (new_columns, new_values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Columns, Layout};

    const NAN: f32 = f32::NAN;

    fn coded(values: &[f32], texts: &[&str], layout: Layout) -> Dataset {
        let rows = values.len();
        let data = match layout {
            Layout::Sparse => {
                let kept: Vec<usize> = (0..rows).filter(|&row| values[row] != 0.0).collect();
                let starts = (0..=rows).map(|row| kept.partition_point(|&k| k < row)).collect();
                let stored = kept.iter().map(|&row| values[row]).collect();
                Dataset::sparse(starts, vec![1; kept.len()], stored, 2, vec![0.0; rows], &[rows])
            }
            _ => {
                let values = values.iter().flat_map(|&x| [0.5, x]).collect();
                Dataset::dense(values, 2, vec![0.0; rows], &[rows])
            }
        };
        data.unwrap().with_categories(Categories::default().with(1, texts.iter().copied()).unwrap()).unwrap()
    }

    fn names(data: &Dataset) -> Vec<String> {
        let value = |row: usize| data.row(row).get(1);
        let name =
            |x: f32| if x.is_nan() { "?".into() } else { data.columns().categories.name(1, x as u32).into() };
        (0..data.len()).map(|row| name(value(row))).collect()
    }

    #[test]
    fn the_same_text_gets_the_same_code() {
        for layout in [Layout::Dense, Layout::Sparse] {
            let first = coded(&[0.0, 1.0, NAN], &["a", "c"], layout);
            let second = coded(&[1.0, 0.0, 2.0, 0.0], &["b", "a", "d"], layout);
            let aligned = Dataset::align_columns(vec![first.clone(), second.clone()]).unwrap();
            assert_eq!(aligned[0].columns(), aligned[1].columns());
            assert_eq!(aligned[0].columns().categories.texts(1).unwrap(), ["a", "c", "b", "d"]);
            assert_eq!(names(&aligned[0]), ["a", "c", "?"]);
            assert_eq!(names(&aligned[1]), ["a", "b", "d", "b"]);
            // What a model of the first data sees: `b` and `d` have codes that it does not know.
            let seen = second.recoded(&first.columns().categories).unwrap();
            assert_eq!(names(&seen), ["a", "b", "d", "b"]);
            assert_eq!(seen.row(0).get(1), 0.0);
            assert!([1, 2, 3].iter().all(|&row| seen.row(row).get(1) >= 2.0));
        }
    }

    #[test]
    fn numbers_and_text_are_matched_by_what_is_written() {
        let numbers = coded(&[7.0, 0.0, 7.0], &[], Layout::Dense);
        let texts = coded(&[0.0, 1.0, 2.0], &["7", "new", "0"], Layout::Dense);
        let aligned = Dataset::align_columns(vec![numbers.clone(), texts.clone()]).unwrap();
        assert_eq!(names(&aligned[0]), ["7", "0", "7"]);
        assert_eq!(names(&aligned[1]), ["7", "new", "0"]);
        assert_eq!(aligned[0].columns(), aligned[1].columns());
        let as_numbers = texts.recoded(&numbers.columns().categories).unwrap();
        let value = |row: usize| as_numbers.row(row).get(1);
        assert_eq!([value(0), value(1), value(2)], [7.0, MAX_CATEGORY as f32, 0.0]);
    }

    #[test]
    fn a_model_sees_only_the_texts_of_its_own_data() {
        let data = coded(&[3.0, 1.0, NAN, 3.0], &["z", "y", "x", "a"], Layout::Dense);
        let own = data.with_own_categories().unwrap();
        assert_eq!(own.columns().categories.texts(1).unwrap(), ["a", "y"]);
        assert_eq!(names(&own), ["a", "y", "?", "a"]);
        assert!(matches!(own.with_own_categories().unwrap(), Cow::Borrowed(_)));
    }

    #[test]
    fn what_is_no_code_is_refused() {
        let data = |x: f32| Dataset::dense(vec![0.0, x], 1, vec![0.0; 2], &[2]).unwrap();
        let numbers = || Categories::default().with_numbers([0]);
        for x in [-1.0, 1.5, 16_777_216.0, 1e30] {
            let refusal = data(x).with_categories(numbers()).unwrap_err().to_string();
            assert!(refusal.contains("document 2") && refusal.contains("whole numbers from 0"), "{refusal}");
        }
        assert!(data(NAN).with_categories(numbers()).is_ok());
        assert!(data(16_777_215.0).with_categories(numbers()).is_ok());
        let texts = || Categories::default().with(0, ["only"]).unwrap();
        assert!(data(0.0).with_categories(texts()).is_ok());
        assert!(data(1.0).with_categories(texts()).is_err());
        assert!(data(0.0).with_categories(Categories::default().with_numbers([1])).is_err());
        assert!(Categories::default().with(0, ["a", "a"]).is_err());
        let read = |text: &str| serde_json::from_str::<Columns>(text);
        let columns = read("{\"first_id\":1,\"names\":null,\"categories\":{\"3\":[\"a\",\"b\"]}}").unwrap();
        assert_eq!(columns.categories.code(3, "b"), Some(1));
        assert!(read("{\"first_id\":1,\"names\":null,\"categories\":{\"3\":[\"a\",\"a\"]}}").is_err());
        assert_eq!(serde_json::to_string(&Columns::default()).unwrap(), "{\"first_id\":1,\"names\":null}");
    }
}
