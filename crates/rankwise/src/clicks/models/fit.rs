//! Options and results of fitting, and the loop of expectation maximisation.

use super::{ByDocument, ClickModel, ClickModelKind, counting, dbn, examination};
use crate::clicks::SessionTable;
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};

/// Clicks and views that are added to those of every parameter: a Beta distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Clicks (or other successes).
    pub clicks: f64,
    /// Views (or other trials), at least as many.
    pub views: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Prior { clicks: 1.0, views: 2.0 }
    }
}

impl Prior {
    /// The estimate after `clicks` of `views`; `otherwise` if there is neither prior nor view.
    pub(super) fn estimate(self, clicks: f64, views: f64, otherwise: f64) -> f64 {
        let views = self.views + views;
        if views > 0.0 { (self.clicks + clicks) / views } else { otherwise }
    }

    /// The logarithm of the prior's density, but for a constant.
    pub(super) fn log_density(self, parameters: &[f64]) -> f64 {
        let skips = self.views - self.clicks;
        parameters.iter().map(|&p| times_ln(self.clicks, p) + times_ln(skips, 1.0 - p)).sum()
    }
}

/// `n ln p`, and 0 if `n` is.
pub(super) fn times_ln(n: f64, p: f64) -> f64 {
    if n == 0.0 { 0.0 } else { n * p.ln() }
}

/// How to fit a click model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FitOptions {
    /// The largest number of iterations of expectation maximisation.
    pub iterations: usize,
    /// EM stops when an iteration increases the objective by less than this, relative to its absolute value.
    pub tolerance: f64,
    /// Where EM starts: every probability is this.
    pub start: f64,
    /// What is added to the counts of every parameter.
    pub prior: Prior,
}

impl Default for FitOptions {
    fn default() -> Self {
        FitOptions { iterations: 1000, tolerance: 1e-9, start: 0.5, prior: Prior::default() }
    }
}

impl FitOptions {
    pub(in crate::clicks) fn check(&self) -> Result<()> {
        let Prior { clicks, views } = self.prior;
        let wrong = |name: &str, value: f64, range: &str| {
            Err(Error::parameter(format!("`{name}` is {value}; it must be {range}")))
        };
        if !(self.start > 0.0 && self.start < 1.0) {
            return wrong("start", self.start, "between 0 and 1");
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return wrong("tolerance", self.tolerance, "at least 0");
        }
        if !(clicks >= 0.0 && clicks <= views && views.is_finite()) {
            return wrong("prior", clicks, &format!("from 0 to its views, {views}, which are finite"));
        }
        Ok(())
    }
}

/// A click model as it was fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FittedModel {
    /// The model.
    pub model: ClickModel,
    /// Iterations of expectation maximisation; 0 for models that are counted.
    pub iterations: usize,
    /// Whether EM stopped because the objective hardly increased any more; true for models that are counted.
    pub converged: bool,
    /// What EM increases, before the first iteration and after each: the log-likelihood of the log, plus the logarithm of
    /// the prior's density. Empty for models that are counted.
    pub objective: Vec<f64>,
    /// The log-likelihood of the log it was fitted to; −∞ if the model rules out a session.
    pub log_likelihood: f64,
}

/// The state of expectation maximisation.
pub(super) trait Em {
    /// Takes one step. Returns the objective before it.
    fn step(&mut self) -> f64;

    /// The objective now.
    fn objective(&self) -> f64;
}

/// What happened in a run of EM.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::clicks) struct EmRun {
    pub(in crate::clicks) iterations: usize,
    pub(in crate::clicks) converged: bool,
    pub(in crate::clicks) objective: Vec<f64>,
}

/// Runs expectation maximisation.
pub(super) fn run(em: &mut impl Em, options: &FitOptions) -> EmRun {
    let mut objective: Vec<f64> = Vec::new();
    for iteration in 0..options.iterations {
        objective.push(em.step());
        // The objective before this step is known only now, so the run stops one step after it has converged.
        if let [.., before, now] = objective[..]
            && now - before < options.tolerance * now.abs()
        {
            objective.push(em.objective());
            return EmRun { iterations: iteration + 1, converged: true, objective };
        }
    }
    objective.push(em.objective());
    EmRun { iterations: options.iterations, converged: false, objective }
}

pub(super) fn fit(
    kind: ClickModelKind,
    sessions: &SessionTable,
    options: &FitOptions,
) -> Result<FittedModel> {
    options.check()?;
    if sessions.sessions() == 0 {
        return Err(Error::data("the log has no sessions to fit a click model to"));
    }
    let sorted = sessions.sorted();
    let (browsing, attractiveness, run) = match kind {
        ClickModelKind::Pbm => examination::position_based(&sorted, options),
        ClickModelKind::Ubm => examination::user_browsing(&sorted, options),
        ClickModelKind::Dbn => dbn::fit(&sorted, options),
        ClickModelKind::Cascade => counting::cascade(&sorted, options),
        ClickModelKind::Dcm => counting::dependent_click(&sorted, options),
        ClickModelKind::Sdbn => counting::simplified_dbn(&sorted, options),
    };
    let default = options.prior.estimate(0.0, 0.0, options.start);
    let attractiveness = ByDocument::new(default, &sorted.pairs, &attractiveness);
    let model = ClickModel { browsing, attractiveness };
    let log_likelihood = super::log_likelihood(&super::PairModel::new(&model, &sorted.pairs), &sorted);
    let EmRun { iterations, converged, objective } = run;
    Ok(FittedModel { model, iterations, converged, objective, log_likelihood })
}
