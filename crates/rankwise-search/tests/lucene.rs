//! Rankings of public collections beside those of Lucene (Anserini 1.7.1, k1 1.2, b 0.75), if they are available.

use rankwise::data::trec::JudgedQuery;
use rankwise::data::{Topics, join, read_qrels, read_run};
use rankwise::metrics::{DocumentIds, JudgedList, evaluate_lists, parse, preset};
use rankwise_search::{Analyzer, Bm25, Document, Field, Index, Query, Schema, Value};
use serde_json::Value as Json;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/text");

/// The collection's directory; `None`, with a message, if it is not available.
fn collection(name: &str) -> Option<PathBuf> {
    let directory = Path::new(DATA).join(name);
    if !directory.exists() {
        // If the message cannot be printed, that is not a failure.
        let _ = writeln!(std::io::stderr(), "skipped: {name} is not in {DATA}");
        return None;
    }
    Some(directory)
}

fn read(path: &Path) -> String {
    String::from_utf8(zstd::decode_all(std::fs::File::open(path).unwrap()).unwrap()).unwrap()
}

fn document(line: &str) -> Document {
    let json: Json = serde_json::from_str(line).unwrap();
    let text = |name: &str| json[name].as_str().map(|text| (name.to_owned(), Value::Text(text.to_owned())));
    let fields = ["title", "body"].into_iter().filter_map(text).collect();
    Document { id: json["id"].as_str().unwrap().to_owned(), fields }
}

/// Answers all queries of a collection, as a run file.
fn run(directory: &Path) -> String {
    let work = tempfile::tempdir().unwrap();
    let text = |name: &str| Field::text(name, Analyzer::English);
    let index =
        Index::create(work.path().join("index"), &Schema::new([text("title"), text("body")]).unwrap())
            .unwrap();
    let mut writer = index.writer(Default::default()).unwrap();
    for line in read(&directory.join("docs.jsonl.zst")).lines() {
        writer.add(document(line)).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = index.snapshot().unwrap();
    let mut run = String::new();
    for line in read(&directory.join("queries.tsv.zst")).lines() {
        let (id, query) = line.split_once('\t').unwrap();
        let hits = snapshot.search(&Query::words(query), &Bm25::default(), 1000).unwrap();
        for (rank, hit) in hits.iter().enumerate() {
            writeln!(run, "{id} Q0 {} {} {} rankwise", hit.id, rank + 1, hit.score).unwrap();
        }
    }
    run
}

/// Mean average precision and nDCG@10 over the queries with judgements. All grades from 1 count the same: Cranfield's differ
/// between copies.
fn values(qrels: &Path, run: &Path) -> [f64; 2] {
    let mut judged = join(&read_qrels(qrels).unwrap(), &read_run(run).unwrap(), Topics::AllJudged);
    let labels = judged.queries.iter_mut().flat_map(|query| &mut query.labels);
    labels.filter(|label| **label > 1.0).for_each(|label| *label = 1.0);
    let lists: Vec<JudgedList<'_>> = judged.queries.iter().map(list).collect();
    let metrics = ["map", "ndcg@10"].map(|name| parse(name, &preset("trec").unwrap()).unwrap());
    let evaluation = evaluate_lists(&lists, &metrics).unwrap();
    [0, 1].map(|metric| evaluation.mean(metric).unwrap())
}

fn list(query: &JudgedQuery) -> JudgedList<'_> {
    JudgedList {
        id: &query.id,
        labels: &query.labels,
        scores: &query.scores,
        document_ids: DocumentIds::List(&query.document_ids),
        weight: 1.0,
    }
}

