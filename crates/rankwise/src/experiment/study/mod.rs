//! The papers' studies: each runs what one figure needs, and sets what was found beside what the paper says.
//!
//! A study is one file with one function from a [`Setup`] to a [`Study`]. It is listed once, in [`STUDIES`]; the
//! command line, its list and the tests that walk the list pick it up from there.

mod axis;
mod c_path;
mod chart;
mod conditional;
mod exact_sampled;
mod iterates;
mod loss_smear;
mod output;
mod restart_skew;
mod sample_size;
mod score_loss;
mod svg;
mod table;

use crate::card::{self, Card};
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::{self, LearnerEntry, Parameter};
use crate::metrics::Metric;
use crate::recipe::Recipe;
use crate::watch::Watch;
use serde::Serialize;
use toml::Table as Settings;

pub use chart::{Axis, Chart, Mark};
pub use output::{check_directory, file_names, markdown, write};
pub use svg::svg;
pub use table::{Cell, Column, Table, brief};

/// A study in the list.
pub struct Entry {
    /// Name, title, question and source.
    pub card: Card,
    /// The learners it runs when none are named.
    pub learners: &'static [&'static str],
    /// What it varies, if it varies anything.
    pub varied: Option<Varied>,
    run: fn(&Setup<'_>, &mut dyn Watch) -> Result<Study>,
}

/// What a study varies.
pub struct Varied {
    /// Its name: `c`.
    pub name: &'static str,
    /// The values when none are given.
    pub values: fn() -> Vec<f64>,
}

/// What a study is made from.
pub struct Setup<'a> {
    /// What the data is called in the study's text.
    pub data: String,
    /// The queries to learn from.
    pub train: &'a Dataset,
    /// The queries to measure on, if any.
    pub test: Option<&'a Dataset>,
    /// By what to measure, and what learners optimise that can choose; at least one.
    pub metrics: &'a [Box<dyn Metric>],
    /// The learners to run; the study's own where empty.
    pub learners: Vec<&'static LearnerEntry>,
    /// Parameters; each goes to the learners that have it.
    pub set: Settings,
    /// The values of what is varied; the study's own where empty.
    pub values: Vec<f64>,
    /// The seed of all random choices.
    pub seed: u64,
}

/// What a study found. Two runs of one setup find the same, but for the times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// The study's name in [`STUDIES`].
    pub study: &'static str,
    /// Its name in prose.
    pub title: String,
    /// How it was made, in sentences.
    pub made: Vec<String>,
    /// All numbers.
    pub table: Table,
    /// Pictures of the table.
    pub charts: Vec<Chart>,
    /// What the numbers say, in sentences made from them.
    pub conclusion: Vec<String>,
    /// What the paper says.
    pub paper: Vec<Claim>,
    /// Whether it was stopped before it was complete.
    pub interrupted: bool,
    /// What took how many seconds.
    #[serde(skip)]
    pub times: Vec<(String, f64)>,
}

/// What a paper says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claim {
    /// The paper: a key of `references.bib`.
    pub citation: &'static str,
    /// Where in the paper: `Figure 4`.
    pub place: &'static str,
    /// What it says, in our words.
    pub says: &'static str,
}

/// Every study there is.
pub static STUDIES: &[Entry] = &[
    c_path::ENTRY,
    sample_size::ENTRY,
    restart_skew::ENTRY,
    loss_smear::ENTRY,
    exact_sampled::ENTRY,
    score_loss::ENTRY,
];

/// The study called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    card::find(STUDIES, |e| &e.card, "study", name)
}

impl Entry {
    /// Runs it. Asked to stop, it gives what is finished, or an error where nothing is.
    pub fn run(&self, setup: Setup<'_>, watch: &mut dyn Watch) -> Result<Study> {
        let setup = self.complete(setup)?;
        setup.check()?;
        (self.run)(&setup, watch)
    }

