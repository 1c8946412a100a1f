//! How a new tree is combined with those before it.
//!
//! ```text
//! plain     F ← F + ρ·f
//! DART      k of the trees are dropped while f is grown; then these are scaled by k/(k+1) and f by ρ/(k+1)
//! average   plain for some rounds; then F ← (m·F + β·f)/(m + 1) in round m = 1, 2, … after them
//! ```
//!
//! The effect of a round on the scores depends only on the trees, their weights and the random streams named
//! by the round. Repeating it with trees read from a file therefore gives exactly the same scores.

use crate::rng;
use rand::RngExt;

/// How a new tree is combined with those before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum JoinRule {
    /// Added with a learning rate.
    Plain {
        /// ρ
        rate: f64,
    },
    /// Grown while some of the others are dropped.
    Dart {
        /// ρ
        rate: f64,
        /// Probability that a tree is dropped.
        drop: f64,
        /// Names the random streams.
        seed: u64,
    },
    /// The trees of the first rounds are added with a learning rate. Then all trees have the same weight in
    /// the end, as have the first ones together.
    Average {
        /// Number of rounds before the average.
        first: u64,
        /// ρ of these rounds.
        rate: f64,
        /// β
        factor: f64,
    },
}

/// The changes of weights in one round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// The rounds whose trees are dropped while the next one is grown.
    pub(super) dropped: Vec<usize>,
    /// The factor of their weights afterwards.
    pub(super) keep: f64,
    /// The factor of all weights afterwards.
    pub(super) fade: f64,
    /// The weight of the new tree.
    pub(super) weight: f64,
}

impl JoinRule {
    /// The plan of round `round` (from 0).
    pub(super) fn plan(self, round: usize) -> Plan {
        let plain = |weight| Plan { dropped: Vec::new(), keep: 1.0, fade: 1.0, weight };
        match self {
            JoinRule::Plain { rate } => plain(rate),
            JoinRule::Dart { rate, drop, seed } => {
                let mut random = rng::stream(seed, &[round as u64]);
                let dropped: Vec<usize> = (0..round).filter(|_| random.random::<f64>() < drop).collect();
                let k = dropped.len() as f64;
                Plan { dropped, keep: k / (k + 1.0), fade: 1.0, weight: rate / (k + 1.0) }
            }
            JoinRule::Average { first, rate, .. } if (round as u64) < first => plain(rate),
            JoinRule::Average { first, factor, .. } => {
                let m = (round as u64 - first) as f64 + 1.0;
                Plan { fade: m / (m + 1.0), ..plain(factor / (m + 1.0)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_match_the_calculation_by_hand() {
        let average = JoinRule::Average { first: 2, rate: 0.1, factor: 3.0 };
        assert_eq!((average.plan(1).fade, average.plan(1).weight), (1.0, 0.1));
        assert_eq!((average.plan(2).fade, average.plan(2).weight), (0.5, 1.5));
        assert_eq!((average.plan(3).fade, average.plan(3).weight), (2.0 / 3.0, 1.0));
        assert_eq!(JoinRule::Plain { rate: 0.1 }.plan(7).weight, 0.1);
        let dart = JoinRule::Dart { rate: 0.5, drop: 0.4, seed: 1 };
        assert_eq!(dart.plan(0), Plan { dropped: vec![], keep: 0.0, fade: 1.0, weight: 0.5 });
        let plan = dart.plan(1000);
        let k = plan.dropped.len() as f64;
        assert!((300.0..500.0).contains(&k));
        assert_eq!((plan.keep, plan.weight), (k / (k + 1.0), 0.5 / (k + 1.0)));
        assert_eq!(plan, dart.plan(1000));
        assert_ne!(plan.dropped, dart.plan(1001).dropped);
    }
}
