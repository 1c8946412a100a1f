//! The rankings of a new ranker.

use crate::clicks::simulate::document_id;
use crate::data::trec::{Topic, TrecRun};
use crate::data::{Dataset, Query};
use crate::error::{Error, Result};
use crate::rank::{RankRule, Sorter, Ties};
use std::collections::HashMap;

/// The rankings to be judged: for each query, its documents, best first.
pub type Rankings = HashMap<String, Vec<String>>;

/// The rankings of a run. Documents with equal scores are ordered by descending id, as in trec_eval.
pub fn rankings_of_run(run: &TrecRun) -> Result<Rankings> {
    let of_topic = |topic: &Topic<f64>| {
        let ids = topic.documents.iter().map(str::to_owned).collect();
        Ok((topic.id.clone(), ranked(ids, &topic.values)?))
    };
    run.topics.iter().map(of_topic).collect()
}

/// The rankings of the documents of a data set by their scores. A document without an id is called `QID-N`, and equal
/// scores are ordered by descending id.
///
/// ```
/// use rankwise::clicks::counterfactual::rankings_of_scores;
/// use rankwise::data::Dataset;
/// let data = Dataset::dense(vec![0.5, 0.25, 0.1], 1, vec![1.0, 0.0, 0.0], &[3])?.with_query_ids(["q"])?;
/// assert_eq!(rankings_of_scores(&data, &[0.2, 0.7, 0.2])?["q"], ["q-2", "q-3", "q-1"]);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn rankings_of_scores(data: &Dataset, scores: &[f64]) -> Result<Rankings> {
    if scores.len() != data.len() {
        return Err(Error::data(format!("{} scores for {} documents", scores.len(), data.len())));
    }
    if let Some(i) = scores.iter().position(|score| score.is_nan()) {
        return Err(Error::data(format!("the score of document {} is no number", i + 1)));
    }
    let of_query = |query: Query<'_>| {
        let ids = (0..query.len()).map(|i| document_id(query, i).into_owned()).collect();
        Ok((query.id().to_owned(), ranked(ids, &scores[query.range()])?))
    };
    data.queries().map(of_query).collect()
}

fn ranked(ids: Vec<String>, scores: &[f64]) -> Result<Vec<String>> {
    let rule = RankRule { ties: Ties::DocId, ..RankRule::default() };
    let mut sorter = Sorter::default();
    let ranking = sorter.rank_with_ids(scores, &[], rule, |document| Some(&ids[document]))?;
    Ok(ranking.order().iter().map(|&document| ids[document as usize].clone()).collect())
}
