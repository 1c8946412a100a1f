//! The matrix of one query's rankings: `δφ(y)` row by row, or what it is made of.

use crate::data::Query;
use crate::losses::conditional::Sample;
use crate::solvers::units::Units;
use crate::solvers::vectors::{add_mixed, mixed_dot};
use std::borrow::Cow;

/// One row for each ranking.
pub(super) struct Rows {
    values: Vec<f32>,
    width: usize,
    /// Where rows are numbers of documents, how these weigh; else rows are `δφ(y)/u`.
    documents: Option<Documents>,
}

/// What a row of counts stands for: `w·δφ(y) = 2κ [Σ_g count_g·s_g − Σ_b count_b·s_b]`.
struct Documents {
    /// The documents' numbers: goods, then bads.
    numbers: Vec<usize>,
    goods: usize,
    twice_kappa: f64,
}

impl Documents {
    /// `2κ` for goods and `−2κ` for bads.
    fn weights(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let sign = |i: usize| if i < self.goods { self.twice_kappa } else { -self.twice_kappa };
        self.numbers.iter().enumerate().map(move |(i, &d)| (d, sign(i)))
    }
}

impl Rows {
    /// The rows of a sample. There are fewer numbers, and less work, in a row for each feature where features are fewer
    /// than documents; what single floats cannot hold stays with the documents, whose counts are exact.
    pub(super) fn new(
        query: Query<'_>,
        units: &Units,
        goods: Vec<usize>,
        bads: Vec<usize>,
        twice_kappa: f64,
        features: usize,
        sample: &Sample,
    ) -> Rows {
        let documents = Documents { goods: goods.len(), numbers: [goods, bads].concat(), twice_kappa };
        if features < documents.numbers.len()
            && let Some(rows) = Self::of_features(query, units, &documents, features, sample)
        {
            return rows;
        }
        let width = documents.numbers.len();
        let mut values = Vec::with_capacity(sample.len() * width);
        for i in 0..sample.len() {
            values.extend(counts(sample, i).map(|c| c as f32));
        }
        Rows { values, width, documents: Some(documents) }
    }

    fn of_features(
        query: Query<'_>,
        units: &Units,
        documents: &Documents,
        width: usize,
        sample: &Sample,
    ) -> Option<Rows> {
        let mut values = Vec::with_capacity(sample.len() * width);
        let mut sum = vec![0.0; width];
        for i in 0..sample.len() {
            sum.fill(0.0);
            for ((document, weight), count) in documents.weights().zip(counts(sample, i)) {
                if count > 0 {
                    query.row(document).add_scaled(weight * f64::from(count), &mut sum);
                }
            }
            values.extend(units.in_data_units(&sum).iter().map(|x| *x as f32));
        }
        values.iter().all(|x| x.is_finite()).then_some(Rows { values, width, documents: None })
    }

    /// The rows.
    pub(super) fn each(&self) -> impl Iterator<Item = RowOf<'_>> {
        self.values.chunks_exact(self.width).map(RowOf)
    }

    /// What rows are to be multiplied with at `w`.
    pub(super) fn point<'w>(&self, query: Query<'_>, units: &Units, w: &'w [f64]) -> Cow<'w, [f64]> {
        let Some(documents) = &self.documents else { return Cow::Borrowed(w) };
        let w = units.in_data_units(w);
        documents.weights().map(|(document, weight)| weight * query.row(document).dot(&w)).collect()
    }

    /// Takes `share·Σ slope·δφ(y)/u` off the gradient; `sum` is any vector of a row's width.
    pub(super) fn subtract_slopes(
        &self,
        query: Query<'_>,
        units: &Units,
        mut sum: Vec<f64>,
        slopes: &[f64],
        share: f64,
        gradient: &mut [f64],
    ) {
        sum.fill(0.0);
        for (row, &slope) in self.each().zip(slopes).filter(|(_, slope)| **slope != 0.0) {
            add_mixed(share * slope, row.0, &mut sum);
        }
        let Some(documents) = &self.documents else {
            gradient.iter_mut().zip(&sum).for_each(|(g, s)| *g -= s);
            return;
        };
        let mut of_features = vec![0.0; gradient.len()];
        for ((document, weight), s) in documents.weights().zip(&sum) {
            query.row(document).add_scaled(weight * s, &mut of_features);
        }
        gradient.iter_mut().zip(units.in_data_units(&of_features).iter()).for_each(|(g, s)| *g -= s);
    }
}

/// One row.
pub(super) struct RowOf<'a>(&'a [f32]);

impl RowOf<'_> {
    pub(super) fn dot(&self, point: &[f64]) -> f64 {
        mixed_dot(self.0, point)
    }
}

/// The counts of ranking `i`: those of goods, then those of bads.
fn counts(sample: &Sample, i: usize) -> impl Iterator<Item = u32> + '_ {
    let state = sample.state(i);
    state.bads_ahead().iter().chain(state.goods_behind()).copied()
}
