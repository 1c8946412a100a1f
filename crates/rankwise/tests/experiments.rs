//! Experiments give the same bytes however they are run or interrupted, and choose on validation queries only.

use rankwise::data::{Dataset, Synth, SyntheticShape, read, read_scores, split, write, write_scores};
use rankwise::data::{ReadOptions, SplitOrder};
use rankwise::experiment::directory::write_results;
use rankwise::experiment::{Experiment, Findings, JobDone, Observer, RunOptions, Spec, Times};
use rankwise::watch::Stop;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// A directory with five splits of a small synthetic set, S1.txt to S5.txt.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let shape = SyntheticShape::named("ohsumed").unwrap();
    let data = Synth { queries: Some(25), documents: Some(15), features: Some(6), ..Synth::new(shape) };
    let parts = split(&data.generate().unwrap(), &[1.0; 5], SplitOrder::InOrder).unwrap();
    for (i, part) in parts.iter().enumerate() {
        write(part, &place.path().join(format!("S{}.txt", i + 1)), None).unwrap();
    }
    place
}

const SPLITS: &str = r#"
[[data]]
name = "small"
splits = ["S1.txt", "S2.txt", "S3.txt", "S4.txt", "S5.txt"]
"#;

const LEARNERS: &str = r#"
[[learner]]
name = "regression"
grid = { ridge = [1e-6, 1e-2, 10.0] }
[[learner]]
name = "coordinate-ascent"
set = { restarts = 1, passes = 3 }
"#;

fn spec(place: &Path, text: &str) -> Spec {
    let path = place.join("experiment.toml");
    fs::write(&path, format!("name = \"test\"\n{text}")).unwrap();
    Spec::load(&path).unwrap()
}

fn options(directory: &Path) -> RunOptions<'_> {
    RunOptions { directory, command: "a test", keep_models: None, fresh: false }
}

fn run(place: &Path, text: &str, directory: &str) -> (Findings, Times) {
    let directory = place.join(directory);
    fs::create_dir_all(&directory).unwrap();
    let experiment = Experiment::load(spec(place, text), "test").unwrap();
    let observer = Observer { stop: &Stop::default(), done: &|_| {} };
    let (findings, times) = experiment.run(&options(&directory), &observer).unwrap();
    write_results(&directory, &findings, &times).unwrap();
    (findings, times)
}

/// The files that must not depend on the run.
fn lasting(directory: &Path) -> Vec<Vec<u8>> {
    ["findings.json", "per_query.csv", "trials.csv"]
        .map(|name| fs::read(directory.join(name)).unwrap())
        .into()
}

#[test]
fn a_run_cut_anywhere_ends_with_the_same_bytes() {
    let place = place();
    let text = format!("{SPLITS}{LEARNERS}");
    run(place.path(), &text, "whole");
    let expected = lasting(&place.path().join("whole"));
    let journal = fs::read(place.path().join("whole/journal.jsonl")).unwrap();
    for cut in [0, 40, journal.len() / 3, journal.len() / 2, journal.len() - 7, journal.len()] {
        let directory = place.path().join(format!("cut{cut}"));
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("journal.jsonl"), &journal[..cut]).unwrap();
        run(place.path(), &text, &format!("cut{cut}"));
        assert!(lasting(&directory) == expected, "cut at {cut} of {}", journal.len());
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let place = place();
    let text = format!("repeats = 2\n{SPLITS}{LEARNERS}");
    let bytes = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(place.path(), &text, &format!("threads{threads}")));
        lasting(&place.path().join(format!("threads{threads}")))
    };
    let one = bytes(1);
    assert!(one == bytes(2) && one == bytes(5));
    run(place.path(), &format!("one_at_a_time = true\n{text}"), "alone");
    assert!(one == lasting(&place.path().join("alone")));
}

#[test]
fn a_stopped_run_continues_where_it_stopped() {
    let place = place();
    let text = format!("{SPLITS}{LEARNERS}");
    run(place.path(), &text, "whole");
    let directory = place.path().join("stopped");
    fs::create_dir(&directory).unwrap();
    let experiment = Experiment::load(spec(place.path(), &text), "test").unwrap();
    let stop = Stop::default();
    let stop_after_five = |job: JobDone<'_>| {
        if job.done == 5 {
            stop.request();
        }
    };
    let error =
        experiment.run(&options(&directory), &Observer { stop: &stop, done: &stop_after_five }).unwrap_err();
    assert_eq!(error.kind(), rankwise::ErrorKind::Interrupted);
    let before = fs::read_to_string(directory.join("journal.jsonl")).unwrap().lines().count();
    assert!((6..26).contains(&before), "{before} lines");
    run(place.path(), &text, "stopped");
    assert!(lasting(&directory) == lasting(&place.path().join("whole")));
}

