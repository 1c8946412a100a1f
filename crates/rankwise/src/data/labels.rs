//! Labels that are not grades: a relevance threshold for them, and bins to show them in.

use super::clean::count_grades;
use super::{Dataset, Query};
use serde::Serialize;

/// More distinct labels than this are shown in bins.
const MAX_SHOWN: usize = 30;
/// The number of bins.
const BINS: usize = 10;

/// The label from which on documents should count as relevant, if the labels themselves do not say it: the positive
/// label that separates the most pairs of a query's documents, the larger one if two separate as many. `None` if
/// there is no pair with a positive label to separate.
///
/// `queries` are the labels of each query; NaN is unjudged and counts as not relevant.
pub fn separating_threshold<'a>(queries: impl Iterator<Item = &'a [f32]>) -> Option<f32> {
    best_threshold(vec![separated_pairs(queries)])
}

impl Dataset {
    /// The same for those queries of all workers that count.
    pub(crate) fn separating_threshold(&self, counts: impl Fn(Query<'_>) -> bool) -> Option<f32> {
        let labels = || self.queries().filter(|query| counts(*query)).map(|query| query.labels());
        self.decide(|| separated_pairs(labels()), best_threshold)
    }
}

/// The pairs of a query's documents that each positive label separates as a threshold, from the highest label down.
fn separated_pairs<'a>(queries: impl Iterator<Item = &'a [f32]>) -> Vec<(f32, i128)> {
    let (mut sizes, mut documents) = (Vec::new(), Vec::new());
    for labels in queries {
        let positive = labels.iter().filter(|label| **label > 0.0);
        documents.extend(positive.map(|&label| (label, sizes.len())));
        sizes.push(labels.len() as i128);
    }
    documents.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut relevant, mut pairs) = (vec![0i128; sizes.len()], 0);
    let separated = |group: &[(f32, usize)]| {
        for &(_, query) in group {
            // r(n − r) grows by n − 2r − 1 when r does by 1.
            pairs += sizes[query] - 2 * relevant[query] - 1;
            relevant[query] += 1;
        }
        (group[0].0, pairs)
    };
    documents.chunk_by(|a, b| a.0 == b.0).map(separated).collect()
}

/// The label that separates the most pairs of all workers. A worker without a label separates as many pairs there as at
/// its next higher one.
fn best_threshold(workers: Vec<Vec<(f32, i128)>>) -> Option<f32> {
    let mut steps: Vec<(f32, usize, i128)> = Vec::new();
    for (worker, separated) in workers.iter().enumerate() {
        steps.extend(separated.iter().map(|&(label, pairs)| (label, worker, pairs)));
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut pairs = vec![0i128; workers.len()];
    let mut best = (0, None);
    for group in steps.chunk_by(|a, b| a.0 == b.0) {
        group.iter().for_each(|&(_, worker, separated)| pairs[worker] = separated);
        let all = pairs.iter().sum();
        if all > best.0 {
            best = (all, Some(group[0].0));
        }
    }
    best.1
}

/// How often a label occurs, or the labels of a bin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grade {
    /// The label, or the lower end of the bin.
    pub grade: f32,
    /// The upper end of the bin; it belongs to the next bin, except in the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up_to: Option<f32>,
    /// Documents with it.
    pub documents: usize,
    /// Their fraction of all documents.
    pub fraction: f64,
}

