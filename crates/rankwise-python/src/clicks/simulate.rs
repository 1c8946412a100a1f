//! Simulated logs.

use super::log::ClickLog;
use crate::data::Data;
use crate::errors::exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankwise::clicks::check_sessions;
use rankwise::clicks::interleave::Interleaving;
use rankwise::clicks::simulate::{Randomization, SimulatedRanker, SimulatedUser, Simulation};

/// How to simulate.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SimulationOptions {
    user: String,
    noise: f64,
    sessions: usize,
    depth: usize,
    randomize: String,
    interleave: Option<String>,
    features: bool,
    seed: u64,
}

impl SimulationOptions {
    fn simulation(&self) -> rankwise::Result<Simulation> {
        let randomization = match &*self.randomize {
            "none" => Randomization::None,
            "swap" => Randomization::Swap,
            "shuffle" => Randomization::Shuffle,
            other => {
                return Err(rankwise::card::unknown("randomization", other, &["none", "swap", "shuffle"]));
            }
        };
        Ok(Simulation {
            user: SimulatedUser::parse(&self.user)?,
            noise: self.noise,
            sessions: self.sessions,
            depth: self.depth,
            randomization,
            interleaving: self.interleave.as_deref().map(Interleaving::named).transpose()?,
            features: self.features,
            seed: self.seed,
        })
    }
}

/// Simulates the clicks on the rankings of one or several rankers, given by their scores of the data.
#[pyfunction]
pub(crate) fn simulate_clicks<'py>(
    data: &Bound<'py, Data>,
    names: Vec<String>,
    scores: Vec<Bound<'py, PyAny>>,
    options: SimulationOptions,
) -> PyResult<ClickLog> {
    let py = data.py();
    let data = data.get();
    if names.is_empty() {
        return Err(PyValueError::new_err("a simulation needs at least one ranker"));
    }
    let ranker = |(name, scores): (String, &Bound<'py, PyAny>)| {
        let scores = data.scores_in_data_order(&format!("the scores of {name}"), scores)?;
        Ok(SimulatedRanker { name, scores })
    };
    let rankers = names.into_iter().zip(&scores).map(ranker).collect::<PyResult<Vec<_>>>()?;
    let simulation = options.simulation().map_err(exception)?;
    let dataset = data.labelled()?;
    let simulate = || Ok(check_sessions(simulation.sessions(dataset, &rankers)?));
    let (sessions, report) = py.detach(simulate).map_err(exception)?;
    Ok(ClickLog::of_sessions(sessions, report))
}
