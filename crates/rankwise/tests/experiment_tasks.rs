//! Jobs as tasks: whatever an engine does with them, the findings are those of a run in one process.

use rankwise::data::{SplitOrder, Synth, SyntheticShape, split, write};
use rankwise::experiment::directory::write_results;
use rankwise::experiment::{Experiment, JobDone, Observer, RunOptions, Spec, TaskEnd, TaskEngine, run_task};
use rankwise::watch::Stop;
use rankwise::{ErrorKind, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const BUILD: &str = "test";

/// Rounds of a search that depend on each other, and a learner without a search, on two data sets in two repeats.
const EXPERIMENT: &str = r#"
name = "test"
repeats = 2
[search]
method = "halving"
draws = 6
first_fraction = 0.3
[[data]]
name = "files"
splits = ["S1.txt", "S2.txt", "S3.txt", "S4.txt"]
normalize = "min-max"
[[data]]
name = "synthetic"
synth = { shape = "mslr", queries = 12, documents = 8, features = 5 }
k = 3
[[learner]]
name = "regression"
grid = { ridge = { from = 1e-6, to = 10.0, log = true } }
[[learner]]
name = "prank"
[[learner]]
name = "mart"
set = { iterations = 4, min_data_in_leaf = 2 }
grid = { leaves = [3, 4], learning_rate = [0.1, 0.3] }
"#;

fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let shape = SyntheticShape::named("ohsumed").unwrap();
    let data = Synth { queries: Some(20), documents: Some(10), features: Some(5), ..Synth::new(shape) };
    let splits = split(&data.generate().unwrap(), &[1.0; 4], SplitOrder::InOrder).unwrap();
    for (i, split) in splits.iter().enumerate() {
        write(split, &place.path().join(format!("S{}.txt", i + 1)), None).unwrap();
    }
    fs::write(place.path().join("experiment.toml"), EXPERIMENT).unwrap();
    place
}

fn load(place: &Path) -> Experiment {
    Experiment::load(Spec::load(&place.join("experiment.toml")).unwrap(), BUILD).unwrap()
}

/// An engine that does what clusters do: it runs tasks late and in any order, loses some before and some after they ran,
/// and reports some twice.
struct Unreliable {
    waiting: Vec<(usize, String)>,
    ended: Vec<TaskEnd>,
    random: u64,
    /// One in so many tasks is lost; none if 0.
    lose_one_in: u64,
    /// The most tasks that waited at once.
    most_waiting: usize,
}

impl Unreliable {
    fn new(seed: u64, lose_one_in: u64) -> Unreliable {
        Unreliable { waiting: Vec::new(), ended: Vec::new(), random: seed, lose_one_in, most_waiting: 0 }
    }

    fn draw(&mut self, below: usize) -> usize {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.random >> 33) as usize % below
    }

    fn is_lost(&mut self) -> bool {
        self.lose_one_in > 0 && self.draw(self.lose_one_in as usize) == 0
    }

    fn work(&mut self) {
        let next = self.draw(self.waiting.len());
        let (number, task) = self.waiting.swap_remove(next);
        let answer = match run_task(&task, BUILD, &Stop::default()) {
            _ if self.is_lost() => Err("the process was killed".to_owned()),
            Ok(answer) if self.is_lost() => Ok(answer[..answer.len() / 2].to_owned()),
            answer => answer.map_err(|e| e.to_string()),
        };
        let copies = 1 + self.draw(2);
        self.ended.extend(std::iter::repeat_n(TaskEnd { number, answer }, copies));
    }
}

impl TaskEngine for Unreliable {
    fn submit(&mut self, number: usize, _: &str, task: &str) -> Result<()> {
        self.waiting.push((number, task.to_owned()));
        self.most_waiting = self.most_waiting.max(self.waiting.len());
        Ok(())
    }

    fn next(&mut self, _: Duration) -> Result<Option<TaskEnd>> {
        for _ in 0..self.draw(4) {
            if !self.waiting.is_empty() {
                self.work();
            }
        }
        if self.ended.is_empty() {
            return Ok(None);
        }
        let next = self.draw(self.ended.len());
        Ok(Some(self.ended.swap_remove(next)))
    }
}

/// Runs an experiment into `directory`, models included.
fn run(experiment: &Experiment, directory: &Path, engine: Option<&mut dyn TaskEngine>) -> Result<()> {
    run_watched(experiment, directory, engine, &Stop::default(), &|_| {})
}

