//! The feature set of a data file, in a file beside it: `train.txt.features.toml` for `train.txt`.

use super::output::AtomicFile;
use super::{Columns, Dataset, Format};
use crate::data::FeatureSource;
use crate::error::{Error, Result};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The file with the feature set of the data in `path`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".features.toml");
    name.into()
}

/// The feature set of a data file, if it has one.
pub(super) fn read(path: &Path) -> Result<Option<FeatureSource>> {
    let file = beside(path);
    if is_stream(path) {
        return Ok(None);
    }
    match fs::read_to_string(&file) {
        Ok(text) => FeatureSource::parse(&text).map(Some).map_err(|e| {
            Error::malformed(format!("{}: {e}; remove it to read the data without it", file.display()))
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", &file, error)),
    }
}

/// The feature set of files that are read together.
pub(super) fn read_common(paths: &[PathBuf]) -> Result<Option<FeatureSource>> {
    let Some((first, others)) = paths.split_first() else { return Ok(None) };
    let source = read(first)?;
    for other in others {
        if read(other)? != source {
            return Err(Error::data(format!(
                "{} and {} have different feature sets beside them, or only one has; features that are read together are \
                 computed in the same way, with {} and {} equal",
                first.display(),
                other.display(),
                beside(first).display(),
                beside(other).display()
            )));
        }
    }
    Ok(source)
}

/// The columns with the feature set beside their file, of which `path` is the name. Numbered features get their names
/// from it.
pub(super) fn described(
    columns: Columns,
    width: usize,
    source: Option<FeatureSource>,
    path: &str,
) -> Result<Columns> {
    let Some(source) = source else { return Ok(columns) };
    if columns.names.is_some() {
        return Ok(Columns { source: Some(source), ..columns });
    }
    let names = source.feature_names();
    if columns.first_id == 1 && names.len() == width {
        return Ok(Columns { names: Some(names), source: Some(source), ..columns });
    }
    Err(Error::data(format!(
        "{path} has {width} features, from number {} on, and {} describes {}, from number 1 on; if it belongs to other \
         data, remove it or give it another name",
        columns.first_id,
        beside(Path::new(path)).display(),
        names.len()
    )))
}

impl Dataset {
    /// The data as the feature set beside its file describes it.
    pub(super) fn described(self, source: Option<FeatureSource>, path: &Path) -> Result<Dataset> {
        if source.is_none() {
            return Ok(self);
        }
        let (columns, width) = (self.columns().clone(), self.width());
        self.with_columns(described(columns, width, source, &path.display().to_string())?)
    }
}

/// What is to be written beside a file, and what was there.
pub(super) struct Pending {
    file: PathBuf,
    text: Option<String>,
    before: Option<String>,
}

/// Removes a feature set that would not describe what is about to be written to `path`: should writing be killed, data
/// without a feature set is better than data with another one.
pub(super) fn prepare(data: &Dataset, path: &Path, format: Format) -> Result<Option<Pending>> {
    if is_stream(path) {
        return Ok(None);
    }
    let file = beside(path);
    let text = source_in(data, format).map(|source| source.as_toml().to_owned());
    let before = fs::read_to_string(&file).ok();
    if before != text && file.exists() {
        fs::remove_file(&file).map_err(|e| Error::io("remove", &file, e))?;
    }
    Ok(Some(Pending { file, text, before }))
}

impl Pending {
    /// Writes the feature set if the data was written, and restores the one before if not.
    pub(super) fn finish(self, written: bool) -> Result<()> {
        let Some(text) = (if written { self.text } else { self.before }) else { return Ok(()) };
        let mut file = AtomicFile::create(&self.file)?;
        file.put(text.as_bytes())?;
        file.commit()
    }

    /// Whether there is a feature set.
    pub(super) fn is_some(&self) -> bool {
        self.text.is_some()
    }
}

/// The definitions of the data's features. LETOR text has no names, so the feature set must define all columns.
fn source_in(data: &Dataset, format: Format) -> Option<FeatureSource> {
    let columns = data.columns();
    let (source, names) = (columns.source.as_ref()?, columns.names.as_ref()?);
    let source = source.of_features(names)?;
    let complete = source.feature_names().len() == names.len() && columns.first_id == 1;
    (format != Format::Letor || complete).then_some(source)
}

/// Whether nothing can be beside `path`: standard input or output, a pipe or a device.
fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-" || fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
}
