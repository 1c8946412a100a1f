//! Which worker gets which queries, and what their columns are: decided by the driver, from what workers found in files.

use super::sources::{Scanned, Source};
use crate::data::{Assembly, Dataset, FileSummary, Joined, Trouble, is_padding};
use crate::error::{Error, Result};
use crate::pieces;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// What the driver decides after all files have been read.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Verdict {
    /// A plan for each source, and what the user should know about the files.
    Load { plans: Vec<Plan>, notes: Vec<String> },
    /// Reading these files of a source together gives the error.
    Between { source: usize, files: Vec<usize> },
    /// The data cannot be used.
    Refuse(Error),
}

/// How the queries of one source are divided.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Plan {
    /// The columns of the data.
    pub(super) assembly: Assembly,
    /// The categorical columns with the code of each category, as files write it.
    pub(super) codes: Vec<(usize, Vec<(String, u32)>)>,
    /// The numbers of queries and documents of each file.
    pub(super) files: Vec<(usize, usize)>,
    /// The number of documents of each query, in the order of their ids.
    sizes: Vec<usize>,
    /// The first piece of each worker, and the number of pieces.
    pieces: Vec<usize>,
    /// Where the queries of each worker are, in order.
    pub(super) takes: Vec<Vec<Take>>,
}

/// Adjacent queries of a file. A query that is in two files is taken from one after the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Take {
    pub(super) file: usize,
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Plan {
    /// Where each query starts, of all workers.
    pub(super) fn bounds(&self) -> Vec<usize> {
        starts(&self.sizes)
    }

    /// The pieces of a worker; none for the driver.
    pub(super) fn own_pieces(&self, worker: Option<usize>) -> Range<usize> {
        worker.map_or(0..0, |worker| self.pieces[worker]..self.pieces[worker + 1])
    }
}

/// Decides by what was found in all files.
pub(super) fn decide(sources: &[&Source], scanned: Vec<Scanned>) -> Verdict {
    let workers = scanned.len();
    let mut found: Vec<Vec<Result<FileSummary>>> = sources.iter().map(|_| Vec::new()).collect();
    let mut all: Scanned = scanned.into_iter().flatten().collect();
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().for_each(|((source, _), file)| found[source].push(file));
    let mut joined = Vec::new();
    for (number, files) in found.into_iter().enumerate() {
        match Joined::new(files, &sources[number].options) {
            Ok(one) => joined.push(one),
            Err(Trouble::Error(error)) => return Verdict::Refuse(error),
            Err(Trouble::Between(files)) => return Verdict::Between { source: number, files },
        }
    }
    let columns: Vec<&Joined> = joined.iter().map(|(_, joined)| joined).collect();
    match aligned(&columns) {
        Err(error) => Verdict::Refuse(error),
        Ok(aligned) => {
            let plan = |((files, _), (assembly, codes)): (&(Vec<FileSummary>, Joined), _)| {
                divided(files, assembly, codes, workers)
            };
            let mut notes: Vec<String> = joined.iter().flat_map(|(files, _)| notes_of(files)).collect();
            let mut known = BTreeSet::new();
            notes.retain(|note| known.insert(note.clone()));
            Verdict::Load { plans: joined.iter().zip(aligned).map(plan).collect(), notes }
        }
    }
}

/// What the user should know about the files of a source. What is true of all is said once.
fn notes_of(files: &[FileSummary]) -> Vec<String> {
    let mut notes = Vec::new();
    for file in files {
        for note in &file.notes {
            let is_common = files.iter().all(|other| other.notes.contains(note));
            notes.push(if is_common { note.clone() } else { format!("{}: {note}", file.file) });
        }
    }
    let mut files_of: BTreeMap<&str, usize> = BTreeMap::new();
    for id in files.iter().flat_map(|file| &file.query_ids) {
        *files_of.entry(id).or_default() += 1;
    }
    match files_of.values().filter(|files| **files > 1).count() {
        0 => {}
        1 => notes.push("the rows of 1 query were in several files and have been gathered".to_owned()),
        n => notes.push(format!("the rows of {n} queries were in several files and have been gathered")),
    }
    notes
}

type Codes = Vec<(usize, Vec<(String, u32)>)>;

/// The columns of training and validation data as one machine would make them: the same for both, with the categories
/// of the training data first.
fn aligned(sources: &[&Joined]) -> Result<Vec<(Assembly, Codes)>> {
    let skeletons = sources.iter().map(|joined| skeleton(joined)).collect::<Result<Vec<_>>>()?;
    let mut skeletons = Dataset::align_columns(skeletons)?.into_iter();
    let Some(train) = skeletons.next() else { return Ok(Vec::new()) };
    let train = train.with_own_categories()?.into_owned();
    let mut coded = Vec::new();
    for valid in skeletons {
        coded.push(valid.in_codes(&train.columns().categories)?.into_owned());
    }
    coded.insert(0, train);
    Ok(coded.iter().zip(sources).map(|(coded, joined)| assembly(coded, joined)).collect())
}