/// The number of distinct labels, and how often each occurs. If there are more than 30, they are counted in ten bins of
/// equal width.
pub(crate) fn distribution(labels: impl Iterator<Item = f32>) -> (usize, Vec<Grade>) {
    let counts = count_grades(labels);
    let total: usize = counts.iter().map(|(_, documents)| documents).sum();
    let grade = |grade, up_to, documents| Grade {
        grade,
        up_to,
        documents,
        fraction: documents as f64 / total as f64,
    };
    if counts.len() <= MAX_SHOWN {
        return (counts.len(), counts.into_iter().map(|(label, n)| grade(label, None, n)).collect());
    }
    let (low, high) = (f64::from(counts[0].0), f64::from(counts[counts.len() - 1].0));
    let end = |i: usize| (low + (high - low) * i as f64 / BINS as f64) as f32;
    let mut rest = &counts[..];
    let bins = (1..=BINS).map(|i| {
        let inside = if i == BINS { rest.len() } else { rest.partition_point(|(label, _)| *label < end(i)) };
        let (bin, after) = rest.split_at(inside);
        rest = after;
        grade(end(i - 1), Some(end(i)), bin.iter().map(|(_, documents)| documents).sum())
    });
    let bins = bins.collect();
    (counts.len(), bins)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use rand::RngExt;

    /// The pairs that a threshold separates, counted one by one.
    fn separated(queries: &[Vec<f32>], threshold: f32) -> usize {
        let pairs = |labels: &Vec<f32>| {
            let relevant = labels.iter().filter(|l| **l >= threshold).count();
            relevant * (labels.len() - relevant)
        };
        queries.iter().map(pairs).sum()
    }

    #[test]
    fn the_threshold_separates_the_most_pairs() {
        let mut random = rng::stream(1, &[]);
        for _ in 0..200 {
            let label = |random: &mut rng::Random| random.random_range(-3..8) as f32 / 8.0;
            let queries: Vec<Vec<f32>> = (0..random.random_range(1..6))
                .map(|_| (0..random.random_range(1..9)).map(|_| label(&mut random)).collect())
                .collect();
            let positive = queries.iter().flatten().copied().filter(|l| *l > 0.0);
            let most = positive.map(|l| separated(&queries, l)).max().unwrap_or(0);
            let chosen = separating_threshold(queries.iter().map(Vec::as_slice));
            assert_eq!(chosen.map_or(0, |threshold| separated(&queries, threshold)), most, "{queries:?}");
        }
    }

    #[test]
    fn workers_find_the_threshold_of_all_queries() {
        let mut random = rng::stream(2, &[]);
        for _ in 0..200 {
            let queries: Vec<Vec<f32>> = (0..random.random_range(1..9))
                .map(|_| {
                    (0..random.random_range(1..9)).map(|_| random.random_range(-3..8) as f32 / 8.0).collect()
                })
                .collect();
            let cut = random.random_range(0..=queries.len());
            let of = |queries: &[Vec<f32>]| separated_pairs(queries.iter().map(Vec::as_slice));
            let divided = best_threshold(vec![of(&queries[..cut]), of(&[]), of(&queries[cut..])]);
            assert_eq!(divided, separating_threshold(queries.iter().map(Vec::as_slice)), "{queries:?}");
        }
    }

    #[test]
    fn without_a_pair_there_is_no_threshold() {
        for labels in [&[0.0, 0.0][..], &[0.5, 0.5], &[0.5], &[-1.0, 0.0], &[f32::NAN, 0.0], &[]] {
            assert_eq!(separating_threshold([labels].into_iter()), None, "{labels:?}");
        }
        assert_eq!(separating_threshold([&[0.25, f32::NAN][..]].into_iter()), Some(0.25));
    }

    #[test]
    fn many_labels_are_counted_in_bins() {
        let (distinct, grades) = distribution((0..=100).map(|i| i as f32 / 10.0));
        assert_eq!((distinct, grades.len()), (101, 10));
        let counts: Vec<usize> = grades.iter().map(|g| g.documents).collect();
        assert_eq!(counts, [10, 10, 10, 10, 10, 10, 10, 10, 10, 11]);
        assert_eq!((grades[3].grade, grades[3].up_to), (3.0, Some(4.0)));
        let (distinct, grades) = distribution([2.0, 0.0, 2.0].into_iter());
        let shown: Vec<_> = grades.iter().map(|g| (g.grade, g.up_to, g.documents)).collect();
        assert_eq!((distinct, shown), (2, vec![(0.0, None, 1), (2.0, None, 2)]));
        assert_eq!(distribution([].into_iter()), (0, Vec::new()));
    }
}