fn run_watched(
    experiment: &Experiment,
    directory: &Path,
    engine: Option<&mut dyn TaskEngine>,
    stop: &Stop,
    done: &(dyn Fn(JobDone<'_>) + Sync),
) -> Result<()> {
    fs::create_dir_all(directory).unwrap();
    let models = directory.join("models");
    let options = RunOptions { directory, command: "a test", keep_models: Some(&models), fresh: false };
    let observer = Observer { stop, done };
    let (findings, times) = match engine {
        Some(engine) => experiment.run_on(engine, &options, &observer)?,
        None => experiment.run(&options, &observer)?,
    };
    write_results(directory, &findings, &times)
}

/// The files that must not depend on who ran the jobs.
fn lasting(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files: Vec<PathBuf> =
        ["findings.json", "per_query.csv", "trials.csv"].map(|name| directory.join(name)).into();
    let mut folders = vec![directory.join("models")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() { folders.push(entry) } else { files.push(entry) }
        }
    }
    let name = |file: &PathBuf| file.strip_prefix(directory).unwrap().to_owned();
    files.iter().map(|file| (name(file), fs::read(file).unwrap())).collect()
}

/// The jobs of a journal with their results, without the times.
fn journal(directory: &Path) -> BTreeMap<String, serde_json::Value> {
    let text = fs::read_to_string(directory.join("journal.jsonl")).unwrap();
    let mut jobs = BTreeMap::new();
    for line in text.lines().skip(1) {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        for kind in ["trial", "test"] {
            for timing in ["seconds", "train_seconds", "score_seconds", "threads"] {
                if let Some(result) = line["finished"].get_mut(kind).and_then(|r| r.as_object_mut()) {
                    result.remove(timing);
                }
            }
        }
        let before = jobs.insert(line["job"].as_str().unwrap().to_owned(), line["finished"].clone());
        assert!(before.is_none(), "{} is in the journal twice", line["job"]);
    }
    jobs
}

#[test]
fn tasks_in_any_order_lost_and_repeated_give_the_same_bytes() {
    let place = place();
    let experiment = load(place.path());
    let plain = place.path().join("plain");
    run(&experiment, &plain, None).unwrap();
    assert!(lasting(&plain).len() > 20, "models are compared too");
    for (seed, lose_one_in) in [(1, 0), (2, 12), (3, 25)] {
        let mut engine = Unreliable::new(seed, lose_one_in);
        let directory = place.path().join(format!("engine{seed}"));
        run(&experiment, &directory, Some(&mut engine)).unwrap();
        assert!(lasting(&directory) == lasting(&plain), "seed {seed}");
        assert_eq!(journal(&directory), journal(&plain), "seed {seed}");
        assert!(engine.most_waiting > 20, "all folds are submitted at once, not {}", engine.most_waiting);
    }
}

#[test]
fn a_run_continues_with_another_engine() {
    let place = place();
    let experiment = load(place.path());
    let plain = place.path().join("plain");
    run(&experiment, &plain, None).unwrap();
    let jobs = journal(&plain).len();
    for engine_first in [true, false] {
        let directory = place.path().join(format!("resumed-{engine_first}"));
        let stop = Stop::default();
        let stop_after_nine = |job: JobDone<'_>| {
            if job.done == 9 {
                stop.request();
            }
        };
        let mut engines = [engine_first, !engine_first].map(|on| on.then(|| Unreliable::new(5, 0)));
        let [first, second] = &mut engines;
        let first = first.as_mut().map(|engine| engine as &mut dyn TaskEngine);
        let error = run_watched(&experiment, &directory, first, &stop, &stop_after_nine).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        let done = journal(&directory).len();
        assert!((9..jobs).contains(&done), "{done} of {jobs}");
        let second = second.as_mut().map(|engine| engine as &mut dyn TaskEngine);
        run(&experiment, &directory, second).unwrap();
        assert!(lasting(&directory) == lasting(&plain));
        assert_eq!(journal(&directory), journal(&plain));
    }
}

#[test]
fn one_at_a_time_is_one_task_at_a_time() {
    let place = place();
    fs::write(place.path().join("experiment.toml"), format!("one_at_a_time = true\n{EXPERIMENT}")).unwrap();
    let mut engine = Unreliable::new(1, 0);
    run(&load(place.path()), &place.path().join("out"), Some(&mut engine)).unwrap();
    assert_eq!(engine.most_waiting, 1);
}

