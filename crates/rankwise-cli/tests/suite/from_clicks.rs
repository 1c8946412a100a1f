//! Training from a search log: what labels become, what is said about it, and what is refused.

use crate::place::Place;
use rankwise::clicks::propensity::Propensities;
use rankwise::clicks::simulate::{SimulatedRanker, Simulation};
use rankwise::clicks::write_log;
use rankwise::data::{ReadOptions, read};

/// A place with `train.txt`, a log of clicks on its documents with and without features, and propensities.
fn place() -> Place {
    let place = Place::new();
    place.ok("synth --shape ohsumed --queries 12 --documents 15 -q -o train.txt");
    let data = read(&place.path("train.txt"), &ReadOptions::default()).unwrap().data;
    let ranker = |name: &str, column: usize| {
        let scores = (0..data.len()).map(|row| f64::from(data.row(row).get(column))).collect();
        SimulatedRanker { name: name.into(), scores }
    };
    let rankers = [ranker("a", 0), ranker("b", 3)];
    for (name, features) in [("log.jsonl", true), ("bare.jsonl.gz", false)] {
        let simulation = Simulation { sessions: 40, features, ..Simulation::default() };
        let sessions: Vec<_> = simulation.sessions(&data, &rankers).unwrap().collect();
        write_log(&place.path(name), &sessions).unwrap();
    }
    let theta = (1..=10).map(|rank| 1.0 / f64::from(rank)).collect();
    Propensities::given(theta).unwrap().write(&place.path("theta.json")).unwrap();
    place
}

/// What `inspect` shows, however its lines are broken.
fn inspected(place: &Place, model: &str) -> String {
    place.ok(&format!("inspect {model}")).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_log_or_a_file_with_a_log_is_training_data() {
    let place = place();
    place.ok("train list-net --train log.jsonl --propensity theta.json --clip 0.05 -o logged.json");
    place.ok("train list-net --train train.txt --clicks bare.jsonl.gz --propensity theta.json --clip 0.05 -o joined.json");
    let shown = inspected(&place, "logged.json");
    assert!(
        shown.contains("clicks, divided by propensities of at least 0.05 (given): 1.000 0.500 0.333"),
        "{shown}"
    );
    assert!(shown.contains("the training labels are clicks"), "{shown}");
    assert_eq!(place.ok("score logged.json train.txt"), place.ok("score joined.json train.txt"));
    place.ok("train list-net --train log.jsonl -o naive.json");
    assert!(inspected(&place, "naive.json").contains("clicks, not corrected for their positions"));
    assert_ne!(place.ok("score naive.json train.txt"), place.ok("score logged.json train.txt"));
}

#[test]
fn a_model_fills_in_and_biases_are_learned() {
    let place = place();
    place.ok("train regression --train log.jsonl --propensity theta.json -o direct.json");
    let filled = "train rank-svm --train log.jsonl --propensity theta.json --clip 0.3 --fill-in direct.json -o dr.json";
    place.ok(filled);
    assert!(inspected(&place, "dr.json").contains("at least 0.3, filled in by a model"));
    for bias in ["additive", "pairwise"] {
        let settings = format!("--set position_bias={bias} --set iterations=5 --set min_data_in_leaf=5");
        place.ok(&format!("train lambda-mart --train log.jsonl {settings} --valid train.txt -o {bias}.json"));
    }
    assert!(inspected(&place, "additive.json").contains("bias of position 10"));
    assert!(inspected(&place, "pairwise.json").contains("bias of clicks at position 10"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = place();
    for (arguments, expected) in [
        (
            "train prank --train log.jsonl -o m.json",
            "weighted clicks; use a learner that is a loss of scores",
        ),
        ("train list-net --train log.jsonl --clicks bare.jsonl.gz -o m.json", "is a log already"),
        ("train list-net --train bare.jsonl.gz -o m.json", "no session of the log has features"),
        ("train list-net --train train.txt --propensity theta.json -o m.json", "has no positions"),
        ("train list-net --train log.jsonl train.txt -o m.json", "some files of the training data are logs"),
        ("train list-net --train log.jsonl --workers 2 -o m.json", "which --workers cannot divide"),
        (
            "train list-net --train log.jsonl --propensity theta.json --clip 2 -o m.json",
            "must be from 0 to 1",
        ),
        ("train lambda-mart --train train.txt --set position_bias=additive -o m.json", "has no positions"),
        (
            "train lambda-mart --train log.jsonl --propensity theta.json --set position_bias=additive -o m.json",
            "use one of the two",
        ),
    ] {
        let said = place.fails(arguments);
        assert!(said.contains(expected), "{arguments}: {said}");
    }
}

/// A file that is a log by name is read as one, so the message is about sessions and not about labels.
#[test]
fn a_broken_log_is_explained_as_a_log() {
    let place = Place::new();
    std::fs::write(place.path("broken.jsonl"), "x\n").unwrap();
    let message = place.fails_with_report("train list-net --train broken.jsonl -o model.json");
    assert!(message.contains("broken.jsonl:1") && message.contains("session"), "{message}");
    assert!(!place.path("model.json").exists());
}