/// Data with the columns of the source whose documents have nothing but categories: document `i` has the `i`-th category
/// of every categorical column.
fn skeleton(joined: &Joined) -> Result<Dataset> {
    let documents = joined.codes.iter().map(|(_, codes)| codes.len()).max().unwrap_or(0);
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for document in 0..documents {
        for (column, codes) in &joined.codes {
            let code = codes.get(document).or(codes.first());
            columns.push(*column as u32);
            values.push(code.map_or(f32::NAN, |(_, code)| *code as f32));
        }
        starts.push(values.len());
    }
    let sizes = vec![1; documents];
    let data = Dataset::sparse(starts, columns, values, joined.width, vec![0.0; documents], &sizes)?;
    data.with_columns(joined.columns.clone())
}

/// The columns of `coded`, a skeleton of the source, and the codes that categories have in it.
fn assembly(coded: &Dataset, joined: &Joined) -> (Assembly, Codes) {
    let (columns, width) = (coded.columns(), coded.width());
    let shift = (joined.columns.first_id - columns.first_id) as usize;
    // Rows that are moved up stay dense; rows that are widened may not.
    let moved = joined.width + shift;
    let padded = width > moved && is_padding(joined.documents.saturating_mul(moved), joined.documents, width);
    let assembly = Assembly {
        first_id: columns.first_id,
        names: columns.names.clone(),
        categories: columns.categories.clone(),
        source: columns.source.clone(),
        width,
        dense: joined.dense && !padded,
        weights: joined.weights,
    };
    let code = |column: usize, document: usize| coded.row(document).get(column) as u32;
    let codes = joined.codes.iter().map(|(column, codes)| {
        let new = codes.iter().enumerate().map(|(i, (text, _))| (text.clone(), code(column + shift, i)));
        (column + shift, new.collect())
    });
    (assembly, codes.collect())
}

/// Divides the queries of all files among workers: adjacent pieces for each, with about as many documents.
fn divided(files: &[FileSummary], assembly: Assembly, codes: Codes, workers: usize) -> Plan {
    let mut parts: Vec<(&str, usize, usize)> = Vec::new();
    for (number, file) in files.iter().enumerate() {
        parts.extend(file.query_ids.iter().enumerate().map(|(query, id)| (id.as_str(), number, query)));
    }
    parts.sort_unstable_by(|a, b| (a.0.len(), a).cmp(&(b.0.len(), b)));
    let queries: Vec<&[(&str, usize, usize)]> = parts.chunk_by(|a, b| a.0 == b.0).collect();
    let size = |parts: &&[(&str, usize, usize)]| {
        parts.iter().map(|&(_, file, query)| files[file].sizes[query]).sum::<usize>()
    };
    let sizes: Vec<usize> = queries.iter().map(size).collect();
    let bounds = starts(&sizes);
    let cut = pieces::cut(&bounds, assembly.width);
    let documents = bounds[bounds.len() - 1];
    let first_piece = |worker: usize| {
        let start = (worker as u128 * documents as u128).div_ceil(workers as u128) as usize;
        cut[..cut.len() - 1].partition_point(|&query| bounds[query] < start)
    };
    let pieces: Vec<usize> = (0..workers).map(first_piece).chain([cut.len() - 1]).collect();
    let takes = pieces.windows(2).map(|own| takes(&queries[cut[own[0]]..cut[own[1]]])).collect();
    let files = files.iter().map(|file| (file.sizes.len(), file.documents())).collect();
    Plan { assembly, codes, files, sizes, pieces, takes }
}

/// The queries, with adjacent ones of a file together.
fn takes(queries: &[&[(&str, usize, usize)]]) -> Vec<Take> {
    let mut takes: Vec<Take> = Vec::new();
    for &(_, file, query) in queries.iter().copied().flatten() {
        match takes.last_mut() {
            Some(take) if take.file == file && take.first + take.count == query => take.count += 1,
            _ => takes.push(Take { file, first: query, count: 1 }),
        }
    }
    takes
}

fn starts(sizes: &[usize]) -> Vec<usize> {
    let mut bounds = vec![0];
    bounds.extend(sizes.iter().scan(0, |end, size| {
        *end += size;
        Some(*end)
    }));
    bounds
}
