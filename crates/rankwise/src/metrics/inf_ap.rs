//! Inferred average precision (Yilmaz and Aslam 2006): AP estimated from a pool of which only a sample was judged.
//!
//! Documents in the pool are judged, or unjudged and listed with a grade below 0. A document that is not in the
//! judgements (NaN) is outside the pool and counts as non-relevant. With a document at rank k and, before it, r
//! relevant, n non-relevant and u unjudged documents of the pool, the expected precision at a relevant document is
//!
//! ```text
//! 1/k + (r + n + u)/k · (r + ε)/(r + n + 2ε)            infAP = 1/R Σ over relevant documents
//! ```
//! In a tied group of m documents, consider a relevant one with i others of the group before it. Let t be how many of
//! these are judged. Given t, which of the judged ones they are and which of the others they are is independent, so
//! the two factors are, too, and each is linear in what is left random. Only the distribution of t, which is
//! hypergeometric, is summed over.

use super::hits::{none_relevant, relevant};
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

/// Smooths the fraction of relevant documents among the judged ones; the value of trec_eval.
const EPSILON: f64 = 1e-5;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "inf-ap",
        title: "Inferred average precision",
        summary: "Average precision estimated from a sample of judgements: pooled documents with a grade below 0 \
             were not judged.",
        citations: &["yilmaz2006estimating"],
    },
    aliases: &[],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: false,
    levels: false,
    options: &["threshold"],
    make: |request| {
        let formula = InferredAp { threshold: request.conventions.threshold };
        request.build(&ENTRY.card, formula)
    },
};

struct InferredAp {
    threshold: f32,
}

/// How many documents of each kind there are.
#[derive(Clone, Copy, Default)]
struct Kinds {
    relevant: usize,
    non_relevant: usize,
    unjudged: usize,
    outside: usize,
}

impl Kinds {
    fn of(labels: impl Iterator<Item = f32>, threshold: f32) -> Self {
        let mut kinds = Kinds::default();
        for label in labels {
            *match label {
                l if l.is_nan() => &mut kinds.outside,
                l if l < 0.0 => &mut kinds.unjudged,
                l if l < threshold => &mut kinds.non_relevant,
                _ => &mut kinds.relevant,
            } += 1;
        }
        kinds
    }

    fn judged(&self) -> usize {
        self.relevant + self.non_relevant
    }

    fn add(&mut self, other: Kinds) {
        self.relevant += other.relevant;
        self.non_relevant += other.non_relevant;
        self.unjudged += other.unjudged;
        self.outside += other.outside;
    }

    /// `(r + n + u) · (r + ε)/(r + n + 2ε)`, expected at a relevant document of the tied `group` after these, with
    /// `drawn` others of the group before it, `judged` of them judged.
    fn expected_before(&self, group: Kinds, drawn: usize, judged: usize) -> f64 {
        let fraction = |part: usize, of: usize| part as f64 / of.max(1) as f64;
        let relevant = judged as f64 * fraction(group.relevant - 1, group.judged() - 1);
        let unjudged = (drawn - judged) as f64 * fraction(group.unjudged, group.unjudged + group.outside);
        let all_judged = (self.judged() + judged) as f64;
        let in_pool = all_judged + self.unjudged as f64 + unjudged;
        in_pool * (self.relevant as f64 + relevant + EPSILON) / (all_judged + 2.0 * EPSILON)
    }
}

impl MetricFormula for InferredAp {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        none_relevant(labels, self.threshold)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let (mut sum, mut before) = (0.0, Kinds::default());
        for group in ranking.groups() {
            let tied = ranking.order()[group.clone()].iter().map(|&d| labels[d as usize]);
            let kinds = Kinds::of(tied, self.threshold);
            if kinds.relevant > 0 {
                sum += expected_sum(before, kinds, group.start) * kinds.relevant as f64 / group.len() as f64;
            }
            before.add(kinds);
        }
        sum / relevant(labels, self.threshold) as f64
    }
}

/// The sum over the places of a tied group of what a relevant document there is expected to add.
fn expected_sum(before: Kinds, group: Kinds, start: usize) -> f64 {
    // The others of the group, how many of them are judged, and how many are not.
    let (judged, unjudged) = (group.judged() - 1, group.unjudged + group.outside);
    let others = judged + unjudged;
    // For the documents drawn so far, the probability that `t` of them are judged.
    let mut probability = vec![0.0; judged + 1];
    probability[0] = 1.0;
    let mut sum = 0.0;
    for drawn in 0..=others {
        let (least, most) = (drawn.saturating_sub(unjudged), drawn.min(judged));
        let expected: f64 =
            (least..=most).map(|t| probability[t] * before.expected_before(group, drawn, t)).sum();
        sum += (1.0 + expected) / (start + drawn + 1) as f64;
        if drawn < others {
            draw_another(&mut probability, least..=most, others - drawn);
        }
    }
    sum
}

/// One more document is drawn of the `left` that are left. `possible` are the numbers of judged ones drawn so far.
fn draw_another(probability: &mut [f64], possible: std::ops::RangeInclusive<usize>, left: usize) {
    let judged = probability.len() - 1;
    for t in possible.rev() {
        let drawn = probability[t] * (judged - t) as f64 / left as f64;
        probability[t] -= drawn;
        if t < judged {
            probability[t + 1] += drawn;
        }
    }
}
