//! Times BM25 beside tantivy's own searcher, and the raw statistics of candidates.
//!
//! ```text
//! cargo run --profile dist -p rankwise-search --example search_bench -- DOCUMENTS DIRECTORY
//! ```
//!
//! The indexes in the directory are made if they are not there: of synthetic documents whose words have Zipf's law, with five
//! fields, by Rankwise and by tantivy with its lengths of one byte.

use rankwise_search::search::Candidate;
use rankwise_search::{
    Address, Analyzer, Bm25, Document, FeatureRows, FeatureSet, Field, Hit, Index, Query, Schema, Scope,
    Snapshot, Value, WriterOptions,
};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{IndexRecordOption, STRING, TextFieldIndexing, TextOptions};

const FIELDS: [(&str, usize); 5] =
    [("title", 8), ("body", 120), ("summary", 20), ("anchors", 12), ("keywords", 5)];
const WORDS: f64 = 200_000.0;
const QUERIES: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, documents, directory] = &arguments[..] else { return Err("give DOCUMENTS and DIRECTORY".into()) };
    let (documents, directory) = (documents.parse()?, Path::new(directory));
    let snapshot = ours(documents, &directory.join("rankwise"))?;
    let theirs = tantivys(documents, &directory.join("tantivy"))?;
    let mut out = std::io::stdout();
    for fields in [&["body"][..], &["title", "body", "summary", "anchors", "keywords"]] {
        let weights = fields.iter().map(|name| (name.to_string(), 1.0)).collect();
        let bm25 = Bm25 { weights, ..Bm25::default() };
        for k in [10, 100, 1000] {
            let ours = time(|query| Ok(snapshot.search(&Query::words(query), &bm25, k)?.len()))?;
            let theirs = time_tantivy(&theirs, fields, k)?;
            writeln!(out, "{} field(s), k {k}: ours {ours:.0?}, tantivy {theirs:.0?}", fields.len())?;
        }
    }
    time_matches(&snapshot, &mut out)?;
    time_features(&Arc::new(snapshot), &mut out)
}

/// The features of the first hundred documents of BM25, as a search with a model computes them.
fn time_features(snapshot: &Arc<Snapshot>, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    for set in ["small", "mslr"] {
        let rows = FeatureRows::new(snapshot, &FeatureSet::of_name(set, snapshot.schema())?)?;
        let mut spent = Duration::ZERO;
        time(|query| {
            let query = Query::words(query);
            let hits = snapshot.search(&query, &Bm25::default(), 100)?;
            let candidate = |(at, hit): (usize, &Hit)| Candidate {
                address: hit.address,
                score: hit.score,
                rank: (at + 1) as f64,
            };
            let candidates: Vec<Candidate> = hits.iter().enumerate().map(candidate).collect();
            let start = Instant::now();
            let values = rows.of(&query, &candidates)?;
            spent += start.elapsed();
            Ok(values.len())
        })?;
        let (each, width) = (spent / (2 * QUERIES as u32), rows.width());
        writeln!(out, "100 candidates, 5 fields, the {width} features of {set}: {each:.0?}")?;
    }
    Ok(())
}

/// The mean time per query, after a round to warm up.
fn time(
    mut answer: impl FnMut(&str) -> Result<usize, Box<dyn std::error::Error>>,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let mut random = Random(7);
    let queries: Vec<String> = (0..QUERIES).map(|number| random.query(1 + number % 4)).collect();
    for query in &queries {
        answer(query)?;
    }
    let mut times = Vec::new();
    for query in &queries {
        let start = Instant::now();
        std::hint::black_box(answer(query)?);
        times.push(start.elapsed());
    }
    Ok(times.iter().sum::<Duration>() / QUERIES as u32)
}

