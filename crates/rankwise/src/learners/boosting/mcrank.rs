//! McRank: boosted trees that predict the probability of each grade (Li, Burges and Wu, NIPS 2007).
//!
//! ```text
//! softmax   P(r = g_k) = exp(F_k)/Σ_l exp(F_l)          ordinal   P(r > g_k) = 1/(1 + exp(−F_k))
//! score = E[r]
//! ```
//!
//! A round grows one tree per grade (softmax) or per threshold between adjacent grades (ordinal).

use super::boost::Boost;
use super::parameters::TreesParameters;
use super::target::Target;
use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::{Fitted, Learner, Task};
use crate::models::Combine;
use crate::parallel;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// More grades than this are not treated as classes.
const MAX_GRADES: usize = 64;
/// More grades than this are unusual for judgements.
const MANY_GRADES: usize = 11;

/// Documents whose gradients are computed one after the other.
const CHUNK: usize = 1 << 11;

/// How probabilities of grades are modelled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Classes {
    /// Unordered grades.
    #[default]
    Softmax,
    /// One probability per threshold between adjacent grades.
    Ordinal,
}

/// Boosted trees that predict probabilities of grades.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McRank {
    /// How probabilities are modelled: `softmax` (unordered grades) or `ordinal` (one probability per threshold between adjacent grades).
    pub classes: Classes,
    /// How trees are grown and summed.
    #[serde(flatten)]
    pub trees: TreesParameters,
}

impl Learner for McRank {
    const CARD: Card = Card {
        name: "mcrank",
        title: "McRank",
        summary: "Boosted trees that predict the probability of each grade; the score is the expected grade.",
        citations: &["li2007mcrank"],
    };
    const CONTINUES: bool = true;
    const TAKES_CATEGORIES: bool = true;
    const DISTRIBUTES: bool = true;

    fn check(&self) -> Result<()> {
        if !self.trees.monotone.is_empty() {
            return Err(Error::parameter(
                "monotone needs a score that is a sum of trees; mcrank's expected grade is not one, so leave \
                 monotone empty",
            ));
        }
        self.trees.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let grades = grades(task.train)?;
        let note = classes_note(&grades);
        let ordinal = self.classes == Classes::Ordinal && grades.len() > 1;
        let mut target = Grades::new(task.train, &grades, ordinal);
        let combine = if ordinal { Combine::Ordinal { grades } } else { Combine::Softmax { grades } };
        let base = target.base(task.train);
        let boost = Boost { target: &mut target, parameters: &self.trees, base, combine, average: None };
        let mut fitted = boost.fit(task, watch)?;
        fitted.record.notes.extend(note);
        Ok(fitted)
    }
}

/// A note if the grades look like real-valued labels.
fn classes_note(grades: &[f32]) -> Option<String> {
    let is_graded = grades.len() <= MANY_GRADES && grades.iter().all(|grade| grade.fract() == 0.0);
    (!is_graded).then(|| {
        format!(
            "mcrank treats each of the {} different labels as a class; for real-valued labels, use mart or \
             lambda-mart",
            grades.len()
        )
    })
}

/// The distinct grades, ascending.
fn grades(train: &Dataset) -> Result<Vec<f32>> {
    let distinct = |mut grades: Vec<f32>| {
        grades.sort_by(f32::total_cmp);
        grades.dedup();
        grades
    };
    let own = || distinct(train.labels().iter().map(|r| r + 0.0).collect());
    let grades = distinct(train.gather(own));
    if grades.len() > MAX_GRADES {
        return Err(Error::data(format!(
            "the training data has {} different grades, but mcrank accepts at most {MAX_GRADES}; use mart or \
             lambda-mart for real-valued labels",
            grades.len()
        )));
    }
    Ok(grades)
}

/// The likelihood of the grades, each document with the weight of its query.
struct Grades {
    /// The index of each document's grade.
    numbers: Vec<usize>,
    weights: Vec<f64>,
    count: usize,
    ordinal: bool,
}

impl Grades {
    fn new(train: &Dataset, grades: &[f32], ordinal: bool) -> Grades {
        let number = |r: &f32| grades.partition_point(|g| g < r);
        Grades {
            numbers: train.labels().iter().map(number).collect(),
            weights: train.queries().flat_map(|q| std::iter::repeat_n(q.weight(), q.len())).collect(),
            count: grades.len(),
            ordinal,
        }
    }

