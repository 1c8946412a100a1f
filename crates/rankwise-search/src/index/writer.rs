//! Adding, replacing and deleting documents.

use crate::document::Document;
use crate::index::coded;
use crate::index::failure::failure;
use crate::index::flight::Flight;
use crate::index::layout::Plan;
use crate::index::links::Graph;
use crate::index::origin::{Files, Origin};
use crate::index::prepare::{LONGEST_ID, Prepared, Preparer, UnknownFields};
use crate::index::{Committed, Index, open_tantivy};
use rankwise::error::Place;
use rankwise::{Error, Result};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::query::AllQuery;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, IndexReader, IndexWriter, ReloadPolicy, Term};
use xxhash_rust::xxh3::xxh3_128;

/// tantivy needs this much for each thread that writes.
pub(crate) const LEAST_MEMORY: usize = 15_000_000;

/// And it cannot use more.
const MOST_MEMORY: usize = 4_000_000_000;

/// More threads than this write segments that are too small.
const MOST_THREADS: usize = 8;

/// What to do with two documents of the same id that are added between two commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Duplicates {
    /// Refuse the second.
    #[default]
    Refuse,
    /// Ignore the second, and count it.
    KeepFirst,
    /// Replace the first by the second.
    Replace,
}

/// How documents are written.
#[derive(Debug, Clone, PartialEq)]
pub struct WriterOptions {
    /// Memory for documents that are not on disk yet, in bytes. More memory makes fewer and larger segments, and indexing
    /// faster.
    pub memory_bytes: usize,
    /// Two documents of the same id between two commits.
    pub duplicates: Duplicates,
    /// Fields of documents that the schema does not have.
    pub unknown_fields: UnknownFields,
    /// The most text of one document, in bytes.
    pub document_bytes: u64,
}

impl Default for WriterOptions {
    fn default() -> Self {
        WriterOptions {
            memory_bytes: 256 << 20,
            duplicates: Duplicates::default(),
            unknown_fields: UnknownFields::default(),
            document_bytes: 16 << 20,
        }
    }
}

/// Changes an index. Nothing is visible to readers before [`commit`](Writer::commit), and what is not committed when the
/// writer is dropped, or its process is killed, is lost.
pub struct Writer {
    pub(crate) path: PathBuf,
    pub(crate) plan: Arc<Plan>,
    options: WriterOptions,
    pub(crate) tantivy: IndexWriter<Prepared>,
    /// The last commit.
    pub(crate) committed: IndexReader,
    pub(crate) preparer: Preparer,
    flight: Arc<Flight>,
    pub(crate) pending: Pending,
    /// Where the schema has links.
    pub(crate) graph: Option<Graph>,
    /// A failed write loses documents, so nothing is committed after it.
    pub(crate) failed: bool,
    /// Whether tantivy could not roll back, and has lost its lock. It panics if it is asked again.
    pub(crate) lost: bool,
}

/// What has changed since the last commit.
#[derive(Default)]
pub(crate) struct Pending {
    /// Documents that were added: a hash of the id, and where the document comes from.
    added: HashMap<u128, Origin>,
    files: Files,
    /// Documents of the last commit that were deleted or replaced.
    gone: HashSet<u128>,
    pub(crate) counts: Committed,
    /// All live documents of the last commit are gone.
    all_gone: bool,
}

