//! Indexes synthetic documents with this crate and with plain tantivy; prints documents per second and ratios as JSON.
//!
//! `index_bench [DOCUMENTS] [MEMORY_MB] [WHICH]`. WHICH is one of `ours`, `one` (tantivy with one thread) and `many` (with
//! its default); without it all run, one after the other. Words follow Zipf's law, titles have 6 and bodies 54, and both
//! use the analyzer `english`. tantivy stores the same texts and waits for the merges of its default policy.

use rankwise::watch::Silent;
use rankwise_search::index::WriterOptions;
use rankwise_search::{Analyzer, Document, Field, Index, Schema, Value};
use std::time::Instant;
use tantivy::schema::{IndexRecordOption, STORED, STRING, TextFieldIndexing, TextOptions};
use tantivy::{IndexWriter, TantivyDocument};

type Failure = Box<dyn std::error::Error>;

const VOCABULARY: usize = 200_000;

struct Synthetic {
    id: String,
    title: String,
    body: String,
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(1_000_000), |n| n.parse())?;
    let memory: usize = arguments.next().map_or(Ok(256), |n| n.parse())? << 20;
    let which = arguments.next();
    let documents = synthetic(count);
    let mut result = serde_json::json!({ "documents": count, "memory_bytes": memory });
    let mut rate = |name: &str, index: &dyn Fn() -> Result<(), Failure>| -> Result<f64, Failure> {
        if which.as_ref().is_some_and(|which| which != name) {
            return Ok(f64::NAN);
        }
        let start = Instant::now();
        index()?;
        let rate = count as f64 / start.elapsed().as_secs_f64();
        result[name] = rate.round().into();
        Ok(rate)
    };
    let ours = rate("ours", &|| ours(&documents, memory))?;
    let one = rate("one", &|| plain(&documents, memory, Some(1)))?;
    let many = rate("many", &|| plain(&documents, memory, None))?;
    result["ours_to_one"] = (ours / one).into();
    result["ours_to_many"] = (ours / many).into();
    std::io::Write::write_all(&mut std::io::stdout(), format!("{result}\n").as_bytes())?;
    Ok(())
}

fn ours(documents: &[Synthetic], memory: usize) -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let schema =
        Schema::new([Field::text("title", Analyzer::English), Field::text("body", Analyzer::English)])?;
    let mut writer = Index::create(directory.path(), &schema)?
        .writer(WriterOptions { memory_bytes: memory, ..WriterOptions::default() })?;
    let documents = documents.iter().map(|document| {
        let field = |name: &str, text: &str| (name.to_owned(), Value::Text(text.to_owned()));
        let fields = vec![field("title", &document.title), field("body", &document.body)];
        Ok(Document { id: document.id.clone(), fields })
    });
    writer.add_all(documents, &mut Silent::default())?;
    writer.commit()?;
    Ok(())
}

fn plain(documents: &[Synthetic], memory: usize, threads: Option<usize>) -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let mut schema = tantivy::schema::Schema::builder();
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("english")
        .set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(indexing).set_stored();
    let id = schema.add_text_field("id", STRING | STORED);
    let [title, body] = ["title", "body"].map(|name| schema.add_text_field(name, text.clone()));
    let index = tantivy::Index::create_in_dir(directory.path(), schema.build())?;
    index.tokenizers().register("english", Analyzer::English.tokenizer());
    let mut writer: IndexWriter = match threads {
        Some(threads) => index.writer_with_num_threads(threads, memory)?,
        None => index.writer(memory)?,
    };
    for document in documents {
        let mut fields = TantivyDocument::new();
        fields.add_text(id, &document.id);
        fields.add_text(title, &document.title);
        fields.add_text(body, &document.body);
        writer.add_document(fields)?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    Ok(())
}

/// The same documents every time.
fn synthetic(count: usize) -> Vec<Synthetic> {
    let mut random = Random(1);
    let words: Vec<String> = (0..VOCABULARY).map(|rank| word(rank, &mut random)).collect();
    let mut sum = 0.0;
    let cumulative: Vec<f64> = (1..=VOCABULARY)
        .map(|rank| {
            sum += 1.0 / rank as f64;
            sum
        })
        .collect();
    let text = |length: usize, random: &mut Random| {
        let mut text = String::new();
        for _ in 0..length {
            let rank = cumulative.partition_point(|&below| below < random.uniform() * sum);
            text.push_str(&words[rank.min(VOCABULARY - 1)]);
            text.push(' ');
        }
        text
    };
    let document = |number: usize| Synthetic {
        id: format!("doc-{number:08}"),
        title: text(6, &mut random),
        body: text(54, &mut random),
    };
    (0..count).map(document).collect()
}

/// Frequent words are short, and some are stop words.
fn word(rank: usize, random: &mut Random) -> String {
    const FREQUENT: [&str; 12] =
        ["the", "of", "and", "to", "in", "is", "it", "for", "was", "on", "are", "by"];
    if let Some(word) = FREQUENT.get(rank) {
        return (*word).to_owned();
    }
    const SYLLABLES: [&str; 24] = [
        "ba", "ter", "con", "re", "mi", "sta", "lo", "ing", "pre", "du", "ven", "ta", "sou", "ni", "per",
        "gra", "fe", "ly", "ment", "cor", "si", "ab", "tion", "ed",
    ];
    let syllables = 2 + (rank as f64).log10() as usize / 2 + random.below(3);
    (0..syllables).map(|_| SYLLABLES[random.below(SYLLABLES.len())]).collect()
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
