//! The models that a run keeps, and the commands that train them again.

use rankwise::data::{Normalizer, ReadOptions, SplitOrder, Synth, SyntheticShape, read_all, split, write};
use rankwise::experiment::{ChosenModel, Experiment, Findings, Observer, RunOptions, Spec, TrainCommand};
use rankwise::learners::parse_setting;
use rankwise::metrics::preset;
use rankwise::models::Ranker;
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::{Silent, Stop};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory with five splits of a small synthetic set, S1.txt to S5.txt.
fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let shape = SyntheticShape::named("ohsumed").unwrap();
    let data = Synth { queries: Some(25), documents: Some(12), features: Some(5), ..Synth::new(shape) };
    let splits = split(&data.generate().unwrap(), &[1.0; 5], SplitOrder::InOrder).unwrap();
    for (i, split) in splits.iter().enumerate() {
        write(split, &place.path().join(format!("S{}.txt", i + 1)), None).unwrap();
    }
    place
}

const SPLITS: &str = r#"
preset = "letor"
conventions = { ties = "worst" }
[[data]]
name = "small"
splits = ["S1.txt", "S2.txt", "S3.txt", "S4.txt", "S5.txt"]
normalize = "min-max"
"#;

const LEARNERS: &str = r#"
[[learner]]
name = "regression"
grid = { ridge = [1e-6, 10.0] }
[[learner]]
name = "lambda-mart"
label = "trees / small"
set = { rounds = 12, leaves = 4 }
"#;

fn load(place: &Path, text: &str) -> Experiment {
    let path = place.join("experiment.toml");
    fs::write(&path, format!("name = \"test\"\n{text}")).unwrap();
    Experiment::load(Spec::load(&path).unwrap(), "test").unwrap()
}

/// Runs the experiment into `out`, with models in `out/models` if they are kept.
fn run(place: &Path, experiment: &Experiment, keep: bool) -> Findings {
    let directory = place.join("out");
    fs::create_dir_all(&directory).unwrap();
    let models = directory.join("models");
    let keep_models = keep.then_some(models.as_path());
    let options = RunOptions { directory: &directory, command: "a test", keep_models, fresh: false };
    experiment.run(&options, &Observer { stop: &Stop::default(), done: &|_| {} }).unwrap().0
}

fn models(place: &Path, experiment: &Experiment, findings: &Findings) -> Vec<ChosenModel> {
    experiment.chosen_models(findings, &place.join("out/models"))
}

/// The values that follow a flag, up to the next one.
fn values<'a>(arguments: &'a [String], flag: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for place in (0..arguments.len()).filter(|&i| arguments[i] == flag) {
        let rest = arguments[place + 1..].iter().take_while(|a| !a.starts_with('-'));
        found.extend(rest.map(String::as_str));
    }
    found
}

/// What `rankwise train` does with these arguments.
fn trained(arguments: &[String]) -> Ranker {
    assert_eq!(arguments[0], "train");
    let one = |flag: &str| values(arguments, flag)[0].to_owned();
    let mut conventions = preset(&one("--preset")).unwrap();
    for convention in values(arguments, "--convention") {
        let (key, value) = convention.split_once('=').unwrap();
        conventions.set(key, value).unwrap();
    }
    let normalizer = Normalizer::parse(&one("--normalize")).unwrap();
    let read = |flag: &str| {
        let paths: Vec<PathBuf> = values(arguments, flag).iter().map(PathBuf::from).collect();
        read_all(&paths, &ReadOptions::default()).unwrap().data
    };
    let (train, valid) = (read("--train"), read("--valid"));
    let set: toml::Table = values(arguments, "--set").iter().map(|s| parse_setting(s).unwrap()).collect();
    let seed = one("--seed").parse().unwrap();
    let scorer = values(arguments, "--scorer");
    let recipe = Recipe::new(&arguments[1]).set_all(set).normalizer(Some(normalizer)).seed(seed);
    let recipe = scorer.iter().fold(recipe, |recipe, name| recipe.scorer(name));
    let recipe = recipe.metric(&one("--metric")).conventions(conventions);
    recipe.fit(&train, Some(&valid), Start::default(), &mut Silent::default()).unwrap()
}

