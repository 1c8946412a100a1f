//! Gains, discounts and the ideal ranking, for DCG and related metrics.

use super::conventions::{Conventions, Discount, Gain};
use crate::rank::Ranking;

/// Exponential gains treat higher labels as this one: `2^960` times any number of documents is finite.
pub(super) const MAX_EXPONENT: f32 = 960.0;
/// Whole grades below this are counted, not sorted.
const COUNTED_GRADES: usize = 32;
/// With fewer grades, all documents are compared with each grade.
const FEW_GRADES: usize = 8;
/// Number of precomputed discounts.
const KEPT_DISCOUNTS: usize = 1024;

/// The gains of documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gains {
    gain: Gain,
    threshold: f32,
}

impl Gains {
    pub(super) fn new(gain: Gain, conventions: &Conventions) -> Self {
        Gains { gain, threshold: conventions.threshold }
    }

    /// The gain of one document; 0 if its label is 0 or below, or if it is unjudged.
    #[inline]
    pub(crate) fn of(&self, label: f32) -> f64 {
        self.gain.of(label, self.threshold)
    }

    /// Whether all gains are 0.
    pub(super) fn are_zero(&self, labels: &[f32]) -> bool {
        let least = if self.gain == Gain::Binary { self.threshold } else { f32::MIN_POSITIVE };
        !labels.iter().any(|&l| l >= least)
    }

    /// The mean gain of tied documents, which is the expected gain at each of their ranks.
    #[inline]
    pub(super) fn mean(&self, labels: &[f32], documents: &[u32]) -> f64 {
        match documents {
            [one] => self.of(labels[*one as usize]),
            many => {
                let total: f64 = many.iter().map(|&d| self.of(labels[d as usize])).sum();
                total / many.len() as f64
            }
        }
    }

    /// Visits the gains above 0 in descending order, at most `depth` of them, each with its rank from 0.
    #[inline]
    pub(super) fn each_ideal(&self, labels: &[f32], depth: usize, mut visit: impl FnMut(usize, f64)) {
        let Some(counts) = count_whole_grades(labels) else {
            let mut gains: Vec<f64> = labels.iter().map(|&l| self.of(l)).filter(|&g| g > 0.0).collect();
            gains.sort_unstable_by(|a, b| b.total_cmp(a));
            gains.iter().take(depth).enumerate().for_each(|(place, &gain)| visit(place, gain));
            return;
        };
        let mut place = 0;
        for grade in (1..COUNTED_GRADES).rev().filter(|&g| counts[g] > 0) {
            let gain = self.of(grade as f32);
            if gain == 0.0 || place >= depth {
                return;
            }
            let end = depth.min(place + counts[grade] as usize);
            while place < end {
                visit(place, gain);
                place += 1;
            }
        }
    }

    /// Visits the expected gain at each rank below `depth`.
    #[inline]
    pub(super) fn each_expected(
        &self,
        labels: &[f32],
        ranking: &Ranking,
        depth: usize,
        mut visit: impl FnMut(usize, f64),
    ) {
        if ranking.is_strict() {
            let order = &ranking.order()[..depth.min(ranking.len())];
            for place in 0..order.len() {
                visit(place, self.of(labels[order[place] as usize]));
            }
            return;
        }
        for group in ranking.groups().take_while(|g| g.start < depth) {
            let mean = self.mean(labels, &ranking.order()[group.clone()]);
            (group.start..group.end.min(depth)).for_each(|place| visit(place, mean));
        }
    }
}

#[inline]
fn exp2_minus_one(grade: f32) -> f64 {
    let whole = grade as u32;
    if whole < 53 && whole as f32 == grade {
        return ((1_u64 << whole) - 1) as f64;
    }
    (f64::from(grade.min(MAX_EXPONENT)) * std::f64::consts::LN_2).exp_m1()
}

/// The number of documents with each whole grade above 0; `None` if a label is not a small whole number.
fn count_whole_grades(labels: &[f32]) -> Option<[u32; COUNTED_GRADES]> {
    // NaN and negative labels count as 0. These loops over integers are vectorised.
    let whole = |l: f32| l.max(0.0) as i32;
    let fractional: u32 = labels.iter().map(|&l| u32::from(whole(l) as f32 != l.max(0.0))).sum();
    let highest = labels.iter().map(|&l| whole(l)).fold(0, i32::max) as usize;
    if fractional > 0 || highest >= COUNTED_GRADES {
        return None;
    }
    let mut counts = [0; COUNTED_GRADES];
    if highest < FEW_GRADES {
        // Several vectorised comparisons are faster than one increment per document.
        for (grade, count) in counts.iter_mut().enumerate().take(highest + 1).skip(1) {
            *count = labels.iter().map(|&l| u32::from(l == grade as f32)).sum();
        }
    } else {
        labels.iter().for_each(|&l| counts[whole(l) as usize] += 1);
    }
    Some(counts)
}

