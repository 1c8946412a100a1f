//! The best of all single tests: a threshold between any two neighbouring values of any feature.
//!
//! Binning limits a feature to 254 thresholds. Here, the documents are sorted once by each feature, and each search
//! sums their weights in that order:
//!
//! ```text
//! max over features and thresholds of  W_≤² + W_>² ,   W = Σ weights on either side
//! ```
//! If the weights sum to 0, the best test is the yes/no rule that selects the documents of largest total weight.
//! Missing values go to the better side.

use super::bins::{between, sortable};
use super::tree::Tree;
use crate::data::{Dataset, Features};
use crate::parallel;

/// The documents of a data set, sorted by each feature.
#[derive(Debug)]
pub struct Midpoints<'a> {
    data: &'a Dataset,
    columns: Vec<Column>,
}

/// The documents sorted by one feature.
#[derive(Debug, Default)]
struct Column {
    column: usize,
    /// The documents with a stored value, ascending by value.
    documents: Vec<u32>,
    /// The end of each run of equal values.
    ends: Vec<u32>,
    /// The run of the value 0 if the data is sparse: it contains every document without a stored value.
    left_out: Option<usize>,
    /// The documents whose value is missing.
    missing: Vec<u32>,
}

/// A threshold of one feature.
#[derive(Debug, Clone, Copy)]
struct Cut {
    gain: f64,
    /// The last run that goes left.
    run: usize,
    missing_left: bool,
    /// The sums of weights on both sides.
    sides: [f64; 2],
}

impl<'a> Midpoints<'a> {
    /// Sorts the documents by every feature.
    pub fn new(data: &'a Dataset) -> Midpoints<'a> {
        let columns = match &data.parts().features {
            Features::Dense { width, values } => parallel::map(0..*width, |c| {
                let stored = values.chunks_exact(*width).enumerate().map(|(row, x)| (x[c], row as u32));
                Column::new(c, stored.collect(), 0)
            }),
            Features::Sparse { width, starts, columns, values } => {
                let mut stored = vec![Vec::new(); *width];
                for (row, range) in starts.windows(2).enumerate() {
                    for i in range[0]..range[1] {
                        stored[columns[i] as usize].push((values[i], row as u32));
                    }
                }
                let column = |(c, stored): (usize, Vec<(f32, u32)>)| {
                    let left_out = data.len() - stored.len();
                    Column::new(c, stored, left_out)
                };
                parallel::map(stored.into_iter().enumerate(), column)
            }
        };
        Midpoints { data, columns }
    }

    /// The two-leaf tree with the best test for these document weights, which may be negative. The value of a leaf is
    /// the sum of its weights. `None` if no feature has two different values.
    pub fn best(&self, weights: &[f64]) -> Option<Tree> {
        let total: f64 = weights.iter().sum();
        let cuts: Vec<Option<Cut>> = parallel::map(&self.columns, |c| c.best(weights, total));
        let found = self.columns.iter().zip(cuts).filter_map(|(column, cut)| Some((column, cut?)));
        let (column, cut) = found.reduce(|best, next| if next.1.gain > best.1.gain { next } else { best })?;
        let threshold = self.threshold(column, cut.run);
        // Where training saw no missing value, missing goes where 0 goes.
        let missing_left = if column.missing.is_empty() { 0.0 <= threshold } else { cut.missing_left };
        Some(Tree {
            features: vec![column.column as u32],
            thresholds: vec![threshold],
            missing_left: vec![missing_left],
            left: vec![!0],
            right: vec![!1],
            gains: vec![cut.gain as f32],
            values: cut.sides.to_vec(),
            covers: vec![0.0; 2],
            ..Tree::default()
        })
    }

    /// The threshold between two neighbouring runs, or above all values after the last run.
    fn threshold(&self, column: &Column, run: usize) -> f32 {
        let value = |run: usize| match column.run(run).first() {
            Some(&document) => self.data.row(document as usize).get(column.column),
            None => 0.0,
        };
        if run + 1 < column.ends.len() { between(value(run), value(run + 1)) } else { f32::MAX }
    }
}

impl Column {
    /// Builds a column from stored values and the number of implied zeros.
    fn new(column: usize, stored: Vec<(f32, u32)>, left_out: usize) -> Column {
        let (missing, present): (Vec<_>, Vec<_>) = stored.into_iter().partition(|(x, _)| x.is_nan());
        let mut keys: Vec<u64> =
            present.iter().map(|&(x, row)| u64::from(sortable(x)) << 32 | u64::from(row)).collect();
        keys.sort_unstable();
        let mut sorted = Column {
            column,
            missing: missing.into_iter().map(|(_, row)| row).collect(),
            ..Column::default()
        };
        let zero = u64::from(sortable(0.0));
        for run in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            sorted.place_zeros(left_out > 0 && run[0] >> 32 >= zero);
            sorted.documents.extend(run.iter().map(|&key| key as u32));
            // The run of implied zeros also contains the zeros that are stored.
            if run[0] >> 32 == zero && sorted.left_out.is_some() {
                sorted.ends.pop();
            }
            sorted.ends.push(sorted.documents.len() as u32);
        }
        sorted.place_zeros(left_out > 0);
        sorted
    }

    /// Starts the run of implied zeros, if it belongs here and was not started before.
    fn place_zeros(&mut self, is_here: bool) {
        if is_here && self.left_out.is_none() {
            self.left_out = Some(self.ends.len());
            self.ends.push(self.documents.len() as u32);
        }
    }

    fn run(&self, run: usize) -> &[u32] {
        let start = if run == 0 { 0 } else { self.ends[run - 1] };
        &self.documents[start as usize..self.ends[run] as usize]
    }

