//! Models written for runtimes and search engines: against the answers of ONNX Runtime (`testdata/onnx/make.py`), and
//! against the formats' own way to score, replayed.

use rankwise::data::Columns;
use rankwise::models::interchange::{Format, Vectors, export, replay, synthetic_rows};
use rankwise::models::{
    Activation, Combine, Layer, Model, NeuralNetwork, OrdinalModel, Ranker, TreeEnsemble, checksum,
};
use rankwise::trees::Tree;
use serde_json::{Value, json};
use std::path::PathBuf;

const ENGINES: [Format; 5] =
    [Format::Elasticsearch, Format::ElasticsearchRankLib, Format::OpenSearch, Format::Solr, Format::RankLib];

fn testdata(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata")).join(name)
}

/// A stored model of another tool, its first column called 1 where it has no name.
fn stored(name: &str) -> Ranker {
    let ranker = Ranker::load(&testdata("interchange").join(name)).unwrap();
    if ranker.columns.names.is_some() { ranker } else { ranker.with_first_id(1).unwrap() }
}

fn ranker(model: Model) -> Ranker {
    let mut ranker = Ranker::of_model(model, Columns::default()).unwrap();
    // The name is in the files that ONNX Runtime scored.
    ranker.learner.name = "lightgbm".into();
    ranker
}

fn stump(feature: u32, threshold: f32, missing_left: bool, values: [f64; 2]) -> Tree {
    Tree {
        features: vec![feature],
        thresholds: vec![threshold],
        missing_left: vec![missing_left],
        left: vec![!0],
        right: vec![!1],
        gains: vec![1.0],
        values: values.to_vec(),
        covers: vec![1.0; 2],
        ..Tree::default()
    }
}

fn trees(width: usize, base: f64, trees: Vec<Tree>) -> Ranker {
    ranker(Model::Trees(TreeEnsemble::sum(width, base, trees).unwrap()))
}

/// Thresholds at the ends and around 0, missing by turns to the left and the right; every leaf has its own size.
fn odd_thresholds() -> Ranker {
    let tiny = f32::from_bits(1);
    let odd = [0.0, -0.0, tiny, -tiny, 1e-40, 1.5, 0.1, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY];
    let stumps = odd.iter().enumerate().map(|(i, &t)| {
        let size = f64::from(1 << i);
        stump(i as u32 % 2, t, i % 3 == 0, [size, -size / 2.0])
    });
    trees(2, -1.25, stumps.collect())
}

/// Features around 1e-12, one of them with a threshold of everyday size as well.
fn small_thresholds() -> Ranker {
    let small = [1e-12, 3.3e-12, -2e-12, 0.0, 5e-13, -1e-13, 0.75];
    let stumps = small.iter().enumerate().map(|(i, &t)| {
        let size = f64::from(1 << i);
        stump(i as u32 % 2, t, i % 3 == 0, [size, -size / 2.0])
    });
    trees(2, 0.5, stumps.collect())
}

/// A tree like a rope: every second test on the way down has its leaf on the other side.
fn rope(levels: usize) -> Tree {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for i in 0..levels as i32 {
        let next = if i + 1 < levels as i32 { i + 1 } else { !(i + 1) };
        let (low, high) = if i % 2 == 0 { (!i, next) } else { (next, !i) };
        left.push(low);
        right.push(high);
    }
    let half = |i: usize| (levels - i) as f32 / 2.0;
    Tree {
        features: (0..levels).map(|i| i as u32 % 2).collect(),
        // The way down goes to the right of ever larger and to the left of ever smaller thresholds.
        thresholds: (0..levels).map(|i| if i % 2 == 0 { -half(i) } else { half(i) }).collect(),
        missing_left: (0..levels).map(|i| i % 3 == 0).collect(),
        left,
        right,
        gains: vec![0.0; levels],
        values: (0..=levels).map(|i| i as f64).collect(),
        covers: vec![1.0; levels + 1],
        ..Tree::default()
    }
}

fn combined(combine: Combine, outputs: usize) -> Ranker {
    let base = (0..outputs).map(|k| 0.5 - k as f64).collect();
    let stumps =
        (0..2 * outputs).map(|t| stump(t as u32 % 2, t as f32 / 3.0, t % 2 == 0, [0.75, -0.1 * t as f64]));
    ranker(Model::Trees(TreeEnsemble::new(2, base, combine, stumps.collect()).unwrap()))
}

/// Sets of categories of all sizes, missing by turns to the left and the right, beside thresholds of the same trees.
fn categories() -> Ranker {
    let sets = [
        vec![0],
        vec![3],
        vec![1, 2, 31, 32, 33],
        (0..70).map(|i| 3 * i).collect(),
        vec![5, 100_000, 16_777_215],
    ];
    let tree = |i: usize| {
        let size = f64::from(1 << i);
        let mut tree = Tree {
            features: vec![0, 1, 0],
            thresholds: vec![0.0, 0.5, 0.0],
            missing_left: vec![i.is_multiple_of(2), true, i.is_multiple_of(3)],
            left: vec![1, !0, !2],
            right: vec![2, !1, !3],
            gains: vec![1.0; 3],
            values: vec![size, -size, size / 2.0, -size / 4.0],
            covers: vec![1.0; 4],
            ..Tree::default()
        };
        tree.categories = vec![sets[i].clone(), vec![], sets[(i + 1) % sets.len()].clone()];
        tree
    };
    trees(2, 0.25, (0..sets.len()).map(tree).collect())
}

