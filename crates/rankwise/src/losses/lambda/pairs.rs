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
use super::{Lambda, LambdaMetric, ScoredQuery};
use crate::losses::odds::ln;
use crate::rank::{RankRule, Ranking, Sorter, Ties};
use crate::sums::{LANES, add_up, total};
use pulp::{Arch, NullaryFnOnce};

/// The largest range of σ·s for which one exponential per document is enough. Beyond it, the ratios would lose
/// precision and eventually overflow.
const WIDEST: f64 = 300.0;

/// A query with more documents than this takes long enough to be stopped in between.
const LONG: usize = 2000;
/// Rows between two looks at the request to stop.
const ROWS: usize = 64;

/// A query in the order of its ranking; columns are padded to a multiple of [`LANES`], where rows start.
pub(super) struct RankedQuery<'a> {
    loss: &'a Lambda,
    ranking: Ranking,
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
}

/// Sums over the pairs of a query, in the order of its ranking.
pub(super) struct LambdaSums {
    /// `Σ ±ρ|ΔZ|`: the gradient without the factors σ and scale.
    pub gradient: Vec<f64>,
    /// `Σ ρ(1−ρ)|ΔZ|`: the curvature without the factors σ² and scale.
    pub curvature: Vec<f64>,
    /// The factor that normalises all pairs of the query.
    pub scale: f64,
}

impl<'a> RankedQuery<'a> {
    /// The query, ranked by its scores or by those of `anchor`. `None` if it has no pairs.
    pub(super) fn new(loss: &'a Lambda, query: ScoredQuery<'_>, anchor: Option<&[f64]>) -> Option<Self> {
        let ranking = match anchor {
            Some(anchor) => worst_first(anchor, query.labels),
            None => Ranking::by_scores(query.scores),
        };
        let order = ranking.order();
        let mut gains: Vec<f64> = order.iter().map(|&d| loss.gain_of(query.labels[d as usize])).collect();
        if gains.iter().all(|gain| *gain == gains[0]) {
            return None;
        }
        let total = match loss.settings.metric {
            LambdaMetric::Ndcg => loss.dcg.ideal(query.labels),
            LambdaMetric::Map => gains.iter().sum(),
            LambdaMetric::Mrr | LambdaMetric::Err => 1.0,
        };
        gains.iter_mut().for_each(|gain| *gain /= total);
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
        let near = near(loss, gains.len());
        Some(RankedQuery { loss, ranking, gains, scores, powers, is_wide, damping, is_scaled, near })
    }

    /// Sums over all pairs.
    pub(super) fn sums(&mut self) -> LambdaSums {
        let mut columns = Columns::new(self.scores.len());
        Arch::new().dispatch(SumPairs { query: self, columns: &mut columns });
        let Columns { mut gradient, mut curvature, rows, absolute, .. } = columns;
        for (place, [lambda, curve]) in rows.into_iter().enumerate() {
            gradient[place] -= lambda;
            curvature[place] += curve;
        }
        let both_sides = 2.0 * self.loss.settings.sigma * add_up(&absolute);
        let is_scaled = self.is_scaled && both_sides > 0.0;
        let scale = if is_scaled { both_sides.ln_1p() / (std::f64::consts::LN_2 * both_sides) } else { 1.0 };
        LambdaSums { gradient, curvature, scale }
    }

    /// The weighted pairwise logistic loss, without scale.
    pub(super) fn loss(&mut self) -> f64 {
        Arch::new().dispatch(SumLosses { query: self })
    }

    /// Writes a column times `factor` in the order of the query's documents.
    pub(super) fn scatter(&self, column: &[f64], factor: f64, out: &mut [f64]) {
        for (&document, value) in self.ranking.order().iter().zip(column) {
            out[document as usize] = factor * value;
        }
    }

