//! Solr's thresholds, parameters and networks.

use crate::models::*;
use rankwise::models::interchange::{Format, Vectors, export, replay, synthetic_rows};
use rankwise::models::{Activation, Layer, Model, NeuralNetwork};
use serde_json::{Value, json};

/// Around thresholds of 1e-12 every float goes where the model sends it: nothing is left out of the comparison.
#[test]
fn thresholds_near_zero_are_exact_in_solr() {
    let ranker = small_thresholds();
    let exported = export(&ranker, Format::Solr).unwrap();
    assert!(exported.divergent.is_empty(), "{:?}", exported.divergent);
    assert!(exported.notes.iter().any(|note| note.contains("power of two")), "{:?}", exported.notes);
    let document: Value = serde_json::from_slice(&exported.bytes).unwrap();
    let norm = &document["features"][0]["norm"];
    assert_eq!(norm["class"], "org.apache.solr.ltr.norm.StandardNormalizer");
    assert_eq!(norm["params"]["avg"], "0.0");
    let deviation: f32 = norm["params"]["std"].as_str().unwrap().parse().unwrap();
    assert_eq!(deviation.to_bits() & 0x7f_ffff, 0, "{deviation:e} is no power of two");
    let mut rows = Vec::new();
    for t in [1e-12, 3.3e-12, -2e-12, 0.0, 5e-13, -1e-13, 0.75f32] {
        for x in [t, t.next_up(), t.next_down(), f32::NAN] {
            rows.extend([vec![x, 0.0], vec![0.0, x], vec![x, x], vec![f32::MAX, x], vec![f32::MIN, x]]);
        }
    }
    let found = replay(&exported.bytes, Format::Solr, &ranker, &rows).unwrap().unwrap();
    let verdict = Vectors::new(&ranker, &exported, rows).unwrap().compare(&found).unwrap();
    assert_eq!((verdict.off, verdict.greatest), (0, 0.0));
}

/// Solr's setter takes a boolean and refuses a text; every other parameter of a tree is a text.
#[test]
fn solr_parameters_have_the_types_of_its_setters() {
    let ranker = trees(1, 0.0, vec![stump(0, 1.5, false, [2.0, 4.0])]);
    let bytes = export(&ranker, Format::Solr).unwrap().bytes;
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("\"isNullSameAsZero\":false"), "{text}");
    let answer = |text: &str| {
        let found = replay(text.as_bytes(), Format::Solr, &ranker, &[vec![f32::NAN]]);
        found.map_or_else(|error| error.to_string(), |scores| format!("{:?}", scores.unwrap()))
    };
    assert_eq!(answer(&text), "[4.0]");
    for (from, to, wanted) in [
        (
            "\"isNullSameAsZero\":false",
            "\"isNullSameAsZero\":\"false\"",
            "`isNullSameAsZero` is not true or false",
        ),
        ("\"weight\":\"1\"", "\"weight\":1", "`weight` is not a text"),
        ("\"2.0\"", "2.0", "`value` is not a text"),
        ("\"missing\":\"right\"", "\"missing\":\"up\"", "sends missing values to `up`"),
        ("\"missing\":", "\"default\":", "Solr knows no `default`"),
        ("\"isNullSameAsZero\":false", "\"isNullSameAsZero\":true", "[2.0]"),
    ] {
        assert!(text.contains(from), "{text}");
        let found = answer(&text.replace(from, to));
        assert!(found.contains(wanted), "{to}: {found}");
    }
}

/// A network of two hidden units over features with a mean and a factor; the last feature has no influence.
#[test]
fn networks_stand_as_solr_wants_them() {
    let layer = |outputs, weights: &[f32], biases: &[f32]| Layer {
        outputs,
        weights: weights.to_vec(),
        biases: biases.to_vec(),
    };
    let layers =
        vec![layer(2, &[2.0, -1.0, 9.0, 1.0, 0.5, 9.0], &[1.0, -3.0]), layer(1, &[1.0, -2.0], &[0.5])];
    let network =
        NeuralNetwork::new(vec![10.0, 0.0, 1.0], vec![0.25, -1.0, 0.0], Activation::Relu, layers).unwrap();
    let mut ranker = ranker(Model::Network(network));
    ranker.columns.names = Some(["a", "b", "c"].map(String::from).to_vec());
    let exported = export(&ranker, Format::Solr).unwrap();
    let norm = |avg: &str, std: &str| json!({ "class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": { "avg": avg, "std": std } });
    let expected = json!({
        "class": "org.apache.solr.ltr.model.NeuralNetworkModel", "name": "lightgbm",
        "features": [{ "name": "a", "norm": norm("10.0", "4.0") }, { "name": "b", "norm": norm("0.0", "1.0") }],
        "params": { "layers": [
            { "matrix": [[2.0, 1.0], [1.0, -0.5]], "bias": [1.0, -3.0], "activation": "relu" },
            { "matrix": [[1.0, -2.0]], "bias": [0.5], "activation": "identity" },
        ] },
    });
    assert_eq!(serde_json::from_slice::<Value>(&exported.bytes).unwrap(), expected);
    // a = (x − 10) / 4 = 5 and b = 2: max(0, 1 + 10 + 2) − 2·max(0, −3 + 5 − 1) + 0.5.
    let rows = [vec![30.0, 2.0, 7.0], vec![30.0, 2.0, f32::NAN]];
    let found = replay(&exported.bytes, Format::Solr, &ranker, &rows).unwrap().unwrap();
    assert_eq!(found, [11.5, 11.5]);
    assert!(exported.missing_as_zero && exported.notes.iter().any(|note| note.contains("defaultValue")));
    let whole = String::from_utf8(exported.bytes).unwrap().replace("-3.0", "-3");
    let refusal = replay(whole.as_bytes(), Format::Solr, &ranker, &rows).unwrap_err().to_string();
    assert!(refusal.contains("with a fraction"), "{refusal}");
}

#[test]
fn networks_score_in_solr_as_the_model_does() {
    let shapes: [(Activation, &[usize]); 4] = [
        (Activation::Relu, &[5, 3, 1]),
        (Activation::Tanh, &[4, 1]),
        (Activation::Tanh, &[1]),
        (Activation::Relu, &[32, 16, 1]),
    ];
    for (activation, sizes) in shapes {
        let ranker = network(activation, sizes);
        let exported = export(&ranker, Format::Solr).unwrap();
        let rows = synthetic_rows(&ranker, &exported, 500);
        assert!(rows.len() >= 256 && rows.iter().flatten().all(|x| !x.is_nan()));
        let found = replay(&exported.bytes, Format::Solr, &ranker, &rows).unwrap().unwrap();
        let vectors = Vectors::new(&ranker, &exported, rows).unwrap();
        assert_eq!(vectors.compare(&found).unwrap().off, 0, "{activation:?} {sizes:?}");
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        assert!(found.iter().any(|score| (score - mean).abs() > 0.1), "all scores are alike");
    }
    let steep = NeuralNetwork::new(
        vec![0.0],
        vec![1e-39],
        Activation::Relu,
        vec![Layer { outputs: 1, weights: vec![1.0], biases: vec![0.0] }],
    );
    let refusal = export(&ranker(Model::Network(steep.unwrap())), Format::Solr).unwrap_err().to_string();
    assert!(refusal.contains("normalizer cannot hold"), "{refusal}");
}
