//! Cards: what a learner, metric or loss is called, what it does and which papers it comes from. Finding one by name,
//! and citing its papers.

use crate::error::{Error, Result};
use serde::Serialize;

/// The papers that cards cite, in BibTeX.
const REFERENCES: &str = include_str!("../references.bib");

/// Name, title, summary and sources of a learner, metric or loss.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Card {
    /// The canonical name, as typed: `coordinate-ascent`.
    pub name: &'static str,
    /// The name in prose: `Coordinate ascent`.
    pub title: &'static str,
    /// What it computes, in a sentence or two.
    pub summary: &'static str,
    /// The papers it comes from: keys of `references.bib`. See [`cited`](Card::cited).
    pub citations: &'static [&'static str],
}

impl Card {
    /// The papers as a reader knows them: `Järvelin and Kekäläinen 2002, Burges et al. 2005`; empty without papers.
    pub fn cited(&self) -> String {
        let cited: Vec<String> = self.citations.iter().map(|key| citation(key)).collect();
        cited.join(", ")
    }
}

/// The paper with this BibTeX key as author and year; the key itself if it is unknown.
///
/// ```
/// assert_eq!(rankwise::card::citation("wu2010adapting"), "Wu et al. 2010");
/// assert_eq!(rankwise::card::citation("metzler2007linear"), "Metzler and Croft 2007");
/// assert_eq!(rankwise::card::citation("friedman2001greedy"), "Friedman 2001");
/// assert_eq!(rankwise::card::citation("unknown2000key"), "unknown2000key");
/// ```
pub fn citation(key: &str) -> String {
    let entry = REFERENCES.split("\n@").find(|entry| {
        entry.split_once('{').and_then(|(_, rest)| rest.split_once(',')).is_some_and(|(k, _)| k.trim() == key)
    });
    let author_and_year = entry.and_then(|entry| Some((field(entry, "author")?, field(entry, "year")?)));
    match author_and_year {
        Some((authors, year)) => format!("{} {year}", short_authors(&authors)),
        None => key.to_owned(),
    }
}

/// The value of a field `name = {value}`, without inner braces and line ends.
fn field(entry: &str, name: &str) -> Option<String> {
    let after = entry.match_indices(name).find_map(|(at, _)| {
        let starts_word = entry[..at].ends_with(|c: char| c.is_whitespace() || c == ',');
        let value =
            entry[at + name.len()..].trim_start().strip_prefix('=')?.trim_start().strip_prefix('{')?;
        starts_word.then_some(value)
    })?;
    let mut depth = 1;
    let end = after.find(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth == 0
    })?;
    let words: Vec<&str> = after[..end].split_whitespace().collect();
    Some(words.join(" ").replace(['{', '}'], ""))
}

/// One or two family names, or the first and `et al.`
fn short_authors(authors: &str) -> String {
    let family = |author: &str| match author.split_once(',') {
        Some((family, _)) => family.to_owned(),
        None => author.rsplit(' ').next().unwrap_or(author).to_owned(),
    };
    let names: Vec<&str> = authors.split(" and ").collect();
    match names[..] {
        [one] => family(one),
        [one, other] if other != "others" => format!("{} and {}", family(one), family(other)),
        _ => format!("{} et al.", family(names[0])),
    }
}

/// The entry called `name`, or an error that suggests the nearest one.
pub fn find<'a, T>(entries: &'a [T], card: impl Fn(&T) -> &Card, what: &str, name: &str) -> Result<&'a T> {
    entries.iter().find(|e| card(e).name == name).ok_or_else(|| {
        let names: Vec<&str> = entries.iter().map(|e| card(e).name).collect();
        unknown(what, name, &names)
    })
}

/// The error for an unknown name. It suggests the nearest known name, or lists all if none is near.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> Error {
    let hint = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None if known.is_empty() => "there are none".to_owned(),
        None => format!("known: {}", known.join(", ")),
    };
    Error::parameter(format!("unknown {what} `{name}`; {hint}"))
}

/// The longest name, in bytes, that is compared with others.
const LONGEST_TYPED: usize = 256;

/// The known name most similar to `name`, if any is similar enough to be a typing error.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    // Similarity takes time proportional to both lengths, and no typing error is this long.
    let is_short = |name: &str| name.len() <= LONGEST_TYPED;
    let name = Some(name).filter(|name| is_short(name))?.to_lowercase().replace('_', "-");
    known
        .iter()
        .filter(|known| is_short(known))
        .map(|k| (strsim::jaro_winkler(&name, &k.to_lowercase().replace('_', "-")), *k))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_suggests_a_name_and_nonsense_lists_all() {
        let known = ["coordinate-ascent", "regression"];
        assert_eq!(nearest("regresion", &known), Some("regression"));
        assert_eq!(nearest("Coordinate_Ascent", &known), Some("coordinate-ascent"));
        assert_eq!(nearest("zzz", &known), None);
        assert!(unknown("learner", "zzz", &known).to_string().contains("coordinate-ascent, regression"));
    }

    #[test]
    fn every_reference_has_an_author_and_a_year() {
        let keys =
            REFERENCES.lines().filter_map(|l| l.strip_prefix('@')?.split_once('{')?.1.strip_suffix(','));
        let keys: Vec<&str> = keys.collect();
        assert!(keys.len() > 60);
        for key in keys {
            let cited = citation(key);
            let year = cited.rsplit(' ').next().unwrap();
            assert!(cited != key && year.len() == 4 && year.parse::<u32>().is_ok(), "{key}: {cited}");
        }
    }
}
