//! Reading a data set from files of any format and compression.

use super::roles::ColumnRoles;
use super::sidecar;
use super::source::Source;
use super::{Dataset, delimited, letor, parquet};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// LETOR or SVMlight text: `label qid:ID id:value … # comment`.
    Letor,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// Apache Parquet.
    Parquet,
}

/// How feature values are stored in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// Dense or sparse, whichever takes less memory.
    #[default]
    Auto,
    /// Every value, including zeros.
    Dense,
    /// Only values other than 0.
    Sparse,
}

/// How to read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ReadOptions {
    /// The format; decided by the file name if `None`.
    pub format: Option<Format>,
    /// Gather the rows of a query if they are not adjacent, instead of failing.
    pub group: bool,
    /// The id of the first feature in LETOR text; if `None`, it is 0 if that id occurs, else 1.
    pub first_id: Option<u32>,
    /// Dense or sparse rows.
    pub layout: Layout,
    /// Which columns of CSV, TSV and Parquet files are not features.
    pub columns: ColumnRoles,
    /// Tables may have no column of labels, which are then 0: for data that is only scored.
    pub unlabelled: bool,
    /// Memory in bytes, 1 GiB by default, that may be spent on what the data does not have: columns that are empty but
    /// for a few values, and zeros of dense rows. Data that needs more is refused. It guards against a mistyped feature
    /// id, since statistics and training take memory for every column up to the highest id.
    pub memory_limit: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            group: false,
            first_id: None,
            layout: Layout::Auto,
            columns: ColumnRoles::default(),
            unlabelled: false,
            memory_limit: 1 << 30,
        }
    }
}

/// A data set and notes on reading it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The data.
    pub data: Dataset,
    /// What the user should know, a sentence each: that feature ids start at 0, or which column was read as the label.
    pub notes: Vec<String>,
    /// Whether rows were reordered to gather queries. Scores in the order of the file then do not fit the data.
    pub moved: bool,
}

impl Format {
    /// The format by the extension of a file: `.csv`, `.tsv` or `.parquet`, before `.gz` or `.zst`; others are LETOR text.
    pub fn of_path(path: &Path) -> Format {
        match &*extension(path) {
            "csv" => Format::Csv,
            "tsv" => Format::Tsv,
            "parquet" => Format::Parquet,
            _ => Format::Letor,
        }
    }

    /// Fails for the name of a Parquet file, where only text is written.
    pub fn check_text_name(path: &Path) -> Result<()> {
        match Format::of_path(path) {
            Format::Parquet => Err(Error::parameter(format!(
                "{} is the name of a Parquet file, and only text is written here; choose a name that ends in .csv, .tsv or .txt",
                path.display()
            ))),
            _ => Ok(()),
        }
    }

    /// The format to write by the extension of a file. Unlike for reading, an extension that belongs to no format is
    /// an error.
    ///
    /// ```
    /// use rankwise::data::Format;
    /// assert_eq!(Format::to_write("train.csv.gz".as_ref())?, Format::Csv);
    /// assert!(Format::to_write("train.xlsx".as_ref()).is_err());
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn to_write(path: &Path) -> Result<Format> {
        let extension = extension(path);
        let format = Format::of_path(path);
        if format == Format::Letor && !LETOR_EXTENSIONS.contains(&&*extension) {
            return Err(Error::parameter(format!(
                "cannot write {}: the extension `.{extension}` belongs to no format; use .txt (LETOR text), .csv, .tsv \
                 or .parquet, each with .gz or .zst if it is to be compressed",
                path.display()
            )));
        }
        Ok(format)
    }
}

/// Extensions of LETOR text; none at all is one of them.
const LETOR_EXTENSIONS: [&str; 12] =
    ["", "txt", "letor", "svm", "svmlight", "libsvm", "dat", "data", "train", "valid", "vali", "test"];

