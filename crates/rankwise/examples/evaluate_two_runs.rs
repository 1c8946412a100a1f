//! Is the new system better than the old one, or was it luck?
//!
//! Reads judgements (TREC qrels) and the runs of two systems, computes metrics with trec_eval's conventions and tests the
//! difference query by query. Run it with
//!
//! ```sh
//! cargo run --release -p rankwise --example evaluate_two_runs [QRELS OLD_RUN NEW_RUN]
//! ```
//!
//! Without arguments it writes three small files of its own.

#![allow(clippy::print_stdout)]

use rankwise::data::{Topics, join, read_qrels, read_run};
use rankwise::experiment::{Comparison, ComparisonOptions, SystemValues};
use rankwise::metrics::{DocumentIds, Evaluation, JudgedList, evaluate_lists, parse_list, preset};
use std::error::Error;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn Error>> {
    let own = tempfile::tempdir()?;
    let given: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [qrels, old, new] = match <[PathBuf; 3]>::try_from(given) {
        Ok(files) => files,
        Err(given) if given.is_empty() => sample_files(own.path())?,
        Err(_) => return Err("usage: evaluate_two_runs [QRELS OLD_RUN NEW_RUN]".into()),
    };

    let (old, new) = (evaluate_run(&qrels, &old)?, evaluate_run(&qrels, &new)?);
    println!("{:<12} {:>8} {:>8}", "metric", "old", "new");
    for (m, metric) in old.metrics.iter().enumerate() {
        let mean = |run: &Evaluation| run.mean(m).map_or("-".into(), |mean| format!("{mean:.4}"));
        println!("{metric:<12} {:>8} {:>8}", mean(&old), mean(&new));
    }

    // Both runs were judged on the same topics in the same order, so the values of a metric are paired.
    let system =
        |name: &str, run: &Evaluation| SystemValues { name: name.into(), values: run.values[0].clone() };
    let queries = old.query_ids.iter().map(String::as_str).collect();
    let options = ComparisonOptions { baseline: Some(0), ..ComparisonOptions::default() };
    let comparison = Comparison::new(&[system("old", &old), system("new", &new)], &queries, &options)?;
    let pair = &comparison.pairs[0];
    println!(
        "\n{}: {:+.4} on average over {} queries, 95 % CI {:+.4} to {:+.4}",
        old.metrics[0], pair.difference, comparison.queries, pair.interval.low, pair.interval.high
    );
    println!("won {}, tied {}, lost {}", pair.wins, pair.ties, pair.losses);
    println!("p = {:.4} (paired randomisation), {:.4} (paired t-test)", pair.p_permutation, pair.p_t);

    // A difference is convincing when chance alone would rarely give one as large.
    let verdict =
        if pair.p_permutation < 0.05 { "different" } else { "not distinguishable on these queries" };
    println!("The systems are {verdict}.");
    if own.path().join("qrels.txt").exists() {
        assert!(pair.difference > 0.0 && pair.p_permutation < 0.05);
    }
    Ok(())
}

/// Metrics of a run on every judged topic: one that the run lacks counts as an empty ranking.
fn evaluate_run(qrels: &Path, run: &Path) -> Result<Evaluation, Box<dyn Error>> {
    let judged = join(&read_qrels(qrels)?, &read_run(run)?, Topics::AllJudged);
    let lists: Vec<JudgedList<'_>> = judged
        .queries
        .iter()
        .map(|query| JudgedList {
            id: &query.id,
            labels: &query.labels,
            scores: &query.scores,
            weight: 1.0,
            document_ids: DocumentIds::List(&query.document_ids),
        })
        .collect();
    // A preset says which of the usual conventions hold: gains, ties, unjudged documents, queries without relevant ones.
    let metrics = parse_list("ndcg@10,map,mrr", &preset("trec")?)?;
    Ok(evaluate_lists(&lists, &metrics)?)
}

/// Twelve topics of eight documents, the last two of them relevant. The old system finds them in places 3 and 6, the new
/// one in places 1 and 4, except on topic 12, which it loses.
fn sample_files(directory: &Path) -> std::io::Result<[PathBuf; 3]> {
    let (mut qrels, mut old, mut new) = (String::new(), String::new(), String::new());
    for topic in 1..=12 {
        for document in 1..=8 {
            let grade = if document > 6 { document - 6 } else { 0 };
            qrels += &format!("{topic} 0 d{document} {grade}\n");
        }
        let old_places = [3, 6];
        let new_places = if topic < 12 { [1, 4] } else { [7, 8] };
        for (run, places, tag) in [(&mut old, old_places, "old"), (&mut new, new_places, "new")] {
            let (mut others, mut relevant) = (1..=6, 7..=8);
            for place in 1..=8 {
                let from = if places.contains(&place) { &mut relevant } else { &mut others };
                let document = from.next().unwrap_or_default();
                *run += &format!("{topic} Q0 d{document} {place} {} {tag}\n", 100 - place);
            }
        }
    }
    let write = |name: &str, text: String| {
        let path = directory.join(name);
        std::fs::write(&path, text).map(|()| path)
    };
    Ok([write("qrels.txt", qrels)?, write("old.txt", old)?, write("new.txt", new)?])
}
