//! The scaling of features during optimisation.

use super::moments::Spread;
use crate::data::Dataset;
use std::borrow::Cow;

/// The units `u` of the features: the weights `w` of a solver stand for the weights `w/u` of the unscaled features.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FeatureUnits {
    /// 1/u of every column, if features are scaled.
    shrink: Option<Vec<f64>>,
}

impl FeatureUnits {
    /// The standard deviation of every feature of `data` as its unit; constant features are ignored.
    pub fn deviations(data: &Dataset) -> FeatureUnits {
        let deviation = Spread::of(data, &vec![1.0; data.len()]).deviation;
        FeatureUnits { shrink: Some(deviation.iter().map(|d| 1.0 / d).collect()) }
    }

    /// The mean of every feature of `data`; missing values count as 0.
    pub fn means(data: &Dataset) -> Vec<f64> {
        Spread::of(data, &vec![1.0; data.len()]).mean
    }

    /// Converts `w` to weights of the unscaled features, `w/u`.
    pub fn in_data_units<'w>(&self, w: &'w [f64]) -> Cow<'w, [f64]> {
        match &self.shrink {
            Some(shrink) => w.iter().zip(shrink).map(|(w, s)| w * s).collect(),
            None => Cow::Borrowed(w),
        }
    }
}
