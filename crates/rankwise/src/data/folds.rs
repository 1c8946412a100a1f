//! Dividing a data set by query: shares, and folds for cross-validation.
//!
//! A query is never divided. Chance decides only which part a query falls into; within a part the queries keep
//! the order of their source.

use super::Dataset;
use crate::error::{Error, Result};
use crate::rng;
use rand::RngExt;

/// Which queries come first when they are dealt out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// As in the source: parts are consecutive.
    InOrder,
    /// Shuffled with this seed.
    Shuffled(u64),
}

/// Divides `data` by query into parts in proportion to `shares`: `[0.8, 0.2]` and `[4.0, 1.0]` say the same.
/// Each part has the exact share of the queries to within one; fails when a part would be empty.
///
/// ```
/// use rankwise::data::{Order, SHAPES, Synth, split};
/// let data = Synth { queries: Some(10), documents: Some(5), ..Synth::new(&SHAPES[0]) }.generate()?;
/// let parts = split(&data, &[0.8, 0.2], Order::Shuffled(1))?;
/// assert_eq!(parts.iter().map(|p| p.query_count()).collect::<Vec<_>>(), [8, 2]);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn split(data: &Dataset, shares: &[f64], order: Order) -> Result<Vec<Dataset>> {
    if let Some(share) = shares.iter().find(|s| !s.is_finite() || **s <= 0.0) {
        return Err(Error::parameter(format!(
            "a share of the queries is `{share}`; shares are greater than 0"
        )));
    }
    let (queries, total) = (data.query_count(), shares.iter().sum::<f64>());
    if shares.is_empty() || !total.is_finite() {
        return Err(Error::parameter(
            "shares to divide queries by are one or more numbers with a finite sum",
        ));
    }
    let mut sum = 0.0;
    let ends: Vec<usize> = shares
        .iter()
        .map(|share| {
            sum += share;
            ((sum / total) * queries as f64).round() as usize
        })
        .collect();
    let parts = deal(queries, &ends, order);
    if let Some(empty) = parts.iter().position(Vec::is_empty) {
        return Err(Error::data(format!(
            "the share `{}` of {queries} queries is less than one query",
            shares[empty]
        )));
    }
    Ok(parts.iter().map(|part| data.select_queries(part)).collect())
}

/// One fold of a cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct Fold {
    /// To learn from.
    pub train: Dataset,
    /// To choose parameters on.
    pub valid: Dataset,
    /// To measure on.
    pub test: Dataset,
}

/// Which of `k` parts, numbered from 0, serve for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The parts to learn from, in order.
    pub train: Vec<usize>,
    /// The part to choose parameters on.
    pub valid: usize,
    /// The part to measure on.
    pub test: usize,
}

/// What the `k` parts serve for in fold `fold` of `0..k`, as LETOR has it: `k − 2` parts from number `fold` on to
/// learn from, the next to validate, the next to test; after the last part comes the first.
pub fn rotation(k: usize, fold: usize) -> Result<Rotation> {
    if k < 3 {
        return Err(Error::parameter(format!(
            "the number of folds is `{k}`; three parts are needed: one each to learn from, validate and test"
        )));
    }
    if fold >= k {
        return Err(Error::parameter(format!("fold number `{fold}` of {k}; they count from 0")));
    }
    let part = |i: usize| (fold + i) % k;
    Ok(Rotation { train: (0..k - 2).map(part).collect(), valid: part(k - 2), test: part(k - 1) })
}

/// A division into `k` parts by query, whose sizes differ by at most one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    parts: Vec<Vec<usize>>,
}

impl Folds {
    /// Deals out `queries` queries to `k` parts; at least three of each are needed.
    pub fn new(queries: usize, k: usize, order: Order) -> Result<Self> {
        rotation(k, 0)?;
        if k > queries {
            return Err(Error::data(format!("{queries} queries cannot be divided into {k} parts")));
        }
        // Whole numbers, so that no rounding can make two parts differ by more than one.
        let (size, larger) = (queries / k, queries % k);
        let ends: Vec<usize> = (1..=k).map(|i| i * size + i.min(larger)).collect();
        Ok(Folds { parts: deal(queries, &ends, order) })
    }

    /// The query numbers in each part, ascending.
    pub fn parts(&self) -> &[Vec<usize>] {
        &self.parts
    }

    /// Fold number `fold` of the data set the folds were made for, divided as [`rotation`] says.
    pub fn fold(&self, data: &Dataset, fold: usize) -> Result<Fold> {
        let queries: usize = self.parts.iter().map(Vec::len).sum();
        if queries != data.query_count() {
            return Err(Error::data(format!(
                "folds of {queries} queries do not fit a data set of {}",
                data.query_count()
            )));
        }
        let rotation = rotation(self.parts.len(), fold)?;
        let train: Vec<usize> = rotation.train.iter().flat_map(|&p| self.parts[p].iter().copied()).collect();
        Ok(Fold {
            train: data.select_queries(&train),
            valid: data.select_queries(&self.parts[rotation.valid]),
            test: data.select_queries(&self.parts[rotation.test]),
        })
    }
}

/// What the stream that shuffles queries is for.
const SHUFFLE: u64 = 0x666f_6c64;