/// Checks that ours lie near Lucene's. Its run file has fewer documents than the 1,000 of its average precision, but its nDCG@10
/// follows from it.
fn check(name: &str, published: [f64; 2]) {
    let Some(directory) = collection(name) else { return };
    check_scores(&directory);
    let qrels = directory.join("qrels.txt.zst");
    let lucene = values(&qrels, &directory.join("lucene-bm25.run.zst"));
    let work = tempfile::tempdir().unwrap();
    let path = work.path().join("run");
    std::fs::write(&path, run(&directory)).unwrap();
    let ours = values(&qrels, &path);
    let _ = writeln!(std::io::stderr(), "{name}: ours {ours:.4?}, Lucene {lucene:.4?}");
    assert!(
        (lucene[1] - published[1]).abs() < 1e-4,
        "{name}: the run has {}, not {}",
        lucene[1],
        published[1]
    );
    for (ours, published) in ours.iter().zip(published) {
        assert!((ours - published).abs() < 0.01, "{name}: {ours}, but Lucene has {published}");
    }
}

/// A length as Lucene stores it: exact up to 40, above that with four bits.
fn in_one_byte(length: usize) -> usize {
    const EXACT: usize = 24;
    let above = length.saturating_sub(EXACT);
    let bits = (usize::BITS - above.leading_zeros()).saturating_sub(4);
    length - above + (above >> bits << bits)
}

/// Every score of Lucene's run is our BM25 with lengths of one byte: terms, statistics and formula are the same, and the
/// lengths are all that makes the rankings differ.
fn check_scores(directory: &Path) {
    let terms = |text: &str| Analyzer::English.terms(text);
    let documents: HashMap<String, Vec<String>> = read(&directory.join("docs.jsonl.zst"))
        .lines()
        .map(|line| {
            let Document { id, fields } = document(line);
            let texts = fields
                .into_iter()
                .map(|(_, value)| if let Value::Text(text) = value { text } else { String::new() });
            (id, terms(&texts.collect::<Vec<_>>().join("\n")))
        })
        .collect();
    let mut containing: HashMap<&str, f64> = HashMap::new();
    for words in documents.values() {
        let different: HashSet<&str> = words.iter().map(String::as_str).collect();
        different.into_iter().for_each(|word| *containing.entry(word).or_default() += 1.0);
    }
    let filled = documents.values().filter(|words| !words.is_empty()).count() as f64;
    let average = documents.values().map(Vec::len).sum::<usize>() as f64 / filled;
    let score = |query: &[String], words: &[String]| -> f64 {
        let saturation = 1.2 * (0.25 + 0.75 * in_one_byte(words.len()) as f64 / average);
        let of_term = |term: &String| {
            let frequency = words.iter().filter(|word| *word == term).count() as f64;
            let n = containing.get(term.as_str()).copied().unwrap_or(0.0);
            (1.0 + (filled - n + 0.5) / (n + 0.5)).ln() * frequency / (frequency + saturation)
        };
        query.iter().map(of_term).sum()
    };
    let queries = read(&directory.join("queries.tsv.zst"));
    let queries: HashMap<&str, Vec<String>> = queries
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(id, text)| (id, terms(text)))
        .collect();
    let run = read_run(&directory.join("lucene-bm25.run.zst")).unwrap();
    for topic in &run.topics {
        for (id, expected) in topic.documents.iter().zip(&topic.values) {
            let found = score(&queries[topic.id.as_str()], &documents[id]);
            assert!((found - expected).abs() < 6e-5, "{} {id}: {found}, but Lucene has {expected}", topic.id);
        }
    }
}

#[test]
fn lengths_of_one_byte() {
    // Some of the 256 lengths that Lucene's SmallFloat can hold, and lengths between them.
    for (length, stored) in [
        (0, 0),
        (23, 23),
        (24, 24),
        (39, 39),
        (40, 40),
        (41, 40),
        (42, 42),
        (57, 56),
        (75, 72),
        (120, 120),
        (1000, 984),
    ] {
        assert_eq!(in_one_byte(length), stored);
    }
}

#[test]
fn vaswani() {
    check("vaswani", [0.2855, 0.4326]);
}

#[test]
fn cranfield() {
    check("cranfield", [0.2953, 0.3742]);
}

#[test]
fn cacm() {
    check("cacm", [0.3407, 0.4942]);
}
