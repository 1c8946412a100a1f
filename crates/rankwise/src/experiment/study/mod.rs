//! The papers' studies: each one repeats a figure of a paper and compares the result with the paper's.
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
pub use table::{Cell, Column, StudyTable, brief};

/// A study in the list.
pub struct StudyEntry {
    /// Name, title, question and source.
    pub card: Card,
    /// The learners it runs when none are named.
    pub learners: &'static [&'static str],
    /// The parameter it varies, if any.
    pub varied: Option<Varied>,
    run: fn(&Setup<'_>, &mut dyn Watch) -> Result<Study>,
}

/// The varied parameter of a study.
pub struct Varied {
    /// Its name: `c`.
    pub name: &'static str,
    /// Its default values.
    pub values: fn() -> Vec<f64>,
}

/// The data and settings of a study.
pub struct Setup<'a> {
    /// The name of the data in the study's text.
    pub data: String,
    /// The training queries.
    pub train: &'a Dataset,
    /// The test queries, if any.
    pub test: Option<&'a Dataset>,
    /// The metrics to report, at least one. Learners that optimise a metric optimise the first.
    pub metrics: &'a [Box<dyn Metric>],
    /// The learners to run; the study's defaults where empty.
    pub learners: Vec<&'static LearnerEntry>,
    /// Parameters; each is passed to the learners that have it.
    pub set: Settings,
    /// The values of the varied parameter; the study's defaults where empty.
    pub values: Vec<f64>,
    /// The seed of all random choices.
    pub seed: u64,
}

/// The results of a study. Two runs of one setup give the same results, except for times.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Study {
    /// The study's name in [`STUDIES`].
    pub study: &'static str,
    /// Its name in prose.
    pub title: String,
    /// Data, parameters and seed, in sentences.
    pub made: Vec<String>,
    /// All numbers.
    pub table: StudyTable,
    /// Charts of the table.
    pub charts: Vec<Chart>,
    /// The conclusions, in sentences computed from the numbers.
    pub conclusion: Vec<String>,
    /// What the paper says.
    pub paper: Vec<Claim>,
    /// Whether it was stopped before it was complete.
    pub interrupted: bool,
    /// Seconds of each step.
    #[serde(skip)]
    pub times: Vec<(String, f64)>,
}

/// A statement of a paper.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Claim {
    /// The paper: a key of `docs/references.bib`.
    pub citation: &'static str,
    /// Where in the paper: `Figure 4`.
    pub place: &'static str,
    /// The statement, in our words.
    pub says: &'static str,
}

/// Every study there is.
pub static STUDIES: &[StudyEntry] = &[
    c_path::ENTRY,
    sample_size::ENTRY,
    restart_skew::ENTRY,
    loss_smear::ENTRY,
    exact_sampled::ENTRY,
    score_loss::ENTRY,
];

/// The study called `name`.
pub fn find(name: &str) -> Result<&'static StudyEntry> {
    card::find(STUDIES, |e| &e.card, "study", name)
}

impl StudyEntry {
    /// Runs it. When asked to stop, it returns what is finished, or an error where nothing is.
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
                return Err(Error::parameter(format!(
                    "study {name} has no varied parameter, so it takes no values"
                )));
            }
            Some(varied) if setup.set.contains_key(varied.name) => {
                let varied = varied.name;
                return Err(Error::parameter(format!(
                    "study {name} varies {varied}; give it several values to try instead of one setting"
                )));
            }
            Some(varied) if setup.values.is_empty() => setup.values = (varied.values)(),
            _ => {}
        }
        // Ascending: each value starts from the solution of the one before, and lines are drawn from left to right.
        setup.values.sort_by(f64::total_cmp);
        setup.values.dedup();
        Ok(setup)
    }
}

impl Setup<'_> {
    /// The given parameters that `learner` has.
    pub fn settings_of(&self, learner: &LearnerEntry) -> Settings {
        let known = learner.parameters();
        let has = |key: &str| known.iter().any(|p| p.is_called(key));
        self.set.iter().filter(|(key, _)| has(key)).map(|(k, v)| (k.clone(), v.clone())).collect()
    }

    /// Checks what can be checked before anything is run.
    fn check(&self) -> Result<()> {
        let names: Vec<&str> = self.learners.iter().map(|l| l.card.name).collect();
        if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
            return Err(Error::parameter(format!("learner {} is named twice", names[i])));
        }
        let parameters: Vec<Parameter> = self.learners.iter().flat_map(|l| l.parameters()).collect();
        if let Some(key) = self.set.keys().find(|key| !parameters.iter().any(|p| p.is_called(key))) {
            let known: Vec<&str> = parameters.iter().flat_map(Parameter::names).collect();
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

    /// Data, parameters and seed: the sentences that every study begins with.
    fn in_words(&self) -> Vec<String> {
        let sizes = |data: &Dataset| {
            format!("{} queries, {} documents, {} features", data.query_count(), data.len(), data.width())
        };
        let mut made = vec![format!("Data: {}. Trained on {}.", self.data, sizes(self.train))];
        made.extend(self.test.map(|test| format!("Evaluated on {}.", sizes(test))));
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
