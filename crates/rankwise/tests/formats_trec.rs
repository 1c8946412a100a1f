//! TREC judgements and runs, and score files.

use rankwise::data::trec::{JudgedQuery, Topics, join, read_qrels, read_run, write_qrels, write_run};
use rankwise::data::{Dataset, Features, Parts, ReadOptions, read, read_scores, write_scores};
use std::fs;
use std::io::Write;
use std::path::PathBuf;

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn five_documents(document_ids: Option<[&str; 5]>) -> Dataset {
    Dataset::new(Parts {
        features: Features::dense(1, vec![0.0; 5]),
        labels: vec![2.0, 0.0, 1.0, -1.0, 3.0],
        bounds: vec![0, 3, 5],
        query_ids: ["q1", "q2"].into_iter().collect(),
        document_ids: document_ids.map(|ids| ids.into_iter().collect()),
        ..Parts::default()
    })
    .unwrap()
}

#[test]
fn topics_and_documents_keep_the_order_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let qrels = read_qrels(&file(&folder, "q", "\u{feff}9 0 b -2\r\n\n 7\t0  a 1 \n9 x a 3")).unwrap();
    let seen: Vec<_> = qrels
        .topics
        .iter()
        .map(|t| (t.id.as_str(), t.documents.iter().collect::<Vec<_>>(), t.values.clone()))
        .collect();
    assert_eq!(seen, [("9", vec!["b", "a"], vec![-2, 3]), ("7", vec!["a"], vec![1])]);
    let run = read_run(&file(&folder, "r", "9 Q0 z 1 -1e-3 first\n9 0 y first 7 second\n")).unwrap();
    assert_eq!((run.topics[0].values.as_slice(), run.tag.as_str()), (&[-0.001, 7.0][..], "first"));
}

/// Topics A (in both), B and D (only judged) and C (only in the run), worked out by hand.
#[test]
fn a_run_is_joined_with_its_judgements() {
    let folder = tempfile::tempdir().unwrap();
    let qrels = file(&folder, "q", "A 0 d1 2\nA 0 d2 0\nB 0 d1 1\nA 0 d3 -1\nD 0 d1 0\n");
    let run = file(&folder, "r", "C Q0 d1 1 1 t\nA Q0 d9 1 0.5 t\nA Q0 d2 2 0.75 t\n");
    let (qrels, run) = (read_qrels(&qrels).unwrap(), read_run(&run).unwrap());
    let both = join(&qrels, &run, Topics::InBoth);
    assert_eq!((both.missing, both.unjudged, both.queries.len()), (2, 1, 1));
    let JudgedQuery { id, labels, scores, document_ids, retrieved } = &both.queries[0];
    assert_eq!((id.as_str(), *retrieved), ("A", 2));
    assert_eq!(document_ids, &["d9", "d2", "d1", "d3"]);
    assert!(labels[0].is_nan());
    assert_eq!((&labels[1..], scores.as_slice()), (&[0.0, 2.0, -1.0][..], &[0.5, 0.75][..]));
    assert_eq!(
        both.notes,
        [
            "2 topics in the judgements but not in the run: left out of the averages",
            "1 topic in the run but not judged: left out"
        ]
    );
    let complete = join(&qrels, &run, Topics::AllJudged);
    assert_eq!(complete.queries.len(), 3);
    let missing = &complete.queries[1];
    assert_eq!((missing.id.as_str(), missing.retrieved, missing.labels.as_slice()), ("B", 0, &[1.0][..]));
    assert!(complete.notes[0].contains("counted as having retrieved nothing"));
}

