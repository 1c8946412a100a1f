//! A directory that keeps models, so that those that were sent serve again after another start.
//!
//! The file of a model is named by its checksum, so no name of a request becomes a path. `models.json` says which of them
//! serve; it is replaced as a whole, after the files that it names are on the disk.

use rankwise::data::AtomicFile;
use rankwise::models::{checksum, read_bytes};
use rankwise::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// What serves.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) default: Option<String>,
    /// The numbers and checksums of all versions. The last one serves.
    pub(crate) models: BTreeMap<String, Vec<(u32, String)>>,
    /// The number that was used last for each name, also for models that were removed.
    pub(crate) last: BTreeMap<String, u32>,
    pub(crate) given: Given,
}

/// What a server was started with last. What is given again in the same way is no wish to undo what was done since.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Given {
    pub(crate) default: Option<String>,
    /// The checksums of model files.
    pub(crate) models: BTreeMap<String, String>,
}

/// A directory that keeps models.
pub(crate) struct Store {
    directory: PathBuf,
    /// What `models.json` says.
    kept: Mutex<Kept>,
    /// Locked as long as this lives.
    _lock: File,
}

impl Store {
    /// Opens a directory that no other server uses, or makes it.
    pub(crate) fn open(directory: &Path) -> Result<Store> {
        fs::create_dir_all(directory).map_err(|error| Error::io("make the directory", directory, error))?;
        let path = directory.join("lock");
        let lock = File::create(&path).map_err(|error| Error::io("open", &path, error))?;
        if let Err(fs::TryLockError::WouldBlock) = lock.try_lock() {
            return Err(Error::parameter(format!(
                "another server keeps its models in {}; every server needs a directory of its own",
                directory.display()
            )));
        }
        let path = directory.join(STATE);
        let kept = match fs::read(&path) {
            Ok(text) => kept_in(&text, &path)?,
            Err(error) if error.kind() == ErrorKind::NotFound => Kept::default(),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        Ok(Store { directory: directory.to_owned(), kept: Mutex::new(kept), _lock: lock })
    }

    /// What serves.
    pub(crate) fn kept(&self) -> Kept {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The file of a model.
    pub(crate) fn read(&self, sum: &str) -> Result<Vec<u8>> {
        let path = self.path(sum);
        let bytes = read_bytes(&path)?;
        match checksum(&bytes) == sum {
            true => Ok(bytes),
            false => Err(Error::model(format!("{} is damaged: its checksum does not fit", path.display()))),
        }
    }

    /// Puts the file of a model on the disk. It is kept if the next change names it.
    pub(crate) fn save(&self, sum: &str, bytes: &[u8]) -> Result<()> {
        write(&self.path(sum), bytes)
    }

    /// Puts on the disk what serves from now on, and removes files that are not needed any more.
    pub(crate) fn change(&self, kept: Kept) -> Result<()> {
        let mut before = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if *before == kept {
            return Ok(());
        }
        let mut text = serde_json::to_vec_pretty(&Formatted { format: FORMAT, kept: kept.clone() })
            .map_err(|error| Error::data(format!("the models cannot be listed: {error}")))?;
        text.push(b'\n');
        write(&self.directory.join(STATE), &text)?;
        *before = kept;
        self.tidy(&before);
        Ok(())
    }

    /// Removes files of models that are not named. What cannot be removed stays.
    fn tidy(&self, kept: &Kept) {
        let versions = kept.models.values().flatten();
        let needed: HashSet<PathBuf> = versions.map(|(_, sum)| self.path(sum)).collect();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == EXTENSION) && !needed.contains(&path) {
                let _ = fs::remove_file(path);
            }
        }
    }

    fn path(&self, sum: &str) -> PathBuf {
        // What comes before the digits is the name of the checksum.
        let digits = sum.rsplit(':').next().unwrap_or_default();
        self.directory.join(format!("{digits}.{EXTENSION}"))
    }
}

/// `models.json`.
#[derive(Serialize, Deserialize)]
struct Formatted {
    format: u32,
    #[serde(flatten)]
    kept: Kept,
}

fn kept_in(text: &[u8], path: &Path) -> Result<Kept> {
    match serde_json::from_slice(text) {
        Ok(Formatted { format: FORMAT, kept }) => Ok(kept),
        Ok(Formatted { format, .. }) => Err(Error::data(format!(
            "{} has format {format}, and this version of Rankwise reads format {FORMAT}",
            path.display()
        ))),
        Err(error) => Err(Error::data(format!("{} is damaged: {error}", path.display()))),
    }
}

/// The format of the file that says what serves.
const FORMAT: u32 = 1;

/// The file that says what serves, and how files of models end.
const STATE: &str = "models.json";
const EXTENSION: &str = "model";

/// Replaces a file, which is on the disk then, as is its name.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.put(bytes)?;
    file.commit()?;
    #[cfg(unix)]
    if let Some(directory) = path.parent() {
        let sync = File::open(directory).and_then(|directory| directory.sync_all());
        sync.map_err(|error| Error::io("put on the disk", directory, error))?;
    }
    Ok(())
}
