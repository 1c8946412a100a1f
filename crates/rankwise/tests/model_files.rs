//! Model files: damaged, foreign, newer and hostile ones are refused with a reason, and never panic.

use proptest::prelude::*;
use rankwise::data::{Columns, Dataset, Features, Normalizer};
use rankwise::metrics::Conventions;
use rankwise::models::interchange::{Format, export};
use rankwise::models::{
    Activation, Layer, LearnerCard, Model, NeuralNetwork, Numbering, OrdinalModel, Outcome, Provenance,
    Ranker, Record, TreeEnsemble,
};
use rankwise::trees::Tree;

fn example() -> Ranker {
    let provenance = Provenance {
        learner: LearnerCard { name: "x".into(), title: "X".into(), citations: vec!["a2000b".into()] },
        parameters: "c = 0.1\nname = \"é\"".parse().unwrap(),
        metric: "ndcg@10".into(),
        conventions: Conventions::default(),
        seed: u64::MAX >> 1,
        scorer: Some("linear".into()),
        data: Some("xxh3:0123".into()),
        clicks: None,
        version: Some("1.2.3".into()),
        record: Record {
            outcome: Outcome::Converged,
            rounds: 3,
            figures: vec![("gap".into(), 1e-300)],
            notes: vec!["a \"quoted\" note".into()],
        },
    };
    let columns =
        Columns { first_id: 0, names: Some(vec!["a".into(), "b".into(), "c".into()]), ..Columns::default() };
    let model = Model::linear(vec![0.1, -1.0 / 3.0, 1e-45], f64::MAX);
    Ranker::new(model, columns, Some(Normalizer::parse("log,min-max").unwrap()), provenance).unwrap()
}

/// The example with another model.
fn with_model(model: Model) -> Ranker {
    let mut ranker = example();
    ranker.model = model;
    ranker
}

fn text() -> String {
    String::from_utf8(example().to_bytes()).unwrap()
}

fn refusal(text: &str) -> String {
    Ranker::from_bytes(text.as_bytes()).unwrap_err().to_string()
}

/// The text with `from` replaced in the model and the checksum made right again, as a forger would.
fn forged(from: &str, to: &str) -> String {
    let text = text();
    assert!(text.contains(from), "{from} is not in the file");
    let (head, ranker) = text.split_once("\"ranker\": ").unwrap();
    resealed(&format!("{head}\"ranker\": {}", ranker.replace(from, to)))
}

/// The text with a checksum that is right for its model.
fn resealed(text: &str) -> String {
    let (head, ranker) = text.split_once("\"ranker\": ").unwrap();
    let ranker = ranker.strip_suffix("\n}\n").unwrap();
    let sum = xxhash_rust::xxh3::xxh3_64(ranker.as_bytes());
    let start = head.find("xxh3:").unwrap() + 5;
    format!("{}{sum:016x}{}\"ranker\": {ranker}\n}}\n", &head[..start], &head[start + 16..])
}

#[test]
fn a_model_comes_back_bit_by_bit() {
    assert_eq!(Ranker::from_bytes(&example().to_bytes()).unwrap(), example());
    assert!(Ranker::from_bytes(forged("\"rounds\":3", "\"rounds\":4").as_bytes()).is_ok());
}

#[test]
fn every_kind_of_damage_has_its_own_message() {
    assert_eq!(refusal(""), "it is empty or cut short");
    assert_eq!(refusal(&text()[..200]), "it is empty or cut short");
    let none = "it is not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib";
    assert_eq!(refusal("0 qid:1 1:0.5\n"), none);
    let onnx = "it is a model in the format onnx, which is written but not read";
    assert_eq!(refusal("\u{8}\u{9}\u{12}\u{3}abc"), onnx);
    assert!(refusal("{\"a\": 1]}").starts_with("it is not a valid JSON document"));
    let words = refusal(&forged("\"rounds\":3", "\"rounds\":-3"));
    assert!(words.contains("expected a whole number that is not negative at"), "{words}");
    assert!(refusal("{\"a\": 1}").contains("not marked as a rankwise-model"));
    assert!(refusal(&text().replace("\"version\": 2", "\"version\": 3")).contains("use a newer one"));
    assert!(refusal(&text().replace("\"version\": 2", "\"version\": 0")).contains("no valid format version"));
    assert!(refusal(&text().replace("-0.333", "-0.334")).contains("checksum"));
    assert!(refusal(&forged("\"kind\":\"linear\"", "\"kind\":\"oracle\"")).contains("oracle"));
    assert!(refusal(&forged("\"rounds\":3", "\"rounds\":3,\"extra\":1")).contains("extra"));
    assert!(refusal(&forged("[\"a\",\"b\",\"c\"]", "[\"a\"]")).contains("another number of features"));
    assert!(refusal(&forged("\"weights\":[", "\"weights\":[1e999,")).contains("out of range"));
    assert!(refusal(&forged("\"first_id\":0", "\"first_id\":4000000000")).contains("first feature"));
    assert_eq!(refusal(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))), none);
}

