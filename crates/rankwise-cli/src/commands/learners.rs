use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::learners::{Entry, LEARNERS, find};
use serde_json::{Value, json};

/// List the learners, or one with its parameters.
#[derive(Args)]
#[command(after_help = "Examples:\n  rankwise learners\n  rankwise learners coordinate-ascent\n  \
    rankwise learners --json | jq '.[].name'")]
pub(crate) struct Learners {
    /// A learner's name
    name: Option<String>,

    /// For machines
    #[arg(long)]
    json: bool,
}

impl Learners {
    pub(crate) fn run(self) -> Result<()> {
        let chosen = self.name.as_deref().map(find).transpose()?;
        match (chosen, self.json) {
            (Some(entry), true) => output::print_json(&as_json(entry)),
            (None, true) => output::print_json(&LEARNERS.iter().map(as_json).collect()),
            (Some(entry), false) => output::print(&describe(entry)),
            (None, false) => output::print(&list()),
        }
    }
}

fn as_json(entry: &Entry) -> Value {
    json!({
        "name": entry.card.name,
        "title": entry.card.title,
        "summary": entry.card.summary,
        "citations": entry.card.citations,
        "parameters": entry.parameters(),
        "scorers": if entry.has_trees() { vec!["linear", "trees"] } else { vec![] },
    })
}

fn list() -> String {
    let mut table = table::Columns::new(&["learner", "what it does"]);
    for entry in LEARNERS {
        table.row([entry.card.name, entry.card.summary]);
    }
    format!("{}\nrankwise learners NAME tells its parameters.\n", table.render())
}

fn describe(entry: &Entry) -> String {
    let card = &entry.card;
    let mut table = table::Columns::new(&["parameter", ">default", "meaning"]);
    for p in entry.parameters() {
        table.row([p.name, p.default.to_string(), p.meaning]);
    }
    let scorer = if entry.has_trees() {
        let text = "With `--scorer trees`, trees learn this loss in place of a linear model; those parameters that \
                    are about the search for the linear model then give way to those of `mart`.";
        format!("{}\n", table::wrap(text))
    } else {
        String::new()
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
