//! What there is: learners with their parameters.

use crate::convert::{to_json, to_python};
use pyo3::prelude::*;
use rankwise::Recipe;
use rankwise::learners::{LEARNERS, LearnerEntry, Parameter, ScorerKind};
use serde_json::{Value, json};

/// All learners, each with its names, papers, scorers and parameters, and whether it can be trained on several workers.
///
/// ```text
/// >>> import rankwise as rw
/// >>> [learner["name"] for learner in rw.learners() if "Wu et al. 2010" in learner["papers"]]
/// ['lambda-mart']
///
/// ```
#[pyfunction]
pub(crate) fn learners(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    to_python(py, &LEARNERS.iter().map(described).collect())
}

fn described(entry: &LearnerEntry) -> Value {
    let with = |scorer: &ScorerKind| -> (String, Value) {
        let parameters = entry.parameters_with(scorer.name()).expect("a scorer of the learner");
        (scorer.name().into(), parameters.iter().map(parameter).collect())
    };
    // A learner that distributes with one of its scorers is one that distributes.
    let distributes = |scorer: Option<&str>| {
        let recipe = Recipe::new(entry.card.name);
        let recipe = scorer.map_or(recipe.clone(), |scorer| recipe.scorer(scorer));
        recipe.check().is_ok_and(|trainer| trainer.check_distributes().is_ok())
    };
    let scorers: Vec<&str> = entry.scorers().into_iter().map(ScorerKind::name).collect();
    json!({
        "distributes": distributes(None) || scorers.iter().any(|scorer| distributes(Some(scorer))),
        "name": entry.card.name,
        "title": entry.card.title,
        "summary": entry.card.summary,
        "papers": entry.card.cited(),
        "scorers": scorers,
        "parameters": entry.parameters().iter().map(parameter).collect::<Value>(),
        "with_scorer": entry.scorers().iter().map(with).collect::<serde_json::Map<_, _>>(),
    })
}

fn parameter(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "default": to_json(&parameter.default),
        "meaning": parameter.meaning,
        "aliases": parameter.aliases,
        "of_scorer": parameter.of_scorer,
    })
}
