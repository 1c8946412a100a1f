//! The model of Dawid and Skene (1979): every document has a true grade, and every judge has a probability of giving each
//! grade for each true one. Both are estimated by expectation maximisation.
//!
//! ```text
//! P(true grade of i is k | judgments) ∝ p_k Π_j π_j(k, grade of i by j)                       expectation
//! p_k = mean over i;   π_j(k, l) = Σ_{i graded l by j} P(k | i) / Σ_{i graded by j} P(k | i)    maximisation
//! ```
//!
//! It starts from the shares of judges who gave each grade. The log-likelihood of the judgments never falls.

use super::judgments::{Judgments, Panel};
use super::merge::{MergeRule, Merged};
use serde::Serialize;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DawidSkeneOptions {
    /// The largest number of iterations.
    pub iterations: usize,
    /// Stop when an iteration increases the log-likelihood per judgment by less than this.
    pub tolerance: f64,
}

impl Default for DawidSkeneOptions {
    fn default() -> Self {
        DawidSkeneOptions { iterations: 1000, tolerance: 1e-9 }
    }
}

/// How a judge errs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgeErrors {
    /// The judge.
    pub judge: String,
    /// For each true grade, the probability of giving each grade. Equal probabilities for a true grade that none of the
    /// judge's documents has.
    pub given: Vec<Vec<f64>>,
    /// The probability of giving the true grade.
    pub accuracy: f64,
}

/// The fitted model.
///
/// ```
/// use rankwise::labels::{DawidSkene, DawidSkeneOptions, Judgment, Judgments};
/// let mut judgments = Judgments::default();
/// for (document, grade) in [("a", 1.0), ("b", 0.0), ("c", 1.0), ("d", 0.0), ("e", 1.0)] {
///     judgments.push(Judgment::new("q", document, "ann", grade))?;
///     judgments.push(Judgment::new("q", document, "bob", grade))?;
///     judgments.push(Judgment::new("q", document, "eve", 1.0))?;
/// }
/// let model = DawidSkene::fit(&judgments, &DawidSkeneOptions::default());
/// assert_eq!(model.merged.labels[1].grade, 0.0);
/// assert!(model.judges[0].accuracy > model.judges[2].accuracy);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DawidSkene {
    /// The most probable grade of each document.
    pub merged: Merged,
    /// The grades that were given, ascending.
    pub grades: Vec<f64>,
    /// The probability of each grade of each document, in the order of `merged`.
    pub probabilities: Vec<Vec<f64>>,
    /// How frequent each grade is.
    pub frequencies: Vec<f64>,
    /// The judges, in the order of their names.
    pub judges: Vec<JudgeErrors>,
    /// The log-likelihood of the judgments at the start and after each iteration.
    pub log_likelihood: Vec<f64>,
    /// Whether it stopped because the log-likelihood hardly increased any more.
    pub converged: bool,
}

struct Parameters {
    frequencies: Vec<f64>,
    /// By judge, true grade and grade given.
    given: Vec<Vec<Vec<f64>>>,
}

impl DawidSkene {
    /// Fits the model.
    pub fn fit(judgments: &Judgments, options: &DawidSkeneOptions) -> DawidSkene {
        let panel = judgments.panel();
        let mut probabilities = shares(&panel);
        let mut parameters = maximize(&panel, &probabilities);
        let mut log_likelihood = vec![expect(&panel, &parameters, &mut probabilities)];
        let mut converged = panel.items.is_empty();
        for _ in 0..options.iterations {
            if converged {
                break;
            }
            parameters = maximize(&panel, &probabilities);
            let before = log_likelihood[log_likelihood.len() - 1];
            let now = expect(&panel, &parameters, &mut probabilities);
            log_likelihood.push(now);
            converged = now - before < options.tolerance * judgments.all().len() as f64;
        }
        let merged = Merged::new(&panel, MergeRule::DawidSkene, |item, _, grades| {
            let best = |best: usize, k: usize| {
                if probabilities[item][k] > probabilities[item][best] { k } else { best }
            };
            let best = (0..grades.len()).fold(0, best);
            (grades[best], probabilities[item][best])
        });
        let judges = judge_errors(&panel, &parameters, &probabilities);
        let Parameters { frequencies, .. } = parameters;
        DawidSkene {
            merged,
            grades: panel.grades.clone(),
            probabilities,
            frequencies,
            judges,
            log_likelihood,
            converged,
        }
    }
}

/// The share of judges who gave each grade to each document.
fn shares(panel: &Panel<'_>) -> Vec<Vec<f64>> {
    let of_item = |ratings: &Vec<(usize, usize)>| {
        let mut shares = vec![0.0; panel.grades.len()];
        ratings.iter().for_each(|(_, grade)| shares[*grade] += 1.0 / ratings.len() as f64);
        shares
    };
    panel.ratings.iter().map(of_item).collect()
}

fn maximize(panel: &Panel<'_>, probabilities: &[Vec<f64>]) -> Parameters {
    let (judges, grades) = (panel.judges.len(), panel.grades.len());
    let mut frequencies = vec![0.0; grades];
    let mut given = vec![vec![vec![0.0; grades]; grades]; judges];
    for (ratings, of_item) in panel.ratings.iter().zip(probabilities) {
        for (k, &probability) in of_item.iter().enumerate() {
            frequencies[k] += probability / panel.items.len() as f64;
            ratings.iter().for_each(|&(judge, grade)| given[judge][k][grade] += probability);
        }
    }
    for row in given.iter_mut().flatten() {
        let total: f64 = row.iter().sum();
        row.iter_mut().for_each(|p| *p = if total > 0.0 { *p / total } else { 1.0 / grades as f64 });
    }
    Parameters { frequencies, given }
}

/// Computes the probability of each grade of each document. Returns the log-likelihood.
fn expect(panel: &Panel<'_>, parameters: &Parameters, probabilities: &mut [Vec<f64>]) -> f64 {
    let mut log_likelihood = 0.0;
    for (ratings, of_item) in panel.ratings.iter().zip(probabilities) {
        for (k, log) in of_item.iter_mut().enumerate() {
            let of_rating = |&(judge, grade): &(usize, usize)| parameters.given[judge][k][grade].ln();
            *log = parameters.frequencies[k].ln() + ratings.iter().map(of_rating).sum::<f64>();
        }
        let highest = of_item.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        of_item.iter_mut().for_each(|log| *log = (*log - highest).exp());
        let total: f64 = of_item.iter().sum();
        of_item.iter_mut().for_each(|p| *p /= total);
        log_likelihood += highest + total.ln();
    }
    log_likelihood
}

fn judge_errors(panel: &Panel<'_>, parameters: &Parameters, probabilities: &[Vec<f64>]) -> Vec<JudgeErrors> {
    let mut right = vec![(0.0, 0_u32); panel.judges.len()];
    for (ratings, of_item) in panel.ratings.iter().zip(probabilities) {
        for &(judge, grade) in ratings {
            right[judge].0 += of_item[grade];
            right[judge].1 += 1;
        }
    }
    let of_judge = |(judge, (right, all)): (usize, (f64, u32))| JudgeErrors {
        judge: panel.judges[judge].to_owned(),
        given: parameters.given[judge].clone(),
        accuracy: right / f64::from(all),
    };
    right.into_iter().enumerate().map(of_judge).collect()
}
