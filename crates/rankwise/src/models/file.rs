//! The model file: one JSON document with a tag, a version and a checksum around the model.
//!
//! ```text
//! {
//! "format": "rankwise-model",
//! "version": 2,
//! "checksum": "xxh3:0f…",         of the exact bytes of the value that follows
//! "ranker": { … }                 one field per line; long arrays stay on one line
//! }
//! ```
//!
//! JSON is fast enough for large models: a tree is a few arrays, a thousand trees parse in milliseconds, and a path that
//! ends in `.zst` or `.gz` is compressed.
//!
//! Version 2 added `scorer`, `data` and `version` to the ranker. Files of version 1 lack them and are read for ever.
//! `numbering` is there only for models of other tools whose features are not fully known; earlier programs refuse it. So is
//! `source` in the columns, for features that were computed from an index.

use super::{Model, Ranker, interchange};
use crate::data::{AtomicFile, Source};
use crate::error::{Error, Result};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::io::Read;
use std::path::Path;

const FORMAT: &str = "rankwise-model";

/// Raised when older programs can no longer read the file correctly. All versions from 1 to this one are read.
const VERSION: u64 = 2;

/// Larger files are refused.
const MAX_BYTES: u64 = 1 << 32;

/// A compressed file that expands by a larger factor, beyond a few megabytes, is taken for an attack.
const MAX_EXPANSION: u64 = 200;

/// What tells whether a document is a model file that this version reads.
#[derive(Deserialize)]
struct Tag {
    format: Option<String>,
    version: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Envelope<'a> {
    format: String,
    version: u64,
    checksum: String,
    #[serde(borrow)]
    ranker: &'a RawValue,
}

impl Ranker {
    /// Writes the model to `path`. The file appears whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let mut file = AtomicFile::create(path)?;
        file.put(&self.to_bytes())?;
        file.commit()
    }

    /// Reads a model from `path`: ours, or one of another tool, see [`interchange`].
    pub fn load(path: &Path) -> Result<Ranker> {
        read_bytes(path).and_then(|bytes| Self::from_bytes(&bytes).map_err(|e| cannot_be_used(path, &e)))
    }

    /// The bytes of the model file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let ranker = one_field_per_line(self);
        let checksum = checksum(ranker.as_bytes());
        format!(
            "{{\n\"format\": \"{FORMAT}\",\n\"version\": {VERSION},\n\"checksum\": \"{checksum}\",\n\"ranker\": {ranker}\n}}\n"
        )
        .into_bytes()
    }

    /// Reads the bytes of a model file: ours, or one of another tool.
    pub fn from_bytes(bytes: &[u8]) -> Result<Ranker> {
        if let Some(foreign) = interchange::read(bytes) {
            return foreign;
        }
        let envelope: Envelope<'_> = serde_json::from_slice(bytes).map_err(|e| why_not(bytes, e))?;
        Tag { format: Some(envelope.format), version: Some(envelope.version) }.check()?;
        if checksum(envelope.ranker.get().as_bytes()) != envelope.checksum {
            return Err(Error::model("its checksum does not match: it was damaged or edited"));
        }
        let ranker: Ranker = serde_json::from_slice(envelope.ranker.get().as_bytes()).map_err(bad_field)?;
        ranker.check()?;
        check_trees(&ranker.model)?;
        Ok(ranker)
    }
}

/// A number in JSON can be too large for single precision. It is then read as infinite, and could not be written again.
fn check_trees(model: &Model) -> Result<()> {
    let Model::Trees(ensemble) = model else { return Ok(()) };
    let numbers = ensemble.trees().iter().flat_map(|tree| [&tree.thresholds, &tree.gains, &tree.covers]);
    if numbers.flatten().all(|x| x.is_finite()) {
        return Ok(());
    }
    Err(Error::model("a tree has a threshold, a gain or a number of documents that is too large"))
}

impl Tag {
    fn check(&self) -> Result<()> {
        if self.format.as_deref() != Some(FORMAT) {
            return Err(Error::model(format!("it is not marked as a {FORMAT}")));
        }
        match self.version {
            Some(1..=VERSION) => Ok(()),
            Some(newer) if newer > VERSION => Err(Error::model(format!(
                "it has format version {newer} and this Rankwise reads up to {VERSION}; use a newer one"
            ))),
            _ => Err(Error::model("it has no valid format version")),
        }
    }
}

/// Why the bytes are not a model file: not JSON, not ours, of a newer version, or with a field that does not fit.
fn why_not(bytes: &[u8], error: serde_json::Error) -> Error {
    let is_whole = bytes.trim_ascii_end().last() == Some(&b'}');
    if bytes.trim_ascii_start().first().is_none_or(|first| *first == b'{' && !is_whole) {
        return Error::model("it is empty or cut short");
    }
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return not_a_model(bytes);
    }
    let tag: Result<Tag> = serde_json::from_slice(bytes).map_err(not_ours);
    match tag.and_then(|tag| tag.check()) {
        Err(reason) => reason,
        Ok(()) => bad_field(error),
    }
}

/// The bytes of a model or checkpoint, decompressed if they are compressed.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let mut source = Source::open(path)?;
    let limit = size_limit(path);
    let mut bytes = Vec::new();
    source.by_ref().take(limit + 1).read_to_end(&mut bytes).map_err(|e| source.origin().read_error(e))?;
    if bytes.len() as u64 > limit {
        return Err(Error::model(format!(
            "{} has more than {limit} bytes, and larger models and checkpoints are not read",
            path.display()
        )));
    }
    Ok(bytes)
}

fn cannot_be_used(path: &Path, reason: &Error) -> Error {
    Error::model(format!("{} cannot be used as a model: {reason}", path.display()))
}

/// The largest number of bytes to read from a file.
fn size_limit(path: &Path) -> u64 {
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            (metadata.len().saturating_mul(MAX_EXPANSION)).clamp(1 << 26, MAX_BYTES)
        }
        _ => MAX_BYTES,
    }
}

/// A checksum that shows damage to a file.
pub fn checksum(bytes: &[u8]) -> String {
    format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(bytes))
}

fn not_a_model(bytes: &[u8]) -> Error {
    Error::model(match interchange::Format::of_bytes(bytes) {
        Some(other) => format!("it is a model in the format {}, which is written but not read", other.name()),
        None => "it is not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib".into(),
    })
}

fn not_ours(error: serde_json::Error) -> Error {
    Error::model(match error.classify() {
        serde_json::error::Category::Eof => "it is empty or cut short".to_string(),
        serde_json::error::Category::Data => "it is not a JSON document of this kind".to_string(),
        _ => format!("it is not a valid JSON document: {error}"),
    })
}

fn bad_field(error: serde_json::Error) -> Error {
    Error::model(format!("a field is not valid: {}", interchange::plain(error)))
}

/// Readable, without spreading a thousand weights over a thousand lines.
fn one_field_per_line(ranker: &Ranker) -> String {
    let value = serde_json::to_value(ranker).expect("a ranker has string keys only");
    let fields = value.as_object().expect("a ranker is an object");
    let lines: Vec<String> = fields.iter().map(|(key, value)| format!("  \"{key}\": {value}")).collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}
