//! The matrix of one query's rankings: `δφ(y)` row by row, or the counts that it is made of.

use crate::data::Query;
use crate::losses::conditional::RankingSample;
use crate::solvers::units::FeatureUnits;
use crate::sums::add_up_products;
use std::borrow::Cow;

/// One row per ranking.
pub(super) struct FeatureDifferences {
    values: Vec<f32>,
    width: usize,
    /// The documents that columns stand for, if rows are counts per document; otherwise rows are `δφ(y)/u`.
    documents: Option<Documents>,
}

/// The meaning of a row of counts: `w·δφ(y) = 2κ [Σ_g count_g·s_g − Σ_b count_b·s_b]`.
struct Documents {
    /// The indices of the documents: first the relevant, then the non-relevant ones.
    numbers: Vec<usize>,
    relevant: usize,
    twice_kappa: f64,
}

impl Documents {
    /// `2κ` for relevant and `−2κ` for non-relevant documents.
    fn weights(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let sign = |i: usize| if i < self.relevant { self.twice_kappa } else { -self.twice_kappa };
        self.numbers.iter().enumerate().map(move |(i, &d)| (d, sign(i)))
    }
}

impl FeatureDifferences {
    /// The rows of a sample. If there are fewer features than documents, one column per feature needs less memory and
    /// work. Values that single precision cannot represent are stored per document, because counts are exact.
    pub(super) fn new(
        query: Query<'_>,
        units: &FeatureUnits,
        relevant: Vec<usize>,
        non_relevant: Vec<usize>,
        twice_kappa: f64,
        features: usize,
        sample: &RankingSample,
    ) -> FeatureDifferences {
        let documents =
            Documents { relevant: relevant.len(), numbers: [relevant, non_relevant].concat(), twice_kappa };
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
        FeatureDifferences { values, width, documents: Some(documents) }
    }

    fn of_features(
        query: Query<'_>,
        units: &FeatureUnits,
        documents: &Documents,
        width: usize,
        sample: &RankingSample,
    ) -> Option<FeatureDifferences> {
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
        values.iter().all(|x| x.is_finite()).then_some(FeatureDifferences { values, width, documents: None })
    }

    /// The rows.
    pub(super) fn each(&self) -> impl Iterator<Item = FeatureDifference<'_>> {
        self.values.chunks_exact(self.width).map(FeatureDifference)
    }

    /// The vector that rows are multiplied with at `w`.
    pub(super) fn point<'w>(&self, query: Query<'_>, units: &FeatureUnits, w: &'w [f64]) -> Cow<'w, [f64]> {
        let Some(documents) = &self.documents else { return Cow::Borrowed(w) };
        let w = units.in_data_units(w);
        documents.weights().map(|(document, weight)| weight * query.row(document).dot(&w)).collect()
    }

    /// Subtracts `share·Σ slope·δφ(y)/u` from the gradient; `sum` is a scratch vector of the width of a row.
    pub(super) fn subtract_slopes(
        &self,
        query: Query<'_>,
        units: &FeatureUnits,
        mut sum: Vec<f64>,
        slopes: &[f64],
        share: f64,
        gradient: &mut [f64],
    ) {
        sum.fill(0.0);
        for (row, &slope) in self.each().zip(slopes).filter(|(_, slope)| **slope != 0.0) {
            let factor = share * slope;
            sum.iter_mut().zip(row.0).for_each(|(sum, &x)| *sum += factor * f64::from(x));
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
pub(super) struct FeatureDifference<'a>(&'a [f32]);

impl FeatureDifference<'_> {
    pub(super) fn dot(&self, point: &[f64]) -> f64 {
        add_up_products(self.0, point, |x, w| f64::from(x) * w)
    }
}

/// The counts of ranking `i`: first of the relevant, then of the non-relevant documents.
fn counts(sample: &RankingSample, i: usize) -> impl Iterator<Item = u32> + '_ {
    let state = sample.state(i);
    state.non_relevant_ahead().iter().chain(state.relevant_behind()).copied()
}
