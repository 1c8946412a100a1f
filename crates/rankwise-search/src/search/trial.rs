//! Whether a learner ranks candidates better than BM25 does.

use rankwise::data::Dataset;
use rankwise::experiment::{Comparison, ComparisonOptions, CrossFold, cross_validate};
use rankwise::metrics::{Conventions, Evaluation, evaluate, parse_list};
use rankwise::recipe::Trainer;
use rankwise::watch::Stop;
use rankwise::{Error, Result};

/// A comparison of a learner with BM25, on queries that its models have not seen.
#[derive(Debug, Clone)]
pub struct Trial {
    /// BM25 is the first system and the baseline, the learner the second; one comparison for each metric.
    pub comparisons: Vec<Comparison>,
    /// The scores of all candidates by models that were trained without their queries. Those of different folds are on
    /// different scales.
    pub scores: Vec<f64>,
    /// The number of the query on which the learner gains about as much, by the first metric, as it does on average.
    pub typical: usize,
}

/// Compares a learner with the order of BM25 by cross-validation over folds of queries. The data are the candidates of
/// queries, in the order of BM25, as an extraction makes them. `done` is called after each fold.
pub fn against_bm25(
    trainer: &Trainer,
    data: &Dataset,
    metrics: &str,
    folds: usize,
    seed: u64,
    done: &(dyn Fn() + Sync),
) -> Result<Trial> {
    let metrics = parse_list(metrics, &Conventions::default())?;
    let folds = CrossFold::equal(data.query_count(), folds, seed)?;
    let found = cross_validate(trainer, data, &folds, &metrics, &Stop::default(), &|_, _| done())?;
    let mut scores = vec![f64::NAN; data.len()];
    for (fold, result) in folds.iter().zip(&found.folds) {
        let mut rest = result.scores.as_slice();
        for &query in &fold.test {
            let range = data.query(query).range();
            let (own, others) = rest.split_at(range.len());
            scores[range].copy_from_slice(own);
            rest = others;
        }
    }
    if scores.iter().any(|score| score.is_nan()) {
        return Err(Error::data("a fold has no score for some of its documents"));
    }
    let bm25: Vec<f64> = data.queries().flat_map(|query| (0..query.len()).map(|at| -(at as f64))).collect();
    let evaluations = [evaluate(data, &bm25, &metrics)?, evaluate(data, &scores, &metrics)?];
    let names = ["BM25".to_owned(), trainer.learner().to_owned()];
    let options = ComparisonOptions { baseline: Some(0), seed, ..ComparisonOptions::default() };
    let comparisons = Comparison::by_metric(&names, &evaluations, &options)?;
    Ok(Trial { comparisons, scores, typical: typical(&evaluations) })
}

/// The query whose difference by the first metric is nearest to the mean difference, the first of equal ones.
fn typical([bm25, learned]: &[Evaluation; 2]) -> usize {
    let difference = |(query, (a, b)): (usize, (&Option<f64>, &Option<f64>))| Some((query, (*b)? - (*a)?));
    let pairs = bm25.values[0].iter().zip(&learned.values[0]).enumerate();
    let differences: Vec<(usize, f64)> = pairs.filter_map(difference).collect();
    let mean = differences.iter().map(|(_, gain)| gain).sum::<f64>() / differences.len() as f64;
    let nearest =
        differences.into_iter().min_by(|(_, a), (_, b)| (a - mean).abs().total_cmp(&(b - mean).abs()));
    nearest.map_or(0, |(query, _)| query)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typical_query_gains_about_as_much_as_the_mean() {
        let of = |values: [Option<f64>; 4]| Evaluation {
            metrics: Vec::new(),
            query_ids: Vec::new(),
            weights: Vec::new(),
            values: vec![values.to_vec()],
            totals: Vec::new(),
            counts: Vec::new(),
            warnings: Vec::new(),
        };
        // Gains of 1, 0.1 and 0.2; their mean is 0.43. The third query has no relevant document.
        let bm25 = of([Some(0.0), Some(0.5), None, Some(0.2)]);
        let learned = of([Some(1.0), Some(0.6), None, Some(0.4)]);
        assert_eq!(typical(&[bm25, learned]), 3);
    }
}
