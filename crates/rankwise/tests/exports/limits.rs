//! What is refused, what is left out of a comparison, and how deep a tree may be.

use crate::models::*;
use rankwise::models::interchange::{Format, Vectors, export, replay, synthetic_rows};
use rankwise::models::{Activation, Layer, Model, NeuralNetwork, Ranker};
use rankwise::trees::Tree;
use serde_json::{Value, json};

#[test]
fn what_an_engine_cannot_hold_is_refused() {
    let refusal = |ranker: &Ranker, format| export(ranker, format).unwrap_err().to_string();
    let mut twice = trees(2, 0.0, vec![]);
    twice.columns.names = Some(["same", "same"].map(String::from).to_vec());
    let large = trees(1, 0.0, vec![Tree::constant(1e39, 1.0)]);
    let steep = ranker(Model::linear(vec![1e39], 0.0));
    let network = network(Activation::Relu, &[1]);
    for format in [Format::Elasticsearch, Format::Solr] {
        assert!(refusal(&twice, format).contains("two of the model's features are called `same`"));
        assert!(
            refusal(&large, format).contains("too large") && refusal(&steep, format).contains("too large")
        );
    }
    for format in [Format::Elasticsearch, Format::OpenSearch] {
        assert!(refusal(&network, format).contains("ONNX"));
    }
    assert!(refusal(&steep, Format::Onnx).contains("too large"));
    assert!(export(&twice, Format::Onnx).is_ok());
    let numbered = export(&trees(3, 0.0, vec![]), Format::Solr).unwrap();
    assert!(numbered.notes.iter().any(|note| note.contains("1 to 3")), "{:?}", numbered.notes);
}

/// A score that single precision cannot hold is nobody's fault: such rows are not made up.
#[test]
fn rows_are_made_up_that_can_be_scored() {
    let steep = ranker(Model::linear(vec![1e38, 2.0], 0.0));
    let layer = Layer { outputs: 1, weights: vec![3e38], biases: vec![0.0] };
    let mlp = NeuralNetwork::new(vec![0.0], vec![1e-30], Activation::Relu, vec![layer]).unwrap();
    for ranker in [steep, ranker(Model::Network(mlp)), trees(1, 3e38, vec![Tree::constant(3e38, 1.0)])] {
        let exported = export(&ranker, Format::Onnx).unwrap();
        let rows = synthetic_rows(&ranker, &exported, 100);
        let vectors = Vectors::new(&ranker, &exported, rows).unwrap();
        assert!(vectors.scores.iter().all(|score| score.abs() < 3.4e38));
    }
}

/// The readers of Elasticsearch and OpenSearch take a thousand levels of JSON, which are 499 of a tree; Solr's reader and
/// RankLib's set no bound.
#[test]
fn deep_trees_break_nothing() {
    for levels in [70, 130, 300, 499, 500, 30_000] {
        let ranker = trees(2, 0.0, vec![rope(levels)]);
        let rows = [vec![0.25, 0.25], vec![-2.0, 0.0], vec![f32::NAN, f32::MAX]];
        let scores =
            Vectors::new(&ranker, &export(&ranker, Format::Onnx).unwrap(), rows.to_vec()).unwrap().scores;
        assert_eq!(scores[0], levels as f64, "the first row goes all the way down");
        for format in ENGINES.into_iter().chain([Format::Onnx]) {
            let exported = export(&ranker, format).unwrap();
            let found = replay(&exported.bytes, format, &ranker, &rows[..2]);
            let is_elastic = [Format::Elasticsearch, Format::OpenSearch].contains(&format);
            let is_noted = exported.notes.iter().any(|note| note.contains("reads at most 499"));
            assert_eq!(is_noted, is_elastic && levels >= 500, "{format:?} {levels}: {:?}", exported.notes);
            match format {
                Format::Onnx => assert_eq!(found.unwrap(), None),
                _ if is_noted => assert!(found.unwrap_err().to_string().contains("at most 1000")),
                _ => assert_eq!(found.unwrap().unwrap(), scores[..2], "{format:?} {levels}"),
            }
        }
    }
}

#[test]
fn vectors_can_be_read_by_anyone() {
    let mut ranker = trees(2, 1.0, vec![stump(1, 1.5, true, [2.0, 4.0])]);
    ranker.columns.names = Some(["a", "b \"c\""].map(String::from).to_vec());
    let exported = export(&ranker, Format::RankLib).unwrap();
    let rows = Vectors::seen_by(&exported, vec![vec![0.5, f32::NAN], vec![f32::MAX, 1.6]]);
    let vectors = Vectors::new(&ranker, &exported, rows).unwrap();
    let file: Value = serde_json::from_slice(&vectors.to_json(&ranker, Format::RankLib)).unwrap();
    assert_eq!((&file["of"], &file["scaling"]), (&json!("ranklib"), &Value::Null));
    assert_eq!(file["features"], json!(["a", "b \"c\""]));
    assert_eq!(file["rows"][0]["features"], json!([0.5, null]));
    assert_eq!(file["rows"][1]["features"], json!([f64::from(f32::MAX), f64::from(1.6f32)]));
    assert_eq!([&file["rows"][0]["score"], &file["rows"][1]["score"]], [3.0, 5.0]);
    assert!(file["rows"][1]["allowed"].as_f64().unwrap() < 1e-4);
    // Missing goes where 0 does not: RankLib sees 0, and the file says so.
    let elsewhere = changed(&ranker, CHANGES[2]);
    let exported = export(&elsewhere, Format::RankLib).unwrap();
    assert_eq!(Vectors::seen_by(&exported, vec![vec![f32::NAN; 2]]), [[0.0; 2]]);
    assert!(synthetic_rows(&elsewhere, &exported, 500).iter().flatten().all(|x| !x.is_nan()));
    assert!(vectors.compare(&[3.0]).is_err());
    let wrong = vectors.compare(&[3.0, f64::NAN]).unwrap();
    assert_eq!((wrong.first_off, wrong.off, wrong.greatest), (Some(1), 1, f64::INFINITY));
}
