//! [`Documents`], the documents of files, one at a time.

use super::draft::{Draft, IdField};
use super::folder::Folder;
use super::json::JsonLines;
use super::summary::DocumentSummary;
use super::table::Table;
use super::trec::TrecDocuments;
use super::{Document, DocumentFormat};
use rankwise::data::Source;
use rankwise::error::Place;
use rankwise::{Error, Result};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Bytes of a file for a byte of text: `\u00e9` has six for two.
const WRITTEN: u64 = 4;

/// The longest document unless the caller says otherwise.
const LONGEST: u64 = 64 << 20;

/// How documents are read.
#[derive(Debug, Clone)]
pub struct DocumentOptions {
    /// The format; without it, the extension or the first bytes of each file say it.
    pub format: Option<DocumentFormat>,
    /// The field that has the id; without it, the first of [`ID_FIELDS`](super::ID_FIELDS) that the first document has.
    pub id: Option<String>,
    /// The fields to keep; without it, all.
    pub fields: Option<Vec<String>>,
    /// What to do about a document that is malformed.
    pub on_error: OnError,
    /// The longest document in bytes: a guard against files that are not what they seem. It bounds memory. The rows of
    /// tables have a limit of their own, 64 MiB.
    pub longest: u64,
}

impl DocumentOptions {
    /// How long a document in a file may be, so that one with so many bytes of text can be read.
    pub fn longest_of(text_bytes: u64) -> u64 {
        LONGEST.max(text_bytes * WRITTEN)
    }
}

impl Default for DocumentOptions {
    fn default() -> Self {
        DocumentOptions { format: None, id: None, fields: None, on_error: OnError::Stop, longest: LONGEST }
    }
}

/// What to do about a document that is malformed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// Stop with its error.
    #[default]
    Stop,
    /// Leave the document out, and count it; leave out files of which no document can be read, unless there is no other.
    /// What cannot be read at all still stops: damaged compressed data, a table after a quote that is not closed.
    Skip,
}

/// A document, and where it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct PlacedDocument {
    /// The document.
    pub document: Document,
    /// Where it starts.
    pub place: Place,
}

/// The documents of files and folders, in their order, read one at a time.
///
/// Objects in JSON are flattened: `{"author": {"name": "x"}}` is a field `author.name`. An array is a list of texts; the
/// objects in it become fields that come several times. `true` is 1 and `false` is 0, and `null` and blank text are the
/// lack of a field. The cells of tables are text. Names that fields cannot have become others: `Product Name` is the
/// field `Product_Name`.
///
/// Iteration ends at the first error.
///
/// ```
/// use rankwise::data::Source;
/// use rankwise_search::document::{DocumentOptions, Documents};
/// let lines = "{\"id\": 7, \"title\": \"Time sharing\"}\n{\"id\": 8, \"title\": }\n";
/// let source = Source::new("docs.jsonl", std::io::Cursor::new(lines))?;
/// let mut documents = Documents::from_source(source, &DocumentOptions::default())?;
/// assert_eq!(documents.next().unwrap()?.document.id, "7");
/// let error = documents.next().unwrap().unwrap_err().to_string();
/// assert!(error.starts_with("docs.jsonl:2:20: not a JSON object: expected value"), "{error}");
/// # Ok::<(), rankwise::Error>(())
/// ```
pub struct Documents {
    paths: std::vec::IntoIter<PathBuf>,
    options: DocumentOptions,
    input: Option<Input>,
    /// Documents that were looked at and not yet taken.
    ahead: VecDeque<PlacedDocument>,
    summary: DocumentSummary,
    ended: bool,
}

/// An open file or folder.
struct Input {
    name: String,
    drafts: Box<dyn Drafts + Send>,
    id: IdField,
    documents: u64,
    skipped: u64,
    first_error: Option<String>,
}

/// A document and its place, the end, or a problem.
pub(super) type Next = std::result::Result<Option<(Draft, Place)>, Problem>;

/// What a format has to give.
pub(super) trait Drafts {
    /// The next document and its place.
    fn next(&mut self) -> Next;

    /// Adds what else is to be said at the end.
    fn report(&self, _: &mut DocumentSummary) {}

