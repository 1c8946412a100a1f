//! Which settings to try, and how the best one is found: grids, random draws and successive halving.
//!
//! Experiments and tuning use the same search: the same seed gives the same settings, and settings are compared and
//! dropped in the same way. Only how one setting is tried differs.

use super::journal::TrialResult;
use super::spec::{Search, SearchMethod};
use crate::data::Dataset;
use crate::error::{Error, ErrorKind, Result};
use crate::parallel;
use crate::recipe::{Recipe, Trainer, TrainingTime};
use crate::rng::{self, Random};
use rand::RngExt;
use std::collections::HashSet;
use toml::{Table, Value};

/// The purpose of the seed that a search draws from.
const SEARCH: u64 = 0x7365_6172;

/// The purpose of the random stream that settings are drawn from.
const DRAWS: u64 = 0x6472_6177;

/// One round of a search: how many settings take part, and on what fraction of the training queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rung {
    /// Settings that take part: the best of the round before.
    pub settings: usize,
    /// Fraction of the training queries.
    pub fraction: f64,
}

/// The settings to try for the parameters in `grid`, each a table to lay over the fixed ones. One empty table when
/// there is nothing to vary.
pub fn settings(search: &Search, grid: &Table, seed: u64) -> Result<Vec<Table>> {
    let axes = grid.iter().map(|(name, values)| GridAxis::read(name, values)).collect::<Result<Vec<_>>>()?;
    if axes.is_empty() {
        return Ok(vec![Table::new()]);
    }
    match search.method {
        SearchMethod::Grid => combinations(&axes),
        SearchMethod::Random | SearchMethod::Halving => {
            Ok(draws(&axes, search.draws, rng::derive(seed, &[SEARCH])))
        }
    }
}

/// The rounds of a search over `settings` settings.
pub fn rungs(search: &Search, settings: usize) -> Vec<Rung> {
    if search.method != SearchMethod::Halving || settings < 2 {
        return vec![Rung { settings, fraction: 1.0 }];
    }
    let mut rungs = vec![Rung { settings, fraction: search.first_fraction }];
    while let Some(&Rung { settings, fraction }) = rungs.last()
        && fraction < 1.0
    {
        let keep = settings.div_ceil(search.keep_one_in);
        rungs.push(Rung { settings: keep, fraction: (fraction * search.keep_one_in as f64).min(1.0) });
    }
    rungs
}

/// The best `keep` of some settings by their values; equal ones in the order given, failed ones last.
pub fn best(values: &[Option<f64>], keep: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let value = |i: usize| values[i].unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    order.truncate(keep);
    order
}

/// The settings of one learner that a search chooses from.
pub(super) struct Candidates {
    /// What each setting changes.
    pub(super) varied: Vec<Table>,
    /// Each setting, checked and complete.
    pub(super) trainers: Vec<Trainer>,
    rungs: Vec<Rung>,
}

/// What a search chose, and everything it tried on the way.
pub(super) struct Choice {
    /// The number of the best setting.
    pub(super) winner: usize,
    /// Every trial, in order.
    pub(super) trials: Vec<Attempt>,
    /// Settings that failed, a sentence each.
    pub(super) failures: Vec<String>,
}

/// One trial of a search.
pub(super) struct Attempt {
    /// The number of the setting.
    pub(super) setting: usize,
    /// The fraction of the training queries used.
    pub(super) fraction: f64,
    /// What came out; none where training failed.
    pub(super) result: Option<TrialResult>,
}

impl Choice {
    /// The choice where there is only one setting.
    pub(super) fn only() -> Choice {
        Choice { winner: 0, trials: Vec::new(), failures: Vec::new() }
    }

    /// The winner's trial on all training queries.
    pub(super) fn winning_trial(&self) -> Option<&TrialResult> {
        self.trials.iter().rfind(|trial| trial.setting == self.winner)?.result.as_ref()
    }
}

impl Candidates {
    /// The settings of `grid` laid over those of the recipe, checked and completed.
    pub(super) fn new(recipe: &Recipe, grid: &Table, search: &Search, seed: u64) -> Result<Candidates> {
        let varied = settings(search, grid, seed)?;
        let trainer = |over: &Table| recipe.clone().set_all(over.clone()).check();
        let trainers = varied.iter().map(trainer).collect::<Result<_>>()?;
        let rungs = rungs(search, varied.len());
        Ok(Candidates { varied, trainers, rungs })
    }

