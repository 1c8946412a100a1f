//! Models that were saved in format version 1 load for ever, and give the scores that they gave then.

use rankwise::data::{Dataset, ReadOptions, read};
use rankwise::models::Ranker;
use std::path::{Path, PathBuf};

const MODELS: [&str; 6] = ["linear", "linear-scaled", "ordinal", "trees", "trees-of-grades", "network"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/format-1")
}

fn documents() -> Dataset {
    read(&folder().join("documents.txt"), &ReadOptions::default()).unwrap().data
}

fn numbers<T: std::str::FromStr<Err: std::fmt::Debug>>(name: &str) -> Vec<T> {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    text.lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn models_of_format_1_give_the_same_scores() {
    let data = documents();
    for name in MODELS {
        let ranker = Ranker::load(&folder().join(format!("{name}.json"))).unwrap();
        assert_eq!(ranker.score(&data).unwrap(), numbers::<f64>(&format!("{name}.scores")), "{name}");
        assert_eq!((ranker.version, ranker.data, ranker.scorer), (None, None, None), "{name}");
    }
    let ordinal = Ranker::load(&folder().join("ordinal.json")).unwrap();
    assert_eq!(ordinal.grades(&data).unwrap(), numbers::<f32>("ordinal.grades"));
}

/// Only the format version in the envelope changes.
#[test]
fn models_of_format_1_are_saved_again_with_the_same_bytes() {
    for name in MODELS {
        let old = std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap();
        let ranker = Ranker::from_bytes(old.as_bytes()).unwrap();
        let new = String::from_utf8(ranker.to_bytes()).unwrap();
        assert_eq!(new, old.replacen("\"version\": 1", "\"version\": 2", 1), "{name}");
        assert_eq!(Ranker::from_bytes(new.as_bytes()).unwrap(), ranker, "{name}");
    }
}
