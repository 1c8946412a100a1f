//! Score files: one number per line, in the order of the documents they score.

use super::decimal::{push_f32, push_f64};
use super::lines::Lines;
use super::output::AtomicFile;
use super::source::Source;
use super::write::{has_document_ids, push_field};
use super::{Dataset, Format};
use crate::error::{Error, Result};
use std::path::Path;

/// Reads `expected` scores, one per document. The file may be compressed with gzip or zstd; `-` is standard input.
pub fn read_scores(path: &Path, expected: usize) -> Result<Vec<f64>> {
    scores_from(Source::open(path)?, expected)
}

pub(super) fn scores_from(source: Source, expected: usize) -> Result<Vec<f64>> {
    let mut lines = Lines::of_words(source);
    let mut scores = Vec::new();
    while let Some(line) = lines.next_line()? {
        if line.number != scores.len() as u64 + 1 {
            return Err(line.error("there is an empty line before this score".to_owned()));
        }
        let columns = line.words().count();
        match line.words().next() {
            Some(word) if columns == 1 => scores.push(word.finite("score")?),
            _ => return Err(line.error(several_columns(columns))),
        }
    }
    if scores.len() != expected {
        let (file, found) = (lines.file(), scores.len());
        return Err(Error::data(format!(
            "{file} has {found} {}, but there are {expected} documents; it must have one score per document, in \
             their order",
            if found == 1 { "score" } else { "scores" }
        )));
    }
    Ok(scores)
}

fn several_columns(count: usize) -> String {
    let guess = if count == 6 { " (6 as in a TREC run file)" } else { "" };
    format!("expected one score on each line and nothing else, found {count} columns{guess}")
}

/// Writes one score per line, with the fewest digits that read back as the same number.
pub fn write_scores(path: &Path, scores: &[f64]) -> Result<()> {
    check_finite(scores)?;
    write_lines(path, scores, push_f64)
}

/// Writes one grade per line, in the order of the documents.
pub fn write_grades(path: &Path, grades: &[f32]) -> Result<()> {
    write_lines(path, grades, push_f32)
}

/// Writes a table with the query id, the document id (if the data has any) and the score of every document, in the
/// order of the data. The extension `.tsv` separates the columns by tabs, any other by commas.
///
/// ```
/// use rankwise::data::{Dataset, write_score_table};
/// let data = Dataset::dense(vec![0.5, 0.25], 1, vec![1.0, 0.0], &[2])?.with_query_ids(["red shoes"])?;
/// let path = std::env::temp_dir().join(format!("rankwise-scores-{}.csv", std::process::id()));
/// write_score_table(&data, &[2.0, -0.5], &path)?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "qid,score\nred shoes,2\nred shoes,-0.5\n");
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn write_score_table(data: &Dataset, scores: &[f64], path: &Path) -> Result<()> {
    check_finite(scores)?;
    if scores.len() != data.len() {
        return Err(Error::data(format!("{} scores for {} documents", scores.len(), data.len())));
    }
    let delimiter = if Format::of_path(path) == Format::Tsv { b'\t' } else { b',' };
    let has_documents = has_document_ids(data);
    let mut file = AtomicFile::create(path)?;
    let names = if has_documents { &["qid", "docid", "score"][..] } else { &["qid", "score"] };
    let mut text = names.join(&*char::from(delimiter).to_string()).into_bytes();
    text.push(b'\n');
    for query in data.queries() {
        for row in query.range() {
            push_field(&mut text, query.id(), delimiter);
            text.push(delimiter);
            if has_documents {
                push_field(&mut text, data.document_id(row).unwrap_or(""), delimiter);
                text.push(delimiter);
            }
            push_f64(&mut text, scores[row]);
            text.push(b'\n');
        }
        file.put(&text)?;
        text.clear();
    }
    file.commit()
}

fn check_finite(scores: &[f64]) -> Result<()> {
    match scores.iter().position(|s| !s.is_finite()) {
        Some(i) => Err(Error::data(format!("the score of document {} is {}", i + 1, scores[i]))),
        None => Ok(()),
    }
}

fn write_lines<T: Copy>(path: &Path, numbers: &[T], push: fn(&mut Vec<u8>, T)) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    let mut text = Vec::new();
    for chunk in numbers.chunks(1 << 12) {
        text.clear();
        for &number in chunk {
            push(&mut text, number);
            text.push(b'\n');
        }
        file.put(&text)?;
    }
    file.commit()
}
