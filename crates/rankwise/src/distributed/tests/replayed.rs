//! Every learner on workers that die all the time: its program can be repeated by the answers alone.

use super::{Fault, InMemory, LIMITS};
use crate::data::{Dataset, Format, ReadOptions, Synth, read, write};
use crate::distributed::{Driver, Source, TrainJob, Worker};
use crate::learners::LEARNERS;
use crate::learners::boosting::Checkpoint;
use crate::models::Ranker;
use crate::recipe::{Recipe, Start};
use crate::watch::{Progress, Silent, Stop, Watch};
use std::path::{Path, PathBuf};

/// Short training, for parameters that a learner has.
const SHORT: [(&str, i64); 8] = [
    ("iterations", 3),
    ("early_stopping_rounds", 2),
    ("epochs", 2),
    ("samples", 20),
    ("redraws", 1),
    ("reorderings", 1),
    ("num_leaves", 4),
    ("min_data_in_leaf", 3),
];

/// Recipes of all learners that can be trained on several workers, by all their scorers.
fn recipes() -> Vec<Recipe> {
    let mut recipes = Vec::new();
    for entry in LEARNERS {
        let scorers: Vec<Option<&str>> = match entry.scorers() {
            none if none.is_empty() => vec![None],
            some => some.into_iter().map(|kind| Some(kind.name())).collect(),
        };
        for scorer in scorers {
            let known =
                scorer.map_or_else(|| entry.parameters(), |kind| entry.parameters_with(kind).unwrap());
            let short = SHORT.iter().filter(|(name, _)| known.iter().any(|p| p.name == *name));
            let recipe = Recipe::new(entry.card.name).metric("ndcg@5");
            let recipe = short.fold(recipe, |recipe, (name, value)| recipe.set(name, *value));
            let recipe = scorer.into_iter().fold(recipe, |recipe, kind| recipe.scorer(kind));
            if recipe.check().unwrap().check_distributes().is_ok() {
                recipes.push(recipe);
            }
        }
    }
    recipes
}

fn write_synthetic(folder: &Path, name: &str, seed: u64) -> (PathBuf, Dataset) {
    let shape = Synth { queries: Some(24), documents: Some(8), seed, ..Synth::demo() };
    let (path, data) = (folder.join(name), shape.generate().unwrap());
    write(&data, &path, Some(Format::Letor)).unwrap();
    let data = read(&path, &ReadOptions::default()).unwrap().data;
    (path, data)
}

/// All that is found in training.
fn found(ranker: &Ranker) -> String {
    format!("{} {:?}", serde_json::to_string(&ranker.model).unwrap(), ranker.record)
}

/// Trains on one machine, and on two workers of which one dies at every fifth or seventh message.
fn assert_same_although_workers_die(recipes: Vec<Recipe>, periods: &'static [usize]) {
    let folder = tempfile::tempdir().unwrap();
    let (train_file, train) = write_synthetic(folder.path(), "train.txt", 1);
    let (valid_file, valid) = write_synthetic(folder.path(), "valid.txt", 2);
    for recipe in recipes {
        let alone = recipe.fit(&train, Some(&valid), Start::default(), &mut Silent::default()).unwrap();
        let source = |file: &PathBuf| Source::new([file]);
        let mut job = TrainJob::new(&recipe, source(&train_file), Some(source(&valid_file)), 2).unwrap();
        job.threads = Some(1);
        for period in periods {
            let mut engine = InMemory::of_workers(2, Worker::new);
            engine.fault = Box::new(move |number, _| (number % period == 3).then_some(Fault::DiesBefore));
            let mut driver = Driver::new(engine).with_limits(LIMITS);
            let trained = driver.train(&job, None, &mut Silent::default());
            let trained = trained.unwrap_or_else(|e| panic!("{recipe:?}: {e}"));
            assert!(driver.traffic().losses > 0);
            assert_eq!(found(&trained.ranker), found(&alone), "{recipe:?}");
        }
    }
}

#[test]
fn every_learner_gives_the_same_although_workers_die() {
    let recipes = recipes();
    assert!(recipes.len() > 10);
    assert_same_although_workers_die(recipes, &[7]);
}

#[test]
fn boosted_trees_of_many_rounds_are_the_same_although_workers_die() {
    let long =
        Recipe::new("lambda-mart").set("iterations", 20).set("num_leaves", 4).set("min_data_in_leaf", 3);
    let recipes = vec![
        long.clone().set("subsample", 0.7).set("feature_fraction", 0.6),
        long.clone().set("dropout", 0.3),
        long.set("growth_policy", "oblivious"),
    ];
    assert_same_although_workers_die(recipes, &[5, 7]);
}

/// Takes the directory of the checkpoint away in the middle of training.
struct LosesItsDisk<'a> {
    directory: &'a Path,
    stop: Stop,
}

impl Watch for LosesItsDisk<'_> {
    fn step(&mut self, step: Progress<'_>) {
        if step.done == 3 {
            std::fs::remove_dir_all(self.directory).unwrap();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn a_checkpoint_that_the_driver_cannot_write_does_not_end_training() {
    let folder = tempfile::tempdir().unwrap();
    let (file, train) = write_synthetic(folder.path(), "train.txt", 1);
    let recipe = Recipe::new("lambda-mart").set("iterations", 6).set("num_leaves", 4);
    let alone = recipe.fit(&train, None, Start::default(), &mut Silent::default()).unwrap();
    let mut job = TrainJob::new(&recipe, Source::new([&file]), None, 2).unwrap();
    job.threads = Some(1);
    let directory = folder.path().join("disk");
    std::fs::create_dir(&directory).unwrap();
    let checkpoint = Checkpoint { path: directory.join("state.json"), every: 1 };
    let mut watch = LosesItsDisk { directory: &directory, stop: Stop::default() };
    let mut driver = Driver::new(InMemory::of_workers(2, Worker::new)).with_limits(LIMITS);
    let trained = driver.train(&job, Some(&checkpoint), &mut watch).unwrap();
    assert_eq!(trained.ranker.model, alone.model);
    assert!(trained.ranker.record.notes.iter().any(|note| note.contains("checkpoint could not be written")));
}
