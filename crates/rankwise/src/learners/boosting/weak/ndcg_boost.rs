//! NDCG-Boost: rules that maximise a bound on the expected NDCG (Valizadegan, Jin, Zhang and Mao, NIPS 2009).
//!
//! The order of documents i and j is random, with a logistic function of their scores as its probability.
//! This gives each document an expected rank, which discounts its gain in NDCG. With `F = 2f`, gains
//! `g = (2^r − 1)/Z` and Z the ideal DCG of the query, the bound is
//!
//! ```text
//! M(F) = (1/n) Σ_q Σ_i g_i A_i ,   A_i = Σ_{j≠i} 1/(1 + exp(F_i − F_j))
//! ```
//!
//! With `θ_ij = σ(F_i − F_j)·σ(F_j − F_i)`, convexity gives for a yes/no rule h
//!
//! ```text
//! M(F + αh) ≤ M(F) + (1/n) Σ g_i θ_ij (exp(α(h_j − h_i)) − 1)
//! α = ½ ln(N/D) ,   N = Σ g_i θ_ij [h_i > h_j] ,   D = Σ g_i θ_ij [h_i < h_j]
//! ```
//! so M falls by at least `(√N − √D)²/n`, and it falls for every step between 0 and α: if D = 0 the step is
//! limited, and M still never rises. `N − D = Σ_i w_i h_i` with `w_i = Σ_j θ_ij (g_i − g_j)`, the worths by
//! which rules are searched. Documents with the same label cancel out in w and add a constant to M.

use super::pairs::{CrossTerms, Graded, PairScratch, PairTerms};
use super::{MAX_STEP, Weak, WeakRounds, WeakTarget, fit};
use crate::card::Card;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::boosting::target::by_query;
use crate::learners::{Fitted, Learner, Task};
use crate::losses::smooth_sums::{is_worthwhile, smooth_sums};
use crate::metrics::{Conventions, Dcg, Discount, Gain};
use crate::parallel;
use crate::rng;
use crate::watch::Watch;
use rand::RngExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Rules that maximise a bound on the expected NDCG.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NdcgBoost {
    /// Kind of rule: `stump` (one test of one feature) or `tree`.
    pub weak: WeakKind,
    /// Maximum number of leaves of a tree, 2 to 65536; not used by stumps.
    pub num_leaves: usize,
    /// Documents sampled for each rule in proportion to |w|, as a fraction of all, at most 1; 0 for all documents, weighted.
    pub sample: f64,
    /// How many rules there are and how they are found.
    #[serde(flatten)]
    pub rounds: WeakRounds,
}

/// Kinds of rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum WeakKind {
    /// One test of one feature.
    #[default]
    Stump,
    /// A small tree whose leaves are yes or no.
    Tree,
}

impl Default for NdcgBoost {
    fn default() -> Self {
        let rounds = WeakRounds { iterations: 100, ..WeakRounds::default() };
        NdcgBoost { weak: WeakKind::Stump, num_leaves: 4, sample: 0.0, rounds }
    }
}

impl Learner for NdcgBoost {
    const CARD: Card = Card {
        name: "ndcg-boost",
        title: "NDCG-Boost",
        summary: "Boosted rules that maximise a bound on the expected NDCG of random ranks around the \
                  scores.",
        citations: &["valizadegan2009learning"],
    };
    const DISTRIBUTES: bool = true;
    const CONTINUES: bool = true;

    fn check(&self) -> Result<()> {
        if !(2..=65536).contains(&self.num_leaves) {
            return Err(Error::parameter(format!(
                "num_leaves is {}; it must be from 2 to 65536",
                self.num_leaves
            )));
        }
        if !(0.0..=1.0).contains(&self.sample) {
            return Err(Error::parameter(format!("sample is {}; it must be from 0 to 1", self.sample)));
        }
        self.rounds.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        let weak = match self.weak {
            WeakKind::Stump => Weak::Stump,
            WeakKind::Tree => Weak::Tree { leaves: self.num_leaves },
        };
        let bound = Bound::new(task.train, self.sample, task.seed);
        fit(bound, weak, &self.rounds, task, watch)
    }
}