    /// The initial outputs, which give every document the frequencies of the grades.
    fn base(&self, train: &Dataset) -> Vec<f64> {
        let shares = train.total(|queries| {
            let mut shares = vec![0.0; self.count];
            let rows = queries.flat_map(|q| train.query(q).range());
            rows.for_each(|row| shares[self.numbers[row]] += self.weights[row]);
            shares
        });
        let total: f64 = shares.iter().sum();
        // A grade that only queries of weight 0 have is still possible.
        let share = |part: f64| (part / total).clamp(1e-9, 1.0 - 1e-9);
        if self.ordinal {
            let above = |k: usize| share(shares[k + 1..].iter().sum());
            (0..self.count - 1).map(|k| (above(k) / (1.0 - above(k))).ln()).collect()
        } else {
            shares.iter().map(|&part| share(part).ln()).collect()
        }
    }

    /// First and second derivatives at document `row`, by output.
    fn at(&self, row: usize, scores: &[Vec<f64>], out: &mut [(f64, f64)]) {
        let (number, weight) = (self.numbers[row], self.weights[row]);
        if self.ordinal {
            for (k, (scores, out)) in scores.iter().zip(out).enumerate() {
                let above = 1.0 / (1.0 + (-scores[row]).exp());
                let slope = above - f64::from(u8::from(number > k));
                *out = (weight * slope, weight * above * (1.0 - above));
            }
            return;
        }
        let most = scores.iter().map(|s| s[row]).fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = scores.iter().map(|s| (s[row] - most).exp()).sum();
        // Only differences of outputs matter, and all outputs move at once: hence more than p(1 − p).
        let stretch = self.count as f64 / (self.count as f64 - 1.0).max(1.0);
        for (k, (scores, out)) in scores.iter().zip(out).enumerate() {
            let p = (scores[row] - most).exp() / total;
            let slope = p - f64::from(u8::from(number == k));
            *out = (weight * slope, weight * stretch * p * (1.0 - p));
        }
    }
}

impl Target for Grades {
    fn outputs(&self) -> usize {
        if self.ordinal { self.count - 1 } else { self.count }
    }

    fn gradients(
        &mut self,
        scores: &[Vec<f64>],
        _: u64,
        slopes: &mut [Vec<f64>],
        curvatures: &mut [Vec<f64>],
    ) -> Result<()> {
        let outputs = self.outputs();
        let mut both = vec![(0.0, 0.0); outputs * self.numbers.len()];
        parallel::for_each(both.chunks_mut(outputs * CHUNK).enumerate(), |(chunk, both)| {
            for (i, out) in both.chunks_mut(outputs).enumerate() {
                self.at(chunk * CHUNK + i, scores, out);
            }
        });
        for (k, (slopes, curvatures)) in slopes.iter_mut().zip(curvatures).enumerate() {
            for (row, (slope, curvature)) in slopes.iter_mut().zip(curvatures).enumerate() {
                (*slope, *curvature) = both[row * outputs + k];
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradients against finite differences of the negative log-likelihood.
    #[test]
    fn gradients_match_finite_differences() {
        for ordinal in [false, true] {
            let (numbers, weights) = ([0, 2, 1], [1.0, 2.0, 0.5]);
            let mut target =
                Grades { numbers: numbers.to_vec(), weights: weights.to_vec(), count: 3, ordinal };
            let outputs = target.outputs();
            let scores: Vec<Vec<f64>> =
                (0..outputs).map(|k| (0..3).map(|i| (i as f64 - k as f64) * 0.7 + 0.2).collect()).collect();
            let loss = |scores: &[Vec<f64>]| -> f64 {
                (0..3)
                    .map(|row| {
                        let at: Vec<f64> = scores.iter().map(|s| s[row]).collect();
                        let number: usize = numbers[row];
                        let log_likelihood: f64 = if ordinal {
                            let above = |k: usize| 1.0 / (1.0 + (-at[k]).exp());
                            (0..outputs)
                                .map(|k| if number > k { above(k) } else { 1.0 - above(k) }.ln())
                                .sum()
                        } else {
                            at[number] - at.iter().map(|s| s.exp()).sum::<f64>().ln()
                        };
                        -weights[row] * log_likelihood
                    })
                    .sum()
            };
            let (mut slopes, mut curvatures) = (vec![vec![0.0; 3]; outputs], vec![vec![0.0; 3]; outputs]);
            target.gradients(&scores, 0, &mut slopes, &mut curvatures).unwrap();
            for (k, row) in (0..outputs).flat_map(|k| (0..3).map(move |row| (k, row))) {
                let moved = |by: f64| {
                    let mut scores = scores.clone();
                    scores[k][row] += by;
                    loss(&scores)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope - slopes[k][row]).abs() < 1e-8, "{ordinal} {k} {row}");
                assert!(curvatures[k][row] > 0.0);
            }
        }
    }
}
