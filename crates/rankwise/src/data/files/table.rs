//! Tables with a header: what delimited files and Parquet have in common.

use super::categories::ColumnCategories;
use super::excerpt::quoted;
use super::grouping::Runs;
use super::part::{FilePart, PartKind, TablePart};
use super::roles::{self, Role, listed};
use super::{Columns, Dataset, Features, Layout, Loaded, MAX_FEATURES, Parts, ReadOptions, Texts};
use crate::error::{Error, Place, Result};
use std::collections::{HashMap, HashSet};

/// The columns of a table.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Header {
    /// The name of every column.
    pub(super) names: Vec<String>,
    /// What every column holds.
    pub(super) roles: Vec<Role>,
    /// What the features are called in the data set.
    pub(super) columns: Columns,
    /// Number of features.
    pub(super) width: usize,
    /// Which features hold categories.
    pub(super) categorical: Vec<usize>,
    /// What was guessed about the columns, a sentence each.
    pub(super) notes: Vec<String>,
}

/// What is wrong with a header, and in which column (from 0).
#[derive(Debug)]
pub(super) struct HeaderError {
    pub(super) column: usize,
    pub(super) message: String,
}

/// Rows as they were read, by column. Roles that the table has no column for stay empty.
#[derive(Debug, Default)]
pub(super) struct TableRows {
    pub(super) labels: Vec<f32>,
    /// Features row by row; of a category, its number among those of its column in these rows.
    pub(super) features: Vec<f32>,
    /// The categories of each categorical feature.
    pub(super) categories: Vec<ColumnCategories>,
    pub(super) queries: Texts,
    pub(super) documents: Texts,
    pub(super) weights: Vec<f32>,
    pub(super) positions: Vec<u32>,
    /// The line of each row (or its number, from 1), and the column of its query id.
    pub(super) places: Vec<(u64, u64)>,
}

/// All rows of one or several tables, with their queries.
pub(super) struct Table {
    header: Header,
    file: String,
    runs: Runs,
    rows: TableRows,
    notes: Vec<String>,
    /// The weight of each query and the line it comes from.
    weights: HashMap<String, (f32, u64)>,
}

impl Header {
    /// Finds the role of every column.
    pub(super) fn new(names: Vec<String>, options: &ReadOptions) -> std::result::Result<Header, HeaderError> {
        check_names(&names)?;
        let (roles, notes) = roles::assign(&names, &options.columns, options.unlabelled)
            .map_err(|message| HeaderError { column: 0, message })?;
        let features: Vec<String> =
            names.iter().zip(&roles).filter(|(_, r)| r.is_feature()).map(|(n, _)| n.clone()).collect();
        let width = features.len();
        let categorical = categorical_features(&roles);
        match width {
            0 => Err(HeaderError {
                column: 0,
                message: format!("there are no feature columns, only {}", listed(&names)),
            }),
            _ if width > MAX_FEATURES => Err(HeaderError {
                column: 0,
                message: format!("{width} feature columns are more than the {MAX_FEATURES} allowed"),
            }),
            _ => Ok(Header { names, roles, columns: feature_columns(features), width, categorical, notes }),
        }
    }

    /// Reads a column of features, by its place in the table, as categories.
    #[cfg(feature = "parquet")]
    pub(super) fn set_categorical(&mut self, column: usize) {
        self.roles[column] = Role::Categorical;
        self.categorical = categorical_features(&self.roles);
    }

    /// No rows yet.
    pub(super) fn no_rows(&self) -> TableRows {
        let categories = self.categorical.iter().map(|_| ColumnCategories::default()).collect();
        TableRows { categories, ..TableRows::default() }
    }

    /// Whether there is a column of this role.
    pub(super) fn has(&self, role: Role) -> bool {
        self.roles.contains(&role)
    }
}

/// The places of categorical columns among the features.
fn categorical_features(roles: &[Role]) -> Vec<usize> {
    let features = roles.iter().filter(|role| role.is_feature()).enumerate();
    features.filter(|(_, role)| **role == Role::Categorical).map(|(feature, _)| feature).collect()
}

fn check_names(names: &[String]) -> std::result::Result<(), HeaderError> {
    let mut seen = HashSet::new();
    for (column, name) in names.iter().enumerate() {
        // A first column without a name holds the row numbers of pandas.
        if name.is_empty() && column > 0 {
            return Err(HeaderError { column, message: format!("column {} has no name", column + 1) });
        }
        if !seen.insert(name) {
            let message = format!("there are two columns {}", quoted(name.as_bytes()));
            return Err(HeaderError { column, message });
        }
    }
    Ok(())
}

