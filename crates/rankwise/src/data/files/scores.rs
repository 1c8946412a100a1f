//! Score files: one number per line, in the order of the documents they score.

use super::decimal::{push_f32, push_f64};
use super::lines::Lines;
use super::output::AtomicFile;
use super::source::Source;
use crate::error::{Error, Result};
use std::path::Path;

/// Reads `expected` scores, one per document. The file may be compressed with gzip or zstd; `-` is standard input.
pub fn read_scores(path: &Path, expected: usize) -> Result<Vec<f64>> {
    scores_from(Source::open(path)?, expected)
}

pub(super) fn scores_from(source: Source, expected: usize) -> Result<Vec<f64>> {
    let mut lines = Lines::new(source);
    let mut scores = Vec::new();
    while let Some(line) = lines.next()? {
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
    if let Some(i) = scores.iter().position(|s| !s.is_finite()) {
        return Err(Error::data(format!("the score of document {} is {}", i + 1, scores[i])));
    }
    write_lines(path, scores, push_f64)
}

/// Writes one grade per line, in the order of the documents.
pub fn write_grades(path: &Path, grades: &[f32]) -> Result<()> {
    write_lines(path, grades, push_f32)
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
