//! Insight as CSV files.

use super::{Explainer, PartialDependence};
use crate::data::{AtomicFile, Columns, Dataset, push_f64, push_field};
use crate::error::Result;
use crate::watch::Watch;
use std::path::Path;

/// Writes the contributions to the scores of some `documents` of `data` as CSV: the document's number from 1, its
/// query, the score and its base, and one column for each feature of the model, called as in `columns`. `scores` has
/// one for each of `documents`. A step of `watch` is a document.
pub fn write_contributions(
    path: &Path,
    explainer: &Explainer<'_>,
    columns: &Columns,
    data: &Dataset,
    documents: &[usize],
    scores: &[f64],
    watch: &mut dyn Watch,
) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    let mut text = b"document,query,score,base".to_vec();
    for column in 0..explainer.width() {
        text.push(b',');
        push_field(&mut text, &columns.name(column), b',');
    }
    text.push(b'\n');
    let mut scores = scores.iter();
    explainer.contributions_by_block(data, documents, watch, |documents, rows| {
        for ((&document, &score), contributions) in documents.iter().zip(&mut scores).zip(rows) {
            text.extend_from_slice(format!("{},", document + 1).as_bytes());
            push_field(&mut text, data.query(data.query_of(document)).id(), b',');
            for number in [score, explainer.base()].into_iter().chain(contributions) {
                text.push(b',');
                push_f64(&mut text, number);
            }
            text.push(b'\n');
            file.put(&text)?;
            text.clear();
        }
        Ok(())
    })?;
    file.put(&text)?;
    file.commit()
}

/// Writes mean scores as CSV: a column for each feature, called as in `columns`, empty where its value is missing,
/// and the mean score.
pub fn write_dependence(path: &Path, dependence: &PartialDependence, columns: &Columns) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    let mut text = Vec::new();
    for &column in &dependence.columns {
        push_field(&mut text, &columns.name(column), b',');
        text.push(b',');
    }
    text.extend_from_slice(b"mean score\n");
    for (point, &mean) in dependence.points().iter().zip(&dependence.means) {
        for (&column, x) in dependence.columns.iter().zip(point) {
            if let Some(category) = columns.categories.text(column, *x) {
                push_field(&mut text, category, b',');
            } else if !x.is_nan() {
                text.extend_from_slice(x.to_string().as_bytes());
            }
            text.push(b',');
        }
        push_f64(&mut text, mean);
        text.push(b'\n');
    }
    file.put(&text)?;
    file.commit()
}
