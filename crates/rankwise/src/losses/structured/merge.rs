//! The dynamic program of [`Placing`] over the number of documents of each list at the top positions.
//!
//! ```text
//! V(c) = max_h V(c − e_h) + A(|c|−1)·s(h, c_h−1) − D(|c|−1)·g_h ,      |c| = Σ_h c_h ≤ depth
//! ```
//!
//! where `s(h, j)` is the score of document `j` of list `h`. From `depth` on, gains do not count. The remaining
//! documents follow by score, and their contribution is computed for each state at that depth.

use super::placing::Placing;

pub(super) struct Merge<'a> {
    placing: &'a Placing,
    /// The number of positions at which gains count.
    depth: usize,
    /// One more than the maximum number of documents of each list above the depth.
    sizes: Vec<usize>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(placing: &'a Placing) -> Self {
        let depth = placing.discounts.len();
        let sizes = placing.lists.iter().map(|list| list.len().min(depth) + 1).collect();
        Merge { placing, depth, sizes }
    }

    pub(super) fn states(&self) -> f64 {
        self.sizes.iter().map(|&size| size as f64).product()
    }

    /// An estimate of the number of additions; a state takes as long as several.
    pub(super) fn steps(&self) -> f64 {
        let (lists, depth) = (self.sizes.len(), self.depth as f64);
        let below = self.placing.pull.len().saturating_sub(self.depth) as f64;
        // The number of ways to take `depth` documents from the lists, if they were long enough.
        let ways: f64 = (1..lists).map(|h| (depth + h as f64) / h as f64).product();
        3.0 * self.states() * lists as f64 + ways * below
    }

    /// The optimal order, as indices into `documents`.
    pub(super) fn solve(&self) -> Vec<u32> {
        let states: usize = self.sizes.iter().product();
        let mut best = vec![f64::NEG_INFINITY; states];
        let mut choice = vec![0u32; states];
        let (mut most, mut end) = (f64::NEG_INFINITY, 0);
        best[0] = 0.0;
        let mut counts = vec![0; self.sizes.len()];
        for state in 1..states {
            let placed = self.advance(&mut counts);
            if placed > self.depth {
                continue;
            }
            (best[state], choice[state]) = self.step(state, placed - 1, &counts, &best);
            if placed == self.depth {
                let value = best[state] + self.rest(&counts);
                if value > most {
                    (most, end) = (value, state);
                }
            }
        }
        self.trace(end, &choice)
    }

    /// Increments the counts, the first list fastest; returns their sum.
    fn advance(&self, counts: &mut [usize]) -> usize {
        for (count, size) in counts.iter_mut().zip(&self.sizes) {
            *count += 1;
            if *count < *size {
                break;
            }
            *count = 0;
        }
        counts.iter().sum()
    }

    /// The best list for the last document, and the resulting value.
    fn step(&self, state: usize, place: usize, counts: &[usize], best: &[f64]) -> (f64, u32) {
        let problem = self.placing;
        let pull = problem.pull.get(place).unwrap_or(&0.0);
        let (mut most, mut chosen, mut stride) = (f64::NEG_INFINITY, 0, 1);
        for (h, (&count, &size)) in counts.iter().zip(&self.sizes).enumerate() {
            if count > 0 {
                let score = problem.scores[problem.lists[h][count - 1] as usize];
                let value = best[state - stride] + pull * score - problem.discounts[place] * problem.gains[h];
                if value > most {
                    (most, chosen) = (value, h as u32);
                }
            }
            stride *= size;
        }
        (most, chosen)
    }

    /// The documents that remain after `counts` of each list have been placed, by decreasing score.
    fn left<'c>(&'c self, counts: &'c [usize]) -> impl Iterator<Item = usize> + 'c {
        let problem = self.placing;
        (0..problem.documents.len())
            .filter(|&i| problem.number_of[i] as usize >= counts[problem.list_of[i] as usize])
    }

    /// The contribution of the remaining documents.
    fn rest(&self, counts: &[usize]) -> f64 {
        let Some(pull) = self.placing.pull.get(self.depth..) else { return 0.0 };
        pull.iter().zip(self.left(counts)).map(|(pull, i)| pull * self.placing.scores[i]).sum()
    }

    /// The order that ends in a state: backtracks the choices, then appends the remaining documents.
    fn trace(&self, mut state: usize, choice: &[u32]) -> Vec<u32> {
        let stride = |h: usize| self.sizes[..h].iter().product::<usize>();
        let ends: Vec<usize> = (0..self.sizes.len()).map(|h| state / stride(h) % self.sizes[h]).collect();
        let mut counts = ends.clone();
        let mut order = Vec::with_capacity(self.placing.documents.len());
        while state > 0 {
            let h = choice[state] as usize;
            counts[h] -= 1;
            order.push(self.placing.lists[h][counts[h]]);
            state -= stride(h);
        }
        order.reverse();
        order.extend(self.left(&ends).map(|i| i as u32));
        order
    }
}
