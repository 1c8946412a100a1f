use crate::click_log::{LogArgs, SHOWN_RANKS, more_ranks};
use crate::{output, table};
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use rankwise::clicks::ClickCounts;
use rankwise::clicks::models::FitOptions;
use rankwise::clicks::propensity::{PairedRanks, Propensities};
use std::path::PathBuf;

/// Estimate propensities: how likely users are to look at each rank, relative to the first.
#[derive(Args)]
#[command(
    after_help = "Clicks on a document at two ranks tell how much less users look at the lower one. So documents must move \
    between ranks: log several rankers, or exchange two documents at random in some sessions (`swap` in the log). Where \
    they do not move, no method can know, and none is tried.\n\n\
    paired-ranks compares clicks on the same document at every two ranks, and assumes nothing about relevance. em fits the \
    position-based model. swap uses the sessions of swap experiments only.\n\n\
    Examples:\n  rankwise clicks propensity log.jsonl -o theta.json\n  \
    rankwise clicks propensity log.jsonl --by em --depth 20 --json"
)]
pub(crate) struct Propensity {
    #[command(flatten)]
    log: LogArgs,

    /// How to estimate
    #[arg(long, default_value = "paired-ranks", value_name = "METHOD")]
    by: Method,

    /// Write the propensities to this file, as JSON
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Leave out ranks below this one. Default: all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,

    /// Of paired-ranks: how smooth the logarithms of propensities are; 0 for not at all. Default: 1
    #[arg(long, value_name = "X")]
    smoothing: Option<f64>,

    /// Of em: the largest number of iterations. Default: 1000
    #[arg(long, value_name = "N")]
    iterations: Option<usize>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(ValueEnum, Clone, Copy, PartialEq)]
enum Method {
    PairedRanks,
    Em,
    Swap,
}

impl Propensity {
    pub(crate) fn run(self) -> Result<()> {
        self.check()?;
        if let Some(out) = &self.output {
            output::prepare_to_write(out, &self.log.read())?;
        }
        let mut counts = ClickCounts::default();
        let report = self.log.each(|session| counts.add(session))?;
        let found = self.estimate(&counts)?;
        output::notes(&found.notes());
        if let Some(out) = &self.output {
            found.write(out)?;
        }
        if self.json {
            let mut value = serde_json::to_value(&found)?;
            value["log"] = serde_json::to_value(&report)?;
            return output::print_json(&value);
        }
        output::print(&as_text(&found, &counts))
    }

    fn check(&self) -> Result<()> {
        ensure!(
            self.smoothing.is_none() || self.by == Method::PairedRanks,
            "--smoothing is for --by paired-ranks"
        );
        ensure!(self.iterations.is_none() || self.by == Method::Em, "--iterations is for --by em");
        ensure!(
            self.depth.is_none() || self.by != Method::Swap,
            "--depth is not for --by swap, whose ranks are those of the experiments"
        );
        Ok(())
    }

    fn estimate(&self, counts: &ClickCounts) -> Result<Propensities> {
        let depth = self.depth.unwrap_or(u32::MAX);
        Ok(match self.by {
            Method::PairedRanks => {
                let smoothing = self.smoothing.unwrap_or(PairedRanks::default().smoothing);
                PairedRanks { depth, smoothing }.estimate(counts)?
            }
            Method::Em => {
                let defaults = FitOptions::default();
                let iterations = self.iterations.unwrap_or(defaults.iterations);
                Propensities::by_em(counts, depth, &FitOptions { iterations, ..defaults })?
            }
            Method::Swap => Propensities::by_swap(counts)?,
        })
    }
}

fn as_text(found: &Propensities, counts: &ClickCounts) -> String {
    let header = [">rank", ">propensity", ">weight of a click", ">shown", ">clicked", ">click-through"];
    let mut lines = table::Columns::new(&header);
    let by_rank = counts.by_rank();
    for (place, (&theta, cell)) in found.theta.iter().zip(&by_rank).enumerate().take(SHOWN_RANKS) {
        lines.row([
            (place + 1).to_string(),
            table::four(theta),
            format!("{:.2}", 1.0 / theta),
            output::thousands(cell.shown as usize),
            output::thousands(cell.clicks as usize),
            if cell.shown == 0 { "–".to_owned() } else { table::four(cell.click_through()) },
        ]);
    }
    format!("{}{}", lines.render(), more_ranks(found.theta.len()))
}
