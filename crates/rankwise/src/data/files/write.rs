//! Writing a data set in any of the formats that can be read.

use super::decimal::{push_f32, push_integer};
use super::excerpt::quoted;
use super::output::AtomicFile;
use super::roles::{Role, listed, role_by_name, usual_name};
use super::sidecar;
use super::table::table_name;
use super::{Dataset, Features, Format, Query, Row};
use crate::data::code_of;
use crate::error::{Error, Result};
use crate::parallel;
use std::collections::HashSet;
use std::path::Path;

/// Rows per piece at most, values per piece, and pieces formatted in parallel before they are written.
const ROWS: usize = 128;
const VALUES: usize = 1 << 16;
const PIECES: usize = 32;

/// Writes `data` to `path` in `format`, or in the format of the file name (see [`Format::to_write`]). `-` is standard
/// output; `.gz` and `.zst` compress. Returns what the format could not keep, a sentence each.
///
/// Numbers are written with the fewest digits that read back as the same number. LETOR text has all values of dense rows
/// and the stored values of sparse ones. A missing value is `NaN` in LETOR text and an empty field in CSV and TSV.
///
/// How features were computed, if the data knows it, is written to `NAME.features.toml` beside the file `NAME`. Such a
/// file of other data that was there is removed.
pub fn write(data: &Dataset, path: &Path, format: Option<Format>) -> Result<Vec<String>> {
    let format = format.map_or_else(|| Format::to_write(path), Ok)?;
    let sidecar = sidecar::prepare(data, path, format)?;
    let described = sidecar.as_ref().is_some_and(sidecar::Pending::is_some);
    let written = match format {
        Format::Letor => write_letor(data, path, described),
        Format::Csv => write_delimited(data, path, b','),
        Format::Tsv => write_delimited(data, path, b'\t'),
        Format::Parquet => super::parquet::write(data, path),
    };
    let kept = sidecar.map_or(Ok(()), |sidecar| sidecar.finish(written.is_ok()));
    let mut losses = written?;
    kept?;
    if data.columns().source.is_some() && !described {
        losses.push("how the features were computed is not kept".into());
    }
    Ok(losses)
}

/// Writes LETOR text. If the features are `described` beside it, the first row has the last of them, even if it is 0, so
/// that their number can be seen.
fn write_letor(data: &Dataset, path: &Path, described: bool) -> Result<Vec<String>> {
    for query in data.queries() {
        check_letor_query(query)?;
    }
    let mut file = AtomicFile::create(path)?;
    put_rows(&mut file, data, |text, query, row| {
        push_letor_row(text, data, query, row, described && row == 0);
    })?;
    file.commit()?;
    Ok(letor_losses(data, described))
}

/// Fails if LETOR text would be read back differently.
fn check_letor_query(query: Query<'_>) -> Result<()> {
    let id = query.id();
    if id.is_empty() || id.contains(|c: char| c.is_ascii_whitespace() || c == '#') {
        return Err(Error::data(format!(
            "the query id {} cannot be written to LETOR text, where white space or `#` ends it",
            quoted(id.as_bytes())
        )));
    }
    for row in query.range() {
        if let Some(comment) = query.data.comment(row).filter(|c| c.contains(['\n', '\r'])) {
            return Err(Error::data(format!(
                "the comment {} cannot be written to LETOR text, because it has several lines",
                quoted(comment.as_bytes())
            )));
        }
        if let Some(document) = query.data.document_id(row).filter(|d| d.contains(char::is_whitespace)) {
            return Err(Error::data(format!(
                "the document id {} cannot be written to LETOR text, where white space ends it",
                quoted(document.as_bytes())
            )));
        }
    }
    Ok(())
}

fn push_letor_row(text: &mut Vec<u8>, data: &Dataset, query: Query<'_>, row: usize, with_last: bool) {
    push_f32(text, data.labels()[row]);
    text.extend_from_slice(b" qid:");
    text.extend_from_slice(query.id().as_bytes());
    let last = data.width().saturating_sub(1);
    let ends_before = with_last && data.row(row).iter().last().is_none_or(|(column, _)| column < last);
    for (column, value) in data.row(row).iter().chain(ends_before.then_some((last, 0.0))) {
        text.push(b' ');
        push_integer(text, column as u64 + u64::from(data.columns().first_id));
        text.push(b':');
        match value.is_nan() {
            true => text.extend_from_slice(b"NaN"),
            false => push_f32(text, value),
        }
    }
    push_letor_comment(text, data, row);
    text.push(b'\n');
}

