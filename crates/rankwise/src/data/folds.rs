//! Splitting a data set by query: into fractions, and into folds for cross-validation.
//!
//! A query is never split. Randomness decides only which subset a query belongs to; within a subset, queries keep
//! their order.

use super::Dataset;
use crate::error::{Error, Result};
use crate::rng;
use rand::RngExt;

/// The order in which queries are assigned to subsets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitOrder {
    /// The order of the data: subsets are consecutive.
    InOrder,
    /// Shuffled with this seed.
    Shuffled(u64),
}

/// Splits `data` by query in proportion to `fractions`; they need not sum to 1, so `[0.8, 0.2]` and `[4.0, 1.0]` are
/// the same. Each subset has its exact fraction of the queries to within one query. It is an error if a subset would
/// be empty.
///
/// ```
/// use rankwise::data::{SHAPES, SplitOrder, Synth, split};
/// let data = Synth { queries: Some(10), documents: Some(5), ..Synth::new(&SHAPES[0]) }.generate()?;
/// let subsets = split(&data, &[0.8, 0.2], SplitOrder::Shuffled(1))?;
/// assert_eq!(subsets.iter().map(|s| s.query_count()).collect::<Vec<_>>(), [8, 2]);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn split(data: &Dataset, fractions: &[f64], order: SplitOrder) -> Result<Vec<Dataset>> {
    let subsets = split_queries(data.query_count(), fractions, order)?;
    Ok(subsets.iter().map(|queries| data.select_queries(queries)).collect())
}

/// The numbers of the queries that [`split`] puts into each subset, ascending.
pub fn split_queries(queries: usize, fractions: &[f64], order: SplitOrder) -> Result<Vec<Vec<usize>>> {
    if let Some(fraction) = fractions.iter().find(|s| !s.is_finite() || **s <= 0.0) {
        return Err(Error::parameter(format!(
            "the fraction of queries `{fraction}` must be a finite number above 0"
        )));
    }
    let total = fractions.iter().sum::<f64>();
    if fractions.is_empty() || !total.is_finite() {
        return Err(Error::parameter("a split needs one or more fractions with a finite sum"));
    }
    let mut sum = 0.0;
    let ends: Vec<usize> = fractions
        .iter()
        .map(|fraction| {
            sum += fraction;
            ((sum / total) * queries as f64).round() as usize
        })
        .collect();
    let subsets = assign(queries, &ends, order);
    if let Some(empty) = subsets.iter().position(Vec::is_empty) {
        return Err(Error::data(format!(
            "the fraction `{}` of {queries} queries is less than one query",
            fractions[empty]
        )));
    }
    Ok(subsets)
}

/// The queries of `k` folds of equal size, shuffled by the seed, for cross-validation without validation queries.
///
/// ```
/// use rankwise::data::equal_folds;
/// let folds = equal_folds(7, 3, 1)?;
/// assert_eq!(folds.iter().map(Vec::len).sum::<usize>(), 7);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn equal_folds(queries: usize, k: usize, seed: u64) -> Result<Vec<Vec<usize>>> {
    if !(2..=queries).contains(&k) {
        return Err(Error::parameter(format!(
            "{k} folds are not possible with {queries} training queries; give 2 to {queries}"
        )));
    }
    split_queries(queries, &vec![1.0; k], SplitOrder::Shuffled(seed))
}

/// One fold of a cross-validation.
#[derive(Debug, Clone, PartialEq)]
pub struct Fold {
    /// Training data.
    pub train: Dataset,
    /// Validation data, for early stopping and model selection.
    pub valid: Dataset,
    /// Test data.
    pub test: Dataset,
}

/// Which of `k` subsets, numbered from 0, are used for training, validation and testing in one fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rotation {
    /// The subsets to train on, in order.
    pub train: Vec<usize>,
    /// The subset to validate on.
    pub valid: usize,
    /// The subset to test on.
    pub test: usize,
}