/// M, the bound.
pub(super) struct Bound<'a> {
    data: &'a Dataset,
    queries: Vec<Graded>,
    /// `v_q/Σv`: the weight of each query; 0 if it has no relevant documents.
    shares: Vec<f64>,
    sample: f64,
    seed: u64,
}

impl<'a> Bound<'a> {
    pub(super) fn new(data: &'a Dataset, sample: f64, seed: u64) -> Bound<'a> {
        let conventions =
            Conventions { gain: Gain::Exp2, discount: Discount::Log2, ..Conventions::default() };
        let dcg = Dcg::new(&conventions, usize::MAX);
        let ideals: Vec<f64> = data.queries().map(|q| dcg.ideal(q.labels())).collect();
        let graded = |(q, ideal): (crate::data::Query<'_>, &f64)| {
            Graded::new(q.labels(), |label| if *ideal > 0.0 { dcg.gains.of(label) / ideal } else { 0.0 })
        };
        let queries: Vec<Graded> = data.queries().zip(&ideals).map(graded).collect();
        let weight = |(q, ideal): (crate::data::Query<'_>, &f64)| if *ideal > 0.0 { q.weight() } else { 0.0 };
        let weights: Vec<f64> = data.queries().zip(&ideals).map(weight).collect();
        let total = data.total(|queries| weights[queries].iter().sum::<f64>());
        let shares = weights.iter().map(|w| if total > 0.0 { w / total } else { 0.0 }).collect();
        Bound { data, queries, shares, sample, seed }
    }
}

impl Bound<'_> {
    /// N and D of one query.
    fn across(&self, q: usize, scores: &[f64], chosen: &[bool], scratch: &mut PairScratch) -> (f64, f64) {
        let inside = chosen.iter().filter(|is_in| **is_in).count();
        let pairs = inside as f64 * (chosen.len() - inside) as f64;
        if is_worthwhile(pairs, scores.iter().copied()) {
            return across_of_many(&self.queries[q], scores, chosen);
        }
        self.queries[q].separate(scores, chosen, scratch).add_up(0.0, &Terms)
    }
}

/// σ of the lead of one document over another, and θ.
fn logistic(ahead: f64) -> [f64; 2] {
    let near = (-ahead.abs()).exp();
    let inverse = 1.0 / (1.0 + near);
    [if ahead > 0.0 { inverse } else { near * inverse }, near * inverse * inverse]
}

/// Sets w and returns M of a query with many documents, in linear time for each grade.
fn worths_of_many(graded: &Graded, scores: &[f64], worths: &mut [f64]) -> f64 {
    worths.fill(0.0);
    let (mut total, mut worse): (f64, Vec<(u32, f64)>) = (0.0, Vec::new());
    for (documents, gain) in graded.grades().zip(graded.grade_gains()) {
        let own: Vec<f64> = documents.iter().map(|&d| scores[d as usize]).collect();
        let sources = || worse.iter().map(|&(d, gain)| (scores[d as usize], gain));
        let plain = smooth_sums(sources().map(|(score, _)| (score, 1.0)), &own, logistic);
        let by_gain = smooth_sums(sources(), &own, logistic);
        let gains: f64 = worse.iter().map(|(_, gain)| gain).sum();
        for ((&d, plain), by_gain) in documents.iter().zip(plain).zip(by_gain) {
            worths[d as usize] += gain * plain[1] - by_gain[1];
            total += gain * plain[0] + gains - by_gain[0];
        }
        let others: Vec<f64> = sources().map(|(score, _)| score).collect();
        let better = smooth_sums(own.iter().map(|score| (*score, 1.0)), &others, |d| [logistic(d)[1]]);
        for (&(d, lower), [theta]) in worse.iter().zip(better) {
            worths[d as usize] -= (gain - lower) * theta;
        }
        worse.extend(documents.iter().map(|&d| (d, gain)));
    }
    total
}

/// N and D of a query with many documents, in linear time.
fn across_of_many(graded: &Graded, scores: &[f64], chosen: &[bool]) -> (f64, f64) {
    let mut gains = vec![0.0; scores.len()];
    for (documents, gain) in graded.grades().zip(graded.grade_gains()) {
        documents.iter().for_each(|&d| gains[d as usize] = gain);
    }
    let inside: Vec<usize> = (0..scores.len()).filter(|&d| chosen[d]).collect();
    let own: Vec<f64> = inside.iter().map(|&d| scores[d]).collect();
    let others = || (0..scores.len()).filter(|&d| !chosen[d]);
    let theta = |ahead: f64| [logistic(ahead)[1]];
    let plain = smooth_sums(others().map(|d| (scores[d], 1.0)), &own, theta);
    let by_gain = smooth_sums(others().map(|d| (scores[d], gains[d])), &own, theta);
    let raised = inside.iter().zip(&plain).map(|(&d, [theta])| gains[d] * theta).sum();
    (raised, by_gain.iter().map(|[theta]| theta).sum())
}

impl WeakTarget for Bound<'_> {
    const OBJECTIVE: &'static str = "M";

