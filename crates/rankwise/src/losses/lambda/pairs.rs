//! The sums over the pairs of one query, in the order of its scores.
//!
//! For places a < b let `z = exp(σ(s_b − sₐ))`, at most 1 unless the order is that of other scores. Then
//!
//! ```text
//! ρ = z/(1+z) where a is the better, 1/(1+z) where b is ,    ρ(1−ρ) = z/(1+z)²
//! ```
//! and `z` is a ratio of two numbers that belong to the documents, so no pair needs an exponential. Rows of pairs
//! (one a, every b) are worked through in loops that the compiler turns into vector instructions, for the widest
//! vectors that the machine has; sums over a row are kept in a fixed number of lanes, so the result is the same for
//! any width.

use super::swaps::Swaps;
use super::{Lambda, LambdaMeasure, ScoredQuery};
use crate::losses::odds::ln;
use crate::rank::Ranking;
use pulp::{Arch, NullaryFnOnce};

/// How many partial sums a sum over a row has. Rows start at multiples of it.
const LANES: usize = 8;
/// Up to what range of σ·s the ratios of a query are taken from one exponential for each document: beyond it they
/// would lose digits, and later overflow.
const WIDEST: f64 = 300.0;

/// A query in the order of its scores, the columns filled up to a multiple of [`LANES`].
pub(super) struct RankedQuery<'a> {
    loss: &'a Lambda,
    ranking: Ranking,
    /// What the documents count; not filled up.
    worths: Vec<f64>,
    scores: Vec<f64>,
    /// `exp(σ(s − s₀))`, unless the range is too wide.
    powers: Vec<f64>,
    is_wide: bool,
    /// `|ΔZ|` is divided by `damping[0] + damping[1]·|sₐ − s_b|`.
    damping: [f64; 2],
    /// Whether all pairs are scaled together.
    is_scaled: bool,
    /// `μ(v_d − v_{d+1})` of LambdaLoss for distances d from 0; empty for LambdaRank.
    near: Vec<f64>,
}

/// Sums over a query's pairs, in the order of its scores.
pub(super) struct Sums {
    /// `Σ ±ρ|ΔZ|`: the gradient without σ and scale.
    pub gradient: Vec<f64>,
    /// `Σ ρ(1−ρ)|ΔZ|`: the curvature without σ² and scale.
    pub curvature: Vec<f64>,
    /// What all pairs of the query are multiplied by.
    pub scale: f64,
}

impl<'a> RankedQuery<'a> {
    /// The query, unless it has no pair that counts, in the order of its scores or of others that are given.
    pub fn new(loss: &'a Lambda, query: ScoredQuery<'_>, anchor: Option<&[f64]>) -> Option<Self> {
        let ranking = Ranking::by_scores(anchor.unwrap_or(query.scores));
        let order = ranking.order();
        let mut worths: Vec<f64> = order.iter().map(|&d| loss.worth(query.labels[d as usize])).collect();
        if worths.iter().all(|worth| *worth == worths[0]) {
            return None;
        }
        let total = match loss.settings.measure {
            LambdaMeasure::Ndcg => loss.dcg.ideal(query.labels),
            LambdaMeasure::Map => worths.iter().sum(),
            LambdaMeasure::Mrr | LambdaMeasure::Err => 1.0,
        };
        worths.iter_mut().for_each(|worth| *worth /= total);
        let mut scores: Vec<f64> = order.iter().map(|&d| query.scores[d as usize]).collect();
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let worst = scores.iter().copied().fold(f64::INFINITY, f64::min);
        scores.resize(scores.len().next_multiple_of(LANES), worst);
        let sigma = loss.settings.sigma;
        let is_wide = sigma * (best - worst) > WIDEST;
        let powers = match is_wide {
            true => vec![0.0; scores.len()],
            false => scores.iter().map(|score| (sigma * (score - best)).exp()).collect(),
        };
        let is_scaled = loss.settings.normalize && anchor.is_none();
        let damping = if is_scaled && best != worst { [0.01, 1.0] } else { [1.0, 0.0] };
        let near = near(loss, worths.len());
        Some(RankedQuery { loss, ranking, worths, scores, powers, is_wide, damping, is_scaled, near })
    }

