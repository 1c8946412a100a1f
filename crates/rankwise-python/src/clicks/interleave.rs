//! Interleaved lists.

use crate::errors::exception;
use pyo3::prelude::*;
use rankwise::clicks::interleave::{InterleavedList, Interleaving};

/// Interleaves two rankings of numbers. The seed and the session name the random stream.
#[pyfunction]
pub(crate) fn interleave_lists(
    first: Vec<u32>,
    second: Vec<u32>,
    how: &str,
    steepness: Option<f64>,
    depth: usize,
    seed: u64,
    session: &str,
) -> PyResult<(Vec<u32>, Vec<f64>)> {
    let kind = match (Interleaving::named(how).map_err(exception)?, steepness) {
        (Interleaving::Probabilistic { .. }, Some(steepness)) => Interleaving::Probabilistic { steepness },
        (kind, _) => kind,
    };
    let list = kind.list_of_session(&first, &second, depth, seed, session).map_err(exception)?;
    let InterleavedList { shown, credit } = list;
    Ok((shown, credit))
}
