//! Neural networks from the command line: training, scoring, inspection and refusals.

use crate::place::Place;

/// A place with `train.txt` and `valid.txt`.
fn place() -> Place {
    let place = Place::new();
    let synth = "synth --shape ohsumed --queries 12 --documents 20 -q";
    place.ok(&format!("{synth} --seed 1 -o train.txt"));
    place.ok(&format!("{synth} --seed 2 -o valid.txt"));
    place
}

#[test]
fn a_network_is_trained_scored_and_inspected() {
    let place = place();
    let train =
        "train svm-ndcg --scorer mlp --train train.txt --valid valid.txt --set epochs=4 --set layers=12-6";
    place.ok(&format!("{train} --threads 1 -o one.json"));
    place.ok(&format!("{train} --threads 2 -o two.json"));
    let bytes = |name: &str| std::fs::read(place.directory().join(name)).unwrap();
    assert!(bytes("one.json") == bytes("two.json"));
    let documents = String::from_utf8(bytes("valid.txt")).unwrap().lines().count();
    assert_eq!(place.ok("score one.json valid.txt").lines().count(), documents);
    let inspected = place.ok("inspect one.json --top 3");
    for part in ["45-12-6-1", "relu", "best round", "weight norm", "--top 0 shows all"] {
        assert!(inspected.contains(part), "{part}: {inspected}");
    }
    let importance = place.ok("importance one.json valid.txt --repeats 2 --json");
    assert!(importance.contains("\"drop\""), "{importance}");
    assert!(place.ok("dependence one.json valid.txt --feature 1 --points 3").contains("mean score"));
    assert!(place.fails("explain one.json valid.txt --document 1").contains("the model is a neural network"));
    assert!(place.fails("export one.json -o m.txt --format lightgbm").contains("no trees"));
    assert!(place.fails("inspect one.json --tree 1").contains("not a model of trees"));
}

#[test]
fn help_shows_the_parameters_of_a_network() {
    let place = Place::new();
    assert!(place.ok("train --help").contains("network"));
    assert!(place.ok("learners svm-ndcg").contains("`network`"));
    let printed = place.ok("learners svm-ndcg --scorer mlp");
    for name in ["k ", "layers", "activation", "dropout", "batch_size", "epochs", "learning_rate", "schedule"]
    {
        assert!(printed.contains(name), "{name}: {printed}");
    }
    assert!(!printed.contains("tolerance"), "{printed}");
    assert!(place.ok("learners svm-ndcg --json").contains("\"network\""));
    assert!(place.fails("learners prank --scorer mlp").contains("does not accept `scorer`"));
}

#[test]
fn what_a_network_cannot_do_is_refused_in_a_sentence() {
    let place = place();
    let train = "train regression --scorer mlp --train train.txt -o m.json";
    let error = place.fails(&format!("{train} --checkpoint state.json"));
    assert!(error.contains("regression with scorer network cannot start from a model"), "{error}");
    place.ok(&format!("{train} --set epochs=1"));
    let error = place.fails("train regression --scorer mlp --train train.txt --start m.json -o n.json");
    assert!(error.contains("with scorer network cannot start from a model"), "{error}");
    let error = place.fails("train mart --train train.txt --start m.json -o n.json");
    assert!(error.contains("does not consist of trees"), "{error}");
    assert!(place.fails(&format!("{train} --set layers=wide")).contains("256-128-64"));
    assert!(place.fails(&format!("{train} --set leaves=3")).contains("leaves"));
}

#[test]
fn input_files_are_never_overwritten() {
    let place = place();
    place.ok("train list-net --train train.txt -o model.json");
    let before = |name: &str| std::fs::read(place.directory().join(name)).unwrap();
    let (model, data) = (before("model.json"), before("valid.txt"));
    for command in [
        "score model.json valid.txt -o model.json",
        "score model.json valid.txt -o valid.txt",
        "explain model.json valid.txt -o ./valid.txt",
        "dependence model.json valid.txt --feature 1 -o valid.txt",
        "export model.json -o model.json --format onnx",
        "export model.json -o m.onnx --vectors model.json",
        "export model.json -o valid.txt --format onnx --data valid.txt",
        "train list-net --train train.txt --valid valid.txt -o valid.txt",
    ] {
        let printed = place.fails(command);
        assert!(printed.contains("give them different names"), "{command}: {printed}");
    }
    assert!(before("model.json") == model && before("valid.txt") == data);
}

#[test]
fn a_diverging_network_is_an_error_and_not_saved() {
    let place = place();
    let train = "train list-net --scorer mlp --train train.txt --set solver=sgd --set rate=1e9";
    for more in ["", " --valid valid.txt", " --set layers=8 --valid valid.txt"] {
        let printed = place.fails(&format!("{train}{more} -o m.json"));
        assert!(
            printed.contains("diverged") && printed.contains("learning_rate (it is 1000000000.0)"),
            "{printed}"
        );
    }
    // Scores that are not even numbers.
    let printed = place.fails("train rank-net --scorer network --train train.txt --set rate=1e30 -o m.json");
    assert!(printed.contains("diverged") && printed.contains("try a smaller learning_rate"), "{printed}");
    assert!(!place.directory().join("m.json").exists());
}

#[test]
fn a_forgotten_scorer_and_useless_validation_queries_are_reported() {
    let place = place();
    let printed = place.fails("train list-net --set layers=8 --train train.txt -o m.json");
    assert!(printed.contains("--scorer network"), "{printed}");
    let text = std::fs::read_to_string(place.directory().join("valid.txt")).unwrap();
    let idle: String = text.lines().map(|line| format!("0{}\n", &line[1..])).collect();
    std::fs::write(place.directory().join("idle.txt"), idle).unwrap();
    let (code, _, printed) = place
        .outcome("train list-net --scorer mlp --set epochs=2 --train train.txt --valid idle.txt -o m.json");
    assert!(code == 0 && printed.contains("nothing was chosen"), "{printed}");
}
