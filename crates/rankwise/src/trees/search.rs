//! The best split of a leaf, feature by feature.

use super::binned::{Binned, Feature};
use super::gradients::{Stats, Sums, Units};
use super::growth::Growth;

/// A test that divides a leaf, and what it divides it into.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Split {
    pub(super) gain: f64,
    /// The feature's place among those in use.
    pub(super) feature: usize,
    /// Codes up to this go left.
    pub(super) bin: usize,
    pub(super) missing_left: bool,
    pub(super) left: Sums,
    pub(super) right: Sums,
}

impl Split {
    /// The better of two; the first where they are equal.
    pub(super) fn better(first: Option<Split>, second: Option<Split>) -> Option<Split> {
        match (first, second) {
            (Some(a), Some(b)) => Some(if b.gain > a.gain { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// For each code, whether it goes left.
    pub(super) fn sides(&self, binned: &Binned) -> [bool; 256] {
        let missing = binned.features()[self.feature].bins.missing_code();
        std::array::from_fn(|code| if missing == Some(code) { self.missing_left } else { code <= self.bin })
    }
}

/// What is known of a leaf when its best split is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Node {
    pub(super) total: Sums,
    /// The least and greatest value that demands of monotone features leave it.
    pub(super) bounds: (f64, f64),
}

/// Looks for splits by one set of rules.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    pub(super) growth: &'a Growth,
    pub(super) units: Units,
}

/// A cut of one feature as it is scanned.
struct Candidate {
    bin: usize,
    missing_left: bool,
    left: Sums,
    worth: f64,
}

impl Search<'_> {
    /// The best split of `node` by one feature, whose bins are `bins`; `place` is the feature's place.
    pub(super) fn best(&self, node: Node, place: usize, feature: &Feature, bins: &[Sums]) -> Option<Split> {
        let total = self.units.read(node.total);
        let found = if self.growth.monotone.is_empty() {
            self.scan_all(node, total, feature, bins, |left, right| self.free_worth(left, right))
        } else {
            let direction = self.growth.direction(feature.column);
            self.scan_all(node, total, feature, bins, |left, right| {
                (self.bounded_worth(left, right, direction, node.bounds), 1.0)
            })
        };
        let found = found?;
        let gain = found.worth - self.worth(total, node);
        let enough = gain > self.growth.min_gain && gain > total.slope.abs() * 1e-12;
        enough.then_some(Split {
            gain,
            feature: place,
            bin: found.bin,
            missing_left: found.missing_left,
            left: found.left,
            right: node.total - found.left,
        })
    }

    /// What a leaf of these sums, within the bounds of `node`, takes off the objective.
    pub(super) fn worth(&self, stats: Stats, node: Node) -> f64 {
        if self.growth.monotone.is_empty() {
            let (over, under) = self.growth.worth(stats.slope, stats.curvature);
            return if under > 0.0 { over / under } else { 0.0 };
        }
        let value = self.value(stats, node.bounds);
        self.growth.worth_at(stats.slope, stats.curvature, value)
    }

    /// The value of a leaf, within bounds.
    pub(super) fn value(&self, stats: Stats, bounds: (f64, f64)) -> f64 {
        self.growth.value(stats.slope, stats.curvature).clamp(bounds.0, bounds.1)
    }

    /// The worth of two leaves as one fraction, so that a scan divides only where it finds something better.
    fn free_worth(&self, left: Stats, right: Stats) -> (f64, f64) {
        let (a, b) = self.growth.worth(left.slope, left.curvature);
        let (c, d) = self.growth.worth(right.slope, right.curvature);
        (a * d + c * b, b * d)
    }

    /// The worth of two leaves whose values obey a direction and bounds; −∞ where they cannot.
    fn bounded_worth(&self, left: Stats, right: Stats, direction: i8, bounds: (f64, f64)) -> f64 {
        let (a, b) = (self.value(left, bounds), self.value(right, bounds));
        if (b - a) * f64::from(direction) < 0.0 {
            return f64::NEG_INFINITY;
        }
        self.growth.worth_at(left.slope, left.curvature, a)
            + self.growth.worth_at(right.slope, right.curvature, b)
    }

    /// Missing values to the right, then to the left; where there are none, with the greater number.
    fn scan_all(
        &self,
        node: Node,
        total: Stats,
        feature: &Feature,
        bins: &[Sums],
        worth: impl Fn(Stats, Stats) -> (f64, f64) + Copy,
    ) -> Option<Candidate> {
        let values = feature.bins.value_bins();
        let missing = feature.bins.missing_code().map_or(Sums::default(), |code| bins[code]);
        if missing == Sums::default() {
            let mut found = self.scan(total, Sums::default(), &bins[..values - 1], worth)?;
            let left = self.units.read(found.left);
            found.missing_left = 2 * left.count > total.count;
            return Some(found);
        }
        let right = self.scan(total, Sums::default(), &bins[..values], worth);
        let left = self.scan(total, missing, &bins[..values - 1], worth);
        let left = left.map(|found| Candidate { missing_left: true, ..found });
        debug_assert!(node.total != missing || right.is_none());
        match (right, left) {
            (Some(a), Some(b)) => Some(if b.worth > a.worth { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// The best place to cut, with `begin` on the left from the start. Empty bins are no new cuts.
    #[inline(always)]
    fn scan(
        &self,
        total: Stats,
        begin: Sums,
        bins: &[Sums],
        worth: impl Fn(Stats, Stats) -> (f64, f64),
    ) -> Option<Candidate> {
        let Growth { min_rows, min_weight, .. } = *self.growth;
        let min_rows = min_rows.max(1);
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
            if right.count < min_rows || right.curvature < min_weight {
                break;
            }
            if left.count < min_rows || left.curvature < min_weight {
                continue;
            }
            let (over, under) = worth(left, right);
            if over > best * under && under > 0.0 {
                best = over / under;
                found = Some((bin, sum));
            }
        }
        found.map(|(bin, left)| Candidate { bin, missing_left: false, left, worth: best })
    }
}
