//! Which format a file of documents has.

use super::ID_FIELDS;
use super::draft::one_of;
use rankwise::{Error, Result};
use std::path::Path;

/// A format of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DocumentFormat {
    /// A JSON object on each line.
    JsonLines,
    /// A comma-separated table with a header.
    Csv,
    /// A tab-separated table with a header.
    Tsv,
    /// TREC's `<DOC>` elements. Their tags are fields, with names in lower case.
    Trec,
    /// A folder of .txt, .md and .html files. The id is the path in the folder; the fields are `title` and `body`.
    Folder,
}

impl DocumentFormat {
    /// All formats.
    pub const ALL: [DocumentFormat; 5] = [
        DocumentFormat::JsonLines,
        DocumentFormat::Csv,
        DocumentFormat::Tsv,
        DocumentFormat::Trec,
        DocumentFormat::Folder,
    ];

    /// Its name in options.
    pub fn name(self) -> &'static str {
        match self {
            DocumentFormat::JsonLines => "jsonl",
            DocumentFormat::Csv => "csv",
            DocumentFormat::Tsv => "tsv",
            DocumentFormat::Trec => "trec",
            DocumentFormat::Folder => "folder",
        }
    }

    /// The format of this name.
    pub fn of_name(name: &str) -> Result<DocumentFormat> {
        DocumentFormat::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let known = DocumentFormat::ALL.map(DocumentFormat::name);
            Error::parameter(format!(
                "there is no format `{name}` of documents; known are {}",
                one_of(&known)
            ))
        })
    }

    /// The format that the extension of a file says, if it does.
    pub fn of_path(path: &Path) -> Option<DocumentFormat> {
        match extension(path)?.as_str() {
            "jsonl" | "ndjson" | "json" => Some(DocumentFormat::JsonLines),
            "csv" => Some(DocumentFormat::Csv),
            "tsv" | "tab" => Some(DocumentFormat::Tsv),
            "sgml" | "sgm" | "trec" => Some(DocumentFormat::Trec),
            _ => None,
        }
    }

    /// The format that the first bytes of a file show.
    pub(super) fn of_content(head: &[u8], file: &str) -> Result<DocumentFormat> {
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
        let first_line = head.split(|b| *b == b'\n').next().unwrap_or_default();
        let has_id = |separator: u8| {
            let mut cells = first_line.split(|b| *b == separator);
            cells.any(|cell| {
                let name = cell.trim_ascii().trim_ascii_start();
                let name = name.strip_prefix(b"\"").and_then(|n| n.strip_suffix(b"\"")).unwrap_or(name);
                ID_FIELDS.iter().any(|id| name.eq_ignore_ascii_case(id.as_bytes()))
            })
        };
        match head.first() {
            Some(b'{' | b'[') => Ok(DocumentFormat::JsonLines),
            Some(b'<') if has_tag(head, "doc") => Ok(DocumentFormat::Trec),
            _ if first_line.contains(&b'\t') && has_id(b'\t') => Ok(DocumentFormat::Tsv),
            _ if has_id(b',') => Ok(DocumentFormat::Csv),
            _ => Err(Error::malformed(format!(
                "the format of {file} is not clear from its name or its first bytes; say which it is, {}",
                one_of(&DocumentFormat::ALL[..4].iter().map(|format| format.name()).collect::<Vec<_>>())
            ))),
        }
    }
}

/// The extension of a file in lower case, without the one of its compression.
pub(super) fn extension(path: &Path) -> Option<String> {
    let lower = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    let last = lower(path)?;
    match last.as_str() {
        "gz" | "zst" => lower(Path::new(path.file_stem()?)),
        _ => Some(last),
    }
}

/// Whether a tag of this name, in lower case, starts somewhere in the text.
pub(super) fn has_tag(text: &[u8], name: &str) -> bool {
    text.split(|b| *b == b'<').skip(1).any(|tag| {
        let ends = |b: &u8| b.is_ascii_whitespace() || *b == b'>';
        tag.len() > name.len()
            && tag[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            && ends(&tag[name.len()])
    })
}
