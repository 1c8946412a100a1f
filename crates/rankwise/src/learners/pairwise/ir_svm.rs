//! IR SVM: Ranking SVM with pairs weighted by the loss of NDCG when they are swapped (Cao, Xu, Liu, Li, Huang
//! and Hon, SIGIR 2006).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q μ_q Σ_{rᵢ>rⱼ} τ(rᵢ,rⱼ)·[1 − w·(xᵢ − xⱼ)]₊ ,      μ_q = 1/#pairs(q)
//! ```
//!
//! `τ(a,b)` is the drop in NDCG@1 when a document of grade `a` and one of grade `b`, both drawn at random,
//! are swapped in a perfect ranking, averaged over the training queries that have both. NDCG@1 can drop only
//! if `a` is the highest grade of the query and the first of its `n_a` documents is drawn:
//! `τ = (1 − gain(b)/gain(a)) / n_a`.

use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};

use crate::learners::distinct::distinct;
use crate::learners::{LinearParameters, LossKind, LossLearner};
use crate::losses::{GradeWeights, PairHinge, PairSum, PairWeights};
use crate::metrics::{Conventions, Metric, parse};
use crate::rank::{Ranking, grade};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Maximum number of grades; every pair of grades has a weight.
const MOST_GRADES: usize = 256;

/// Max-margin loss of pairs weighted by their grades, in which all queries weigh the same.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct IrSvm {}

impl LossLearner for IrSvm {
    const CARD: Card = Card {
        name: "ir-svm",
        title: "IR SVM",
        summary: "Ranking SVM loss with pairs weighted by their effect on NDCG@1 and equal weight for all \
                  queries.",
        citations: &["cao2006adapting", "joachims2009cutting"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters { c: 10.0, ..LinearParameters::default() }
    }

    fn loss(&self, train: &Dataset) -> Result<LossKind> {
        if distinct_grades(train).len() > MOST_GRADES {
            return Err(Error::data(format!(
                "the training data has more than {MOST_GRADES} different labels; ir-svm has a weight for every pair \
                 of labels and accepts no more; use rank-svm"
            )));
        }
        let weights = PairWeights { sum: PairSum::Mean, grades: Some(swap_drops(train)) };
        Ok(LossKind::Convex(Box::new(PairHinge(weights))))
    }
}

fn distinct_grades(train: &Dataset) -> Vec<f32> {
    distinct(train, MOST_GRADES, || train.labels().iter().map(|&l| grade(l)).collect())
}

/// τ for every pair of grades in the training queries.
pub(super) fn swap_drops(train: &Dataset) -> GradeWeights {
    let metric = parse("ndcg@1", &Conventions::default()).expect("a known metric");
    let grades = distinct_grades(train);
    let number = |label: f32| grades.partition_point(|g| *g < grade(label));
    let place = |better: usize, worse: usize| better * grades.len() + worse;
    // For each pair of grades, the higher first: the sum of drops, and the number of queries that have both.
    let sums = train.total(|queries| {
        let mut sums = vec![(0.0, 0.0); grades.len() * grades.len()];
        for query in queries.map(|q| train.query(q)) {
            let mut counts: BTreeMap<usize, u32> = BTreeMap::new();
            query.labels().iter().for_each(|&l| *counts.entry(number(l)).or_default() += 1);
            let highest = counts.keys().next_back().copied();
            for (&better, &count) in &counts {
                for (&worse, _) in counts.range(..better) {
                    let (drop, queries) = &mut sums[place(better, worse)];
                    *queries += query.weight();
                    if Some(better) == highest {
                        let chance = 1.0 / f64::from(count);
                        *drop +=
                            query.weight() * chance * first_lost(&*metric, grades[better], grades[worse]);
                    }
                }
            }
        }
        sums
    });
    let weight = |better: f32, worse: f32| match sums[place(number(better), number(worse))] {
        (drop, queries) if queries > 0.0 => drop / queries,
        _ => 0.0,
    };
    GradeWeights::new(grades.clone(), weight)
}

/// The drop of the metric when the worse of two documents is ranked first.
fn first_lost(metric: &dyn Metric, better: f32, worse: f32) -> f64 {
    let value = |order: Vec<u32>| metric.value(&[better, worse], &Ranking::from_order(order)).unwrap_or(0.0);
    value(vec![0, 1]) - value(vec![1, 0])
}
