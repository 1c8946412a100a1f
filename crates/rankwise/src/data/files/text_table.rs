//! Tables of text: rows of fields with a header, whose columns the caller asks for by name.

use super::delimited::Records;
use super::read::Format;
use super::roles::{missing, position};
use super::source::Source;
use crate::error::{Error, Place, Result};
use std::path::Path;

/// A column to read: the name it must have, or the names to look for.
pub(crate) struct TextColumn<'a> {
    /// The name the caller gave; it must be in the table.
    pub(crate) named: Option<&'a str>,
    /// Otherwise, the first of these that is in the table.
    pub(crate) usual: &'a [&'a str],
    /// What the column holds, if every table must have it.
    pub(crate) required: Option<&'a str>,
}

/// The fields of a row in the columns asked for; `None` where there is no column.
pub(crate) struct TextRow<'a, const N: usize> {
    file: &'a str,
    /// The line on which the row starts.
    pub(crate) line: u64,
    /// The fields.
    pub(crate) fields: [Option<&'a str>; N],
}

impl<const N: usize> TextRow<'_, N> {
    /// An error about this row.
    pub(crate) fn error(&self, message: String) -> Error {
        Error::parse(Place { file: self.file.to_owned(), line: self.line, column: 1 }, message)
    }
}

/// Gives every row of a table to `each`. Files whose names end in `.tsv` are separated by tabs, others by commas; a header
/// comes first.
pub(crate) fn read_text_table<const N: usize>(
    path: &Path,
    columns: [TextColumn<'_>; N],
    mut each: impl FnMut(TextRow<'_, N>) -> Result<()>,
) -> Result<()> {
    let delimiter = if Format::of_path(path) == Format::Tsv { b'\t' } else { b',' };
    let mut records = Records::new(Source::open(path)?, delimiter)?;
    let file = records.file().to_owned();
    let in_header = |message| Error::parse(Place { file: file.clone(), line: 1, column: 1 }, message);
    let places = find_columns(records.names(), &columns).map_err(in_header)?;
    let width = records.names().len();
    while let Some(record) = records.next_record()? {
        if record.len() != width {
            let found = record.len();
            let message = format!("the row has {found} fields, but the header has {width} columns");
            return Err(record.error(0, message));
        }
        let mut fields = [None; N];
        for (field, place) in fields.iter_mut().zip(places) {
            *field = place.map(|place| record.cell(place)).transpose()?;
        }
        each(TextRow { file: &file, line: record.place.line, fields })?;
    }
    Ok(())
}

fn find_columns<const N: usize>(
    names: &[String],
    columns: &[TextColumn<'_>; N],
) -> std::result::Result<[Option<usize>; N], String> {
    let mut places = [None; N];
    for (place, column) in places.iter_mut().zip(columns) {
        let what = column.required.unwrap_or("this column");
        *place = match column.named {
            Some(name) => {
                Some(position(names, name).ok_or_else(|| missing(names, name, &format!("for {what}")))?)
            }
            None => column.usual.iter().find_map(|name| position(names, name)),
        };
        if place.is_none()
            && let Some(what) = column.required
        {
            return Err(missing(names, column.usual[0], &format!("for {what}")));
        }
    }
    Ok(places)
}
