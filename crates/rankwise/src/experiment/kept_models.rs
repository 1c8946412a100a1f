//! The models that a run keeps, and the commands that train them again.

use super::findings::{Chosen, Findings};
use super::plan::{JobPlace, convention_text};
use super::run::Experiment;
use super::spec::{DataSpec, FoldSpec, Spec};
use crate::data::{AtomicFile, rotation};
use crate::error::{Error, Result};
use crate::learners::parse_setting;
use crate::models::checksum;
use crate::recipe::Recipe;
use serde::Serialize;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Where the models of a run are kept.
pub(super) struct KeptModels {
    directory: PathBuf,
    data: Vec<String>,
    systems: Vec<String>,
    repeats: usize,
}

impl KeptModels {
    pub(super) fn new(directory: &Path, spec: &Spec) -> KeptModels {
        let data: Vec<String> = spec.data.iter().map(|data| data.name.clone()).collect();
        KeptModels {
            directory: directory.to_owned(),
            data: file_names(&data),
            systems: file_names(&spec.systems()),
            repeats: spec.repeats,
        }
    }

    /// The file of one model.
    pub(super) fn path(&self, at: JobPlace) -> PathBuf {
        let JobPlace { data, fold, system, repeat } = at;
        let mut name = format!("fold-{}", fold + 1);
        if self.repeats > 1 {
            name += &format!("-repeat-{}", repeat + 1);
        }
        self.directory.join(&self.data[data]).join(&self.systems[system]).join(name + ".json")
    }

    /// The checksum of a model's file; none where it cannot be read.
    pub(super) fn checksum(path: &Path) -> Option<String> {
        std::fs::read(path).ok().map(|bytes| checksum(&bytes))
    }

    /// Writes a model and returns the checksum of its file.
    pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<String> {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(|e| Error::io("create", directory, e))?;
        }
        let mut file = AtomicFile::create(path)?;
        file.put(bytes)?;
        file.commit()?;
        Ok(checksum(bytes))
    }
}

/// Names as they can be used for files on every system, no two alike.
fn file_names(names: &[String]) -> Vec<String> {
    let mut taken: Vec<String> = Vec::new();
    for name in names {
        let plain = |c: char| if c.is_alphanumeric() || "-_.+=@".contains(c) { c } else { '_' };
        let mut file: String = name.chars().map(plain).collect();
        if file.starts_with('.') {
            file.insert(0, '_');
        }
        let alike = |file: &String| taken.iter().any(|other| other.to_lowercase() == file.to_lowercase());
        let numbered = (2..).map(|number| format!("{file}-{number}"));
        let unique = std::iter::once(file.clone()).chain(numbered).find(|file| !alike(file));
        taken.push(unique.unwrap_or(file));
    }
    taken
}

/// One model that an experiment chose, and how to train it again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChosenModel {
    /// The data set's name.
    pub data: String,
    /// The system's name.
    pub system: String,
    /// The fold, from 0.
    pub fold: usize,
    /// The repeat, from 0.
    pub repeat: usize,
    /// Its file, where models are kept.
    pub path: PathBuf,
    /// The command that trains it again.
    pub command: TrainCommand,
}

/// A command that trains a model again, to the same bytes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainCommand {
    /// The arguments of `rankwise`, beginning with `train`.
    Arguments(Vec<String>),
    /// Why no command does, in a sentence.
    Unavailable(String),
}

impl Experiment {
    /// The models that the experiment chose, with the command that trains each of them again. `directory` is where
    /// the models are kept.
    pub fn chosen_models(&self, findings: &Findings, directory: &Path) -> Vec<ChosenModel> {
        let kept = KeptModels::new(directory, &self.plan.spec);
        let mut models = Vec::new();
        for (d, data) in findings.data.iter().enumerate() {
            for (s, learner) in self.plan.spec.learners.iter().enumerate() {
                for chosen in &data.systems[s].chosen {
                    let path =
                        kept.path(JobPlace { data: d, fold: chosen.fold, system: s, repeat: chosen.repeat });
                    let cut_short = data.systems[s].cut_short;
                    models.push(ChosenModel {
                        data: data.name.clone(),
                        system: learner.label().to_owned(),
                        fold: chosen.fold,
                        repeat: chosen.repeat,
                        command: self
                            .train_arguments(d, s, chosen, cut_short, &path)
                            .map_or_else(TrainCommand::Unavailable, TrainCommand::Arguments),
                        path,
                    });
                }
            }
        }
        models
    }

