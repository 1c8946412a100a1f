//! Documents as the rows of a comma- or tab-separated table.

use super::Value;
use super::draft::Draft;
use super::reader::{Drafts, Next, Problem};
use rankwise::data::{Records, Source};
use rankwise::{Error, Result};

pub(super) struct Table(Records);

impl Table {
    pub(super) fn new(source: Source, delimiter: u8) -> Result<Self> {
        let records = Records::new(source, delimiter)?;
        let names = records.names();
        if let Some(column) = names.iter().position(String::is_empty) {
            let file = records.file();
            return Err(Error::malformed(format!(
                "column {} of {file} has no name in the header",
                column + 1
            )));
        }
        Ok(Table(records))
    }
}

impl Drafts for Table {
    fn next(&mut self) -> Next {
        let columns = self.0.names().len();
        // What follows a quote that is not closed cannot be divided into rows.
        let Some(record) = self.0.next_record().map_err(Problem::Fatal)? else { return Ok(None) };
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
        let named = record.names().iter().zip(cells);
        let fields = named.map(|(name, text)| (name.clone(), Value::Text(text.to_owned()))).collect();
        let place = record.place.clone();
        Ok(Some((Draft { fields, ..Draft::default() }, place)))
    }
}