    /// Adds up all pairs.
    pub fn sums(&mut self) -> Sums {
        let mut columns = Columns::new(self.scores.len());
        Arch::new().dispatch(AddUp { query: self, columns: &mut columns });
        let Columns { mut gradient, mut curvature, rows, absolute, .. } = columns;
        for (place, [lambda, curve]) in rows.into_iter().enumerate() {
            gradient[place] -= lambda;
            curvature[place] += curve;
        }
        let both_sides = 2.0 * self.loss.settings.sigma * add_up(&absolute);
        let is_scaled = self.is_scaled && both_sides > 0.0;
        let scale = if is_scaled { both_sides.ln_1p() / (std::f64::consts::LN_2 * both_sides) } else { 1.0 };
        Sums { gradient, curvature, scale }
    }

    /// The weighted pair logistic loss, not scaled.
    pub fn loss(&mut self) -> f64 {
        Arch::new().dispatch(AddUpLoss { query: self })
    }

    /// Puts a column times `factor` back into the order of the query.
    pub fn scatter(&self, column: &[f64], factor: f64, out: &mut [f64]) {
        for (&document, value) in self.ranking.order().iter().zip(column) {
            out[document as usize] = factor * value;
        }
    }

    /// Visits the pairs that count, those of one upper document at a time.
    #[inline(always)]
    fn each_row(&mut self, mut visit: impl FnMut(PairRow<'_>)) {
        let n = self.worths.len();
        let top = if self.loss.settings.k == 0 { n } else { self.loss.settings.k.min(n) };
        let discounts = &self.loss.dcg.discounts;
        let mut swaps =
            Swaps::new(self.loss.settings.measure, &self.worths, top, |place| discounts.at(place));
        let mut changes = vec![0.0; self.scores.len()];
        for a in (0..top).rev() {
            let Some(row) = swaps.row(a) else { continue };
            let from = (a + 1) / LANES * LANES;
            if from >= n {
                continue;
            }
            row.changes(from, &self.worths[from..], &mut changes[from..n]);
            if !self.near.is_empty() {
                add_near(&self.worths[a..], &self.near, &mut changes[a..n]);
            }
            changes[from..=a].fill(0.0);
            if self.is_wide {
                let sigma = self.loss.settings.sigma;
                for (power, score) in self.powers[from..].iter_mut().zip(&self.scores[from..]) {
                    *power = (sigma * (score - self.scores[a])).clamp(-WIDEST, WIDEST).exp();
                }
            }
            visit(PairRow {
                place: a,
                from,
                score: self.scores[a],
                inverse: if self.is_wide { 1.0 } else { 1.0 / self.powers[a] },
                damping: self.damping,
                changes: &changes[from..],
                scores: &self.scores[from..],
                powers: &self.powers[from..],
            });
        }
    }
}

/// `μ(v_d − v_{d+1})` for d below n; nothing for LambdaRank. v_d is the discount of the place d − 1.
fn near(loss: &Lambda, n: usize) -> Vec<f64> {
    let mu = loss.settings.distance;
    if mu == 0.0 {
        return Vec::new();
    }
    let v = |d: usize| loss.dcg.discounts.at(d - 1);
    std::iter::once(0.0).chain((1..n).map(|d| mu * (v(d) - v(d + 1)))).collect()
}

/// What the distance from the first of these documents adds to their changes.
#[inline(always)]
fn add_near(worths: &[f64], near: &[f64], changes: &mut [f64]) {
    let worth = worths[0];
    for ((change, other), near) in changes.iter_mut().zip(worths).zip(near) {
        *change += (worth - other) * near;
    }
}

/// The adding up of all rows. Whatever of it were not inlined would keep to the narrowest vectors; a plain closure
/// was not.
struct AddUp<'a, 'b> {
    query: &'a mut RankedQuery<'b>,
    columns: &'a mut Columns,
}

impl NullaryFnOnce for AddUp<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.query.each_row(
            #[inline(always)]
            |row| self.columns.add(row),
        );
    }
}

/// The adding up of the loss of all rows.
struct AddUpLoss<'a, 'b> {
    query: &'a mut RankedQuery<'b>,
}