#[test]
fn written_judgements_and_runs_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let (qrels, run) = (folder.path().join("q.gz"), folder.path().join("r.zst"));
    let data = five_documents(Some(["a", "b", "c", "a", "b"]));
    let scores = [0.1, 0.30000000000000004, 0.1, 1e-300, 5.0];
    assert!(write_qrels(&data, &qrels).unwrap().is_empty());
    assert!(write_run(&data, &scores, &run, "mine").unwrap().is_empty());
    let (qrels, run) = (read_qrels(&qrels).unwrap(), read_run(&run).unwrap());
    assert_eq!(qrels.topics[1].values, [-1, 3]);
    assert_eq!(run.topics[0].documents.iter().collect::<Vec<_>>(), ["b", "a", "c"]);
    assert_eq!(run.topics[0].values, [0.30000000000000004, 0.1, 0.1]);
    assert_eq!(run.topics[1].values, [5.0, 1e-300]);
    assert_eq!(run.tag, "mine");
}

#[test]
fn documents_without_id_are_numbered_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let notes = write_run(&five_documents(None), &[1.0, 2.0, 0.5, 0.0, -1.0], &path, "t").unwrap();
    assert_eq!(
        notes,
        ["5 of 5 documents have no id and are written as QID-N, for the N-th document of query QID"]
    );
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().next(), Some("q1 Q0 q1-2 1 2 t"));
    assert_eq!(text.lines().last(), Some("q2 Q0 q2-2 2 -1 t"));
}

#[test]
fn data_that_trec_files_cannot_hold_are_refused_and_no_file_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let run =
        |data: &Dataset, scores: &[f64], tag| write_run(data, scores, &path, tag).unwrap_err().to_string();
    let plain = five_documents(None);
    assert!(
        run(&five_documents(Some(["a", "b", "a", "c", "d"])), &[0.0; 5], "t")
            .contains("two documents with the id `a`")
    );
    assert!(run(&five_documents(Some(["a", "b c", "d", "c", "d"])), &[0.0; 5], "t").contains("the id `b c`"));
    assert!(run(&plain, &[0.0; 4], "t").contains("4 scores for 5 documents"));
    assert!(run(&plain, &[0.0, 0.0, f64::NAN, 0.0, 0.0], "t").contains("score of document 3 is NaN"));
    assert!(run(&plain, &[0.0; 5], "my run").contains("one word, not `my run`"));
    let mut parts = plain.into_parts();
    parts.labels[1] = 0.5;
    let error = write_qrels(&Dataset::new(parts).unwrap(), &path).unwrap_err().to_string();
    assert!(error.contains("document `q1-2` of query `q1` has the label 0.5"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn scores_read_back_to_the_last_bit() {
    let folder = tempfile::tempdir().unwrap();
    let scores = [0.1 + 0.2, -0.0, 1.0, f64::MIN_POSITIVE, f64::MAX, 5e-324, -123456.789];
    for name in ["s.txt", "s.txt.gz", "s.zst"] {
        let path = folder.path().join(name);
        write_scores(&path, &scores).unwrap();
        let read = read_scores(&path, scores.len()).unwrap();
        assert!(read.iter().zip(&scores).all(|(a, b)| a.to_bits() == b.to_bits()), "{name}");
    }
    let error = write_scores(&folder.path().join("x"), &[1.0, f64::INFINITY]).unwrap_err().to_string();
    assert_eq!(error, "the score of document 2 is inf");
    let path = file(&folder, "spaces", "  1 \r\n2\t\r\n\r\n\n");
    assert_eq!(read_scores(&path, 2).unwrap(), [1.0, 2.0]);
}

/// Scores of another tool: fold 1 was tested on subset S5, fold 2 on S1, and so on.
#[test]
fn scores_of_another_tool_fit_the_subsets_they_were_made_for() {
    let shared = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    if !shared.exists() {
        let _ = writeln!(std::io::stderr(), "skipped: {} is not there", shared.display());
        return;
    }
    let mut documents = 0;
    for (fold, part) in [(1, 5), (2, 1), (3, 2), (4, 3), (5, 4)] {
        let data =
            read(&shared.join(format!("ohsumed/S{part}.txt.zst")), &ReadOptions::default()).unwrap().data;
        let scores = shared.join(format!("golden/ohsumed-svm_rank/fold{fold}.test_score.txt.zst"));
        documents += read_scores(&scores, data.len()).unwrap().len();
    }
    assert_eq!(documents, 16_140, "as the data's own description counts them");
}
