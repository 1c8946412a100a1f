//! TREC files: judgements (qrels, `topic iteration document grade`) and runs (`topic Q0 document rank score tag`).
//!
//! As in trec_eval, scores decide the order of a run. The columns `Q0`, `rank` and `iteration` are ignored.

use super::decimal::{push_f64, push_integer};
use super::excerpt::quoted;
use super::lines::{Line, Lines, Word};
use super::output::AtomicFile;
use super::source::Source;
use super::{Dataset, Query, Texts};
use crate::error::{Error, Result};
use crate::rank::Ranking;
use std::collections::{HashMap, HashSet};
use std::path::Path;

const QRELS_FORM: &str = "topic iteration document grade";
const RUN_FORM: &str = "topic Q0 document rank score tag";

/// The documents of one topic in file order, each with its grade or score.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic<V> {
    /// The topic's id.
    pub id: String,
    /// The ids of its documents.
    pub documents: Texts,
    /// One value per document: a grade in judgements, a score in runs.
    pub values: Vec<V>,
}

/// Judgements: the grade of each judged document. Topics are in the order of their first line. Negative grades are
/// kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Qrels {
    /// The topics.
    pub topics: Vec<Topic<i32>>,
}

/// A run: the score of each document that a system retrieved. Topics are in the order of their first line.
#[derive(Debug, Clone, PartialEq)]
pub struct TrecRun {
    /// The topics.
    pub topics: Vec<Topic<f64>>,
    /// The name of the system, from the first line.
    pub tag: String,
}

/// Which topics to average over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Topics {
    /// Topics that are judged and in the run, the default of trec_eval.
    #[default]
    InBoth,
    /// All judged topics; those missing from the run count as having retrieved nothing (`trec_eval -c`).
    AllJudged,
}

/// A run joined with its judgements, topic by topic, in the order of the judgements.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// The topics chosen.
    pub queries: Vec<JudgedQuery>,
    /// Number of judged topics that are not in the run.
    pub missing: usize,
    /// Number of topics in the run without judgements; they are left out.
    pub unjudged: usize,
    /// Notes on missing and unjudged topics, a sentence each.
    pub notes: Vec<String>,
}

/// One topic: first the `retrieved` documents in the order of the run file, then those judged but not retrieved.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedQuery {
    /// The topic's id.
    pub id: String,
    /// One grade per document; NaN if it was retrieved but not judged.
    pub labels: Vec<f32>,
    /// One score per retrieved document.
    pub scores: Vec<f64>,
    /// One id per document.
    pub document_ids: Vec<String>,
    /// Number of documents retrieved.
    pub retrieved: usize,
}

/// Reads judgements. The file may be compressed with gzip or zstd; `-` is standard input.
pub fn read_qrels(path: &Path) -> Result<Qrels> {
    qrels_from(Source::open(path)?)
}

/// Reads a run. The file may be compressed with gzip or zstd; `-` is standard input.
pub fn read_run(path: &Path) -> Result<TrecRun> {
    run_from(Source::open(path)?)
}

/// Reads the judgements of an open file.
pub fn qrels_from(source: Source) -> Result<Qrels> {
    let topics = read_topics(source, QRELS_FORM, |line| {
        let [topic, _, document, grade] = line.exactly(QRELS_FORM)?;
        let value = grade.text.parse().map_err(|_| grade.unexpected("a whole number as the grade"))?;
        Ok((topic, document, value))
    })?;
    Ok(Qrels { topics })
}

pub(super) fn run_from(source: Source) -> Result<TrecRun> {
    let mut first_tag = None;
    let topics = read_topics(source, RUN_FORM, |line| {
        let [topic, _, document, _, score, tag] = line.exactly(RUN_FORM)?;
        first_tag.get_or_insert_with(|| tag.text.to_owned());
        Ok((topic, document, score.finite("score")?))
    })?;
    Ok(TrecRun { topics, tag: first_tag.unwrap_or_default() })
}

fn read_topics<V>(
    source: Source,
    form: &str,
    mut parse: impl for<'a> FnMut(Line<'a>) -> Result<(Word<'a>, Word<'a>, V)>,
) -> Result<Vec<Topic<V>>> {
    let mut lines = Lines::of_words(source);
    let mut topics: Vec<Topic<V>> = Vec::new();
    let mut index_of: HashMap<String, usize> = HashMap::new();
    let mut seen: Vec<HashMap<Box<str>, u64>> = Vec::new();
    let mut current = 0;
    while let Some(line) = lines.next_line()? {
        let (topic, document, value) = parse(line)?;
        if topics.get(current).is_none_or(|t| t.id != topic.text) {
            current = *index_of.entry(topic.text.to_owned()).or_insert(topics.len());
        }
        if current == topics.len() {
            topics.push(Topic { id: topic.text.to_owned(), documents: Texts::new(), values: Vec::new() });
            seen.push(HashMap::new());
        }
        if let Some(earlier) = seen[current].insert(document.text.into(), line.number) {
            return Err(document.error(format!(
                "document {} occurs twice in topic {}, first on line {earlier}",
                quoted(document.text.as_bytes()),
                quoted(topic.text.as_bytes())
            )));
        }
        topics[current].documents.push(document.text);
        topics[current].values.push(value);
    }
    match topics.is_empty() {
        true => Err(Error::malformed(format!("{} is empty; expected lines of `{form}`", lines.file()))),
        false => Ok(topics),
    }
}

