//! What is known about a document that does not depend on a query.

use super::segment::Segment;
use super::{Address, Snapshot};
use crate::index::links::{LinkFile, LinkStatistics};
use crate::schema::{FieldKind, Schema};
use crate::terms::DocumentValues;
use rankwise::Result;
use std::sync::{Mutex, OnceLock, PoisonError};
use tantivy::columnar::Column;

/// Values of documents, read when they are first needed.
pub(crate) struct Values {
    /// What links say; locked while it is read.
    links: Mutex<Option<LinkFile>>,
    read: OnceLock<AllValues>,
}

struct AllValues {
    segments: Vec<SegmentValues>,
}

struct SegmentValues {
    /// One for every field of the schema.
    fields: Vec<FieldColumn>,
    /// By document; empty if there are no links.
    links: Vec<Option<LinkStatistics>>,
}

enum FieldColumn {
    Number(Option<Column<f64>>),
    Date(Option<Column<i64>>),
    Other,
}

impl Snapshot {
    /// The links, numbers and dates of a document.
    pub fn values(&self, address: Address) -> Result<DocumentValues> {
        self.segment(address)?;
        let values = &self.values.get(&self.schema, &self.segments)?.segments[address.segment as usize];
        let mut known = DocumentValues::unknown(values.fields.len());
        for (known, column) in known.fields.iter_mut().zip(&values.fields) {
            *known = column.get(address.document).unwrap_or(f64::NAN);
        }
        if let Some(Some(links)) = values.links.get(address.document as usize) {
            known.in_links = f64::from(links.in_links);
            known.out_links = f64::from(links.out_links);
            known.page_rank = links.page_rank;
        }
        Ok(known)
    }
}

impl Values {
    pub(crate) fn new(links: Option<LinkFile>) -> Values {
        Values { links: Mutex::new(links), read: OnceLock::new() }
    }

    fn get(&self, schema: &Schema, segments: &[Segment]) -> Result<&AllValues> {
        let file = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.read.get() {
            return Ok(known);
        }
        let fields = |segment| {
            schema.fields.iter().map(move |field| FieldColumn::of(segment, &field.name, &field.kind))
        };
        let columns = segments.iter().map(|segment| fields(segment).collect::<Result<Vec<_>>>());
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let links = match file.as_ref() {
            Some(file) => by_document(file, segments)?,
            None => segments.iter().map(|_| Vec::new()).collect(),
        };
        let segments = columns.into_iter().zip(links).map(|(fields, links)| SegmentValues { fields, links });
        Ok(self.read.get_or_init(|| AllValues { segments: segments.collect() }))
    }
}

impl FieldColumn {
    fn of(segment: &Segment, name: &str, kind: &FieldKind) -> Result<FieldColumn> {
        let columns = segment.reader.fast_fields();
        let failure = |error| segment.failure(error);
        Ok(match kind {
            FieldKind::Number => FieldColumn::Number(columns.column_opt(name).map_err(failure)?),
            FieldKind::Date => FieldColumn::Date(columns.column_opt(name).map_err(failure)?),
            _ => FieldColumn::Other,
        })
    }

    fn get(&self, document: u32) -> Option<f64> {
        match self {
            FieldColumn::Number(column) => column.as_ref()?.first(document),
            FieldColumn::Date(column) => Some(column.as_ref()?.first(document)? as f64),
            FieldColumn::Other => None,
        }
    }
}

/// The statistics of links by segment and document.
fn by_document(file: &LinkFile, segments: &[Segment]) -> Result<Vec<Vec<Option<LinkStatistics>>>> {
    let (table, _) = file.load()?;
    let of_segment = |segment: &Segment| {
        let mut links = vec![None; segment.len()];
        let documents: Vec<u32> =
            (0..segment.len() as u32).filter(|&document| segment.is_live(document)).collect();
        let ordinals: Vec<u64> = documents.iter().map(|&document| segment.ordinal(document)).collect();
        for (document, id) in documents.into_iter().zip(segment.ids(&ordinals)?) {
            links[document as usize] = table.get(&id);
        }
        Ok(links)
    };
    segments.iter().map(of_segment).collect()
}