/// Turns every grade of a file upside down.
fn spoil(path: &Path) {
    let mut parts = read(path, &ReadOptions::default()).unwrap().data.into_parts();
    parts.labels.iter_mut().for_each(|l| *l = 2.0 - *l);
    write(&Dataset::new(parts).unwrap(), path, None).unwrap();
}

#[test]
fn test_queries_do_not_influence_what_is_chosen() {
    let place = place();
    let text = format!(
        "[[data]]\nname = \"d\"\ntrain = [\"S1.txt\", \"S2.txt\"]\nvalid = [\"S3.txt\"]\ntest = [\"S4.txt\"]\n{LEARNERS}"
    );
    let (before, _) = run(place.path(), &text, "before");
    spoil(&place.path().join("S4.txt"));
    let (after, _) = run(place.path(), &text, "after");
    for (a, b) in before.data[0].systems.iter().zip(&after.data[0].systems) {
        assert_eq!((&a.chosen, &a.trials), (&b.chosen, &b.trials));
        assert_ne!(a.values, b.values);
    }
}

#[test]
fn the_setting_chosen_is_the_best_on_validation_queries() {
    let place = place();
    let (findings, _) = run(place.path(), &format!("{SPLITS}{LEARNERS}"), "out");
    let regression = &findings.data[0].systems[0];
    assert_eq!(regression.trials.len(), 15);
    for chosen in &regression.chosen {
        let trials = regression.trials.iter().filter(|t| t.fold == chosen.fold);
        let best = trials.clone().map(|t| t.valid.unwrap()).fold(f64::MIN, f64::max);
        assert_eq!(chosen.valid, Some(best));
        let first = trials.clone().find(|t| t.valid == Some(best)).unwrap();
        assert_eq!(chosen.parameters["ridge"], first.parameters["ridge"]);
    }
    // Five folds test every query once.
    let mut ids = findings.data[0].query_ids.clone();
    ids.sort();
    ids.dedup();
    assert_eq!((ids.len(), findings.data[0].query_ids.len()), (25, 25));
}

#[test]
fn every_search_method_and_every_kind_of_data_works() {
    let place = place();
    for (name, text) in [
        (
            "random",
            format!(
                "[search]\nmethod = \"random\"\ndraws = 4\n{SPLITS}[[learner]]\nname = \"regression\"\ngrid = {{ ridge = {{ from = 1e-6, to = 10.0, log = true }} }}\n"
            ),
        ),
        (
            "halving",
            format!(
                "[search]\nmethod = \"halving\"\ndraws = 9\nfirst_fraction = 0.3\n{SPLITS}[[learner]]\nname = \"regression\"\ngrid = {{ ridge = {{ from = 1e-6, to = 10.0, log = true }} }}\n"
            ),
        ),
        ("files", format!("[[data]]\nname = \"d\"\nfiles = [\"S1.txt\", \"S2.txt\"]\nk = 3\n{LEARNERS}")),
        (
            "folds",
            format!(
                "[[data]]\nname = \"d\"\nfolds = [{{ train = [\"S1.txt\"], valid = [\"S2.txt\"], test = [\"S3.txt\"] }}, {{ train = [\"S2.txt\"], valid = [\"S3.txt\"], test = [\"S1.txt\", \"S4.txt\"] }}]\n{LEARNERS}"
            ),
        ),
        ("prepared", format!("{SPLITS}normalize = \"min-max\"\nclean = \"empty-queries\"\n{LEARNERS}")),
        (
            "synth",
            format!(
                "[[data]]\nname = \"d\"\nsynth = {{ shape = \"mslr\", queries = 12, documents = 8, features = 5 }}\nk = 3\n[[data]]\nname = \"e\"\nsynth = {{ shape = \"mslr\", queries = 9, documents = 8, features = 5, seed = 2 }}\nk = 3\n{LEARNERS}"
            ),
        ),
    ] {
        let (findings, _) = run(place.path(), &text, name);
        assert_eq!(findings.failures, [""; 0], "{name}");
        for standing in findings.data.iter().map(|d| &d.standing).chain(&findings.pooled) {
            assert_eq!(standing.order.len(), findings.systems.len(), "{name}");
        }
        assert_eq!(findings.pooled.is_some(), name == "synth");
    }
    let halving: Findings =
        serde_json::from_slice(&fs::read(place.path().join("halving/findings.json")).unwrap()).unwrap();
    let fractions: Vec<f64> =
        halving.data[0].systems[0].trials.iter().filter(|t| t.fold == 0).map(|t| t.fraction).collect();
    assert_eq!(fractions.iter().filter(|f| **f < 0.31).count(), 9);
    assert_eq!(fractions.iter().filter(|f| **f == 1.0).count(), 1);
}

