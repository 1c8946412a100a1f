//! A folder of text files: each is a document.

use super::Value;
use super::draft::Draft;
use super::format::extension;
use super::page::{self, Page};
use super::reader::{Drafts, Next, Problem};
use super::summary::DocumentSummary;
use rankwise::data::{Source, quoted};
use rankwise::error::Place;
use rankwise::{Error, Result};
use std::fs::{self, DirEntry};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The files of a folder and the folders in it, in the order of their paths. Hidden files are left out.
pub(super) struct Folder {
    /// What is still to be read, last first.
    pending: Vec<Entry>,
    longest: u64,
    other_files: u64,
    links: u64,
}

struct Entry {
    path: PathBuf,
    /// Its path in the folder, with `/`; that of a folder ends with it.
    name: String,
}

impl Folder {
    pub(super) fn open(path: &Path, longest: u64) -> Result<Self> {
        let mut folder = Folder { pending: Vec::new(), longest, other_files: 0, links: 0 };
        match folder.enter(path, "") {
            Ok(()) => Ok(folder),
            Err(Problem::Malformed(error) | Problem::Fatal(error)) => Err(error),
        }
    }

    fn enter(&mut self, path: &Path, prefix: &str) -> std::result::Result<(), Problem> {
        let unreadable = |e| Problem::Malformed(Error::io("read", path, e));
        let before = self.pending.len();
        for entry in fs::read_dir(path).map_err(unreadable)? {
            self.add(&entry.map_err(unreadable)?, prefix).map_err(unreadable)?;
        }
        self.pending[before..].sort_unstable_by(|a, b| b.name.cmp(&a.name));
        Ok(())
    }

    fn add(&mut self, entry: &DirEntry, prefix: &str) -> std::io::Result<()> {
        let (name, kind) = (entry.file_name(), entry.file_type()?);
        if name.as_encoded_bytes().starts_with(b".") {
            return Ok(());
        }
        let end = if kind.is_dir() { "/" } else { "" };
        if kind.is_symlink() {
            self.links += 1;
        } else if kind.is_dir() || reader_of(&entry.path()).is_some() {
            // Names that are not Unicode are refused when it is their turn.
            let name = format!("{prefix}{}{end}", name.to_string_lossy());
            self.pending.push(Entry { path: entry.path(), name });
        } else {
            self.other_files += 1;
        }
        Ok(())
    }

    fn read(&self, entry: &Entry) -> std::result::Result<(Draft, Place), Problem> {
        let name = entry.path.file_name().unwrap_or_default();
        if name.to_str().is_none() {
            let shown = quoted(name.as_encoded_bytes());
            return Err(Problem::Malformed(Error::malformed(format!(
                "the name of {} is not Unicode, so it cannot be an id: {shown}",
                entry.path.display()
            ))));
        }
        let text = read_text(&entry.path, self.longest).map_err(Problem::Malformed)?;
        let page = reader_of(&entry.path).unwrap_or(page::plain)(&text);
        let stem = entry.name.rsplit('/').next().unwrap_or_default();
        let title = page.title.unwrap_or_else(|| stem.to_owned());
        let fields = [("id", entry.name.clone()), ("title", title), ("body", page.body)];
        let fields = fields.map(|(name, text)| (name.to_owned(), Value::Text(text))).into();
        let place = Place { file: entry.path.display().to_string(), line: 1, column: 1 };
        Ok((Draft { fields, ..Draft::default() }, place))
    }
}

impl Drafts for Folder {
    fn next(&mut self) -> Next {
        while let Some(entry) = self.pending.pop() {
            if !entry.name.ends_with('/') {
                return self.read(&entry).map(Some);
            }
            self.enter(&entry.path, &entry.name)?;
        }
        Ok(None)
    }

    fn report(&self, summary: &mut DocumentSummary) {
        summary.other_files += self.other_files;
        summary.links += self.links;
    }
}

/// How to read a file with this name, if it is one of text.
fn reader_of(path: &Path) -> Option<fn(&str) -> Page> {
    match extension(path)?.as_str() {
        "txt" | "text" => Some(page::plain),
        "md" | "markdown" => Some(page::markdown),
        "html" | "htm" | "xhtml" => Some(page::html),
        _ => None,
    }
}

fn read_text(path: &Path, longest: u64) -> Result<String> {
    let source = Source::open(path)?;
    let origin = source.origin().clone();
    let mut bytes = Vec::new();
    source.take(longest + 1).read_to_end(&mut bytes).map_err(|e| origin.read_error(e))?;
    if bytes.len() as u64 > longest {
        return Err(Error::malformed(format!("{} is longer than {longest} bytes", origin.name())));
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    String::from_utf8(bytes).map_err(|e| {
        let (before, rest) = e.as_bytes().split_at(e.utf8_error().valid_up_to());
        let line = before.iter().filter(|b| **b == b'\n').count() as u64 + 1;
        let column = before.iter().rev().take_while(|b| **b != b'\n').count() as u64 + 1;
        let place = Place { file: origin.name().to_owned(), line, column };
        Error::parse(place, format!("{} is not UTF-8 text", quoted(rest)))
    })
}