fn deal(queries: usize, ends: &[usize], order: Order) -> Vec<Vec<usize>> {
    let mut dealt: Vec<usize> = (0..queries).collect();
    if let Order::Shuffled(seed) = order {
        let mut random = rng::stream(seed, &[SHUFFLE]);
        for i in (1..queries).rev() {
            // The high half of a product maps 64 random bits to 0..=i, in the same way for ever.
            let j = (u128::from(random.random::<u64>()) * (i as u128 + 1)) >> 64;
            dealt.swap(i, j as usize);
        }
    }
    let mut start = 0;
    ends.iter()
        .map(|&end| {
            let mut part = dealt[start..end].to_vec();
            part.sort_unstable();
            start = end;
            part
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queries(n: usize) -> Dataset {
        let values = (0..2 * n).map(|i| i as f32).collect();
        let data = Dataset::dense(values, 1, vec![0.0; 2 * n], &vec![2; n]).unwrap();
        data.with_query_ids((0..n).map(|q| q.to_string())).unwrap()
    }

    fn ids(data: &Dataset) -> Vec<usize> {
        data.queries().map(|q| q.id().parse().unwrap()).collect()
    }

    #[test]
    fn the_rotation_of_five_is_letors() {
        // From the data's README, parts S1 to S5: fold 1 tests on S5, fold 4 learns from S4, S5, S1.
        let first = Rotation { train: vec![0, 1, 2], valid: 3, test: 4 };
        let fourth = Rotation { train: vec![3, 4, 0], valid: 1, test: 2 };
        assert_eq!(rotation(5, 0).unwrap(), first);
        assert_eq!(rotation(5, 3).unwrap(), fourth);
        assert!(rotation(2, 0).unwrap_err().to_string().contains("`2`"));
        assert!(rotation(5, 5).is_err());
    }

    #[test]
    fn every_query_is_in_exactly_one_part_and_sizes_differ_by_one_at_most() {
        for (n, k) in [(3, 3), (7, 5), (106, 5), (101, 10)] {
            for order in [Order::InOrder, Order::Shuffled(3)] {
                let folds = Folds::new(n, k, order).unwrap();
                let sizes: Vec<usize> = folds.parts().iter().map(Vec::len).collect();
                assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
                let mut all: Vec<usize> = folds.parts().concat();
                all.sort_unstable();
                assert_eq!(all, (0..n).collect::<Vec<_>>());
            }
        }
        let refused = Folds::new(4, 5, Order::InOrder).unwrap_err();
        assert_eq!(refused.to_string(), "4 queries cannot be divided into 5 parts");
    }

    #[test]
    fn a_fold_has_whole_queries_in_rotation() {
        let data = queries(11);
        let folds = Folds::new(11, 5, Order::InOrder).unwrap();
        let fold = folds.fold(&data, 1).unwrap();
        // Parts: 0-2, 3-4, 5-6, 7-8, 9-10.
        assert_eq!(ids(&fold.train), [3, 4, 5, 6, 7, 8]);
        assert_eq!((ids(&fold.valid), ids(&fold.test)), (vec![9, 10], vec![0, 1, 2]));
        assert!(fold.train.queries().all(|q| q.len() == 2));
        assert_eq!(fold.train.row(0).get(0), 6.0);
        assert!(folds.fold(&queries(10), 0).is_err());
    }

    #[test]
    fn shuffles_repeat_with_their_seed_and_differ_without() {
        let parts = |seed| Folds::new(40, 4, Order::Shuffled(seed)).unwrap();
        assert_eq!(parts(1), parts(1));
        assert_ne!(parts(1), parts(2));
        assert_ne!(parts(1), Folds::new(40, 4, Order::InOrder).unwrap());
        // Every query reaches the first part for about a quarter of the seeds: 100 of 400, deviation 8.7.
        let mut first = [0; 40];
        for seed in 0..400 {
            parts(seed).parts()[0].iter().for_each(|&q| first[q] += 1);
        }
        assert!(first.iter().all(|n| (60..140).contains(n)), "{first:?}");
    }

    #[test]
    fn shares_are_exact_to_within_a_query() {
        let data = queries(10);
        let sizes = |shares: &[f64]| -> Vec<usize> {
            let parts = split(&data, shares, Order::InOrder).unwrap();
            parts.iter().map(Dataset::query_count).collect()
        };
        assert_eq!(sizes(&[0.6, 0.2, 0.2]), [6, 2, 2]);
        assert_eq!(sizes(&[3.0, 1.0]), [8, 2]);
        assert_eq!(sizes(&[1.0, 1.0, 1.0]), [3, 4, 3]);
        let parts = split(&data, &[0.5, 0.5], Order::Shuffled(9)).unwrap();
        let mut all = [ids(&parts[0]), ids(&parts[1])].concat();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert!(
            split(&data, &[0.99, 0.01], Order::InOrder).unwrap_err().to_string().contains("`0.01` of 10")
        );
        assert!(split(&data, &[0.5, -0.5], Order::InOrder).unwrap_err().to_string().contains("`-0.5`"));
        assert!(split(&data, &[f64::NAN], Order::InOrder).is_err());
    }
}
