//! The official LETOR script's evaluation of SVM-rank's scores on OHSUMED, to all the digits it prints.

use rankwise::metrics::{DocumentIds, JudgedList, evaluate_lists, parse_list, preset};
use std::io::Write;
use std::path::Path;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");

fn unpacked(path: &str) -> String {
    let file = std::fs::File::open(format!("{DATA}/{path}")).unwrap();
    String::from_utf8(zstd::decode_all(file).unwrap()).unwrap()
}

/// The labels of a LETOR file by query, in its order.
fn grades_by_query(text: &str) -> Vec<(&str, Vec<f32>)> {
    let mut queries: Vec<(&str, Vec<f32>)> = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let grade = words.next().unwrap().parse().unwrap();
        let id = words.next().unwrap().strip_prefix("qid:").unwrap();
        match queries.last_mut() {
            Some((last, grades)) if *last == id => grades.push(grade),
            _ => queries.push((id, vec![grade])),
        }
    }
    queries
}

/// What the script printed for the test subsets: for each fold, NDCG@1…10, MeanNDCG, P@1…10, MAP.
fn printed() -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(format!("{DATA}/golden/ohsumed-svm_rank/ndcg.txt")).unwrap();
    let of_test = text.split("Performance on validation set").next().unwrap();
    let row = |line: &str| line.split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<_> =
        of_test.lines().filter(|l| l.starts_with("Fold") && !l.starts_with("Folds")).map(row).collect();
    (0..5).map(|fold| [rows[fold].clone(), rows[fold + 5].clone()].concat()).collect()
}

#[test]
fn the_letor_preset_agrees_with_the_letor_script_to_its_last_digit() {
    if !Path::new(DATA).exists() {
        writeln!(std::io::stderr(), "skipped: {DATA} is not there").unwrap();
        return;
    }
    let metrics = parse_list("ndcg@1..10,mean-ndcg,p@1..10,map", &preset("letor").unwrap()).unwrap();
    for (fold, expected) in (1..).zip(printed()) {
        let text = unpacked(&format!("ohsumed/S{}.txt.zst", (fold + 3) % 5 + 1));
        let scores = unpacked(&format!("golden/ohsumed-svm_rank/fold{fold}.test_score.txt.zst"));
        let scores: Vec<f64> = scores.lines().map(|s| s.trim().parse().unwrap()).collect();
        let queries = grades_by_query(&text);
        let mut start = 0;
        let lists: Vec<JudgedList<'_>> = queries
            .iter()
            .map(|(id, labels)| {
                let scores = &scores[start..start + labels.len()];
                start += labels.len();
                JudgedList { id, labels, scores, document_ids: DocumentIds::Absent, weight: 1.0 }
            })
            .collect();
        assert_eq!(start, scores.len());
        let evaluation = evaluate_lists(&lists, &metrics).unwrap();
        let ours: Vec<String> =
            (0..metrics.len()).map(|m| format!("{:.4}", evaluation.mean(m).unwrap())).collect();
        assert_eq!(ours, expected, "fold {fold}");
    }
}
