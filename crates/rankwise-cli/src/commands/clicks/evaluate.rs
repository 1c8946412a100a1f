use crate::click_log::LogArgs;
use crate::content::load_model;
use crate::input::{Input, note_width};
use crate::{output, table};
use anyhow::{Context, Result};
use clap::Args;
use rankwise::clicks::counterfactual::{
    Counterfactual, CounterfactualEstimate, EstimateOptions, RankValue, Rankings, rankings_of_run,
    rankings_of_scores,
};
use rankwise::clicks::propensity::Propensities;
use rankwise::data::read_run;
use rankwise::significance::ConfidenceInterval;
use serde_json::json;
use std::path::PathBuf;

/// Estimate what a ranker would have been worth, from the log of another (counterfactual evaluation).
#[derive(Args)]
#[command(
    after_help = "A click counts for the value of the rank that the new ranker gives the document, divided by the propensity of \
    the rank where it was clicked. IPS is the value per session; clipped IPS varies less and is too small; SNIPS is the mean \
    value of the rank of a relevant document. \"as shown\" is IPS of the lists in the log, for the same sessions. Intervals \
    are of resampled queries.\n\n\
    Examples:\n  rankwise clicks evaluate log.jsonl --propensity theta.json --run new.run\n  \
    rankwise clicks evaluate log.jsonl --propensity theta.json \\\n      --model new.json --data train.txt --metric dcg@5 --clip 0.1"
)]
pub(crate) struct Evaluate {
    #[command(flatten)]
    log: LogArgs,

    /// The propensities, as `clicks propensity -o` writes them
    #[arg(long, value_name = "FILE")]
    propensity: PathBuf,

    /// The rankings of a new ranker, as a TREC run; may be repeated
    #[arg(long = "run", value_name = "RUN", required_unless_present = "models")]
    runs: Vec<PathBuf>,

    /// A new ranker that ranks the documents of --data; may be repeated
    #[arg(long = "model", id = "models", value_name = "MODEL", requires = "data")]
    models: Vec<PathBuf>,

    /// The documents that --model ranks, with the ids of the log
    #[arg(long, value_name = "FILE", requires = "models")]
    data: Option<PathBuf>,

    /// The value of a rank: dcg@K, p@K or reciprocal
    #[arg(long, default_value = "dcg@10", value_name = "METRIC")]
    metric: String,

    /// The smallest propensity that clipped IPS divides by
    #[arg(long, default_value_t = 0.1, value_name = "X")]
    clip: f64,

    /// Level of the intervals
    #[arg(long, default_value_t = 0.95, value_name = "X")]
    confidence: f64,

    /// Resamples of queries for the intervals
    #[arg(long, default_value_t = 1000, value_name = "N")]
    resamples: usize,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reading: Input,
}

/// The estimates of a ranker: without a limit for propensities, and with it.
struct Estimated {
    name: String,
    unclipped: CounterfactualEstimate,
    clipped: CounterfactualEstimate,
}

impl Evaluate {
    pub(crate) fn run(self) -> Result<()> {
        let options = EstimateOptions {
            value: RankValue::parse(&self.metric)?,
            clip: self.clip,
            resamples: self.resamples,
            confidence: self.confidence,
            seed: self.seed,
        };
        let theta = Propensities::read(&self.propensity)?;
        let rankers = self.rankers()?;
        let mut clicks = rankers
            .iter()
            .map(|(_, rankings)| Counterfactual::new(rankings))
            .collect::<rankwise::Result<Vec<_>>>()?;
        let report = self.log.each(|session| clicks.iter_mut().for_each(|clicks| clicks.add(session)))?;
        let mut found = Vec::new();
        for ((name, _), clicks) in rankers.iter().zip(&clicks) {
            let estimate = |clip| {
                let estimate = clicks.estimate(&theta, &EstimateOptions { clip, ..options });
                estimate.with_context(|| format!("{name} cannot be evaluated"))
            };
            let (unclipped, clipped) = (estimate(0.0)?, estimate(self.clip)?);
            found.push(Estimated { name: name.clone(), unclipped, clipped });
        }
        for Estimated { name, unclipped, clipped } in &found {
            unclipped.notes(clipped).iter().for_each(|note| output::note(format!("{name}: {note}")));
        }
        if self.json {
            let rankers: Vec<_> = found.iter().map(as_json).collect();
            return output::print_json(&json!({
                "metric": options.value.to_string(),
                "clip": self.clip,
                "confidence": self.confidence,
                "rankers": rankers,
                "log": report,
            }));
        }
        let texts: Vec<String> = found.iter().map(|found| self.as_text(found)).collect();
        output::print(&texts.join("\n"))
    }

    /// The rankers with their names and rankings.
    fn rankers(&self) -> Result<Vec<(String, Rankings)>> {
        let mut rankers = Vec::new();
        for path in &self.runs {
            rankers.push((path.display().to_string(), rankings_of_run(&read_run(path)?)?));
        }
        for path in &self.models {
            let data = self.data.as_deref().context("name the documents that the model ranks with --data")?;
            let ranker = self.reading.number(load_model(path)?)?;
            let data = self.reading.for_model(&ranker).unlabelled().read(data)?;
            note_width(&ranker, &data);
            rankers.push((path.display().to_string(), rankings_of_scores(&data, &ranker.score(&data)?)?));
        }
        Ok(rankers)
    }

    fn as_text(&self, found: &Estimated) -> String {
        let interval = format!(">{} % CI", (1e4 * self.confidence).round() / 100.0);
        let mut lines = table::Columns::new(&["", &format!(">{}", self.metric), &interval]);
        let clipped = format!("IPS, clipped at {}", self.clip);
        let mut row = |what: &str, value: f64, ci: Option<ConfidenceInterval>| {
            let ends = ci.map_or("–".to_owned(), |ci| format!("{:.4} to {:.4}", ci.low, ci.high));
            lines.row([what, &table::four(value), &ends]);
        };
        let estimate = &found.unclipped;
        row("IPS", estimate.ips, estimate.ips_interval);
        row("  as shown", estimate.shown, estimate.shown_interval);
        row("  difference", estimate.difference, estimate.difference_interval);
        row(&clipped, found.clipped.ips, found.clipped.ips_interval);
        if let Some(snips) = estimate.snips {
            row("SNIPS", snips, estimate.snips_interval);
        }
        let sizes = format!(
            "{}: {} of {}\n",
            found.name,
            output::count(estimate.sessions as usize, "session", "sessions"),
            output::count(estimate.queries, "query", "queries")
        );
        format!("{}{}", table::wrap(&sizes), lines.render())
    }
}

fn as_json(found: &Estimated) -> serde_json::Value {
    let estimate = &found.unclipped;
    json!({
        "name": found.name,
        "queries": estimate.queries,
        "sessions": estimate.sessions,
        "ips": estimate.ips,
        "ips_interval": estimate.ips_interval,
        "shown": estimate.shown,
        "shown_interval": estimate.shown_interval,
        "difference": estimate.difference,
        "difference_interval": estimate.difference_interval,
        "clipped": found.clipped.ips,
        "clipped_interval": found.clipped.ips_interval,
        "snips": estimate.snips,
        "snips_interval": estimate.snips_interval,
        "unranked_sessions": estimate.unranked_sessions,
        "unranked_clicks": estimate.unranked_clicks,
        "clipped_clicks": found.clipped.clipped_clicks,
        "deep_clicks": estimate.deep_clicks,
    })
}