#[test]
fn a_learner_that_fails_is_reported_and_not_tried_again() {
    let place = tempfile::tempdir().unwrap();
    for (name, weight) in [("train", 0), ("test", 1)] {
        let rows = (0..4).map(|q| format!("1,{name}{q},{weight},0.5\n0,{name}{q},{weight},0.25\n"));
        let text = format!("label,qid,weight,a\n{}", rows.collect::<String>());
        fs::write(place.path().join(format!("{name}.csv")), text).unwrap();
    }
    fs::write(place.path().join("scores.txt"), "1\n2\n3\n4\n5\n6\n7\n8\n").unwrap();
    let text = "name = \"failing\"\n[[data]]\nname = \"d\"\ntrain = [\"train.csv\"]\ntest = [\"test.csv\"]\n[[learner]]\n\
                name = \"regression\"\n[[external]]\nname = \"other\"\nscores = \"scores.txt\"\n";
    fs::write(place.path().join("experiment.toml"), text).unwrap();
    let experiment = load(place.path());
    let findings = |directory: &str, engine: Option<&mut dyn TaskEngine>| {
        let directory = place.path().join(directory);
        run(&experiment, &directory, engine).unwrap();
        fs::read_to_string(directory.join("findings.json")).unwrap()
    };
    let plain = findings("plain", None);
    assert!(plain.contains("regression on d, fold 1: every training query has weight 0"));
    let mut engine = Counted::default();
    assert!(findings("engine", Some(&mut engine)) == plain);
    assert_eq!(engine.0.len(), 1);
}

/// An engine that runs a task when it is asked for the next.
#[derive(Default)]
struct Counted(Vec<String>);

impl TaskEngine for Counted {
    fn submit(&mut self, number: usize, _: &str, task: &str) -> Result<()> {
        assert_eq!(number, self.0.len());
        self.0.push(task.to_owned());
        Ok(())
    }

    fn next(&mut self, _: Duration) -> Result<Option<TaskEnd>> {
        let number = self.0.len() - 1;
        let answer = run_task(&self.0[number], BUILD, &Stop::default()).map_err(|e| e.to_string());
        Ok(Some(TaskEnd { number, answer }))
    }
}

/// An engine whose tasks are all lost.
#[derive(Default)]
struct Lost {
    open: Vec<usize>,
    submitted: BTreeMap<String, usize>,
}

impl TaskEngine for Lost {
    fn submit(&mut self, number: usize, _: &str, task: &str) -> Result<()> {
        self.open.push(number);
        *self.submitted.entry(task.to_owned()).or_default() += 1;
        Ok(())
    }

    fn next(&mut self, _: Duration) -> Result<Option<TaskEnd>> {
        let answer = Err("the node is gone".to_owned());
        Ok(self.open.pop().map(|number| TaskEnd { number, answer }))
    }
}

#[test]
fn a_job_that_is_lost_three_times_ends_the_run() {
    let place = place();
    let mut engine = Lost::default();
    let error = run(&load(place.path()), &place.path().join("out"), Some(&mut engine)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    let message = error.to_string();
    assert!(message.starts_with("cannot run the job synthetic fold 3 repeat 1 "), "{message}");
    assert!(message.contains("lost 3 times") && message.contains("the node is gone"), "{message}");
    assert_eq!(engine.submitted.values().max(), Some(&3));
}

/// An engine that keeps what it is given.
#[derive(Default)]
struct Kept(Vec<String>);

impl TaskEngine for Kept {
    fn submit(&mut self, _: usize, _: &str, task: &str) -> Result<()> {
        self.0.push(task.to_owned());
        Ok(())
    }

    fn next(&mut self, _: Duration) -> Result<Option<TaskEnd>> {
        Err(rankwise::Error::data("enough"))
    }
}

#[test]
fn another_build_and_other_files_are_refused() {
    let place = place();
    let mut engine = Kept::default();
    let error = run(&load(place.path()), &place.path().join("out"), Some(&mut engine)).unwrap_err();
    assert_eq!(error.message(), "enough");
    let refusal = |task: &str, build: &str| run_task(task, build, &Stop::default()).unwrap_err().to_string();
    let task = &engine.0[0];
    run_task(task, BUILD, &Stop::default()).unwrap();
    assert!(refusal(task, "another").contains("`another`, and the driver runs `test`"));
    assert!(refusal("[]", BUILD).starts_with("this is no task of an experiment"));
    // The functions that machines may compute differently are compared by the hashes of their results.
    let mut other: serde_json::Value = serde_json::from_str(task).unwrap();
    other["machine"]["results"][0][1] = 1.into();
    assert!(refusal(&other.to_string(), BUILD).starts_with("this machine computes `exp` differently"));
    // Files that changed since: those in memory are not used for them.
    let second = place.path().join("S2.txt");
    fs::write(&second, fs::read_to_string(&second).unwrap().replacen("1:0", "1:1", 1)).unwrap();
    let mut engine = Kept::default();
    run(&load(place.path()), &place.path().join("out2"), Some(&mut engine)).unwrap_err();
    run_task(&engine.0[0], BUILD, &Stop::default()).unwrap();
    let message = refusal(task, BUILD);
    assert!(message.contains("S2.txt differs from the file that the driver has read"), "{message}");
}
