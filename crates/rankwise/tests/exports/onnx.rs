//! Against the answers of ONNX Runtime and of eland's ensembles.

use crate::models::*;
use rankwise::models::interchange::{Format, Vectors, export, synthetic_rows};
use rankwise::models::{Activation, Combine, Model, OrdinalModel, Ranker, checksum};
use rankwise::trees::Tree;
use serde_json::{Value, json};
use std::path::PathBuf;

/// What ONNX takes.
fn onnx_models() -> Vec<(&'static str, Ranker)> {
    let weights = vec![0.5, -2.0, 1e-3, 0.0];
    let ordinal = Model::Ordinal(OrdinalModel {
        weights: weights.clone(),
        thresholds: vec![0.0],
        grades: vec![0.0, 1.0],
    });
    vec![
        ("linear", ranker(Model::linear(weights, 0.75))),
        ("ordinal", ranker(ordinal)),
        ("lightgbm", stored("lightgbm-names.txt")),
        ("xgboost", stored("xgboost-ndcg.json")),
        ("odd-thresholds", odd_thresholds()),
        ("softmax", combined(Combine::Softmax { grades: vec![0.0, 1.0, 4.0] }, 3)),
        ("expected-grade", combined(Combine::Ordinal { grades: vec![-1.0, 1.0, 4.0] }, 2)),
        ("no-trees", trees(1, 0.5, vec![])),
        ("one-leaf", trees(1, 0.5, vec![Tree::constant(2.0, 1.0), stump(0, 1.0, true, [1.0, 3.0])])),
        ("categories", categories()),
        ("relu", network(Activation::Relu, &[5, 3, 1])),
        ("tanh", network(Activation::Tanh, &[4, 1])),
        ("one-layer", network(Activation::Tanh, &[1])),
    ]
}

#[test]
#[ignore = "writes what testdata/onnx/make.py takes"]
fn write_cases() {
    let place = PathBuf::from(std::env::var("RANKWISE_ONNX_CASES").unwrap());
    std::fs::create_dir_all(&place).unwrap();
    let mut cases = Vec::new();
    for (name, ranker) in onnx_models() {
        let exported = export(&ranker, Format::Onnx).unwrap();
        let rows: Vec<String> = synthetic_rows(&ranker, &exported, 60).iter().map(|row| bits(row)).collect();
        cases.push(json!({ "name": name, "checksum": checksum(&exported.bytes), "rows": rows }));
        std::fs::write(place.join(format!("{name}.onnx")), exported.bytes).unwrap();
    }
    std::fs::write(place.join("cases.json"), Value::from(cases).to_string()).unwrap();
}

/// The rows and what ONNX Runtime gave for them, of the file that is still written to the last byte.
fn onnx_answer(name: &str, bytes: &[u8]) -> (Vec<Vec<f32>>, Vec<f64>) {
    let answers: Vec<Value> =
        serde_json::from_slice(&std::fs::read(testdata("onnx/answers.json")).unwrap()).unwrap();
    let answer =
        answers.iter().find(|a| a["name"] == name).unwrap_or_else(|| panic!("no answers for {name}"));
    assert_eq!(answer["checksum"], checksum(bytes), "{name}: another file than ONNX Runtime scored");
    let texts = |key: &str| -> Vec<String> { serde_json::from_value(answer[key].clone()).unwrap() };
    let scores =
        texts("scores").iter().map(|s| f64::from_bits(u64::from_str_radix(s, 16).unwrap())).collect();
    (texts("rows").iter().map(|row| row_of(row)).collect(), scores)
}

#[test]
fn onnx_runtime_scores_as_the_model_does() {
    for (name, ranker) in onnx_models() {
        let exported = export(&ranker, Format::Onnx).unwrap();
        let (rows, scores) = onnx_answer(name, &exported.bytes);
        assert!(rows.iter().flatten().any(|x| x.is_nan()), "{name} was not tried with missing values");
        let verdict = Vectors::new(&ranker, &exported, rows).unwrap().compare(&scores).unwrap();
        assert_eq!(verdict.off, 0, "{name}: {verdict:?}");
    }
}

/// Scores of the ensembles that eland makes of exported XGBoost files (`testdata/interchange/make_eland.py`).
#[test]
fn elastic_scores_as_the_model_does() {
    let bytes = std::fs::read(testdata("interchange/eland.json")).unwrap();
    let answers: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(answers.len(), 2);
    for answer in answers {
        let name = answer["file"].as_str().unwrap();
        let ranker = stored(name);
        let exported = export(&ranker, Format::XgBoost).unwrap();
        assert_eq!(answer["checksum"], checksum(&exported.bytes), "{name}: another file than eland read");
        let texts = |key: &str| -> Vec<String> { serde_json::from_value(answer[key].clone()).unwrap() };
        let rows: Vec<Vec<f32>> = texts("rows").iter().map(|row| row_of(row)).collect();
        assert!(rows.len() > 40 && rows.iter().flatten().any(|x| x.is_nan()), "{name}");
        let scores: Vec<f64> =
            texts("scores").iter().map(|s| f64::from_bits(u64::from_str_radix(s, 16).unwrap())).collect();
        let verdict = Vectors::new(&ranker, &exported, rows).unwrap().compare(&scores).unwrap();
        assert_eq!(verdict.off, 0, "{name}: {verdict:?}");
    }
}

/// The stored rows would tell a threshold from its neighbours, and each way of missing values from the other.
#[test]
fn the_answers_would_show_a_wrong_test() {
    for (name, ranker) in onnx_models().into_iter().filter(|(name, _)| ["lightgbm", "xgboost"].contains(name))
    {
        let exported = export(&ranker, Format::Onnx).unwrap();
        let (rows, scores) = onnx_answer(name, &exported.bytes);
        for change in CHANGES {
            let other = changed(&ranker, change);
            let verdict = Vectors::new(&other, &exported, rows.clone()).unwrap().compare(&scores).unwrap();
            assert!(verdict.off > 0, "{name}");
        }
    }
}
