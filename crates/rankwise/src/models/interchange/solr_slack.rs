//! Thresholds that are still the model's after Solr has added its slack.
//!
//! Solr adds 1e-6 to every threshold as it reads it, in single precision. Near 0 no number may become the wanted
//! threshold that way. Multiplied by a power of two, feature and threshold ask the same question, and thresholds far
//! from 0 can be met. Solr divides a feature by a power of two with a `StandardNormalizer` of average 0.

use super::{Divergence, Exported};
use crate::trees::Tree;
use std::collections::BTreeMap;

/// What Solr adds to a threshold.
pub(super) const SLACK: f32 = 1e-6;

/// The largest power of two by which a feature can be multiplied: 2⁻¹⁴⁹ is the smallest deviation.
const LARGEST_POWER: i32 = 149;

/// For each feature of some trees, the power of two that it is multiplied by.
pub(super) struct Powers(BTreeMap<u32, i32>);

impl Powers {
    /// The smallest powers that let Solr meet every threshold; 0 where there is none.
    pub(super) fn of(trees: &[Tree]) -> Powers {
        let mut thresholds: BTreeMap<u32, Vec<f32>> = BTreeMap::new();
        for tree in trees {
            for (&feature, &t) in tree.features.iter().zip(&tree.thresholds) {
                thresholds.entry(feature).or_default().push(t);
            }
        }
        let power =
            |ts: &[f32]| (0..=LARGEST_POWER).find(|&power| ts.iter().all(|&t| is_met(t, power))).unwrap_or(0);
        Powers(thresholds.into_iter().map(|(feature, ts)| (feature, power(&ts))).collect())
    }

    /// The deviation that a feature is divided by; `None` where it stays as it is.
    pub(super) fn deviation(&self, feature: usize) -> Option<f32> {
        let power = u32::try_from(feature).ok().and_then(|feature| self.0.get(&feature))?;
        (*power > 0).then(|| 2f64.powi(-power) as f32)
    }

    /// The threshold to write for `t`.
    pub(super) fn written(&self, feature: u32, t: f32) -> f32 {
        before_slack(multiplied(t, self.0[&feature]))
    }

    /// Values that go another way in Solr, where no power meets every threshold of a feature.
    fn shifted(&self, trees: &[Tree]) -> Vec<Divergence> {
        let tests = trees.iter().flat_map(|tree| tree.features.iter().zip(&tree.thresholds));
        let apart = |(&feature, &t): (&u32, &f32)| {
            let found = before_slack(t) + SLACK;
            (self.0[&feature] == 0 && found != t).then(|| Divergence {
                column: Some(feature as usize),
                above: found.min(t),
                up_to: found.max(t),
            })
        };
        tests.filter_map(apart).collect()
    }

    /// Notes what is scaled and what is not met, and keeps the latter out of comparisons.
    pub(super) fn note(&self, trees: &[Tree], out: &mut Exported) {
        let scaled = self.0.values().filter(|power| **power > 0).count();
        if scaled > 0 {
            out.notes.push(format!(
                "Solr adds 1e-6 to thresholds: {scaled} features are multiplied by a power of two, by a \
                 StandardNormalizer, so that thresholds near 0 stay exact"
            ));
        }
        out.divergent = self.shifted(trees);
        let widest =
            out.divergent.iter().map(|a| f64::from(a.up_to) - f64::from(a.above)).fold(0.0, f64::max);
        if widest > 0.0 {
            out.notes.push(format!(
                "Solr adds 1e-6 to thresholds in single precision, and {} of the model's cannot be met exactly: they \
                 are off by at most {widest:.1e}, and only values in between go another way",
                out.divergent.len()
            ));
        }
    }
}

fn multiplied(t: f32, power: i32) -> f32 {
    (f64::from(t) * 2f64.powi(power)) as f32
}

/// Whether Solr asks the model's question if feature and threshold are multiplied.
fn is_met(t: f32, power: i32) -> bool {
    let wanted = multiplied(t, power);
    // A threshold that overflows is lost. Large features may overflow and still be on the right side of a finite
    // threshold, but not of −∞.
    let kept = f64::from(wanted) == f64::from(t) * 2f64.powi(power)
        && wanted.is_finite() == t.is_finite()
        && (power == 0 || t != f32::NEG_INFINITY);
    kept && before_slack(wanted) + SLACK == wanted
}

/// The threshold that is `t` once Solr has added its slack; or else the least above `t`, since a value equal to `t` is
/// likelier than one just above it, but on the side of 0 where `t` is, since 0 is the likeliest of all.
fn before_slack(t: f32) -> f32 {
    let mut candidate = ((f64::from(t) - f64::from(SLACK)) as f32).next_down().next_down();
    let mut best = candidate;
    for _ in 0..5 {
        if cost(candidate, t) < cost(best, t) {
            best = candidate;
        }
        candidate = candidate.next_up();
    }
    best
}