    fn complete<'a>(&self, mut setup: Setup<'a>) -> Result<Setup<'a>> {
        let name = self.card.name;
        if setup.learners.is_empty() {
            setup.learners = self.learners.iter().map(|name| learners::find(name)).collect::<Result<_>>()?;
        }
        match &self.varied {
            None if !setup.values.is_empty() => {
                return Err(Error::parameter(format!("study {name} varies nothing, so it takes no values")));
            }
            Some(varied) if setup.set.contains_key(varied.name) => {
                let varied = varied.name;
                return Err(Error::parameter(format!(
                    "{varied} is what study {name} varies; give the values to try, not one setting"
                )));
            }
            Some(varied) if setup.values.is_empty() => setup.values = (varied.values)(),
            _ => {}
        }
        // Ascending, so that what was found for one value serves for the next, and lines are drawn from left to right.
        setup.values.sort_by(f64::total_cmp);
        setup.values.dedup();
        Ok(setup)
    }
}

impl Setup<'_> {
    /// The parameters that `learner` has, of those given.
    pub fn settings_of(&self, learner: &LearnerEntry) -> Settings {
        let known = learner.parameters();
        let has = |key: &str| known.iter().any(|p| p.is_called(key));
        self.set.iter().filter(|(key, _)| has(key)).map(|(k, v)| (k.clone(), v.clone())).collect()
    }

    /// Refuses what can be refused before anything is run.
    fn check(&self) -> Result<()> {
        let names: Vec<&str> = self.learners.iter().map(|l| l.card.name).collect();
        if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
            return Err(Error::parameter(format!("learner {} is named twice", names[i])));
        }
        let parameters: Vec<Parameter> = self.learners.iter().flat_map(|l| l.parameters()).collect();
        if let Some(key) = self.set.keys().find(|key| !parameters.iter().any(|p| p.is_called(key))) {
            let known: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
            return Err(card::unknown(&format!("parameter of {}", names.join(", ")), key, &known));
        }
        for learner in &self.learners {
            Recipe::new(learner.card.name).set_all(self.settings_of(learner)).check()?;
        }
        match self.test {
            Some(test) if test.width() > self.train.width() => Err(Error::data(format!(
                "the test data has {} features, the training data only {}",
                test.width(),
                self.train.width()
            ))),
            _ => Ok(()),
        }
    }

    /// On what data, with what parameters and seed: the sentences that every study begins with.
    fn in_words(&self) -> Vec<String> {
        let sizes = |data: &Dataset| {
            format!("{} queries, {} documents, {} features", data.query_count(), data.len(), data.width())
        };
        let mut made = vec![format!("Data: {}. Learned from {}.", self.data, sizes(self.train))];
        made.extend(self.test.map(|test| format!("Measured on {}.", sizes(test))));
        if !self.set.is_empty() {
            let set: Vec<String> = self.set.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            made.push(format!("Parameters other than the defaults: {}.", set.join(", ")));
        }
        made.push(format!("Seed {}; Rankwise {}.", self.seed, env!("CARGO_PKG_VERSION")));
        made
    }
}

/// `steps` values from `from` to `to`, each the same multiple of the one before, to four digits.
pub fn log_spaced(from: f64, to: f64, steps: usize) -> Result<Vec<f64>> {
    let fit = |x: f64| x > 0.0 && x.is_finite();
    if !(fit(from) && fit(to) && from < to) {
        return Err(Error::parameter(format!(
            "values from {from} to {to}: they must be finite, above 0, and the first below the second"
        )));
    }
    if !(2..=1000).contains(&steps) {
        return Err(Error::parameter(format!("{steps} steps; there must be 2 to 1000")));
    }
    let ratio = (to / from).ln() / (steps - 1) as f64;
    let value = |i: usize| from * (ratio * i as f64).exp();
    let rounded = |x: f64| format!("{x:.3e}").parse().expect("a number as Rust writes it");
    Ok((0..steps).map(|i| rounded(value(i))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spaced_by_a_common_factor() {
        assert_eq!(log_spaced(0.01, 100.0, 5).unwrap(), [0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(log_spaced(1.0, 10.0, 3).unwrap(), [1.0, 3.162, 10.0]);
        for (from, to, steps) in [(0.0, 1.0, 3), (2.0, 1.0, 3), (1.0, f64::NAN, 3), (1.0, 2.0, 1)] {
            assert!(log_spaced(from, to, steps).is_err());
        }
    }
}
