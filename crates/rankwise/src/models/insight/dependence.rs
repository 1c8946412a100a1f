//! Partial dependence: the mean score when one or two features have given values (`friedman2001greedy`).

use super::value;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::models::Model;
use crate::parallel;
use crate::rng;
use rand::seq::SliceRandom;

/// Names the stream of the sampled documents.
const SAMPLE_STREAM: u64 = 0x7361_6d70;

/// Documents that one thread takes at a time, whatever the number of threads.
const CHUNK: usize = 64;

/// The most points of a grid.
const MAX_POINTS: usize = 1000;

/// How to compute partial dependence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependence {
    /// The largest number of values of a feature, from 2 to 1,000, not counting a missing value.
    pub points: usize,
    /// The largest number of documents to average over. If there are more, a sample is drawn.
    pub documents: usize,
    /// The seed of the sample.
    pub seed: u64,
}

impl Default for Dependence {
    fn default() -> Self {
        Dependence { points: 20, documents: 2000, seed: 0 }
    }
}

/// Mean scores on a grid of feature values.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialDependence {
    /// The feature columns, one or two.
    pub columns: Vec<usize>,
    /// For each of those, the values looked at, ascending: all there are, or quantiles of the data from least to
    /// greatest, or the most frequent categories; NaN at the end where the data has missing values.
    pub grids: Vec<Vec<f32>>,
    /// The mean score at each point: for two features, all values of the second for the first value of the first,
    /// and so on.
    pub means: Vec<f64>,
    /// How many documents were averaged over.
    pub documents: usize,
}

impl PartialDependence {
    /// The feature values of each point, in the order of the means.
    pub fn points(&self) -> Vec<Vec<f32>> {
        points(&self.grids)
    }
}

impl Dependence {
    /// The mean score of `model` over documents of `data`, which is as the model sees it, when one or two `columns`
    /// have given values. The same for any number of threads.
    pub fn of(&self, model: &Model, data: &Dataset, columns: &[usize]) -> Result<PartialDependence> {
        self.check(model, data, columns)?;
        let grids: Vec<Vec<f32>> = columns.iter().map(|&column| self.grid(data, column)).collect();
        let candidates = points(&grids).concat();
        let count = candidates.len() / columns.len();
        let documents = self.sample(data.len());
        let sums: Vec<Vec<f64>> = parallel::map(documents.chunks(CHUNK), |chunk| {
            let mut substitute = model.shape().substitute(columns);
            let (mut sums, mut scores) = (vec![0.0; count], vec![0.0; count]);
            for &document in chunk {
                substitute.scores(data.row(document), &candidates, &mut scores);
                sums.iter_mut().zip(&scores).for_each(|(sum, score)| *sum += score);
            }
            sums
        });
        let mean = |point| sums.iter().map(|sums| sums[point]).sum::<f64>() / documents.len() as f64;
        let means: Vec<f64> = (0..count).map(mean).collect();
        if means.iter().any(|mean| !mean.is_finite()) {
            return Err(Error::data("a mean score is too large for a number, since the model's scores are"));
        }
        Ok(PartialDependence { columns: columns.to_vec(), grids, means, documents: documents.len() })
    }

    fn check(&self, model: &Model, data: &Dataset, columns: &[usize]) -> Result<()> {
        model.check_width(data.width())?;
        if !(2..=MAX_POINTS).contains(&self.points) {
            return Err(Error::parameter(format!(
                "`points` is {}; a grid has from 2 to {MAX_POINTS} points",
                self.points
            )));
        }
        if self.documents == 0 {
            return Err(Error::parameter("`documents` is 0; there must be some to average over"));
        }
        if data.is_empty() {
            return Err(Error::data("the data has no documents to average over"));
        }
        if columns.is_empty() || columns.len() > 2 || columns.iter().any(|&c| c >= model.width()) {
            return Err(Error::parameter("partial dependence is of one or two features of the model"));
        }
        if columns.len() == 2 && columns[0] == columns[1] {
            return Err(Error::parameter("partial dependence on two features needs two different ones"));
        }
        Ok(())
    }

    /// The values of a column to look at.
    fn grid(&self, data: &Dataset, column: usize) -> Vec<f32> {
        // −0 + 0 is 0: people are to see one zero.
        let (missing, mut values): (Vec<f32>, Vec<f32>) =
            (0..data.len()).map(|i| value(data.row(i), column) + 0.0).partition(|x| x.is_nan());
        values.sort_unstable_by(f32::total_cmp);
        let mut grid = values.clone();
        grid.dedup();
        if grid.len() > self.points && data.columns().categories.contains(column) {
            grid = most_frequent(&values, self.points);
        } else if grid.len() > self.points {
            let last = values.len() - 1;
            let quantile = |i| values[(i * last + (self.points - 1) / 2) / (self.points - 1)];
            grid = (0..self.points).map(quantile).collect();
            grid.dedup();
        }
        if !missing.is_empty() {
            grid.push(f32::NAN);
        }
        grid
    }

    /// The documents to average over, ascending.
    fn sample(&self, count: usize) -> Vec<usize> {
        if count <= self.documents {
            return (0..count).collect();
        }
        let mut all: Vec<usize> = (0..count).collect();
        let (chosen, _) = all.partial_shuffle(&mut rng::stream(self.seed, &[SAMPLE_STREAM]), self.documents);
        chosen.sort_unstable();
        chosen.to_vec()
    }
}

/// The `count` most frequent of sorted values, ascending.
fn most_frequent(values: &[f32], count: usize) -> Vec<f32> {
    let mut runs: Vec<&[f32]> = values.chunk_by(|a, b| a == b).collect();
    runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
    let mut chosen: Vec<f32> = runs[..count].iter().map(|run| run[0]).collect();
    chosen.sort_unstable_by(f32::total_cmp);
    chosen
}

/// All combinations of the grids' values, those of the last one changing fastest.
fn points(grids: &[Vec<f32>]) -> Vec<Vec<f32>> {
    grids.iter().fold(vec![Vec::new()], |points, grid| {
        points.iter().flat_map(|point| grid.iter().map(|&x| [point.as_slice(), &[x]].concat())).collect()
    })
}
