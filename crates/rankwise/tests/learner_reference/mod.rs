//! The text of `docs/learners.md`: every learner and scorer with its parameters, from the list of learners.

use rankwise::learners::{
    LEARNERS, LearnerEntry, LinearParameters, NetworkParameters, Parameter, Scorer, ScorerKind,
    TreesParameters,
};

const INTRODUCTION: &str = "\
# Learners

<!-- Generated from the list of learners. To renew it: RANKWISE_UPDATE_DOCS=1 cargo test -p rankwise --test docs -->

Every learner with its parameters. `rankwise learners NAME` shows the same in a terminal. [methods.md](methods.md) explains what each is good for.

A learner is a loss, which any of three [scorers](#scorers) can minimise, or a method with a model of its own kind. Choose a scorer with `--scorer`, and set
parameters with `--set NAME=VALUE`; in Rust, with `Recipe::scorer` and `Recipe::set`. Parameters have the same names in experiment files. The names in the last
column of a table are accepted too: they are those of LightGBM, XGBoost, CatBoost and RankLib, and our earlier ones.
";

const SCORERS: &str = "\
## Scorers
Where a learner has other defaults than these, its section shows them.
";

/// The whole document.
pub(crate) fn text() -> String {
    let mut text = format!("{INTRODUCTION}\n| learner | title | scorer |\n|---|---|---|\n");
    for entry in LEARNERS {
        let (name, title) = (entry.card.name, entry.card.title);
        text += &format!("| [`{name}`](#{name}) | {title} | {} |\n", default_scorer(entry));
    }
    text += &format!("\n{SCORERS}");
    ScorerKind::ALL.into_iter().for_each(|kind| text += &scorer_section(kind));
    text += "\n## Learners in detail\n";
    let sections: Vec<String> = LEARNERS.iter().map(learner_section).collect();
    text + &sections.join("\n")
}

fn default_scorer(entry: &LearnerEntry) -> String {
    match entry.scorers().first() {
        Some(kind) => format!("[`{0}`](#{0})", kind.name()),
        None => "its own".into(),
    }
}

fn scorer_section(kind: ScorerKind) -> String {
    let what = match kind {
        ScorerKind::Linear => {
            "A weighted sum of features. A loss may have an optimiser of its own, with other parameters."
        }
        ScorerKind::Trees => "Boosted regression trees.",
        ScorerKind::Network => "A neural network with one score as its output.",
    };
    format!("### {}\n{what}\n\n{}\n", kind.name(), table(&common_parameters(kind)))
}

/// The parameters of a scorer with its own defaults, whatever the loss.
fn common_parameters(kind: ScorerKind) -> Vec<Parameter> {
    let defaults = match kind {
        ScorerKind::Linear => Scorer::Linear(LinearParameters::default()),
        ScorerKind::Trees => Scorer::Trees(TreesParameters::default()),
        ScorerKind::Network => Scorer::Network(NetworkParameters::default()),
    };
    let defaults = defaults.parameters();
    // Meanings and other names stand with the learners; any one that has exactly these parameters will do.
    let mut candidates = LEARNERS.iter().filter_map(|entry| of_scorer(entry, kind));
    let described = candidates.find(|found| found.iter().map(|p| &p.name).eq(defaults.keys()));
    let mut described = described.expect("a learner with the scorer's usual parameters");
    described.iter_mut().for_each(|p| p.default = defaults[&p.name].clone());
    described
}

/// The parameters of a learner's scorer; none for a method of its own.
fn of_scorer(entry: &LearnerEntry, kind: ScorerKind) -> Option<Vec<Parameter>> {
    let all = entry.parameters_with(kind.name()).ok()?;
    Some(all.into_iter().filter(|p| p.of_scorer).collect())
}

fn learner_section(entry: &LearnerEntry) -> String {
    let card = &entry.card;
    let source = if card.citations.is_empty() { String::new() } else { format!(" ({})", card.cited()) };
    let mut text = format!("### {}\n**{}**{source}. {}\n", card.name, card.title, card.summary);
    let own: Vec<Parameter> = entry.parameters().into_iter().filter(|p| !p.of_scorer).collect();
    let scorers = entry.scorers();
    let [default, others @ ..] = &scorers[..] else { return text + &method(own) };
    if !own.is_empty() {
        text += &format!("\n{}", table(&own));
    }
    text += &format!("\nScorer: {} by default, or {}.", scorer_links(&[*default]), scorer_links(others));
    let notes: Vec<String> = scorers.iter().map(|kind| scorer_notes(entry, *kind, &own)).collect();
    text + notes.concat().trim_end() + "\n"
}

/// The parameters of a method of its own. Those that it has in common with a scorer are only named.
fn method(mut own: Vec<Parameter>) -> String {
    let mut notes = String::new();
    for kind in ScorerKind::ALL {
        let usual = common_parameters(kind);
        let of_scorer = |p: &Parameter| usual.iter().find(|u| u.name == p.name && u.meaning == p.meaning);
        let shared: Vec<Parameter> = own.iter().filter(|p| of_scorer(p).is_some()).cloned().collect();
        if shared.len() < 3 {
            continue;
        }
        own.retain(|p| of_scorer(p).is_none());
        let shared = shared.iter().map(|p| match of_scorer(p) {
            Some(usual) if usual.default == p.default => format!("`{}`", p.name),
            _ => format!("`{} = {}`", p.name, p.default),
        });
        let shared = shared.collect::<Vec<_>>().join(", ");
        notes += &format!("\nParameters as of the scorer [`{0}`](#{0}): {shared}.\n", kind.name());
    }
    let own = if own.is_empty() { String::new() } else { format!("\n{}", table(&own)) };
    own + &notes + "\nIt has a model of its own kind, and no scorers.\n"
}

/// Links to the scorers, of which the first is the default.
fn scorer_links(scorers: &[ScorerKind]) -> String {
    let linked: Vec<String> = scorers.iter().map(|kind| format!("[`{0}`](#{0})", kind.name())).collect();
    linked.join(", ")
}

/// How a learner's scorer and its own parameters with that scorer differ from what the tables show.
fn scorer_notes(entry: &LearnerEntry, kind: ScorerKind, own: &[Parameter]) -> String {
    let all = entry.parameters_with(kind.name()).expect("one of its scorers");
    let usual = common_parameters(kind);
    let shown: Vec<&Parameter> = own.iter().chain(&usual).collect();
    let is_shown = |p: &&Parameter| shown.iter().any(|s| s.name == p.name && s.of_scorer == p.of_scorer);
    let (known, extra): (Vec<&Parameter>, Vec<&Parameter>) = all.iter().partition(is_shown);
    let changed = known.iter().filter(|p| shown.iter().all(|s| s.name != p.name || s.default != p.default));
    let changed: Vec<String> = changed.map(|p| format!("`{} = {}`", p.name, p.default)).collect();
    let absent = usual.iter().filter(|u| all.iter().all(|p| p.name != u.name));
    let absent: Vec<String> = absent.map(|p| format!("`{}`", p.name)).collect();
    let mut text = String::new();
    if !changed.is_empty() {
        text += &format!("\nWith `{}`, the defaults are {}.", kind.name(), changed.join(", "));
    }
    let has_its_own = absent.len() == usual.len();
    if !absent.is_empty() && !has_its_own {
        text += &format!("\nWith `{}`, it does not have {}.", kind.name(), absent.join(", "));
    }
    if !extra.is_empty() {
        let extra: Vec<Parameter> = extra.into_iter().cloned().collect();
        let has = if has_its_own { "its parameters are" } else { "it also has" };
        text += &format!("\nWith `{}`, {has}:\n\n{}", kind.name(), table(&extra));
    }
    text
}

fn table(parameters: &[Parameter]) -> String {
    let cell = |text: &str| text.replace('|', "\\|");
    let mut text = "| parameter | default | meaning | also accepted |\n|---|---|---|---|\n".to_owned();
    for p in parameters {
        let aliases: Vec<String> = p.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        let (default, meaning) = (cell(&p.default.to_string()), cell(&p.meaning));
        text += &format!("| `{}` | `{default}` | {meaning} | {} |\n", p.name, aliases.join(" "));
    }
    text
}
