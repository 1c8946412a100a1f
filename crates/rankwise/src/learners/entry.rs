//! A learner in the list: its card, its parameters as data, and a way to run it.

use super::boosting::digest;
use super::by_loss::{ByLoss, ByScorer, LINEAR, SCORER};
use super::margin::{self, LargeMargin};
use super::{Fitted, LEARNERS, Learner, Task};
use crate::card::{self, Card};
use crate::error::{Error, Result};
use crate::models::checksum;
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::{Table, Value};

/// A learner in the list. Parameters go in and out as a TOML table, so that one path serves `--set c=10`,
/// experiment files and model files.
pub struct Entry {
    /// Name, title, meaning and source.
    pub card: Card,
    parameters: fn() -> Vec<Parameter>,
    complete: fn(&Table) -> Result<Table>,
    fit: fn(&Table, &Task<'_>, &mut dyn Watch) -> Result<Fitted>,
    path: Option<FitPath>,
    /// Where it is a loss of scores: what else can lower it.
    others: Option<[ByScorer; 2]>,
    continues: bool,
}

type FitPath = fn(&Table, &[f64], &Task<'_>, &mut dyn Watch) -> Result<Path>;

/// The models of a large-margin learner for several C, one after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The mean loss of `w = 0`.
    pub loss_of_zero: f64,
    /// One model for each C; fewer, the last one interrupted, if it was asked to stop.
    pub fits: Vec<Fitted>,
}

/// One parameter of a learner, for help and tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parameter {
    /// As typed in `--set name=value`.
    pub name: String,
    /// Its value when nothing is said.
    pub default: Value,
    /// Meaning and range.
    pub meaning: String,
}

impl Entry {
    /// The entry of learner `L`.
    pub const fn of<L: Learner>() -> Entry {
        Entry {
            card: L::CARD,
            parameters: parameters_of::<L>,
            complete: complete::<L>,
            fit: fit::<L>,
            path: None,
            others: None,
            continues: L::CONTINUES,
        }
    }

    /// The entry of learner `L`, whose loss trees and networks can learn as well.
    pub const fn of_loss<L: ByLoss>() -> Entry {
        Entry { others: Some(ByScorer::all::<L>()), ..Entry::of::<L>() }
    }

    /// The entry of large-margin learner `L`, which can be followed along its C.
    pub const fn of_margin<L: LargeMargin>() -> Entry
    where
        L::Loss: 'static,
    {
        Entry { path: Some(path::<L>), ..Entry::of_loss::<L>() }
    }

    /// Its parameters, in the order of its struct.
    pub fn parameters(&self) -> Vec<Parameter> {
        (self.parameters)()
    }

    /// The parameters it has with a scorer, those of the loss first.
    pub fn parameters_with(&self, scorer: &str) -> Result<Vec<Parameter>> {
        let given = Table::from_iter([(SCORER.to_string(), scorer.into())]);
        Ok(self.other(&given)?.map_or_else(|| self.parameters(), |other| (other.parameters)()))
    }

