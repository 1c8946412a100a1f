//! Sums over the pairs of one query, in the order of its ranking.
//!
//! For positions a < b let `z = exp(σ(s_b − sₐ))`. It is at most 1 unless the ranking is that of other scores. Then
//!
//! ```text
//! ρ = z/(1+z) if a is the better document, 1/(1+z) if b is ,    ρ(1−ρ) = z/(1+z)²
//! ```
//! and `z` is the ratio of two numbers that belong to one document each, so no pair needs an exponential. Rows of
//! pairs (one a, all b) are processed in loops that the compiler vectorises, with the widest vectors of the machine.
//! Sums over a row use a fixed number of lanes, so the result is the same for any vector width.

use super::swaps::Swaps;
use super::{Lambda, QueryLoss, ScoredQuery};
use crate::losses::odds::ln;
use crate::rank::{RankRule, Sorter, Ties};
use crate::sums::{LANES, add_up};
use pulp::{Arch, NullaryFnOnce};

/// The largest range of σ·s for which one exponential per document is enough. Beyond it, the ratios would lose
/// precision and eventually overflow.
const WIDEST: f64 = 300.0;

/// A query with more documents than this takes long enough to be stopped in between.
const LONG: usize = 2000;
/// Rows between two looks at the request to stop.
const ROWS: usize = 64;

/// A query in the order of its ranking; columns are padded to a multiple of [`LANES`], where rows start. The memory serves
/// one query after the other.
pub(super) struct RankedQuery<'a> {
    loss: &'a Lambda,
    sorter: Sorter,
    /// The gains of the documents; not padded.
    gains: Vec<f64>,
    scores: Vec<f64>,
    /// `exp(σ(s − s₀))`, unless the range of scores is too wide.
    powers: Vec<f64>,
    is_wide: bool,
    /// `|ΔZ|` is divided by `damping[0] + damping[1]·|sₐ − s_b|`.
    damping: [f64; 2],
    /// Whether λ is normalised per query.
    is_scaled: bool,
    /// `μ(v_d − v_{d+1})` of LambdaLoss for differences in rank d from 0; empty for LambdaRank.
    near: Vec<f64>,
    swaps: Swaps,
    /// ΔZ of a row.
    changes: Vec<f64>,
    sums: LambdaSums,
    columns: Columns,
}

/// Sums over the pairs of a query, in the order of its ranking.
#[derive(Default)]
struct LambdaSums {
    /// `Σ ±ρ|ΔZ|`: the gradient without the factors σ and scale.
    gradient: Vec<f64>,
    /// `Σ ρ(1−ρ)|ΔZ|`: the curvature without the factors σ² and scale.
    curvature: Vec<f64>,
}

impl<'a> RankedQuery<'a> {
    /// Memory for the queries of a loss.
    pub(super) fn new(loss: &'a Lambda) -> Self {
        RankedQuery {
            loss,
            sorter: Sorter::default(),
            gains: Vec::new(),
            scores: Vec::new(),
            powers: Vec::new(),
            is_wide: false,
            damping: [1.0, 0.0],
            is_scaled: false,
            near: Vec::new(),
            swaps: Swaps::default(),
            changes: Vec::new(),
            sums: LambdaSums::default(),
            columns: Columns::default(),
        }
    }

    /// Takes a query, ranked by its scores or by those of `anchor`. Returns whether it has pairs.
    pub(super) fn rank(&mut self, query: ScoredQuery<'_>, anchor: Option<&[f64]>) -> bool {
        let loss = self.loss;
        if !loss.has_signal(query.labels) {
            return false;
        }
        // A linear model ties documents with the same features. With the worst first, documents that are exchanged have
        // the same label, so the order of the file does not matter.
        let ties = if anchor.is_some() { Ties::Worst } else { Ties::Average };
        let rule = RankRule { ties, ..RankRule::default() };
        let order = self.sorter.rank(anchor.unwrap_or(query.scores), query.labels, rule).order();
        self.gains.clear();
        self.gains.extend(order.iter().map(|&d| loss.gain_of(query.labels[d as usize])));
        let total = loss.total_gain(query.labels, &self.gains);
        self.gains.iter_mut().for_each(|gain| *gain /= total);
        let scores = &mut self.scores;
        scores.clear();
        scores.extend(order.iter().map(|&d| query.scores[d as usize]));
        let best = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let worst = scores.iter().copied().fold(f64::INFINITY, f64::min);
        scores.resize(scores.len().next_multiple_of(LANES), worst);
        let sigma = loss.settings.sigma;
        self.is_wide = sigma * (best - worst) > WIDEST;
        self.powers.clear();
        match self.is_wide {
            true => self.powers.resize(scores.len(), 0.0),
            false => self.powers.extend(scores.iter().map(|score| (sigma * (score - best)).exp())),
        }
        self.is_scaled = loss.settings.normalize && anchor.is_none();
        self.damping = if self.is_scaled && best != worst { [0.01, 1.0] } else { [1.0, 0.0] };
        self.near = near(loss, self.gains.len());
        true
    }

