//! What features are called in a file.

use super::foreign::quoted;
use crate::error::{Error, Result};
use crate::models::Ranker;
use std::collections::{HashMap, HashSet};

/// What each feature is called, where names are all that a file knows features by.
pub(super) fn unique_names(ranker: &Ranker, notes: &mut Vec<String>) -> Result<Vec<String>> {
    let names: Vec<String> = (0..ranker.model.width()).map(|column| ranker.columns.name(column)).collect();
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(Error::model(format!(
            "two of the model's features are called {}, and this format knows features by name",
            quoted(twice)
        )));
    }
    if ranker.columns.names.is_none() {
        notes.push(format!(
            "the model's features have no names: they are called by their numbers, {} to {}",
            names[0],
            names[names.len() - 1]
        ));
    }
    Ok(names)
}

/// Names for a `tool` that refuses some characters: `_` stands for them, and names that are then alike are numbered. Names
/// that the tool takes stay as they are.
pub(super) fn without(
    refused: impl Fn(char) -> bool,
    names: &[String],
    tool: &str,
    notes: &mut Vec<String>,
) -> Vec<String> {
    let is_fine = |name: &str| !name.is_empty() && !name.contains(&refused);
    let mut taken: HashSet<String> = names.iter().filter(|name| is_fine(name)).cloned().collect();
    let (mut kept, mut numbers): (HashSet<&str>, HashMap<String, usize>) = Default::default();
    let mut safe = Vec::with_capacity(names.len());
    for name in names {
        if is_fine(name) && kept.insert(name) {
            safe.push(name.clone());
            continue;
        }
        let base = if name.is_empty() { "_".to_string() } else { name.replace(&refused, "_") };
        let number = numbers.entry(base.clone()).or_insert(1);
        let mut candidate = base.clone();
        while !taken.insert(candidate.clone()) {
            *number += 1;
            candidate = format!("{base}_{number}");
        }
        safe.push(candidate);
    }
    let changed: Vec<(&String, &String)> = names.iter().zip(&safe).filter(|(old, new)| old != new).collect();
    if let Some((old, new)) = changed.first() {
        notes.push(format!(
            "{tool} refuses {} of the feature names, which are written with other characters: {} is {}",
            changed.len(),
            quoted(old),
            quoted(new)
        ));
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_characters_are_replaced_and_names_stay_apart() {
        let names = ["a", "b[1]", "b_1_", "b<1<", "b_1__2", "", "a", "c d"].map(String::from);
        let mut notes = Vec::new();
        let safe = without(|c| "[]<".contains(c), &names, "XGBoost", &mut notes);
        assert_eq!(safe, ["a", "b_1__3", "b_1_", "b_1__4", "b_1__2", "_", "a_2", "c d"]);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].contains("refuses 4") && notes[0].contains("`b[1]` is `b_1__3`"), "{}", notes[0]);
        let fine = ["x".to_string(), "y z".to_string()];
        assert_eq!(without(|c| c == '[', &fine, "XGBoost", &mut notes), fine);
        assert_eq!(notes.len(), 1);
    }
}