/// Columns called `f1, f2, …` (from any number on) are numbered rather than named: so are those that
/// [`write`](super::write) makes of LETOR text.
fn feature_columns(names: Vec<String>) -> Columns {
    let first_id = names.first().and_then(|n| n.strip_prefix('f')).and_then(|digits| digits.parse().ok());
    if let Some(first_id) = first_id {
        let numbered = Columns { first_id, names: None, ..Columns::default() };
        if names.iter().enumerate().all(|(i, name)| *name == numbered_name(&numbered, i)) {
            return numbered;
        }
    }
    Columns { names: Some(names), ..Columns::default() }
}

/// The name in a header of a column that has only a number.
fn numbered_name(columns: &Columns, column: usize) -> String {
    format!("f{}", column as u64 + u64::from(columns.first_id))
}

/// The name of a feature in a header.
pub(super) fn table_name(columns: &Columns, column: usize) -> String {
    columns.names.as_ref().map_or_else(|| numbered_name(columns, column), |names| names[column].clone())
}

impl Table {
    /// An empty table.
    pub(super) fn new(header: Header) -> Self {
        let (runs, rows) = (Runs::new(), header.no_rows());
        Table { header, file: String::new(), runs, rows, notes: Vec::new(), weights: HashMap::new() }
    }

    /// Rows added from now on come from this file, which must have the same features.
    pub(super) fn enter_file(&mut self, file: &str, header: &Header) -> Result<()> {
        self.runs.enter_file(file);
        let optional = [Role::Label, Role::Document, Role::Weight, Role::Position];
        if header.columns != self.header.columns
            || header.width != self.header.width
            || header.categorical != self.header.categorical
            || optional.iter().any(|r| header.has(*r) != self.header.has(*r))
        {
            return Err(other_columns(file, &self.file));
        }
        file.clone_into(&mut self.file);
        let new: Vec<_> = header.notes.iter().filter(|note| !self.notes.contains(note)).cloned().collect();
        self.notes.extend(new);
        Ok(())
    }

    /// Adds rows. All rows of a query must have the same weight.
    pub(super) fn append(&mut self, mut more: TableRows) -> Result<()> {
        for (row, id) in more.queries.iter().enumerate() {
            let (line, column) = more.places[row];
            self.runs.push(id, line, column);
            if let Some(&weight) = more.weights.get(row) {
                self.check_weight(id, weight, (line, column))?;
            }
        }
        self.join_categories(&mut more);
        let rows = self.rows.labels.len() + more.queries.len();
        self.rows.labels.append(&mut more.labels);
        // Without a column of labels.
        self.rows.labels.resize(rows, 0.0);
        self.rows.features.append(&mut more.features);
        self.rows.documents.append(&more.documents);
        self.rows.positions.append(&mut more.positions);
        Ok(())
    }

    /// Numbers the categories of `more` as in the rows before.
    fn join_categories(&mut self, more: &mut TableRows) {
        let joined = self.rows.categories.iter_mut().zip(&more.categories).zip(&self.header.categorical);
        for ((known, new), &feature) in joined {
            let numbers = known.join(new);
            let column = more.features.iter_mut().skip(feature).step_by(self.header.width);
            column.filter(|x| !x.is_nan()).for_each(|x| *x = numbers[*x as usize] as f32);
        }
    }

    /// Gives categories their final codes: their own numbers, or places in the order of their texts.
    fn code_categories(&mut self) -> Result<()> {
        let Header { categorical, width, columns, .. } = &mut self.header;
        for (known, &feature) in std::mem::take(&mut self.rows.categories).into_iter().zip(&*categorical) {
            let (codes, texts) = known.codes()?;
            let column = self.rows.features.iter_mut().skip(feature).step_by(*width);
            column.filter(|x| !x.is_nan()).for_each(|x| *x = codes[*x as usize] as f32);
            columns.categories = std::mem::take(&mut columns.categories).with(feature, texts)?;
        }
        Ok(())
    }