    /// What is wrong with a file that ends before the first document.
    fn lack(&self) -> &'static str {
        "has no documents"
    }
}

/// A file without content, whatever its format.
struct Empty;

impl Drafts for Empty {
    fn next(&mut self) -> Next {
        Ok(None)
    }

    fn lack(&self) -> &'static str {
        "is empty; expected documents"
    }
}

/// Why there is no document.
pub(super) enum Problem {
    /// The document is malformed; the next one can be read.
    Malformed(Error),
    /// Nothing more can be read.
    Fatal(Error),
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error.place() {
            Some(_) => Problem::Malformed(error),
            None => Problem::Fatal(error),
        }
    }
}

impl Documents {
    /// The documents of these files and folders; `-` is standard input. Files may be compressed with gzip or zstd.
    pub fn open(paths: &[impl AsRef<Path>], options: &DocumentOptions) -> Result<Documents> {
        let paths: Vec<PathBuf> = paths.iter().map(|path| path.as_ref().to_path_buf()).collect();
        if paths.is_empty() {
            return Err(Error::parameter("there are no files to read"));
        }
        // The last file may be opened hours after the first.
        for path in paths.iter().filter(|path| path.as_os_str() != "-") {
            path.metadata().map_err(|e| Error::io("open", path, e))?;
        }
        Ok(Documents::new(paths, options))
    }

    /// The documents of an open file.
    pub fn from_source(source: Source, options: &DocumentOptions) -> Result<Documents> {
        let mut documents = Documents::new(Vec::new(), options);
        documents.input = Some(Input::from_source(source, None, options)?);
        Ok(documents)
    }

    fn new(paths: Vec<PathBuf>, options: &DocumentOptions) -> Documents {
        Documents {
            paths: paths.into_iter(),
            options: options.clone(),
            input: None,
            ahead: VecDeque::new(),
            summary: DocumentSummary::new(options.fields.as_deref().unwrap_or_default()),
            ended: false,
        }
    }

    /// What was read so far.
    pub fn summary(&self) -> &DocumentSummary {
        &self.summary
    }

    /// The next documents, up to this many; they are still to be taken.
    pub(crate) fn look_ahead(&mut self, count: usize) -> Result<impl Iterator<Item = &Document>> {
        while self.ahead.len() < count
            && let Some(found) = self.read_next()
        {
            self.ahead.push_back(found?);
        }
        Ok(self.ahead.iter().take(count).map(|found| &found.document))
    }

    /// Has [`summary`](Documents::summary) say which of these fields no document has.
    pub(crate) fn look_for(&mut self, fields: impl Iterator<Item = String>) {
        self.summary.look_for(fields);
    }

    /// What to do about a document that was taken and cannot be used: stop with the error, or count it.
    pub(crate) fn refuse(&mut self, error: Error) -> Result<()> {
        if self.options.on_error == OnError::Stop {
            return Err(error);
        }
        self.summary.refuse(&error);
        Ok(())
    }

    fn read_next(&mut self) -> Option<Result<PlacedDocument>> {
        if self.ended {
            return None;
        }
        let next = self.advance().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }

    fn advance(&mut self) -> Result<Option<PlacedDocument>> {
        loop {
            let Some(input) = &mut self.input else {
                let Some(path) = self.paths.next() else { return self.end() };
                self.input = Some(Input::open(&path, &self.options)?);
                continue;
            };
            match input.next() {
                Ok(Some(mut found)) => {
                    self.summary.rename(&mut found.document)?;
                    self.summary.add(&found.document);
                    if let Some(wanted) = &self.options.fields {
                        found.document.fields.retain(|(name, _)| wanted.contains(name));
                    }
                    return Ok(Some(found));
                }
                Ok(None) => {
                    let closed = input.close(&mut self.summary);
                    self.input = None;
                    match self.options.on_error {
                        OnError::Stop => closed?,
                        OnError::Skip => {
                            let empty = closed.err().map(|error| error.to_string());
                            self.summary.empty_files.extend(empty);
                        }
                    }
                }
                Err(Problem::Malformed(error)) if self.options.on_error == OnError::Skip => {
                    input.skip(&error);
                    self.summary.skip(&error);
                }
                Err(Problem::Malformed(error) | Problem::Fatal(error)) => return Err(error),
            }
        }
    }

