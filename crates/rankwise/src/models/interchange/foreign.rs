//! From another tool's model to a [`Ranker`].

use crate::data::Columns;
use crate::error::{Error, Result};
use crate::models::{LearnerCard, Model, Numbering, Outcome, Provenance, Ranker, Record};
use std::collections::HashSet;

/// What was read of another tool's model.
pub(super) struct Foreign {
    /// The tool in prose.
    pub tool: &'static str,
    /// The papers of the tool or of its algorithm: keys of `references.bib`.
    pub citations: &'static [&'static str],
    /// The version that the file names.
    pub version: String,
    /// What it was trained for.
    pub objective: String,
    pub columns: Columns,
    pub numbering: Numbering,
    pub model: Model,
    /// Trees, or other parts that were trained one after the other.
    pub rounds: usize,
    /// What a careful user should know.
    pub notes: Vec<String>,
}

impl Foreign {
    /// The checked model, with what the file records about its training.
    pub(super) fn into_ranker(self) -> Result<Ranker> {
        check_names(&self.columns)?;
        let origin = [self.tool, &self.version].join(" ");
        let mut notes = vec![format!(
            "read from a model file of {}; how it was trained and chosen is not known here",
            origin.trim_end()
        )];
        if self.numbering == Numbering::Undecided {
            notes.push(numbering_note(self.columns.first_id));
        }
        notes.extend(self.notes);
        let parameters = [("objective", &self.objective), ("version", &self.version)];
        let provenance = Provenance {
            learner: LearnerCard {
                name: self.tool.to_lowercase(),
                title: format!("{} model ({})", self.tool, self.objective),
                citations: self.citations.iter().map(|key| key.to_string()).collect(),
            },
            parameters: parameters
                .map(|(key, value)| (key.into(), value.clone().into()))
                .into_iter()
                .collect(),
            metric: "not known".into(),
            record: Record {
                outcome: Outcome::RoundsUsedUp,
                rounds: self.rounds as u64,
                figures: Vec::new(),
                notes,
            },
            ..Provenance::default()
        };
        let ranker = Ranker::new(self.model, self.columns, None, provenance)?;
        Ok(Ranker { numbering: self.numbering, ..ranker })
    }
}

fn check_names(columns: &Columns) -> Result<()> {
    let names = columns.names.as_deref().unwrap_or_default();
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(twice) => Err(Error::model(format!("two of its features are called {}", quoted(twice)))),
        None => Ok(()),
    }
}

fn numbering_note(first_id: u32) -> String {
    format!(
        "its features have no names, and its first column may be feature 0 or feature 1: data decides it, or the number \
         that is given for the first feature; until then, the first column is shown as {first_id}"
    )
}

/// Text of a file in a message: short, in backquotes, without control characters.
pub(super) fn quoted(text: &str) -> String {
    crate::data::quoted(text.as_bytes())
}

/// A message of another library, without control characters and without types of Rust.
pub(in crate::models) fn plain(message: impl std::fmt::Display) -> String {
    in_words(message).chars().map(|c| if c.is_control() { ' ' } else { c }).take(300).collect()
}

/// A message of serde, with words for the types that it expected.
fn in_words(message: impl std::fmt::Display) -> String {
    let mut text = message.to_string();
    for (types, words) in [
        (&["u8", "u32", "u64", "usize"][..], "a whole number that is not negative"),
        (&["i8", "i32", "i64", "isize"], "a whole number"),
        (&["f32", "f64"], "a number"),
        (&["a sequence"], "a list"),
        (&["a map"], "an object"),
    ] {
        for kind in types {
            text = text.replace(&format!("expected {kind} "), &format!("expected {words} "));
        }
    }
    text
}

/// The largest f32 that is not above `t`: for every f32 `x`, `x ≤ t` exactly where `x ≤` this.
pub(super) fn at_or_below(t: f64) -> f32 {
    let near = t as f32;
    if f64::from(near) > t { near.next_down() } else { near }
}

/// `x ≤ t` with a finite threshold, and whether the sides are swapped: data has finite values alone, which are all at
/// most `f32::MAX` and never at most −∞. Model files could not hold an infinite one.
pub(super) fn with_finite(t: f32) -> (f32, bool) {
    if t == f32::NEG_INFINITY { (f32::MAX, true) } else { (t.min(f32::MAX), false) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_serde_name_no_types_of_rust() {
        let error = serde_json::from_str::<Vec<u64>>("[-1]").unwrap_err();
        let told =
            "invalid value: integer `-1`, expected a whole number that is not negative at line 1 column 3";
        assert_eq!(in_words(error), told);
        let error = serde_json::from_str::<f64>("\"x\"").unwrap_err();
        assert_eq!(in_words(error), "invalid type: string \"x\", expected a number at line 1 column 3");
    }

    /// Every threshold is asked about the floats around it, and about all special ones.
    #[test]
    fn a_threshold_in_f32_asks_the_same_question() {
        let tiny = f64::from(f32::from_bits(1));
        let mut thresholds = vec![0.0, -0.0, 0.1, -0.1, 1.0, 1e300, -1e300, f64::INFINITY, f64::NEG_INFINITY];
        thresholds.extend([tiny, tiny / 2.0, tiny * 1.5, 1e-40, 1e-320, 1e-35, f64::from(f32::MAX)]);
        thresholds.extend([f64::from(f32::MAX) * (1.0 + 1e-12), 16_777_217.0, 0.1f32.into()]);
        for t in thresholds.iter().flat_map(|t| [*t, -t, t.next_up(), t.next_down()]) {
            let near = t as f32;
            let around = [near, near.next_up(), near.next_down(), near.next_up().next_up()];
            let special =
                [0.0, -0.0, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(1)];
            for x in around.into_iter().chain(special) {
                assert_eq!(f64::from(x) <= t, x <= at_or_below(t), "{x:e} against {t:e}");
            }
        }
    }
}
