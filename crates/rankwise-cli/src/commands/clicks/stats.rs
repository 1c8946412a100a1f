use crate::click_log::{LogArgs, SHOWN_RANKS, more_ranks, percent, summary};
use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::clicks::{ClickCounts, LogStats};

/// Summarise a log: sessions, click-through by rank, how far documents move between ranks.
#[derive(Args)]
#[command(
    after_help = "Propensities can be estimated only between ranks at which the same documents were shown and \
    clicked; the last lines say which ranks these are.\n\n\
    Examples:\n  rankwise clicks stats log.jsonl\n  \
    rankwise clicks stats monday.jsonl.zst tuesday.jsonl.zst --json"
)]
pub(crate) struct Stats {
    #[command(flatten)]
    log: LogArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Stats {
    pub(crate) fn run(self) -> Result<()> {
        let mut counts = ClickCounts::default();
        let report = self.log.each(|session| counts.add(session))?;
        let found = LogStats::new(&counts);
        if self.json {
            let mut value = serde_json::to_value(&found)?;
            value["log"] = serde_json::to_value(&report)?;
            return output::print_json(&value);
        }
        output::print(&format!("{}\n{}\n{}", sizes(&found), by_rank(&found), movement(&found)))
    }
}

fn sizes(found: &LogStats) -> String {
    let thousands = |n: u64| output::thousands(n as usize);
    let rankers: Vec<String> =
        found.rankers.iter().map(|(name, sessions)| format!("{name}: {}", thousands(*sessions))).collect();
    let clicked = found.clicked_sessions as f64 / found.sessions as f64;
    summary([
        ("sessions", thousands(found.sessions)),
        ("  with a click", format!("{} ({})", thousands(found.clicked_sessions), percent(clicked))),
        ("  by ranker", if rankers.is_empty() { "–".into() } else { rankers.join(", ") }),
        ("queries", output::thousands(found.queries)),
        ("documents of queries", output::thousands(found.documents)),
        ("shown", thousands(found.all.shown)),
        ("clicked", format!("{} ({})", thousands(found.all.clicks), percent(found.all.click_through()))),
    ])
}

fn by_rank(found: &LogStats) -> String {
    let mut table =
        table::Columns::new(&[">rank", ">shown", ">clicked", ">click-through", ">moving documents"]);
    for rank in found.ranks.iter().filter(|rank| rank.counts.shown > 0).take(SHOWN_RANKS) {
        let [shown, clicks, moving] =
            [rank.counts.shown, rank.counts.clicks, rank.moving].map(|n| output::thousands(n as usize));
        table.row([rank.rank.to_string(), shown, clicks, table::four(rank.click_through), moving]);
    }
    let ranks = found.ranks.iter().filter(|rank| rank.counts.shown > 0).count();
    format!("{}{}", table.render(), more_ranks(ranks))
}

fn movement(found: &LogStats) -> String {
    let documents = output::count(found.movement.moving as usize, "document was", "documents were");
    let comparable = match found.movement.is_connected() {
        true if found.movement.groups[0].len() == 1 => {
            "Only one rank was shown, so there are no other propensities to estimate.".to_owned()
        }
        true => "Documents connect all ranks, so propensities can be estimated.".to_owned(),
        false => format!(
            "Documents do not move between these groups of ranks: {}. Propensities can be compared within a group only.",
            found.movement
        ),
    };
    table::wrap(&format!("{documents} shown at more than one rank. {comparable}\n"))
}
