//! Rankings of one query, drawn by random walks from good, bad and middling ones.

use super::states::{Sample, State};
use super::walk::Walk;
use crate::rng::{self, Random};
use rand::RngExt;

#[cfg(test)]
mod tests;

/// How rankings of one query are drawn: by walks that each start anew.
///
/// Where a walk starts is not kept, since all start from a few rankings. A flip makes one pair more or one less wrong, so
/// with an even `thinning` all that is kept of a walk has the wrong pairs of its start, give or take an even number;
/// better take an odd one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampler {
    /// Rankings wanted, the perfect one included.
    pub size: usize,
    /// Pairs that one walk flips, at least 1.
    pub steps: usize,
    /// After how many flips a ranking is kept, at least 1; the last of a shorter walk is.
    pub thinning: usize,
    /// Where walks start.
    pub restarts: Restarts,
}

/// Where walks start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Restarts {
    /// At the perfect ranking or at the worst, all bads ahead of all goods.
    Ends {
        /// Probability of the perfect ranking.
        best: f64,
    },
    /// At one of several rankings, from the perfect to the worst and with losses as evenly apart as can be.
    ///
    /// They lie on the way on which the goods, from the last up, sink to the bottom one after the other; which goods
    /// and which bads stand further up is drawn anew for each walk.
    Ladder {
        /// How many rankings, at least 2; fewer where there are not so many.
        rungs: usize,
        /// The `k` of `Pr ∝ exp(k·Δ)`, by which a walk's start is drawn: below 0 for better rankings.
        skew: f64,
    },
}

impl Sampler {
    /// Draws rankings of so many goods and bads. The `loss` of a ranking is needed for the ladder; it may not fall
    /// when a good sinks.
    ///
    /// A sample with the same seed and a larger size begins with all of this one. Without goods or without bads there
    /// is only the perfect ranking.
    pub fn draw(&self, goods: usize, bads: usize, loss: impl Fn(&State<'_>) -> f64, seed: u64) -> Sample {
        if goods == 0 || bads == 0 {
            return Sample::of_perfect(goods, bads, 1);
        }
        let starts = Starts::new(self.restarts, goods, bads, loss);
        let steps = self.steps.max(1);
        let thinning = self.thinning.clamp(1, steps);
        let mut sample = Sample::of_perfect(goods, bads, self.size);
        let mut missing = self.size.saturating_sub(1);
        let mut random = rng::stream(seed, &[]);
        let mut walk = Walk::new(goods, bads);
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

/// The rankings where walks start.
#[derive(Debug)]
struct Starts {
    /// How many pairs each has wrong on the way from the perfect to the worst, in rising order.
    rungs: Vec<usize>,
    /// The probabilities of the first one, the first two, and so on, times a constant.
    cumulated: Vec<f64>,
}

impl Starts {
    fn new(restarts: Restarts, goods: usize, bads: usize, loss: impl Fn(&State<'_>) -> f64) -> Self {
        let (rungs, weights) = match restarts {
            Restarts::Ends { best } => (vec![0, goods * bads], vec![best, 1.0 - best]),
            Restarts::Ladder { rungs, skew } => {
                let mut way = Way { goods, bads, counts: vec![0; goods + bads], loss };
                let rungs = way.rungs(rungs);
                let losses: Vec<f64> = rungs.iter().map(|&wrong| way.loss(wrong)).collect();
                // Relative to the largest, so that none overflows.
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

    /// Puts the walk at one of the rankings.
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

/// The rankings from the perfect one to the worst on which walks may start, by how many pairs they have wrong.
struct Way<L> {
    goods: usize,
    bads: usize,
    counts: Vec<u32>,
    loss: L,
}

impl<L: Fn(&State<'_>) -> f64> Way<L> {
    /// At most so many rankings with losses evenly apart, both ends among them.
    fn rungs(&mut self, count: usize) -> Vec<usize> {
        let worst = self.goods * self.bads;
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

    /// The ranking whose loss is nearest to the one wanted.
    fn nearest(&mut self, wanted: f64) -> usize {
        // The first with at least that loss lies in from..=to.
        let (mut from, mut to) = (0, self.goods * self.bads);
        while from < to {
            let middle = from + (to - from) / 2;
            if self.loss(middle) < wanted { from = middle + 1 } else { to = middle }
        }
        if from > 0 && wanted - self.loss(from - 1) < self.loss(from) - wanted { from - 1 } else { from }
    }

    fn loss(&mut self, wrong: usize) -> f64 {
        let (sunk, bads_ahead) = (wrong / self.bads, wrong % self.bads);
        let (bads_of_goods, goods_of_bads) = self.counts.split_at_mut(self.goods);
        bads_of_goods.fill(0);
        let sinking = self.goods - sunk;
        bads_of_goods[sinking..].fill(self.bads as u32);
        if bads_ahead > 0 {
            bads_of_goods[sinking - 1] = bads_ahead as u32;
        }
        goods_of_bads[..bads_ahead].fill(sunk as u32 + 1);
        goods_of_bads[bads_ahead..].fill(sunk as u32);
        (self.loss)(&State::new(&self.counts, self.goods))
    }
}