impl Writer {
    pub(crate) fn open(index: &Index, options: WriterOptions) -> Result<Writer> {
        let path = index.path();
        if !(LEAST_MEMORY + queue(LEAST_MEMORY)..=MOST_MEMORY).contains(&options.memory_bytes) {
            return Err(Error::parameter(format!(
                "`memory_bytes` is {}; it must be from {} to {MOST_MEMORY}",
                options.memory_bytes,
                LEAST_MEMORY + queue(LEAST_MEMORY)
            )));
        }
        // Another process may have written since the index was opened, so tantivy's list of files is read anew.
        let mut tantivy = open_tantivy(path)?;
        tantivy.set_tokenizers(coded::readers(index.schema()));
        let reader = tantivy.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        // Which thread writes a document changes the segments, but no result: statistics are whole numbers, and documents
        // of equal score are ordered by their ids.
        let memory = options.memory_bytes - queue(options.memory_bytes);
        let threads = rayon::current_num_threads().min(MOST_THREADS).min(memory / LEAST_MEMORY);
        let budget = IndexWriterOptions::builder()
            .num_worker_threads(threads)
            .num_merge_threads(1)
            .memory_budget_per_thread(memory / threads)
            .build();
        let writer: IndexWriter<Prepared> =
            tantivy.writer_with_options(budget).map_err(|error| failure("write", path, error))?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        let graph = match index.view()?.links {
            Some(file) => Some(file.load()?.1),
            None => index.schema().has_links().then(Graph::default),
        };
        let writer = Writer {
            path: path.to_owned(),
            plan: Arc::clone(&index.plan),
            committed: reader.map_err(|error| failure("read", path, error))?,
            preparer: Preparer::new(&index.plan, options.unknown_fields, options.document_bytes),
            flight: Flight::new(queue(options.memory_bytes)),
            pending: Pending::default(),
            tantivy: writer,
            options,
            graph,
            failed: false,
            lost: false,
        };
        writer.remove_leftovers();
        Ok(writer)
    }

    /// Lets tantivy forget what was not committed.
    pub(crate) fn roll_back(&mut self) -> Result<()> {
        if self.lost {
            return Err(Error::data(format!(
                "writing the index {} cannot go on after a failure; open a new writer",
                self.path.display()
            )));
        }
        self.lost = true;
        self.tantivy.rollback().map_err(|error| failure("roll back", &self.path, error))?;
        self.lost = false;
        Ok(())
    }

    /// Removes files that no commit needs. A process that was killed leaves some, and they may fill the disk. What cannot
    /// be removed now is removed later.
    fn remove_leftovers(&self) {
        drop(self.tantivy.garbage_collect_files().wait());
    }

    /// Adds a document. It replaces one of the same id that is in the index.
    pub fn add(&mut self, document: Document) -> Result<()> {
        self.check_usable()?;
        let prepared = self.preparer.prepare(document)?;
        self.push(prepared, None)
    }

    /// Writes a document, unless its id came before and the options say not to.
    pub(crate) fn push(&mut self, mut document: Prepared, place: Option<&Place>) -> Result<()> {
        let key = xxh3_128(document.id.as_bytes());
        let number = self.pending.counts.added + self.pending.counts.ignored + 1;
        match self.pending.added.get(&key) {
            Some(&first) => match self.options.duplicates {
                Duplicates::Refuse => return Err(self.pending.twice(&document.id, first, place)),
                Duplicates::KeepFirst => {
                    self.pending.counts.ignored += 1;
                    return Ok(());
                }
                Duplicates::Replace => {
                    self.delete_term(&document.id);
                    self.pending.counts.replaced += 1;
                }
            },
            None if self.is_committed(key, &document.id)? => {
                self.delete_term(&document.id);
                self.pending.gone.insert(key);
                self.pending.counts.replaced += 1;
            }
            None => {}
        }
        for name in document.unknown.drain(..) {
            *self.pending.counts.unknown_fields.entry(name).or_default() += 1;
        }
        if let Some(graph) = &mut self.graph {
            graph.insert(&document.id, &document.links);
        }
        document.permit = Some(self.flight.board(document.memory()));
        if let Err(error) = self.tantivy.add_document(document) {
            return Err(self.reason(error));
        }
        let origin = self.pending.files.origin(place, number);
        self.pending.added.insert(key, origin);
        self.pending.counts.added += 1;
        Ok(())
    }

