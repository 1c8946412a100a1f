//! A new index from documents whose fields nobody has described in full.

use super::site::Site;
use super::{Added, Committed, Index, Writer, WriterOptions};
use crate::analyzer::Analyzer;
use crate::document::{Document, Documents};
use crate::schema::{Field, FieldKind, Schema, guess_schema, other_name};
use rankwise::watch::Watch;
use rankwise::{Error, ErrorKind, Result};
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
    /// The fields, in this order, each alone or with what it holds: `title:text`, `year:number`, `published:date`,
    /// `cites:links`, or text with an analyzer of its own, `authors:plain`. If there are none, all fields of the first
    /// thousand documents.
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
        (!self.fields.is_empty()).then(|| self.named_fields().collect())
    }

    fn named_fields(&self) -> impl Iterator<Item = String> {
        let fields = self.fields.iter().map(|field| split(field).0);
        fields.chain(self.links.iter().map(|link| usable(link)))
    }

    /// The schema: what the fields say, and what these documents show of the others.
    pub fn schema<'a>(&self, sample: impl IntoIterator<Item = &'a Document>) -> Result<Schema> {
        let links: Vec<String> = self.links.iter().map(|link| usable(link)).collect();
        let guessed = guess_schema(sample, self.analyzer, &links);
        if self.fields.is_empty() {
            return Schema::new(guessed.fields);
        }
        let seen = |name: &str| guessed.find(name).map(|at| guessed.fields[at].kind.clone());
        let text = FieldKind::Text { analyzer: self.analyzer };
        let mut fields = Vec::new();
        for field in &self.fields {
            let (name, kind) = split(field);
            let kind = kind.map(|kind| self.kind_of(kind)).transpose()?;
            let kind = kind.or_else(|| seen(&name)).unwrap_or_else(|| text.clone());
            fields.push(Field { name, kind });
        }
        let named = |link: &String| self.fields.iter().any(|field| split(field).0 == *link);
        fields
            .extend(self.links.iter().map(|link| usable(link)).filter(|link| !named(link)).map(Field::links));
        Schema::new(fields)
    }

    fn kind_of(&self, kind: &str) -> Result<FieldKind> {
        Ok(match kind {
            "text" => FieldKind::Text { analyzer: self.analyzer },
            "number" => FieldKind::Number,
            "date" => FieldKind::Date,
            "links" => FieldKind::Links,
            analyzer => match Analyzer::of_name(analyzer) {
                Ok(analyzer) => FieldKind::Text { analyzer },
                Err(error) if error.kind() == ErrorKind::Parameter => {
                    return Err(Error::parameter(format!(
                        "a field holds `text`, `number`, `date`, `links` or text with an analyzer of its own, and {error}"
                    )));
                }
                Err(error) => return Err(error),
            },
        })
    }

    /// Makes the index of all documents, in a directory that is new or empty, or in which a process was killed while it
    /// made an index. Fails if no document has one of the fields that are named. If it fails or is stopped, the directory
    /// is as it was before.
    pub fn create(&self, path: &Path, documents: &mut Documents, watch: &mut dyn Watch) -> Result<Committed> {
        let site = Site::claim(path)?;
        let written = self.fill(path, documents, watch);
        if written.is_err() {
            site.clear();
        }
        written
    }

    fn fill(&self, path: &Path, documents: &mut Documents, watch: &mut dyn Watch) -> Result<Committed> {
        documents.look_for(self.named_fields());
        let schema = self.schema(documents.look_ahead(SAMPLE)?)?;
        let mut writer = Index::begin(path, &schema)?.writer(self.writer.clone())?;
        writer.add_documents(documents, watch)?;
        if let Some(absence) = documents.summary().absence() {
            return Err(Error::data(absence));
        }
        writer.commit()
    }
}

impl Writer {
    /// Adds documents and commits. Nothing is committed if that fails or is stopped.
    pub fn write(
        &mut self,
        documents: impl IntoIterator<Item = Result<Document>>,
        watch: &mut dyn Watch,
    ) -> Result<Committed> {
        let added = self.add_all(documents, watch)?;
        check_not_stopped(&added)?;
        self.commit()
    }

    /// Adds the documents of files and commits. Nothing is committed if that fails or is stopped. Documents that do not
    /// fit the index are treated as malformed ones are; errors name the place.
    pub fn write_documents(&mut self, documents: &mut Documents, watch: &mut dyn Watch) -> Result<Committed> {
        self.add_documents(documents, watch)?;
        self.commit()
    }

    fn add_documents(&mut self, documents: &mut Documents, watch: &mut dyn Watch) -> Result<()> {
        let added = self.add_from(documents, watch)?;
        check_not_stopped(&added)?;
        match (added.documents, documents.summary().messages.first()) {
            (0, Some(first)) => {
                Err(Error::malformed(format!("there is no document that can be indexed: {first}")))
            }
            _ => Ok(()),
        }
    }
}

fn check_not_stopped(added: &Added) -> Result<()> {
    match added.stopped {
        true => Err(Error::interrupted("stopped; the index is as it was before")),
        false => Ok(()),
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

/// `year:number` as its two parts. The name is as documents have it when they are read.
fn split(field: &str) -> (String, Option<&str>) {
    match field.split_once(':') {
        Some((name, kind)) => (usable(name), Some(kind.trim())),
        None => (usable(field), None),
    }
}

fn usable(name: &str) -> String {
    other_name(name.trim()).unwrap_or_else(|| name.trim().to_owned())
}
