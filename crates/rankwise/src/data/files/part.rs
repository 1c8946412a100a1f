//! One file of several that are read one by one, perhaps on different machines, and joined as if they had been read
//! together.

use super::categories::ColumnCategories;
use super::sidecar;
use super::source::Source;
use super::{Dataset, Format, Layout, Loaded, ReadOptions, delimited, letor, parquet};
use crate::data::{ColumnRoles, FeatureSource, code_of};
use crate::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// The documents of one file, gathered by query.
#[derive(Debug)]
pub(crate) struct FilePart {
    /// The data without what only readers and writers need. Categories of tables are numbered as they come in this file.
    pub(crate) data: Dataset,
    /// What the join of all files has to know.
    pub(crate) summary: FileSummary,
}

/// What the join of all files has to know about one of them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct FileSummary {
    /// Its name, for messages.
    pub(crate) file: String,
    /// The queries, in the order in which they begin.
    pub(crate) query_ids: Vec<String>,
    /// The number of documents of each query.
    pub(crate) sizes: Vec<usize>,
    pub(super) weights: Option<Vec<f32>>,
    /// Whether the rows of a query were not adjacent.
    pub(super) moved: bool,
    /// What the user should know, a sentence each.
    pub(crate) notes: Vec<String>,
    pub(super) first_id: u32,
    pub(super) width: usize,
    pub(super) names: Option<Vec<String>>,
    /// The feature set beside the file.
    pub(super) source: Option<FeatureSource>,
    /// The number of values that are not 0.
    pub(super) filled: usize,
    pub(super) kind: PartKind,
}

/// What else there is to know, by format.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum PartKind {
    Table(TablePart),
    /// The categories of the features that are to be categorical.
    Letor(Vec<NumberedCategories>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TablePart {
    /// Which features hold categories.
    pub(super) categorical: Vec<usize>,
    /// Whether there are document ids, weights and positions.
    pub(super) optional: [bool; 3],
    /// The categories of each of those features.
    pub(super) categories: Vec<ColumnCategories>,
}

/// The categories of a feature of LETOR text.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct NumberedCategories {
    /// The codes that occur, in the order in which they do.
    pub(super) codes: Vec<u32>,
    /// The first document whose value is not a category, and the value.
    pub(super) misfit: Option<(usize, f32)>,
}

impl FilePart {
    pub(super) fn new(file: String, Loaded { data, notes, moved }: Loaded, kind: PartKind) -> FilePart {
        let parts = data.parts();
        let summary = FileSummary {
            file,
            query_ids: parts.query_ids.iter().map(String::from).collect(),
            sizes: data.queries().map(|query| query.len()).collect(),
            weights: parts.query_weights.clone(),
            moved,
            notes,
            first_id: parts.columns.first_id,
            width: data.width(),
            names: parts.columns.names.clone(),
            source: None,
            filled: parts.features.values().iter().filter(|value| **value != 0.0).count(),
            kind,
        };
        FilePart { data, summary }
    }
}

impl FileSummary {
    /// The number of documents.
    pub(crate) fn documents(&self) -> usize {
        self.sizes.iter().sum()
    }
}

/// Reads one file of several. What can only be judged by all of them is left to their [join](super::Joined).
pub(crate) fn read_part(path: &Path, format: Format, options: &ReadOptions) -> Result<FilePart> {
    let source = || std::iter::once(Source::open(path));
    let file = path.display().to_string();
    let FilePart { data, mut summary } = match format {
        Format::Letor => read_letor(source, file, options),
        Format::Csv => delimited::read_table(source(), b',', options)?.into_part(file),
        Format::Tsv => delimited::read_table(source(), b'\t', options)?.into_part(file),
        Format::Parquet => parquet::read_table(source(), options)?.into_part(file),
    }?;
    summary.source = sidecar::read(path)?;
    Ok(FilePart { data, summary })
}

fn read_letor<S: Iterator<Item = Result<Source>>>(
    source: impl Fn() -> S,
    file: String,
    options: &ReadOptions,
) -> Result<FilePart> {
    let numbers = &options.columns.categorical;
    let columns = ColumnRoles { categorical: Vec::new(), ..options.columns.clone() };
    let alone =
        ReadOptions { group: true, layout: Layout::Auto, memory_limit: u64::MAX, columns, ..options.clone() };
    let loaded = match letor::read(source(), &alone) {
        Ok(loaded) => loaded,
        // Scattered rows before the faulty line are an error before it.
        Err(error) if options.group => return Err(error),
        Err(_) => letor::read(source(), &ReadOptions { group: false, ..alone })?,
    };
    let Loaded { data, notes, moved } = loaded;
    let mut parts = data.into_parts();
    parts.comments = None;
    let data = Dataset::new(parts)?;
    let categories = numbers.iter().map(|number| categories_of(&data, number)).collect();
    Ok(FilePart::new(file, Loaded { data, notes, moved }, PartKind::Letor(categories)))
}

/// The categories of the feature with this number.
fn categories_of(data: &Dataset, number: &str) -> NumberedCategories {
    let first_id = data.columns().first_id;
    let column = number.trim().parse::<u32>().ok().and_then(|number| number.checked_sub(first_id));
    let column = column.map_or(usize::MAX, |column| column as usize);
    let (mut codes, mut seen, mut misfit) = (Vec::new(), HashSet::new(), None);
    for document in 0..data.len() {
        // What a text does not have is 0.
        let x = if column < data.width() { data.row(document).get(column) } else { 0.0 };
        match code_of(x) {
            Some(code) if seen.insert(code) => codes.push(code),
            None if !x.is_nan() && misfit.is_none() => misfit = Some((document, x)),
            _ => {}
        }
    }
    NumberedCategories { codes, misfit }
}
