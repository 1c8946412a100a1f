//! Linear models and trees as they stand in the files.

use crate::models::*;
use rankwise::models::interchange::{Format, Vectors, export, replay, synthetic_rows};
use rankwise::models::{Activation, Model};
use serde_json::{Value, json};

/// RankLib scores linear models in double precision, with their bias.
#[test]
fn linear_models_go_to_ranklib_with_their_bias() {
    let ranker = ranker(Model::linear(vec![0.1, -2.0, 0.0, 1e-300], 0.7));
    let exported = export(&ranker, Format::RankLib).unwrap();
    assert_eq!((exported.omitted_bias, exported.single_precision), (0.0, false));
    let rows = synthetic_rows(&ranker, &exported, 300);
    assert!(rows.iter().flatten().any(|x| x.is_nan()));
    let found = replay(&exported.bytes, Format::RankLib, &ranker, &rows).unwrap().unwrap();
    let vectors = Vectors::new(&ranker, &exported, rows).unwrap();
    assert_eq!(vectors.compare(&found).unwrap().off, 0);
    let network = network(Activation::Relu, &[1]);
    assert!(export(&network, Format::RankLib).unwrap_err().to_string().contains("ONNX"));
}

#[test]
fn linear_models_go_to_engines_without_their_bias() {
    let mut ranker = ranker(Model::linear(vec![0.5, -2.0, 0.0], 0.75));
    ranker.columns.names = Some(["bm 25", "a \"b\"", "längd"].map(String::from).to_vec());
    for format in [Format::Elasticsearch, Format::Solr] {
        let exported = export(&ranker, format).unwrap();
        assert_eq!(exported.omitted_bias, 0.75);
        assert!(exported.notes.iter().any(|note| note.contains("bias of 0.75")));
        let rows = vec![vec![2.0, 1.0, 9.0], vec![f32::NAN, 3.0, f32::NAN]];
        assert_eq!(replay(&exported.bytes, format, &ranker, &rows).unwrap().unwrap(), [-1.0, -6.0]);
        assert_eq!(Vectors::new(&ranker, &exported, rows).unwrap().scores, [-1.0, -6.0]);
    }
    let solr: Value = serde_json::from_slice(&export(&ranker, Format::Solr).unwrap().bytes).unwrap();
    let expected = json!({
        "class": "org.apache.solr.ltr.model.LinearModel", "name": "lightgbm",
        "features": [{ "name": "bm 25" }, { "name": "a \"b\"" }],
        "params": { "weights": { "bm 25": 0.5, "a \"b\"": -2.0 } },
    });
    assert_eq!(solr, expected);
    let elastic: Value =
        serde_json::from_slice(&export(&ranker, Format::Elasticsearch).unwrap().bytes).unwrap();
    let expected = json!({ "model": { "name": "lightgbm", "model": {
        "type": "model/linear", "definition": "{\"bm 25\":0.5,\"a \\\"b\\\"\":-2.0}",
    } } });
    assert_eq!(elastic, expected);
}

/// One tree: x ≤ 1.5 (missing: left) gives 3, else 5; the base of 1 is in its leaves.
#[test]
fn trees_stand_as_the_engines_want_them() {
    let mut ranker = trees(2, 1.0, vec![stump(1, 1.5, true, [2.0, 4.0])]);
    ranker.columns.names = Some(["a", "b"].map(String::from).to_vec());
    let document =
        |format| -> Value { serde_json::from_slice(&export(&ranker, format).unwrap().bytes).unwrap() };
    let elastic = document(Format::Elasticsearch);
    let definition = elastic["model"]["model"]["definition"].as_str().unwrap();
    // The next float above 1.5 in every digit, since the engine asks x < t.
    let expected = json!([{
        "nodeid": 0, "depth": 0, "split": "b", "split_condition": 1.5000001192092896, "yes": 1, "no": 2, "missing": 1,
        "children": [{ "nodeid": 1, "leaf": 3.0 }, { "nodeid": 2, "leaf": 5.0 }],
    }]);
    assert_eq!(serde_json::from_str::<Value>(definition).unwrap(), expected);
    assert_eq!(elastic["model"]["model"]["type"], "model/xgboost+json");
    // 1.5 − 1e-6 in single precision: 1.49999904632568359375.
    let solr = document(Format::Solr);
    let expected = json!({
        "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel", "name": "lightgbm",
        "features": [{ "name": "b" }],
        "params": { "trees": [{ "weight": "1", "root": {
            "feature": "b", "threshold": "1.499999", "left": { "value": "3.0" }, "right": { "value": "5.0" },
        } }] },
    });
    assert_eq!(solr, expected);
    let mut other = ranker.clone();
    other.model = changed(&ranker, CHANGES[2]).model;
    let solr: Value = serde_json::from_slice(&export(&other, Format::Solr).unwrap().bytes).unwrap();
    assert_eq!(solr["params"]["isNullSameAsZero"], false);
    assert_eq!(solr["params"]["trees"][0]["root"]["missing"], "right");
    let ranklib = document(Format::ElasticsearchRankLib);
    let text = ranklib["model"]["model"]["definition"].as_str().unwrap();
    assert!(
        text.contains("<feature> 2 </feature>") && text.contains("<threshold> 1.5 </threshold>"),
        "{text}"
    );
}
