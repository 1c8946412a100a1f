//! Boosted trees from the command line: resuming after a kill, continuing from a model, and refusals.

use crate::place::Place;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// A place with `train.txt`.
fn place(queries: usize) -> Place {
    let place = Place::new();
    place.ok(&format!("synth --shape ohsumed --queries {queries} --documents 60 -q -o train.txt"));
    place
}

/// Killed as soon as there is a checkpoint, again and again, it still ends with the bytes of one run.
#[test]
fn killed_training_resumes_and_ends_with_the_same_bytes() {
    let place = place(60);
    let train = "train lambda-mart --train train.txt --set rounds=150 --set bagging=0.7 --set drop=0.05";
    place.ok(&format!("{train} -o whole.json"));
    let killable = format!("{train} --checkpoint state.json --checkpoint-every 1 --threads 1 -o m.json");
    let mut kills = 0;
    for _ in 0..3 {
        let before = fs::metadata(place.path("state.json")).map_or(0, |m| m.len());
        let mut child = place.command(&killable).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        // A longer checkpoint than before: it got further.
        while fs::metadata(place.path("state.json")).map_or(0, |m| m.len()) <= before + 2000
            && child.try_wait().unwrap().is_none()
            && begun.elapsed() < Duration::from_secs(60)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
    }
    assert!(kills > 0, "training was over before it could be killed");
    place.ok(&killable);
    assert!(place.bytes("m.json") == place.bytes("whole.json"));
    assert!(!place.path("state.json").exists());
}

#[test]
fn training_continues_from_a_model_and_trees_learn_any_loss() {
    let place = place(20);
    place.ok("train mart --train train.txt --set rounds=6 -o six.json");
    place.ok("train mart --train train.txt --set rounds=3 -o three.json");
    place.ok("train mart --train train.txt --set rounds=3 --start three.json -o both.json");
    assert!(place.ok("score six.json train.txt") == place.ok("score both.json train.txt"));
    place.ok("train svm-map --scorer trees --train train.txt --set rounds=5 -o map.json");
    assert!(place.ok("inspect map.json").contains("trees"));
    assert!(place.ok("learners svm-map").contains("--scorer NAME"));
    place.ok("export six.json -o six.txt --format lightgbm");
    assert!(place.ok("compare six.json six.txt train.txt").contains("six.txt"));
}

#[test]
fn an_output_that_would_replace_an_input_is_refused() {
    let place = place(5);
    let data = place.bytes("train.txt");
    let error = place.fails("train mart --train train.txt -o ./train.txt");
    assert!(error.contains("both train.txt"), "{error}");
    assert!(place.bytes("train.txt") == data);
    let error = place.fails("train mart --train train.txt --checkpoint ./m.json -o m.json");
    assert!(error.contains("the checkpoint and the file"), "{error}");
    let error = place.fails("train prank --scorer linear --train train.txt -o m.json");
    assert!(error.contains("does not accept `scorer`"), "{error}");
    let error = place.fails("train mcrank --set monotone=1:up --train train.txt -o m.json");
    assert!(error.contains("monotone"), "{error}");
    assert!(!place.path("m.json").exists());
}

#[test]
fn models_of_other_tools_are_read_and_written() {
    let place = Place::new();
    let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/interchange");
    let data = "1 qid:1 1:0.5 2:1 3:0 4:nan 5:2\n0 qid:1 1:-0.5 2:0 3:1e-30 4:1 5:0\n0 qid:2 1:2\n";
    fs::write(place.path("data.txt"), data).unwrap();
    let scores = place.ok(&format!("score {stored}/lightgbm-lambdarank.txt data.txt"));
    assert_eq!(scores.lines().count(), 3);
    assert!(
        place
            .ok(&format!("inspect {stored}/lightgbm-lambdarank.txt"))
            .contains("LightGBM model (lambdarank)")
    );
    assert!(place.ok(&format!("eval {stored}/xgboost-ndcg.ubj data.txt")).contains("ndcg"));
    place.ok(&format!("export {stored}/lightgbm-lambdarank.txt -o ours.json --format rankwise --first-id 1"));
    place.ok("export ours.json -o again.txt.gz");
    place.ok("export again.txt.gz -o booster.ubj");
    for model in ["ours.json", "again.txt.gz"] {
        assert_eq!(place.ok(&format!("score {model} data.txt")), scores, "{model}");
    }
    for (theirs, ours) in place.ok("score booster.ubj data.txt").lines().zip(scores.lines()) {
        let [theirs, ours] = [theirs, ours].map(|score| score.parse::<f64>().unwrap());
        assert!((theirs - ours).abs() < 1e-6, "{theirs} and {ours}");
    }
    let ranklib = place.command("export ours.json -o lambdamart.xml").output().unwrap();
    let notes = String::from_utf8(ranklib.stderr).unwrap();
    assert!(notes.contains("missing values as 0"), "{notes}");
    assert!(place.bytes("lambdamart.xml").starts_with(b"## LambdaMART\n"));
    assert!(place.fails("export ours.json -o b.json").contains("rankwise or of xgboost"));
    assert!(place.fails("export ours.json -o b.json --format xgbost").contains("did you mean `xgboost`?"));
    let shifted = place.fails("export ours.json -o b.xml --first-id 0");
    assert!(shifted.contains("feature 0"), "{shifted}");
    assert!(!place.path("b.json").exists() && !place.path("b.xml").exists());
}
