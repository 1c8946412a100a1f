//! Whole-numbered weights that change one at a time, and are drawn from in proportion.

/// How many weights one sum is over. Going through so many costs less than one more level of sums.
const FAN: usize = 16;

/// Weights, sums of 16 weights, sums of 16 sums, and so on up to one level of at most 16.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Weights {
    levels: Vec<Vec<u64>>,
}

impl Weights {
    /// So many weights of 0.
    pub(super) fn new(count: usize) -> Self {
        let mut levels = vec![vec![0; count.max(1)]];
        while levels[levels.len() - 1].len() > FAN {
            let sums = levels[levels.len() - 1].len().div_ceil(FAN);
            levels.push(vec![0; sums]);
        }
        Weights { levels }
    }

    /// Makes all weights 0.
    pub(super) fn clear(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
    }

    /// Changes weight number `i`.
    pub(super) fn set(&mut self, mut i: usize, weight: u64) {
        // Sums wrap on the way down and back up: what comes out is the true sum.
        let change = weight.wrapping_sub(self.levels[0][i]);
        for level in &mut self.levels {
            level[i] = level[i].wrapping_add(change);
            i /= FAN;
        }
    }

    /// The sum of all weights.
    pub(super) fn total(&self) -> u64 {
        self.levels[self.levels.len() - 1].iter().sum()
    }

    /// The number of the weight that covers `point < total` when all are laid end to end, and how far into it.
    pub(super) fn covering(&self, mut point: u64) -> (usize, u64) {
        let mut found = 0;
        for level in self.levels.iter().rev() {
            found *= FAN;
            while point >= level[found] {
                point -= level[found];
                found += 1;
            }
        }
        (found, point)
    }
}
