//! An index of documents on disk.
//!
//! The directory of an index is a tantivy index. What we keep beside it travels in the payload of its commits
//! (`manifest`), so a commit changes everything or nothing, and a process that is killed leaves the last commit.

mod add;
mod build;
mod coded;
mod commit;
mod directory;
pub(crate) mod failure;
mod flight;
pub(crate) mod layout;
pub(crate) mod links;
mod manifest;
mod merge;
mod origin;
mod prepare;
mod site;
#[cfg(test)]
mod tests;
mod writer;

pub use add::Added;
pub use build::NewIndex;
pub use commit::Committed;
pub use links::LinkStatistics;
pub use manifest::FORMAT;
pub use prepare::UnknownFields;
pub use writer::{Duplicates, Writer, WriterOptions};

use crate::schema::Schema;
use directory::IndexDirectory;
use failure::failure;
use layout::Plan;
use links::LinkFile;
use manifest::Manifest;
use rankwise::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tantivy::directory::{Directory, RamDirectory};
use tantivy::{IndexReader, IndexSettings, ReloadPolicy, Searcher};
use xxhash_rust::xxh3::xxh3_64;

const META: &str = "meta.json";

/// An index of documents.
///
/// ```
/// use rankwise_search::{Analyzer, Document, Field, Index, Schema, Value};
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("birds.idx");
/// let schema = Schema::new([Field::text("title", Analyzer::English)])?;
/// let index = Index::create(&path, &schema)?;
/// let mut writer = index.writer(Default::default())?;
/// writer.add(Document { id: "1".into(), fields: vec![("title".into(), Value::Text("A wren".into()))] })?;
/// writer.commit()?;
/// assert_eq!(Index::open(&path)?.info()?.documents, 1);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Clone)]
pub struct Index {
    path: PathBuf,
    plan: Arc<Plan>,
    tantivy: tantivy::Index,
}

/// What an index says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexInfo {
    /// The version of its format.
    pub format: u32,
    /// The version of Rankwise that wrote it.
    pub version: String,
    /// Its fields.
    pub schema: Schema,
    /// Names and fingerprints of its analyzers.
    pub analyzers: BTreeMap<String, String>,
    /// Number of documents.
    pub documents: u64,
    /// Number of segments, each of which is searched on its own.
    pub segments: usize,
    /// Size on disk.
    pub bytes: u64,
}

/// One commit: documents and what the manifest says, of the same moment.
pub(crate) struct View {
    pub(crate) searcher: Searcher,
    pub(crate) manifest: Manifest,
    /// What links say about the documents, where the schema has links and something was committed.
    pub(crate) links: Option<LinkFile>,
}

impl Index {
    /// A new index in a directory that is new or empty.
    pub fn create(path: impl AsRef<Path>, schema: &Schema) -> Result<Index> {
        let path = path.as_ref();
        fs::create_dir_all(path).map_err(|source| Error::io("create the directory", path, source))?;
        check_empty(path)?;
        Index::begin(path, schema)
    }

    /// A new index in a directory, in place of one without documents.
    pub(crate) fn begin(path: &Path, schema: &Schema) -> Result<Index> {
        schema.check()?;
        let plan = Plan::of(schema.clone());
        let meta = first_commit(&plan).map_err(|error| failure("create", path, error))?;
        let directory = IndexDirectory::open(path).map_err(|error| failure("create", path, error.into()))?;
        directory
            .atomic_write(Path::new(META), &meta)
            .and_then(|()| directory.sync_directory())
            .map_err(|source| Error::io("create the index", path, source))?;
        Index::open(path)
    }

