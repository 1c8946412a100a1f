//! Scores of search engines, replayed and by another implementation.

use crate::models::*;
use rankwise::models::interchange::{Format, Vectors, export, replay, synthetic_rows};
use rankwise::models::{Ranker, checksum};
use serde_json::Value;

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
