use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::learners::{LEARNERS, LearnerEntry, Parameter, ScorerKind, find};
use serde_json::{Value, json};

/// List the learners, or show one with its parameters.
#[derive(Args)]
#[command(after_help = "Examples:\n  rankwise learners\n  rankwise learners lambda-mart\n  \
    rankwise learners svm-map --scorer network\n  rankwise learners --json | jq '.[].name'")]
pub(crate) struct Learners {
    /// A learner's name
    name: Option<String>,

    /// Show the parameters that it has with this scorer: linear, trees or network
    #[arg(long, value_name = "SCORER", requires = "name")]
    scorer: Option<String>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Learners {
    pub(crate) fn run(self) -> Result<()> {
        let Some(name) = &self.name else {
            return match self.json {
                true => output::print_json(
                    &LEARNERS.iter().map(|entry| as_json(entry, entry.parameters())).collect(),
                ),
                false => output::print(&list()),
            };
        };
        let entry = find(name)?;
        let scorer = self.scorer.as_deref().map(ScorerKind::named).transpose()?;
        let parameters = match scorer {
            Some(scorer) => entry.parameters_with(scorer.name())?,
            None => entry.parameters(),
        };
        match self.json {
            true => output::print_json(&as_json(entry, parameters)),
            false => output::print(&describe(entry, scorer, parameters)),
        }
    }
}

fn as_json(entry: &LearnerEntry, parameters: Vec<Parameter>) -> Value {
    let scorers: Vec<&str> = entry.scorers().into_iter().map(ScorerKind::name).collect();
    json!({
        "name": entry.card.name,
        "title": entry.card.title,
        "summary": entry.card.summary,
        "citations": entry.card.citations,
        "scorers": scorers,
        "parameters": parameters,
    })
}

fn list() -> String {
    let mut table = table::Columns::new(&["learner", "what it does"]);
    for entry in LEARNERS {
        table.row([entry.card.name, entry.card.summary]);
    }
    format!("{}\n`rankwise learners NAME` shows the parameters of one.\n", table.render())
}

fn describe(entry: &LearnerEntry, scorer: Option<ScorerKind>, parameters: Vec<Parameter>) -> String {
    let card = &entry.card;
    let mut text = format!("{} ({})\n{}\n", card.title, card.name, table::wrap(card.summary));
    if !card.citations.is_empty() {
        text.push_str(&format!("Source: {}\n", table::citations(card.citations)));
    }
    let (of_scorer, own): (Vec<Parameter>, Vec<Parameter>) =
        parameters.into_iter().partition(|p| p.of_scorer);
    let used = scorer.or(entry.scorers().first().copied());
    if !own.is_empty() {
        let of_loss = if used.is_some() { "Parameters of the loss" } else { "Parameters" };
        text.push_str(&format!("\n{of_loss}\n{}", parameter_table(own)));
    }
    if let Some(used) = used {
        text.push_str(&format!(
            "\nParameters of the scorer `{}`\n{}",
            used.name(),
            parameter_table(of_scorer)
        ));
        let others: Vec<String> = entry
            .scorers()
            .into_iter()
            .filter(|kind| *kind != used)
            .map(|kind| format!("`{}`", kind.name()))
            .collect();
        let others = format!(
            "Other scorers: {}. `rankwise learners {} --scorer NAME` shows their parameters.",
            others.join(", "),
            card.name
        );
        text.push_str(&format!("\n{}", table::wrap(&others)));
    }
    let set = format!(
        "Set a parameter with `rankwise train {} --set NAME=VALUE`. The names of LightGBM, XGBoost, CatBoost and RankLib \
         are accepted too (`--json` lists them).",
        card.name
    );
    format!("{text}\n{}\n", table::wrap(&set))
}

fn parameter_table(parameters: Vec<Parameter>) -> String {
    let mut table = table::Columns::new(&["parameter", ">default", "meaning"]);
    for p in parameters {
        table.row([p.name, p.default.to_string(), p.meaning]);
    }
    table.render()
}
