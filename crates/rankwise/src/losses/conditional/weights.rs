//! Integer weights that can be updated one at a time and sampled in proportion.

/// The number of weights per sum. Scanning this many is cheaper than another level of sums.
const FAN: usize = 16;

/// Weights, sums of 16 weights, sums of 16 sums, and so on up to a level of at most 16.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WeightTree {
    levels: Vec<Vec<u64>>,
}

impl WeightTree {
    /// `count` weights of 0.
    pub(super) fn new(count: usize) -> Self {
        let mut levels = vec![vec![0; count.max(1)]];
        while levels[levels.len() - 1].len() > FAN {
            let sums = levels[levels.len() - 1].len().div_ceil(FAN);
            levels.push(vec![0; sums]);
        }
        WeightTree { levels }
    }

    /// Sets all weights to 0.
    pub(super) fn clear(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
    }

    /// Sets weight number `i`.
    pub(super) fn set(&mut self, mut i: usize, weight: u64) {
        // Intermediate sums may wrap around; the final ones are exact.
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

    /// The index of the weight that covers `point < total` if all weights are laid end to end, and the offset within
    /// it.
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
