use crate::click_log::LogArgs;
use crate::output;
use anyhow::Result;
use clap::Args;
use rankwise::clicks::preferences::{PreferenceRule, Preferences, contradictions, write_preferences};
use rankwise::data::Format;
use std::path::{Path, PathBuf};

/// Turn clicks into preferences between documents of a query.
#[derive(Args)]
#[command(
    after_help = "OUT is CSV; TSV if it ends in .tsv, JSON lines if it ends in .jsonl. Its columns are query, better, worse and \
    the number of sessions.\n\n\
    The rules: a clicked document is better than …\n  \
    skip-above     each one above it that was not clicked\n  \
    last-click     the same, for the document clicked last only\n  \
    earlier-click  each one that was clicked before it\n  \
    skip-previous  the one just above it, if that was not clicked\n  \
    no-click-next  the one just below it, if that was not clicked\n\n\
    Examples:\n  rankwise clicks preferences log.jsonl -o pairs.csv\n  \
    rankwise clicks preferences log.jsonl --rule last-click -o pairs.jsonl"
)]
pub(crate) struct PreferencesCommand {
    #[command(flatten)]
    log: LogArgs,

    /// When one document is preferred to another
    #[arg(long, default_value = "skip-above", value_name = "RULE")]
    rule: String,

    /// The file to write. Default: standard output
    #[arg(short, long, default_value = "-", hide_default_value = true, value_name = "OUT")]
    output: PathBuf,
}

impl PreferencesCommand {
    pub(crate) fn run(self) -> Result<()> {
        let rule = PreferenceRule::named(&self.rule)?;
        Format::check_text_name(&self.output)?;
        output::prepare_to_write(&self.output, &self.log.read())?;
        let mut preferences = Preferences::new(rule);
        self.log.each(|session| preferences.add(session))?;
        let found = preferences.sorted();
        write_preferences(&self.output, &found)?;
        let both = contradictions(&found);
        if both > 0 {
            let pairs = output::count(both, "pair is", "pairs are");
            output::note(format!("{pairs} preferred both ways, in different sessions"));
        }
        match self.output == Path::new("-") {
            true => Ok(()),
            false => output::print(&format!(
                "{}: {}\n",
                self.output.display(),
                output::count(found.len(), "preference", "preferences")
            )),
        }
    }
}
