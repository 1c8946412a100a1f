//! Readers are given damaged copies of good files: they may refuse them in a sentence, and never panic.
//!
//! `RANKWISE_FUZZ_CASES` sets the number of cases for each reader.

use super::{Format, export, read, replay, samples};
use crate::data::Rows;
use crate::data::files::fuzz::{cases, damaged};
use crate::models::{Activation, Layer, Model, NeuralNetwork, Ranker, checksum};
use crate::rng;

/// What damage is made of, besides the file's own pieces.
const PIECES: &[&[u8]] = &[
    b"\n",
    b" ",
    b"=",
    b",",
    b"\0",
    b"\xff",
    b"\"",
    b"[",
    b"]",
    b"{",
    b"}",
    b"-",
    b"-1",
    b"1e99",
    b"1e400",
    b"nan",
    b"inf",
    b"NaN",
    b"null",
    b"true",
    b"0",
    b"2147483648",
    b"99999999999999999999",
    b"Tree=",
    b"##",
    b":",
    b"\t",
    b"<split>",
    b"</split>",
    b"</ensemble>",
    b"[$",
    b"[#",
    b"$T#",
    b"L\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"l\x7f\xff\xff\xff",
    b"i\xff",
    b"S",
    b"Z",
    b"T",
    b"cat_boundaries=0 1",
    b"num_cat=2",
    b"pandas_categorical:[[\"a\"]]",
    b"\"categories\":",
    b"[[],[1]]",
    b"16777216",
];

/// What is accepted must also score, and be written again.
fn use_it(ranker: &Ranker) {
    let width = ranker.model.width();
    if width >= 1000 {
        return;
    }
    for value in [0.0, f32::NAN, f32::MAX, -1.0, 1e-40] {
        let (row, mut score) = (vec![value; width], [0.0]);
        let scored = ranker.model.score_rows(Rows::dense(&row, width).unwrap(), &mut score);
        assert!(scored.is_err() || score[0].is_finite());
    }
    for format in Format::ALL {
        let written = export(ranker, format);
        let Model::Trees(ensemble) = &ranker.model else { continue };
        // LightGBM has no place for a missing category that goes left.
        let missing_left = ensemble.trees().iter().any(|tree| {
            (0..tree.features.len()).any(|node| tree.category_set(node).is_some() && tree.missing_left[node])
        });
        assert!(format != Format::LightGbm || written.is_ok() != missing_left);
    }
}

fn fuzz(format: Format) {
    let mut named = samples::ranker();
    named.columns.names = Some(vec!["a".into(), "b".into(), "c".into()]);
    let rankers = [samples::ranker(), named, samples::ranker_of_categories()];
    let written = rankers.iter().filter_map(|ranker| export(ranker, format).ok());
    fuzz_copies(&written.map(|exported| exported.bytes).collect::<Vec<_>>(), format as u64);
}

fn fuzz_copies(seeds: &[Vec<u8>], stream: u64) {
    let mut random = rng::stream(12, &[stream]);
    let (mut good, mut bad, mut strange) = (0u64, 0u64, 0u64);
    for case in 0..cases(10_000) {
        let bytes = damaged(&seeds[case as usize % seeds.len()], PIECES, &mut random);
        match read(&bytes) {
            Some(Ok(ranker)) => {
                good += 1;
                use_it(&ranker);
            }
            Some(Err(error)) => {
                bad += 1;
                let told = error.to_string();
                assert!(told.len() < 800 && !told.contains(char::is_control), "{told:?}");
            }
            None => strange += 1,
        }
    }
    assert!(good > 0 && bad > 0, "{good} accepted, {bad} refused, {strange} of another kind");
}

