//! The search for metrics in which a non-relevant document hurts less the more of them are ahead of it.
//!
//! If relevant and non-relevant documents are each sorted by decreasing score, a ranking is a staircase: non-relevant
//! document `j` is directly ahead of relevant document `ρ_j`. Under φ_po, the objective is a sum over the
//! non-relevant documents,
//!
//! ```text
//! Σ_j F_j(ρ_j) ,   F_j(ρ) = 2/(n⁺n⁻) Σ_{g ≥ ρ} (s_bj − s_g)  +  loss_j(ρ)
//! ```
//!
//! where `loss_j(ρ)` is what relevant documents `ρ, ρ+1, …` lose by having `j+1` instead of `j` non-relevant
//! documents ahead. If that loss decreases with `j` for each relevant document, so does `F_j(ρ) − F_j(ρ')` for `ρ <
//! ρ'`. Then the optimal `ρ_j` never decreases, each non-relevant document can be placed independently, and divide
//! and conquer takes O(n log n).

use super::Classes;
use crate::rank::Ranking;

/// The optimal staircase; `loss(j, ρ)` as above, in O(1).
pub(super) fn best(classes: &Classes, scores: &[f64], loss: impl Fn(usize, usize) -> f64) -> Ranking {
    let (relevant, non_relevant) = (classes.relevant.len(), classes.non_relevant.len());
    let unit = 2.0 / (relevant as f64 * non_relevant as f64);
    // Scores relative to the highest relevant one, so that a common offset costs no precision.
    let origin = scores[classes.relevant[0] as usize];
    let mut relevant_sums = vec![0.0; relevant + 1];
    for (rho, &relevant_doc) in classes.relevant.iter().enumerate().rev() {
        relevant_sums[rho] = relevant_sums[rho + 1] + (scores[relevant_doc as usize] - origin);
    }
    let value = |j: usize, rho: usize| {
        let score = scores[classes.non_relevant[j] as usize] - origin;
        unit * ((relevant - rho) as f64 * score - relevant_sums[rho]) + loss(j, rho)
    };
    let mut first = vec![0; non_relevant];
    place(&mut first, 0, (0, relevant), &value);
    classes.staircase(&first)
}

/// Places the non-relevant documents from `start` on, which all belong between `range.0` and `range.1`.
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
