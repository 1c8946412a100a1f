//! The dynamic programme of [`Placing`]: how many documents of each list stand at the first places.
//!
//! ```text
//! V(c) = max_h V(c − e_h) + A(|c|−1)·s(h, c_h−1) − D(|c|−1)·g_h ,      |c| = Σ_h c_h ≤ depth
//! ```
//!
//! with `s(h, j)` the score of number `j` of list `h`. From `depth` on gains count nothing; the documents that are
//! left follow by score, and what they add is summed up for each way to reach that depth.

use super::placing::Placing;

pub(super) struct Merge<'a> {
    placing: &'a Placing,
    /// Places where gains count.
    depth: usize,
    /// One more than the most documents of each list that stand above the depth.
    sizes: Vec<usize>,
}

impl<'a> Merge<'a> {
    pub(super) fn new(placing: &'a Placing) -> Self {
        let depth = placing.worth.len();
        let sizes = placing.lists.iter().map(|list| list.len().min(depth) + 1).collect();
        Merge { placing, depth, sizes }
    }

    pub(super) fn states(&self) -> f64 {
        self.sizes.iter().map(|&size| size as f64).product()
    }

    /// About how many sums are made; a state takes as long as several.
    pub(super) fn steps(&self) -> f64 {
        let (lists, depth) = (self.sizes.len(), self.depth as f64);
        let below = self.placing.pull.len().saturating_sub(self.depth) as f64;
        // How many ways there are to take `depth` documents out of the lists, were they long enough.
        let ways: f64 = (1..lists).map(|h| (depth + h as f64) / h as f64).product();
        3.0 * self.states() * lists as f64 + ways * below
    }

    /// The best order, as places in `documents`.
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

    /// Counts on by one, the first list quickest; how many documents that are.
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

    /// The best list to take the last document from, and the value with it.
    fn step(&self, state: usize, place: usize, counts: &[usize], best: &[f64]) -> (f64, u32) {
        let problem = self.placing;
        let pull = problem.pull.get(place).unwrap_or(&0.0);
        let (mut most, mut chosen, mut stride) = (f64::NEG_INFINITY, 0, 1);
        for (h, (&count, &size)) in counts.iter().zip(&self.sizes).enumerate() {
            if count > 0 {
                let score = problem.scores[problem.lists[h][count - 1] as usize];
                let value = best[state - stride] + pull * score - problem.worth[place] * problem.gains[h];
                if value > most {
                    (most, chosen) = (value, h as u32);
                }
            }
            stride *= size;
        }
        (most, chosen)
    }

    /// The documents left when so many of each list have been placed, by decreasing score.
    fn left<'c>(&'c self, counts: &'c [usize]) -> impl Iterator<Item = usize> + 'c {
        let problem = self.placing;
        (0..problem.documents.len())
            .filter(|&i| problem.number_of[i] as usize >= counts[problem.list_of[i] as usize])
    }

    /// What they add.
    fn rest(&self, counts: &[usize]) -> f64 {
        let Some(pull) = self.placing.pull.get(self.depth..) else { return 0.0 };
        pull.iter().zip(self.left(counts)).map(|(pull, i)| pull * self.placing.scores[i]).sum()
    }

    /// The order that ends in a state: back through the choices, then the documents left.
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
