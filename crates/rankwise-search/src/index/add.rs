//! Many documents at once: read, analysed and written at the same time.

use crate::document::{Document, Documents};
use crate::index::prepare::{Prepared, Preparer, size};
use crate::index::writer::{Writer, placed};
use rankwise::error::Place;
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
    /// Documents that were read, without those that were refused.
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
        self.add_from(&mut Unplaced(documents.into_iter()), watch)
    }

    pub(crate) fn add_from(&mut self, source: &mut impl Incoming, watch: &mut dyn Watch) -> Result<Added> {
        let mut added = Added::default();
        let mut prepared = Vec::new();
        let mut batch = Batch::read(source);
        // One batch is analysed on all threads while this thread hands over the one before and reads the one behind.
        while !prepared.is_empty() || !batch.documents.is_empty() {
            if watch.stop().requested() {
                added.stopped = true;
                return Ok(added);
            }
            let (preparer, documents) = (self.preparer.clone(), std::mem::take(&mut batch.documents));
            let before = std::mem::take(&mut prepared);
            let next = rayon::in_place_scope(|scope| {
                scope.spawn(|_| prepared = prepare(&preparer, documents));
                self.push_all(before, source, &mut added)?;
                Ok(if batch.error.is_none() { Batch::read(source) } else { Batch::default() })
            });
            watch.step(Progress {
                done: added.documents,
                total: None,
                what: "bytes",
                value: added.bytes as f64,
            });
            let next = next?;
            batch = Batch { error: batch.error.or(next.error), ..next };
        }
        batch.error.map_or(Ok(added), Err)
    }

    fn push_all(
        &mut self,
        prepared: Vec<Placed<Result<Prepared>>>,
        source: &mut impl Incoming,
        added: &mut Added,
    ) -> Result<()> {
        for (document, place) in prepared {
            match document {
                Ok(document) => {
                    added.documents += 1;
                    added.bytes += document.bytes;
                    self.push(document, place.as_ref())?;
                }
                Err(error) => source.refuse(placed(error, place.as_ref()))?,
            }
        }
        Ok(())
    }
}

/// With its place if that is known.
pub(crate) type Placed<T> = (T, Option<Place>);

/// Where documents come from.
pub(crate) trait Incoming {
    /// The next document.
    fn next(&mut self) -> Option<Result<Placed<Document>>>;

    /// What to do about a document that cannot be written: leave it out, or stop with the error.
    fn refuse(&mut self, error: Error) -> Result<()>;
}

impl Incoming for Documents {
    fn next(&mut self) -> Option<Result<Placed<Document>>> {
        Iterator::next(self).map(|found| found.map(|found| (found.document, Some(found.place))))
    }

    fn refuse(&mut self, error: Error) -> Result<()> {
        Documents::refuse(self, error)
    }
}

/// Documents of the caller.
struct Unplaced<I>(I);

impl<I: Iterator<Item = Result<Document>>> Incoming for Unplaced<I> {
    fn next(&mut self) -> Option<Result<Placed<Document>>> {
        self.0.next().map(|document| document.map(|document| (document, None)))
    }

    fn refuse(&mut self, error: Error) -> Result<()> {
        Err(error)
    }
}

fn prepare(preparer: &Preparer, documents: Vec<Placed<Document>>) -> Vec<Placed<Result<Prepared>>> {
    let documents = documents.into_par_iter().with_min_len(16);
    let prepare = |preparer: &mut Preparer, (document, place)| (preparer.prepare(document), place);
    documents.map_init(|| preparer.clone(), prepare).collect()
}

/// Documents, and what went wrong after them.
#[derive(Default)]
struct Batch {
    documents: Vec<Placed<Document>>,
    error: Option<Error>,
}

impl Batch {
    fn read(source: &mut impl Incoming) -> Batch {
        let mut batch = Batch::default();
        let mut bytes = 0;
        while batch.documents.len() < BATCH_DOCUMENTS && bytes < BATCH_BYTES {
            match source.next() {
                None => break,
                Some(Ok(document)) => {
                    bytes += size(&document.0);
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