    fn best(&self, weights: &[f64], total: f64) -> Option<Cut> {
        let sum = |documents: &[u32]| documents.iter().map(|&d| weights[d as usize]).sum::<f64>();
        let missing = sum(&self.missing);
        let unseen = if self.left_out.is_some() { total - missing - sum(&self.documents) } else { 0.0 };
        let mut best: Option<Cut> = None;
        let mut consider = |run: usize, left: f64, missing_left: bool| {
            let gain = left * left + (total - left) * (total - left);
            if best.is_none_or(|best| gain > best.gain) {
                best = Some(Cut { gain, run, missing_left, sides: [left, total - left] });
            }
        };
        let mut left = 0.0;
        for run in 0..self.ends.len() {
            left += sum(self.run(run));
            if self.left_out == Some(run) {
                left += unseen;
            }
            let is_last = run + 1 == self.ends.len();
            if !is_last && !self.missing.is_empty() {
                consider(run, left + missing, true);
            }
            if !is_last || !self.missing.is_empty() {
                consider(run, left, false);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use crate::trees::{Binned, Grower, Growth};
    use rand::RngExt;

    fn data(features: Features, rows: usize) -> Dataset {
        Dataset::from_features(features, vec![0.0; rows], &[rows]).unwrap()
    }

    /// Values with many ties, zeros and missing values, dense and sparse.
    fn samples(seed: u64, rows: usize, width: usize) -> [Dataset; 2] {
        let mut random = rng::stream(seed, &[]);
        let mut draw = || match random.random_range(0..8) {
            0 => f32::NAN,
            1..4 => 0.0,
            _ => random.random_range(-4..5) as f32 / 4.0,
        };
        let values: Vec<f32> = (0..rows * width).map(|_| draw()).collect();
        let (mut starts, mut columns, mut stored) = (vec![0], Vec::new(), Vec::new());
        for (row, x) in values.chunks(width).enumerate() {
            // A few zeros are stored explicitly.
            let kept = x.iter().enumerate().filter(|(c, x)| **x != 0.0 || (row + c) % 5 == 0);
            kept.for_each(|(c, &x)| {
                columns.push(c as u32);
                stored.push(x);
            });
            starts.push(columns.len());
        }
        let sparse = Features::Sparse { width, starts, columns, values: stored };
        [data(Features::dense(width, values), rows), data(sparse, rows)]
    }

    fn weights(seed: u64, rows: usize) -> Vec<f64> {
        let mut random = rng::stream(seed, &[7]);
        (0..rows).map(|_| f64::from(random.random_range(-8..9)) / 8.0).collect()
    }

    /// Tries every threshold of every feature on every document.
    fn best_of_all(data: &Dataset, weights: &[f64]) -> Option<f64> {
        let total: f64 = weights.iter().sum();
        let mut gains = Vec::new();
        for c in 0..data.width() {
            let values: Vec<f32> = (0..data.len()).map(|d| data.row(d).get(c)).collect();
            for &threshold in values.iter().filter(|x| !x.is_nan()) {
                for missing_left in [true, false] {
                    let is_left = |x: f32| if x.is_nan() { missing_left } else { x <= threshold };
                    let parts = values.iter().any(|&x| is_left(x)) && values.iter().any(|&x| !is_left(x));
                    let left: f64 =
                        values.iter().zip(weights).filter(|(x, _)| is_left(**x)).map(|(_, w)| w).sum();
                    gains.extend(parts.then_some(left * left + (total - left).powi(2)));
                }
            }
        }
        gains.into_iter().reduce(f64::max)
    }

    #[test]
    fn the_best_test_is_found() {
        for seed in 0..40 {
            let (rows, width) = (1 + seed as usize % 30, 1 + seed as usize % 4);
            let weights = weights(seed, rows);
            for data in samples(seed, rows, width) {
                let tree = Midpoints::new(&data).best(&weights);
                let expected = best_of_all(&data, &weights);
                assert_eq!(tree.is_some(), expected.is_some(), "seed {seed}");
                let (Some(tree), Some(expected)) = (tree, expected) else { continue };
                tree.check(width).unwrap();
                let mut sides = [0.0; 2];
                weights.iter().enumerate().for_each(|(d, w)| sides[tree.leaf(data.row(d))] += w);
                assert_eq!(tree.values, sides, "seed {seed}");
                assert_eq!(sides[0].powi(2) + sides[1].powi(2), expected, "seed {seed}");
            }
        }
    }

    /// With one bin per value, growing by histograms finds a test of equal quality.
    #[test]
    fn histograms_agree_if_there_are_few_distinct_values() {
        let growth = Growth {
            num_leaves: 2,
            min_data_in_leaf: 1,
            min_child_weight: 0.0,
            l2: 1.0,
            ..Growth::default()
        };
        for seed in 0..10 {
            let mut weights = weights(seed, 200);
            let mean = weights.iter().sum::<f64>() / 200.0;
            weights.iter_mut().for_each(|w| *w -= mean);
            for data in samples(seed, 200, 3) {
                let slopes: Vec<f64> = weights.iter().map(|w| -w).collect();
                let binned = Binned::new(&data, 255);
                let grown = Grower::new(&binned, &growth).grow(&slopes, &[0.0; 200], None, 0).unwrap();
                let tree = Midpoints::new(&data).best(&weights).unwrap();
                for (a, b) in grown.tree.values.iter().zip(&tree.values) {
                    assert!((a.abs() - b.abs()).abs() < 1e-9, "seed {seed}: {a} {b}");
                }
            }
        }
    }
}