    /// What can be given as the parameter `scorer`: the learner's own first; nothing where it is no loss of scores.
    pub fn scorers(&self) -> Vec<&'static str> {
        let others = self.others.iter().flatten().map(|other| other.name);
        self.others.iter().map(|_| LINEAR).chain(others).collect()
    }

    /// Checks `given` and fills in the defaults of what is not given.
    pub fn complete(&self, given: &Table) -> Result<Table> {
        match self.other(given)? {
            Some(other) => (other.complete)(given),
            None => {
                self.refuse_parameters_of_other_scorers(given)?;
                (self.complete)(&without_scorer(given))
            }
        }
    }

    /// A parameter that only another scorer has was meant for that.
    fn refuse_parameters_of_other_scorers(&self, given: &Table) -> Result<()> {
        let own = self.parameters();
        for name in given.keys().filter(|name| *name != SCORER && own.iter().all(|p| p.name != **name)) {
            let has = |other: &&ByScorer| (other.parameters)().iter().any(|p| p.name == *name);
            if let Some(other) = self.others.iter().flatten().find(has) {
                return Err(Error::parameter(format!(
                    "`{name}` is a parameter of {} with scorer {}, and no scorer is given (scorer = \"{}\", or --scorer {})",
                    self.card.name, other.name, other.name, other.name
                )));
            }
        }
        Ok(())
    }

    /// Learns with the parameters `given`, and defaults for the rest.
    pub fn fit(&self, given: &Table, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        check_task(task)?;
        let other = self.other(given)?;
        let mut start = task.start.clone();
        if start.model.is_some() || start.checkpoint.is_some() {
            if !other.map_or(self.continues, |other| other.continues) {
                let with = other.map_or(String::new(), |other| format!(" with scorer {}", other.name));
                return Err(Error::parameter(format!(
                    "{}{with} cannot start from a model or keep a checkpoint; boosted trees can",
                    self.card.name
                )));
            }
            start.identity = self.identity(given, task)?;
        }
        let task = Task { start, ..*task };
        let mut fitted = match other {
            Some(other) => (other.fit)(given, &task, watch)?,
            None => (self.fit)(&without_scorer(given), &task, watch)?,
        };
        if task.valid.is_some_and(|valid| valid.queries().all(|q| task.metric.is_undefined(q.labels()))) {
            let metric = task.metric.name();
            fitted.record.notes.push(format!(
                "{metric} says nothing of any validation query, so nothing was chosen by them"
            ));
        }
        Ok(fitted)
    }

    /// What is being learned, from what: equal for trainings that end with the same model.
    fn identity(&self, given: &Table, task: &Task<'_>) -> Result<String> {
        let model = task.start.model.map(|m| serde_json::to_vec(m).expect("a model is plain data"));
        Ok([
            self.card.name.to_string(),
            self.complete(given)?.to_string(),
            task.seed.to_string(),
            task.metric.name(),
            format!("{:?}", task.metric.conventions()),
            digest(task.train),
            task.valid.map_or(String::new(), digest),
            model.map_or(String::new(), |bytes| checksum(&bytes)),
        ]
        .join("|"))
    }

    /// What is to learn its loss in place of its own solver, where `given` names it.
    fn other(&self, given: &Table) -> Result<Option<&ByScorer>> {
        let Some(named) = given.get(SCORER) else { return Ok(None) };
        let Some(others) = &self.others else {
            return Err(Error::parameter(format!(
                "{} has a kind of model of its own; scorers are for learners that are a loss of scores",
                self.card.name
            )));
        };
        if named.as_str() == Some(LINEAR) {
            return Ok(None);
        }
        let found = others.iter().find(|other| named.as_str() == Some(other.name));
        found.map(Some).ok_or_else(|| {
            let names: Vec<String> = self.scorers().iter().map(|name| format!("\"{name}\"")).collect();
            Error::parameter(format!("scorer is {named}; it must be one of {}", names.join(", ")))
        })
    }

    /// Refuses what [`path`](Entry::path) cannot follow: a learner without C, or a C out of range.
    pub fn check_path(&self, cs: &[f64]) -> Result<()> {
        if self.path.is_none() {
            let able = LEARNERS.iter().filter(|e| e.path.is_some()).map(|e| e.card.name);
            let (name, able) = (self.card.name, able.collect::<Vec<_>>().join(", "));
            return Err(Error::parameter(format!(
                "{name} cannot be followed along C; learners that can: {able}"
            )));
        }
        cs.iter().try_for_each(|&c| margin::check_above_zero("c", c))
    }

    /// Learns with the parameters `given` and each C of `cs` in turn, each time starting from what the ones before
    /// found. Ascending C are quickest.
    pub fn path(&self, given: &Table, cs: &[f64], task: &Task<'_>, watch: &mut dyn Watch) -> Result<Path> {
        self.check_path(cs)?;
        check_task(task)?;
        let path = self.path.expect("checked just above");
        path(given, cs, task, watch)
    }
}

/// Reads `key=value` as typed after `--set`; a value that is not TOML is taken as a string.
pub fn parse_setting(text: &str) -> Result<(String, Value)> {
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| Error::parameter(format!("`{text}` is not of the form key=value")))?;
    let (key, value) = (key.trim().replace('-', "_"), value.trim());
    let parsed = format!("value = {value}").parse::<Table>().ok().filter(|t| t.len() == 1);
    let value = parsed.and_then(|mut t| t.remove("value")).unwrap_or_else(|| Value::String(value.into()));
    Ok((key, value))
}

