//! Readers are given damaged copies of good files: they may refuse them in a sentence, and never panic.
//!
//! `RANKWISE_FUZZ_CASES` sets the number of cases for each reader.

use super::{Format, export, read, replay, samples};
use crate::data::files::fuzz::damaged;
use crate::models::{Activation, Layer, Model, NeuralNetwork, Ranker};
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
    b"[$",
    b"[#",
    b"$T#",
    b"L\x7f\xff\xff\xff\xff\xff\xff\xff",
    b"l\x7f\xff\xff\xff",
    b"i\xff",
    b"S",
    b"Z",
    b"T",
];

fn cases() -> u64 {
    std::env::var("RANKWISE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

/// What is accepted must also score, and be written again.
fn use_it(ranker: &Ranker) {
    let Model::Trees(ensemble) = &ranker.model else { panic!("no ensemble was read") };
    let mut score = [0.0];
    for row in [[0.0; 3], [f32::NAN; 3], [f32::MAX, -1.0, 1e-40]] {
        ensemble.outputs(crate::data::Row::Dense(&row), &mut score);
        assert!(!score[0].is_nan());
    }
    if ensemble.width() < 1000 {
        for format in Format::ALL {
            let written = export(ranker, format);
            assert!(format != Format::LightGbm || written.is_ok());
        }
    }
}

fn fuzz(format: Format) {
    let mut named = samples::ranker();
    named.columns.names = Some(vec!["a".into(), "b".into(), "c".into()]);
    let seeds = [samples::ranker(), named].map(|ranker| export(&ranker, format).unwrap().bytes);
    let mut random = rng::stream(12, &[format as u64]);
    let (mut good, mut bad, mut strange) = (0u64, 0u64, 0u64);
    for case in 0..cases() {
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
        for case in 0..cases() / 4 {
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
