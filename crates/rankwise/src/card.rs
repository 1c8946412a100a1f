//! Cards: what a learner, metric or loss is called, does, and comes from; and finding one by its name.

use crate::error::{Error, Result};
use serde::Serialize;

/// What a reader wants to know of a learner, metric or loss before using it.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Card {
    /// The one name, as typed: `coordinate-ascent`.
    pub name: &'static str,
    /// The name in prose: `Coordinate ascent`.
    pub title: &'static str,
    /// What it computes, in a sentence or two.
    pub summary: &'static str,
    /// Where it comes from: keys of `docs/references.bib`.
    pub citations: &'static [&'static str],
}

/// The entry called `name`, or an error that suggests the nearest one.
pub fn find<'a, T>(entries: &'a [T], card: impl Fn(&T) -> &Card, what: &str, name: &str) -> Result<&'a T> {
    entries.iter().find(|e| card(e).name == name).ok_or_else(|| {
        let names: Vec<&str> = entries.iter().map(|e| card(e).name).collect();
        unknown(what, name, &names)
    })
}

/// An error for an unknown name, with the nearest known one or, failing that, all of them.
pub fn unknown(what: &str, name: &str, known: &[&str]) -> Error {
    let hint = match nearest(name, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", known.join(", ")),
    };
    Error::parameter(format!("unknown {what} `{name}`; {hint}"))
}

/// The known name most like `name`, if any is alike enough to be a slip of the fingers.
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let name = name.to_lowercase().replace('_', "-");
    known
        .iter()
        .map(|k| (strsim::jaro_winkler(&name, &k.to_lowercase().replace('_', "-")), *k))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, k)| k)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_name_and_nonsense_lists_all() {
        let known = ["coordinate-ascent", "regression"];
        assert_eq!(nearest("regresion", &known), Some("regression"));
        assert_eq!(nearest("Coordinate_Ascent", &known), Some("coordinate-ascent"));
        assert_eq!(nearest("zzz", &known), None);
        assert!(unknown("learner", "zzz", &known).to_string().contains("coordinate-ascent, regression"));
    }
}