/// A network with weights that repeat no pattern, and a feature far from 0 that varies little.
fn network(activation: Activation, sizes: &[usize]) -> Ranker {
    let mut state = 7u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let mut inputs = 4;
    let mut layer = |&outputs: &usize| {
        let weights = (0..outputs * inputs).map(|_| next()).collect();
        let layer = Layer { outputs, weights, biases: (0..outputs).map(|_| next()).collect() };
        inputs = outputs;
        layer
    };
    let layers = sizes.iter().map(&mut layer).collect();
    let (means, factors) = (vec![1e6, 0.0, -3.5, 0.25], vec![2.0, 1.0, 0.125, 0.0]);
    ranker(Model::Network(NeuralNetwork::new(means, factors, activation, layers).unwrap()))
}

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

fn bits(row: &[f32]) -> String {
    row.iter().map(|x| format!("{:08x}", x.to_bits())).collect()
}

fn row_of(digits: &str) -> Vec<f32> {
    let number = |i: usize| f32::from_bits(u32::from_str_radix(&digits[8 * i..8 * i + 8], 16).unwrap());
    (0..digits.len() / 8).map(number).collect()
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

fn changed(ranker: &Ranker, change: fn(&mut Tree)) -> Ranker {
    let Model::Trees(ensemble) = &ranker.model else { panic!("no trees") };
    let mut trees = ensemble.trees().to_vec();
    trees.iter_mut().for_each(change);
    let model =
        TreeEnsemble::new(ensemble.width(), ensemble.base().to_vec(), ensemble.combine().clone(), trees);
    let mut changed = ranker.clone();
    changed.model = Model::Trees(model.unwrap());
    changed
}

const CHANGES: [fn(&mut Tree); 3] = [
    |tree| tree.thresholds.iter_mut().for_each(|t| *t = t.next_up()),
    |tree| tree.thresholds.iter_mut().for_each(|t| *t = t.next_down()),
    |tree| tree.missing_left.iter_mut().for_each(|left| *left = !*left),
];

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

fn engine_models() -> Vec<Ranker> {
    let mut models: Vec<Ranker> =
        ["lightgbm-names.txt", "lightgbm-no-missing.txt", "xgboost-ndcg.json", "xgboost-dart.ubj"]
            .map(stored)
            .to_vec();
    models.extend([
        odd_thresholds(),
        small_thresholds(),
        trees(2, 0.0, vec![rope(300)]),
        trees(1, 0.5, vec![]),
        trees(1, 0.0, vec![stump(0, -3.0, true, [1.0, 2.0])]),
    ]);
    models
}

#[test]
fn engines_score_as_the_model_does() {
    for ranker in engine_models() {
        for format in ENGINES {
            let exported = export(&ranker, format).unwrap();
            let rows = synthetic_rows(&ranker, &exported, 2000);
            assert!(rows.len() >= 256);
            let found = replay(&exported.bytes, format, &ranker, &rows).unwrap().unwrap();
            let verdict = Vectors::new(&ranker, &exported, rows).unwrap().compare(&found).unwrap();
            assert_eq!(verdict.off, 0, "{format:?} of {:?}: {verdict:?}", ranker.model);
        }
    }
}

/// Scores by another implementation of the engines, in their arithmetic (`testdata/engines/make.py`): of the file that is
/// still written to the last byte, near the model's, and the same bits as the replay's.
#[test]
fn another_implementation_of_the_engines_agrees() {
    let bytes = std::fs::read(testdata("engines/answers.json")).unwrap();
    let answers: Vec<Value> = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(answers.len(), 16);
    for answer in answers {
        let (model, format) = (answer["model"].as_str().unwrap(), answer["format"].as_str().unwrap());
        let ranker = Ranker::load(&testdata(model)).unwrap();
        let format = Format::parse(format).unwrap();
        let exported = export(&ranker, format).unwrap();
        assert_eq!(
            answer["checksum"],
            checksum(&exported.bytes),
            "{model}, {format:?}: another file was scored"
        );
        let texts = |key: &str| -> Vec<String> { serde_json::from_value(answer[key].clone()).unwrap() };
        let rows: Vec<Vec<f32>> = texts("rows").iter().map(|row| row_of(row)).collect();
        let scores: Vec<f64> =
            texts("scores").iter().map(|s| f64::from_bits(u64::from_str_radix(s, 16).unwrap())).collect();
        let replayed = replay(&exported.bytes, format, &ranker, &rows).unwrap().unwrap();
        assert_eq!(replayed, scores, "{model}, {format:?}");
        let verdict = Vectors::new(&ranker, &exported, rows).unwrap().compare(&scores).unwrap();
        assert_eq!(verdict.off, 0, "{model}, {format:?}: {verdict:?}");
    }
}

/// A file of another model is found out, be it different by a float at each threshold.
#[test]
fn a_file_of_another_model_is_found_out() {
    for ranker in ["lightgbm-no-missing.txt", "xgboost-ndcg.json"].map(stored) {
        for format in ENGINES {
            let exported = export(&ranker, format).unwrap();
            let rows = synthetic_rows(&ranker, &exported, 2000);
            let vectors = Vectors::new(&ranker, &exported, rows).unwrap();
            for change in &CHANGES[..2] {
                let other = export(&changed(&ranker, *change), format).unwrap();
                let found = replay(&other.bytes, format, &ranker, &vectors.rows).unwrap().unwrap();
                assert!(vectors.compare(&found).unwrap().off > 0, "{format:?}");
            }
        }
    }
}

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
