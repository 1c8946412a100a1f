//! The search behind measures that a bad document hurts less the more bads there are before it.
//!
//! With goods and bads each by decreasing score, a ranking is a staircase: bad `j` stands just ahead of good `ρ_j`.
//! Under φ_po the objective is a sum over the bads,
//!
//! ```text
//! Σ_j F_j(ρ_j) ,   F_j(ρ) = 2/(n⁺n⁻) Σ_{g ≥ ρ} (s_bj − s_g)  +  loss_j(ρ)
//! ```
//!
//! where `loss_j(ρ)` is what goods `ρ, ρ+1, …` lose by having `j+1` bads ahead instead of `j`. Where that loss of
//! one good falls with `j`, so does `F_j(ρ) − F_j(ρ')` for `ρ < ρ'`: the best `ρ_j` never decreases, each bad can be
//! placed on its own, and divide and conquer over the bads takes O(n log n).

use super::Classes;
use crate::rank::Ranking;

/// The best staircase; `loss(j, ρ)` as above, in O(1).
pub(super) fn best(classes: &Classes, scores: &[f64], loss: impl Fn(usize, usize) -> f64) -> Ranking {
    let (goods, bads) = (classes.goods.len(), classes.bads.len());
    let unit = 2.0 / (goods as f64 * bads as f64);
    // Scores relative to the best good, so that a common offset costs no digits.
    let origin = scores[classes.goods[0] as usize];
    let mut good_sums = vec![0.0; goods + 1];
    for (rho, &good) in classes.goods.iter().enumerate().rev() {
        good_sums[rho] = good_sums[rho + 1] + (scores[good as usize] - origin);
    }
    let value = |j: usize, rho: usize| {
        let bad = scores[classes.bads[j] as usize] - origin;
        unit * ((goods - rho) as f64 * bad - good_sums[rho]) + loss(j, rho)
    };
    let mut first = vec![0; bads];
    place(&mut first, 0, (0, goods), &value);
    classes.staircase(&first)
}

/// Places the bads from number `start` on, knowing that all of them belong between `range.0` and `range.1`.
fn place(first: &mut [usize], start: usize, range: (usize, usize), value: &impl Fn(usize, usize) -> f64) {
    if first.is_empty() {
        return;
    }
    if range.0 == range.1 {
        first.fill(range.0);
        return;
    }
    let middle = first.len() / 2;
    let (mut chosen, mut most) = (range.0, f64::NEG_INFINITY);
    for rho in range.0..=range.1 {
        let candidate = value(start + middle, rho);
        if candidate > most {
            (chosen, most) = (rho, candidate);
        }
    }
    let (before, rest) = first.split_at_mut(middle);
    rest[0] = chosen;
    place(before, start, (range.0, chosen), value);
    place(&mut rest[1..], start + middle + 1, (chosen, range.1), value);
}