/// How the `k` subsets are used in fold `fold` of `0..k`, as in LETOR: `k − 2` subsets starting with number `fold` for
/// training, the next for validation, and the next for testing. After the last subset comes the first.
pub fn rotation(k: usize, fold: usize) -> Result<Rotation> {
    if k < 3 {
        return Err(Error::parameter(format!(
            "the number of folds is `{k}`; at least three are needed, to train, validate and test"
        )));
    }
    if fold >= k {
        return Err(Error::parameter(format!("there is no fold `{fold}` among {k}; folds count from 0")));
    }
    let subset = |i: usize| (fold + i) % k;
    Ok(Rotation { train: (0..k - 2).map(subset).collect(), valid: subset(k - 2), test: subset(k - 1) })
}

/// A split of queries into `k` subsets whose sizes differ by at most one, for cross-validation.
///
/// ```
/// use rankwise::data::{Folds, SplitOrder, Synth};
/// let data = Synth { queries: Some(10), documents: Some(5), ..Synth::demo() }.generate()?;
/// let folds = Folds::new(data.query_count(), 5, SplitOrder::Shuffled(1))?;
/// let fold = folds.fold(&data, 0)?;
/// assert_eq!([&fold.train, &fold.valid, &fold.test].map(|d| d.query_count()), [6, 2, 2]);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folds {
    subsets: Vec<Vec<usize>>,
}

impl Folds {
    /// Assigns `queries` queries to `k` subsets. Both numbers must be at least 3.
    pub fn new(queries: usize, k: usize, order: SplitOrder) -> Result<Self> {
        if k > queries {
            return Err(Error::data(format!("{queries} queries cannot be split into {k} folds")));
        }
        rotation(k, 0)?;
        // Integer arithmetic, so that no rounding can make two sizes differ by more than one.
        let (size, larger) = (queries / k, queries % k);
        let ends: Vec<usize> = (1..=k).map(|i| i * size + i.min(larger)).collect();
        Ok(Folds { subsets: assign(queries, &ends, order) })
    }

    /// The query numbers in each subset, ascending.
    pub fn subsets(&self) -> &[Vec<usize>] {
        &self.subsets
    }

    /// Fold number `fold`, from 0, of the data set the folds were made for, assigned by [`rotation`].
    pub fn fold(&self, data: &Dataset, fold: usize) -> Result<Fold> {
        let queries: usize = self.subsets.iter().map(Vec::len).sum();
        if queries != data.query_count() {
            return Err(Error::data(format!(
                "folds made for {queries} queries do not fit a data set with {}",
                data.query_count()
            )));
        }
        let rotation = rotation(self.subsets.len(), fold)?;
        let train: Vec<usize> =
            rotation.train.iter().flat_map(|&p| self.subsets[p].iter().copied()).collect();
        Ok(Fold {
            train: data.select_queries(&train),
            valid: data.select_queries(&self.subsets[rotation.valid]),
            test: data.select_queries(&self.subsets[rotation.test]),
        })
    }
}

/// Purpose of the random stream that shuffles queries.
const SHUFFLE: u64 = 0x666f_6c64;