#[test]
fn a_model_with_thresholds_comes_back_and_broken_ones_are_refused() {
    let with = |thresholds: &[f64], grades: &[f32]| {
        let (weights, thresholds) = (vec![1.0, 2.0, 3.0], thresholds.to_vec());
        with_model(Model::Ordinal(OrdinalModel { weights, thresholds, grades: grades.to_vec() }))
    };
    let whole = with(&[-0.1, 0.7, 0.7], &[0.0, 0.1, 2.0, 4.0]);
    assert_eq!(Ranker::from_bytes(&whole.to_bytes()).unwrap(), whole);
    for (thresholds, grades, expected) in [
        (&[0.5][..], &[0.0, 1.0, 2.0][..], "3 grades and 1 thresholds"),
        (&[0.5], &[0.0], "1 grades and 1 thresholds"),
        (&[], &[], "0 grades and 0 thresholds"),
        (&[0.5, 0.4], &[0.0, 1.0, 2.0], "thresholds are not finite and ascending"),
        (&[0.4, 0.5], &[0.0, 2.0, 1.0], "grades are not finite and ascending"),
        (&[0.4, 0.5], &[0.0, 1.0, 1.0], "grades are not finite and ascending"),
        (&[f64::NAN], &[0.0, 1.0], "a field is not valid"),
    ] {
        let bytes = with(thresholds, grades).to_bytes();
        let error = Ranker::from_bytes(&bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{thresholds:?} {grades:?}: {error}");
    }
    let large = String::from_utf8(with(&[0.5], &[0.0, 1.0]).to_bytes()).unwrap();
    assert!(refusal(&resealed(&large.replace("[0.0,1.0]", "[0.0,1e300]"))).contains("grades are not finite"));
}

#[test]
fn a_network_comes_back_and_broken_ones_are_refused() {
    let hidden =
        Layer { outputs: 2, weights: vec![0.1, -2.0, 1e-45, 3.5, 0.0, f32::MAX], biases: vec![-0.3, 7.0] };
    let last = Layer { outputs: 1, weights: vec![0.7, -1.0 / 3.0], biases: vec![0.9] };
    let network =
        NeuralNetwork::new(vec![1.5, 0.0, -2.0], vec![0.5, 0.0, 4.0], Activation::Tanh, vec![hidden, last])
            .unwrap();
    let whole = with_model(Model::Network(network));
    assert_eq!(Ranker::from_bytes(&whole.to_bytes()).unwrap(), whole);
    let text = String::from_utf8(whole.to_bytes()).unwrap();
    for (from, to, expected) in [
        ("\"outputs\":2", "\"outputs\":18446744073709551615", "biases for 18446744073709551615 units"),
        ("\"outputs\":2", "\"outputs\":0", "biases for 0 units"),
        ("\"outputs\":1", "\"outputs\":-1", "a field is not valid"),
        ("\"biases\":[0.8", "\"biases\":[1e39,0.8", "2 biases for 1 units"),
        ("[0.5,0.0,4.0]", "[0.5,0.0,1e300]", "not finite"),
        ("[0.5,0.0,4.0]", "[0.5,0.0]", "3 means and 2 factors"),
        ("[0.5,0.0,4.0]", "[0.5,null,4.0]", "a field is not valid"),
        ("\"tanh\"", "\"softmax\"", "softmax"),
        ("\"means\"", "\"extra\":1,\"means\"", "extra"),
        ("[1.5,0.0,-2.0]", "[]", "no features"),
    ] {
        assert!(text.contains(from), "{from} is not in {text}");
        let error = refusal(&resealed(&text.replacen(from, to, 1)));
        assert!(error.contains(expected), "{from} → {to}: {error}");
    }
}

#[test]
fn a_file_that_is_no_model_is_named() {
    let path = tempfile::tempdir().unwrap().keep().join("m.json");
    std::fs::write(&path, "{}").unwrap();
    let message = Ranker::load(&path).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{} cannot be used as a model: ", path.display())), "{message}");
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

fn data(first_id: u32, names: Option<&[&str]>, width: usize, values: Vec<f32>) -> Dataset {
    let names = names.map(|n| n.iter().map(|n| n.to_string()).collect());
    let rows = values.len() / width;
    let data = Dataset::dense(values, width, vec![0.0; rows], &[rows]).unwrap();
    data.with_columns(Columns { first_id, names, ..Columns::default() }).unwrap()
}

fn linear(first_id: u32, names: Option<&[&str]>) -> Ranker {
    let mut ranker = example();
    ranker.normalizer = None;
    ranker.columns = data(first_id, names, 3, vec![0.0; 3]).columns().clone();
    ranker.model = Model::linear(vec![1.0, 10.0, 100.0], 0.5);
    ranker
}

#[test]
fn features_are_found_by_name_whatever_their_order() {
    let ranker = linear(1, Some(&["a", "b", "c"]));
    let shuffled = data(1, Some(&["c", "z", "a", "b"]), 4, vec![3.0, 9.0, 1.0, 2.0]);
    assert_eq!(ranker.score(&shuffled).unwrap(), [321.5]);
    let lacking = data(1, Some(&["a", "b"]), 2, vec![1.0, 2.0]);
    assert!(ranker.score(&lacking).unwrap_err().to_string().contains("lacks the model's feature `c`"));
    let numbered = data(1, None, 3, vec![1.0; 3]);
    assert!(ranker.score(&numbered).unwrap_err().to_string().contains("named features"));
}

#[test]
fn numbered_features_must_count_alike_and_may_end_early() {
    let ranker = linear(1, None);
    assert_eq!(ranker.score(&data(1, None, 2, vec![1.0, 2.0])).unwrap(), [21.5]);
    let from_zero = ranker.score(&data(0, None, 3, vec![1.0; 3])).unwrap_err().to_string();
    assert!(from_zero.contains("from 1") && from_zero.contains("has a feature 0"), "{from_zero}");
    let from_one = linear(0, None).score(&data(1, None, 3, vec![1.0; 3])).unwrap_err().to_string();
    assert!(from_one.ends_with("read it with the first id 0"), "{from_one}");
    let wide = ranker.score(&data(1, None, 4, vec![1.0; 4])).unwrap_err().to_string();
    assert!(wide.starts_with("the data has 4 features, up to number 4, and the model has 3;"), "{wide}");
}

/// A model that uses few of the features in its data, as RankLib's are, ignores the others.
#[test]
fn an_open_ended_model_ignores_features_behind_its_last() {
    let mut ranker = linear(1, None);
    ranker.numbering = Numbering::OpenEnded;
    let rows = [1.0, 2.0, 3.0, 9.0, 9.0, 0.0, 0.0, 4.0, 0.0, 9.0];
    let dense = data(1, None, 5, rows.to_vec());
    assert_eq!(ranker.score(&dense).unwrap(), [321.5, 400.5]);
    let mut parts = dense.into_parts();
    parts.features = Features::Sparse {
        width: 5,
        starts: vec![0, 5, 7],
        columns: vec![0, 1, 2, 3, 4, 2, 4],
        values: vec![1.0, 2.0, 3.0, 9.0, 9.0, 4.0, 9.0],
    };
    assert_eq!(ranker.score(&Dataset::new(parts).unwrap()).unwrap(), [321.5, 400.5]);
    assert_eq!(Ranker::from_bytes(&ranker.to_bytes()).unwrap(), ranker);
}

/// The number of features is a number in the file, and nothing must be allocated by it.
#[test]
fn a_model_of_trees_cannot_claim_any_number_of_features() {
    let tree = |feature| Tree {
        features: vec![feature],
        thresholds: vec![0.5],
        missing_left: vec![true],
        left: vec![!0],
        right: vec![!1],
        gains: vec![1.0],
        values: vec![1.0, 2.0],
        covers: vec![1.0; 2],
        ..Tree::default()
    };
    let of = |width, feature| {
        let mut ranker = linear(1, None);
        ranker.model = Model::Trees(TreeEnsemble::sum(width, 0.0, vec![tree(feature)]).unwrap());
        ranker
    };
    for width in [i64::MAX as usize, (1 << 24) + 1] {
        let error = Ranker::from_bytes(&of(width, 2).to_bytes()).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("it says that it has {width} features, and more than 16777216 are not allowed")
        );
    }
    let wide = Ranker::from_bytes(&of(1 << 24, 2).to_bytes()).unwrap();
    let error = export(&wide, Format::Solr).unwrap_err().to_string();
    assert!(error.contains("has 16777216 features"), "{error}");
    // Used columns, and those that the data has, stay. Few columns stay as they are.
    let width = |ranker: Ranker, columns| ranker.narrowed(columns).model.width();
    assert_eq!([width(wide.clone(), 1), width(wide.clone(), 9)], [3, 9]);
    assert_eq!(width(of(1 << 24, (1 << 24) - 1), 1), 1 << 24);
    assert_eq!(width(of(1 << 16, 2), 1), 1 << 16);
    assert_eq!(width(linear(1, None), 1), 3);
    let sparse = data(1, None, 4, vec![0.0, 0.0, 0.7, 0.0]);
    assert_eq!(wide.clone().narrowed(4).score(&sparse).unwrap(), wide.score(&sparse).unwrap());
}

#[test]
fn a_score_that_is_not_finite_is_an_error() {
    let mut ranker = linear(1, None);
    ranker.model = Model::linear(vec![1e300, 0.0, 0.0], 0.0);
    let error = ranker.score(&data(1, None, 3, vec![1e38, 0.0, 0.0])).unwrap_err().to_string();
    assert!(error.contains("document 1"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn no_change_of_bytes_panics_or_goes_unnoticed(at in 0usize..1000, byte in 0u8.., cut in proptest::option::of(0usize..1000)) {
        let mut bytes = example().to_bytes();
        let whole = bytes.clone();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(cut.unwrap_or(bytes.len()));
        if let Ok(ranker) = Ranker::from_bytes(&bytes) {
            // Only white space outside the model may differ.
            prop_assert!(ranker == example(), "byte {at} of {}", whole.len());
        }
    }
}
