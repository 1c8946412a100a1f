use crate::input::Input;
use crate::insight::{column, feature_value, json_value, open};
use crate::{interrupt, output, table};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::data::Columns;
use rankwise::models::insight::{Dependence as Request, PartialDependence, write_dependence};
use serde_json::json;
use std::path::PathBuf;

/// Show how scores depend on one or two features (partial dependence).
#[derive(Args)]
#[command(
    after_help = "For each value of the feature, all documents are given that value, and their scores are averaged. \
    The values are those in the data, or quantiles of them if there are more than --points, or the most frequent categories. `missing` is a value, too, \
    if some documents lack the feature.\n\n\
    Examples:\n  rankwise dependence model.json test.txt --feature 25\n  \
    rankwise dependence model.json test.txt --feature bm25 --points 50 --json\n  \
    rankwise dependence model.json test.txt --feature 25 --feature 3 -o pd.csv"
)]
pub(crate) struct Dependence {
    /// The model
    model: PathBuf,

    /// The data to average over
    file: PathBuf,

    /// The feature, by name or number; give it twice for a pair of features
    #[arg(long = "feature", value_name = "NAME", required = true)]
    features: Vec<String>,

    /// Maximum number of values per feature
    #[arg(long, default_value_t = Request::default().points, value_name = "N")]
    points: usize,

    /// Maximum number of documents to average over; a random sample is taken if there are more
    #[arg(long, default_value_t = Request::default().documents, value_name = "N")]
    documents: usize,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Write a CSV file
    #[arg(short, long, value_name = "OUT", conflicts_with = "json")]
    output: Option<PathBuf>,

    #[command(flatten)]
    reading: Input,
}

impl Dependence {
    pub(crate) fn run(self) -> Result<()> {
        ensure!(
            self.features.len() <= 2,
            "--feature is given {} times; it can be given once or twice",
            self.features.len()
        );
        if let Some(out) = &self.output {
            output::keep_apart("the model", &self.model, out)?;
            output::keep_apart("the data", &self.file, out)?;
        }
        let (ranker, data) = open(&self.model, &self.file, &self.reading)?;
        let columns =
            self.features.iter().map(|name| column(&ranker, name)).collect::<Result<Vec<usize>>>()?;
        let request = Request { points: self.points, documents: self.documents, seed: self.seed };
        let found = request.of(&ranker.model, &data, &columns)?;
        if let Some(path) = &self.output {
            interrupt::will_write(path);
            return Ok(write_dependence(path, &found, data.columns())?);
        }
        if self.json {
            return output::print_json(&as_json(&found, data.columns()));
        }
        output::print(&as_text(&found, data.columns()))
    }
}

fn names(found: &PartialDependence, columns: &Columns) -> Vec<String> {
    found.columns.iter().map(|&column| columns.name(column)).collect()
}

fn as_json(found: &PartialDependence, columns: &Columns) -> serde_json::Value {
    let points = found.points().into_iter().zip(&found.means).map(|(values, mean)| {
        let values = found.columns.iter().zip(values).map(|(&column, x)| json_value(columns, column, x));
        json!({ "values": values.collect::<Vec<_>>(), "mean": mean })
    });
    json!({
        "features": names(found, columns),
        "documents": found.documents,
        "points": points.collect::<Vec<_>>(),
    })
}

fn as_text(found: &PartialDependence, columns: &Columns) -> String {
    let mut headers: Vec<String> = names(found, columns).iter().map(|name| format!(">{name}")).collect();
    headers.push(">mean score".into());
    let mut table = table::Columns::new(&headers.iter().map(String::as_str).collect::<Vec<_>>());
    for (values, &mean) in found.points().into_iter().zip(&found.means) {
        let values = found.columns.iter().zip(values).map(|(&column, x)| feature_value(columns, column, x));
        table.row(values.chain([table::six(mean)]));
    }
    let documents = output::count(found.documents, "document", "documents");
    format!("{}\nmeans over {documents}\n", table.render())
}