    /// Deletes a document; false if there is none of this id.
    pub fn delete(&mut self, id: &str) -> Result<bool> {
        self.check_usable()?;
        if id.is_empty() || id.len() > LONGEST_ID {
            return Ok(false);
        }
        let key = xxh3_128(id.as_bytes());
        let is_new = self.pending.added.remove(&key).is_some();
        let is_old = !is_new && self.is_committed(key, id)?;
        if is_old {
            self.pending.gone.insert(key);
        }
        if is_new || is_old {
            self.delete_term(id);
            self.pending.counts.deleted += 1;
            if let Some(graph) = &mut self.graph {
                graph.remove(id);
            }
        }
        Ok(is_new || is_old)
    }

    /// Deletes all documents: those of the last commit and those added since.
    pub fn delete_all(&mut self) -> Result<()> {
        self.check_usable()?;
        let documents = self.tantivy.delete_query(Box::new(AllQuery));
        documents.map_err(|error| failure("write", &self.path, error))?;
        let old = if self.pending.all_gone { 0 } else { self.committed.searcher().num_docs() };
        let gone = self.pending.gone.len() as u64;
        self.pending.counts.deleted += old.saturating_sub(gone) + self.pending.added.len() as u64;
        self.pending.added.clear();
        self.pending.gone.clear();
        self.pending.all_gone = true;
        self.graph = self.graph.as_ref().map(|_| Graph::default());
        Ok(())
    }

    /// Whether a document of the last commit has this id and is still there.
    fn is_committed(&self, key: u128, id: &str) -> Result<bool> {
        if self.pending.all_gone || self.pending.gone.contains(&key) {
            return Ok(false);
        }
        has_document(&self.committed, &self.id_term(id)).map_err(|error| failure("read", &self.path, error))
    }

    fn delete_term(&self, id: &str) {
        self.tantivy.delete_term(self.id_term(id));
    }

    fn id_term(&self, id: &str) -> Term {
        Term::from_field_text(self.plan.layout.id, id)
    }

    /// Refuses to go on after a failure, which has lost documents that were added.
    pub(crate) fn check_usable(&self) -> Result<()> {
        if !self.failed {
            return Ok(());
        }
        Err(Error::data(format!(
            "writing the index {} failed before, and what was not committed is lost; roll back or open a new writer",
            self.path.display()
        )))
    }

    /// Why the thread that writes has stopped. It says so when it is joined.
    fn reason(&mut self, error: tantivy::TantivyError) -> Error {
        self.failed = true;
        let told = self.tantivy.prepare_commit().err().unwrap_or(error);
        failure("write", &self.path, told)
    }

    /// The directory of the index.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Writer {
    /// What was written and is not committed would stay on the disk.
    fn drop(&mut self) {
        if (self.failed || !self.pending.is_empty()) && self.roll_back().is_ok() {
            self.remove_leftovers();
        }
    }
}

/// The part of the memory in which documents wait to be written.
fn queue(memory: usize) -> usize {
    memory / 8
}

fn has_document(reader: &IndexReader, id: &Term) -> tantivy::Result<bool> {
    for segment in reader.searcher().segment_readers() {
        let postings = segment.inverted_index(id.field())?.read_postings(id, IndexRecordOption::Basic)?;
        let Some(mut postings) = postings else { continue };
        while postings.doc() != tantivy::TERMINATED {
            if !segment.is_deleted(postings.doc()) {
                return Ok(true);
            }
            postings.advance();
        }
    }
    Ok(false)
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.gone.is_empty() && !self.all_gone
    }

    /// The error for a second document of an id.
    fn twice(&self, id: &str, first: Origin, place: Option<&Place>) -> Error {
        let error = Error::data(format!(
            "two documents have the id `{id}`, the first is {}; keep the first or the last by choice, or give them different ids",
            self.files.shown(first)
        ));
        placed(error, place)
    }
}

/// The error at the place of the document that caused it.
pub(crate) fn placed(error: Error, place: Option<&Place>) -> Error {
    match place {
        Some(place) => Error::parse(place.clone(), error.message()),
        None => error,
    }
}