    /// The index in this directory.
    pub fn open(path: impl AsRef<Path>) -> Result<Index> {
        let path = path.as_ref();
        let manifest = Manifest::of_payload(path, payload(path)?.as_deref())?;
        let mut tantivy = open_tantivy(path)?;
        tantivy.set_tokenizers(layout::analyzers(&manifest.schema));
        let plan = Plan::of(manifest.schema);
        if tantivy.schema() != plan.layout.tantivy {
            return Err(damaged(path, "its fields are not those of its schema"));
        }
        Ok(Index { path: path.to_owned(), plan: Arc::new(plan), tantivy })
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its fields.
    pub fn schema(&self) -> &Schema {
        &self.plan.schema
    }

    /// What it says about itself.
    pub fn info(&self) -> Result<IndexInfo> {
        let View { searcher, manifest, .. } = self.view()?;
        let bytes =
            searcher.space_usage().map_err(|error| failure("read", &self.path, error.into()))?.total();
        Ok(IndexInfo {
            format: manifest.format,
            version: manifest.version,
            schema: manifest.schema,
            analyzers: manifest.analyzers,
            documents: searcher.num_docs(),
            segments: searcher.segment_readers().len(),
            bytes: bytes.get_bytes(),
        })
    }

    /// Adds, replaces and deletes documents. Only one writer at a time can exist for an index, in all processes.
    pub fn writer(&self, options: WriterOptions) -> Result<Writer> {
        Writer::open(self, options)
    }

    /// The last commit.
    pub(crate) fn view(&self) -> Result<View> {
        let read = |error| failure("read", &self.path, error);
        loop {
            let before = self.tantivy.load_metas().map_err(read)?;
            let searcher = self.reader()?.searcher();
            let after = self.tantivy.load_metas().map_err(read)?;
            // Merges change segments and nothing else.
            if before.opstamp != after.opstamp || before.payload != after.payload {
                continue;
            }
            let manifest = Manifest::of_payload(&self.path, after.payload.as_deref())?;
            let links = manifest.links.as_ref().map(|name| LinkFile::open(&self.path.join(name))).transpose();
            match links {
                Ok(links) => return Ok(View { searcher, manifest, links }),
                // The next commit has removed it.
                Err(_) if self.tantivy.load_metas().map_err(read)?.opstamp != after.opstamp => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn reader(&self) -> Result<IndexReader> {
        let reader = self.tantivy.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
        reader.map_err(|error| failure("read", &self.path, error))
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A number that is another one after every commit and merge. None if the index cannot be read.
pub(crate) fn commit_mark(path: &Path) -> Option<u64> {
    fs::read(path.join(META)).ok().map(|meta| xxh3_64(&meta))
}

fn open_tantivy(path: &Path) -> Result<tantivy::Index> {
    let directory = IndexDirectory::open(path).map_err(|error| failure("open", path, error.into()))?;
    tantivy::Index::open(directory).map_err(|error| failure("open", path, error))
}

/// The commit of an index without documents, made in memory: a directory is an index with a manifest, or not an index.
fn first_commit(plan: &Plan) -> tantivy::Result<Vec<u8>> {
    let memory = RamDirectory::create();
    let index =
        tantivy::Index::create(memory.clone(), plan.layout.tantivy.clone(), IndexSettings::default())?;
    let mut writer: tantivy::IndexWriter = index.writer_with_num_threads(1, writer::LEAST_MEMORY)?;
    let mut commit = writer.prepare_commit()?;
    commit.set_payload(&Manifest::new(&plan.schema).to_payload());
    commit.commit()?;
    Ok(memory.atomic_read(Path::new(META))?)
}

/// Refuses directories with files. Hidden files may be left by a process that was killed.
fn check_empty(path: &Path) -> Result<()> {
    let entries = fs::read_dir(path).map_err(|source| Error::io("read the directory", path, source))?;
    let names = entries.map(|entry| entry.map(|entry| entry.file_name().to_string_lossy().into_owned()));
    let names: io::Result<Vec<String>> = names.collect();
    let names = names.map_err(|source| Error::io("read the directory", path, source))?;
    let path = path.display();
    if names.iter().any(|name| name == META) {
        return Err(Error::data(format!(
            "there is already an index in {path}; add to it, or delete the directory first"
        )));
    }
    match names.iter().find(|name| !name.starts_with('.')) {
        None => Ok(()),
        Some(name) => Err(Error::data(format!(
            "cannot create an index in {path}, because other files are there, such as {name}; give a new or an empty directory"
        ))),
    }
}

/// The payload of the last commit. Errors tell a missing index from a damaged one.
fn payload(path: &Path) -> Result<Option<String>> {
    if !path.is_dir() {
        let what = if path.exists() { "it is not a directory" } else { "there is no such directory" };
        return Err(Error::data(format!("cannot open the index {}: {what}", path.display())));
    }
    let meta = match fs::read_to_string(path.join(META)) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            let why = if empty { "the directory is empty" } else { "it has no meta.json" };
            return Err(Error::data(format!("{} is not an index: {why}", path.display())));
        }
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            return Err(damaged(path, "meta.json is not text"));
        }
        Err(error) => return Err(Error::io("read", path.join(META), error)),
    };
    let meta: serde_json::Value = serde_json::from_str(&meta)
        .map_err(|error| damaged(path, &format!("meta.json is not JSON ({error})")))?;
    if meta.get("segments").is_none() {
        return Err(Error::data(format!(
            "{} is not an index: its meta.json is of another program",
            path.display()
        )));
    }
    Ok(meta.get("payload").and_then(|payload| payload.as_str()).map(str::to_owned))
}

fn damaged(path: &Path, why: &str) -> Error {
    Error::data(format!("the index {} is damaged: {why}; index the documents again", path.display()))
}
