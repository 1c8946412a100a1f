use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::metrics::{METRICS, MetricEntry, PRESETS, find};
use serde_json::json;

/// List the metrics and presets, or describe one metric.
#[derive(Args)]
#[command(after_help = "Examples:\n  rankwise metrics\n  rankwise metrics ndcg\n  rankwise metrics --json")]
pub(crate) struct Metrics {
    /// Name of a metric, to describe it
    name: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Metrics {
    pub(crate) fn run(self) -> Result<()> {
        let chosen = self.name.as_deref().map(find).transpose()?;
        match (chosen, self.json) {
            (Some(entry), true) => output::print_json(&serde_json::to_value(entry)?),
            (None, true) => output::print_json(&json!({ "metrics": METRICS, "presets": presets_json() })),
            (Some(entry), false) => output::print(&describe(entry)),
            (None, false) => output::print(&list()),
        }
    }
}

fn presets_json() -> Vec<serde_json::Value> {
    let one = |p: &rankwise::metrics::Preset| {
        json!({ "name": p.card.name, "title": p.card.title, "summary": p.card.summary,
            "citations": p.card.citations, "conventions": p.conventions() })
    };
    PRESETS.iter().map(one).collect()
}

fn list() -> String {
    let mut metrics = table::Columns::new(&["metric", "definition"]);
    for entry in METRICS {
        let cut = entry.suffix();
        let names = match &*other_names(entry) {
            "" => String::new(),
            names => format!(" Also: {names}."),
        };
        metrics.row([format!("{}{cut}", entry.card.name), format!("{}{names}", entry.card.summary)]);
    }
    let mut presets = table::Columns::new(&["preset", "conventions"]);
    for preset in PRESETS {
        presets.row([preset.card.name, preset.card.summary]);
    }
    format!(
        "{}\n{}\nSyntax of a metric: name[@k][:key=value]…, as in ndcg@10:gain=linear or p@1..5.\n\
         `rankwise metrics NAME` shows its options.\n",
        metrics.render(),
        presets.render()
    )
}

/// The other names that a metric accepts.
fn other_names(entry: &MetricEntry) -> String {
    entry.aliases.join(", ")
}

fn describe(entry: &MetricEntry) -> String {
    let card = &entry.card;
    let mut lines = table::Columns::new(&["", ""]).headless();
    let cut = entry.suffix();
    lines.row(["syntax", &format!("{}{cut}", card.name)]);
    if !entry.aliases.is_empty() {
        lines.row(["also accepted", &other_names(entry)]);
    }
    lines.row(["definition", card.summary]);
    let maximum = entry.range.1.map_or("no upper limit".to_string(), |g| g.to_string());
    lines.row(["range", &format!("{} to {maximum}", entry.range.0)]);
    lines.row(["undefined", entry.empty]);
    let options: Vec<&str> = entry.options.iter().copied().chain(["empty", "ties", "scores"]).collect();
    lines.row(["options", &options.join(", ")]);
    if !card.citations.is_empty() {
        lines.row(["reference", &table::citations(card.citations)]);
    }
    format!("{}\n\n{}", card.title, lines.render())
}
