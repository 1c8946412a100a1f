//! Coefficients of agreement.
//!
//! ```text
//! percentage     the share of pairs of judgments of the same document that are equal
//! Cohen          κ = 1 − Σ d_ij O_ij / Σ d_ij E_ij      O: how often two judges give the grades i and j; E: if they were independent
//!                d_ij = [i ≠ j], |i − j| (linear) or (i − j)² (quadratic)
//! Fleiss         κ = (P̄ − P_e)/(1 − P_e)               P̄: mean over documents of the share of equal pairs; P_e = Σ p_j²
//! Krippendorff   α = 1 − D_o/D_e                        nominal [c ≠ k], interval (c − k)²,
//!                                                       ordinal (n_c/2 + n_{c+1} + … + n_{k−1} + n_k/2)²
//! ```
//!
//! Documents with fewer than two judgments say nothing about agreement and are left out. A coefficient is `None` where it is
//! not defined: there is no pair of judgments, or all grades are the same, so that chance agrees perfectly, too. For more
//! than two judges, Cohen's κ is the mean over all pairs of judges for which it is defined (Light's κ). Differences are of
//! grades, so a grade that nobody gave makes its neighbours no closer.
//!
//! Grades may be any numbers, as many as there are judgments, so nothing takes a step per pair of grades: what is expected by
//! chance is a sum over grades (`by_chance`).

use super::by_chance::{nominal, squared, total};
use super::judgments::{Judgments, Panel};
use serde::Serialize;
use std::collections::BTreeMap;

/// How well judges agree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Coefficients {
    /// The share of pairs of judgments of the same document that are equal.
    pub percentage: Option<f64>,
    /// Cohen's κ.
    pub cohen: Option<f64>,
    /// Cohen's κ with linear weights.
    pub cohen_linear: Option<f64>,
    /// Cohen's κ with quadratic weights.
    pub cohen_quadratic: Option<f64>,
    /// Fleiss's κ. Documents may have different numbers of judgments; each counts once.
    pub fleiss: Option<f64>,
    /// Krippendorff's α for grades that are only names.
    pub alpha_nominal: Option<f64>,
    /// Krippendorff's α for grades in order.
    pub alpha_ordinal: Option<f64>,
    /// Krippendorff's α for grades that are numbers.
    pub alpha_interval: Option<f64>,
}

impl Coefficients {
    /// The coefficients of all judgments.
    pub fn of(judgments: &Judgments) -> Coefficients {
        let panel = judgments.panel();
        Coefficients::of_items(&panel, 0..panel.ratings.len())
    }

    /// The coefficients of some items, which may occur repeatedly.
    pub(super) fn of_items(
        panel: &Panel<'_>,
        items: impl IntoIterator<Item = usize> + Clone,
    ) -> Coefficients {
        let pairs = JudgePairs::new(panel, items.clone(), None);
        let alpha = Coincidences::new(panel, items.clone());
        Coefficients {
            percentage: pairs.percentage(),
            cohen: pairs.cohen(Distance::Nominal),
            cohen_linear: pairs.cohen(Distance::Linear),
            cohen_quadratic: pairs.cohen(Distance::Quadratic),
            fleiss: fleiss(panel, items),
            alpha_nominal: alpha.nominal(),
            alpha_ordinal: alpha.by(&alpha.middles()),
            alpha_interval: alpha.by(&panel.grades),
        }
    }
}

/// How far apart two grades are, for Cohen's κ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Distance {
    /// 0 if they are equal, else 1.
    Nominal,
    /// |a − b|
    Linear,
    /// (a − b)²
    Quadratic,
}

impl Distance {
    fn of(self, a: f64, b: f64) -> f64 {
        match self {
            Distance::Nominal => f64::from(u8::from(a != b)),
            Distance::Linear => (a - b).abs(),
            Distance::Quadratic => (a - b) * (a - b),
        }
    }
}

/// How often two judges gave each pair of grades, for all pairs of judges.
pub(super) struct JudgePairs<'a> {
    grades: &'a [f64],
    confusions: BTreeMap<(usize, usize), BTreeMap<(usize, usize), u64>>,
}

