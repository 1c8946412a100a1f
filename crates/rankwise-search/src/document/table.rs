//! Documents as the rows of a comma- or tab-separated table.

use super::Value;
use super::draft::Draft;
use super::reader::{Drafts, Next, Problem};
use rankwise::data::{Records, Source};
use rankwise::{Error, Result};

pub(super) struct Table {
    records: Records,
    /// Columns to leave out at the start: row numbers, as pandas writes them, have no name.
    unnamed: usize,
}

impl Table {
    pub(super) fn new(source: Source, delimiter: u8) -> Result<Self> {
        let records = Records::new(source, delimiter)?;
        let names = records.names();
        let unnamed = usize::from(names.len() > 1 && names[0].is_empty());
        if let Some(column) = names.iter().skip(unnamed).position(String::is_empty) {
            let file = records.file();
            return Err(Error::malformed(format!(
                "column {} of {file} has no name in the header",
                unnamed + column + 1
            )));
        }
        Ok(Table { records, unnamed })
    }
}

impl Drafts for Table {
    fn next(&mut self) -> Next {
        let columns = self.records.names().len();
        // What follows a quote that is not closed cannot be divided into rows.
        let Some(record) = self.records.next_record().map_err(Problem::Fatal)? else { return Ok(None) };
        if record.len() != columns {
            let at = (record.len() - 1).min(columns);
            let message =
                format!("the row has {} fields, but the header has {columns} columns", record.len());
            return Err(record.error(at, message).into());
        }
        let mut cells = Vec::with_capacity(columns);
        for column in 0..columns {
            cells.push(record.cell(column)?);
        }
        let named = record.names().iter().zip(cells).skip(self.unnamed);
        let fields = named.map(|(name, text)| (name.clone(), Value::Text(text.to_owned()))).collect();
        let place = record.place.clone();
        Ok(Some((Draft { fields, ..Draft::default() }, place)))
    }
}