#[test]
fn every_kept_model_is_what_its_command_trains() {
    let place = place();
    let experiment = load(place.path(), &format!("repeats = 2\n{SPLITS}{LEARNERS}"));
    let findings = run(place.path(), &experiment, true);
    let models = models(place.path(), &experiment, &findings);
    assert_eq!(models.len(), 2 * 5 * 2);
    let last = models.last().unwrap();
    assert!(last.path.ends_with("out/models/small/trees___small/fold-5-repeat-2.json"), "{:?}", last.path);
    for model in &models {
        let TrainCommand::Arguments(arguments) = &model.command else { panic!("{:?}", model.command) };
        assert_eq!(values(arguments, "--train").len(), 3);
        assert_eq!(*arguments.last().unwrap(), model.path.display().to_string());
        let bytes = trained(arguments).to_bytes();
        assert!(fs::read(&model.path).unwrap() == bytes, "{} fold {}", model.system, model.fold);
    }
    let TrainCommand::Arguments(arguments) = &last.command else { unreachable!() };
    assert_eq!(values(arguments, "--set").len(), 2, "only what is not a default: {arguments:?}");
}

#[test]
fn a_resumed_run_trains_only_the_models_that_are_missing() {
    let place = place();
    let experiment = load(place.path(), &format!("{SPLITS}{LEARNERS}"));
    let plain = run(place.path(), &experiment, false);
    assert!(!place.path().join("out/models").exists());
    let journal = || fs::read_to_string(place.path().join("out/journal.jsonl")).unwrap().lines().count();
    let before = journal();
    // None was kept, so every chosen setting is trained again: 2 systems on 5 folds.
    assert_eq!(run(place.path(), &experiment, true), plain);
    assert_eq!(journal(), before + 10);
    let models = models(place.path(), &experiment, &plain);
    let bytes: Vec<Vec<u8>> = models.iter().map(|model| fs::read(&model.path).unwrap()).collect();
    fs::remove_file(&models[3].path).unwrap();
    fs::write(&models[7].path, "damaged").unwrap();
    assert_eq!(run(place.path(), &experiment, true), plain);
    assert_eq!(journal(), before + 12);
    for (model, bytes) in models.iter().zip(&bytes) {
        assert!(fs::read(&model.path).unwrap() == *bytes, "{:?}", model.path);
    }
    run(place.path(), &experiment, true);
    assert_eq!(journal(), before + 12, "nothing was missing");
}

#[test]
fn folds_that_are_not_files_have_no_command() {
    let place = place();
    let why = |data: &str| {
        let text = format!("[[data]]\nname = \"d\"\n{data}\n[[learner]]\nname = \"regression\"\n");
        let experiment = load(place.path(), &text);
        let findings = run(place.path(), &experiment, false);
        fs::remove_dir_all(place.path().join("out")).unwrap();
        match models(place.path(), &experiment, &findings).remove(0).command {
            TrainCommand::Unavailable(why) => why,
            TrainCommand::Arguments(arguments) => panic!("{arguments:?}"),
        }
    };
    assert!(why("files = [\"S1.txt\"]\nk = 3").contains("rankwise split"));
    assert!(
        why("synth = { shape = \"mslr\", queries = 9, documents = 5, features = 4 }\nk = 3")
            .contains("synthetic")
    );
    let split = "train = [\"S1.txt\"]\ntest = [\"S2.txt\"]";
    assert!(why(&format!("{split}\nclean = \"empty-queries\"")).contains("rankwise prepare"));
    fs::write(place.path().join("wide.txt"), "1 qid:w 1:1 9:5\n0 qid:w 1:0\n").unwrap();
    assert!(why("train = [\"S1.txt\"]\ntest = [\"wide.txt\"]").contains("more features"));
}

#[test]
fn notes_from_reading_are_in_the_findings_and_files_may_count_from_0() {
    let place = place();
    fs::write(place.path().join("zero.txt"), "1 qid:z 0:1 2:5\n0 qid:z 0:0\n").unwrap();
    let text = "[[data]]\nname = \"d\"\ntrain = [\"S1.txt\"]\ntest = [\"zero.txt\"]\n[[learner]]\nname = \"regression\"\n";
    let experiment = load(place.path(), text);
    let findings = run(place.path(), &experiment, false);
    let summary = &findings.data[0].summary;
    assert_eq!(summary.notes, ["zero.txt: feature ids start at 0"]);
    assert_eq!(summary.features, 6);
}
