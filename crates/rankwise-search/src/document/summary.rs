//! What was read, and what the user should know about it.

use super::Document;
use super::draft::one_of;
use crate::schema::other_name;
use rankwise::{Error, Result};
use std::collections::{BTreeMap, HashSet};

/// How many messages on malformed documents are kept.
const MESSAGES: usize = 5;

/// How many names of fields are kept, to be shown beside those that no document has.
const NAMES: usize = 20;

/// How many names are remembered to notice two that would become one.
const MOST_NAMES: usize = 10_000;

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
    /// Files of which no document could be read, a sentence each.
    pub empty_files: Vec<String>,
    /// Ids with white space.
    pub ids_with_spaces: u64,
    /// Fields that have another name in the file: theirs, and the one in the file.
    pub renamed_fields: BTreeMap<String, String>,
    /// Names that fields have in the file and in the index.
    kept_names: HashSet<String>,
    /// Fields to keep that no document had.
    pub absent_fields: Vec<String>,
    /// The first fields that documents had while some were absent.
    seen_fields: Vec<String>,
}

fn both(one: &str, other: &str, name: &str) -> Error {
    Error::malformed(format!(
        "the fields `{one}` and `{other}` would both be called `{name}`; give one of them another name"
    ))
}

impl DocumentSummary {
    pub(super) fn new(fields: &[String]) -> Self {
        DocumentSummary { absent_fields: fields.to_vec(), ..DocumentSummary::default() }
    }

    pub(super) fn look_for(&mut self, fields: impl Iterator<Item = String>) {
        self.absent_fields.clear();
        for field in fields {
            if !self.absent_fields.contains(&field) {
                self.absent_fields.push(field);
            }
        }
    }

    /// Gives fields names that they can have in an index.
    pub(super) fn rename(&mut self, document: &mut Document) -> Result<()> {
        for (name, _) in &mut document.fields {
            let Some(new) = other_name(name) else {
                if let Some(old) = self.renamed_fields.get(name) {
                    return Err(both(old, name, name));
                }
                if self.kept_names.len() < MOST_NAMES && !self.kept_names.contains(name) {
                    self.kept_names.insert(name.clone());
                }
                continue;
            };
            if self.kept_names.contains(&new) {
                return Err(both(name, &new, &new));
            }
            let old = self.renamed_fields.entry(new.clone()).or_insert_with(|| name.clone());
            if old != name {
                return Err(both(old, name, &new));
            }
            *name = new;
        }
        Ok(())
    }

    pub(super) fn add(&mut self, document: &Document) {
        self.documents += 1;
        self.ids_with_spaces += u64::from(document.id.contains(char::is_whitespace));
        if !self.absent_fields.is_empty() {
            self.absent_fields.retain(|absent| document.fields.iter().all(|(name, _)| name != absent));
            document.fields.iter().for_each(|(name, _)| self.see(name));
        }
    }

    fn see(&mut self, name: &String) {
        if self.seen_fields.len() <= NAMES && !self.seen_fields.contains(name) {
            self.seen_fields.push(name.clone());
        }
    }

    /// A document that was counted cannot be written.
    pub(super) fn refuse(&mut self, error: &Error) {
        self.documents -= 1;
        self.skip(error);
    }

    /// Which fields no document had, and which they had instead.
    pub(crate) fn absence(&self) -> Option<String> {
        if self.absent_fields.is_empty() {
            return None;
        }
        let absent: Vec<&str> = self.absent_fields.iter().map(String::as_str).collect();
        let seen = match self.seen_fields.get(..NAMES) {
            _ if self.seen_fields.is_empty() => "nothing".to_owned(),
            Some(first) if self.seen_fields.len() > NAMES => format!("{}, …", first.join(", ")),
            _ => self.seen_fields.join(", "),
        };
        Some(format!("no document has a field {}; besides their ids, documents have {seen}", one_of(&absent)))
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
        if !self.renamed_fields.is_empty() {
            let pairs = self.renamed_fields.iter().map(|(new, old)| format!("`{old}` is `{new}`"));
            notes.push(format!(
                "names of fields have letters, digits, `_`, `-` and `.` only, so {}",
                pairs.collect::<Vec<_>>().join(", ")
            ));
        }
        notes.extend(self.empty_files.iter().cloned());
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
