use anyhow::Result;
use clap::builder::{PossibleValuesParser, Resettable};
use clap::{Args, Command};
use clap_complete::Shell;
use rankwise::card::Card;
use rankwise::clicks::models::ClickModelKind;
use rankwise::clicks::preferences::PreferenceRule;
use rankwise::data::{CLEANING, NORMALIZERS, SHAPES};
use rankwise::experiment::study::STUDIES;
use rankwise::learners::{LEARNERS, ScorerKind};
use rankwise::metrics::{METRICS, PRESETS};
use rankwise::models::interchange::Format;

/// Print shell completions.
#[derive(Args)]
#[command(
    after_help = "Commands, options, and the names of learners, metrics, presets, scorers and formats are completed.\n\n\
    Examples:\n  rankwise completions bash \\\n      > ~/.local/share/bash-completion/completions/rankwise\n  \
    rankwise completions zsh > ~/.zfunc/_rankwise"
)]
pub(crate) struct Completions {
    /// The shell to complete for
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<()> {
        let mut script = Vec::new();
        let mut command = with_names(crate::command_line());
        clap_complete::generate(self.shell, &mut command, "rankwise", &mut script);
        crate::output::print(&String::from_utf8(script)?)
    }
}

/// The command line with the names that its arguments accept. Only completions use it: the library reports unknown
/// names better, and lists of cuts and options are accepted besides the names.
fn with_names(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let command = command.mut_args(|argument| match names(&name, argument.get_id().as_str()) {
        // A default such as `ndcg@10` is not one of the names.
        Some(names) => {
            argument.default_value(Resettable::Reset).value_parser(PossibleValuesParser::new(names))
        }
        None => argument,
    });
    command.mut_subcommands(with_names)
}

/// The names that an argument of a command accepts, if they are in a list of the library.
fn names(command: &str, argument: &str) -> Option<Vec<&'static str>> {
    fn of<T>(entries: &'static [T], card: impl Fn(&'static T) -> &'static Card) -> Vec<&'static str> {
        entries.iter().map(|entry| card(entry).name).collect()
    }
    Some(match (command, argument) {
        ("learners", "name") | (_, "learner" | "learners") => of(LEARNERS, |entry| &entry.card),
        ("fit", "model") => ClickModelKind::ALL.map(ClickModelKind::name).to_vec(),
        ("preferences", "rule") => PreferenceRule::ALL.map(PreferenceRule::name).to_vec(),
        ("merge", "by") => vec!["majority", "median", "mean", "dawid-skene"],
        ("evaluate", "metric") => vec!["dcg@10", "p@10", "reciprocal"],
        ("metrics", "name") | (_, "metric" | "metrics") => of(METRICS, |entry| &entry.card),
        ("study", "name") => of(STUDIES, |entry| &entry.card),
        ("export" | "verify-export", "format") => Format::ALL.map(Format::name).to_vec(),
        ("train" | "tune" | "prepare", "normalize") => of(NORMALIZERS, |card| card),
        (_, "preset") => of(PRESETS, |entry| &entry.card),
        (_, "scorer") => ScorerKind::ALL.map(ScorerKind::name).to_vec(),
        (_, "clean") => of(CLEANING, |card| card),
        (_, "shape") => of(SHAPES, |entry| &entry.card),
        _ => return None,
    })
}
