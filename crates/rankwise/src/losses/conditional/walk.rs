//! A random walk over rankings of relevant and non-relevant documents that flips one pair per step, without rejected
//! steps.
//!
//! The transition probabilities are those of the paper (Figure 2): draw a pair of a relevant and a non-relevant
//! document from all `n⁺n⁻`, flip it with probability `θ`, reject the flip if the result is not a ranking, and repeat
//! until one is accepted. Here, the pair is drawn directly from those that can be flipped, with the same
//! probabilities.
//!
//! A ranking up to the order within a class consists of alternating blocks of relevant and non-relevant documents. A
//! pair can be flipped if and only if its blocks are adjacent: any block between them would contain a document that
//! is behind one of the two and ahead of the other. After the flip, the two are between the remainders of their
//! blocks, in reverse order:
//!
//! ```text
//! G B  →  G∖{g}  b  g  B∖{b}
//! ```
//!
//! If a block becomes empty, the block before it joins with `b`, or the block behind it with `g`. So the classes of
//! two adjacent positions are swapped, and nothing else changes. All pairs of two adjacent blocks have the same
//! counts, `h` non-relevant documents ahead of the relevant one and `l` relevant documents behind the non-relevant
//! one, and therefore the same
//!
//! ```text
//! (2 + n⁺ + n⁻)·θ = h + l + 1                   the relevant document is ahead
//!                   n⁺ + n⁻ + 1 − h − l         the non-relevant document is ahead
//! ```
//!
//! The total weight of two adjacent blocks is that number times their number of pairs: an integer.

use super::states::RankingState;
use super::weights::WeightTree;
use crate::rng::Random;
use rand::RngExt;
use rand::seq::SliceRandom;

#[cfg(test)]
mod tests;

/// The state of a walk. Documents with an index below `relevant` are relevant; there is at least one document of each
/// class.
#[derive(Debug, Clone)]
pub(super) struct Walk {
    relevant: usize,
    /// First the relevant, then the non-relevant documents, each in the order used at the start of a walk.
    initial_order: Vec<u32>,
    /// The documents from the top.
    order: Vec<u32>,
    /// The number of non-relevant documents ahead of each relevant one, and of relevant documents behind each
    /// non-relevant one.
    counts: Vec<u32>,
    /// At the first position of a block, its last position; at the last, its first; undefined in between.
    other_end: Vec<u32>,
    /// The total weight of the pairs between the block that ends at each position and the next block; 0 if no block
    /// ends there.
    weights: WeightTree,
}

impl Walk {
    /// A walk at the perfect ranking.
    pub(super) fn new(relevant: usize, non_relevant: usize) -> Self {
        let documents = relevant + non_relevant;
        let mut walk = Walk {
            relevant,
            initial_order: (0..documents as u32).collect(),
            order: Vec::with_capacity(documents),
            counts: vec![0; documents],
            other_end: vec![0; documents],
            weights: WeightTree::new(documents - 1),
        };
        walk.start(0);
        walk
    }

    /// The current ranking.
    pub(super) fn state(&self) -> RankingState<'_> {
        RankingState::new(&self.counts, self.relevant)
    }

    /// Draws the order of the documents within each class for the start of a walk.
    pub(super) fn shuffle(&mut self, random: &mut Random) {
        let (relevant, non_relevant) = self.initial_order.split_at_mut(self.relevant);
        relevant.shuffle(random);
        non_relevant.shuffle(random);
    }

    /// Moves to the ranking with `wrong` wrong pairs on the path from the perfect to the worst ranking on which the
    /// relevant documents sink to the bottom one by one, the last one first.
    pub(super) fn start(&mut self, wrong: usize) {
        let (relevant, non_relevant) = self.initial_order.split_at(self.relevant);
        let (sunk, non_relevant_ahead) = (wrong / non_relevant.len(), wrong % non_relevant.len());
        let (floating, sunk) = relevant.split_at(relevant.len() - sunk);
        let (on_top, sinking) = floating.split_at(floating.len().saturating_sub(1));
        self.order.clear();
        for part in
            [on_top, &non_relevant[..non_relevant_ahead], sinking, &non_relevant[non_relevant_ahead..], sunk]
        {
            self.order.extend_from_slice(part);
        }
        self.survey();
    }

    /// Computes all counts, blocks and weights from the order.
    fn survey(&mut self) {
        let (mut non_relevant_ahead, mut relevant_behind) = (0, self.relevant as u32);
        let mut first = 0;
        for place in 0..self.order.len() {
            let document = self.order[place] as usize;
            if document < self.relevant {
                relevant_behind -= 1;
                self.counts[document] = non_relevant_ahead;
            } else {
                non_relevant_ahead += 1;
                self.counts[document] = relevant_behind;
            }
            if place > 0 && self.is_relevant_at(place - 1) != self.is_relevant_at(place) {
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

    /// Moves to the next ranking.
    pub(super) fn step(&mut self, random: &mut Random) {
        // One random number determines the two blocks and, by its uniform remainder, the two documents.
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

    /// Flips the pair at this position and the next, the ends of two blocks that start at `upper` and end at `lower`.
    fn flip(&mut self, place: usize, upper: usize, lower: usize) {
        let change = if self.is_relevant_at(place) { 1 } else { u32::MAX };
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
        // All changed blocks lie between `first` and `last`, and their ends are among these positions.
        for end in [first.wrapping_sub(1), place.wrapping_sub(1), place, place + 1, last] {
            if end < self.order.len() - 1 {
                self.weigh(end);
            }
        }
    }

    fn is_relevant_at(&self, place: usize) -> bool {
        (self.order[place] as usize) < self.relevant
    }

    fn set_block(&mut self, first: usize, last: usize) {
        self.other_end[first] = last as u32;
        self.other_end[last] = first as u32;
    }

    /// Updates the weight at this position, which is not the last.
    fn weigh(&mut self, place: usize) {
        let weight = if self.is_relevant_at(place) == self.is_relevant_at(place + 1) {
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
        if self.is_relevant_at(place) { wrong + 1 } else { self.order.len() as u64 + 1 - wrong }
    }
}
