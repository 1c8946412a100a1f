//! Rankings drawn from the law `Pr(y) ∝ exp(−w·δφ(y))` itself, over all `y` that rankings have (Gibbs sampling).
//!
//! One document after the other is taken out and put back where the law, given how all others stand, may have it. A
//! good `g` may have any of these bads ahead: all of the first blocks of bads, and any of the next. With `a_b = −2κ(s_g −
//! s_b)` the law of the bads ahead of it is `∝ exp(Σ a_b)`, so that
//!
//! ```text
//! Pr(none ahead) ∝ 1
//! Pr(all of the blocks before B, and some of B) ∝ exp(Σ_{b before B} a_b) · (Π_{b∈B} (1 + exp(a_b)) − 1)
//! ```
//!
//! and within B each bad is ahead with probability `σ(a_b)`, unless none is. The same holds for a bad with the goods
//! behind it, seen from the bottom. Every step is a draw from an exact conditional law, so the chain keeps the law; it
//! reaches every ranking from every other, so it converges to it from anywhere.

#[cfg(test)]
mod tests;

use super::states::{Sample, State};
use crate::rng::{self, Random};
use rand::RngExt;

/// How rankings are drawn from the law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chain {
    /// Rankings wanted.
    pub size: usize,
    /// How often every document is put back, on average, before the first ranking is kept.
    pub sweeps: usize,
    /// How many documents are put back between two rankings that are kept.
    pub thinning: usize,
}

impl Chain {
    /// Draws rankings of goods and bads of these exponents `2κ·s`, at least one each. The first of the sample is the
    /// perfect ranking, which was not drawn; `size` rankings of the law follow it.
    pub fn draw(&self, goods: &[f64], bads: &[f64], seed: u64) -> Sample {
        let mut order = Order::by_score(goods, bads);
        let mut random = rng::stream(seed, &[]);
        let mut sample = Sample::of_perfect(goods.len(), bads.len(), self.size + 1);
        (0..self.sweeps * order.documents.len()).for_each(|_| order.put_back_one(&mut random));
        let mut counts = vec![0; order.documents.len()];
        for _ in 0..self.size {
            (0..self.thinning).for_each(|_| order.put_back_one(&mut random));
            order.count(&mut counts);
            sample.push(State::new(&counts, goods.len()));
        }
        sample
    }
}

/// A document in a ranking.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Placed {
    /// Its number: goods first, then bads.
    document: u32,
    good: bool,
    /// `2κ·s`.
    exponent: f64,
}

/// A ranking; documents of one kind that stand together may do so in any order.
struct Order {
    goods: usize,
    documents: Vec<Placed>,
}

impl Order {
    /// A ranking that the law makes likely.
    fn by_score(goods: &[f64], bads: &[f64]) -> Order {
        let place = |(i, &exponent): (usize, &f64)| {
            let good = i < goods.len();
            Placed { document: i as u32, good, exponent }
        };
        let mut documents: Vec<Placed> = goods.iter().chain(bads).enumerate().map(place).collect();
        documents.sort_by(|a, b| b.exponent.total_cmp(&a.exponent));
        Order { goods: goods.len(), documents }
    }

    /// Takes out a random document and puts it back as the law has it, all else given.
    fn put_back_one(&mut self, random: &mut Random) {
        let at = random.random_range(0..self.documents.len());
        let taken = self.documents.remove(at);
        let place = if taken.good {
            self.pass(taken, random)
        } else {
            // Upside down, goods are to bads what bads are to goods.
            self.documents.reverse();
            let place = self.pass(taken, random);
            self.documents.reverse();
            self.documents.len() - place
        };
        self.documents.insert(place, taken);
    }

    /// Draws who of the other kind is passed by the document on its way from the top, brings these together, and
    /// gives the place behind them.
    fn pass(&mut self, taken: Placed, random: &mut Random) -> usize {
        // Blocks weigh in one by one, each being chosen against all before it.
        let (mut chosen, mut total, mut passed) = (None, 0.0, 0.0);
        let mut start = 0;
        while start < self.documents.len() {
            let other = |p: &Placed| p.good != taken.good;
            let end = start + self.documents[start..].iter().take_while(|p| other(p)).count();
            if end > start {
                let (mut some, mut all) = (0.0, 0.0);
                for p in &self.documents[start..end] {
                    let exponent = exponent_of_passing(taken, *p);
                    some += log_one_plus_exp(exponent);
                    all += exponent;
                }
                let weight: f64 = passed + some + (-(-some).exp_m1()).ln();
                // Logarithms of sums of weights: of 1, for none passed, and of the blocks so far.
                total = log_add(total, weight);
                if random.random::<f64>() < (weight - total).exp() {
                    chosen = Some((start, end));
                }
                passed += all;
            }
            start = end.max(start + 1);
        }
        chosen.map_or(0, |(start, end)| self.pass_some(taken, start, end, random))
    }

    /// Draws who of a block is passed, at least one, and brings these to its front.
    fn pass_some(&mut self, taken: Placed, start: usize, end: usize, random: &mut Random) -> usize {
        // `log Π (1 + exp(a))` over those still to be asked.
        let mut left: f64 =
            self.documents[start..end].iter().map(|p| log_one_plus_exp(exponent_of_passing(taken, *p))).sum();
        let mut front = start;
        for at in start..end {
            let exponent = exponent_of_passing(taken, self.documents[at]);
            let log = log_one_plus_exp(exponent);
            // While none is passed, those without any are left out: Pr = σ(a) / (1 − Π 1/(1 + exp(a))).
            let some = if front == start { -(-left).exp_m1() } else { 1.0 };
            if random.random::<f64>() * some < (exponent - log).exp() || (front == start && at + 1 == end) {
                self.documents.swap(at, front);
                front += 1;
            }
            left -= log;
        }
        front
    }

    /// How many bads are ahead of each good, and goods behind each bad.
    fn count(&self, counts: &mut [u32]) {
        let (mut goods, mut bads) = (0, 0);
        for p in &self.documents {
            let count = &mut counts[p.document as usize];
            if p.good {
                *count = bads;
                goods += 1;
            } else {
                *count = (self.goods - goods) as u32;
                bads += 1;
            }
        }
    }
}

/// `−2κ(s_g − s_b)`: what the exponent of the law gains when this pair is in the wrong order.
fn exponent_of_passing(taken: Placed, other: Placed) -> f64 {
    if taken.good { other.exponent - taken.exponent } else { taken.exponent - other.exponent }
}

fn log_one_plus_exp(a: f64) -> f64 {
    a.max(0.0) + (-a.abs()).exp().ln_1p()
}

fn log_add(a: f64, b: f64) -> f64 {
    a.max(b) + (-(a - b).abs()).exp().ln_1p()
}
