//! Files that were read one by one, joined by what is known about each: the same columns, categories and errors as if they
//! had been read together.

use super::categories::ColumnCategories;
use super::letor::{MatrixSize, numbered_categories, too_many_columns};
use super::part::{FileSummary, NumberedCategories, PartKind, TablePart};
use super::sidecar;
use super::table::{no_rows, other_columns};
use super::{Columns, Layout, MAX_FEATURES, ReadOptions};
use crate::data::categories::not_a_code;
use crate::error::{Error, Result};
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

/// What is common to all files of a data set.
#[derive(Debug)]
pub(crate) struct Joined {
    /// The number of documents.
    pub(crate) documents: usize,
    /// The number of feature columns.
    pub(crate) width: usize,
    /// The feature columns.
    pub(crate) columns: Columns,
    /// Whether rows are stored with their zeros.
    pub(crate) dense: bool,
    /// Whether queries have weights.
    pub(crate) weights: bool,
    /// The categorical columns with the code of each category, in the order in which they occur.
    pub(crate) codes: Vec<(usize, Vec<(String, u32)>)>,
}

/// Why files cannot be read together.
#[derive(Debug)]
pub(crate) enum Trouble {
    Error(Error),
    /// Reading these files together gives the error; their summaries do not have the lines that it names.
    Between(Vec<usize>),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Trouble {
        Trouble::Error(error)
    }
}

type Attempt<T> = std::result::Result<T, Trouble>;

impl Joined {
    /// Joins files of one format. Returns their summaries, too.
    pub(crate) fn new(
        files: Vec<Result<FileSummary>>,
        options: &ReadOptions,
    ) -> Attempt<(Vec<FileSummary>, Joined)> {
        let mut read = Vec::with_capacity(files.len());
        for file in files {
            match file {
                Ok(file) => read.push(file),
                Err(error) => {
                    check_before(&read, options)?;
                    return Err(error.into());
                }
            }
        }
        let mut joined = match read.first().map(|file| &file.kind) {
            Some(PartKind::Table(_)) => join_tables(&read, options)?,
            _ => join_letor(&read, options)?,
        };
        let Some(FileSummary { source, file, .. }) = read.first() else { return Ok((read, joined)) };
        if let Some(other) = read.iter().position(|file| file.source != *source) {
            return Err(Trouble::Between(vec![0, other]));
        }
        joined.columns = sidecar::described(joined.columns, joined.width, source.clone(), file)?;
        Ok((read, joined))
    }
}

/// What is wrong with the files before one that cannot be read.
fn check_before(read: &[FileSummary], options: &ReadOptions) -> Attempt<()> {
    match read.first().map(|file| &file.kind) {
        Some(PartKind::Table(first)) => check_tables(read, first),
        Some(PartKind::Letor(_)) => check_scattered(read, options),
        None => Ok(()),
    }
}

/// Rejects a query whose rows are not together, unless they may be gathered.
fn check_scattered(files: &[FileSummary], options: &ReadOptions) -> Attempt<()> {
    let mut first_file: HashMap<&str, usize> = HashMap::new();
    for (number, file) in files.iter().enumerate().filter(|_| !options.group) {
        let mut concerned = BTreeSet::new();
        for id in &file.query_ids {
            match first_file.entry(id) {
                Entry::Occupied(known) => {
                    concerned.insert(*known.get());
                }
                Entry::Vacant(new) => {
                    new.insert(number);
                }
            }
        }
        if file.moved || !concerned.is_empty() {
            return Err(Trouble::Between(concerned.into_iter().chain([number]).collect()));
        }
    }
    Ok(())
}

/// Rejects tables that differ in their columns, and queries with two weights.
fn check_tables(files: &[FileSummary], first: &TablePart) -> Attempt<()> {
    let mut weights: HashMap<&str, (f32, usize)> = HashMap::new();
    for (number, file) in files.iter().enumerate() {
        let same = |table: &TablePart| {
            table.categorical == first.categorical
                && table.optional == first.optional
                && (file.first_id, file.width, &file.names)
                    == (files[0].first_id, files[0].width, &files[0].names)
        };
        if !matches!(&file.kind, PartKind::Table(table) if same(table)) {
            return Err(other_columns(&file.file, &files[number.saturating_sub(1)].file).into());
        }
        for (id, &weight) in file.query_ids.iter().zip(file.weights.iter().flatten()) {
            let &mut (known, first) = weights.entry(id).or_insert((weight, number));
            if known != weight {
                return Err(Trouble::Between(vec![first, number]));
            }
        }
    }
    Ok(())
}

