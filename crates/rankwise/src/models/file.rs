//! The model file: one JSON document with a tag, a version and a checksum around the model.
//!
//! ```text
//! {
//! "format": "rankwise-model",
//! "version": 1,
//! "checksum": "xxh3:0f…",         of the exact bytes of the value that follows
//! "ranker": { … }                 one field a line; long arrays stay on one line
//! }
//! ```
//!
//! JSON serves small and large models alike: an ensemble is a few arrays a tree, a thousand trees parse in
//! milliseconds, and a path that ends in `.zst` or `.gz` compresses them.

use super::{Ranker, interchange};
use crate::data::{AtomicFile, Source};
use crate::error::{Error, Result};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::Read;
use std::path::Path;

const FORMAT: &str = "rankwise-model";

/// Raised when older programs could no longer read the file rightly.
const VERSION: u64 = 1;

/// No model is larger.
const MAX_BYTES: u64 = 1 << 32;

/// A compressed file that grows more than so many times, beyond a few megabytes, is hostile.
const MAX_EXPANSION: u64 = 200;

#[derive(Deserialize)]
struct Tag {
    format: Option<String>,
    version: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    #[serde(rename = "format")]
    _format: String,
    #[serde(rename = "version")]
    _version: u64,
    checksum: String,
    #[serde(borrow)]
    ranker: &'a RawValue,
}

impl Ranker {
    /// Writes the model to `path`, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        file.put(&self.to_bytes())?;
        file.commit()
    }

    /// Reads a model from `path`: ours, or one of another tool, see [`interchange`](super::interchange).
    pub fn load(path: &Path) -> Result<Ranker> {
        read_bytes(path).and_then(|bytes| Self::from_bytes(&bytes).map_err(|e| cannot_be_used(path, &e)))
    }

    /// The bytes of the model's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let ranker = one_field_a_line(self);
        let checksum = checksum(ranker.as_bytes());
        format!(
            "{{\n\"format\": \"{FORMAT}\",\n\"version\": {VERSION},\n\"checksum\": \"{checksum}\",\n\"ranker\": {ranker}\n}}\n"
        )
        .into_bytes()
    }

    /// Reads the bytes of a model's file: ours, or one of another tool.
    pub fn from_bytes(bytes: &[u8]) -> Result<Ranker> {
        if let Some(foreign) = interchange::read(bytes) {
            return foreign;
        }
        let tag: Tag = serde_json::from_slice(bytes).map_err(not_ours)?;
        if tag.format.as_deref() != Some(FORMAT) {
            return Err(Error::model(format!("it does not say that it is a {FORMAT}")));
        }
        match tag.version {
            Some(VERSION) => {}
            Some(newer) if newer > VERSION => {
                return Err(Error::model(format!(
                    "it has format version {newer} and this Rankwise reads up to {VERSION}; use a newer one"
                )));
            }
            _ => return Err(Error::model("it has no valid format version")),
        }
        let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(bad_field)?;
        if checksum(envelope.ranker.get().as_bytes()) != envelope.checksum {
            return Err(Error::model("its checksum does not match: it was damaged or edited"));
        }
        let ranker: Ranker = serde_json::from_str(envelope.ranker.get()).map_err(bad_field)?;
        ranker.check()?;
        Ok(ranker)
    }
}

/// The bytes of a model's file of any format, taken out of `.gz` and `.zst`.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let mut source = Source::open(path)?;
    let limit = size_limit(path);
    let mut bytes = Vec::new();
    source.by_ref().take(limit + 1).read_to_end(&mut bytes).map_err(|e| source.origin().read_error(e))?;
    if bytes.len() as u64 > limit {
        return Err(cannot_be_used(path, &Error::model(format!("it is larger than {limit} bytes"))));
    }
    Ok(bytes)
}

fn cannot_be_used(path: &Path, reason: &Error) -> Error {
    Error::model(format!("{} cannot be used as a model: {reason}", path.display()))
}

/// How many bytes to read of a file at the most.
fn size_limit(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            (metadata.len().saturating_mul(MAX_EXPANSION)).clamp(1 << 26, MAX_BYTES)
        }
        _ => MAX_BYTES,
    }
}

/// A checksum for files: equal bytes have equal ones, and damage shows.
pub fn checksum(bytes: &[u8]) -> String {
    format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

fn not_ours(error: serde_json::Error) -> Error {
    Error::model(match error.classify() {
        serde_json::error::Category::Eof => "it is empty or cut short".to_string(),
        serde_json::error::Category::Data => "it is not a JSON document of the kind".to_string(),
        _ => format!("it is not a JSON document: {error}"),
    })
}

fn bad_field(error: serde_json::Error) -> Error {
    Error::model(format!("a field is not as it should be: {error}"))
}

/// Pretty enough to read, without spreading a thousand weights over a thousand lines.
fn one_field_a_line(ranker: &Ranker) -> String {
    let value = serde_json::to_value(ranker).expect("a ranker has string keys only");
    let fields = value.as_object().expect("a ranker is an object");
    let lines: Vec<String> = fields.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}