    /// Visits the pairs that contribute, one upper document at a time.
    #[inline(always)]
    fn each_row(&mut self, mut visit: impl FnMut(PairRow<'_>)) {
        let n = self.gains.len();
        let top = if self.loss.settings.k == 0 { n } else { self.loss.settings.k.min(n) };
        let discounts = &self.loss.dcg.discounts;
        let mut swaps = Swaps::new(self.loss.settings.metric, &self.gains, top, |place| discounts.at(place));
        let mut changes = vec![0.0; self.scores.len()];
        for a in (0..top).rev() {
            if n > LONG && (top - 1 - a).is_multiple_of(ROWS) && self.loss.stop.requested() {
                return;
            }
            let Some(row) = swaps.row(a) else { continue };
            let from = (a + 1) / LANES * LANES;
            if from >= n {
                continue;
            }
            row.changes(from, &self.gains[from..], &mut changes[from..n]);
            if !self.near.is_empty() {
                add_near(&self.gains[a..], &self.near, &mut changes[a..n]);
            }
            for change in &mut changes[from..=a] {
                *change = 0.0;
            }
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

/// Documents by decreasing score, tied ones by increasing label. A linear model ties documents with the same features;
/// if their labels are also the same, exchanging them changes nothing, so the order of the file does not matter.
fn worst_first(scores: &[f64], labels: &[f32]) -> Ranking {
    let rule = RankRule { ties: Ties::Worst, ..RankRule::default() };
    Sorter::default().rank(scores, labels, rule).clone()
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
    columns: &'a mut Columns,
}

impl NullaryFnOnce for SumPairs<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.query.each_row(
            #[inline(always)]
            |row| self.columns.add(row),
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

/// The running sums over pairs. What a row adds to its own document is stored separately: reading a vector right
/// after a single number was written into it would stall.
struct Columns {
    gradient: Vec<f64>,
    curvature: Vec<f64>,
    absolute: Vec<f64>,
    rows: Vec<[f64; 2]>,
}

impl Columns {
    fn new(width: usize) -> Self {
        let zeros = || vec![0.0; width];
        Columns { gradient: zeros(), curvature: zeros(), absolute: zeros(), rows: vec![[0.0; 2]; width] }
    }

    /// Adds `±ρ|ΔZ|` and `ρ(1−ρ)|ΔZ|` of each pair of a row, normalised by the score difference. Everything is done in
    /// one pass, because a row takes longer to read and write than to compute.
    #[inline(always)]
    fn add(&mut self, row: PairRow<'_>) {
        let (changes, scores, powers) = (chunks(row.changes), chunks(row.scores), chunks(row.powers));
        let gradient = self.gradient[row.from..].as_chunks_mut::<LANES>().0;
        let curvature = self.curvature[row.from..].as_chunks_mut::<LANES>().0;
        let absolute = self.absolute[row.from..].as_chunks_mut::<LANES>().0;
        let n = changes.len();
        let (scores, powers) = (&scores[..n], &powers[..n]);
        let (gradient, curvature, absolute) = (&mut gradient[..n], &mut curvature[..n], &mut absolute[..n]);
        let (mut lambdas, mut curves) = ([0.0; LANES], [0.0; LANES]);
        for c in 0..n {
            let [lambda, curve] = pair_terms(&row, changes[c], scores[c], powers[c]);
            for lane in 0..LANES {
                gradient[c][lane] += lambda[lane];
            }
            for lane in 0..LANES {
                curvature[c][lane] += curve[lane];
            }
            for lane in 0..LANES {
                absolute[c][lane] += lambda[lane].abs();
            }
            for lane in 0..LANES {
                lambdas[lane] += lambda[lane];
                curves[lane] += curve[lane];
            }
        }
        self.rows[row.place] = [total(lambdas), total(curves)];
    }
}

/// A column in pieces of [`LANES`] numbers, to which it is padded.
#[inline(always)]
fn chunks(column: &[f64]) -> &[[f64; LANES]] {
    column.as_chunks::<LANES>().0
}

/// `±ρ|ΔZ|` and `ρ(1−ρ)|ΔZ|` of some pairs, normalised by the score difference. Lanes are copied, and every loop writes
/// one array of its own: only then does the compiler see that they do not overlap, and use vectors.
#[inline(always)]
fn pair_terms(
    row: &PairRow<'_>,
    changes: [f64; LANES],
    scores: [f64; LANES],
    powers: [f64; LANES],
) -> [[f64; LANES]; 2] {
    let ([base, slope], score, inverse) = (row.damping, row.score, row.inverse);
    let [mut lambdas, mut curves] = [[0.0; LANES]; 2];
    for lane in 0..LANES {
        let (change, z) = (changes[lane], powers[lane] * inverse);
        let sum = 1.0 + z;
        let damping = base + slope * (score - scores[lane]).abs();
        let quotient = 1.0 / (sum * sum * damping);
        let worse = if change > 0.0 { z } else { 1.0 };
        lambdas[lane] = change * worse * sum * quotient;
        curves[lane] = change.abs() * z * quotient;
    }
    [lambdas, curves]
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