fn push_letor_comment(text: &mut Vec<u8>, data: &Dataset, row: usize) {
    let comment = data.comment(row).unwrap_or("");
    let in_comment = crate::data::dataset::document_id_in(comment);
    let id = data.document_id(row).filter(|id| !id.is_empty() && in_comment != Some(id));
    if !comment.is_empty() || id.is_some() {
        text.extend_from_slice(b" #");
    }
    if let Some(id) = id {
        text.extend_from_slice(b"docid = ");
        text.extend_from_slice(id.as_bytes());
        if !comment.is_empty() {
            text.push(b' ');
        }
    }
    text.extend_from_slice(comment.as_bytes());
}

fn letor_losses(data: &Dataset, described: bool) -> Vec<String> {
    let parts = data.parts();
    let mut losses = Vec::new();
    let mut lost = |is: bool, what: &str| {
        if is {
            losses.push(format!("LETOR text does not keep {what}"));
        }
    };
    lost(parts.columns.names.is_some() && !described, "feature names");
    lost(parts.query_weights.is_some(), "query weights");
    lost(parts.positions.is_some(), "positions");
    if let Some(names) = categorical_names(data) {
        losses.push(format!(
            "LETOR text has categories as numbers and does not say which features are categorical; name them by number \
             when it is read: {names}"
        ));
    }
    if let Features::Sparse { width, columns, .. } = &parts.features {
        let used = columns.iter().max().map_or(0, |&last| last as usize + 1);
        if used < *width && !described {
            losses.push(format!(
                "the last {} of {width} columns are all 0 and are not in the file",
                width - used
            ));
        }
    }
    losses
}

fn write_delimited(data: &Dataset, path: &Path, delimiter: u8) -> Result<Vec<String>> {
    let has_documents = has_document_ids(data);
    let names = table_names(data)?;
    let mut file = AtomicFile::create(path)?;
    let mut text = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if i > 0 {
            text.push(delimiter);
        }
        push_field(&mut text, name, delimiter);
    }
    text.push(b'\n');
    file.put(&text)?;
    put_rows(&mut file, data, |text, query, row| {
        push_f32(text, data.labels()[row]);
        text.push(delimiter);
        push_field(text, query.id(), delimiter);
        if has_documents {
            text.push(delimiter);
            push_field(text, data.document_id(row).unwrap_or(""), delimiter);
        }
        push_numbers(text, data, query, row, delimiter);
        text.push(b'\n');
    })?;
    file.commit()?;
    let categories = categorical_names(data).map(|names| {
        format!("the table does not say which columns are categorical; name them when it is read: {names}")
    });
    Ok(table_losses(data).into_iter().chain(categories).collect())
}

/// The names of categorical features, if there are any.
fn categorical_names(data: &Dataset) -> Option<String> {
    let names: Vec<String> =
        data.columns().categories.columns().map(|column| table_name(data.columns(), column)).collect();
    (!names.is_empty()).then(|| listed(&names))
}

fn push_numbers(text: &mut Vec<u8>, data: &Dataset, query: Query<'_>, row: usize, delimiter: u8) {
    if let Some(weights) = &data.parts().query_weights {
        text.push(delimiter);
        push_f32(text, weights[query.index()]);
    }
    if let Some(positions) = &data.parts().positions {
        text.push(delimiter);
        if positions[row] > 0 {
            push_integer(text, u64::from(positions[row]));
        }
    }
    let categories = &data.columns().categories;
    let mut push = |column: usize, value: f32| {
        text.push(delimiter);
        match code_of(value).filter(|_| categories.contains(column)) {
            Some(code) => push_field(text, &categories.name(column, code), delimiter),
            None if value.is_nan() => {}
            None => push_f32(text, value),
        }
    };
    match data.row(row) {
        Row::Dense(values) => values.iter().enumerate().for_each(|(column, &v)| push(column, v)),
        Row::Sparse(columns, values) => {
            let mut next = 0;
            for (&column, &value) in columns.iter().zip(values) {
                (next..column).for_each(|column| push(column as usize, 0.0));
                push(column as usize, value);
                next = column + 1;
            }
            (next..data.width() as u32).for_each(|column| push(column as usize, 0.0));
        }
    }
}

