//! Rank fusion against the stored answers of ranx (`testdata/fusion/generate.py`), and runs written and read back.

use rankwise::data::fusion::{FusionMethod, ScoreNormalization, fuse};
use rankwise::data::trec::{Topic, TrecRun, read_run};
use serde::Deserialize;
use std::collections::BTreeMap;

type Lists = BTreeMap<String, BTreeMap<String, f64>>;

#[derive(Deserialize)]
struct Stored {
    versions: BTreeMap<String, String>,
    sets: BTreeMap<String, Vec<Lists>>,
    answers: Vec<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    set: String,
    method: String,
    norm: String,
    #[serde(default)]
    k: f64,
    values: Lists,
}

impl Answer {
    fn method(&self) -> FusionMethod {
        let normalization = match self.norm.as_str() {
            "none" => ScoreNormalization::None,
            "min-max" => ScoreNormalization::MinMax,
            "max" => ScoreNormalization::Max,
            "sum" => ScoreNormalization::Sum,
            "zmuv" => ScoreNormalization::ZScore,
            "rank" => ScoreNormalization::Rank,
            other => panic!("{other}"),
        };
        match self.method.as_str() {
            "rrf" => FusionMethod::Rrf { k: self.k },
            "sum" => FusionMethod::CombSum(normalization),
            "mnz" => FusionMethod::CombMnz(normalization),
            other => panic!("{other}"),
        }
    }
}

fn stored() -> Stored {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/fusion/answers.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn run(lists: &Lists) -> TrecRun {
    let topic = |(id, list): (&String, &BTreeMap<String, f64>)| Topic {
        id: id.clone(),
        documents: list.keys().collect(),
        values: list.values().copied().collect(),
    };
    TrecRun { topics: lists.iter().map(topic).collect(), tag: "t".into() }
}

#[test]
fn every_method_and_normalization_gives_the_scores_of_ranx() {
    let stored = stored();
    assert!(stored.versions.contains_key("ranx") && stored.answers.len() == 24);
    for answer in &stored.answers {
        let what = format!("{} {} of {}", answer.method, answer.norm, answer.set);
        let runs: Vec<TrecRun> = stored.sets[&answer.set].iter().map(run).collect();
        let fused = fuse(&runs, answer.method(), None, "f").unwrap();
        assert_eq!((fused.run.topics.len(), fused.incomplete), (answer.values.len(), 0));
        for topic in &fused.run.topics {
            let theirs = &answer.values[&topic.id];
            assert_eq!(topic.documents.len(), theirs.len(), "{what}, {}", topic.id);
            for (document, score) in topic.documents.iter().zip(&topic.values) {
                let expected = theirs[document];
                assert!(
                    (score - expected).abs() <= 1e-9 * expected.abs().max(1.0),
                    "{what}, {} {document}: {score}, ranx {expected}",
                    topic.id
                );
            }
            let descends = topic.values.windows(2).all(|pair| pair[0] >= pair[1]);
            assert!(descends, "{what}: {:?}", topic.values);
        }
    }
}

#[test]
fn a_fused_run_is_read_back_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<TrecRun> = stored().sets["tied"].iter().map(run).collect();
    let method = FusionMethod::CombMnz(ScoreNormalization::ZScore);
    let fused = fuse(&runs, method, Some(5), "fused").unwrap().run;
    let path = folder.path().join("fused.run.zst");
    fused.write(&path).unwrap();
    assert_eq!(read_run(&path).unwrap(), fused);
    let spaced = TrecRun { tag: "two words".into(), ..fused };
    assert!(spaced.write(&path).unwrap_err().to_string().contains("one word"));
}
