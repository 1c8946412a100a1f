//! The Python package: arrays and frames in, rankers and tables out. What is computed is computed by the library.
//!
//! Python code beside it (`python/rankwise`) knows scikit-learn, pandas and plots; it knows no ranking.

mod arrays;
mod catalogue;
mod clicks;
mod convert;
mod custom;
mod data;
mod distributed;
mod errors;
mod evaluate;
mod experiment;
mod judged;
mod judgments;
mod ranker;
mod recipe;
mod search;
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
    module.add_function(wrap_pyfunction!(evaluate::evaluate_run, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate_data, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::evaluate_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::compare_runs, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::compare_data, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::read_trec_run, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::read_trec_qrels, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate::metric_names, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::run_experiment, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::run_task, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::cross_validate, module)?)?;
    module.add_function(wrap_pyfunction!(experiment::tune, module)?)?;
    module.add_class::<search::SearchIndex>()?;
    module.add_function(wrap_pyfunction!(search::read_queries, module)?)?;
    module.add_class::<distributed::Worker>()?;
    module.add_function(wrap_pyfunction!(distributed::serve_worker, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::train_on_workers, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::score_shard, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::evaluate_shard, module)?)?;
    module.add_function(wrap_pyfunction!(distributed::join_evaluations, module)?)?;
    module.add_class::<judgments::Judgments>()?;
    module.add_class::<judgments::MergedLabels>()?;
    module.add_class::<clicks::ClickLog>()?;
    module.add_class::<clicks::ClickModel>()?;
    module.add_class::<clicks::Propensities>()?;
    module.add_function(wrap_pyfunction!(clicks::simulate_clicks, module)?)?;
    module.add_function(wrap_pyfunction!(clicks::interleave_lists, module)?)?;
    Ok(())
}