/// The discounts of ranks, the first of them precomputed.
#[derive(Debug, Clone)]
pub(crate) struct Discounts {
    discount: Discount,
    kept: Vec<f64>,
}

impl Discounts {
    pub(super) fn new(discount: Discount) -> Self {
        let kept = (0..KEPT_DISCOUNTS).map(|place| discount.at(place)).collect();
        Discounts { discount, kept }
    }

    /// The discount at a rank, from 0.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> f64 {
        self.kept.get(place).copied().unwrap_or_else(|| self.discount.at(place))
    }
}

impl Gain {
    /// The gain of a document, which is relevant from `threshold` on; 0 if its label is 0 or below, or if it is
    /// unjudged.
    #[inline]
    pub fn of(self, label: f32, threshold: f32) -> f64 {
        // Not `label <= 0.0`, which a NaN would pass.
        let relevant = label > 0.0;
        match self {
            _ if !relevant => 0.0,
            Gain::Exp2 => exp2_minus_one(label),
            Gain::Linear => f64::from(label),
            Gain::Binary => f64::from(u8::from(label >= threshold)),
        }
    }
}

impl Discount {
    /// The discount at a rank, from 0.
    pub fn at(self, place: usize) -> f64 {
        let rank = place as f64 + 1.0;
        match self {
            Discount::Log2 => (rank + 1.0).log2().recip(),
            Discount::Letor if place < 2 => 1.0,
            Discount::Letor => rank.log2().recip(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_follow_their_names_and_are_zero_below_zero() {
        let conventions = Conventions { threshold: 2.0, ..Conventions::default() };
        let of = |gain, label| Gains::new(gain, &conventions).of(label);
        assert_eq!([1.0, 3.0, 40.0].map(|l| of(Gain::Exp2, l)), [1.0, 7.0, (1_u64 << 40) as f64 - 1.0]);
        assert!((of(Gain::Exp2, 0.5) - (2_f64.sqrt() - 1.0)).abs() < 1e-15);
        assert_eq!([1.5, 2.0].map(|l| of(Gain::Binary, l)), [0.0, 1.0]);
        assert_eq!(of(Gain::Linear, 2.5), 2.5);
        for gain in [Gain::Exp2, Gain::Linear, Gain::Binary] {
            assert_eq!([-3.0, 0.0, f32::NAN].map(|l| of(gain, l)), [0.0; 3]);
        }
        assert!((of(Gain::Exp2, f32::MAX) * f64::from(u32::MAX)).is_finite());
    }

    #[test]
    fn counted_and_sorted_grades_give_the_same_ideal() {
        let gains = Gains::new(Gain::Linear, &Conventions::default());
        let ideal = |labels: &[f32], depth| {
            let mut seen = Vec::new();
            gains.each_ideal(labels, depth, |place, gain| seen.push((place, gain)));
            seen
        };
        assert_eq!(ideal(&[1.0, 3.0, -1.0, f32::NAN, 1.0, 0.0], 9), [(0, 3.0), (1, 1.0), (2, 1.0)]);
        assert_eq!(ideal(&[1.0, 2.5, -1.0, f32::NAN, 1.0, 0.0], 2), [(0, 2.5), (1, 1.0)]);
        assert_eq!(ideal(&[31.0, 32.0], 9), [(0, 32.0), (1, 31.0)]);
        assert_eq!(ideal(&[9.0, 31.0, 9.0, f32::NAN], 9), [(0, 31.0), (1, 9.0), (2, 9.0)]);
    }

    #[test]
    fn discounts_are_right_beyond_the_precomputed_ones_too() {
        let discounts = Discounts::new(Discount::Letor);
        assert_eq!([0, 1, 3].map(|p| discounts.at(p)), [1.0, 1.0, 0.5]);
        let discounts = Discounts::new(Discount::Log2);
        assert_eq!([0, 2, (1 << 20) - 2].map(|p| discounts.at(p)), [1.0, 0.5, 0.05]);
    }
}
