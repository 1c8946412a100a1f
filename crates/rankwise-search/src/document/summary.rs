//! What was read, and what the user should know about it.

use super::Document;
use rankwise::Error;
use rankwise::data::quoted;

/// How many messages on malformed documents are kept.
const MESSAGES: usize = 5;

/// Counts of what was read and left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentSummary {
    /// Documents.
    pub documents: u64,
    /// Malformed documents that were left out.
    pub skipped: u64,
    /// The errors of the first few of them.
    pub messages: Vec<String>,
    /// Files of a folder that are not text, Markdown or HTML by their names.
    pub other_files: u64,
    /// Links in a folder, which are not followed.
    pub links: u64,
    /// Ids with white space.
    pub ids_with_spaces: u64,
    /// Fields to keep that no document had.
    pub absent_fields: Vec<String>,
}

impl DocumentSummary {
    pub(super) fn new(fields: &[String]) -> Self {
        DocumentSummary { absent_fields: fields.to_vec(), ..DocumentSummary::default() }
    }

    pub(super) fn add(&mut self, document: &Document) {
        self.documents += 1;
        self.ids_with_spaces += u64::from(document.id.contains(char::is_whitespace));
        if !self.absent_fields.is_empty() {
            self.absent_fields.retain(|absent| document.fields.iter().all(|(name, _)| name != absent));
        }
    }

    pub(super) fn skip(&mut self, error: &Error) {
        self.skipped += 1;
        if self.messages.len() < MESSAGES {
            self.messages.push(error.to_string());
        }
    }

    /// Notes for the user, a sentence each; none if all is well.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut note = |count: u64, one: &str, many: &str| match count {
            0 => {}
            1 => notes.push(format!("1 {one}")),
            n => notes.push(format!("{n} {many}")),
        };
        note(
            self.skipped,
            "malformed document was left out",
            &format!("malformed documents were left out; the first {}:", self.messages.len()),
        );
        note(
            self.other_files,
            "file was left out: it is not .txt, .md or .html",
            "files were left out: they are not .txt, .md or .html",
        );
        note(self.links, "link in the folder was not followed", "links in the folder were not followed");
        note(
            self.ids_with_spaces,
            "id has white space: TREC files, whose columns it separates, cannot hold this document",
            "ids have white space: TREC files, whose columns it separates, cannot hold these documents",
        );
        let absent = self.absent_fields.iter();
        notes.extend(absent.map(|name| format!("no document has a field {}", quoted(name.as_bytes()))));
        notes
    }

    /// What a folder without documents has instead.
    pub(super) fn left_out(&self) -> String {
        match self.other_files {
            0 => String::new(),
            1 => "; its one file is not .txt, .md or .html".to_owned(),
            n => format!("; its {n} files are not .txt, .md or .html"),
        }
    }
}