    /// How many trials a search makes.
    pub(super) fn trials(&self) -> usize {
        self.rungs.iter().map(|rung| rung.settings).sum()
    }

    /// How long it may take to make all trials on each of `folds` folds, and `finals` trainings beside them. Each is
    /// assumed to have as much data as `train`.
    pub(super) fn time(&self, train: &Dataset, folds: usize, finals: usize) -> TrainingTime {
        // A setting that fails here fails again in its trial, which reports it.
        let times: Vec<TrainingTime> = self.trainers.iter().filter_map(|t| t.time(train).ok()).collect();
        let mean = times.iter().map(|time| time.seconds).sum::<f64>() / times.len().max(1) as f64;
        let trials: f64 = self.rungs.iter().map(|rung| rung.settings as f64 * rung.fraction).sum();
        let longest = times.into_iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
        let reason = longest.map_or(String::new(), |time| time.reason);
        TrainingTime { seconds: mean * (trials * folds as f64 + finals as f64), reason }
    }

    /// Searches. `attempt` tries one setting, by number, on a fraction of the training queries; trials of one round
    /// run in parallel unless `one_at_a_time`. The search fails where [`SearchInProgress::take`] does.
    pub(super) fn search(
        &self,
        one_at_a_time: bool,
        attempt: impl Fn(usize, f64) -> Result<TrialResult> + Sync,
    ) -> Result<Choice> {
        let mut search = SearchInProgress::new(self);
        while let Some((settings, fraction)) = search.round() {
            let one = |&setting: &usize| attempt(setting, fraction);
            let results: Vec<Result<TrialResult>> =
                if one_at_a_time { settings.iter().map(one).collect() } else { parallel::map(settings, one) };
            search.take(results)?;
        }
        Ok(search.choice())
    }
}

/// A search, round by round. Whoever leads it tries the settings of each round.
pub(super) struct SearchInProgress<'a> {
    candidates: &'a Candidates,
    /// Rounds that are over.
    rounds: usize,
    /// The settings of this round; after the last round, all of that one, best first.
    alive: Vec<usize>,
    trials: Vec<Attempt>,
    failures: Vec<String>,
}