/// Joins a run with its judgements.
pub fn join(qrels: &Qrels, run: &TrecRun, topics: Topics) -> Judged {
    let answers: HashMap<&str, &Topic<f64>> = run.topics.iter().map(|t| (t.id.as_str(), t)).collect();
    let mut queries = Vec::new();
    let mut missing = 0;
    for judgements in &qrels.topics {
        let answer = answers.get(judgements.id.as_str()).copied();
        missing += usize::from(answer.is_none());
        if answer.is_some() || topics == Topics::AllJudged {
            queries.push(join_topic(judgements, answer));
        }
    }
    let unjudged = run.topics.len() + missing - qrels.topics.len();
    let notes = topic_notes(missing, unjudged, topics);
    Judged { queries, missing, unjudged, notes }
}

fn join_topic(judgements: &Topic<i32>, answer: Option<&Topic<f64>>) -> JudgedQuery {
    let mut grades: HashMap<&str, i32> =
        judgements.documents.iter().zip(judgements.values.iter().copied()).collect();
    let (mut labels, mut document_ids) = (Vec::new(), Vec::new());
    for document in answer.iter().flat_map(|a| a.documents.iter()) {
        labels.push(grades.remove(document).map_or(f32::NAN, |grade| grade as f32));
        document_ids.push(document.to_owned());
    }
    let retrieved = labels.len();
    for document in judgements.documents.iter() {
        if let Some(grade) = grades.get(document) {
            labels.push(*grade as f32);
            document_ids.push(document.to_owned());
        }
    }
    let scores = answer.map_or_else(Vec::new, |a| a.values.clone());
    JudgedQuery { id: judgements.id.clone(), labels, scores, document_ids, retrieved }
}

/// Notes on judged topics that are `missing` from a run and on its topics that are `unjudged`, a sentence each.
pub fn topic_notes(missing: usize, unjudged: usize, topics: Topics) -> Vec<String> {
    let count = |n: usize| if n == 1 { "1 topic".to_owned() } else { format!("{n} topics") };
    let mut notes = Vec::new();
    if missing > 0 {
        let effect = match topics {
            Topics::InBoth => "left out of the averages",
            Topics::AllJudged => "counted as having retrieved nothing",
        };
        notes.push(format!("{} in the judgements but not in the run: {effect}", count(missing)));
    }
    if unjudged > 0 {
        notes.push(format!("{} in the run but not judged: left out", count(unjudged)));
    }
    notes
}

/// The judged topics that several runs are compared on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedTopics {
    /// Their numbers, ascending.
    pub kept: Vec<usize>,
    /// A note on topics that some of the runs lack.
    pub note: Option<String>,
}

/// The judged topics to compare runs on: those that at least one run has. A run that lacks one of them retrieved nothing
/// for it. `has_topic` has an entry for each run, and that an entry for each judged topic.
///
/// ```
/// use rankwise::data::trec::shared_topics;
/// let shared = shared_topics(&[vec![true, false, false], vec![true, true, false]]);
/// assert_eq!(shared.kept, [0, 1]);
/// assert!(shared.note.unwrap().starts_with("1 topic is missing from some of the runs"));
/// ```
pub fn shared_topics(has_topic: &[Vec<bool>]) -> SharedTopics {
    let topics = has_topic.first().map_or(0, Vec::len);
    let kept: Vec<usize> = (0..topics).filter(|&topic| has_topic.iter().any(|run| run[topic])).collect();
    let lacking = kept.iter().filter(|&&topic| has_topic.iter().any(|run| !run[topic])).count();
    let count = if lacking == 1 { "1 topic is".to_owned() } else { format!("{lacking} topics are") };
    let note = format!("{count} missing from some of the runs; there they count as empty rankings");
    SharedTopics { kept, note: (lacking > 0).then_some(note) }
}

/// Writes the labels as judgements. Returns notes for the user.
pub fn write_qrels(data: &Dataset, path: &Path) -> Result<Vec<String>> {
    let mut file = AtomicFile::create(path)?;
    let mut text = Vec::new();
    for query in data.queries() {
        text.clear();
        let ids = document_ids(query)?;
        for (id, &label) in ids.iter().zip(query.labels()) {
            let whole = label as i32;
            if whole as f32 != label {
                return Err(Error::data(format!(
                    "document {} of query {} has the label {label}, but judgements must be whole numbers",
                    quoted(id.as_bytes()),
                    quoted(query.id().as_bytes())
                )));
            }
            text.extend_from_slice(format!("{} 0 {id} {whole}\n", query.id()).as_bytes());
        }
        file.put(&text)?;
    }
    file.commit()?;
    Ok(generated_ids(data))
}

