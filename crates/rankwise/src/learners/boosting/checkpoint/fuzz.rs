//! Training is given damaged checkpoints: it may refuse them in a sentence, and never panics.
//!
//! `RANKWISE_FUZZ_CASES` sets the number of cases.

use super::{Checkpoint, Envelope};
use crate::data::files::fuzz::{cases, damaged};
use crate::data::{Columns, Dataset};
use crate::error::Result;
use crate::learners::{self, FingerprintedCheckpoint, Fitted, Task};
use crate::metrics::{Conventions, Metric, parse};
use crate::models::{Ranker, checksum};
use crate::rng;
use crate::watch::{Progress, Silent, Stop, Watch};
use std::path::Path;
use toml::Table;

/// What damage is made of, besides the file's own pieces.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"-",
    b"-1",
    b"0",
    b"9",
    b"e9",
    b"e39",
    b"e307",
    b"1e999",
    b"null",
    b"true",
    b"NaN",
    b"2147483648",
    b"18446744073709551616",
    b"{\"features\":[],\"thresholds\":[],\"missing_left\":[],\"left\":[],\"right\":[],\"gains\":[],\"values\":[1.5],\"covers\":[1.0]},",
    b"\"trees\":[],",
    b"\\u0000",
    b"\xff",
    b"\0",
];

/// Ways to boost that differ in what they keep: one tree or several per iteration, dropped or averaged trees, rules; and
/// whether there are validation queries.
const WAYS: [(&str, &str, bool); 6] = [
    ("lambda-mart", "", true),
    ("lambda-mart", "dropout = 0.4", false),
    ("mcrank", "", true),
    ("gb-rank", "initial_iterations = 2", true),
    ("rank-boost", "", false),
    ("ndcg-boost", "", true),
];
const ITERATIONS: u64 = 4;
/// With gb-rank's initial ones.
const MOST_ITERATIONS: u64 = ITERATIONS + 2;

fn data(seed: u64) -> Dataset {
    let values = (0..36).map(|i| ((i * 7 + seed * 5) % 11) as f32 / 4.0).collect();
    let labels = (0..12).map(|i| ((i * 5 + seed) % 3) as f32).collect();
    Dataset::dense(values, 3, labels, &[5, 4, 3]).unwrap()
}

/// Asks to stop after the second iteration.
#[derive(Default)]
struct TwoRounds(Stop);

impl Watch for TwoRounds {
    fn step(&mut self, step: Progress<'_>) {
        if step.done == 2 {
            self.0.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.0
    }
}

/// One way to train, and what it leaves behind when it is stopped.
struct Training {
    way: (&'static str, &'static str, bool),
    sets: [Dataset; 2],
    metric: Box<dyn Metric>,
    checkpoint: Checkpoint,
    /// The file after two iterations.
    file: Vec<u8>,
    whole: Fitted,
}

impl Training {
    fn new(way: (&'static str, &'static str, bool), path: &Path) -> Training {
        let mut training = Training {
            way,
            sets: [data(1), data(2)],
            metric: parse("ndcg@3", &Conventions::default()).unwrap(),
            checkpoint: Checkpoint { path: path.into(), every: 100 },
            file: Vec::new(),
            whole: Fitted {
                model: crate::models::Model::linear(Vec::new(), 0.0),
                record: Default::default(),
            },
        };
        training.fit(&mut TwoRounds::default()).unwrap();
        training.file = std::fs::read(path).unwrap();
        training.whole = training.fit(&mut Silent::default()).unwrap();
        training
    }

    fn fit(&self, watch: &mut dyn Watch) -> Result<Fitted> {
        let (learner, settings, has_valid) = self.way;
        let entry = learners::find(learner)?;
        let mut table: Table = settings.parse().unwrap();
        let small = format!("iterations = {ITERATIONS}\nnum_leaves = 3\nmin_data_in_leaf = 1");
        let known = entry.configure(&table)?.parameters;
        table
            .extend(small.parse::<Table>().unwrap().into_iter().filter(|(name, _)| known.contains_key(name)));
        let [train, valid] = &self.sets;
        let task = Task {
            valid: has_valid.then_some(valid),
            checkpoint: Some(FingerprintedCheckpoint { checkpoint: &self.checkpoint, fingerprint: "f" }),
            ..Task::new(train, &*self.metric, 1)
        };
        entry.configure(&table)?.train(&task, watch)
    }

    /// Goes on from a file. What is refused is refused in a sentence; what comes out can be used.
    fn go_on(&self, file: &[u8]) -> Option<Fitted> {
        std::fs::write(&self.checkpoint.path, file).unwrap();
        match self.fit(&mut Silent::default()) {
            Ok(fitted) => {
                let iterations = fitted.record.rounds;
                assert!(iterations <= MOST_ITERATIONS, "{iterations} iterations");
                let ranker = Ranker::of_model(fitted.model.clone(), Columns::default()).unwrap();
                assert_eq!(Ranker::from_bytes(&ranker.to_bytes()).unwrap(), ranker);
                Some(fitted)
            }
            Err(error) => {
                let message = error.to_string();
                assert!(message.len() < 800 && !message.contains(char::is_control), "{message:?}");
                assert!(message.contains("checkpoint"), "{message}");
                None
            }
        }
    }
}

fn trainings(directory: &Path) -> Vec<Training> {
    WAYS.iter().enumerate().map(|(i, way)| Training::new(*way, &directory.join(i.to_string()))).collect()
}

/// Whatever happens to the bytes of a checkpoint, training refuses it or ends with the same model.
#[test]
fn damaged_checkpoints_are_refused_or_lead_to_the_same_model() {
    let directory = tempfile::tempdir().unwrap();
    let trainings = trainings(directory.path());
    let (mut random, mut accepted, mut refused) = (rng::stream(31, &[1]), 0, 0);
    for case in 0..cases(2_000) {
        let training = &trainings[case as usize % trainings.len()];
        match training.go_on(&damaged(&training.file, PIECES, &mut random)) {
            Some(fitted) => {
                accepted += 1;
                assert_eq!(fitted, training.whole);
            }
            None => refused += 1,
        }
    }
    // Almost nothing passes a checksum; the undamaged file does.
    assert!(refused > 0, "{accepted} accepted, {refused} refused");
    assert!(
        trainings.iter().all(|training| training.go_on(&training.file).as_ref() == Some(&training.whole))
    );
}

/// Damage below a checksum that was mended: whatever is believed leads to a model that can be used.
#[test]
fn damaged_checkpoints_with_right_checksums_are_survived() {
    let directory = tempfile::tempdir().unwrap();
    let trainings = trainings(directory.path());
    let (mut random, mut accepted, mut refused) = (rng::stream(31, &[2]), 0, 0);
    for case in 0..cases(2_000) {
        let training = &trainings[case as usize % trainings.len()];
        let envelope: Envelope<'_> = serde_json::from_slice(&training.file).unwrap();
        let state = damaged(envelope.state.get().as_bytes(), PIECES, &mut random);
        let Ok(state) = std::str::from_utf8(&state) else { continue };
        let file = format!("{{\"checksum\":\"{}\",\"state\":{state}}}", checksum(state.as_bytes()));
        match training.go_on(file.as_bytes()) {
            Some(_) => accepted += 1,
            None => refused += 1,
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}
