//! A new index from documents whose fields nobody has described in full.

use super::{Committed, Index, Writer, WriterOptions};
use crate::analyzer::Analyzer;
use crate::document::{Document, Documents};
use crate::schema::{Field, FieldKind, Schema, guess_schema};
use rankwise::watch::Watch;
use rankwise::{Error, ErrorKind, Result};
use std::fs;
use std::path::Path;

/// Documents that are looked at to find out what the fields hold.
const SAMPLE: usize = 1000;

/// How an index is made from documents.
///
/// ```
/// use rankwise::watch::Silent;
/// use rankwise_search::{NewIndex, UnknownFields, WriterOptions, demo};
/// # let directory = tempfile::tempdir().unwrap();
/// # let path = directory.path().join("demo.idx");
/// let new = NewIndex {
///     fields: vec!["title".into(), "body:plain".into(), "year".into()],
///     writer: WriterOptions { unknown_fields: UnknownFields::Ignore, ..WriterOptions::default() },
///     ..NewIndex::default()
/// };
/// let committed = new.create(&path, &mut demo::documents()?, &mut Silent::default())?;
/// assert!(committed.added > 300);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct NewIndex {
    /// The fields, in this order, each alone or with what it holds: `title`, `year:number`, `published:date`, `cites:links`,
    /// or text with an analyzer, `authors:plain`. If there are none, all fields of the first thousand documents.
    pub fields: Vec<String>,
    /// Fields with the ids of linked documents.
    pub links: Vec<String>,
    /// The analyzer of text.
    pub analyzer: Analyzer,
    /// How documents are written.
    pub writer: WriterOptions,
}

impl NewIndex {
    /// The fields to read from documents: those that are named, or all.
    pub fn fields_to_read(&self) -> Option<Vec<String>> {
        let named =
            self.fields.iter().map(|field| split(field).0).chain(self.links.iter().map(String::as_str));
        (!self.fields.is_empty()).then(|| named.map(str::to_owned).collect())
    }

    /// The schema: what the fields say, and what these documents show of the others.
    pub fn schema<'a>(&self, sample: impl IntoIterator<Item = &'a Document>) -> Result<Schema> {
        let guessed = guess_schema(sample, self.analyzer, &self.links);
        if self.fields.is_empty() {
            return Schema::new(guessed.fields);
        }
        let seen = |name: &str| guessed.find(name).map(|at| guessed.fields[at].kind.clone());
        let text = FieldKind::Text { analyzer: self.analyzer };
        let mut fields = Vec::new();
        for field in &self.fields {
            let (name, kind) = split(field);
            let kind = kind.map(kind_of).transpose()?;
            let kind = kind.or_else(|| seen(name)).unwrap_or_else(|| text.clone());
            fields.push(Field { name: name.to_owned(), kind });
        }
        let named = |link: &String| self.fields.iter().any(|field| split(field).0 == link);
        fields.extend(self.links.iter().filter(|link| !named(link)).map(Field::links));
        Schema::new(fields)
    }

    /// Makes the index of all documents. If that fails or is stopped, the directory is as it was before.
    pub fn create(&self, path: &Path, documents: &mut Documents, watch: &mut dyn Watch) -> Result<Committed> {
        let sample = documents.by_ref().take(SAMPLE).map(|placed| placed.map(|placed| placed.document));
        let sample = sample.collect::<Result<Vec<Document>>>()?;
        let schema = self.schema(&sample)?;
        let existed = path.exists();
        let index = Index::create(path, &schema)?;
        let rest = documents.map(|placed| placed.map(|placed| placed.document));
        let written = index
            .writer(self.writer.clone())
            .and_then(|mut writer| writer.write(sample.into_iter().map(Ok).chain(rest), watch));
        if written.is_err() {
            // Only what was made here: the index is empty.
            let _ = if existed { remove_files(path) } else { fs::remove_dir_all(path) };
        }
        written
    }
}

impl Writer {
    /// Adds documents and commits. Nothing is committed if that fails or is stopped.
    pub fn write(
        &mut self,
        documents: impl IntoIterator<Item = Result<Document>>,
        watch: &mut dyn Watch,
    ) -> Result<Committed> {
        if self.add_all(documents, watch)?.stopped {
            return Err(Error::interrupted("stopped; the index is as it was before"));
        }
        self.commit()
    }
}

impl Committed {
    /// What a user should know, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let counted =
            |count: u64, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let mut notes = Vec::new();
        for (name, &count) in &self.unknown_fields {
            let values = counted(count, "value was", "values were");
            notes.push(format!("the index has no field `{name}`; {values} left out"));
        }
        if self.ignored > 0 {
            let documents = counted(self.ignored, "document was", "documents were");
            notes.push(format!("{documents} ignored: one with the same id came before"));
        }
        if self.unknown_links > 0 {
            let links = counted(self.unknown_links, "link leads", "links lead");
            notes.push(format!("{links} to ids that no document has"));
        }
        notes.extend(self.not_merged.iter().map(|why| format!("segments were not merged: {why}")));
        notes
    }
}

/// `year:number` as its two parts.
fn split(field: &str) -> (&str, Option<&str>) {
    match field.split_once(':') {
        Some((name, kind)) => (name.trim(), Some(kind.trim())),
        None => (field.trim(), None),
    }
}

fn kind_of(kind: &str) -> Result<FieldKind> {
    Ok(match kind {
        "number" => FieldKind::Number,
        "date" => FieldKind::Date,
        "links" => FieldKind::Links,
        analyzer => match Analyzer::of_name(analyzer) {
            Ok(analyzer) => FieldKind::Text { analyzer },
            Err(error) if error.kind() == ErrorKind::Parameter => {
                return Err(Error::parameter(format!(
                    "a field holds `number`, `date`, `links` or text with an analyzer, and {error}"
                )));
            }
            Err(error) => return Err(error),
        },
    })
}

fn remove_files(path: &Path) -> std::io::Result<()> {
    for entry in fs::read_dir(path)? {
        fs::remove_file(entry?.path())?;
    }
    Ok(())
}
