//! A model that cannot rank: it gives all documents of a query the same score.

use super::Trainer;
use super::relevance::{labels_differ, weighted};
use crate::data::{Dataset, Query, equal_rows};
use crate::error::Result;
use crate::models::Model;

impl Trainer {
    /// A note if the model gives all documents of every training query the same score, with the reason where it is
    /// known.
    pub(super) fn constant_note(&self, model: &Model, train: &Dataset) -> Result<Option<String>> {
        if !is_constant(model, train) {
            return Ok(None);
        }
        let reason = self.why_constant(model, train)?;
        Ok(Some(format!("the model gives all documents of a query the same score, because {reason}")))
    }

    fn why_constant(&self, model: &Model, train: &Dataset) -> Result<String> {
        let same_features = |query: Query<'_>| query.rows().all(|row| equal_rows(row, query.row(0)));
        Ok(if !labels_differ(train) {
            "no training query has documents with different labels".into()
        } else if train.all(|| train.queries().all(same_features)) {
            "no feature differs between the documents of a training query".into()
        } else if !self.has_signal(train)? {
            "no training query prefers one document to another under this loss".into()
        } else if self.scorer().is_none()
            && train.all(|| weighted(train).all(|labels| self.metric.is_undefined(labels)))
        {
            format!("{} is undefined for every training query", self.metric.name())
        } else {
            match model {
                Model::Trees(_) => "no split improved the trees; lower min_data_in_leaf, or use more queries",
                _ => "training found nothing better; try other parameters, or another learner",
            }
            .into()
        })
    }
}

/// Whether no two documents of a query have different scores. Queries of one document are compared with each other if
/// there are no others.
fn is_constant(model: &Model, train: &Dataset) -> bool {
    let mut scores = Vec::new();
    let mut score = |query: Query<'_>| {
        scores.resize(query.len(), 0.0);
        model.score_query(query, &mut scores);
        scores.iter().all(|score| *score == scores[0]).then_some(scores[0])
    };
    if train.any(|| train.queries().any(|query| query.len() > 1)) {
        return train.all(|| train.queries().all(|query| score(query).is_some()));
    }
    // At most two different scores of each worker tell whether all scores are the same.
    let distinct = train.gather(|| {
        let mut found: Vec<f64> = train.queries().filter_map(score).collect();
        found.dedup();
        found.truncate(2);
        found
    });
    distinct.windows(2).all(|pair| pair[0] == pair[1])
}
