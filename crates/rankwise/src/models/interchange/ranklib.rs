//! Writes an ensemble as RankLib's LambdaMART: XML that RankLib reads by place, one element a line.
//!
//! A value goes left where it is at most the threshold; what is missing is 0. Scores are summed in f32.

use super::foreign::quoted;
use super::with_base_in_first;
use crate::error::{Error, Result};
use crate::models::{Ensemble, Ranker};
use crate::trees::{Child, Tree};

/// The model as RankLib's file.
pub(super) fn write(ranker: &Ranker, ensemble: &Ensemble, notes: &mut Vec<String>) -> Result<Vec<u8>> {
    let trees = with_base_in_first(ensemble);
    let first_id = match &ranker.columns.names {
        Some(names) => {
            notes.push(format!(
                "RankLib knows features by number: {} is 1, and so on to {}, which is {}",
                quoted(&names[0]),
                quoted(&names[names.len() - 1]),
                names.len()
            ));
            1
        }
        None => ranker.columns.first_id,
    };
    if first_id == 0 && trees.iter().any(|tree| tree.features.contains(&0)) {
        return Err(Error::model("the model tests feature 0, and RankLib counts features from 1"));
    }
    if let Some(large) = trees.iter().flat_map(|tree| &tree.values).find(|v| !(**v as f32).is_finite()) {
        return Err(Error::model(format!(
            "RankLib keeps values in single precision, and {large} is too large"
        )));
    }
    notes.push("RankLib sums in single precision: scores agree to about six digits".into());
    let affected = trees.iter().map(sent_elsewhere).sum::<usize>();
    if affected > 0 {
        notes.push(format!(
            "RankLib takes missing values as 0, and {affected} of the model's tests send them another way than 0: \
             documents with missing values there get other scores"
        ));
    }
    let mut lines = vec![
        "## LambdaMART".to_string(),
        format!("## No. of trees = {}", trees.len()),
        "## Written by Rankwise".to_string(),
        String::new(),
        "<ensemble>".to_string(),
    ];
    for (id, tree) in trees.iter().enumerate() {
        lines.push(format!("<tree id=\"{}\" weight=\"1.0\">", id + 1));
        put_splits(tree, first_id, &mut lines);
        lines.push("</tree>".into());
    }
    lines.push("</ensemble>".into());
    Ok((lines.join("\n") + "\n").into_bytes())
}

/// How many tests send missing values another way than 0.
fn sent_elsewhere(tree: &Tree) -> usize {
    tree.thresholds.iter().zip(&tree.missing_left).filter(|(t, left)| (0.0 <= **t) != **left).count()
}

/// A tree as nested elements, written without recursion, since trees may be deep.
fn put_splits(tree: &Tree, first_id: u32, lines: &mut Vec<String>) {
    enum Step {
        Open(Child, &'static str),
        Close,
    }
    let mut steps = vec![Step::Open(tree.root(), "")];
    while let Some(step) = steps.pop() {
        let Step::Open(child, place) = step else {
            lines.push("</split>".into());
            continue;
        };
        lines.push(format!("<split{place}>"));
        steps.push(Step::Close);
        match child {
            Child::Leaf(leaf) => {
                lines.push(format!("<output> {} </output>", shown(tree.values[leaf] as f32)))
            }
            Child::Node(node) => {
                lines.push(format!("<feature> {} </feature>", tree.features[node] + first_id));
                lines.push(format!("<threshold> {} </threshold>", shown(tree.thresholds[node])));
                steps.push(Step::Open(Child::of(tree.right[node]), " pos=\"right\""));
                steps.push(Step::Open(Child::of(tree.left[node]), " pos=\"left\""));
            }
        }
    }
}

/// As Java's `Float.parseFloat` reads it.
fn shown(x: f32) -> String {
    if x.is_finite() {
        return zmij::Buffer::new().format_finite(x).to_string();
    }
    if x > 0.0 { "Infinity" } else { "-Infinity" }.into()
}