    /// Sums over all pairs, and returns the factor that normalises them.
    pub(super) fn add_up(&mut self) -> f64 {
        let (mut sums, mut columns) = (std::mem::take(&mut self.sums), std::mem::take(&mut self.columns));
        sums.clear(self.scores.len());
        columns.clear(self.scores.len());
        Arch::new().dispatch(SumPairs { query: self, sums: &mut sums, columns: &mut columns });
        for (place, [lambda, curve]) in columns.rows.iter().enumerate() {
            sums.gradient[place] -= lambda;
            sums.curvature[place] += curve;
        }
        let both_sides = 2.0 * self.loss.settings.sigma * add_up(&columns.absolute);
        let is_scaled = self.is_scaled && both_sides > 0.0;
        (self.sums, self.columns) = (sums, columns);
        if is_scaled { both_sides.ln_1p() / (std::f64::consts::LN_2 * both_sides) } else { 1.0 }
    }

    /// The weighted pairwise logistic loss, without scale.
    pub(super) fn loss(&mut self) -> f64 {
        Arch::new().dispatch(SumLosses { query: self })
    }

    /// Writes σ·`scale` times the gradient in the order of the query's documents.
    pub(super) fn scatter_gradient(&self, scale: f64, out: &mut [f64]) {
        self.scatter(&self.sums.gradient, scale * self.loss.settings.sigma, out);
    }

    /// Writes σ²·`scale` times the curvature in the order of the query's documents.
    pub(super) fn scatter_curvature(&self, scale: f64, out: &mut [f64]) {
        let sigma = self.loss.settings.sigma;
        self.scatter(&self.sums.curvature, scale * sigma * sigma, out);
    }

    fn scatter(&self, column: &[f64], factor: f64, out: &mut [f64]) {
        for (&document, value) in self.sorter.ranking().order().iter().zip(column) {
            out[document as usize] = factor * value;
        }
    }

    /// Visits the pairs that contribute, one upper document at a time.
    #[inline(always)]
    fn each_row(&mut self, mut visit: impl FnMut(PairRow<'_>)) {
        let RankedQuery { loss, gains, scores, powers, swaps, changes, near, .. } = self;
        let n = gains.len();
        let top = if loss.settings.k == 0 { n } else { loss.settings.k.min(n) };
        swaps.begin(loss.settings.metric, gains, top, |place| loss.dcg.discounts.at(place));
        changes.clear();
        changes.resize(scores.len(), 0.0);
        for a in (0..top).rev() {
            if n > LONG && (top - 1 - a).is_multiple_of(ROWS) && loss.stop.requested() {
                return;
            }
            let Some(row) = swaps.row(gains, a) else { continue };
            if a + 1 == n {
                continue;
            }
            let from = (a + 1) / LANES * LANES;
            row.changes(from, &gains[from..], &mut changes[from..n]);
            if !near.is_empty() {
                add_near(&gains[a..], near, &mut changes[a..n]);
            }
            for change in &mut changes[from..=a] {
                *change = 0.0;
            }
            if self.is_wide {
                let sigma = loss.settings.sigma;
                for (power, score) in powers[from..].iter_mut().zip(&scores[from..]) {
                    *power = (sigma * (score - scores[a])).clamp(-WIDEST, WIDEST).exp();
                }
            }
            visit(PairRow {
                place: a,
                from,
                score: scores[a],
                inverse: if self.is_wide { 1.0 } else { 1.0 / powers[a] },
                damping: self.damping,
                changes: &changes[from..],
                scores: &scores[from..],
                powers: &powers[from..],
            });
        }
    }
}

impl LambdaSums {
    /// Sums over no pairs.
    fn clear(&mut self, width: usize) {
        for column in [&mut self.gradient, &mut self.curvature] {
            column.clear();
            column.resize(width, 0.0);
        }
    }
}

/// `μ(v_d − v_{d+1})` for d below n; empty for LambdaRank. v_d is the discount of position d − 1.
fn near(loss: &Lambda, n: usize) -> Vec<f64> {
    let mu = loss.settings.distance;
    if mu == 0.0 {
        return Vec::new();
    }
    let v = |d: usize| loss.dcg.discounts.at(d - 1);
    std::iter::once(0.0).chain((1..n).map(|d| mu * (v(d) - v(d + 1)))).collect()
}

/// Adds the LambdaLoss term, by the difference in rank from the first of these documents.
#[inline(always)]
fn add_near(gains: &[f64], near: &[f64], changes: &mut [f64]) {
    let n = changes.len().min(near.len());
    let (gains, near, changes) = (&gains[..n], &near[..n], &mut changes[..n]);
    for i in 0..n {
        changes[i] += (gains[0] - gains[i]) * near[i];
    }
}

/// Sums over all rows. Everything must be inlined, otherwise it is compiled for the narrowest vectors; a plain
/// closure was not inlined.
struct SumPairs<'a, 'b> {
    query: &'a mut RankedQuery<'b>,
    sums: &'a mut LambdaSums,
    columns: &'a mut Columns,
}

impl NullaryFnOnce for SumPairs<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.query.each_row(
            #[inline(always)]
            |row| self.columns.add(row, self.sums),
        );
    }
}

