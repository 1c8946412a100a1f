//! The Python package: arrays and frames in, rankers and tables out. What is computed is computed by the library.
//!
//! Python code beside it (`python/rankwise`) knows scikit-learn, pandas and plots; it knows no ranking.

mod arrays;
mod catalogue;
mod convert;
mod custom;
mod data;
mod errors;
mod ranker;
mod recipe;
mod work;

use pyo3::prelude::*;

/// The extension module behind the package `rankwise`.
#[pymodule(gil_used = false)]
fn _rankwise(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<data::Data>()?;
    module.add_class::<ranker::Ranker>()?;
    module.add_class::<recipe::Recipe>()?;
    module.add_class::<work::Progress>()?;
    module.add_function(wrap_pyfunction!(data::read, module)?)?;
    module.add_function(wrap_pyfunction!(ranker::load, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::learners, module)?)?;
    Ok(())
}
