//! Kendall's τ-b between scores and labels (Kendall 1945), which allows for ties in both.
//!
//! ```text
//! τ_b = (C − D) / √((P − T_scores)(P − T_labels))
//! ```
//! with C concordant and D discordant of P = n(n−1)/2 pairs, and T the pairs tied in one or the other.
//! Documents that were not retrieved are tied below all others. Ties are part of the definition, whatever the tie
//! rule.

use super::{MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::{Ranking, grade};

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "kendall",
        title: "Kendall's τ-b",
        summary: "Concordant minus discordant pairs of documents, divided by the geometric mean of the pairs not tied in \
             score and the pairs not tied in label.",
        citations: &["kendall1945ties"],
    },
    aliases: &["tau", "tau_b", "kendalltau"],
    range: (-1.0, Some(1.0)),
    empty: "all labels equal: 0, 1 or skipped, depending on `empty`; all scores equal: 0",
    cut: false,
    levels: false,
    options: &[],
    make: |request| request.build(&ENTRY.card, KendallTauB),
};

struct KendallTauB;

impl MetricFormula for KendallTauB {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        labels.iter().all(|&l| grade(l) == grade(labels[0]))
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        let grades = grade_numbers(labels);
        let mut above = Counts::new(labels.len());
        let (mut concordance, mut tied_scores) = (0_i64, 0);
        let mut add = |documents: &[u32]| {
            for &d in documents {
                let (higher, lower) = above.higher_and_lower(grades[d as usize]);
                concordance += higher - lower;
            }
            documents.iter().for_each(|&d| above.insert(grades[d as usize]));
            tied_scores += pairs(documents.len());
        };
        ranking.score_groups().for_each(|group| add(&ranking.order()[group]));
        add(&not_retrieved(labels.len(), ranking));
        let untied_scores = pairs(labels.len()) - tied_scores;
        let untied_grades = pairs(labels.len()) - above.tied_pairs();
        if untied_scores == 0 {
            return 0.0;
        }
        // Two roots, because the product could overflow.
        concordance as f64 / (untied_scores as f64).sqrt() / (untied_grades as f64).sqrt()
    }
}

fn not_retrieved(documents: usize, ranking: &Ranking) -> Vec<u32> {
    let mut retrieved = vec![false; documents];
    ranking.order().iter().for_each(|&d| retrieved[d as usize] = true);
    (0..documents as u32).filter(|&d| !retrieved[d as usize]).collect()
}

fn pairs(n: usize) -> i64 {
    n as i64 * (n as i64 - 1) / 2
}

/// The index of each document's label among the distinct labels, from 1.
fn grade_numbers(labels: &[f32]) -> Vec<usize> {
    let mut distinct: Vec<f32> = labels.iter().map(|&l| grade(l)).collect();
    distinct.sort_unstable_by(f32::total_cmp);
    distinct.dedup();
    labels.iter().map(|&l| distinct.partition_point(|&g| g < grade(l)) + 1).collect()
}

/// The number of documents seen with each label index, in a Fenwick tree.
struct Counts {
    tree: Vec<i64>,
    each: Vec<i64>,
    total: i64,
}

impl Counts {
    fn new(most: usize) -> Self {
        Counts { tree: vec![0; most + 1], each: vec![0; most + 1], total: 0 }
    }

    fn insert(&mut self, number: usize) {
        let mut i = number;
        while i < self.tree.len() {
            self.tree[i] += 1;
            i += i & i.wrapping_neg();
        }
        self.each[number] += 1;
        self.total += 1;
    }

    fn higher_and_lower(&self, number: usize) -> (i64, i64) {
        let (mut lower, mut i) = (0, number - 1);
        while i > 0 {
            lower += self.tree[i];
            i &= i - 1;
        }
        (self.total - lower - self.each[number], lower)
    }

    fn tied_pairs(&self) -> i64 {
        self.each.iter().map(|&n| n * (n - 1) / 2).sum()
    }
}