#[test]
fn external_scores_are_compared_with_learners() {
    let place = place();
    let parts = ["S5", "S1", "S2", "S3", "S4"];
    for (fold, part) in parts.iter().enumerate() {
        let data = read(&place.path().join(format!("{part}.txt")), &ReadOptions::default()).unwrap().data;
        let scores: Vec<f64> = data.labels().iter().map(|&l| f64::from(l)).collect();
        write_scores(&place.path().join(format!("small.oracle.{}.txt", fold + 1)), &scores).unwrap();
        assert_eq!(
            read_scores(&place.path().join(format!("small.oracle.{}.txt", fold + 1)), data.len()).unwrap(),
            scores
        );
    }
    fs::write(
        place.path().join("times.csv"),
        "system,fold,search_seconds,train_seconds\noracle,1,2.5,0.5\nother,1,9,9\noracle,2,1,0.25\n",
    )
    .unwrap();
    let text = format!(
        "conventions = {{ empty = \"one\" }}\n{SPLITS}{LEARNERS}[[external]]\nname = \"oracle\"\nscores = \"{{data}}.oracle.{{fold}}.txt\"\ntimes = \"times.csv\"\n\
         [[external]]\nname = \"absent\"\nscores = \"nowhere/{{fold}}\"\n"
    );
    let (findings, times) = run(place.path(), &text, "out");
    let standing = &findings.data[0].standing;
    assert_eq!(standing.order[0], 2, "the oracle is best");
    assert_eq!(standing.means.get(2, 0), Some(1.0));
    assert_eq!(standing.order.len(), 3);
    assert_eq!(findings.failures.len(), 1);
    assert!(findings.failures[0].starts_with("absent on small: cannot open"), "{}", findings.failures[0]);
    let oracle = times.systems.iter().find(|t| t.system == "oracle").unwrap();
    assert_eq!((oracle.search_seconds, oracle.train_seconds), (3.5, Some(0.75)));
}

#[test]
fn a_failing_learner_is_reported_and_the_others_finish() {
    let place = tempfile::tempdir().unwrap();
    for (name, weight) in [("train", 0), ("test", 1)] {
        let mut text = String::from("label,qid,weight,a\n");
        for q in 0..4 {
            let q = format!("{name}{q}");
            text.push_str(&format!("1,{q},{weight},0.5\n0,{q},{weight},0.25\n"));
        }
        fs::write(place.path().join(format!("{name}.csv")), text).unwrap();
    }
    let scores: Vec<f64> = (0..8).map(f64::from).collect();
    write_scores(&place.path().join("scores.txt"), &scores).unwrap();
    let text = "[[data]]\nname = \"d\"\ntrain = [\"train.csv\"]\ntest = [\"test.csv\"]\n[[learner]]\nname = \"regression\"\n\
                [[external]]\nname = \"other\"\nscores = \"scores.txt\"\n";
    let (findings, times) = run(place.path(), text, "out");
    assert_eq!(findings.failures, ["regression on d, fold 1: every training query has weight 0"]);
    assert_eq!(findings.data[0].standing.order, [1]);
    assert_eq!(times.systems[0].train_seconds, None);
}

#[test]
fn halving_takes_any_fraction() {
    let place = place();
    let text = "[[data]]\nname = \"d\"\ntrain = [\"S2.txt\"]\nvalid = [\"S1.txt\"]\ntest = [\"S3.txt\"]\n\
                [search]\nmethod = \"halving\"\ndraws = 4\nfirst_fraction = 0.33\n\
                [[learner]]\nname = \"regression\"\ngrid = { ridge = { from = 1e-3, to = 1.0 } }\n";
    let (findings, _) = run(place.path(), text, "out");
    assert_eq!(findings.failures, [""; 0], "fractions that leave less than a query are rounded");
    assert_eq!(findings.data[0].systems[0].trials.len(), 4 + 2 + 1);
}