fn assign(queries: usize, ends: &[usize], order: SplitOrder) -> Vec<Vec<usize>> {
    let mut shuffled: Vec<usize> = (0..queries).collect();
    if let SplitOrder::Shuffled(seed) = order {
        let mut random = rng::stream(seed, &[SHUFFLE]);
        for i in (1..queries).rev() {
            // The high half of a product maps 64 random bits to 0..=i, the same in every version of `rand`.
            let j = (u128::from(random.random::<u64>()) * (i as u128 + 1)) >> 64;
            shuffled.swap(i, j as usize);
        }
    }
    let mut start = 0;
    ends.iter()
        .map(|&end| {
            let mut subset = shuffled[start..end].to_vec();
            subset.sort_unstable();
            start = end;
            subset
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
        // From the README of the data, subsets S1 to S5: fold 1 tests on S5, fold 4 trains on S4, S5, S1.
        let first = Rotation { train: vec![0, 1, 2], valid: 3, test: 4 };
        let fourth = Rotation { train: vec![3, 4, 0], valid: 1, test: 2 };
        assert_eq!(rotation(5, 0).unwrap(), first);
        assert_eq!(rotation(5, 3).unwrap(), fourth);
        assert!(rotation(2, 0).unwrap_err().to_string().contains("`2`"));
        assert!(rotation(5, 5).is_err());
    }

    #[test]
    fn every_query_is_in_exactly_one_subset_and_sizes_differ_by_at_most_one() {
        for (n, k) in [(3, 3), (7, 5), (106, 5), (101, 10)] {
            for order in [SplitOrder::InOrder, SplitOrder::Shuffled(3)] {
                let folds = Folds::new(n, k, order).unwrap();
                let sizes: Vec<usize> = folds.subsets().iter().map(Vec::len).collect();
                assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
                let mut all: Vec<usize> = folds.subsets().concat();
                all.sort_unstable();
                assert_eq!(all, (0..n).collect::<Vec<_>>());
            }
        }
        let refused = Folds::new(4, 5, SplitOrder::InOrder).unwrap_err();
        assert_eq!(refused.to_string(), "4 queries cannot be split into 5 folds");
    }

    #[test]
    fn a_fold_has_whole_queries_in_rotation() {
        let data = queries(11);
        let folds = Folds::new(11, 5, SplitOrder::InOrder).unwrap();
        let fold = folds.fold(&data, 1).unwrap();
        // Subsets: 0-2, 3-4, 5-6, 7-8, 9-10.
        assert_eq!(ids(&fold.train), [3, 4, 5, 6, 7, 8]);
        assert_eq!((ids(&fold.valid), ids(&fold.test)), (vec![9, 10], vec![0, 1, 2]));
        assert!(fold.train.queries().all(|q| q.len() == 2));
        assert_eq!(fold.train.row(0).get(0), 6.0);
        assert!(folds.fold(&queries(10), 0).is_err());
    }

    #[test]
    fn shuffles_repeat_with_their_seed_and_differ_without() {
        let folds = |seed| Folds::new(40, 4, SplitOrder::Shuffled(seed)).unwrap();
        assert_eq!(folds(1), folds(1));
        assert_ne!(folds(1), folds(2));
        assert_ne!(folds(1), Folds::new(40, 4, SplitOrder::InOrder).unwrap());
        // Every query is in the first subset for about a quarter of the seeds: 100 of 400, deviation 8.7.
        let mut first = [0; 40];
        for seed in 0..400 {
            folds(seed).subsets()[0].iter().for_each(|&q| first[q] += 1);
        }
        assert!(first.iter().all(|n| (60..140).contains(n)), "{first:?}");
    }

    #[test]
    fn fractions_are_exact_to_within_a_query() {
        let data = queries(10);
        let sizes = |fractions: &[f64]| -> Vec<usize> {
            let parts = split(&data, fractions, SplitOrder::InOrder).unwrap();
            parts.iter().map(Dataset::query_count).collect()
        };
        assert_eq!(sizes(&[0.6, 0.2, 0.2]), [6, 2, 2]);
        assert_eq!(sizes(&[3.0, 1.0]), [8, 2]);
        assert_eq!(sizes(&[1.0, 1.0, 1.0]), [3, 4, 3]);
        let parts = split(&data, &[0.5, 0.5], SplitOrder::Shuffled(9)).unwrap();
        let mut all = [ids(&parts[0]), ids(&parts[1])].concat();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert!(
            split(&data, &[0.99, 0.01], SplitOrder::InOrder)
                .unwrap_err()
                .to_string()
                .contains("`0.01` of 10")
        );
        assert!(split(&data, &[0.5, -0.5], SplitOrder::InOrder).unwrap_err().to_string().contains("`-0.5`"));
        assert!(split(&data, &[f64::NAN], SplitOrder::InOrder).is_err());
    }
}