fn join_tables(files: &[FileSummary], options: &ReadOptions) -> Attempt<Joined> {
    let tables: Vec<&TablePart> = files.iter().filter_map(table).collect();
    let (first, last) = (&files[0], &files[files.len() - 1]);
    check_tables(files, tables[0])?;
    let documents = files.iter().map(FileSummary::documents).sum();
    if documents == 0 {
        return Err(no_rows(&last.file).into());
    }
    let mut columns = Columns { first_id: first.first_id, names: first.names.clone(), ..Columns::default() };
    let mut codes = Vec::new();
    for (place, &feature) in tables[0].categorical.iter().enumerate() {
        let mut all = ColumnCategories::default();
        for table in &tables {
            all.join(&table.categories[place]);
        }
        let written = all.texts().to_vec();
        let (code_of, texts) = all.codes()?;
        columns.categories = columns.categories.with(feature, texts)?;
        codes.push((feature, written.into_iter().zip(code_of).collect()));
    }
    check_scattered(files, options)?;
    Ok(Joined {
        documents,
        width: first.width,
        columns,
        dense: options.layout != Layout::Sparse,
        weights: first.weights.is_some(),
        codes,
    })
}

fn table(file: &FileSummary) -> Option<&TablePart> {
    match &file.kind {
        PartKind::Table(table) => Some(table),
        PartKind::Letor(_) => None,
    }
}

fn join_letor(files: &[FileSummary], options: &ReadOptions) -> Attempt<Joined> {
    check_scattered(files, options)?;
    let names: Vec<&str> = files.iter().map(|file| file.file.as_str()).collect();
    let within = |error: String| format!("{}: {error}", names.join(", "));
    let first_id = files.iter().map(|file| file.first_id).min().unwrap_or(1);
    let end = |file: &FileSummary| (file.first_id - first_id) as usize + file.width;
    let size = MatrixSize {
        count: files.iter().map(FileSummary::documents).sum(),
        width: files.iter().map(end).max().unwrap_or(0),
        filled: files.iter().map(|file| file.filled).sum(),
        first: first_id,
    };
    if size.width > MAX_FEATURES {
        return Err(Error::malformed(within(too_many_columns(first_id))).into());
    }
    let cost = size.check_cost(options.layout, options.memory_limit);
    cost.map_err(|error| Error::data(within(error.to_string())))?;
    let numbers = &options.columns.categorical;
    let categories = numbered_categories(numbers, first_id, size.width);
    let categories = categories.map_err(|error| Error::parameter(within(error)))?;
    let columns = Columns { first_id, categories, ..Columns::default() };
    let mut places: Vec<(usize, usize)> = numbers
        .iter()
        .enumerate()
        .filter_map(|(place, number)| {
            Some((number.trim().parse::<u32>().ok()?.checked_sub(first_id)? as usize, place))
        })
        .collect();
    places.sort_unstable();
    places.dedup_by_key(|(column, _)| *column);
    check_codes(files, &columns, &places)?;
    let codes = places.iter().map(|&(column, place)| (column, codes_of(files, place))).collect();
    let dense = size.is_dense(options.layout);
    Ok(Joined { documents: size.count, width: size.width, columns, dense, weights: false, codes })
}

/// The categories of one feature of LETOR text: numbers, which are their own codes.
fn codes_of(files: &[FileSummary], place: usize) -> Vec<(String, u32)> {
    let mut seen = BTreeSet::new();
    let codes = files.iter().filter_map(|file| Some(&numbered(file, place)?.codes)).flatten();
    codes.filter(|code| seen.insert(**code)).map(|code| (code.to_string(), *code)).collect()
}

fn numbered(file: &FileSummary, place: usize) -> Option<&NumberedCategories> {
    match &file.kind {
        PartKind::Letor(categories) => categories.get(place),
        PartKind::Table(_) => None,
    }
}

/// Rejects the first value of a categorical feature that is no category.
fn check_codes(files: &[FileSummary], columns: &Columns, places: &[(usize, usize)]) -> Result<()> {
    for &(column, place) in places {
        let misfits = files.iter().enumerate().filter_map(|(number, file)| {
            let (document, x) = numbered(file, place)?.misfit?;
            let (document, query) = document_number(files, number, document);
            Some((document, query, x))
        });
        if let Some((document, query, x)) = misfits.min_by_key(|misfit| misfit.0) {
            return Err(Error::data(format!(
                "feature {} of document {} (query {query}): {}",
                columns.name(column),
                document + 1,
                not_a_code(&x.to_string())
            )));
        }
    }
    Ok(())
}

/// The number of a file's document among all, gathered by query in the order in which queries begin; and its query.
fn document_number(files: &[FileSummary], number: usize, document: usize) -> (usize, &str) {
    let (mut query, mut offset) = (0, document);
    while offset >= files[number].sizes[query] {
        offset -= files[number].sizes[query];
        query += 1;
    }
    let id = files[number].query_ids[query].as_str();
    // All queries that begin before this one, and its own documents in files before.
    let mut before: BTreeSet<&str> = BTreeSet::new();
    'files: for file in files {
        for other in &file.query_ids {
            if other == id {
                break 'files;
            }
            before.insert(other);
        }
    }
    for (place, file) in files.iter().enumerate() {
        for (other, size) in file.query_ids.iter().zip(&file.sizes) {
            if before.contains(other.as_str()) || (other == id && place < number) {
                offset += size;
            }
        }
    }
    (offset, id)
}
