//! Sums over the violated pairs of a query (those with a margin below 1), without enumerating them.
//!
//! With documents sorted by decreasing score, the documents that lead a given one by less than 1 start at some
//! position, and that position moves down with the given document. So two sweeps with one moving end each visit every
//! violated pair: upwards for the worse document of each pair, downwards for the better one. The documents visited so
//! far are tallied by grade.

use super::grades::{GradeWeights, GradedDocuments};
use super::{PairWeights, ScoredQuery};
use crate::rank::Ranking;

/// The violated pairs at given scores.
pub(super) struct ViolatedPairs<'a> {
    /// Scores minus the first score: a common offset must not cost precision.
    pub scores: Vec<f64>,
    ranking: Ranking,
    /// For each position, the first position whose document leads its own by less than 1.
    first: Vec<usize>,
    documents: GradedDocuments,
    factor: f64,
    weights: Option<&'a GradeWeights>,
}

impl<'a> ViolatedPairs<'a> {
    pub(super) fn new(weights: &'a PairWeights, query: ScoredQuery<'_>) -> Self {
        let common = query.scores.first().map_or(0.0, |s| *s);
        let scores: Vec<f64> = query.scores.iter().map(|s| s - common).collect();
        let ranking = Ranking::by_scores(query.scores);
        let at = |place: usize| query.scores[ranking.order()[place] as usize];
        let mut next = 0;
        let first = (0..scores.len())
            .map(|place| {
                while at(next) - at(place) >= 1.0 {
                    next += 1;
                }
                next
            })
            .collect();
        let documents = GradedDocuments::new(query.labels, weights.grades.as_ref());
        let factor = weights.factor(&documents);
        ViolatedPairs { scores, ranking, first, documents, factor, weights: weights.grades.as_ref() }
    }

    /// Visits each document with sums over the violated pairs in which it is the better one: their total weight, and
    /// their weight times `x` of the worse document.
    pub(super) fn each_better(&self, x: &[f64], mut visit: impl FnMut(usize, f64, f64)) {
        let mut tally = self.tally(Side::Worse);
        let mut met = 0;
        for place in 0..self.first.len() {
            while met < self.first.len() && self.first[met] <= place {
                tally.add(self.grade(met), x[self.document(met)]);
                met += 1;
            }
            let [weight, sum] = tally.against(self.grade(place));
            visit(self.document(place), self.factor * weight, self.factor * sum);
        }
    }

    /// Visits each document with sums over the violated pairs in which it is the worse one: their total weight, and
    /// their weight times `x` of the better document.
    pub(super) fn each_worse(&self, x: &[f64], mut visit: impl FnMut(usize, f64, f64)) {
        let mut tally = self.tally(Side::Better);
        let mut met = self.first.len();
        for place in (0..self.first.len()).rev() {
            while met > self.first[place] {
                met -= 1;
                tally.add(self.grade(met), x[self.document(met)]);
            }
            let [weight, sum] = tally.against(self.grade(place));
            visit(self.document(place), self.factor * weight, self.factor * sum);
        }
    }

    fn document(&self, place: usize) -> usize {
        self.ranking.order()[place] as usize
    }

    fn grade(&self, place: usize) -> usize {
        self.documents.numbers[self.document(place)] as usize
    }

    fn tally(&self, side: Side) -> Tally<'a> {
        Tally { side, sums: vec![[0.0; 2]; self.documents.counts.len()], weights: self.weights }
    }
}

/// Which documents of the pairs are tallied.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Worse,
    Better,
}

/// The number and sum of the added values, by grade.
///
/// If all pairs have equal weights, the sums are a Fenwick tree that starts at the far end of the side; if they are
/// weighted by grade, they are plain sums.
struct Tally<'a> {
    side: Side,
    sums: Vec<[f64; 2]>,
    weights: Option<&'a GradeWeights>,
}

impl Tally<'_> {
    /// The number of grades that are further out on the tallied side.
    fn beyond(&self, grade: usize) -> usize {
        match self.side {
            Side::Worse => grade,
            Side::Better => self.sums.len() - 1 - grade,
        }
    }

    fn add(&mut self, grade: usize, x: f64) {
        let put = |sum: &mut [f64; 2]| {
            sum[0] += 1.0;
            sum[1] += x;
        };
        if self.weights.is_some() {
            return put(&mut self.sums[grade]);
        }
        let mut at = self.beyond(grade) + 1;
        while at <= self.sums.len() {
            put(&mut self.sums[at - 1]);
            at += at & at.wrapping_neg();
        }
    }

    /// The weighted number and sum of all values that form a pair with a document of this grade.
    fn against(&self, grade: usize) -> [f64; 2] {
        let mut total = [0.0; 2];
        let mut count = |weight: f64, sum: &[f64; 2]| {
            total[0] += weight * sum[0];
            total[1] += weight * sum[1];
        };
        let Some(weights) = self.weights else {
            let mut at = self.beyond(grade);
            while at > 0 {
                count(1.0, &self.sums[at - 1]);
                at &= at - 1;
            }
            return total;
        };
        for (other, sum) in self.sums.iter().enumerate() {
            match self.side {
                Side::Worse if other < grade => count(weights.by_number(grade, other), sum),
                Side::Better if other > grade => count(weights.by_number(other, grade), sum),
                _ => {}
            }
        }
        total
    }
}
