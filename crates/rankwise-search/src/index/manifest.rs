//! What a commit says about its index, beside tantivy's own data.

use crate::analyzer::Analyzer;
use crate::schema::Schema;
use rankwise::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of what an index keeps and where.
pub const FORMAT: u32 = 1;

/// Written with every commit, so that it changes with the documents or not at all.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) format: u32,
    /// The version of this crate that wrote it.
    pub(crate) version: String,
    pub(crate) schema: Schema,
    /// Names and fingerprints.
    pub(crate) analyzers: BTreeMap<String, String>,
    /// The file with what links say about documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<String>,
}

/// The part of all versions.
#[derive(Deserialize)]
struct Version {
    format: u32,
    version: String,
}

impl Manifest {
    pub(crate) fn new(schema: &Schema) -> Manifest {
        let analyzers = schema.analyzers().into_iter().map(|a| (a.name(), a.fingerprint())).collect();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Manifest { format: FORMAT, version, schema: schema.clone(), analyzers, links: None }
    }

    pub(crate) fn to_payload(&self) -> String {
        serde_json::to_string(self).expect("a manifest is JSON")
    }

    /// Reads it, and refuses what this version cannot use.
    pub(crate) fn of_payload(path: &Path, payload: Option<&str>) -> Result<Manifest> {
        let path = path.display();
        let payload = payload.ok_or_else(|| Error::data(format!("{path} is an index of another program")))?;
        let version: Version = serde_json::from_str(payload)
            .map_err(|_| Error::data(format!("{path} is an index of another program")))?;
        if version.format != FORMAT {
            return Err(Error::data(format!(
                "{path} is an index of format {} by Rankwise {}, and this version reads format {FORMAT}; use a version that fits, or \
                 index the documents again",
                version.format, version.version
            )));
        }
        let manifest: Manifest = serde_json::from_str(payload).map_err(|error| {
            Error::data(format!("{path} is a damaged index ({error}); index the documents again"))
        })?;
        manifest.check_analyzers(&path.to_string())?;
        Ok(manifest)
    }

    fn check_analyzers(&self, path: &str) -> Result<()> {
        for (name, fingerprint) in &self.analyzers {
            if *fingerprint != Analyzer::of_name(name)?.fingerprint() {
                return Err(Error::data(format!(
                    "the terms of {path} were made by another version of the analyzer `{name}`, that of Rankwise {}, and would not \
                     fit the terms of queries; index the documents again",
                    self.version
                )));
            }
        }
        Ok(())
    }
}
