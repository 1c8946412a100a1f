//! Reading a data set from files, whatever their format and packing.

use super::source::Source;
use super::{Dataset, delimited, letor, parquet};
use crate::error::{Error, Result};
use std::path::{Path, PathBuf};

/// How a file is laid out.
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

/// Whether to keep every value or only those given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// Whichever suits the data.
    #[default]
    Auto,
    /// Every value, zeros too.
    Dense,
    /// Only the values given.
    Sparse,
}

/// How to read. The columns named are those of delimited files and Parquet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; by the file's name when `None`.
    pub format: Option<Format>,
    /// Gather the rows of a query that do not stand together, instead of refusing them.
    pub group: bool,
    /// The number of the first feature in LETOR text; when `None`, 0 if it is used and 1 if not.
    pub first_id: Option<u32>,
    /// Dense or sparse rows.
    pub layout: Layout,
    /// The column with the relevance grade.
    pub label_column: String,
    /// The column with the query id.
    pub query_column: String,
    /// The column with the document id.
    pub document_column: String,
    /// The column with the query's weight.
    pub weight_column: String,
    /// The column with the position at which the document was shown.
    pub position_column: String,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            group: false,
            first_id: None,
            layout: Layout::Auto,
            label_column: "label".to_owned(),
            query_column: "qid".to_owned(),
            document_column: "docid".to_owned(),
            weight_column: "weight".to_owned(),
            position_column: "position".to_owned(),
        }
    }
}

/// A data set and what its reader has to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The data.
    pub data: Dataset,
    /// Facts the user should hear of, a sentence each, such as that feature ids start at 0.
    pub notes: Vec<String>,
    /// Whether rows were moved to gather their queries: then the data is not in the order of the file, and scores
    /// by row do not fit it.
    pub moved: bool,
}

impl Format {
    /// What the name of a file says: `.csv`, `.tsv`, `.parquet`, before `.gz` or `.zst`; all else is LETOR text.
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
pub fn read(path: &Path, options: &ReadOptions) -> Result<Loaded> {
    read_all(&[path.to_path_buf()], options)
}

/// Reads several files of one format as one data set. The width of LETOR text is that of the widest; feature ids
/// count from 0 in all of them if they do in one. Tables must have the same features. A query in two files is an
/// error, unless `group` is set.
pub fn read_all(paths: &[PathBuf], options: &ReadOptions) -> Result<Loaded> {
    let format_of = |path: &PathBuf| options.format.unwrap_or_else(|| Format::of_path(path));
    let Some(first) = paths.first() else { return Err(Error::parameter("there are no files to read")) };
    let format = format_of(first);
    if let Some(other) = paths.iter().find(|path| format_of(path) != format) {
        return Err(Error::parameter(format!(
            "{} and {} are of different formats; files read together must be of one",
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
    fn names_say_the_format() {
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
