//! A random walk over the rankings of goods and bads, one flipped pair a step, and no step in vain.
//!
//! The law is the paper's (Figure 2): draw a pair of a good and a bad from all `n⁺n⁻`, flip it with probability `θ`,
//! reject the flip if what is left is no ranking, and begin again until one is accepted. Here the pair is drawn from
//! those alone that can be flipped, by the same probabilities.
//!
//! A ranking up to the order within a class is alternating blocks of goods and bads. A pair can be flipped if, and only
//! if, the blocks of the two are neighbours: any block between them would hold a document that is behind the one and
//! ahead of the other. After the flip the two stand between what is left of their blocks, the other way round:
//!
//! ```text
//! G B  →  G∖{g}  b  g  B∖{b}
//! ```
//!
//! where a block that is left empty lets the one before it join with `b`, or the one behind it with `g`. So the classes
//! of two neighbouring places change over, and nothing else does. All pairs of two neighbouring blocks have the same
//! counts, `h` bads ahead of the good and `l` goods behind the bad, hence the same
//!
//! ```text
//! (2 + n⁺ + n⁻)·θ = h + l + 1                   the good is ahead
//!                   n⁺ + n⁻ + 1 − h − l         the bad is ahead
//! ```
//!
//! and together they weigh as much as that times the pairs of the two blocks: a whole number.

use super::states::State;
use super::weights::Weights;
use crate::rng::Random;
use rand::RngExt;
use rand::seq::SliceRandom;

#[cfg(test)]
mod tests;

/// Where the walk stands. Goods are the documents before number `goods`; there is at least one good and one bad.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    goods: usize,
    /// All goods and then all bads, each in the order they are laid out in when a walk starts.
    cast: Vec<u32>,
    /// The documents from the top.
    order: Vec<u32>,
    /// Of each good the bads ahead, of each bad the goods behind.
    counts: Vec<u32>,
    /// At the first place of a block its last place, and at the last its first; of no meaning in between.
    other_end: Vec<u32>,
    /// What the pairs weigh of the block that ends at each place and the next block; 0 where no block ends.
    weights: Weights,
}

impl Walk {
    /// At the perfect ranking.
    pub(super) fn new(goods: usize, bads: usize) -> Self {
        let documents = goods + bads;
        let mut walk = Walk {
            goods,
            cast: (0..documents as u32).collect(),
            order: Vec::with_capacity(documents),
            counts: vec![0; documents],
            other_end: vec![0; documents],
            weights: Weights::new(documents - 1),
        };
        walk.start(0);
        walk
    }

    /// The ranking where the walk stands.
    pub(super) fn state(&self) -> State<'_> {
        State::new(&self.counts, self.goods)
    }

    /// Draws anew which goods and which bads stand further up when a walk starts.
    pub(super) fn shuffle(&mut self, random: &mut Random) {
        let (goods, bads) = self.cast.split_at_mut(self.goods);
        goods.shuffle(random);
        bads.shuffle(random);
    }

    /// Goes to the ranking with so many pairs wrong on the way from the perfect ranking to the worst on which the
    /// goods, from the last up, sink to the bottom one after the other.
    pub(super) fn start(&mut self, wrong: usize) {
        let (goods, bads) = self.cast.split_at(self.goods);
        let (sunk, bads_ahead) = (wrong / bads.len(), wrong % bads.len());
        let (floating, sunk) = goods.split_at(goods.len() - sunk);
        let (on_top, sinking) = floating.split_at(floating.len().saturating_sub(1));
        self.order.clear();
        for part in [on_top, &bads[..bads_ahead], sinking, &bads[bads_ahead..], sunk] {
            self.order.extend_from_slice(part);
        }
        self.survey();
    }

    /// Finds all counts, blocks and weights of the order.
    fn survey(&mut self) {
        let (mut bads_ahead, mut goods_behind) = (0, self.goods as u32);
        let mut first = 0;
        for place in 0..self.order.len() {
            let document = self.order[place] as usize;
            if document < self.goods {
                goods_behind -= 1;
                self.counts[document] = bads_ahead;
            } else {
                bads_ahead += 1;
                self.counts[document] = goods_behind;
            }
            if place > 0 && self.is_good_at(place - 1) != self.is_good_at(place) {
                self.set_block(first, place - 1);
                first = place;
            }
        }
        self.set_block(first, self.order.len() - 1);
        self.weights.clear();
        for place in 0..self.order.len() - 1 {
            self.weigh(place);
        }
    }

    /// To the next ranking.
    pub(super) fn step(&mut self, random: &mut Random) {
        // One number says all: the two blocks, and by its rest, which is as likely to be any, the two documents.
        let point = random.random_range(0..self.weights.total());
        let (place, rest) = self.weights.covering(point);
        let upper = self.other_end[place] as usize;
        let lower = self.other_end[place + 1] as usize;
        let pair = (rest / self.likelihood(place)) as usize;
        let below = lower - place;
        self.order.swap(upper + pair / below, place);
        self.order.swap(place + 1 + pair % below, place + 1);
        self.flip(place, upper, lower);
    }

    /// Flips the pair of this place and the next, the ends of two blocks that go from `upper` and up to `lower`.
    fn flip(&mut self, place: usize, upper: usize, lower: usize) {
        let change = if self.is_good_at(place) { 1 } else { u32::MAX };
        self.order.swap(place, place + 1);
        for document in [self.order[place], self.order[place + 1]] {
            let count = &mut self.counts[document as usize];
            *count = count.wrapping_add(change);
        }
        let first = if upper < place {
            self.set_block(upper, place - 1);
            self.set_block(place, place);
            upper
        } else {
            let joined = if place > 0 { self.other_end[place - 1] as usize } else { 0 };
            self.set_block(joined, place);
            joined
        };
        let last = if lower > place + 1 {
            self.set_block(place + 2, lower);
            self.set_block(place + 1, place + 1);
            lower
        } else {
            let joined = self.other_end.get(place + 2).map_or(place + 1, |&end| end as usize);
            self.set_block(place + 1, joined);
            joined
        };
        // All blocks that changed lie from `first` to `last`; their ends are among these places.
        for end in [first.wrapping_sub(1), place.wrapping_sub(1), place, place + 1, last] {
            if end < self.order.len() - 1 {
                self.weigh(end);
            }
        }
    }

    fn is_good_at(&self, place: usize) -> bool {
        (self.order[place] as usize) < self.goods
    }

    fn set_block(&mut self, first: usize, last: usize) {
        self.other_end[first] = last as u32;
        self.other_end[last] = first as u32;
    }

    /// Sets the weight at this place, which is not the last.
    fn weigh(&mut self, place: usize) {
        let weight = if self.is_good_at(place) == self.is_good_at(place + 1) {
            0
        } else {
            let above = place + 1 - self.other_end[place] as usize;
            let below = self.other_end[place + 1] as usize - place;
            above as u64 * below as u64 * self.likelihood(place)
        };
        self.weights.set(place, weight);
    }

    /// `(2 + n⁺ + n⁻)·θ` of the pairs of the block that ends at this place and the next block.
    fn likelihood(&self, place: usize) -> u64 {
        let count = |place: usize| u64::from(self.counts[self.order[place] as usize]);
        let wrong = count(place) + count(place + 1);
        if self.is_good_at(place) { wrong + 1 } else { self.order.len() as u64 + 1 - wrong }
    }
}
