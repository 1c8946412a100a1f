//! What is said of documents that were found.

use crate::problem::Answer;
use rankwise_search::search::{Explained, ExplainedFeature, Found, WhyNot};
use rankwise_search::{Document, Query, Snapshot, Snippet, Snippets};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Characters of a snippet.
const SNIPPET: usize = 240;

/// A document in an answer.
#[derive(Debug, Serialize)]
pub(crate) struct Hit {
    pub(crate) id: String,
    pub(crate) rank: usize,
    pub(crate) score: f64,
    /// Missing where the retrieval is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bm25: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) bm25_rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) by_model: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fields: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) snippet: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) explain: Option<Value>,
}

impl Hit {
    /// A document with its score, and nothing else.
    pub(crate) fn new(id: String, rank: usize, score: f64) -> Hit {
        Hit {
            id,
            rank,
            score,
            bm25: None,
            bm25_rank: None,
            by_model: None,
            fields: None,
            snippet: None,
            explain: None,
        }
    }

    /// A document that a search has found.
    pub(crate) fn found(found: &Found, rank: usize) -> Hit {
        Hit {
            bm25: Some(found.bm25),
            bm25_rank: Some(found.bm25_rank),
            by_model: Some(found.by_model),
            ..Hit::new(found.id.clone(), rank, found.score)
        }
    }
}

/// The fields of a document, or those of them that were asked for.
pub(crate) fn fields(document: &Document, wanted: Option<&[String]>) -> Map<String, Value> {
    let is_wanted = |name: &String| wanted.is_none_or(|wanted| wanted.contains(name));
    let fields = document.fields.iter().filter(|(name, _)| is_wanted(name));
    fields.map(|(name, value)| (name.clone(), value.to_json())).collect()
}

/// What makes snippets of a query.
pub(crate) fn snippets(snapshot: &Snapshot, query: &Query) -> Answer<Snippets> {
    Ok(snapshot.snippets_of_all(query, SNIPPET)?)
}

/// A snippet with its highlights.
pub(crate) fn snippet_as_json(snippet: &Snippet) -> Value {
    json!({
        "text": snippet.text,
        "highlights": snippet.characters(),
        "cut_before": snippet.cut_before,
        "cut_after": snippet.cut_after,
    })
}

/// What a score is made of. There is no base where it is not a sum over features.
pub(crate) fn explained_as_json(explained: &Explained) -> Value {
    let features: Vec<Value> = explained.features.iter().map(ExplainedFeature::to_json).collect();
    let is_sum = explained.features.iter().any(|feature| feature.contribution.is_some());
    json!({
        "base": is_sum.then_some(explained.base),
        "base_name": is_sum.then_some(explained.base_name),
        "features": features,
    })
}

/// Why a document is not among the first, in numbers and in a sentence.
pub(crate) fn why_not_as_json(why: &WhyNot, id: &str, k: usize) -> Value {
    let mut value = why.to_json();
    value["id"] = id.into();
    value["sentence"] = why.in_words(id, k).into();
    value
}

/// Why a document is not in a list that is made from the rankings of two models: what each of them says.
pub(crate) fn why_in_neither(of_models: [(&String, WhyNot); 2], id: &str, k: usize) -> Value {
    let [(_, first), (_, second)] = &of_models;
    if first == second && matches!(first, WhyNot::NotInIndex | WhyNot::NoMatch) {
        return why_not_as_json(first, id, k);
    }
    let mut sentence = format!("`{id}` is not in the list, which is made from the rankings of two models.");
    let mut models = Map::new();
    for (name, why) in of_models {
        let mut of_model = why_not_as_json(&why, id, k);
        if let WhyNot::Shown(rank) = why {
            of_model["reason"] = "other-model".into();
            of_model["sentence"] = format!(
                "`{id}` is at rank {rank}, and documents of the other model have taken the places before that."
            )
            .into();
        }
        sentence += &format!(" `{name}`: {}", of_model["sentence"].as_str().unwrap_or_default());
        models.insert(name.clone(), of_model);
    }
    json!({ "id": id, "reason": "interleaved", "sentence": sentence, "models": models })
}
