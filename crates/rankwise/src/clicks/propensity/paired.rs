//! Propensities from documents that were shown at two ranks.
//!
//! A document that was shown `n_a` times at rank a, and `n_b` times at rank b, is clicked there `n_a θ_a γ` and `n_b θ_b γ`
//! times on average, with the same relevance `γ`. Given their sum, clicks fall on one of the two ranks in proportion to
//! `n θ`, whatever `γ`. So this is maximised over `u = ln θ`:
//!
//! ```text
//! Σ  c_a ln(n_a θ_a/(n_a θ_a + n_b θ_b)) + c_b ln(n_b θ_b/(n_a θ_a + n_b θ_b))  −  λ/2 Σ (u_{r−1} − 2u_r + u_{r+1})²
//! ```
//!
//! over all documents and all their pairs of ranks. It is concave in u, with `u_1 = 0`. Ranks at which nothing was shown have no
//! u. For ranks that are h and k apart, the bend is the difference of the two slopes, and its square is divided by (h + k)/2.

use super::{Propensities, PropensityMethod, check_movement, place_of};
use crate::clicks::{Cell, ClickCounts};
use crate::error::{Error, Result};
use crate::solvers::{Lbfgs, Objective};
use crate::watch::Silent;
use std::collections::BTreeMap;

/// Estimates propensities from documents that were shown at two ranks.
///
/// ```
/// use rankwise::clicks::propensity::PairedRanks;
/// use rankwise::clicks::{ClickCounts, Session};
/// let session = |id: u32, shown: &str, clicks: &str| -> Session {
///     let text = format!(r#"{{"id": {id}, "query": "q", "shown": {shown}, "clicks": {clicks}}}"#);
///     serde_json::from_str(&text).unwrap()
/// };
/// let log = [
///     session(1, r#"["a", "b"]"#, r#"[{"doc": "a"}]"#),
///     session(2, r#"["b", "a"]"#, r#"[{"doc": "b"}, {"doc": "a"}]"#),
/// ];
/// let counts: ClickCounts = log.iter().collect();
/// // Shown once at each rank, `a` and `b` were clicked twice at rank 1 and once at rank 2.
/// let theta = PairedRanks { smoothing: 0.0, ..PairedRanks::default() }.estimate(&counts)?;
/// assert!((theta.theta[1] - 0.5).abs() < 1e-6);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedRanks {
    /// Ranks below this one are left out.
    pub depth: u32,
    /// The weight λ of squared second differences of ln θ, at least 0. A click is worth as much as a squared second
    /// difference of about 1/λ.
    pub smoothing: f64,
}

impl Default for PairedRanks {
    fn default() -> Self {
        PairedRanks { depth: u32::MAX, smoothing: 1.0 }
    }
}

impl PairedRanks {
    /// Estimates the propensities. Fails where documents do not move between ranks.
    pub fn estimate(&self, counts: &ClickCounts) -> Result<Propensities> {
        if !(self.smoothing >= 0.0 && self.smoothing.is_finite()) {
            let value = self.smoothing;
            return Err(Error::parameter(format!("`smoothing` is {value}; it must be at least 0")));
        }
        let ranks = check_movement(counts, self.depth)?;
        let (theta, converged) = maximize(&terms(counts, &ranks), &ranks, self.smoothing)?;
        Propensities::at_ranks(PropensityMethod::PairedRanks, &ranks, &theta, converged)
    }
}

/// Clicks on the same document at two ranks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairTerm {
    /// The places of the two ranks among those that were shown, the first below the second.
    pub(super) ranks: (usize, usize),
    /// `ln n_a − ln n_b`
    pub(super) log_ratio: f64,
    /// Clicks at each.
    pub(super) clicks: (f64, f64),
}

impl PairTerm {
    pub(super) fn new((a, at_a): (usize, Cell), (b, at_b): (usize, Cell)) -> PairTerm {
        PairTerm {
            ranks: (a, b),
            log_ratio: (at_a.shown as f64 / at_b.shown as f64).ln(),
            clicks: (at_a.clicks as f64, at_b.clicks as f64),
        }
    }
}

/// The terms of all documents and pairs of these ranks with a click; those with the same ratio of n are added up.
pub(super) fn terms(counts: &ClickCounts, ranks: &[u32]) -> Vec<PairTerm> {
    let last = ranks.last().copied().unwrap_or(0);
    let mut terms: BTreeMap<(usize, usize, u64), PairTerm> = BTreeMap::new();
    for document in counts.by_document() {
        let within = document.cells.iter().filter(|(rank, _)| *rank <= last);
        let cells: Vec<(usize, Cell)> = within.map(|&(rank, cell)| (place_of(ranks, rank), cell)).collect();
        for (place, &a) in cells.iter().enumerate() {
            for &b in &cells[place + 1..] {
                let term = PairTerm::new(a, b);
                if term.clicks == (0.0, 0.0) {
                    continue;
                }
                let key = (term.ranks.0, term.ranks.1, term.log_ratio.to_bits());
                let same = terms.entry(key).or_insert(PairTerm { clicks: (0.0, 0.0), ..term });
                same.clicks.0 += term.clicks.0;
                same.clicks.1 += term.clicks.1;
            }
        }
    }
    terms.into_values().collect()
}