/// The extension of a file in lower case, before `.gz` or `.zst`; empty if there is none.
fn extension(path: &Path) -> String {
    let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let unpacked = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    // The dot of a hidden file starts no extension.
    unpacked.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, end)| end).to_owned()
}

/// Reads one file; `-` is standard input.
///
/// A file `NAME.features.toml` beside the file `NAME` says how its features were computed (see
/// [`FeatureSource`](crate::data::FeatureSource)) and names the features of LETOR text.
///
/// ```
/// use rankwise::data::{ReadOptions, read};
/// let path = std::env::temp_dir().join(format!("rankwise-read-{}.txt", std::process::id()));
/// std::fs::write(&path, "2 qid:7 1:0.5 2:1\n0 qid:7 2:0.25\n").unwrap();
/// let loaded = read(&path, &ReadOptions::default())?;
/// assert_eq!((loaded.data.query_count(), loaded.data.width()), (1, 2));
/// assert_eq!(loaded.data.labels(), [2.0, 0.0]);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn read(path: &Path, options: &ReadOptions) -> Result<Loaded> {
    read_all(&[path.to_path_buf()], options)
}

/// Reads several files of one format as one data set. LETOR files may differ in width, and feature ids start at 0 in all
/// of them if they do in one. Tables must have the same features. A query in two files is an error unless `group` is
/// set.
pub fn read_all(paths: &[PathBuf], options: &ReadOptions) -> Result<Loaded> {
    let format = common_format(paths, options)?;
    let loaded = read_sources(format, paths.iter().map(|path| Source::open(path)), options)?;
    let data = loaded.data.described(sidecar::read_common(paths)?, &paths[0])?;
    Ok(Loaded { data, ..loaded })
}

/// The format of files that are read together.
pub(crate) fn common_format(paths: &[PathBuf], options: &ReadOptions) -> Result<Format> {
    let format_of = |path: &PathBuf| options.format.unwrap_or_else(|| Format::of_path(path));
    let Some(first) = paths.first() else { return Err(Error::parameter("there are no files to read")) };
    let format = format_of(first);
    if let Some(other) = paths.iter().find(|path| format_of(path) != format) {
        return Err(Error::parameter(format!(
            "{} and {} have different formats; files read together must have the same format",
            first.display(),
            other.display()
        )));
    }
    Ok(format)
}

pub(super) fn read_sources(
    format: Format,
    sources: impl Iterator<Item = Result<Source>>,
    options: &ReadOptions,
) -> Result<Loaded> {
    match format {
        Format::Letor => letor::read(sources, options),
        Format::Csv => delimited::read(sources, b',', options),
        Format::Tsv => delimited::read(sources, b'\t', options),
        Format::Parquet => parquet::read(sources, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_the_format() {
        let format = |name: &str| Format::of_path(Path::new(name));
        for name in ["a.txt", "a", "-", "csv", "a.csv.txt", "a.gz", "x.csv/part"] {
            assert_eq!(format(name), Format::Letor, "{name}");
        }
        for name in ["a.csv", "d.x/A.CSV.gz", "a.b.csv.zst"] {
            assert_eq!(format(name), Format::Csv, "{name}");
        }
        assert_eq!(format("a.tsv.gz"), Format::Tsv);
        assert_eq!(format("a.parquet"), Format::Parquet);
    }

    #[test]
    fn an_unknown_extension_is_not_written() {
        let format = |name: &str| Format::to_write(Path::new(name));
        for name in ["a.txt", "a", "-", "/dev/null", "a.txt.gz", "a.zst", "x.y/train", ".hidden", "a.LETOR"] {
            assert_eq!(format(name).unwrap(), Format::Letor, "{name}");
        }
        assert_eq!(format("a.csv.zst").unwrap(), Format::Csv);
        for name in ["a.xlsx", "a.csv.bz2", "a.json", "a.cvs"] {
            let error = format(name).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains("belongs to no format; use .txt"), "{error}");
        }
    }
}