impl<'a> JudgePairs<'a> {
    /// All pairs of judges, or those with one judge.
    pub(super) fn new(
        panel: &'a Panel<'_>,
        items: impl IntoIterator<Item = usize>,
        with: Option<usize>,
    ) -> JudgePairs<'a> {
        let mut confusions: BTreeMap<_, BTreeMap<_, u64>> = BTreeMap::new();
        for item in items {
            let ratings = &panel.ratings[item];
            for (place, &(a, grade_a)) in ratings.iter().enumerate() {
                for &(b, grade_b) in &ratings[place + 1..] {
                    if with.is_none_or(|judge| judge == a || judge == b) {
                        *confusions.entry((a, b)).or_default().entry((grade_a, grade_b)).or_default() += 1;
                    }
                }
            }
        }
        JudgePairs { grades: &panel.grades, confusions }
    }

    pub(super) fn percentage(&self) -> Option<f64> {
        let all = self.count();
        let given = self.confusions.values().flatten();
        let equal: u64 = given.filter(|((a, b), _)| a == b).map(|(_, count)| count).sum();
        (all > 0).then(|| equal as f64 / all as f64)
    }

    /// The mean of Cohen's κ over the pairs of judges.
    pub(super) fn cohen(&self, distance: Distance) -> Option<f64> {
        let of_pair = |confusion| self.cohen_of_pair(confusion, distance);
        let kappas: Vec<f64> = self.confusions.values().filter_map(of_pair).collect();
        (!kappas.is_empty()).then(|| kappas.iter().sum::<f64>() / kappas.len() as f64)
    }

    /// Each pair of judges, by their numbers, on its own.
    pub(super) fn each(&self) -> impl Iterator<Item = ((usize, usize), JudgePairs<'a>)> {
        self.confusions.iter().map(|(&pair, confusion)| {
            (
                pair,
                JudgePairs { grades: self.grades, confusions: BTreeMap::from([(pair, confusion.clone())]) },
            )
        })
    }

    /// How many pairs of judgments there are.
    pub(super) fn count(&self) -> u64 {
        self.confusions.values().flat_map(BTreeMap::values).sum()
    }

    fn cohen_of_pair(&self, confusion: &BTreeMap<(usize, usize), u64>, distance: Distance) -> Option<f64> {
        // The counts of both judges by grade.
        let mut counts: BTreeMap<usize, [f64; 2]> = BTreeMap::new();
        let mut observed = 0.0;
        for (&(a, b), &count) in confusion {
            let count = count as f64;
            counts.entry(a).or_default()[0] += count;
            counts.entry(b).or_default()[1] += count;
            observed += count * distance.of(self.grades[a], self.grades[b]);
        }
        let counts: Vec<(f64, [f64; 2])> =
            counts.into_iter().map(|(grade, counts)| (self.grades[grade], counts)).collect();
        let all: u64 = confusion.values().sum();
        (counts.len() > 1).then(|| 1.0 - observed * all as f64 / total(&counts, distance))
    }
}

fn fleiss(panel: &Panel<'_>, items: impl IntoIterator<Item = usize>) -> Option<f64> {
    let mut given = vec![0_u64; panel.grades.len()];
    let (mut documents, mut agreement, mut judgments) = (0, 0.0, 0);
    for ratings in items.into_iter().map(|item| &panel.ratings[item]).filter(|ratings| ratings.len() > 1) {
        let mut counts = BTreeMap::new();
        for &(_, grade) in ratings {
            given[grade] += 1;
            *counts.entry(grade).or_insert(0_u64) += 1;
        }
        let equal: u64 = counts.values().map(|count| count * (count - 1)).sum();
        agreement += equal as f64 / (ratings.len() * (ratings.len() - 1)) as f64;
        documents += 1;
        judgments += ratings.len();
    }
    let by_chance: f64 = given.iter().map(|&count| (count as f64 / judgments as f64).powi(2)).sum();
    let observed = agreement / f64::from(documents);
    let distinct = given.iter().filter(|count| **count > 0).count();
    (distinct > 1).then(|| (observed - by_chance) / (1.0 - by_chance))
}

/// How often grades were given to documents with other judgments, where each document with `m` judgments counts as `m`.
struct Coincidences<'a> {
    /// The judgments of each document with at least two.
    documents: Vec<&'a [(usize, usize)]>,
    /// By grade.
    totals: Vec<f64>,
}

impl<'a> Coincidences<'a> {
    fn new(panel: &'a Panel<'_>, items: impl IntoIterator<Item = usize>) -> Coincidences<'a> {
        let ratings = items.into_iter().map(|item| panel.ratings[item].as_slice());
        let documents: Vec<_> = ratings.filter(|ratings| ratings.len() > 1).collect();
        let mut totals = vec![0.0; panel.grades.len()];
        documents.iter().copied().flatten().for_each(|&(_, grade)| totals[grade] += 1.0);
        Coincidences { documents, totals }
    }

    fn nominal(&self) -> Option<f64> {
        self.alpha(nominal(&self.totals), |a, b| f64::from(u8::from(a != b)))
    }

    /// With squared differences of a value of each grade.
    fn by(&self, values: &[f64]) -> Option<f64> {
        self.alpha(squared(values, &self.totals), |a, b| (values[a] - values[b]).powi(2))
    }

    fn alpha(&self, expected: f64, distance: impl Fn(usize, usize) -> f64) -> Option<f64> {
        let observed: f64 = self.documents.iter().map(|ratings| disagreement(ratings, &distance)).sum();
        let all: f64 = self.totals.iter().sum();
        let distinct = self.totals.iter().filter(|total| **total > 0.0).count();
        (distinct > 1).then(|| 1.0 - (all - 1.0) * observed / expected)
    }

    /// For each grade, the middle of its judgments when all are in order: grades are as far apart as judgments lie between.
    fn middles(&self) -> Vec<f64> {
        let mut below = 0.0;
        let middle = |total: &f64| {
            below += total;
            below - total / 2.0
        };
        self.totals.iter().map(middle).collect()
    }
}

/// The mean distance of a judgment of a document to the others, added up over judgments.
fn disagreement(ratings: &[(usize, usize)], distance: &impl Fn(usize, usize) -> f64) -> f64 {
    let mut sum = 0.0;
    for (place, &(_, a)) in ratings.iter().enumerate() {
        ratings[place + 1..].iter().for_each(|&(_, b)| sum += distance(a, b));
    }
    2.0 * sum / (ratings.len() - 1) as f64
}
