use crate::input::Input;
use crate::insight::{open, shown};
use crate::metric_args::MetricArgs;
use crate::progress::ProgressBar;
use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::data::Dataset;
use rankwise::models::Ranker;
use rankwise::models::insight::{Permutation, PermutationImportance, Splits, splits};
use rankwise::watch::Stop;
use serde_json::json;
use std::path::PathBuf;

/// Show how important each feature is: how much a metric drops when the feature is shuffled.
#[derive(Args)]
#[command(
    after_help = "Permutation importance: each feature in turn is shuffled over all documents, several times, and the \
    model is evaluated again. For trees, total gain and number of splits are shown, too.\n\n\
    Examples:\n  rankwise importance model.json test.txt\n  \
    rankwise importance model.json test.txt --metric map --repeats 20\n  \
    rankwise importance model.json test.txt --json | jq \".features[:10]\""
)]
pub(crate) struct Importance {
    /// The model
    model: PathBuf,

    /// The judged data to evaluate on
    file: PathBuf,

    /// The metric
    #[arg(long, alias = "metrics", default_value = "ndcg@10", value_name = "METRIC")]
    metric: String,

    /// Number of shuffles per feature
    #[arg(long, default_value_t = 5, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    repeats: u32,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// How many features to show; 0 for all
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,

    /// Print JSON, with all features
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    metric_args: MetricArgs,

    #[command(flatten)]
    reading: Input,
}

impl Importance {
    pub(crate) fn run(self) -> Result<()> {
        let metric = self.metric_args.metric(&self.metric)?;
        let (ranker, data) = open(&self.model, &self.file, &self.reading)?;
        let permutation = Permutation { metric, repeats: self.repeats as usize, seed: self.seed };
        let mut progress = ProgressBar::new("importance", &Stop::default());
        let shuffled = permutation.importance(&ranker.model, &data, &mut progress)?;
        drop(progress);
        let found = Found { shuffled, splits: splits(&ranker.model) };
        if self.json {
            return output::print_json(&self.as_json(&found, &ranker, &data)?);
        }
        output::print(&self.as_text(&found, &ranker, &data)?)
    }

    fn as_json(&self, found: &Found, ranker: &Ranker, data: &Dataset) -> Result<serde_json::Value> {
        let features = found.order().into_iter().map(|column| {
            let mut feature = json!({
                "feature": ranker.columns.name(column),
                "drop": found.shuffled.drops[column].mean,
                "deviation": found.shuffled.drops[column].deviation,
            });
            if let Some(splits) = &found.splits {
                feature["gain"] = json!(splits[column].gain);
                feature["splits"] = json!(splits[column].count);
            }
            feature
        });
        Ok(json!({
            "metric": found.shuffled.metric,
            "conventions": self.metric_args.conventions()?,
            "value": found.shuffled.value,
            "weighted": data.parts().query_weights.is_some(),
            "repeats": self.repeats,
            "seed": self.seed,
            "features": features.collect::<Vec<_>>(),
        }))
    }

    fn as_text(&self, found: &Found, ranker: &Ranker, data: &Dataset) -> Result<String> {
        let mut headers = vec!["feature", ">drop", ">std dev"];
        if found.splits.is_some() {
            headers.extend([">gain", ">splits"]);
        }
        let mut table = table::Columns::new(&headers);
        let order = found.order();
        let shown = shown(self.top, order.len());
        for &column in &order[..shown] {
            let drop = &found.shuffled.drops[column];
            let deviation = drop.deviation.map_or("–".into(), table::four);
            let mut cells = vec![ranker.columns.name(column), table::four(drop.mean), deviation];
            if let Some(splits) = &found.splits {
                cells.extend([
                    table::six(splits[column].gain),
                    output::thousands(splits[column].count as usize),
                ]);
            }
            table.row(cells);
        }
        let rest = match order.len() - shown {
            0 => String::new(),
            n => format!("and {}: --top 0 shows all\n", output::count(n, "more feature", "more features")),
        };
        let weighted = if data.parts().query_weights.is_some() { ", weighted by query weight" } else { "" };
        let explained = table::wrap(&format!(
            "{} is {} on {}{weighted}. drop: its mean decrease over {} of the feature; std dev: standard deviation of the decrease; {}",
            found.shuffled.metric,
            table::four(found.shuffled.value),
            output::count(data.query_count(), "query", "queries"),
            output::count(self.repeats as usize, "shuffle", "shuffles"),
            self.metric_args.describe()
        ));
        Ok(format!("{}{rest}\n{explained}\n", table.render()))
    }
}

/// The permutation importance of every feature and, for trees, its gain and splits.
struct Found {
    shuffled: PermutationImportance,
    splits: Option<Vec<Splits>>,
}

impl Found {
    /// The features by descending drop, then by descending gain.
    fn order(&self) -> Vec<usize> {
        let gain = |column: usize| self.splits.as_ref().map_or(0.0, |splits| splits[column].gain);
        let drop = |column: usize| self.shuffled.drops[column].mean;
        let mut order: Vec<usize> = (0..self.shuffled.drops.len()).collect();
        order.sort_by(|&a, &b| drop(b).total_cmp(&drop(a)).then(gain(b).total_cmp(&gain(a))));
        order
    }
}