    fn worths(&mut self, scores: &[f64], worths: &mut [f64]) -> f64 {
        let of_query = |scratch: &mut PairScratch, (q, worths): (usize, &mut [f64])| {
            let (graded, share) = (&self.queries[q], self.shares[q]);
            let scores = &scores[self.data.query(q).range()];
            let per_grade = graded.pairs() / graded.grades().count() as f64;
            let value = if is_worthwhile(per_grade, scores.iter().copied()) {
                worths_of_many(graded, scores, worths)
            } else {
                graded.add_up(scores, &Terms, worths, scratch)
            };
            worths.iter_mut().for_each(|w| *w *= share);
            share * (value + graded.gain_within_grades())
        };
        let queries = by_query(self.data, worths).into_iter().enumerate();
        let values = parallel::map_with(queries, PairScratch::default, of_query);
        self.data.total(|queries| values[queries].iter().sum::<f64>())
    }

    fn sample(&self, round: u64, worths: &[f64]) -> Option<Vec<f64>> {
        if self.sample == 0.0 {
            return None;
        }
        let mut drawn = vec![0.0; worths.len()];
        let mut random = rng::stream(self.seed, &[round]);
        let reached = Reached::new(self.data, worths);
        for _ in 0..(self.sample * self.data.whole().documents as f64).ceil() as usize {
            if let Some(document) = reached.document(random.random()) {
                drawn[document] += worths[document].signum();
            }
        }
        Some(drawn)
    }

    fn step(&self, scores: &[f64], chosen: &[bool]) -> f64 {
        let (raised, lowered) = self.data.total(|queries| {
            let scratch = &mut PairScratch::default();
            queries.fold((0.0, 0.0), |sum, q| {
                let range = self.data.query(q).range();
                let (raised, lowered) = self.across(q, &scores[range.clone()], &chosen[range], scratch);
                (sum.0 + self.shares[q] * raised, sum.1 + self.shares[q] * lowered)
            })
        });
        match (raised > 0.0, lowered > 0.0) {
            (true, true) => 0.5 * (raised / lowered).ln(),
            (true, false) => MAX_STEP,
            (false, true) => -MAX_STEP,
            (false, false) => 0.0,
        }
    }

    fn informed_queries(&self) -> usize {
        let is_informed = |q: &usize| self.shares[*q] > 0.0 && self.queries[*q].pairs() > 0.0;
        self.data.total(|queries| queries.filter(is_informed).count())
    }
}

/// Sums of |w| up to each document, for drawing documents in proportion to it.
struct Reached {
    /// Up to and with each piece of the whole.
    pieces: Vec<f64>,
    /// Up to and with each document of this data set, from the start of its piece.
    documents: Vec<f64>,
    /// The number of the data set's first piece, and the first document of each of its pieces.
    first_piece: usize,
    bounds: Vec<usize>,
}

