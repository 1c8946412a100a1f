//! Writes linear models, and an ensemble as RankLib's LambdaMART: XML that RankLib reads by place, one element a line.
//!
//! A value goes left where it is at most the threshold; what is missing is 0. Scores are summed in f32.

use super::foreign::quoted;
use super::{
    EngineModel, Exported, in_single, missing_unlike_zero, no_place_for_networks, ranklib_linear,
    with_base_in_first,
};
use crate::error::{Error, Result};
use crate::models::{Ranker, TreeEnsemble};
use crate::trees::{Child, Tree};

/// The model as RankLib's file.
pub(super) fn write(ranker: &Ranker, out: &mut Exported) -> Result<Vec<u8>> {
    let model = ranker.model.shape().engine_model()?;
    let uses_first = match &model {
        EngineModel::Trees(ensemble) => ensemble.trees().iter().any(|tree| tree.features.contains(&0)),
        EngineModel::Linear { weights, .. } => weights[0] != 0.0,
        EngineModel::Network(_) => return Err(no_place_for_networks()),
    };
    let first_id = first_id(ranker, uses_first, out)?;
    match model {
        EngineModel::Linear { weights, bias } => Ok(ranklib_linear::text(weights, bias, first_id, out)),
        EngineModel::Trees(ensemble) => text(ensemble, first_id, out),
        EngineModel::Network(_) => Err(no_place_for_networks()),
    }
}

/// What RankLib calls the first column.
fn first_id(ranker: &Ranker, uses_first: bool, out: &mut Exported) -> Result<u32> {
    if let Some(names) = &ranker.columns.names {
        out.notes.push(format!(
            "RankLib knows features by number: {} is 1, and so on to {}, which is {}",
            quoted(&names[0]),
            quoted(&names[names.len() - 1]),
            names.len()
        ));
        return Ok(1);
    }
    if ranker.columns.first_id == 0 && uses_first {
        return Err(Error::model("the model uses feature 0, and RankLib counts features from 1"));
    }
    Ok(ranker.columns.first_id)
}

/// The text of the model, its first column called `first_id`.
pub(super) fn text(ensemble: &TreeEnsemble, first_id: u32, out: &mut Exported) -> Result<Vec<u8>> {
    let trees = with_base_in_first(ensemble);
    in_single("RankLib", trees.iter().flat_map(|tree| &tree.values), &mut out.notes)?;
    let affected = missing_unlike_zero(&trees);
    if affected > 0 {
        out.missing_as_zero = true;
        out.notes.push(format!(
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

/// A tree as nested elements, written without recursion, since trees may be deep.
fn put_splits(tree: &Tree, first_id: u32, lines: &mut Vec<String>) {
    enum WalkStep {
        Open(Child, &'static str),
        Close,
    }
    let mut steps = vec![WalkStep::Open(tree.root(), "")];
    while let Some(step) = steps.pop() {
        let WalkStep::Open(child, place) = step else {
            lines.push("</split>".into());
            continue;
        };
        lines.push(format!("<split{place}>"));
        steps.push(WalkStep::Close);
        match child {
            Child::Leaf(leaf) => {
                lines.push(format!("<output> {} </output>", shown(tree.values[leaf] as f32)))
            }
            Child::Node(node) => {
                lines.push(format!("<feature> {} </feature>", tree.features[node] + first_id));
                lines.push(format!("<threshold> {} </threshold>", shown(tree.thresholds[node])));
                steps.push(WalkStep::Open(Child::of(tree.right[node]), " pos=\"right\""));
                steps.push(WalkStep::Open(Child::of(tree.left[node]), " pos=\"left\""));
            }
        }
    }
}

/// As Java's `Float.parseFloat` reads it.
pub(super) fn shown(x: f32) -> String {
    if x.is_finite() {
        return zmij::Buffer::new().format_finite(x).to_string();
    }
    if x > 0.0 { "Infinity" } else { "-Infinity" }.into()
}
