use super::JudgmentArgs;
use crate::{output, table};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::data::Format;
use rankwise::labels::{DawidSkene, DawidSkeneOptions, JudgeErrors, MergeRule, Merged};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Merge the grades of several judges into one label per document.
#[derive(Args)]
#[command(
    after_help = "OUT is TREC qrels, or a table with the support of each label if it ends in .csv or .tsv.\n\n\
    majority takes the grade that most judges gave, and the lowest of several such grades. median takes the lower of two \
    grades in the middle. dawid-skene estimates how often each judge errs, and takes the most probable grade.\n\n\
    Examples:\n  rankwise labels merge judgments.csv --by majority -o qrels.txt\n  \
    rankwise labels merge a.csv b.csv --by dawid-skene -o labels.csv\n  \
    rankwise labels merge judgments.csv --by mean --round -o qrels.txt"
)]
pub(crate) struct Merge {
    #[command(flatten)]
    judgments: JudgmentArgs,

    /// How to merge: majority, median, mean or dawid-skene
    #[arg(long, default_value = "majority", value_name = "RULE", value_parser = MergeRule::named)]
    by: MergeRule,

    /// The file to write; - is standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Round labels to whole numbers, which qrels need; for mean
    #[arg(long)]
    round: bool,

    /// Of dawid-skene: the largest number of iterations
    #[arg(long, default_value_t = DawidSkeneOptions::default().iterations, value_name = "N")]
    iterations: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Merge {
    pub(crate) fn run(self) -> Result<()> {
        let to_stdout = self.output == Path::new("-");
        ensure!(!(to_stdout && self.json), "the labels and --json cannot both go to standard output");
        Format::check_text_name(&self.output)?;
        output::prepare_to_write(&self.output, &self.judgments.paths())?;
        let judgments = self.judgments.read()?;
        ensure!(!judgments.all().is_empty(), "there are no judgments to merge");
        let model = (self.by == MergeRule::DawidSkene).then(|| {
            let options = DawidSkeneOptions { iterations: self.iterations, ..DawidSkeneOptions::default() };
            DawidSkene::fit(&judgments, &options)
        });
        let merged = match &model {
            Some(model) => model.merged.clone(),
            None => judgments.merge(self.by),
        };
        let merged = if self.round { merged.rounded() } else { merged };
        self.write(&merged)?;
        note_ties(&merged);
        if let Some(model) = model.as_ref().filter(|model| !model.converged) {
            output::note(format!(
                "the model has not converged after {}; more --iterations may change labels",
                output::count(model.log_likelihood.len() - 1, "iteration", "iterations")
            ));
        }
        if to_stdout {
            return Ok(());
        }
        match self.json {
            true => output::print_json(&as_json(&merged, model.as_ref())?),
            false => output::print(&self.as_text(&merged, model.as_ref())),
        }
    }

    fn write(&self, merged: &Merged) -> Result<()> {
        match Format::of_path(&self.output) {
            Format::Csv | Format::Tsv => merged.write(&self.output)?,
            Format::Letor | Format::Parquet => merged.qrels()?.write(&self.output)?,
        }
        Ok(())
    }

    fn as_text(&self, merged: &Merged, model: Option<&DawidSkene>) -> String {
        let documents = output::count(merged.labels.len(), "document", "documents");
        let mut text = format!("{}: labels of {documents}\n", self.output.display());
        if let Some(model) = model {
            text += &format!("\n{}\n{}", convergence(model), errors(model));
        }
        text
    }
}

fn note_ties(merged: &Merged) {
    if merged.rule == MergeRule::Majority && merged.tied > 0 {
        let documents = output::count(merged.tied, "document has", "documents have");
        output::note(format!(
            "{documents} several grades that most judges gave; the lowest of these is the label"
        ));
    }
}

/// The log-likelihood at the start, after 1, 2, 4, 8 … iterations and at the end.
fn convergence(model: &DawidSkene) -> String {
    let last = model.log_likelihood.len() - 1;
    let mut table = table::Columns::new(&[">iteration", ">log-likelihood", ">increase"]);
    for (iteration, value) in model.log_likelihood.iter().enumerate() {
        if iteration < 2 || iteration.is_power_of_two() || iteration == last {
            let before = iteration.checked_sub(1).map(|before| model.log_likelihood[before]);
            let increase = before.map_or(String::new(), |before| format!("{:.2e}", value - before));
            table.row([iteration.to_string(), format!("{value:.6}"), increase]);
        }
    }
    let end = if model.converged { "converged" } else { "not converged" };
    format!("{}{end} after {}\n", table.render(), output::count(last, "iteration", "iterations"))
}

/// With more grades, tables of all of them are too wide.
const TABLE_GRADES: usize = 5;

/// How many of the grades that a judge gives instead of a true one are shown.
const SHOWN_GIVEN: usize = 3;

/// How each judge errs: the probability of each grade for each true grade.
fn errors(model: &DawidSkene) -> String {
    if model.grades.len() > TABLE_GRADES {
        return most_given(model);
    }
    let grades: Vec<String> = model.grades.iter().map(|grade| format!(">gives {grade}")).collect();
    let mut header = vec!["judge", ">accuracy", ">true grade"];
    header.extend(grades.iter().map(String::as_str));
    let mut table = table::Columns::new(&header).close();
    for JudgeErrors { judge, given, accuracy } in &model.judges {
        for (number, (grade, given)) in model.grades.iter().zip(given).enumerate() {
            let (judge, accuracy) = match number {
                0 => (judge.clone(), format!("{accuracy:.3}")),
                _ => Default::default(),
            };
            let mut cells = vec![judge, accuracy, grade.to_string()];
            cells.extend(given.iter().map(|p| format!("{p:.3}")));
            table.row(cells);
        }
    }
    table.render()
}

/// How each judge errs, with many grades: those that the judge gives most often for each true grade, one block per judge.
fn most_given(model: &DawidSkene) -> String {
    let mut text = String::new();
    for JudgeErrors { judge, given, accuracy } in &model.judges {
        let mut table = table::Columns::new(&[">true grade", "gives"]).close();
        for (grade, given) in model.grades.iter().zip(given) {
            let mut most: Vec<(&f64, &f64)> = model.grades.iter().zip(given).collect();
            most.sort_by(|a, b| b.1.total_cmp(a.1));
            let most = most.iter().take(SHOWN_GIVEN).map(|(grade, p)| format!("{grade} ({p:.3})"));
            table.row([grade.to_string(), most.collect::<Vec<_>>().join(", ")]);
        }
        text +=
            &format!("{}\n{}\n", table::wrap(&format!("{judge}: accuracy {accuracy:.3}")), table.render());
    }
    format!("{text}The grades given most often for each true grade; --json has all.\n")
}

fn as_json(merged: &Merged, model: Option<&DawidSkene>) -> Result<Value> {
    let mut value = json!({ "rule": merged.rule, "documents": merged.labels.len(), "tied": merged.tied });
    if let Some(model) = model {
        value["grades"] = json!(model.grades);
        value["frequencies"] = json!(model.frequencies);
        value["judges"] = serde_json::to_value(&model.judges)?;
        value["log_likelihood"] = json!(model.log_likelihood);
        value["converged"] = json!(model.converged);
    }
    Ok(value)
}