#[test]
fn files_with_other_columns_are_rejected_or_widened() {
    let place = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(place.path().join(name), text).unwrap();
    put("a.csv", "label,qid,a,b\n1,q,0,1\n0,q,1,0\n");
    put("b.csv", "label,qid,b,a\n1,r,1,0\n0,r,0,1\n");
    let text = |train: &str, test: &str| {
        format!(
            "[[data]]\nname = \"d\"\ntrain = [\"{train}\"]\ntest = [\"{test}\"]\n[[learner]]\nname = \"regression\"\n"
        )
    };
    let error =
        Experiment::load(spec(place.path(), &text("a.csv", "b.csv")), "test").err().unwrap().to_string();
    assert!(error.contains("same feature columns"), "{error}");
    put("narrow.txt", "1 qid:1 1:1\n0 qid:1 1:0\n");
    put("wide.txt", "1 qid:2 1:1 3:5\n0 qid:2 1:0\n");
    let (findings, _) = run(place.path(), &text("narrow.txt", "wide.txt"), "wide");
    assert_eq!(findings.data[0].standing.means.get(0, 0), Some(1.0));
    put("sparse.txt", "1 qid:3 1:1 900:5\n0 qid:3 1:0\n");
    let (findings, _) = run(place.path(), &text("narrow.txt", "sparse.txt"), "sparse");
    assert_eq!(findings.data[0].standing.means.get(0, 0), Some(1.0));
}

#[test]
fn a_query_used_twice_in_a_fold_is_rejected() {
    let place = place();
    let refusal = |data: &str| {
        let text = format!("[[data]]\nname = \"d\"\n{data}\n[[learner]]\nname = \"regression\"\n");
        Experiment::load(spec(place.path(), &text), "test").err().unwrap().to_string()
    };
    assert!(
        refusal("train = [\"S1.txt\"]\ntest = [\"S1.txt\"]")
            .contains("occurs twice in the train, valid and test files")
    );
    assert!(
        refusal("splits = [\"S1.txt\", \"S2.txt\", \"S1.txt\"]")
            .contains("occurs twice in the train, valid and test files")
    );
    let twice = "folds = [{ train = [\"S1.txt\"], test = [\"S2.txt\"] }, { train = [\"S3.txt\"], test = [\"S2.txt\"] }]";
    assert!(refusal(twice).contains("is a test query of both fold 1 and fold 2"));
}

#[test]
fn a_time_limit_cuts_training_short_and_is_reported() {
    let place = place();
    let text = format!("time_limit = 1e-9\n{SPLITS}[[learner]]\nname = \"coordinate-ascent\"\n");
    let (findings, _) = run(place.path(), &text, "out");
    assert!(findings.data[0].systems[0].cut_short);
    assert_eq!(findings.failures, [""; 0]);
}

#[test]
fn expected_figures_are_checked() {
    let place = place();
    let expect = |value: f64| {
        format!("[[expect]]\nsystem = \"regression\"\nmetric = \"ndcg@10\"\nvalue = {value}\nwithin = 0.05\n")
    };
    let (plain, _) = run(place.path(), &format!("{SPLITS}{LEARNERS}"), "plain");
    let mean = plain.data[0].standing.fold_means.get(0, 0).unwrap();
    let text = format!("{SPLITS}{LEARNERS}{}{}", expect(mean + 0.04), expect(mean - 0.06));
    let (findings, _) = run(place.path(), &text, "expected");
    assert_eq!(findings.expectations.iter().map(|e| e.met).collect::<Vec<_>>(), [true, false]);
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    let place = place();
    let refusal = |text: &str| Experiment::load(spec(place.path(), text), "test").err().unwrap().to_string();
    let no_valid = "[[data]]\nname = \"d\"\ntrain = [\"S1.txt\"]\ntest = [\"S2.txt\"]\n";
    assert!(refusal(&format!("{no_valid}{LEARNERS}")).contains("has no validation queries"));
    let metric = "[[expect]]\nsystem = \"regression\"\nmetric = \"ndgc@10\"\nvalue = 1.0\nwithin = 0.1\n";
    assert!(refusal(&format!("{SPLITS}{LEARNERS}{metric}")).contains("did you mean `ndcg@10`?"));
    assert!(refusal(&format!("preset = \"leter\"\n{SPLITS}{LEARNERS}")).contains("did you mean `letor`?"));
    assert!(
        refusal(&format!("conventions = {{ gian = \"linear\" }}\n{SPLITS}{LEARNERS}")).contains("`gain`")
    );
    let missing = SPLITS.replace("S5.txt", "S6.txt");
    assert!(refusal(&format!("{missing}{LEARNERS}")).contains("S6.txt"));
    let grid = "[[learner]]\nname = \"regression\"\ngrid = { ridge = [-1.0, 1.0] }\n";
    assert!(refusal(&format!("{SPLITS}{grid}")).contains("ridge is -1"));
}