impl Reached {
    fn new(data: &Dataset, worths: &[f64]) -> Reached {
        let shard = data.shard();
        let up_to = |sum: &mut f64, x: f64| {
            *sum += x;
            Some(*sum)
        };
        let of_documents = |documents: Range<usize>| {
            worths[documents].iter().map(|w| w.abs()).scan(0.0, up_to).collect::<Vec<f64>>()
        };
        let sums = data.totals_of_groups(shard.pieces, |queries| {
            let documents = data.bounds()[queries.start]..data.bounds()[queries.end];
            of_documents(documents).last().copied().unwrap_or(0.0)
        });
        let bounds: Vec<usize> = shard.bounds.iter().map(|&query| data.bounds()[query]).collect();
        Reached {
            pieces: sums.into_iter().scan(0.0, up_to).collect(),
            documents: bounds.windows(2).flat_map(|piece| of_documents(piece[0]..piece[1])).collect(),
            first_piece: shard.first_piece,
            bounds,
        }
    }

    /// The document at a fraction of the total, unless another worker has it.
    fn document(&self, fraction: f64) -> Option<usize> {
        let total = self.pieces.last().copied().filter(|total| *total > 0.0)?;
        let at = (fraction * total).min(total.next_down());
        let piece = self.pieces.partition_point(|&sum| sum <= at);
        let place = piece.checked_sub(self.first_piece)?;
        let (start, end) = (*self.bounds.get(place)?, *self.bounds.get(place + 1)?);
        let documents = &self.documents[start..end];
        let before = if piece == 0 { 0.0 } else { self.pieces[piece - 1] };
        let within = (at - before).min(documents.last()?.next_down());
        Some(start + documents.partition_point(|&sum| sum <= within))
    }
}

/// The terms of a pair in w and M, and in N and D.
struct Terms;

impl PairTerms for Terms {
    #[inline(always)]
    fn of(&self, z: f64, better_gain: f64, worse_gain: f64) -> (f64, f64) {
        let behind = 1.0 / (1.0 + z);
        let ahead = z * behind;
        (ahead * behind * (better_gain - worse_gain), better_gain * ahead + worse_gain * behind)
    }
}

impl CrossTerms for Terms {
    const SAME: bool = true;

    #[inline(always)]
    fn right(&self, z: f64, chosen_gain: f64, other_gain: f64) -> (f64, f64) {
        let behind = 1.0 / (1.0 + z);
        let theta = z * behind * behind;
        (chosen_gain * theta, other_gain * theta)
    }

    #[inline(always)]
    fn wrong(&self, z: f64, chosen_gain: f64, other_gain: f64) -> (f64, f64) {
        self.right(z, chosen_gain, other_gain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_summing_agree() {
        let mut random = rng::stream(4, &[]);
        let labels: Vec<f32> = (0..200).map(|_| random.random_range(0..4) as f32).collect();
        let chosen: Vec<bool> = (0..200).map(|_| random.random::<f64>() < 0.4).collect();
        let graded = Graded::new(&labels, |label| f64::from(label) / 7.0);
        let near = |a: f64, b: f64| assert!((a - b).abs() <= 1e-11 * (1.0 + a.abs()), "{b} for {a}");
        for range in [0.0, 3.0, 200.0] {
            let scores: Vec<f64> = (0..200).map(|_| range * random.random::<f64>()).collect();
            let (mut rows, mut many) = (vec![0.0; 200], vec![0.0; 200]);
            let scratch = &mut PairScratch::default();
            let total = graded.add_up(&scores, &Terms, &mut rows, scratch);
            near(total, worths_of_many(&graded, &scores, &mut many));
            rows.iter().zip(&many).for_each(|(a, b)| near(*a, *b));
            let rows = graded.separate(&scores, &chosen, scratch).add_up(0.0, &Terms);
            let many = across_of_many(&graded, &scores, &chosen);
            near(rows.0, many.0);
            near(rows.1, many.1);
        }
    }
}
