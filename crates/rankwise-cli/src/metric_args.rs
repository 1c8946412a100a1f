//! Options for metrics, shared by all commands.

use anyhow::{Context, Result, ensure};
use clap::Args;
use rankwise::metrics::{Conventions, Metric, parse, parse_list, preset};

/// The preset of models and scores.
const DEFAULT: &str = "default";

/// The conventions of the metrics.
#[derive(Args, Clone)]
#[command(next_help_heading = "Metrics")]
pub(crate) struct MetricArgs {
    /// Compute metrics as another tool does; see `rankwise metrics`. Default: trec for TREC runs, else default
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,

    /// Change a convention of the preset, such as ties=worst; may be repeated
    #[arg(long = "convention", value_name = "KEY=VALUE")]
    changes: Vec<String>,
}

impl MetricArgs {
    /// The same with the preset for TREC runs, or for models and scores, where the user chose none.
    pub(crate) fn for_runs(&self, runs: bool) -> MetricArgs {
        let usual = if runs { "trec" } else { DEFAULT };
        MetricArgs { preset: self.preset.clone().or(Some(usual.into())), ..self.clone() }
    }

    fn preset(&self) -> &str {
        self.preset.as_deref().unwrap_or(DEFAULT)
    }

    /// The conventions of the preset, with the changes applied.
    pub(crate) fn conventions(&self) -> Result<Conventions> {
        let mut conventions = preset(self.preset())?;
        for change in &self.changes {
            let (key, value) = change.split_once('=').with_context(|| {
                format!("--convention {change} is not of the form KEY=VALUE, as in ties=worst")
            })?;
            conventions.set(key.trim(), value.trim())?;
        }
        Ok(conventions)
    }

    /// One metric.
    pub(crate) fn metric(&self, spec: &str) -> Result<Box<dyn Metric>> {
        Ok(parse(spec, &self.conventions()?)?)
    }

    /// Several metrics, separated by commas.
    pub(crate) fn metrics(&self, specs: &str) -> Result<Vec<Box<dyn Metric>>> {
        let metrics = parse_list(specs, &self.conventions()?)?;
        ensure!(!metrics.is_empty(), "--metrics is empty; give at least one metric, such as ndcg@10");
        Ok(metrics)
    }

    /// The preset and its changes, in words.
    pub(crate) fn describe(&self) -> String {
        let changes: String = self.changes.iter().map(|c| format!(" with {c}")).collect();
        format!("preset {}{changes}", self.preset())
    }
}
