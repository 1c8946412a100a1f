//! The options for measuring that every command shares.

use anyhow::{Context, Result, ensure};
use clap::Args;
use rankwise::metrics::{Conventions, Metric, parse, parse_list, preset};

/// By which conventions to measure.
#[derive(Args, Clone)]
#[command(next_help_heading = "Measuring")]
pub(crate) struct Measuring {
    /// The conventions of another tool: see `rankwise metrics`
    #[arg(long, default_value = "default", value_name = "NAME")]
    preset: String,

    /// Change one convention of the preset, such as ties=worst; repeat for more
    #[arg(long = "convention", value_name = "KEY=VALUE")]
    changes: Vec<String>,
}

impl Measuring {
    /// The preset with its changes.
    pub(crate) fn conventions(&self) -> Result<Conventions> {
        let mut conventions = preset(&self.preset)?;
        for change in &self.changes {
            let (key, value) = change
                .split_once('=')
                .with_context(|| format!("--convention {change} is not of the form key=value"))?;
            conventions.set(key.trim(), value.trim())?;
        }
        Ok(conventions)
    }

    /// One measure.
    pub(crate) fn metric(&self, spec: &str) -> Result<Box<dyn Metric>> {
        Ok(parse(spec, &self.conventions()?)?)
    }

    /// Several measures, separated by commas.
    pub(crate) fn metrics(&self, specs: &str) -> Result<Vec<Box<dyn Metric>>> {
        let metrics = parse_list(specs, &self.conventions()?)?;
        ensure!(!metrics.is_empty(), "--metrics names no measure");
        Ok(metrics)
    }

    /// The preset and its changes, in words.
    pub(crate) fn describe(&self) -> String {
        let changes: String = self.changes.iter().map(|c| format!(" with {c}")).collect();
        format!("preset {}{changes}", self.preset)
    }
}