/// The propensities of these ranks that maximise the sum, and whether the solver got there.
pub(super) fn maximize(terms: &[PairTerm], ranks: &[u32], smoothing: f64) -> Result<(Vec<f64>, bool)> {
    check_maximum(terms, ranks, smoothing)?;
    let clicks: f64 = terms.iter().map(|term| term.clicks.0 + term.clicks.1).sum();
    let objective = PairedObjective { terms, ranks, smoothing, scale: 1.0 / clicks.max(1.0) };
    let solver = Lbfgs { memory: 50, tolerance: 1e-10, rounds: 10_000, ..Lbfgs::default() };
    let fit = solver.minimize(&objective, vec![0.0; ranks.len() - 1], &mut Silent::default());
    // A line search may end at the limits of rounding, with a gradient that is small enough.
    let converged = fit.gradient_norm < 1e-7;
    let theta = std::iter::once(1.0).chain(fit.weights.iter().map(|u| u.exp())).collect();
    Ok((theta, converged))
}

/// Fails if the sum grows for ever as some propensities go to 0 or to infinity.
fn check_maximum(terms: &[PairTerm], ranks: &[u32], smoothing: f64) -> Result<()> {
    let too_few = |what: String| {
        Err(Error::data(format!(
            "among documents shown at several ranks, {what}, so the clicks set no limit to propensities; log more sessions, \
             or fewer ranks"
        )))
    };
    if smoothing > 0.0 {
        // Straight lines of u cost nothing.
        let upper: f64 = terms.iter().map(|term| term.clicks.0).sum();
        let lower: f64 = terms.iter().map(|term| term.clicks.1).sum();
        return match () {
            () if ranks.len() == 1 => Ok(()),
            () if lower == 0.0 => too_few("none was clicked at its lower rank".to_owned()),
            () if upper == 0.0 => too_few("none was clicked at its upper rank".to_owned()),
            () => Ok(()),
        };
    }
    // Each rank must win clicks, directly or not, against every other: reachability both ways from rank 1.
    let reached = |forwards: bool| {
        let mut reached = vec![false; ranks.len()];
        let mut waiting = vec![0];
        while let Some(rank) = waiting.pop() {
            if !std::mem::replace(&mut reached[rank], true) {
                for term in terms {
                    let (a, b) = term.ranks;
                    let wins = if forwards { term.clicks } else { (term.clicks.1, term.clicks.0) };
                    waiting.extend((a == rank && wins.0 > 0.0).then_some(b));
                    waiting.extend((b == rank && wins.1 > 0.0).then_some(a));
                }
            }
        }
        reached
    };
    let both = [reached(true), reached(false)];
    match (0..ranks.len()).find(|&place| !both.iter().all(|reached| reached[place])) {
        Some(place) => {
            too_few(format!("those of rank {} are clicked only at one of two ranks", ranks[place]))
        }
        None => Ok(()),
    }
}

/// The negative of the sum, scaled; the weights are `u` from rank 2 on.
struct PairedObjective<'a> {
    terms: &'a [PairTerm],
    ranks: &'a [u32],
    smoothing: f64,
    scale: f64,
}

/// `ln(1 + e^x)` without overflow.
fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

impl Objective for PairedObjective<'_> {
    fn dim(&self) -> usize {
        self.ranks.len() - 1
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let u: Vec<f64> = std::iter::once(0.0).chain(w.iter().copied()).collect();
        let (mut value, mut slopes) = (0.0, vec![0.0; self.ranks.len()]);
        for &PairTerm { ranks: (a, b), log_ratio, clicks } in self.terms {
            let margin = u[a] - u[b] + log_ratio;
            value += clicks.0 * softplus(-margin) + clicks.1 * softplus(margin);
            let upper = 1.0 / (1.0 + (-margin).exp());
            let slope = clicks.1 * upper - clicks.0 * (1.0 - upper);
            slopes[a] += slope;
            slopes[b] -= slope;
        }
        for (place, ranks) in self.ranks.windows(3).enumerate() {
            let (above, below) = (f64::from(ranks[1] - ranks[0]), f64::from(ranks[2] - ranks[1]));
            let bend = (u[place + 2] - u[place + 1]) / below - (u[place + 1] - u[place]) / above;
            let weighted = self.smoothing * bend * 2.0 / (above + below);
            value += 0.5 * weighted * bend;
            slopes[place] += weighted / above;
            slopes[place + 1] -= weighted / above + weighted / below;
            slopes[place + 2] += weighted / below;
        }
        gradient.iter_mut().zip(&slopes[1..]).for_each(|(g, slope)| *g = slope * self.scale);
        value * self.scale
    }
}
