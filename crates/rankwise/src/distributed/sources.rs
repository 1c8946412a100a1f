//! Files, and who reads which of them.

use crate::data::{Dataset, FilePart, FileSummary, Format, ReadOptions, common_format, read_all, read_part};
use crate::error::{Error, Result};
use crate::exchange::{self, Exchange};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::panic::Location;
use std::path::PathBuf;

/// Files that are one data set together: LETOR text, CSV, TSV or Parquet, plain or compressed.
///
/// Every worker reads about the same number of bytes, and keeps the queries that it trains on. For queries that it does
/// not find there, it reads other files again. Files are fastest if their queries are in the order of their ids, one file
/// after the other, and if there are at least as many files as workers: then only files whose queries belong to two
/// workers are read twice. A worker holds a whole file in memory while it reads it, and a single file is read by all
/// workers, so data larger than the memory of a machine has to come as several files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The files, in order. Every worker must be able to read them by these names.
    pub files: Vec<PathBuf>,
    /// How to read them.
    #[serde(default)]
    pub options: ReadOptions,
}

impl Source {
    /// Files that are read with the default options.
    pub fn new(files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Source {
        Source { files: files.into_iter().map(Into::into).collect(), options: ReadOptions::default() }
    }

    /// The common format of the files.
    pub(super) fn format(&self) -> Result<Format> {
        if self.files.iter().any(|file| file.as_os_str() == "-") {
            return Err(Error::parameter(
                "standard input cannot be divided among workers; write the data to a file that all of them can read",
            ));
        }
        // A pipe can be read once, and several workers would wait for it for ever.
        let is_pipe = |file: &&PathBuf| std::fs::metadata(file).is_ok_and(|of| !of.is_file() && !of.is_dir());
        if let Some(pipe) = self.files.iter().find(is_pipe) {
            return Err(Error::parameter(format!(
                "{} is a pipe or a device, which cannot be divided among workers; write the data to a file that all of \
                 them can read",
                pipe.display()
            )));
        }
        common_format(&self.files, &self.options)
    }

    /// The error that reading these files together gives.
    pub(super) fn error_between(&self, files: &[usize]) -> Error {
        let files: Vec<PathBuf> = files.iter().map(|&file| self.files[file].clone()).collect();
        let first = files[0].display().to_string();
        read_all(&files, &self.options).err().unwrap_or_else(|| changed(&first))
    }
}

/// The error for a file that is no longer what it was.
pub(super) fn changed(file: &str) -> Error {
    Error::data(format!("{file} changed while it was read; start again when nothing writes to it"))
}

/// The files that one worker has read, by the numbers of the source and the file.
pub(super) type Kept = BTreeMap<(usize, usize), Dataset>;

/// What workers found in the files that they read first, by source and file.
pub(super) type Scanned = Vec<((usize, usize), Result<FileSummary>)>;

/// Who reads which files first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Readers {
    /// The worker that reports on each file.
    of_file: Vec<usize>,
    /// The file that a worker reads that has no other: one in which its queries probably are.
    idle: Vec<Option<usize>>,
}

impl Readers {
    /// Divides files of these sizes among workers: adjacent files, of about as many bytes for each.
    fn new(sizes: &[u64], workers: usize) -> Readers {
        let mut ends = Vec::with_capacity(sizes.len());
        let mut total: u128 = 0;
        for &size in sizes {
            total += u128::from(size.max(1));
            ends.push(total);
        }
        let middle = |file: usize| ends[file] - u128::from(sizes[file].max(1)).div_ceil(2);
        let of_file: Vec<usize> =
            (0..sizes.len()).map(|file| (middle(file) * workers as u128 / total) as usize).collect();
        let idle = |worker: usize| {
            let place = (2 * worker as u128 + 1) * total / (2 * workers as u128);
            (!of_file.contains(&worker)).then(|| ends.partition_point(|&end| end <= place))
        };
        let idle = (0..workers).map(idle).collect();
        Readers { of_file, idle }
    }

    /// Lets the driver divide the files of every source by their sizes on disk, which workers can see.
    pub(super) fn agree(sources: &[&Source], exchange: &dyn Exchange) -> Vec<Readers> {
        let size = |file: &PathBuf| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        let sizes = |source: &&Source| source.files.iter().map(size).collect::<Vec<u64>>();
        let decide = |seen: Vec<Vec<Vec<u64>>>| {
            let largest = |source: usize| {
                let files = 0..sources[source].files.len();
                files.map(|file| seen.iter().map(|sizes| sizes[source][file]).max().unwrap_or(0)).collect()
            };
            let sizes: Vec<Vec<u64>> = (0..sources.len()).map(largest).collect();
            sizes.iter().map(|sizes| Readers::new(sizes, seen.len())).collect()
        };
        exchange::ask(exchange, Location::caller(), || sources.iter().map(sizes).collect(), decide)
    }
}

/// Reads the files of one worker, keeps them, and returns what is to be known about those that it reports on.
pub(super) fn scan(
    sources: &[(&Source, Format)],
    readers: &[Readers],
    worker: usize,
    kept: &mut Kept,
) -> Scanned {
    let mut scanned = Vec::new();
    for (number, ((source, format), readers)) in sources.iter().zip(readers).enumerate() {
        let own = (0..source.files.len()).filter(|&file| readers.of_file[file] == worker);
        for file in own.chain(readers.idle[worker]) {
            let part = read_part(&source.files[file], *format, &source.options);
            let reports = readers.of_file[file] == worker;
            let found = part.map(|FilePart { data, summary }| {
                kept.insert((number, file), data);
                summary
            });
            scanned.extend(reports.then_some(((number, file), found)));
        }
    }
    scanned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_one_reader_and_no_worker_is_idle() {
        for workers in [1, 2, 3, 7] {
            for sizes in [&[5u64][..], &[0, 0, 0], &[1, 100, 1, 1], &[10; 20], &[3, 1, 4, 1, 5, 9, 2, 6]] {
                let readers = Readers::new(sizes, workers);
                assert!(readers.of_file.is_sorted() && readers.of_file.iter().all(|&w| w < workers));
                for worker in 0..workers {
                    let own = readers.of_file.contains(&worker);
                    assert_eq!(own, readers.idle[worker].is_none());
                    assert!(readers.idle[worker].is_none_or(|file| file < sizes.len()));
                }
            }
        }
        assert_eq!(Readers::new(&[10; 4], 2).of_file, [0, 0, 1, 1]);
        assert_eq!(Readers::new(&[100, 1], 3).idle, [Some(0), None, None]);
    }
}
