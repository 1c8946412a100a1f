use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::learners::{Entry, LEARNERS, Parameter, find};
use serde_json::{Value, json};

/// List the learners, or one with its parameters.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  rankwise learners\n  rankwise learners coordinate-ascent\n  rankwise learners svm-map --scorer mlp\n  \
    rankwise learners --json | jq '.[].name'"
)]
pub(crate) struct Learners {
    /// A learner's name
    name: Option<String>,

    /// Tell the parameters it has with this scorer: linear, trees or mlp
    #[arg(long, value_name = "KIND", requires = "name")]
    scorer: Option<String>,

    /// For machines
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
        let parameters = match &self.scorer {
            Some(scorer) => entry.parameters_with(scorer)?,
            None => entry.parameters(),
        };
        match self.json {
            true => output::print_json(&as_json(entry, parameters)),
            false => output::print(&describe(entry, parameters)),
        }
    }
}

fn as_json(entry: &Entry, parameters: Vec<Parameter>) -> Value {
    json!({
        "name": entry.card.name,
        "title": entry.card.title,
        "summary": entry.card.summary,
        "citations": entry.card.citations,
        "parameters": parameters,
        "scorers": entry.scorers(),
    })
}

fn list() -> String {
    let mut table = table::Columns::new(&["learner", "what it does"]);
    for entry in LEARNERS {
        table.row([entry.card.name, entry.card.summary]);
    }
    format!("{}\nrankwise learners NAME tells its parameters.\n", table.render())
}

fn describe(entry: &Entry, parameters: Vec<Parameter>) -> String {
    let card = &entry.card;
    let mut table = table::Columns::new(&["parameter", ">default", "meaning"]);
    for p in parameters {
        table.row([p.name, p.default.to_string(), p.meaning]);
    }
    let scorer = if entry.scorers().is_empty() {
        String::new()
    } else {
        let text = format!(
            "With `--scorer trees` or `--scorer mlp`, trees or a network learn this loss in place of a linear model; \
             those parameters that are about the search for the linear model then give way to others: `rankwise \
             learners {} --scorer mlp` tells them.",
            card.name
        );
        format!("{}\n", table::wrap(&text))
    };
    format!(
        "{} ({})\n{}\nFrom: {}\n\n{}\nSet one with `rankwise train {} --set name=value`.\n{scorer}",
        card.title,
        card.name,
        table::wrap(card.summary),
        card.citations.join(", "),
        table.render(),
        card.name
    )
}
