//! The distinct labels of a data set.

use crate::data::Dataset;

/// The distinct values, ascending, of what every worker finds in its own queries. If there are more than `most`, only
/// `most + 1` of them, so that contributions stay small.
pub(super) fn distinct(data: &Dataset, most: usize, own: impl FnOnce() -> Vec<f32>) -> Vec<f32> {
    let sorted = |mut values: Vec<f32>| {
        values.sort_by(f32::total_cmp);
        values.dedup();
        values.truncate(most + 1);
        values
    };
    data.decide(|| sorted(own()), |lists| sorted(lists.concat()))
}
