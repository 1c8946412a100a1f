//! The mean of a loss over small random sets of a query's documents.
//!
//! ```text
//! L(s) = 1/m Σ_{j≤m} L'(s restricted to set j)
//! ```
//!
//! Hinges that ask for all goods above the highest bad, or for a whole ranking, are least at equal scores when a query
//! has many documents and noise. On a few documents at a time they are not. Each set begins with two documents of
//! different grades; the sets depend on the query's seed alone, so the loss stays the same function.

use super::{QueryLoss, ScoredQuery};
use crate::rank::grade;
use crate::rng;
use rand::RngExt;

/// A loss over random sets of documents.
#[derive(Debug, Clone, Copy)]
pub struct Subsampled<L> {
    /// The loss of a set.
    pub loss: L,
    /// Documents in a set; 0 for one set of all, and so is a query with no more.
    pub documents: usize,
    /// Sets of each query, at least 1.
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

    fn is_informed_by(&self, labels: &[f32]) -> bool {
        self.loss.is_informed_by(labels)
    }
}

impl<L> Subsampled<L> {
    /// Whether there is nothing to draw: few documents, or all of one grade.
    fn takes_all(&self, labels: &[f32]) -> bool {
        let one_grade = labels.iter().all(|&r| grade(r) == grade(labels[0]));
        self.documents == 0 || labels.len() <= self.documents || one_grade
    }

    /// The sum of `each` over the sets, given the numbers of their documents and the documents as a query.
    fn over_sets(
        &self,
        query: ScoredQuery<'_>,
        mut each: impl FnMut(&[usize], ScoredQuery<'_>) -> f64,
    ) -> f64 {
        let mut random = rng::stream(query.seed, &[]);
        let mut order: Vec<usize> = (0..query.labels.len()).collect();
        let mut total = 0.0;
        for draw in 0..self.draws {
            // The first places of a shuffle, but for the second: drawn again until its grade differs from the first.
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
            let labels: Vec<f32> = set.iter().map(|&d| query.labels[d]).collect();
            let scores: Vec<f64> = set.iter().map(|&d| query.scores[d]).collect();
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

    /// A pair of different grades, drawn from all those, has in the mean the mean hinge of all pairs: two grades of
    /// equal count make every such pair equally likely.
    #[test]
    fn many_pairs_have_the_mean_loss_of_all_pairs() {
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
    fn every_set_has_two_grades_and_no_document_twice() {
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