    fn check_weight(&mut self, id: &str, weight: f32, (line, column): (u64, u64)) -> Result<()> {
        let Some(&(first, first_line)) = self.weights.get(id) else {
            self.weights.insert(id.to_owned(), (weight, line));
            return Ok(());
        };
        if first == weight {
            return Ok(());
        }
        let place = Place { file: self.file.clone(), line, column };
        let id = quoted(id.as_bytes());
        let message = format!(
            "query {id} has the weight {weight} here but {first} on line {first_line}; all its rows must have the same weight, unless no column is named for the query weight"
        );
        Err(Error::parse(place, message))
    }

    /// The rows of this file, before it is known what the others have. Categories are numbered as they come.
    pub(super) fn into_part(mut self, file: String) -> Result<FilePart> {
        let groups = self.runs.finish(true)?;
        let moved = groups.order.is_some();
        let notes = self.notes.into_iter().chain(groups.note()).chain(similar_ids(&groups.ids)).collect();
        let Header { width, categorical, columns, .. } = &self.header;
        let categories = std::mem::take(&mut self.rows.categories);
        let mut columns = columns.clone();
        for (known, &feature) in categories.iter().zip(categorical) {
            columns.categories = std::mem::take(&mut columns.categories).with(feature, known.texts())?;
        }
        let features = Features::dense(*width, self.rows.features);
        let mut parts = Parts { features, labels: self.rows.labels, columns, ..Parts::default() };
        groups.arrange(&mut parts);
        if self.header.has(Role::Weight) {
            parts.query_weights = Some(parts.query_ids.iter().map(|id| self.weights[id].0).collect());
        }
        let optional = [Role::Document, Role::Weight, Role::Position].map(|role| self.header.has(role));
        let table = TablePart { categorical: categorical.clone(), optional, categories };
        let loaded = Loaded { data: Dataset::new(parts)?, notes, moved };
        Ok(FilePart::new(file, loaded, PartKind::Table(table)))
    }

    /// The data set.
    pub(super) fn finish(mut self, options: &ReadOptions) -> Result<Loaded> {
        if self.rows.labels.is_empty() {
            return Err(no_rows(&self.file));
        }
        self.code_categories()?;
        let groups = self.runs.finish(options.group)?;
        let notes = self.notes.into_iter().chain(groups.note()).chain(similar_ids(&groups.ids)).collect();
        let (header, rows) = (&self.header, self.rows);
        let mut parts = Parts {
            features: matrix(header.width, rows.features, options.layout),
            labels: rows.labels,
            columns: self.header.columns.clone(),
            document_ids: header.has(Role::Document).then_some(rows.documents),
            positions: header.has(Role::Position).then_some(rows.positions),
            ..Parts::default()
        };
        let moved = groups.order.is_some();
        groups.arrange(&mut parts);
        if header.has(Role::Weight) {
            parts.query_weights = Some(parts.query_ids.iter().map(|id| self.weights[id].0).collect());
        }
        Ok(Loaded { data: Dataset::new(parts)?, notes, moved })
    }
}

/// The error for a table without rows.
pub(super) fn no_rows(file: &str) -> Error {
    Error::malformed(format!("{file} has a header but no rows"))
}

/// The error for a table whose columns differ from those of the one before.
pub(super) fn other_columns(file: &str, before: &str) -> Error {
    Error::data(format!("{file} does not have the same columns as {before}"))
}

/// A note if two query ids differ only in the spaces around them.
fn similar_ids(ids: &Texts) -> Option<String> {
    let spaced: Vec<&str> = ids.iter().filter(|id| id.trim() != *id).collect();
    let all: HashSet<&str> = if spaced.is_empty() { HashSet::new() } else { ids.iter().collect() };
    let id = spaced.iter().find(|id| all.contains(id.trim()))?;
    Some(format!(
        "the query ids {} and {} differ only in spaces and are two queries",
        quoted(id.trim().as_bytes()),
        quoted(id.as_bytes())
    ))
}

/// A table gives every value, so rows are dense unless sparse ones are requested.
fn matrix(width: usize, values: Vec<f32>, layout: Layout) -> Features {
    if layout != Layout::Sparse {
        return Features::dense(width, values);
    }
    let (mut starts, mut columns, mut stored) = (vec![0], Vec::new(), Vec::new());
    for row in values.chunks_exact(width) {
        for (column, &value) in row.iter().enumerate() {
            if value != 0.0 {
                columns.push(column as u32);
                stored.push(value);
            }
        }
        starts.push(stored.len());
    }
    Features::Sparse { width, starts, columns, values: stored }
}
