//! Sampling of rankings by random walks from good, bad and intermediate rankings.

use super::states::{RankingSample, RankingState};
use super::walk::Walk;
use crate::rng::{self, Random};
use rand::RngExt;

#[cfg(test)]
mod tests;

/// A sampler of rankings of one query, by random walks with restarts.
///
/// The start of a walk is not kept, because all walks start from a few rankings. Each flip changes the number of
/// wrong pairs by one. With an even `thinning`, the number of wrong pairs of all kept rankings of a walk would have
/// the same parity as its start, so an odd one is better.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingSampler {
    /// The number of rankings, including the perfect one.
    pub size: usize,
    /// The number of flips per walk, at least 1.
    pub steps: usize,
    /// The number of flips between two kept rankings, at least 1 and at most `steps`.
    pub thinning: usize,
    /// Where walks start.
    pub restarts: Restarts,
}

/// Where walks start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Restarts {
    /// At the perfect or at the worst ranking, where all non-relevant documents are ahead of all relevant ones.
    Ends {
        /// The probability of starting at the perfect ranking.
        best: f64,
    },
    /// At one of several rankings from the perfect to the worst, with losses spaced as evenly as possible.
    ///
    /// They lie on a path on which the relevant documents sink to the bottom one by one, the last one first. Which
    /// documents of each class are higher up is drawn for each walk.
    Ladder {
        /// The number of rankings, at least 2; fewer if there are fewer distinct ones.
        rungs: usize,
        /// The `k` of `Pr ∝ exp(k·Δ)`, the distribution of starts: negative values prefer better rankings.
        skew: f64,
    },
}

impl RankingSampler {
    /// Draws rankings of these numbers of relevant and non-relevant documents. The `loss` of a ranking is used by the
    /// ladder only; it must not decrease when a relevant document sinks.
    ///
    /// A sample with the same seed and a larger size starts with this one. Without documents of both classes, there
    /// is only the perfect ranking.
    pub fn draw(
        &self,
        relevant: usize,
        non_relevant: usize,
        loss: impl Fn(&RankingState<'_>) -> f64,
        seed: u64,
    ) -> RankingSample {
        if relevant == 0 || non_relevant == 0 {
            return RankingSample::of_perfect(relevant, non_relevant, 1);
        }
        let starts = Starts::new(self.restarts, relevant, non_relevant, loss);
        let steps = self.steps.max(1);
        let thinning = self.thinning.clamp(1, steps);
        let mut sample = RankingSample::of_perfect(relevant, non_relevant, self.size);
        let mut missing = self.size.saturating_sub(1);
        let mut random = rng::stream(seed, &[]);
        let mut walk = Walk::new(relevant, non_relevant);
        while missing > 0 {
            starts.restart(&mut walk, &mut random);
            let kept = missing.min(steps / thinning);
            for _ in 0..kept {
                (0..thinning).for_each(|_| walk.step(&mut random));
                sample.push(walk.state());
            }
            missing -= kept;
        }
        sample
    }
}

/// The rankings at which walks start.
#[derive(Debug)]
struct Starts {
    /// The number of wrong pairs of each ranking on the path, in ascending order.
    rungs: Vec<usize>,
    /// Cumulative probabilities, up to a constant factor.
    cumulated: Vec<f64>,
}

impl Starts {
    fn new(
        restarts: Restarts,
        relevant: usize,
        non_relevant: usize,
        loss: impl Fn(&RankingState<'_>) -> f64,
    ) -> Self {
        let (rungs, weights) = match restarts {
            Restarts::Ends { best } => (vec![0, relevant * non_relevant], vec![best, 1.0 - best]),
            Restarts::Ladder { rungs, skew } => {
                let mut descent =
                    Descent { relevant, non_relevant, counts: vec![0; relevant + non_relevant], loss };
                let rungs = descent.rungs(rungs);
                let losses: Vec<f64> = rungs.iter().map(|&wrong| descent.loss(wrong)).collect();
                // Relative to the largest, to avoid overflow.
                let largest = losses.iter().map(|l| skew * l).fold(f64::NEG_INFINITY, f64::max);
                (rungs, losses.iter().map(|l| (skew * l - largest).exp()).collect())
            }
        };
        let cumulated = weights.iter().scan(0.0, |sum, w| {
            *sum += w;
            Some(*sum)
        });
        Starts { rungs, cumulated: cumulated.collect() }
    }

    /// Moves the walk to one of the starts.
    fn restart(&self, walk: &mut Walk, random: &mut Random) {
        let last = self.rungs.len() - 1;
        let point = random.random::<f64>() * self.cumulated[last];
        let rung = self.cumulated[..last].partition_point(|&sum| sum <= point);
        if rung > 0 && rung < last {
            walk.shuffle(random);
        }
        walk.start(self.rungs[rung]);
    }
}

/// The path from the perfect to the worst ranking; positions on it are numbers of wrong pairs.
struct Descent<L> {
    relevant: usize,
    non_relevant: usize,
    counts: Vec<u32>,
    loss: L,
}

impl<L: Fn(&RankingState<'_>) -> f64> Descent<L> {
    /// At most `count` rankings with evenly spaced losses, including both ends.
    fn rungs(&mut self, count: usize) -> Vec<usize> {
        let worst = self.relevant * self.non_relevant;
        let (least, most) = (self.loss(0), self.loss(worst));
        let between = count.saturating_sub(2);
        let mut rungs = vec![0];
        for i in 1..=between {
            let wanted = least + (most - least) * i as f64 / (between + 1) as f64;
            rungs.push(self.nearest(wanted));
        }
        rungs.push(worst);
        rungs.dedup();
        rungs
    }

    /// The ranking whose loss is closest to `wanted`.
    fn nearest(&mut self, wanted: f64) -> usize {
        // The first ranking with at least that loss is in from..=to.
        let (mut from, mut to) = (0, self.relevant * self.non_relevant);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.loss(middle) < wanted { from = middle + 1 } else { to = middle }
        }
        if from > 0 && wanted - self.loss(from - 1) < self.loss(from) - wanted { from - 1 } else { from }
    }

    fn loss(&mut self, wrong: usize) -> f64 {
        let (sunk, partly_sunk) = (wrong / self.non_relevant, wrong % self.non_relevant);
        let (non_relevant_ahead, relevant_behind) = self.counts.split_at_mut(self.relevant);
        non_relevant_ahead.fill(0);
        let sinking = self.relevant - sunk;
        non_relevant_ahead[sinking..].fill(self.non_relevant as u32);
        if partly_sunk > 0 {
            non_relevant_ahead[sinking - 1] = partly_sunk as u32;
        }
        relevant_behind[..partly_sunk].fill(sunk as u32 + 1);
        relevant_behind[partly_sunk..].fill(sunk as u32);
        (self.loss)(&RankingState::new(&self.counts, self.relevant))
    }
}