fn check_task(task: &Task<'_>) -> Result<()> {
    if task.train.is_empty() {
        return Err(Error::data("there are no training documents"));
    }
    if task.train.width() == 0 {
        return Err(Error::data("the training data has no features"));
    }
    if task.train.queries().all(|q| q.weight() == 0.0) {
        return Err(Error::data("every training query has weight 0"));
    }
    match task.valid {
        Some(valid) if valid.width() > task.train.width() => Err(Error::data(format!(
            "the validation data has {} features, the training data only {}",
            valid.width(),
            task.train.width()
        ))),
        _ => Ok(()),
    }
}

fn fit<L: Learner>(given: &Table, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
    configure::<L>(given)?.fit(task, watch)
}

fn path<L: LargeMargin>(given: &Table, cs: &[f64], task: &Task<'_>, watch: &mut dyn Watch) -> Result<Path> {
    let learner = configure::<L>(given)?;
    let loss_of_zero = margin::loss_of_zero(&learner, task);
    Ok(Path { loss_of_zero, fits: margin::fit_path(&learner, cs, task, watch) })
}

fn complete<L: Learner>(given: &Table) -> Result<Table> {
    Ok(table_of(&configure::<L>(given)?))
}

fn configure<L: Learner>(given: &Table) -> Result<L> {
    let known = table_of(&L::default());
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    if let Some(name) = given.keys().find(|k| !known.contains_key(*k)) {
        return Err(card::unknown(&format!("parameter of {}", L::CARD.name), name, &names));
    }
    let learner: L = complete_from(given, L::CARD.name)?;
    learner.check()?;
    Ok(learner)
}

/// The defaults of `P` with what is given in their place; `owner` is whose parameters they are.
pub(super) fn complete_from<P>(given: &Table, owner: &str) -> Result<P>
where
    P: Default + Serialize + DeserializeOwned,
{
    let mut table = table_of(&P::default());
    table.extend(given.clone());
    Value::Table(table).try_into().map_err(|e: toml::de::Error| {
        let blamed = |name: &&String| {
            let alone = Table::from_iter([((*name).clone(), given[*name].clone())]);
            let mut table = table_of(&P::default());
            table.extend(alone);
            Value::Table(table).try_into::<P>().is_err()
        };
        let name = given.keys().find(blamed).map_or(String::new(), |name| format!(" `{name}`"));
        Error::parameter(format!("parameter{name} of {owner}: {}", e.message()))
    })
}

/// Plain parameters as a table.
pub(super) fn table_of<P: Serialize>(parameters: &P) -> Table {
    Table::try_from(parameters).expect("parameters are a plain table")
}

/// The parameters of the learner itself; `scorer = "linear"` says nothing new.
fn without_scorer(given: &Table) -> Table {
    let mut given = given.clone();
    given.remove(SCORER);
    given
}

/// Names, defaults and doc lines, the latter from the schema that `JsonSchema` derives.
pub(super) fn parameters_of<P: Default + Serialize + JsonSchema>() -> Vec<Parameter> {
    let schema = schemars::schema_for!(P).to_value();
    let meaning = |name: &str| {
        schema["properties"][name]["description"].as_str().unwrap_or_default().replace('\n', " ")
    };
    let defaults = table_of(&P::default());
    defaults.into_iter().map(|(name, default)| Parameter { meaning: meaning(&name), name, default }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_toml_or_strings() {
        assert_eq!(parse_setting("c=10").unwrap(), ("c".into(), Value::Integer(10)));
        assert_eq!(parse_setting("rate = 0.5").unwrap(), ("rate".into(), Value::Float(0.5)));
        assert_eq!(parse_setting("gain=ndcg@10").unwrap(), ("gain".into(), Value::String("ndcg@10".into())));
        assert_eq!(parse_setting("max-passes=true").unwrap(), ("max_passes".into(), Value::Boolean(true)));
        let injected = parse_setting("c=1\nd=2").unwrap();
        assert_eq!(injected, ("c".into(), Value::String("1\nd=2".into())));
        assert!(parse_setting("c").is_err());
    }
}