    fn train_arguments(
        &self,
        data: usize,
        system: usize,
        chosen: &Chosen,
        cut_short: bool,
        model: &Path,
    ) -> std::result::Result<Vec<String>, String> {
        let spec = &self.plan.spec.data[data];
        let files = fold_files(spec, chosen.fold)?;
        if cut_short {
            return Err("a time limit stopped training, so the model depends on the clock".into());
        }
        let first_id = self.data[data].first_id_for_reading(chosen.fold)?;
        let learner = &self.plan.systems[system].learner;
        let mut arguments = vec!["train".to_owned(), learner.clone()];
        let mut add = |flag: &str, values: Vec<String>| {
            arguments.push(flag.to_owned());
            arguments.extend(values);
        };
        let paths = |files: &[PathBuf]| files.iter().map(|file| file.display().to_string()).collect();
        add("--train", paths(&files.train));
        if !files.valid.is_empty() {
            add("--valid", paths(&files.valid));
        }
        add("--metric", vec![self.plan.spec.selection.clone()]);
        add("--preset", vec![self.plan.spec.preset.clone()]);
        for (key, value) in &self.plan.spec.conventions {
            add("--convention", vec![format!("{key}={}", convention_text(value))]);
        }
        for (flag, value) in parameter_flags(learner, &chosen.parameters) {
            add(flag, vec![value]);
        }
        if let Some(normalize) = &spec.normalize {
            add("--normalize", vec![normalize.clone()]);
        }
        if spec.group {
            add("--group", Vec::new());
        }
        if let Some(first_id) = spec.first_id.or(first_id) {
            add("--first-id", vec![first_id.to_string()]);
        }
        if let Some(limit) = spec.memory_limit {
            add("--memory-limit", vec![limit.to_string()]);
        }
        let roles = spec.column_roles();
        for (role, column) in roles.named() {
            add(&format!("--{role}"), vec![column.to_owned()]);
        }
        let lists =
            [("--ignore", &roles.ignore), ("--only", &roles.only), ("--categorical", &roles.categorical)];
        for (flag, columns) in lists {
            columns.iter().for_each(|column| add(flag, vec![column.clone()]));
        }
        add("--seed", vec![self.plan.job_seed(data, chosen.fold, chosen.repeat).to_string()]);
        add("-o", vec![model.display().to_string()]);
        Ok(arguments)
    }
}

/// The files of a fold, or why it is not made of files as they are.
fn fold_files(spec: &DataSpec, fold: usize) -> std::result::Result<FoldSpec, String> {
    if spec.clean.is_some() {
        return Err(
            "the data was cleaned before training; write the cleaned files with `rankwise prepare` to train \
                    on them"
                .into(),
        );
    }
    if spec.synth.is_some() {
        return Err("the data is synthetic and in no file".into());
    }
    if !spec.files.is_empty() {
        return Err(
            "the folds are random splits of the files; write them with `rankwise split` to train on them"
                .into(),
        );
    }
    if spec.splits.is_empty() {
        let one =
            || FoldSpec { train: spec.train.clone(), valid: spec.valid.clone(), test: spec.test.clone() };
        return Ok(spec.folds.get(fold).cloned().unwrap_or_else(one));
    }
    let rotation = rotation(spec.splits.len(), fold).map_err(|e| e.to_string())?;
    let file = |split: usize| spec.splits[split].clone();
    Ok(FoldSpec {
        train: rotation.train.into_iter().map(file).collect(),
        valid: vec![file(rotation.valid)],
        test: vec![file(rotation.test)],
    })
}

/// `--scorer` and `--set` for every parameter that does not have its default.
fn parameter_flags(learner: &str, parameters: &Table) -> Vec<(&'static str, String)> {
    const SCORER: &str = "scorer";
    let complete = |given: Table| {
        let trainer = Recipe::new(learner).set_all(given).check();
        trainer.map_or_else(|_| Table::new(), |trainer| trainer.parameters().clone())
    };
    let usual = complete(Table::new());
    let scorer = parameters.get(SCORER).filter(|scorer| usual.get(SCORER) != Some(*scorer));
    let given = scorer.map(|scorer| (SCORER.to_owned(), scorer.clone()));
    let defaults = complete(given.into_iter().collect());
    let mut flags: Vec<(&'static str, String)> =
        scorer.and_then(Value::as_str).map(|scorer| ("--scorer", scorer.to_owned())).into_iter().collect();
    for (key, value) in parameters.iter().filter(|(key, _)| *key != SCORER) {
        if defaults.get(key) != Some(value) {
            flags.push(("--set", assignment(key, value)));
        }
    }
    flags
}

/// `key=value` as [`parse_setting`] reads it; a string without quotes where it can be.
fn assignment(key: &str, value: &Value) -> String {
    let plain = value.as_str().map(|text| format!("{key}={text}"));
    let reads_back = |text: &String| parse_setting(text).is_ok_and(|(_, read)| read == *value);
    plain.filter(reads_back).unwrap_or_else(|| format!("{key}={value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_safe_and_distinct() {
        let names = ["exp-gain auc", "exp-gain/auc", "a", "A", "..", ""].map(String::from);
        assert_eq!(file_names(&names), ["exp-gain_auc", "exp-gain_auc-2", "a", "A-2", "_..", ""]);
    }

    #[test]
    fn settings_read_back_as_the_same_value() {
        let table: Table =
            "a = 1e-6\nb = 'exp2'\nc = '1'\nd = [1, 2]\ne = true\nf = 3\ng = 'x y'".parse().unwrap();
        for (key, value) in &table {
            assert_eq!(parse_setting(&assignment(key, value)).unwrap(), (key.clone(), value.clone()));
        }
        assert_eq!(assignment("b", &table["b"]), "b=exp2");
        assert_eq!(assignment("c", &table["c"]), "c=\"1\"");
    }
}
