//! The risk of a linear model whose scores are cut into grades by thresholds.

use super::moments::total_over_rows;
use super::objective::Objective;
use super::units::FeatureUnits;
use crate::data::Dataset;
use crate::losses::ThresholdHinge;
use crate::parallel;

/// The hinge loss of all documents at the optimal thresholds, as a function of a linear model's weights:
///
/// ```text
/// R(w) = min_b L(X·(w/u), b)        u: the units of the features
/// ```
///
/// All queries share the thresholds, so this is not a mean over queries. It is convex: it is the minimum over some
/// variables of a function that is convex in all of them.
pub struct ThresholdRisk<'a> {
    data: &'a Dataset,
    units: FeatureUnits,
    hinge: ThresholdHinge<'a>,
}

impl<'a> ThresholdRisk<'a> {
    /// The risk of `hinge` over the documents of `data`.
    pub fn new(data: &'a Dataset, units: FeatureUnits, hinge: ThresholdHinge<'a>) -> Self {
        ThresholdRisk { data, units, hinge }
    }

    /// Converts `w` to weights of the unscaled features, and returns their optimal thresholds.
    pub fn in_data_units(&self, w: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let w = self.units.in_data_units(w).into_owned();
        let thresholds = self.hinge.thresholds(&self.scores(&w));
        (w, thresholds)
    }

    fn scores(&self, w: &[f64]) -> Vec<f64> {
        parallel::map(0..self.data.len(), |row| self.data.row(row).dot(w))
    }
}

impl Objective for ThresholdRisk<'_> {
    fn dim(&self) -> usize {
        self.data.width()
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let scores = self.scores(&self.units.in_data_units(w));
        let mut slopes = vec![0.0; scores.len()];
        let value = self.hinge.value_and_gradient(&scores, &mut slopes);
        let sum = total_over_rows(self.data, |rows| {
            let mut sum = vec![0.0; w.len()];
            for row in rows.filter(|&row| slopes[row] != 0.0) {
                self.data.row(row).add_scaled(slopes[row], &mut sum);
            }
            sum
        });
        gradient.copy_from_slice(&self.units.in_data_units(&sum));
        value
    }
}
