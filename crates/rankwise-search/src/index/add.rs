//! Many documents at once: read, analysed and written at the same time.

use crate::document::Document;
use crate::index::prepare::{Prepared, Preparer, size};
use crate::index::writer::Writer;
use rankwise::watch::{Progress, Watch};
use rankwise::{Error, Result};
use rayon::prelude::*;

/// Documents that are analysed together. Batches do not depend on the number of threads.
const BATCH_DOCUMENTS: usize = 512;

/// And their text, roughly.
const BATCH_BYTES: u64 = 2 << 20;

/// What adding many documents did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Added {
    /// Documents that were read, without the one that was refused.
    pub documents: u64,
    /// Bytes of their text.
    pub bytes: u64,
    /// Whether the caller asked to stop before the last document.
    pub stopped: bool,
}

impl Writer {
    /// Adds documents, which are analysed on all threads. Reports the number of documents so far, with the bytes of their
    /// text as the value.
    ///
    /// The first error ends it. The documents before that one are added, and the caller decides whether to commit them.
    pub fn add_all(
        &mut self,
        documents: impl IntoIterator<Item = Result<Document>>,
        watch: &mut dyn Watch,
    ) -> Result<Added> {
        let mut source = documents.into_iter();
        let mut added = Added::default();
        let mut batch = Batch::read(&mut source);
        while !batch.documents.is_empty() {
            if watch.stop().requested() {
                added.stopped = true;
                return Ok(added);
            }
            let mut prepared = Vec::new();
            let next = rayon::in_place_scope(|scope| {
                let (preparer, documents) = (&self.preparer, std::mem::take(&mut batch.documents));
                scope.spawn(|_| prepared = prepare(preparer, documents));
                if batch.error.is_none() { Batch::read(&mut source) } else { Batch::default() }
            });
            for document in prepared {
                let document = document?;
                let bytes = document.bytes;
                self.push(document)?;
                added.documents += 1;
                added.bytes += bytes;
            }
            if let Some(error) = batch.error {
                return Err(error);
            }
            watch.step(Progress {
                done: added.documents,
                total: None,
                what: "bytes",
                value: added.bytes as f64,
            });
            batch = next;
        }
        batch.error.map_or(Ok(added), Err)
    }
}

fn prepare(preparer: &Preparer, documents: Vec<Document>) -> Vec<Result<Prepared>> {
    let documents = documents.into_par_iter().with_min_len(16);
    documents.map_init(|| preparer.clone(), |preparer, document| preparer.prepare(document)).collect()
}

/// Documents, and what went wrong after them.
#[derive(Default)]
struct Batch {
    documents: Vec<Document>,
    error: Option<Error>,
}

impl Batch {
    fn read(source: &mut impl Iterator<Item = Result<Document>>) -> Batch {
        let mut batch = Batch::default();
        let mut bytes = 0;
        while batch.documents.len() < BATCH_DOCUMENTS && bytes < BATCH_BYTES {
            match source.next() {
                None => break,
                Some(Ok(document)) => {
                    bytes += size(&document);
                    batch.documents.push(document);
                }
                Some(Err(error)) => {
                    batch.error = Some(error);
                    break;
                }
            }
        }
        batch
    }
}
