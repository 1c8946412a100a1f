//! The smallest increase of scores that separates every grade from those below by a margin (Yang, Tewari and
//! Ravikumar, AISTATS 2012).
//!
//! ```text
//! L(s) = min Σᵢ νᵢ·δᵢ ,    δ ≥ 0 ,    s' = s + δ ,    s'ᵢ ≥ s'ⱼ + Δᵢⱼ  if rᵢ > rⱼ
//! νᵢ = mean of D(p) over the positions p of the grade of i in a perfect ranking, divided by the ideal DCG@k
//! ```
//!
//! The element-wise minimum of two feasible `s'` is feasible. So there is one lowest solution, which is optimal for
//! any `ν ≥ 0`, and going up the grades finds it: with `M` the highest `s'` of the next lower grade,
//! `s'ᵢ = max(sᵢ, M + Δ)`. Lower grades are then separated as well, because every `Δᵢⱼ` here is at most the sum of the
//! margins between. A document that is raised ends up a fixed distance above the root of its chain, which was not raised;
//! that pair is its contribution to the subgradient.

use crate::card::Card;
use crate::losses::ties::level_if_all_tied;
use crate::losses::{QueryLoss, ScoredQuery};
use crate::metrics::{Discount, Gain};
use crate::rank::grade;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(crate) const CARD: Card = Card {
    name: "min-perturb",
    title: "Minimum perturbation",
    summary: "The smallest increase of scores, weighted by position, that puts every document a margin above those with lower labels.",
    citations: &["yang2012perturbation"],
};

/// How the margin depends on the two grades.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarginSpacing {
    /// The same margin between any two grades.
    #[default]
    Equal,
    /// Proportional to the difference of the grades.
    Gap,
}

/// The smallest perturbation that puts the grades in order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinPerturb {
    /// Δ, above 0: the margin between documents of different grades.
    pub margin: f64,
    /// How the margin depends on the grades.
    pub spacing: MarginSpacing,
    /// The cutoff of the ideal DCG that normalises the loss of a query; 0 for none.
    pub k: usize,
    /// D: the discount of positions.
    pub discount: Discount,
}

impl Default for MinPerturb {
    fn default() -> Self {
        MinPerturb { margin: 0.1, spacing: MarginSpacing::Equal, k: 10, discount: Discount::Log2 }
    }
}

/// The score that the next higher grade has to exceed, and the document that determines it.
#[derive(Clone, Copy)]
struct Top {
    grade: f32,
    score: f64,
    root: usize,
}

impl QueryLoss for MinPerturb {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        if !self.has_signal(query.labels) {
            return 0.0;
        }
        let order = by_grade(query.labels);
        let ideal = self.ideal(query.labels, &order);
        let grade_of = |d: u32| grade(query.labels[d as usize]);
        let (mut value, mut below, mut end) = (0.0, None, order.len());
        for block in order.chunk_by(|&a, &b| grade_of(a) == grade_of(b)).rev() {
            let start = end - block.len();
            let discounts: f64 = (start..end).map(|place| self.discount.at(place)).sum();
            let weight = discounts / block.len() as f64 / ideal;
            let (raised, top) = self.clear(query, block, below, |i, root| {
                gradient[i] -= weight;
                gradient[root] += weight;
            });
            value += weight * raised;
            (below, end) = (Some(top), start);
        }
        level_if_all_tied(query, |label| grade(label).into(), gradient);
        value
    }

    /// The loss is piecewise linear: its second derivative, where it exists, is 0.
    fn curvature(&self, _: ScoredQuery<'_>, curvature: &mut [f64]) {
        curvature.fill(0.0);
    }

    /// There must be documents of different grades, and at least one with a positive gain.
    fn has_signal(&self, labels: &[f32]) -> bool {
        labels.iter().any(|&r| r > 0.0) && labels.iter().any(|&r| grade(r) != grade(labels[0]))
    }
}

impl MinPerturb {
    /// Raises the documents of one grade above the top of the grade below. Returns the total increase and their own
    /// top.
    fn clear(
        &self,
        query: ScoredQuery<'_>,
        documents: &[u32],
        below: Option<Top>,
        mut raise: impl FnMut(usize, usize),
    ) -> (f64, Top) {
        let grade = grade(query.labels[documents[0] as usize]);
        let floor = below.map(|top| Top { score: top.score + self.between(top.grade, grade), grade, ..top });
        let (mut raised, mut highest) = (0.0, floor);
        for i in documents.iter().map(|&d| d as usize) {
            let score = query.scores[i];
            match (floor, highest) {
                (Some(floor), _) if floor.score > score => {
                    raised += floor.score - score;
                    raise(i, floor.root);
                }
                (_, Some(highest)) if highest.score > score => {}
                _ => highest = Some(Top { grade, score, root: i }),
            }
        }
        (raised, highest.expect("a grade has documents"))
    }

    /// The margin Δ between two grades.
    fn between(&self, lower: f32, higher: f32) -> f64 {
        match self.spacing {
            MarginSpacing::Equal => self.margin,
            MarginSpacing::Gap => self.margin * (f64::from(higher) - f64::from(lower)),
        }
    }

    /// The DCG at the cutoff of `order`, a perfect ranking, with gains `2^r − 1`.
    fn ideal(&self, labels: &[f32], order: &[u32]) -> f64 {
        let count = if self.k == 0 { order.len() } else { self.k.min(order.len()) };
        let gain = |d: u32| Gain::Exp2.of(labels[d as usize], 0.0);
        order[..count].iter().enumerate().map(|(place, &d)| gain(d) * self.discount.at(place)).sum()
    }
}

/// Documents by decreasing grade, ties in input order.
fn by_grade(labels: &[f32]) -> Vec<u32> {
    let mut order: Vec<u32> = (0..labels.len() as u32).collect();
    order.sort_by(|&a, &b| grade(labels[b as usize]).total_cmp(&grade(labels[a as usize])));
    order
}