impl<'a> SearchInProgress<'a> {
    pub(super) fn new(candidates: &'a Candidates) -> SearchInProgress<'a> {
        let alive = (0..candidates.varied.len()).collect();
        SearchInProgress { candidates, rounds: 0, alive, trials: Vec::new(), failures: Vec::new() }
    }

    /// The settings to try next, by number, and the fraction of the training queries; none when the search is over.
    pub(super) fn round(&self) -> Option<(&[usize], f64)> {
        self.candidates.rungs.get(self.rounds).map(|rung| (&self.alive[..], rung.fraction))
    }

    /// Ends the round with the results of its settings, in their order. A setting that fails is out. The search fails
    /// when every setting of a round does, or when a trial is interrupted or cannot be written down.
    pub(super) fn take(&mut self, results: Vec<Result<TrialResult>>) -> Result<()> {
        let Some(Rung { fraction, .. }) = self.candidates.rungs.get(self.rounds).copied() else {
            return Ok(());
        };
        let results = survivors(results)?;
        let values: Vec<Option<f64>> =
            results.iter().map(|r| r.as_ref().ok().and_then(|trial| trial.valid)).collect();
        if values.iter().all(Option::is_none) {
            return Err(Error::data("the selection metric skips every validation query"));
        }
        for (&setting, result) in self.alive.iter().zip(results) {
            let varied = &self.candidates.varied[setting];
            let failed = |e: &Error| self.failures.push(format!("{}: {e}", shown(varied)));
            let result = result.inspect_err(failed).ok();
            self.trials.push(Attempt { setting, fraction, result });
        }
        self.rounds += 1;
        let keep = self.candidates.rungs.get(self.rounds).map_or(self.alive.len(), |rung| rung.settings);
        self.alive = best(&values, keep).into_iter().map(|i| self.alive[i]).collect();
        Ok(())
    }

    /// What was chosen, when the search is over.
    pub(super) fn choice(self) -> Choice {
        Choice { winner: self.alive[0], trials: self.trials, failures: self.failures }
    }
}

/// The results of a round, unless one of them ends the search.
fn survivors(mut results: Vec<Result<TrialResult>>) -> Result<Vec<Result<TrialResult>>> {
    let all_failed = results.iter().all(Result::is_err);
    let fatal = |e: &Error| all_failed || matches!(e.kind(), ErrorKind::Io | ErrorKind::Interrupted);
    match results.iter().position(|result| result.as_ref().is_err_and(fatal)) {
        Some(place) => results.swap_remove(place).map(|_| Vec::new()),
        None => Ok(results),
    }
}

/// A setting as it could be typed.
pub(super) fn shown(setting: &Table) -> String {
    let pairs: Vec<String> = setting.iter().map(|(key, value)| format!("{key}={value}")).collect();
    pairs.join(" ")
}

/// One parameter and the values it may take.
struct GridAxis {
    name: String,
    values: Values,
}

enum Values {
    List(Vec<Value>),
    Range { from: f64, to: f64, log: bool, integer: bool },
}

impl GridAxis {
    fn read(name: &str, values: &Value) -> Result<GridAxis> {
        let refuse = |why: &str| Err(Error::parameter(format!("the grid of `{name}` {why}")));
        let values = match values {
            Value::Array(list) if list.is_empty() => return refuse("is empty"),
            Value::Array(list) => Values::List(list.clone()),
            Value::Table(range) => return GridAxis::range(name, range),
            _ => {
                return refuse(
                    "is neither a list nor a range; write [0.1, 1.0], or { from = 0.1, to = 10.0 } for random draws",
                );
            }
        };
        Ok(GridAxis { name: name.to_owned(), values })
    }

    fn range(name: &str, range: &Table) -> Result<GridAxis> {
        let refuse = |why: String| Error::parameter(format!("the range of `{name}` {why}"));
        if let Some(key) = range.keys().find(|k| !["from", "to", "log"].contains(&k.as_str())) {
            return Err(refuse(format!("has an unknown key `{key}`; known: from, to, log")));
        }
        let number = |key: &str| match range.get(key) {
            Some(Value::Integer(i)) => Ok(*i as f64),
            Some(Value::Float(f)) if f.is_finite() => Ok(*f),
            _ => Err(refuse(format!("needs a number `{key}`"))),
        };
        let (from, to) = (number("from")?, number("to")?);
        let log = range.get("log").and_then(Value::as_bool).unwrap_or(false);
        if from >= to || (log && from <= 0.0) {
            return Err(refuse(format!("from {from} to {to} is empty, or not above 0 though logarithmic")));
        }
        let integer = range["from"].is_integer() && range["to"].is_integer();
        Ok(GridAxis { name: name.to_owned(), values: Values::Range { from, to, log, integer } })
    }