/// How bad it is that a threshold `written` for `t` becomes what it becomes.
fn cost(written: f32, t: f32) -> (bool, bool, f64) {
    let found = written + SLACK;
    // Equal infinities are no distance apart.
    let distance = if found == t { 0.0 } else { (f64::from(found) - f64::from(t)).abs() };
    ((0.0 <= found) != (0.0 <= t), found < t, distance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thresholds of everyday size are met exactly; others by the next float above, and never across 0.
    #[test]
    fn thresholds_survive_the_slack() {
        for t in [0.0, 0.5, 1.0, 3.25, 0.1, 1e-3, 1e6, 16_777_216.0, -3.0, f32::MAX, f32::MIN, f32::INFINITY]
        {
            assert_eq!(before_slack(t) + SLACK, t, "{t:e}");
        }
        assert_eq!(before_slack(f32::NEG_INFINITY) + SLACK, f32::NEG_INFINITY);
        for t in [1e-6f32, 1e-7, -1e-7, 1e-12, -0.5, -2e-6, f32::from_bits(1)] {
            let found = before_slack(t) + SLACK;
            let step = 1.2e-13f32.max((t.abs().next_up() - t.abs()) * 2.0);
            assert!(t <= found && found <= t + step, "{t:e} becomes {found:e}");
        }
        for t in [-f32::from_bits(1), -1e-30, -1e-14] {
            let found = before_slack(t) + SLACK;
            assert!((-1.2e-13..0.0).contains(&found), "{t:e} becomes {found:e}");
        }
    }

    /// A chain of tests of one feature.
    fn chain(feature: u32, thresholds: &[f32]) -> Tree {
        let count = thresholds.len();
        Tree {
            features: vec![feature; count],
            thresholds: thresholds.to_vec(),
            missing_left: vec![true; count],
            left: (0..count as i32).map(|i| !i).collect(),
            right: (1..=count as i32).map(|i| if i < count as i32 { i } else { !i }).collect(),
            gains: vec![0.0; count],
            values: vec![0.0; count + 1],
            covers: vec![0.0; count + 1],
            ..Tree::default()
        }
    }

    /// What Solr asks of a feature value, in its own arithmetic.
    fn passes(x: f32, deviation: f32, written: f32) -> bool {
        (x - 0.0) / deviation <= written + SLACK
    }

    #[test]
    fn multiplied_features_are_asked_the_same() {
        let tiny = f32::from_bits(1);
        let sets: [&[f32]; 6] = [
            &[1e-12, 3.7e-13, -2.5e-12, 0.0],
            &[-tiny, tiny, 0.0],
            &[-0.5, 0.25, 1e-7],
            &[1e-30, 1e5, -1e-20],
            &[1e-6, -1e-6, 1e-9, f32::INFINITY],
            &[-1.0, -0.5, -0.25, -0.125, 2.0],
        ];
        for thresholds in sets {
            let powers = Powers::of(&[chain(3, thresholds)]);
            let deviation = powers.deviation(3).unwrap_or(1.0);
            assert!(deviation > 0.0, "{thresholds:?}");
            for &t in thresholds {
                let near = [t, t.next_up(), t.next_down(), -t, 0.0, -0.0, tiny, -tiny];
                for x in near.into_iter().chain([f32::MAX, f32::MIN, 1e-12, 1.0]).filter(|x| x.is_finite()) {
                    assert_eq!(passes(x, deviation, powers.written(3, t)), x <= t, "{x:e} against {t:e}");
                }
            }
            assert!(powers.shifted(&[chain(3, thresholds)]).is_empty());
        }
    }

    #[test]
    fn what_needs_no_power_gets_none() {
        let trees = [chain(0, &[0.5, 1e-3, 0.0]), chain(2, &[1e-12])];
        let powers = Powers::of(&trees);
        assert_eq!((powers.deviation(0), powers.deviation(1)), (None, None));
        assert_eq!(powers.written(0, 0.5) + SLACK, 0.5);
        assert!(powers.deviation(2).is_some_and(|deviation| deviation < 1e-3));
    }

    /// No power serves both ends of the range: what is off is named.
    #[test]
    fn what_cannot_be_met_is_divergent() {
        let trees = [chain(4, &[f32::from_bits(3), f32::MAX, 0.0])];
        let found = Powers::of(&trees).shifted(&trees);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].column, found[0].above), (Some(4), f32::from_bits(3)));
    }
}