/// Files for engines are read to be replayed.
#[test]
fn damaged_models_for_engines_are_survived() {
    let ranker = samples::ranker();
    let linear = Ranker::of_model(Model::linear(vec![1.0; 3], 0.0), ranker.columns.clone()).unwrap();
    let layer = |outputs, weights| Layer { outputs, weights, biases: vec![0.5; outputs] };
    let layers = vec![layer(2, vec![0.25, -1.0, 3.0, 0.5, 2.0, -0.125]), layer(1, vec![1.0, -2.0])];
    let network =
        NeuralNetwork::new(vec![0.0, 1.0, 2.0], vec![1.0, 0.5, 4.0], Activation::Relu, layers).unwrap();
    let network = Ranker::of_model(Model::Network(network), ranker.columns.clone()).unwrap();
    for format in [Format::RankLib, Format::Elasticsearch, Format::ElasticsearchRankLib, Format::Solr] {
        let seeds: Vec<Vec<u8>> = [&ranker, &linear, &network]
            .iter()
            .filter_map(|r| export(r, format).ok())
            .map(|e| e.bytes)
            .collect();
        let mut random = rng::stream(13, &[format as u64]);
        let (mut good, mut bad) = (0u64, 0u64);
        for case in 0..cases(10_000) / 4 {
            let bytes = damaged(&seeds[case as usize % seeds.len()], PIECES, &mut random);
            match replay(&bytes, format, &ranker, &[vec![0.5, f32::NAN, -3.0]]) {
                Ok(_) => good += 1,
                Err(error) => {
                    bad += 1;
                    let told = error.to_string();
                    assert!(told.len() < 800 && !told.contains(char::is_control), "{told:?}");
                }
            }
        }
        assert!(good > 0 && bad > 0, "{format:?}: {good} accepted, {bad} refused");
    }
}

#[test]
fn damaged_catboost_models_are_survived() {
    fuzz_copies(&samples::CATBOOST.map(|text| text.as_bytes().to_vec()), 100);
}

#[test]
fn damaged_ranklib_models_are_survived() {
    fuzz_copies(&samples::RANKLIB.map(|(text, _)| text.as_bytes().to_vec()), 101);
}

#[test]
fn damaged_lightgbm_models_are_survived() {
    fuzz(Format::LightGbm);
}

#[test]
fn damaged_xgboost_models_are_survived() {
    fuzz(Format::XgBoost);
}

#[test]
fn damaged_ubjson_models_are_survived() {
    fuzz(Format::XgBoostUbj);
}

/// Our own files have a checksum, which damage by accident does not survive. Here it is mended after the damage.
#[test]
fn damaged_models_of_our_own_with_mended_checksums_are_survived() {
    let columns = samples::ranker().columns;
    let of = |model: Model| Ranker::of_model(model, columns.clone()).unwrap();
    let layer = |outputs, weights| Layer { outputs, weights, biases: vec![0.5; outputs] };
    let layers = vec![layer(2, vec![0.25, -1.0, 3.0, 0.5, 2.0, -0.125]), layer(1, vec![1.0, -2.0])];
    let network = NeuralNetwork::new(vec![0.0; 3], vec![1.0; 3], Activation::Tanh, layers).unwrap();
    let linear = of(Model::linear(vec![1.0, -2.0, 0.5], 0.25));
    let rankers = [samples::ranker(), linear, of(Model::Network(network)), samples::ranker_of_categories()];
    let seeds = rankers.map(|ranker| serde_json::to_vec(&ranker).unwrap());
    let mut random = rng::stream(14, &[]);
    let (mut good, mut bad) = (0u64, 0u64);
    for case in 0..cases(10_000) {
        let ranker = damaged(&seeds[case as usize % seeds.len()], PIECES, &mut random);
        let Ok(text) = std::str::from_utf8(&ranker) else { continue };
        let file = format!(
            "{{\"format\": \"rankwise-model\", \"version\": 2, \"checksum\": \"{}\", \"ranker\": {text}}}",
            checksum(text.as_bytes())
        );
        match Ranker::from_bytes(file.as_bytes()) {
            Ok(ranker) => {
                good += 1;
                use_it(&ranker);
                assert_eq!(Ranker::from_bytes(&ranker.to_bytes()).unwrap(), ranker);
            }
            Err(error) => {
                bad += 1;
                let told = error.to_string();
                assert!(told.len() < 800 && !told.contains(char::is_control), "{told:?}");
            }
        }
    }
    assert!(good > 0 && bad > 0, "{good} accepted, {bad} refused");
}