#[test]
fn a_journal_of_other_data_is_rejected() {
    let place = place();
    let text = format!("{SPLITS}{LEARNERS}");
    run(place.path(), &text, "out");
    spoil(&place.path().join("S1.txt"));
    let experiment = Experiment::load(spec(place.path(), &text), "test").unwrap();
    let observer = Observer { stop: &Stop::default(), done: &|_| {} };
    let error = experiment.run(&options(&place.path().join("out")), &observer).unwrap_err().to_string();
    assert!(error.contains("delete it to start over"), "{error}");
}

#[test]
fn the_worst_queries_are_not_those_without_relevant_documents() {
    let place = place();
    let path = place.path().join("S2.txt");
    let mut parts = read(&path, &ReadOptions::default()).unwrap().data.into_parts();
    let first = parts.bounds[1];
    parts.labels[..first].fill(0.0);
    let empty = parts.query_ids.get(0).to_owned();
    write(&Dataset::new(parts).unwrap(), &path, None).unwrap();
    let (findings, _) = run(place.path(), &format!("preset = \"letor\"\n{SPLITS}{LEARNERS}"), "out");
    let data = &findings.data[0];
    let query = data.query_ids.iter().position(|id| *id == empty).unwrap();
    for system in &data.systems {
        assert_eq!(system.values.get(0, query), Some(0.0), "it counts as 0 in the means");
        assert_eq!(system.worst.len(), 10);
        assert!(system.worst.iter().all(|worst| worst.query != query));
    }
}

/// A journal with a result that was changed ends the run with its line. Without that line, the run ends as before.
#[test]
fn a_changed_result_in_the_journal_is_not_believed() {
    let place = place();
    let text = format!("{SPLITS}{LEARNERS}");
    run(place.path(), &text, "out");
    let directory = place.path().join("out");
    let expected = lasting(&directory);
    let journal = fs::read_to_string(directory.join("journal.jsonl")).unwrap();
    let lines: Vec<&str> = journal.lines().collect();
    let tested = lines.iter().position(|line| line.contains("\"test\":{\"values\":[[0.")).unwrap();
    let values = lines[tested].find("\"values\":[[0.").unwrap() + "\"values\":[[".len();
    let mut higher = lines[tested].to_owned();
    higher.replace_range(values..values + 1, "2");
    let end = lines[tested][values..].find(',').unwrap() + values + 1;
    let mut shorter = lines[tested].to_owned();
    shorter.replace_range(values..end, "");
    for changed in [higher, shorter] {
        let mut with_change = lines.clone();
        with_change[tested] = &changed;
        fs::write(directory.join("journal.jsonl"), with_change.join("\n") + "\n").unwrap();
        let experiment = Experiment::load(spec(place.path(), &text), "test").unwrap();
        let observer = Observer { stop: &Stop::default(), done: &|_| {} };
        let error = experiment.run(&options(&directory), &observer).unwrap_err().to_string();
        assert!(error.contains(&format!("journal.jsonl:{}: this line is not", tested + 1)), "{error}");
    }
    let mut without = lines.clone();
    without.remove(tested);
    fs::write(directory.join("journal.jsonl"), without.join("\n") + "\n").unwrap();
    run(place.path(), &text, "out");
    assert!(lasting(&directory) == expected);
    let again = fs::read_to_string(directory.join("journal.jsonl")).unwrap();
    assert_eq!(again.lines().count(), lines.len(), "only one job was run again");
}

#[test]
fn the_number_of_jobs_is_known_in_advance() {
    let place = place();
    let experiment = Experiment::load(spec(place.path(), &format!("{SPLITS}{LEARNERS}")), "test").unwrap();
    let directory: PathBuf = place.path().join("out");
    fs::create_dir(&directory).unwrap();
    let (last, total) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let done = |job: JobDone<'_>| {
        last.fetch_max(job.done, Ordering::Relaxed);
        total.store(job.total, Ordering::Relaxed);
    };
    experiment.run(&options(&directory), &Observer { stop: &Stop::default(), done: &done }).unwrap();
    // Five folds of three trials and a test, and of one test.
    assert_eq!((last.into_inner(), total.into_inner()), (25, 25));
}

#[test]
fn a_long_experiment_is_forecast_unless_time_is_limited() {
    let place = tempfile::tempdir().unwrap();
    let text = r#"
[[data]]
name = "long"
k = 3
synth = { shape = "ohsumed", queries = 3, documents = 10000, features = 2 }
[[learner]]
name = "lambda-rank"
grid = { c = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }
[[learner]]
name = "regression"
"#;
    let forecast =
        |text: &str| Experiment::load(spec(place.path(), text), "test").unwrap().forecast().unwrap();
    let said = forecast(text);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("lambda-rank on `long` may take about"), "{said:?}");
    assert_eq!(forecast(&format!("time_limit = 60.0\n{text}")), [""; 0]);
}
