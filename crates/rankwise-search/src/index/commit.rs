//! Making changes visible, all at once.

use crate::index::directory::IndexDirectory;
use crate::index::failure::failure;
use crate::index::links::{self, Graph, LinkFile};
use crate::index::manifest::Manifest;
use crate::index::merge::{Segment, worth_merging};
use crate::index::prepare::UnknownCounts;
use crate::index::writer::{Pending, Writer};
use rankwise::{Error, Result};
use std::fs;
use std::path::Path;
use tantivy::directory::Directory;
use tantivy::index::SegmentId;
use tantivy::indexer::NoMergePolicy;

/// Start of the names of files with link statistics.
const LINKS: &str = "links-";

/// What a commit changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Committed {
    /// Live documents in the index.
    pub documents: u64,
    /// Documents that were added, including those that replaced others.
    pub added: u64,
    /// Documents that replaced one of the last commit, or one that was added before in the same commit.
    pub replaced: u64,
    /// Documents that were deleted.
    pub deleted: u64,
    /// Documents that were ignored, because one of the same id came before.
    pub ignored: u64,
    /// Values that were left out because the schema does not have their field, by field.
    pub unknown_fields: UnknownCounts,
    /// Links, in the whole index, to ids of which there is no document.
    pub unknown_links: u64,
    /// Why segments could not be merged after the commit. Searching is slower, and the next commit tries again.
    pub not_merged: Option<String>,
}

impl Writer {
    /// Makes all changes since the last commit visible, or none if it fails.
    ///
    /// It then merges segments where that is worth it: many documents added at once end in one segment, and a few leave
    /// the large ones as they are.
    pub fn commit(&mut self) -> Result<Committed> {
        let committed = self.publish()?;
        let segments = worth_merging(self.segments());
        Ok(self.merged(&segments, committed))
    }

    /// Commits, and then merges all segments into one without deleted documents. That is the fastest index to search.
    pub fn commit_and_merge(&mut self) -> Result<Committed> {
        let committed = self.publish()?;
        let mut segments = self.segments();
        if segments.len() == 1 {
            segments.retain(|segment| segment.deleted > 0);
        }
        let segments: Vec<SegmentId> = segments.iter().map(|segment| segment.id).collect();
        Ok(self.merged(&segments, committed))
    }

    fn publish(&mut self) -> Result<Committed> {
        self.check_usable()?;
        self.failed = true;
        let write = |error| failure("write", &self.path, error);
        let mut manifest = Manifest::new(&self.plan.schema);
        let mut commit = self.tantivy.prepare_commit().map_err(write)?;
        let mut unknown_links = 0;
        if let Some(graph) = &self.graph {
            let name = format!("{LINKS}{}.zst", commit.opstamp());
            unknown_links = write_links(&self.path, &name, graph)?;
            manifest.links = Some(name);
        }
        commit.set_payload(&manifest.to_payload());
        commit.commit().map_err(write)?;
        self.failed = false;
        remove_other_links(&self.path, manifest.links.as_deref());
        self.reload()?;
        let documents = self.committed.searcher().num_docs();
        Ok(Committed { documents, unknown_links, ..std::mem::take(&mut self.pending).counts })
    }

    /// Forgets all changes since the last commit. A writer that has failed can be used again.
    pub fn rollback(&mut self) -> Result<()> {
        self.roll_back()?;
        self.tantivy.set_merge_policy(Box::new(NoMergePolicy));
        self.pending = Pending::default();
        self.failed = false;
        if self.graph.is_some() {
            self.graph = Some(self.committed_graph()?);
        }
        Ok(())
    }

    fn committed_graph(&self) -> Result<Graph> {
        let metas = self.tantivy.index().load_metas().map_err(|error| failure("read", &self.path, error))?;
        match Manifest::of_payload(&self.path, metas.payload.as_deref())?.links {
            Some(name) => Ok(LinkFile::open(&self.path.join(name))?.load()?.1),
            None => Ok(Graph::default()),
        }
    }

    fn segments(&self) -> Vec<Segment> {
        let searcher = self.committed.searcher();
        let readers = searcher.segment_readers().iter();
        let segment = |reader: &tantivy::SegmentReader| Segment {
            id: reader.segment_id(),
            live: reader.num_docs().into(),
            deleted: reader.num_deleted_docs().into(),
        };
        readers.map(segment).collect()
    }

    /// Merges segments. The changes are visible already, so a failure is only mentioned.
    fn merged(&mut self, segments: &[SegmentId], committed: Committed) -> Committed {
        if segments.is_empty() {
            return committed;
        }
        let merged = self.tantivy.merge(segments).wait();
        let merged = merged.map_err(|error| failure("merge segments of", &self.path, error));
        let failed = merged.and_then(|_| self.reload()).err();
        Committed { not_merged: failed.map(|error| error.to_string()), ..committed }
    }

    fn reload(&self) -> Result<()> {
        self.committed.reload().map_err(|error| failure("read", &self.path, error))
    }
}

/// Writes the statistics of links, and says how many lead to unknown ids.
fn write_links(path: &Path, name: &str, graph: &Graph) -> Result<u64> {
    let (table, unknown) = graph.statistics();
    let bytes = links::encode(graph, &table)?;
    let directory = IndexDirectory::open(path).map_err(|error| failure("write", path, error.into()))?;
    directory
        .atomic_write(Path::new(name), &bytes)
        .map_err(|source| Error::io("write", path.join(name), source))?;
    Ok(unknown)
}

/// Removes the statistics of earlier commits, and of commits that failed. What cannot be removed now is removed later.
fn remove_other_links(path: &Path, current: Option<&str>) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if name.starts_with(LINKS) && Some(name) != current {
            drop(fs::remove_file(entry.path()));
        }
    }
}
