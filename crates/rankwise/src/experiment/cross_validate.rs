//! Cross-validation of one recipe: every fold is scored by a model that was trained on other queries.

use crate::data::{Dataset, equal_folds};
use crate::error::{Error, Result};
use crate::metrics::{DocumentIds, Evaluation, JudgedList, Metric, evaluate, evaluate_lists_of};
use crate::models::Ranker;
use crate::parallel;
use crate::recipe::{Start, Trainer};
use crate::watch::{Silent, Stop};

/// The queries of one fold, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossFold {
    /// The queries to train on.
    pub train: Vec<usize>,
    /// The queries to test on.
    pub test: Vec<usize>,
}

impl CrossFold {
    /// `k` folds of equal size, shuffled by the seed; each tests on one fold and trains on the others.
    pub fn equal(queries: usize, k: usize, seed: u64) -> Result<Vec<CrossFold>> {
        let others = |test: &[usize]| (0..queries).filter(|q| test.binary_search(q).is_err()).collect();
        let folds = equal_folds(queries, k, seed)?;
        Ok(folds.into_iter().map(|test| CrossFold { train: others(&test), test }).collect())
    }

    fn check(&self, number: usize, queries: usize) -> Result<()> {
        let refused = |why: String| Err(Error::parameter(format!("fold {} {why}", number + 1)));
        if self.train.is_empty() || self.test.is_empty() {
            return refused("has no queries to train or to test on".into());
        }
        if let Some(query) = self.train.iter().chain(&self.test).find(|query| **query >= queries) {
            return refused(format!("has query number {query}, and there are {queries} queries"));
        }
        match self.test.iter().find(|query| self.train.contains(query)) {
            Some(query) => refused(format!("trains and tests on query number {query}")),
            None => Ok(()),
        }
    }
}

/// The model of one fold and its scores.
#[derive(Debug)]
pub struct CrossValidatedFold {
    /// The model, trained without the test queries.
    pub ranker: Ranker,
    /// The scores of the test queries' documents, query by query.
    pub scores: Vec<f64>,
    /// The metrics on the test queries.
    pub evaluation: Evaluation,
}

/// The result of a cross-validation.
#[derive(Debug)]
pub struct CrossValidated {
    /// One entry per fold.
    pub folds: Vec<CrossValidatedFold>,
    /// The metrics on the test queries of all folds, fold by fold.
    pub evaluation: Evaluation,
}

/// Trains and tests one model per fold. Training sees no test query, not even for early stopping. `done` is called after
/// each fold, from several threads.
///
/// The result depends on the seed of the trainer, but not on the number of threads.
pub fn cross_validate(
    trainer: &Trainer,
    data: &Dataset,
    folds: &[CrossFold],
    metrics: &[Box<dyn Metric>],
    stop: &Stop,
    done: &(dyn Fn(usize, &Evaluation) + Sync),
) -> Result<CrossValidated> {
    if folds.is_empty() {
        return Err(Error::parameter("cross-validation needs at least one fold"));
    }
    folds.iter().enumerate().try_for_each(|(number, fold)| fold.check(number, data.query_count()))?;
    let numbered: Vec<(usize, &CrossFold)> = folds.iter().enumerate().collect();
    let one = |(number, fold): &(usize, &CrossFold)| {
        let result = fold_result(trainer, data, fold, metrics, stop)?;
        done(*number, &result.evaluation);
        Ok(result)
    };
    let results: Vec<CrossValidatedFold> =
        parallel::map(&numbered, one).into_iter().collect::<Result<_>>()?;
    let evaluation = evaluate_lists_of(data, &tested(data, folds, &results), metrics)?;
    Ok(CrossValidated { folds: results, evaluation })
}

fn fold_result(
    trainer: &Trainer,
    data: &Dataset,
    fold: &CrossFold,
    metrics: &[Box<dyn Metric>],
    stop: &Stop,
) -> Result<CrossValidatedFold> {
    let train = data.select_queries(&fold.train);
    let ranker = trainer.fit(&train, None, Start::default(), &mut Silent(stop.clone()))?;
    if stop.requested() {
        return Err(Error::interrupted("stopped before cross-validation ended"));
    }
    let test = data.select_queries(&fold.test);
    let scores = ranker.score(&test)?;
    let evaluation = evaluate(&test, &scores, metrics)?;
    Ok(CrossValidatedFold { ranker, scores, evaluation })
}

/// The test queries of all folds with their scores.
fn tested<'a>(
    data: &'a Dataset,
    folds: &[CrossFold],
    results: &'a [CrossValidatedFold],
) -> Vec<JudgedList<'a>> {
    let mut lists = Vec::new();
    for (fold, result) in folds.iter().zip(results) {
        let mut start = 0;
        for query in fold.test.iter().map(|&query| data.query(query)) {
            let scores = &result.scores[start..start + query.len()];
            start += query.len();
            lists.push(JudgedList {
                id: query.id(),
                labels: query.labels(),
                scores,
                document_ids: DocumentIds::Query(query),
                weight: query.weight(),
            });
        }
    }
    lists
}