impl Qrels {
    /// Writes the judgements, in their order here.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        let mut text = Vec::new();
        for topic in &self.topics {
            text.clear();
            check_id(&topic.id)?;
            for (document, grade) in topic.documents.iter().zip(&topic.values) {
                check_id(document)?;
                text.extend_from_slice(format!("{} 0 {document} {grade}\n", topic.id).as_bytes());
            }
            file.put(&text)?;
        }
        file.commit()
    }
}

impl TrecRun {
    /// Writes the run, with the documents of each topic in their order here.
    pub fn write(&self, path: &Path) -> Result<()> {
        check_tag(&self.tag)?;
        let mut file = AtomicFile::create(path)?;
        let mut text = Vec::new();
        for topic in &self.topics {
            text.clear();
            check_id(&topic.id)?;
            for (place, (document, &score)) in topic.documents.iter().zip(&topic.values).enumerate() {
                check_id(document)?;
                push_line(&mut text, &topic.id, document, place, score, &self.tag);
            }
            file.put(&text)?;
        }
        file.commit()
    }
}

fn check_tag(tag: &str) -> Result<()> {
    match tag.is_empty() || tag.contains(char::is_whitespace) {
        false => Ok(()),
        true => Err(Error::parameter(format!(
            "the tag of a run must be one word, not {}",
            quoted(tag.as_bytes())
        ))),
    }
}

/// Appends one line of a run, for a document at a rank from 0.
fn push_line(text: &mut Vec<u8>, topic: &str, document: &str, place: usize, score: f64, tag: &str) {
    text.extend_from_slice(format!("{topic} Q0 {document} ").as_bytes());
    push_integer(text, place as u64 + 1);
    text.push(b' ');
    push_f64(text, score);
    text.extend_from_slice(format!(" {tag}\n").as_bytes());
}

/// Writes the documents of each query by decreasing score, as a run called `tag`. Returns notes for the user.
pub fn write_run(data: &Dataset, scores: &[f64], path: &Path, tag: &str) -> Result<Vec<String>> {
    check_tag(tag)?;
    if scores.len() != data.len() {
        return Err(Error::data(format!("{} scores for {} documents", scores.len(), data.len())));
    }
    if let Some(i) = scores.iter().position(|s| !s.is_finite()) {
        return Err(Error::data(format!("the score of document {} is {}", i + 1, scores[i])));
    }
    let mut file = AtomicFile::create(path)?;
    let mut text = Vec::new();
    for query in data.queries() {
        text.clear();
        push_ranked(&mut text, query, &scores[query.range()], tag)?;
        file.put(&text)?;
    }
    file.commit()?;
    Ok(generated_ids(data))
}

fn push_ranked(text: &mut Vec<u8>, query: Query<'_>, scores: &[f64], tag: &str) -> Result<()> {
    let ids = document_ids(query)?;
    for (place, &document) in Ranking::by_scores(scores).order().iter().enumerate() {
        push_line(text, query.id(), &ids[document as usize], place, scores[document as usize], tag);
    }
    Ok(())
}

/// Fails if an id cannot stand between white space.
fn check_id(id: &str) -> Result<()> {
    match id.is_empty() || id.contains(|c: char| c.is_whitespace() || c.is_control()) {
        false => Ok(()),
        true => Err(Error::data(format!(
            "the id {} cannot be written to a TREC file, where white space separates the columns; use ids without \
             white space, or write a table",
            quoted(id.as_bytes())
        ))),
    }
}

/// One id per document of the query: its own, or `QID-N` for the N-th document.
fn document_ids(query: Query<'_>) -> Result<Vec<String>> {
    let own = |i: usize| query.document_id(i).filter(|id| !id.is_empty()).map(str::to_owned);
    let ids: Vec<String> =
        (0..query.len()).map(|i| own(i).unwrap_or_else(|| format!("{}-{}", query.id(), i + 1))).collect();
    let mut seen = HashSet::new();
    for id in std::iter::once(query.id()).chain(ids.iter().map(String::as_str)) {
        check_id(id)?;
    }
    match ids.iter().find(|id| !seen.insert(id.as_str())) {
        None => Ok(ids),
        Some(twice) => Err(Error::data(format!(
            "query {} has two documents with the id {}, which TREC files do not allow",
            quoted(query.id().as_bytes()),
            quoted(twice.as_bytes())
        ))),
    }
}

fn generated_ids(data: &Dataset) -> Vec<String> {
    let without = (0..data.len()).filter(|&i| data.document_id(i).is_none_or(str::is_empty)).count();
    match without {
        0 => Vec::new(),
        n => vec![format!(
            "{n} of {} documents have no id and are written as QID-N, for the N-th document of query QID",
            data.len()
        )],
    }
}
