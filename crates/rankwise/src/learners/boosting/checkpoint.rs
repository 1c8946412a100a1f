//! Training that can resume after being killed: the trees so far, in a file.

use crate::data::AtomicFile;
use crate::error::{Error, Result};
use crate::models::{checksum, read_bytes};
use crate::trees::Tree;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::PathBuf;

#[cfg(test)]
mod fuzz;

/// A file in which the state of training is saved at intervals. Training that finds the file of an earlier,
/// unfinished run with the same fingerprint resumes from there, and ends with the same bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The file.
    pub path: PathBuf,
    /// Rounds between two writes, at least 1.
    pub every: u64,
}

/// The saved state.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Saved {
    /// Fingerprint of learner, parameters and data.
    #[serde(alias = "identity")]
    fingerprint: String,
    /// Trees with the leaf values they were grown with.
    pub(super) trees: Vec<Tree>,
    /// The metric on the validation queries after each round.
    pub(super) curve: Vec<f64>,
}

impl Saved {
    pub(super) fn new(fingerprint: &str, trees: &[Tree], curve: &[f64]) -> Saved {
        Saved { fingerprint: fingerprint.into(), trees: trees.to_vec(), curve: curve.to_vec() }
    }
}

#[derive(Serialize, Deserialize)]
struct Envelope<'a> {
    checksum: String,
    #[serde(borrow)]
    state: &'a RawValue,
}

impl Checkpoint {
    /// The state of an earlier run, if there is one; fails if it belongs to another training or is damaged.
    pub(super) fn read(&self, fingerprint: &str) -> Result<Option<Saved>> {
        let shown = self.path.display();
        if matches!(std::fs::metadata(&self.path), Err(e) if e.kind() == std::io::ErrorKind::NotFound) {
            return Ok(None);
        }
        // Compressed or not, as `write` leaves it by the ending of its name.
        let bytes = read_bytes(&self.path)
            .map_err(|e| Error::model(format!("the checkpoint {shown} cannot be read: {e}")))?;
        let damaged = || {
            Error::model(format!(
                "{shown} is not a checkpoint or is damaged; use another file, or remove it if it was a \
                 checkpoint"
            ))
        };
        let envelope: Envelope<'_> = serde_json::from_slice(&bytes).map_err(|_| damaged())?;
        if checksum(envelope.state.get().as_bytes()) != envelope.checksum {
            return Err(damaged());
        }
        let saved: Saved = serde_json::from_slice(envelope.state.get().as_bytes()).map_err(|_| damaged())?;
        if saved.fingerprint != fingerprint {
            return Err(Error::model(format!(
                "the checkpoint {shown} belongs to another training (other data, parameters, seed or \
                 metric); remove it or use another file"
            )));
        }
        Ok(Some(saved))
    }

    /// The refusal of a state that this training cannot have saved.
    pub(super) fn does_not_fit(&self, reason: &Error) -> Error {
        Error::model(format!(
            "the checkpoint {} does not fit this training: {reason}; remove it or use another file",
            self.path.display()
        ))
    }

    /// Writes the state, completely or not at all.
    pub(super) fn write(&self, fingerprint: &str, trees: &[Tree], curve: &[f64]) -> Result<()> {
        let saved = Saved::new(fingerprint, trees, curve);
        let state = serde_json::value::to_raw_value(&saved).expect("trees are plain data");
        let envelope = Envelope { checksum: checksum(state.get().as_bytes()), state: &state };
        let mut file = AtomicFile::create(&self.path)?;
        file.put(&serde_json::to_vec(&envelope).expect("trees are plain data"))?;
        file.commit()
    }

    /// Removes the file, once the model has been saved elsewhere.
    pub fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::model(format!("the checkpoint {} cannot be removed: {e}", self.path.display())))
            }
            _ => Ok(()),
        }
    }
}
