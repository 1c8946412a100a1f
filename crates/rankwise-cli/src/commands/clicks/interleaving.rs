use crate::click_log::LogArgs;
use crate::{output, table};
use anyhow::Result;
use clap::Args;
use rankwise::clicks::interleave::{InterleavingResult, InterleavingTallies};
use serde_json::json;

/// Compare rankers by the clicks on interleaved lists: credit, wins, sign test, interval.
#[derive(Args)]
#[command(
    after_help = "Interleaved sessions name their rankers and the first one's share of each document's credit:\n\
    {…, \"interleaved\": {\"rankers\": [\"prod\", \"next\"], \"credit\": [1, 0, 0]}}\n\
    The ranker with more credit for the clicks of a session wins it. p is that of the sign test, exact and two-sided, and the \
    interval is Wilson's, of wins among sessions that are no ties.\n\n\
    Examples:\n  rankwise clicks interleaving log.jsonl\n  \
    rankwise clicks interleaving log.jsonl --confidence 0.99 --json"
)]
pub(crate) struct InterleavingCommand {
    #[command(flatten)]
    log: LogArgs,

    /// Level of the interval
    #[arg(long, default_value_t = 0.95, value_name = "X")]
    confidence: f64,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl InterleavingCommand {
    pub(crate) fn run(self) -> Result<()> {
        let mut tallies = InterleavingTallies::default();
        let report = self.log.each(|session| tallies.add(session))?;
        let results = tallies.results(self.confidence)?;
        let others = tallies.not_interleaved();
        if others > 0 {
            let sessions = output::count(others as usize, "session is", "sessions are");
            output::note(format!("{sessions} not interleaved; left out"));
        }
        if self.json {
            return output::print_json(&json!({
                "confidence": self.confidence,
                "results": results,
                "not_interleaved": others,
                "log": report,
            }));
        }
        let texts: Vec<String> = results.iter().map(|result| self.as_text(result)).collect();
        output::print(&texts.join("\n"))
    }

    fn as_text(&self, result: &InterleavingResult) -> String {
        let mut lines = table::Columns::new(&["ranker", ">wins", ">wins without ties", ">credit"]);
        let [first, second] = &result.rankers;
        for (place, name, rate) in [(0, first, result.win_rate), (1, second, 1.0 - result.win_rate)] {
            let wins = output::thousands(result.wins[place] as usize);
            lines.row([
                name,
                &wins,
                &crate::click_log::percent(rate),
                &format!("{:.1}", result.credit[place]),
            ]);
        }
        format!("{}{}", lines.render(), table::wrap(&self.conclusion(result)))
    }

    fn conclusion(&self, result: &InterleavingResult) -> String {
        let [low, high] = [result.interval.low, result.interval.high].map(crate::click_log::percent);
        let [first, second] = &result.rankers;
        let verdict = match result.p < 1.0 - self.confidence {
            true if result.win_rate > 0.5 => format!("{first} is better"),
            true => format!("{second} is better"),
            false => "no difference is shown".to_owned(),
        };
        format!(
            "{}, {}. {first} wins {low} to {high} ({} % CI), p {}: {verdict}.\n",
            output::count((result.sessions) as usize, "session", "sessions"),
            output::count(result.ties as usize, "tie", "ties"),
            (1e4 * self.confidence).round() / 100.0,
            table::p_value(result.p)
        )
    }
}