impl NullaryFnOnce for AddUpLoss<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        let (sigma, mut total) = (self.query.loss.settings.sigma, 0.0);
        let mut terms = vec![0.0; self.query.scores.len()];
        self.query.each_row(
            #[inline(always)]
            |row| {
                pair_losses(&row, sigma, &mut terms[row.from..]);
                total += add_up(&terms[row.from..]);
            },
        );
        total
    }
}

/// The pairs of the document at `place` with those below it, of which the first few may be above it, with change 0.
struct PairRow<'a> {
    place: usize,
    /// The place that the columns start at.
    from: usize,
    score: f64,
    /// What `powers` are multiplied by to be z.
    inverse: f64,
    damping: [f64; 2],
    /// ΔZ, above 0 where the document at `place` is the better.
    changes: &'a [f64],
    scores: &'a [f64],
    powers: &'a [f64],
}

/// Sums over pairs as they grow. What one row adds to its own document is kept apart: a vector read right after a
/// single number was written into it would wait for that.
struct Columns {
    gradient: Vec<f64>,
    curvature: Vec<f64>,
    absolute: Vec<f64>,
    rows: Vec<[f64; 2]>,
    lambdas: Vec<f64>,
    curves: Vec<f64>,
}

impl Columns {
    fn new(width: usize) -> Self {
        let zeros = || vec![0.0; width];
        Columns {
            gradient: zeros(),
            curvature: zeros(),
            absolute: zeros(),
            rows: vec![[0.0; 2]; width],
            lambdas: zeros(),
            curves: zeros(),
        }
    }

    #[inline(always)]
    fn add(&mut self, row: PairRow<'_>) {
        let (lambdas, curves) = (&mut self.lambdas[row.from..], &mut self.curves[row.from..]);
        pair_terms(&row, lambdas, curves);
        add_to(&mut self.gradient[row.from..], lambdas, |lambda| lambda);
        add_to(&mut self.curvature[row.from..], curves, |curve| curve);
        add_to(&mut self.absolute[row.from..], lambdas, f64::abs);
        self.rows[row.place] = [add_up(lambdas), add_up(curves)];
    }
}

/// `±ρ|ΔZ|` and `ρ(1−ρ)|ΔZ|` of each pair, damped.
#[inline(always)]
fn pair_terms(row: &PairRow<'_>, lambdas: &mut [f64], curves: &mut [f64]) {
    let n = row.changes.len();
    let (changes, scores, powers) = (&row.changes[..n], &row.scores[..n], &row.powers[..n]);
    let (lambdas, curves) = (&mut lambdas[..n], &mut curves[..n]);
    let (score, inverse, [base, slope]) = (row.score, row.inverse, row.damping);
    for b in 0..n {
        let z = powers[b] * inverse;
        let sum = 1.0 + z;
        let damping = base + slope * (score - scores[b]).abs();
        let quotient = 1.0 / (sum * sum * damping);
        let worse = if changes[b] > 0.0 { z } else { 1.0 };
        lambdas[b] = changes[b] * worse * sum * quotient;
        curves[b] = changes[b].abs() * z * quotient;
    }
}

/// The weighted loss of each pair, damped.
#[inline(always)]
fn pair_losses(row: &PairRow<'_>, sigma: f64, losses: &mut [f64]) {
    let n = row.changes.len();
    let (changes, scores, powers, losses) =
        (&row.changes[..n], &row.scores[..n], &row.powers[..n], &mut losses[..n]);
    let (score, inverse, [base, slope]) = (row.score, row.inverse, row.damping);
    for b in 0..n {
        let ahead = score - scores[b];
        let lost_lead = if changes[b] < 0.0 { sigma * ahead } else { 0.0 };
        // No less than −σ·ahead, which it is where z was cut.
        let log = ln(1.0 + powers[b] * inverse).max(-sigma * ahead);
        losses[b] = changes[b].abs() / (base + slope * ahead.abs()) * (lost_lead + log);
    }
}

#[inline(always)]
fn add_to(sums: &mut [f64], terms: &[f64], of: impl Fn(f64) -> f64) {
    for (sum, &term) in sums.iter_mut().zip(terms) {
        *sum += of(term);
    }
}

/// The sum of a column whose length is a multiple of [`LANES`].
#[inline(always)]
fn add_up(column: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    for chunk in column.as_chunks::<LANES>().0 {
        lanes = std::array::from_fn(|lane| lanes[lane] + chunk[lane]);
    }
    ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) + ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]))
}
