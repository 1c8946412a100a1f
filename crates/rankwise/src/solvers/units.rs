//! The units that weights are in while they are sought.

use super::moments::Spread;
use crate::data::Dataset;
use std::borrow::Cow;

/// The units `u` of the features: a solver's `w` stands for the weights `w/u` of the features as they are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Units {
    /// 1/u of every column, where features are scaled.
    shrink: Option<Vec<f64>>,
}

impl Units {
    /// Every feature of `data` in units of its standard deviation, constant ones left out.
    pub fn deviations(data: &Dataset) -> Units {
        let deviation = Spread::of(data, &vec![1.0; data.len()]).deviation;
        Units { shrink: Some(deviation.iter().map(|d| 1.0 / d).collect()) }
    }

    /// `w/u`: `w` as weights of the features as they stand in the data.
    pub fn in_data_units<'w>(&self, w: &'w [f64]) -> Cow<'w, [f64]> {
        match &self.shrink {
            Some(shrink) => w.iter().zip(shrink).map(|(w, s)| w * s).collect(),
            None => Cow::Borrowed(w),
        }
    }
}
