//! A segment of the index: what is read of it again and again.

use super::TextField;
use crate::index::failure::failure;
use crate::index::layout::{ID, SOURCE};
use rankwise::{Error, Result};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tantivy::columnar::StrColumn;
use tantivy::index::InvertedIndexReader;
use tantivy::store::StoreReader;
use tantivy::{SegmentReader, TERMINATED, TantivyError};

/// Blocks of stored documents that are kept decompressed.
const STORED_BLOCKS: usize = 100;

pub(crate) struct Segment {
    pub(crate) reader: SegmentReader,
    /// The inverted index of every text field.
    pub(crate) inverted: Vec<Arc<InvertedIndexReader>>,
    ids: StrColumn,
    store: OnceLock<StoreReader>,
    /// Of the index, for errors.
    path: Arc<Path>,
}

impl Segment {
    pub(crate) fn open(reader: SegmentReader, text: &[TextField], path: &Arc<Path>) -> Result<Segment> {
        let failed = |error| failure("read", path, error);
        let inverted = text.iter().map(|field| reader.inverted_index(field.terms).map_err(failed));
        let inverted = inverted.collect::<Result<_>>()?;
        let ids = reader.fast_fields().str(ID).map_err(failed)?;
        let ids = ids.ok_or_else(|| damaged(path, "it has no ids"))?;
        Ok(Segment { reader, inverted, ids, store: OnceLock::new(), path: Arc::clone(path) })
    }

    /// An error for what tantivy found wrong while it read.
    pub(crate) fn failure(&self, error: impl Into<TantivyError>) -> Error {
        failure("read", &self.path, error.into())
    }

    /// Number of documents, deleted ones included.
    pub(crate) fn len(&self) -> usize {
        self.reader.max_doc() as usize
    }

    pub(crate) fn is_live(&self, document: u32) -> bool {
        document < self.reader.max_doc()
            && self.reader.alive_bitset().is_none_or(|alive| alive.is_alive(document))
    }

    /// All values of a column of whole numbers; 0 where there is none.
    pub(crate) fn counts(&self, name: &str) -> Result<Vec<u32>> {
        let column =
            self.reader.fast_fields().column_first_or_default::<u64>(name).map_err(|e| self.failure(e))?;
        let mut values = vec![0; self.len()];
        column.get_range(0, &mut values);
        Ok(values.into_iter().map(|value| u32::try_from(value).unwrap_or(u32::MAX)).collect())
    }

    /// The sum of the values of live documents.
    pub(crate) fn live_sum(&self, values: &[u32]) -> u64 {
        match self.reader.alive_bitset() {
            None => values.iter().map(|&value| u64::from(value)).sum(),
            Some(alive) => alive.iter_alive().map(|document| u64::from(values[document as usize])).sum(),
        }
    }

    /// A stored document, as JSON.
    pub(crate) fn source(&self, document: u32) -> Result<String> {
        use tantivy::schema::Value;
        let store = match self.store.get() {
            Some(store) => store,
            None => {
                let opened = self.reader.get_store_reader(STORED_BLOCKS).map_err(|e| self.failure(e))?;
                self.store.get_or_init(|| opened)
            }
        };
        let stored: tantivy::TantivyDocument = store.get(document).map_err(|e| self.failure(e))?;
        let field = self.reader.schema().get_field(SOURCE).map_err(|e| self.failure(e))?;
        let text = stored.get_first(field).and_then(|value| value.as_str());
        Ok(text.ok_or_else(|| damaged(&self.path, "a document has no source"))?.to_owned())
    }

    /// The live document of this id.
    pub(crate) fn find(&self, id: &str) -> Result<Option<u32>> {
        let field = self.reader.schema().get_field(ID).map_err(|e| self.failure(e))?;
        let term = tantivy::Term::from_field_text(field, id);
        let inverted = self.reader.inverted_index(field).map_err(|e| self.failure(e))?;
        let option = tantivy::schema::IndexRecordOption::Basic;
        let Some(mut postings) = inverted.read_postings(&term, option).map_err(|e| self.failure(e))? else {
            return Ok(None);
        };
        use tantivy::DocSet;
        while postings.doc() != TERMINATED {
            if self.is_live(postings.doc()) {
                return Ok(Some(postings.doc()));
            }
            postings.advance();
        }
        Ok(None)
    }

    /// The place of a document's id among the ids of the segment, which has their order.
    pub(crate) fn ordinal(&self, document: u32) -> u64 {
        self.ids.ords().first(document).unwrap_or(u64::MAX)
    }

    /// The ids of these ordinals, in their order.
    pub(crate) fn ids(&self, ordinals: &[u64]) -> Result<Vec<String>> {
        let mut order: Vec<usize> = (0..ordinals.len()).collect();
        order.sort_unstable_by_key(|&at| ordinals[at]);
        let sorted: Vec<u64> = order.iter().map(|&at| ordinals[at]).collect();
        let mut ids = vec![String::new(); ordinals.len()];
        let mut places = order.iter();
        let found = self.ids.dictionary().sorted_ords_to_term_cb(&sorted, |bytes| {
            if let Some(&at) = places.next() {
                ids[at] = String::from_utf8_lossy(bytes).into_owned();
            }
        });
        match found.map_err(|error| self.failure(error))? {
            true => Ok(ids),
            false => Err(damaged(&self.path, "a document has no id")),
        }
    }
}

/// An error for what must not be in an index.
pub(crate) fn damaged(path: &Path, why: &str) -> Error {
    Error::data(format!("the index {} is damaged: {why}; index the documents again", path.display()))
}