fn time_tantivy(
    index: &tantivy::Index,
    fields: &[&str],
    k: usize,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let searcher = index.reader()?.searcher();
    let handles = fields.iter().map(|name| index.schema().get_field(name)).collect::<tantivy::Result<_>>()?;
    let parser = QueryParser::for_index(index, handles);
    time(|query| {
        let query = parser.parse_query(query)?;
        Ok(searcher.search(&query, &TopDocs::with_limit(k).order_by_score())?.len())
    })
}

fn time_matches(snapshot: &Snapshot, out: &mut dyn Write) -> Result<(), Box<dyn std::error::Error>> {
    let scopes: Vec<Scope> = (0..FIELDS.len()).map(Scope::Field).collect();
    for positions in [false, true] {
        let mut spent = Duration::ZERO;
        time(|query| {
            let query = Query::words(query);
            let hits = snapshot.search(&query, &Bm25::default(), 100)?;
            let mut candidates: Vec<Address> = hits.iter().map(|hit| hit.address).collect();
            candidates.sort_unstable();
            let start = Instant::now();
            let mut matches = snapshot.matches(&query, &scopes)?;
            let mut total = 0;
            matches.visit(&candidates, positions, |_, documents| {
                total += documents.iter().map(|d| d.frequencies.len() + d.positions.len()).sum::<usize>();
                Ok(())
            })?;
            spent += start.elapsed();
            Ok(total)
        })?;
        let each = spent / (2 * QUERIES as u32);
        writeln!(out, "100 candidates, 5 fields, positions {positions}: {each:.0?}")?;
    }
    Ok(())
}

fn ours(documents: u64, path: &Path) -> Result<Snapshot, Box<dyn std::error::Error>> {
    if !path.exists() {
        let schema = Schema::new(FIELDS.map(|(name, _)| Field::text(name, Analyzer::Plain)))?;
        let mut writer = Index::create(path, &schema)?.writer(WriterOptions::default())?;
        let mut random = Random(1);
        for number in 0..documents {
            let fields = FIELDS.map(|(name, length)| (name.to_owned(), Value::Text(random.text(length))));
            writer.add(Document { id: format!("{number:08}"), fields: fields.into() })?;
        }
        writer.commit()?;
    }
    Ok(Index::open(path)?.snapshot()?)
}

fn tantivys(documents: u64, path: &Path) -> Result<tantivy::Index, Box<dyn std::error::Error>> {
    if path.exists() {
        return Ok(tantivy::Index::open_in_dir(path)?);
    }
    std::fs::create_dir_all(path)?;
    let mut schema = tantivy::schema::Schema::builder();
    let id = schema.add_text_field("id", STRING);
    let indexing = TextFieldIndexing::default().set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing);
    let fields = FIELDS.map(|(name, length)| (schema.add_text_field(name, text.clone()), length));
    let index = tantivy::Index::create_in_dir(path, schema.build())?;
    let mut writer: tantivy::IndexWriter = index.writer_with_num_threads(1, 1 << 30)?;
    let mut random = Random(1);
    for number in 0..documents {
        let mut document = tantivy::TantivyDocument::new();
        document.add_text(id, format!("{number:08}"));
        for (field, length) in fields {
            document.add_text(field, random.text(length));
        }
        writer.add_document(document)?;
    }
    writer.commit()?;
    let segments = index.searchable_segment_ids()?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.wait_merging_threads()?;
    Ok(index)
}

/// The same words on every machine.
struct Random(u64);

impl Random {
    /// Between 0 and 1.
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A word by Zipf's law.
    fn word(&mut self) -> String {
        format!("w{}", WORDS.powf(self.uniform()) as u64)
    }

    fn text(&mut self, average: usize) -> String {
        let length = 1 + (self.uniform() * 2.0 * average as f64) as usize;
        (0..length).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// Words that are not the very frequent ones.
    fn query(&mut self, words: usize) -> String {
        let word = |random: &mut Random| format!("w{}", 50 * (WORDS / 100.0).powf(random.uniform()) as u64);
        (0..words).map(|_| word(self)).collect::<Vec<_>>().join(" ")
    }
}