    fn draw(&self, random: &mut Random) -> Value {
        match &self.values {
            Values::List(list) => list[random.random_range(0..list.len())].clone(),
            &Values::Range { from, to, log, integer } => {
                let fraction: f64 = random.random();
                let value =
                    if log { from * (to / from).powf(fraction) } else { from + (to - from) * fraction };
                if integer { Value::Integer(value.round() as i64) } else { Value::Float(value) }
            }
        }
    }
}

/// All combinations, the last parameter varying fastest.
fn combinations(axes: &[GridAxis]) -> Result<Vec<Table>> {
    let mut tables = vec![Table::new()];
    for axis in axes {
        let Values::List(values) = &axis.values else {
            return Err(Error::parameter(format!(
                "the grid of `{}` is a range; list its values, or search with method = \"random\"",
                axis.name
            )));
        };
        if tables.len() * values.len() > 100_000 {
            return Err(Error::parameter("the grid has more than 100,000 combinations; draw at random"));
        }
        let extended = |table: &Table| {
            let table = table.clone();
            values.iter().map(move |value| {
                let mut table = table.clone();
                table.insert(axis.name.clone(), value.clone());
                table
            })
        };
        tables = tables.iter().flat_map(extended).collect();
    }
    Ok(tables)
}

/// Random settings without repetitions; fewer than asked for where there are no more.
fn draws(axes: &[GridAxis], count: usize, seed: u64) -> Vec<Table> {
    let mut random = rng::stream(seed, &[DRAWS]);
    let (mut tables, mut seen) = (Vec::<Table>::new(), HashSet::new());
    // A short list counts as exhausted after 100 repetitions in a row.
    let mut repetitions = 0;
    while tables.len() < count && repetitions < 100 {
        let table: Table = axes.iter().map(|axis| (axis.name.clone(), axis.draw(&mut random))).collect();
        if seen.insert(shown(&table)) {
            tables.push(table);
            repetitions = 0;
        } else {
            repetitions += 1;
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Table {
        text.parse().unwrap()
    }

    fn search(method: SearchMethod) -> Search {
        Search { method, ..Search::default() }
    }

    #[test]
    fn a_grid_has_all_combinations_in_order() {
        let tables =
            settings(&search(SearchMethod::Grid), &grid("a = [1, 2]\nb = [\"x\", \"y\", \"z\"]"), 1).unwrap();
        let shown: Vec<String> =
            tables.iter().map(|t| format!("{}{}", t["a"], t["b"].as_str().unwrap())).collect();
        assert_eq!(shown, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert_eq!(settings(&search(SearchMethod::Grid), &Table::new(), 1).unwrap(), [Table::new()]);
    }

    #[test]
    fn draws_stay_in_their_ranges_and_repeat_with_the_seed() {
        let axes =
            grid("c = { from = 1e-3, to = 1e3, log = true }\nn = { from = 2, to = 9 }\nk = [true, false]");
        let search = Search { draws: 200, ..search(SearchMethod::Random) };
        let tables = settings(&search, &axes, 7).unwrap();
        assert_eq!(tables.len(), 200);
        assert_eq!(tables, settings(&search, &axes, 7).unwrap());
        assert_ne!(tables, settings(&search, &axes, 8).unwrap());
        let c: Vec<f64> = tables.iter().map(|t| t["c"].as_float().unwrap()).collect();
        assert!(c.iter().all(|c| (1e-3..=1e3).contains(c)));
        let small = c.iter().filter(|c| **c < 1.0).count();
        assert!(
            (60..140).contains(&small),
            "half of a logarithmic range lies below its middle, not {small} of 200"
        );
        assert!(tables.iter().all(|t| (2..=9).contains(&t["n"].as_integer().unwrap())));
    }

    #[test]
    fn a_short_list_is_drawn_only_once() {
        let tables = settings(&search(SearchMethod::Random), &grid("a = [1, 2, 3]"), 1).unwrap();
        assert_eq!(tables.len(), 3);
    }

    #[test]
    fn halving_ends_on_all_queries_with_few_settings() {
        let shown = |settings| {
            let rungs = rungs(&search(SearchMethod::Halving), settings);
            rungs.iter().map(|r| (r.settings, (r.fraction * 9.0).round() as usize)).collect::<Vec<_>>()
        };
        assert_eq!(shown(20), [(20, 1), (7, 3), (3, 9)]);
        assert_eq!(shown(1), [(1, 9)]);
        assert_eq!(rungs(&search(SearchMethod::Grid), 6), [Rung { settings: 6, fraction: 1.0 }]);
    }

    #[test]
    fn the_best_come_first_and_failures_last() {
        assert_eq!(best(&[Some(0.1), None, Some(0.3), Some(0.3)], 3), [2, 3, 0]);
        assert_eq!(best(&[None, Some(0.0)], 2), [1, 0]);
    }

    #[test]
    fn odd_grids_are_refused() {
        let refusal = |text| settings(&search(SearchMethod::Grid), &grid(text), 1).unwrap_err().to_string();
        assert!(refusal("a = []").contains("`a` is empty"));
        assert!(refusal("a = 1").contains("neither a list nor a range"));
        assert!(refusal("a = { from = 0, to = 1, log = true }").contains("not above 0"));
        assert!(refusal("a = { from = 0, to = 1, lgo = true }").contains("`lgo`"));
        assert!(refusal("a = { from = 1, to = 2 }").contains("method = \"random\""));
    }
}