/// Sums the loss over all rows.
struct SumLosses<'a, 'b> {
    query: &'a mut RankedQuery<'b>,
}

impl NullaryFnOnce for SumLosses<'_, '_> {
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

/// The pairs of the document at `place` with those below it. The first few may be above it; their change is 0.
struct PairRow<'a> {
    place: usize,
    /// The position at which the columns start.
    from: usize,
    score: f64,
    /// The factor that turns `powers` into z.
    inverse: f64,
    damping: [f64; 2],
    /// ΔZ; positive if the document at `place` is the better one.
    changes: &'a [f64],
    scores: &'a [f64],
    powers: &'a [f64],
}

/// What a row adds beside [`LambdaSums`]. What it adds to its own document is stored separately: reading a vector right
/// after a single number was written into it would stall.
#[derive(Default)]
struct Columns {
    /// `Σ ρ|ΔZ|`
    absolute: Vec<f64>,
    rows: Vec<[f64; 2]>,
    /// The terms of a row.
    lambdas: Vec<f64>,
    curves: Vec<f64>,
}

impl Columns {
    /// Sums over no pairs.
    fn clear(&mut self, width: usize) {
        self.absolute.clear();
        self.absolute.resize(width, 0.0);
        self.rows.clear();
        self.rows.resize(width, [0.0; 2]);
        self.lambdas.resize(width, 0.0);
        self.curves.resize(width, 0.0);
    }

    /// Adds the terms of a row. Each step is a loop of its own over whole arrays: the compiler makes vectors of these, and
    /// did not of one loop that does everything in lanes.
    #[inline(always)]
    fn add(&mut self, row: PairRow<'_>, sums: &mut LambdaSums) {
        let n = row.changes.len();
        let (lambdas, curves) = (&mut self.lambdas[..n], &mut self.curves[..n]);
        pair_terms(&row, lambdas, curves);
        let (gradient, curvature) = (&mut sums.gradient[row.from..], &mut sums.curvature[row.from..]);
        add_terms(lambdas, curves, gradient, curvature, &mut self.absolute[row.from..]);
        self.rows[row.place] = [add_up(lambdas), add_up(curves)];
    }
}

/// `±ρ|ΔZ|` and `ρ(1−ρ)|ΔZ|` of each pair, normalised by the score difference.
#[inline(always)]
fn pair_terms(row: &PairRow<'_>, lambdas: &mut [f64], curves: &mut [f64]) {
    let n = row.changes.len();
    let (changes, scores, powers) = (&row.changes[..n], &row.scores[..n], &row.powers[..n]);
    let (lambdas, curves) = (&mut lambdas[..n], &mut curves[..n]);
    let ([base, slope], score, inverse) = (row.damping, row.score, row.inverse);
    for b in 0..n {
        let (change, z) = (changes[b], powers[b] * inverse);
        let sum = 1.0 + z;
        let damping = base + slope * (score - scores[b]).abs();
        let quotient = 1.0 / (sum * sum * damping);
        let worse = if change > 0.0 { z } else { 1.0 };
        lambdas[b] = change * worse * sum * quotient;
        curves[b] = change.abs() * z * quotient;
    }
}

/// Adds the terms of a row to the sums of its documents.
#[inline(always)]
fn add_terms(
    lambdas: &[f64],
    curves: &[f64],
    gradient: &mut [f64],
    curvature: &mut [f64],
    absolute: &mut [f64],
) {
    let n = lambdas.len();
    let (curves, gradient) = (&curves[..n], &mut gradient[..n]);
    let (curvature, absolute) = (&mut curvature[..n], &mut absolute[..n]);
    for b in 0..n {
        gradient[b] += lambdas[b];
        curvature[b] += curves[b];
        absolute[b] += lambdas[b].abs();
    }
}

/// The weighted loss of each pair, normalised by the score difference.
#[inline(always)]
fn pair_losses(row: &PairRow<'_>, sigma: f64, losses: &mut [f64]) {
    let n = row.changes.len();
    let (changes, scores, powers, losses) =
        (&row.changes[..n], &row.scores[..n], &row.powers[..n], &mut losses[..n]);
    let (score, inverse, [base, slope]) = (row.score, row.inverse, row.damping);
    for b in 0..n {
        let ahead = score - scores[b];
        let lost_lead = if changes[b] < 0.0 { sigma * ahead } else { 0.0 };
        // At least −σ·ahead, which is the value where z was clamped.
        let log = ln(1.0 + powers[b] * inverse).max(-sigma * ahead);
        losses[b] = changes[b].abs() / (base + slope * ahead.abs()) * (lost_lead + log);
    }
}
