//! The mean of a loss over random subsets of a query's documents.
//!
//! ```text
//! L(s) = 1/m Σ_{j≤m} L'(s restricted to subset j)
//! ```
//!
//! Some hinge losses demand that all relevant documents score above the highest non-relevant one, or an entire
//! ranking. With many documents and noisy labels, their minimum is at equal scores. On small subsets it is not. Each
//! subset contains two documents with different labels. The subsets depend only on the seed of the query, so the loss
//! is a fixed function.

use super::{QueryLoss, ScoredQuery};
use crate::rank::grade;
use crate::rng;
use rand::RngExt;

/// A loss over random subsets of documents.
#[derive(Debug, Clone, Copy)]
pub struct Subsampled<L> {
    /// The loss of a subset.
    pub loss: L,
    /// The number of documents per subset. With 0, or for queries with no more documents than this, all documents are
    /// used.
    pub documents: usize,
    /// The number of subsets per query, at least 1.
    pub draws: usize,
}

impl<L: QueryLoss> QueryLoss for Subsampled<L> {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        if self.takes_all(query.labels) {
            return self.loss.value_and_gradient(query, gradient);
        }
        gradient.fill(0.0);
        let share = 1.0 / self.draws as f64;
        let mut slopes = vec![0.0; self.documents];
        self.over_sets(query, |set, part| {
            let value = self.loss.value_and_gradient(part, &mut slopes);
            set.iter().zip(&slopes).for_each(|(&d, slope)| gradient[d] += share * slope);
            share * value
        })
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        if self.takes_all(query.labels) {
            return self.loss.curvature(query, curvature);
        }
        curvature.fill(0.0);
        let share = 1.0 / self.draws as f64;
        let mut bends = vec![0.0; self.documents];
        self.over_sets(query, |set, part| {
            self.loss.curvature(part, &mut bends);
            set.iter().zip(&bends).for_each(|(&d, bend)| curvature[d] += share * bend);
            0.0
        });
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.loss.has_signal(labels)
    }
}

impl<L> Subsampled<L> {
    /// Whether all documents are used: there are few of them, or all have the same label.
    fn takes_all(&self, labels: &[f32]) -> bool {
        let one_grade = labels.iter().all(|&r| grade(r) == grade(labels[0]));
        self.documents == 0 || labels.len() <= self.documents || one_grade
    }

    /// The sum of `each` over the subsets. It is given the document indices and the subset as a query.
    fn over_sets(
        &self,
        query: ScoredQuery<'_>,
        mut each: impl FnMut(&[usize], ScoredQuery<'_>) -> f64,
    ) -> f64 {
        let mut random = rng::stream(query.seed, &[]);
        let mut order: Vec<usize> = (0..query.labels.len()).collect();
        let (mut labels, mut scores) =
            (Vec::with_capacity(self.documents), Vec::with_capacity(self.documents));
        let mut total = 0.0;
        for draw in 0..self.draws {
            // The start of a shuffle, except for the second document: it is redrawn until its label differs from the
            // first.
            for place in 0..self.documents {
                loop {
                    let other = random.random_range(place..order.len());
                    order.swap(place, other);
                    let grades = [0, 1].map(|i| grade(query.labels[order[i]]));
                    if place != 1 || grades[0] != grades[1] {
                        break;
                    }
                }
            }
            let set = &order[..self.documents];
            labels.clear();
            labels.extend(set.iter().map(|&d| query.labels[d]));
            scores.clear();
            scores.extend(set.iter().map(|&d| query.scores[d]));
            let seed = rng::derive(query.seed, &[draw as u64]);
            total += each(set, ScoredQuery { labels: &labels, scores: &scores, seed });
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::{PairHinge, PairSum, PairWeights};

    fn pairs(documents: usize, draws: usize) -> Subsampled<PairHinge> {
        let weights = PairWeights { sum: PairSum::Mean, grades: None };
        Subsampled { loss: PairHinge(weights), documents, draws }
    }

    /// For two labels with equal counts, random pairs with different labels are uniform, so the mean over many of
    /// them approaches the mean hinge over all pairs.
    #[test]
    fn many_random_pairs_approach_the_mean_loss_of_all_pairs() {
        let labels: Vec<f32> = (0..20).map(|i| (i % 2) as f32).collect();
        let scores: Vec<f64> = (0..20).map(|i| f64::from((i * 7) % 11) / 5.0).collect();
        let query = ScoredQuery { labels: &labels, scores: &scores, seed: 4 };
        let (mut all, mut drawn) = (vec![0.0; 20], vec![0.0; 20]);
        let whole = pairs(0, 1).value_and_gradient(query, &mut all);
        let mean = pairs(2, 100_000).value_and_gradient(query, &mut drawn);
        assert!((whole - mean).abs() < 0.01, "{whole} and {mean}");
        assert!(all.iter().zip(&drawn).all(|(a, b)| (a - b).abs() < 0.01), "{all:?} and {drawn:?}");
    }

    #[test]
    fn every_subset_has_two_labels_and_no_duplicates() {
        let labels: Vec<f32> = (0..50).map(|i| f32::from(u8::from(i == 31))).collect();
        let query = ScoredQuery { labels: &labels, scores: &[0.0; 50], seed: 9 };
        let sets = pairs(4, 200).over_sets(query, |set, part| {
            let mut numbers = set.to_vec();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), 4);
            assert_eq!(part.labels.iter().filter(|r| **r == 1.0).count(), 1);
            1.0
        });
        assert_eq!(sets, 200.0);
    }
}