    /// The end of the last file. There must have been a document.
    fn end(&mut self) -> Result<Option<PlacedDocument>> {
        if self.summary.documents > 0 {
            return Ok(None);
        }
        let empty = std::mem::take(&mut self.summary.empty_files);
        let Some(first) = empty.first() else { return Ok(None) };
        let others = match empty.len() {
            1 => String::new(),
            files => format!("; the other {} have none either", files - 1),
        };
        Err(Error::malformed(format!("{first}{others}")))
    }
}

impl Iterator for Documents {
    type Item = Result<PlacedDocument>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut next = self.ahead.pop_front().map(Ok).or_else(|| self.read_next());
        if let Some(Ok(found)) = &mut next {
            // Whoever looks ahead sees them, because they show which fields there are.
            found.document.fields.retain(|(_, value)| !value.is_blank());
        }
        next
    }
}

impl Input {
    fn open(path: &Path, options: &DocumentOptions) -> Result<Input> {
        let is_folder = path.as_os_str() != "-" && path.is_dir();
        if is_folder && options.format.is_none_or(|format| format == DocumentFormat::Folder) {
            let folder = Folder::open(path, options.longest)?;
            return Ok(Input::new(path.display().to_string(), Box::new(folder), Some("id".to_owned())));
        }
        Input::from_source(Source::open(path)?, DocumentFormat::of_path(path), options)
    }

    fn from_source(
        source: Source,
        by_name: Option<DocumentFormat>,
        options: &DocumentOptions,
    ) -> Result<Input> {
        let name = source.origin().name().to_owned();
        let (head, source) = source.peek(1 << 16)?;
        if head.trim_ascii().is_empty() && head.len() < 1 << 16 {
            return Ok(Input::new(name, Box::new(Empty), None));
        }
        let by_name = by_name.or_else(|| DocumentFormat::of_path(Path::new(&name)));
        let format = match options.format.or(by_name) {
            Some(format) => format,
            None => DocumentFormat::of_content(&head, &name)?,
        };
        let drafts: Box<dyn Drafts + Send> = match format {
            DocumentFormat::JsonLines => Box::new(JsonLines::new(source, options.longest)),
            DocumentFormat::Csv => Box::new(Table::new(source, b',')?),
            DocumentFormat::Tsv => Box::new(Table::new(source, b'\t')?),
            DocumentFormat::Trec => Box::new(TrecDocuments::new(source, options.longest)),
            DocumentFormat::Folder => {
                return Err(Error::parameter(format!("{name} is not a folder")));
            }
        };
        Ok(Input::new(name, drafts, options.id.clone()))
    }

    fn new(name: String, drafts: Box<dyn Drafts + Send>, id: Option<String>) -> Input {
        Input { name, drafts, id: IdField::new(id), documents: 0, skipped: 0, first_error: None }
    }

    fn next(&mut self) -> std::result::Result<Option<PlacedDocument>, Problem> {
        let Some((draft, place)) = self.drafts.next()? else { return Ok(None) };
        match self.id.document(draft) {
            Ok(document) => {
                self.documents += 1;
                Ok(Some(PlacedDocument { document, place }))
            }
            Err(message) => Err(Error::parse(place, message).into()),
        }
    }

    fn skip(&mut self, error: &Error) {
        self.skipped += 1;
        self.first_error.get_or_insert_with(|| error.to_string());
    }

    fn close(&self, summary: &mut DocumentSummary) -> Result<()> {
        self.drafts.report(summary);
        let name = &self.name;
        match &self.first_error {
            _ if self.documents > 0 => Ok(()),
            Some(first) if self.skipped == 1 => {
                Err(Error::malformed(format!("{name} has no document that can be read: {first}")))
            }
            Some(first) => Err(Error::malformed(format!(
                "{name} has no document that can be read; {} are malformed, first {first}",
                self.skipped
            ))),
            None => Err(Error::malformed(format!("{name} {}{}", self.drafts.lack(), summary.left_out()))),
        }
    }
}
