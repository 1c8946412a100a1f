//! The best split of a leaf, feature by feature.

use super::binned::{Binned, Feature};
use super::categories::BinSet;
use super::gradients::{FixedPointUnits, GradientSums, Stats};
use super::growth::Growth;
use serde::{Deserialize, Serialize};

/// A test that splits a leaf, and the gradient sums of the two sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Split {
    pub(super) gain: f64,
    /// The index of the feature among those that can split.
    pub(super) feature: usize,
    /// Codes up to this go left.
    pub(super) bin: usize,
    pub(super) missing_left: bool,
    pub(super) left: GradientSums,
    pub(super) right: GradientSums,
    /// The bins that go left, where categories are tested.
    pub(super) set: Option<BinSet>,
    /// L2 penalty on the values of the two sides, beside that of all leaves.
    pub(super) extra_l2: f64,
}

impl Split {
    /// The split with the larger gain; the first if they are equal.
    pub(super) fn better(first: Option<Split>, second: Option<Split>) -> Option<Split> {
        match (first, second) {
            (Some(a), Some(b)) => Some(if b.gain > a.gain { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// Whether each code of its feature goes left.
    pub(super) fn sides(&self, binned: &Binned) -> Vec<bool> {
        let bins = &binned.features()[self.feature].bins;
        let missing = bins.missing_code();
        let is_left = |code: usize| match self.set {
            Some(set) => set.contains(code),
            None if missing == Some(code) => self.missing_left,
            None => code <= self.bin,
        };
        (0..bins.codes()).map(is_left).collect()
    }
}

/// What the search needs to know about a leaf.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    pub(super) total: GradientSums,
    /// The lower and upper bound on its value that monotone constraints impose.
    pub(super) bounds: (f64, f64),
    /// L2 penalty on its value, beside that of all leaves.
    pub(super) extra_l2: f64,
}

impl Node {
    /// A root with these sums.
    pub(super) fn root(total: GradientSums) -> Node {
        Node { total, bounds: (f64::NEG_INFINITY, f64::INFINITY), extra_l2: 0.0 }
    }
}

/// Searches for splits.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) growth: &'a Growth,
    pub(super) units: FixedPointUnits,
}

/// A threshold of one feature found by a scan.
struct Candidate {
    bin: usize,
    missing_left: bool,
    left: GradientSums,
    leaf_gain: f64,
}

impl Search<'_> {
    /// The best split of `node` by one feature with the sums `bins`; `place` is the index of the feature.
    pub(super) fn best(
        &self,
        node: Node,
        place: usize,
        feature: &Feature,
        bins: &[GradientSums],
    ) -> Option<Split> {
        if let Some(categories) = feature.bins.categories() {
            return self.best_set(node, place, categories, bins);
        }
        let total = self.units.read(node.total);
        let found = if self.growth.monotone.is_empty() {
            self.scan_all(node, total, feature, bins, |left, right| self.free_gain(left, right))
        } else {
            let direction = self.growth.direction(feature.column);
            self.scan_all(node, total, feature, bins, |left, right| {
                (self.bounded_gain(left, right, direction, node.bounds), 1.0)
            })
        };
        let found = found?;
        let gain = found.leaf_gain - self.leaf_gain(total, node);
        self.is_worthwhile(gain, total).then_some(Split {
            gain,
            feature: place,
            bin: found.bin,
            missing_left: found.missing_left,
            left: found.left,
            right: node.total - found.left,
            set: None,
            extra_l2: 0.0,
        })
    }

    /// Whether a split of a leaf with the sums `total` gains what is asked for, and more than rounding.
    pub(super) fn is_worthwhile(&self, gain: f64, total: Stats) -> bool {
        gain > self.growth.min_split_gain && gain > total.slope.abs() * 1e-12
    }

    /// Twice the reduction of the objective by a leaf with these sums, within the bounds of `node`.
    pub(super) fn leaf_gain(&self, stats: Stats, node: Node) -> f64 {
        if self.growth.monotone.is_empty() {
            let (over, under) = self.growth.leaf_gain(stats.slope, stats.curvature);
            return if under > 0.0 { over / under } else { 0.0 };
        }
        let value = self.value(stats, node.bounds);
        self.growth.leaf_gain_at(stats.slope, stats.curvature, value)
    }

    /// The value of a leaf, clamped to the bounds.
    pub(super) fn value(&self, stats: Stats, bounds: (f64, f64)) -> f64 {
        self.growth.value(stats.slope, stats.curvature).clamp(bounds.0, bounds.1)
    }

    /// The bounds on the values of a split's sides. If the split must be monotone, the values of one side stay below
    /// the middle and those of the other side above it.
    pub(super) fn children_bounds(
        &self,
        node: Node,
        split: &Split,
        binned: &Binned,
    ) -> ((f64, f64), (f64, f64)) {
        let (low, high) = node.bounds;
        let direction = self.growth.direction(binned.features()[split.feature].column);
        let value = |sums| self.value(self.units.read(sums), node.bounds);
        let middle = (value(split.left) + value(split.right)) / 2.0;
        match direction {
            1 => ((low, middle), (middle, high)),
            -1 => ((middle, high), (low, middle)),
            _ => (node.bounds, node.bounds),
        }
    }

    /// The total gain of two leaves as one fraction, so that a scan divides only when it finds a better split.
    fn free_gain(&self, left: Stats, right: Stats) -> (f64, f64) {
        let (a, b) = self.growth.leaf_gain(left.slope, left.curvature);
        let (c, d) = self.growth.leaf_gain(right.slope, right.curvature);
        (a * d + c * b, b * d)
    }

    /// The total gain of two leaves under a monotone constraint and bounds; −∞ if their values violate it.
    fn bounded_gain(&self, left: Stats, right: Stats, direction: i8, bounds: (f64, f64)) -> f64 {
        let (a, b) = (self.value(left, bounds), self.value(right, bounds));
        if (b - a) * f64::from(direction) < 0.0 {
            return f64::NEG_INFINITY;
        }
        self.growth.leaf_gain_at(left.slope, left.curvature, a)
            + self.growth.leaf_gain_at(right.slope, right.curvature, b)
    }

    /// Tries missing values on the right, then on the left. If the leaf has none, they go to the side with more
    /// documents; if the feature has none, they go where 0 goes.
    fn scan_all(
        &self,
        node: Node,
        total: Stats,
        feature: &Feature,
        bins: &[GradientSums],
        leaf_gain: impl Fn(Stats, Stats) -> (f64, f64) + Copy,
    ) -> Option<Candidate> {
        let values = feature.bins.value_bins();
        let missing = feature.bins.missing_code().map_or(GradientSums::default(), |code| bins[code]);
        if missing == GradientSums::default() {
            let mut found = self.scan(total, GradientSums::default(), &bins[..values - 1], leaf_gain)?;
            found.missing_left = match feature.bins.missing_code() {
                Some(_) => 2 * self.units.read(found.left).count > total.count,
                None => feature.bins.sends_zero_left(found.bin),
            };
            return Some(found);
        }
        let right = self.scan(total, GradientSums::default(), &bins[..values], leaf_gain);
        let left = self.scan(total, missing, &bins[..values - 1], leaf_gain);
        let left = left.map(|found| Candidate { missing_left: true, ..found });
        debug_assert!(node.total != missing || right.is_none());
        match (right, left) {
            (Some(a), Some(b)) => Some(if b.leaf_gain > a.leaf_gain { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// The best threshold, with `begin` already on the left. Empty bins add no new threshold.
    #[inline(always)]
    fn scan(
        &self,
        total: Stats,
        begin: GradientSums,
        bins: &[GradientSums],
        leaf_gain: impl Fn(Stats, Stats) -> (f64, f64),
    ) -> Option<Candidate> {
        let Growth { min_data_in_leaf, min_child_weight, .. } = *self.growth;
        let min_data_in_leaf = min_data_in_leaf.max(1);
        let (mut sum, mut best, mut found) = (begin, f64::NEG_INFINITY, None);
        for (bin, &sums) in bins.iter().enumerate() {
            if sums.is_empty() {
                continue;
            }
            sum += sums;
            let left = self.units.read(sum);
            let right = Stats {
                slope: total.slope - left.slope,
                curvature: total.curvature - left.curvature,
                count: total.count - left.count,
            };
            if right.count < min_data_in_leaf || right.curvature < min_child_weight {
                break;
            }
            if left.count < min_data_in_leaf || left.curvature < min_child_weight {
                continue;
            }
            let (over, under) = leaf_gain(left, right);
            if over > best * under && under > 0.0 {
                best = over / under;
                found = Some((bin, sum));
            }
        }
        found.map(|(bin, left)| Candidate { bin, missing_left: false, left, leaf_gain: best })
    }
}
