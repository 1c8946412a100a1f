use crate::output;
use crate::progress::SessionCount;
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::clicks::LogWriter;
use rankwise::clicks::metarank::{MetarankOptions, read_events};
use std::path::PathBuf;

/// Import the events of Metarank, rankings and interactions, as a log.
#[derive(Args)]
#[command(
    after_help = "Events are JSON lines. A ranking becomes a session, with the interactions that name it as clicks.\n\n\
    Examples:\n  rankwise clicks import events.jsonl.gz -o log.jsonl\n  \
    rankwise clicks import events.jsonl --query-field search --types click,purchase \\\n      -o log.jsonl.zst"
)]
pub(crate) struct Import {
    /// The events: JSON lines, plain, .gz or .zst
    events: PathBuf,

    /// The log to write; .gz and .zst compress it, and - is standard output
    #[arg(short, long, value_name = "LOG")]
    output: PathBuf,

    /// The field of a ranking that holds the query
    #[arg(long, default_value = "query", value_name = "NAME")]
    query_field: String,

    /// The types of interactions that count as clicks, separated by commas
    #[arg(long, default_value = "click", value_delimiter = ',', value_name = "TYPE,…")]
    types: Vec<String>,

    /// How many rankings wait for interactions; those that come later are left out
    #[arg(long, default_value_t = MetarankOptions::default().open_rankings, value_name = "N")]
    open_rankings: usize,
}

impl Import {
    pub(crate) fn run(self) -> Result<()> {
        output::prepare_to_write(&self.output, &[("the events", &self.events)])?;
        let options = MetarankOptions {
            query_field: self.query_field,
            types: self.types,
            open_rankings: self.open_rankings,
        };
        let mut log = LogWriter::create(&self.output)?;
        let mut bar = SessionCount::new();
        let report = read_events(&self.events, &options, |session| {
            bar.add();
            log.put(&session)
        })?;
        drop(bar);
        output::notes(&report.notes());
        ensure!(report.sessions > 0, "{} has no rankings that can be used", self.events.display());
        log.commit()?;
        output::note(format!(
            "{}, {}",
            output::count(report.sessions as usize, "session", "sessions"),
            output::count(report.clicks as usize, "click", "clicks")
        ));
        Ok(())
    }
}
