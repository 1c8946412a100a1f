//! Reading a data set from files of any format and compression.

use super::roles::ColumnRoles;
use super::source::Source;
use super::{Dataset, delimited, letor, parquet};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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
        let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let unpacked = [".gz", ".zst"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
        match unpacked.rsplit_once('.') {
            Some((_, "csv")) => Format::Csv,
            Some((_, "tsv")) => Format::Tsv,
            Some((_, "parquet")) => Format::Parquet,
            _ => Format::Letor,
        }
    }
}

/// Reads one file; `-` is standard input.
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
    read_sources(format, paths.iter().map(|path| Source::open(path)), options)
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
}
