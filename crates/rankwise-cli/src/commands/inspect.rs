use crate::content::load_model;
use crate::{network, output, table, trees};
use anyhow::{Result, bail};
use clap::Args;
use rankwise::data::{ClickLabels, FeatureSource};
use rankwise::models::{LinearModel, Model, OrdinalModel, Ranker};
use std::path::PathBuf;

/// Ranks whose propensities are shown.
const SHOWN_RANKS: usize = 10;

/// Show a model: learner, parameters, training record, and weights, trees or layers.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  rankwise inspect model.json\n  rankwise inspect trees.json --tree 1\n  \
    rankwise inspect model.json --json | jq .record"
)]
pub(crate) struct Inspect {
    /// The model
    model: PathBuf,

    /// How many features to show, by weight or importance; 0 for all
    #[arg(long, default_value_t = 20, value_name = "N")]
    top: usize,

    /// Show one tree, numbered from 1
    #[arg(long, value_name = "N", conflicts_with = "top")]
    tree: Option<usize>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Inspect {
    pub(crate) fn run(self) -> Result<()> {
        let ranker = load_model(&self.model)?;
        if let Some(number) = self.tree {
            return self.show_tree(&ranker, number);
        }
        if self.json {
            return output::print_json(&serde_json::to_value(&ranker)?);
        }
        let (summary, width) = (summary(&ranker), ranker.model.width());
        let ranker = ranker.narrowed(1);
        let learned = match &ranker.model {
            Model::Linear(LinearModel { weights, bias }) => {
                format!("{}bias {}\n", largest(weights, &ranker, self.top), table::six(*bias))
            }
            Model::Ordinal(OrdinalModel { weights, thresholds, grades }) => {
                format!("{}\n{}", largest(weights, &ranker, self.top), steps(thresholds, grades))
            }
            Model::Trees(ensemble) => trees::describe(ensemble, &ranker, width, self.top),
            Model::Network(mlp) => network::describe(mlp, &ranker, self.top),
            _ => String::new(),
        };
        output::print(&format!("{summary}\n{learned}"))
    }

    fn show_tree(&self, ranker: &Ranker, number: usize) -> Result<()> {
        let Model::Trees(ensemble) = &ranker.model else {
            bail!("{} is not a model of trees, so there is no tree to show", self.model.display());
        };
        let tree = trees::tree(ensemble, number)?;
        if self.json {
            return output::print_json(&serde_json::to_value(tree)?);
        }
        output::print(&trees::tree_text(tree, ranker))
    }
}

fn summary(ranker: &Ranker) -> String {
    let record = &ranker.record;
    let mut lines = table::Columns::new(&["", ""]).headless();
    lines.row(["learner", &format!("{} ({})", ranker.learner.title, ranker.learner.name)]);
    lines.row(["reference", &table::citations(&ranker.learner.citations)]);
    let parameters: Vec<String> = ranker.parameters.iter().map(|(k, v)| format!("{k}={v}")).collect();
    lines.row(["parameters", &parameters.join(" ")]);
    lines.row(["metric", &ranker.metric]);
    lines.row(["seed", &ranker.seed.to_string()]);
    let scaling = ranker.normalizer.as_ref().map_or("none".to_string(), |n| n.to_string());
    lines.row(["scaling", &scaling]);
    let (first, last) = (ranker.columns.name(0), ranker.columns.name(ranker.model.width() - 1));
    lines.row([
        "features",
        &match ranker.model.width() {
            1 => format!("1: {first}"),
            width => format!("{width}, from {first} to {last}"),
        },
    ]);
    if let Some(source) = &ranker.columns.source {
        lines.row(["computed by", &computed_by(source)]);
    }
    if !ranker.columns.categories.is_empty() {
        lines.row(["categorical", &categorical(ranker)]);
    }
    if let Some(clicks) = &ranker.clicks {
        lines.row(["labels", &of_clicks(clicks)]);
    }
    lines.row(["training", &record.ending()]);
    for (name, value) in &record.figures {
        let shown = if value.fract() == 0.0 { format!("{value}") } else { table::six(*value) };
        lines.row([name.as_str(), &shown]);
    }
    for note in &record.notes {
        lines.row(["note", note]);
    }
    lines.render()
}

/// How the labels were made from clicks.
fn of_clicks(clicks: &ClickLabels) -> String {
    if clicks.propensities.is_empty() {
        return "clicks, not corrected for their positions".to_owned();
    }
    let theta: Vec<String> =
        clicks.propensities.iter().take(SHOWN_RANKS).map(|t| format!("{t:.3}")).collect();
    let more = if clicks.propensities.len() > SHOWN_RANKS { " …" } else { "" };
    let filled = if clicks.doubly_robust { ", filled in by a model" } else { "" };
    let (clip, method) = (clicks.clip, &clicks.method);
    format!(
        "clicks, divided by propensities of at least {clip}{filled} ({method}): {}{more}",
        theta.join(" ")
    )
}

/// The feature set, and the analyzers of the fields.
fn computed_by(source: &FeatureSource) -> String {
    let name_only = |analyzer: &str| analyzer.split(' ').next().unwrap_or_default().to_owned();
    let analyzers: Vec<String> = source
        .analyzers()
        .iter()
        .map(|(field, analyzer)| format!("{field} {}", name_only(analyzer)))
        .collect();
    let features = output::count(source.feature_names().len(), "feature", "features");
    let retrieval = source.retrieval().map_or_else(String::new, |found| format!("; candidates: {found}"));
    format!("feature set {}, {features}; analyzers: {}{retrieval}", source.name(), analyzers.join(", "))
}

/// The categorical features, with their number of categories where these have texts.
fn categorical(ranker: &Ranker) -> String {
    let categories = &ranker.columns.categories;
    let described = |column: usize| match categories.texts(column).unwrap_or_default().len() {
        0 => ranker.columns.name(column),
        count => {
            format!("{} ({})", ranker.columns.name(column), output::count(count, "category", "categories"))
        }
    };
    categories.columns().map(described).collect::<Vec<_>>().join(", ")
}

/// The `top` largest weights; 0 stands for all.
fn largest(weights: &[f64], ranker: &Ranker, top: usize) -> String {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by(|&a, &b| weights[b].abs().total_cmp(&weights[a].abs()));
    let shown = if top == 0 { order.len() } else { top.min(order.len()) };
    let mut table = table::Columns::new(&["feature", ">weight"]);
    for &c in &order[..shown] {
        table.row([ranker.columns.name(c), table::six(weights[c])]);
    }
    let rest = match order.len() - shown {
        0 => String::new(),
        n => format!("and {}: --top 0 shows all\n", output::count(n, "smaller weight", "smaller weights")),
    };
    format!("{}{rest}", table.render())
}

/// The ranges of scores for which each grade is predicted.
fn steps(thresholds: &[f64], grades: &[f32]) -> String {
    let mut table = table::Columns::new(&[">grade", ">from score", ">to below"]);
    for (i, grade) in grades.iter().enumerate() {
        let from = i.checked_sub(1).map(|before| thresholds[before]);
        let to = thresholds.get(i).copied();
        let shown = |bound: Option<f64>| bound.map_or(String::new(), table::six);
        match (from, to) {
            (Some(from), Some(to)) if from == to => {
                table.row([grade.to_string(), "never".into(), String::new()])
            }
            _ => table.row([grade.to_string(), shown(from), shown(to)]),
        }
    }
    table.render()
}