/// Appends a field, in quotes if it needs them: spaces around a field without quotes are not read.
pub(crate) fn push_field(text: &mut Vec<u8>, field: &str, delimiter: u8) {
    let spaced = field.trim_ascii().len() < field.len();
    if !spaced && !field.bytes().any(|b| [delimiter, b'"', b'\n', b'\r'].contains(&b)) {
        return text.extend_from_slice(field.as_bytes());
    }
    text.push(b'"');
    text.extend_from_slice(field.replace('"', "\"\"").as_bytes());
    text.push(b'"');
}

/// Whether a table of this data has a column of document ids.
pub(super) fn has_document_ids(data: &Dataset) -> bool {
    data.parts().document_ids.is_some() || (0..data.len()).any(|row| data.document_id(row).is_some())
}

/// The roles that have a column in a table of this data, in the order of their columns.
fn table_roles(data: &Dataset) -> Vec<Role> {
    let roles = [
        (true, Role::Label),
        (true, Role::Query),
        (has_document_ids(data), Role::Document),
        (data.parts().query_weights.is_some(), Role::Weight),
        (data.parts().positions.is_some(), Role::Position),
    ];
    roles.into_iter().filter(|(present, _)| *present).map(|(_, role)| role).collect()
}

/// The header of a table with this data.
pub(super) fn table_names(data: &Dataset) -> Result<Vec<String>> {
    if data.width() == 0 {
        return Err(Error::data("data without features cannot be written as a table"));
    }
    let features: Vec<String> = (0..data.width()).map(|c| table_name(data.columns(), c)).collect();
    let reserved: Vec<String> =
        table_roles(data).into_iter().map(|role| usual_name(role).to_owned()).collect();
    let mut seen: HashSet<&str> = reserved.iter().map(String::as_str).collect();
    for name in &features {
        if name.trim() != name || name.is_empty() || !seen.insert(name) {
            return Err(Error::data(format!(
                "the feature name {} cannot be a column name: it is empty, has spaces around it, occurs twice, or is \
                 that of a column that is not a feature",
                quoted(name.as_bytes())
            )));
        }
    }
    Ok(reserved.iter().chain(&features).cloned().collect())
}

/// What a table does not keep, and what must be known to read it.
pub(super) fn table_losses(data: &Dataset) -> Vec<String> {
    let commented = data.parts().comments.iter().flat_map(|c| c.iter()).any(|c| !c.is_empty());
    let mut losses: Vec<String> = match (commented, has_document_ids(data)) {
        (false, _) => Vec::new(),
        (true, false) => vec!["tables do not keep comments".to_owned()],
        (true, true) => vec!["tables keep only the document ids of the comments".to_owned()],
    };
    let present = table_roles(data);
    let misread = |name: &&String| role_by_name(name, &present).is_some();
    losses.extend(data.columns().names.iter().flatten().filter(misread).map(|name| {
        format!(
            "the feature {} has the name of a column that is not a feature; name the features when the table is read",
            quoted(name.as_bytes())
        )
    }));
    losses
}

/// Formats all rows, in parallel but in order.
fn put_rows(
    file: &mut AtomicFile,
    data: &Dataset,
    push_row: impl Fn(&mut Vec<u8>, Query<'_>, usize) + Sync,
) -> Result<()> {
    let rows = (VALUES / data.width().max(1)).clamp(1, ROWS);
    for first in (0..data.len()).step_by(rows * PIECES) {
        let end = data.len().min(first + rows * PIECES);
        let starts: Vec<usize> = (first..end).step_by(rows).collect();
        let piece = |&start: &usize| {
            let mut text = Vec::new();
            let mut query = data.bounds().partition_point(|&b| b <= start) - 1;
            for row in start..end.min(start + rows) {
                query += usize::from(row == data.bounds()[query + 1]);
                push_row(&mut text, data.query(query), row);
            }
            text
        };
        for text in parallel::map(&starts, piece) {
            file.put(&text)?;
        }
    }
    Ok(())
}
