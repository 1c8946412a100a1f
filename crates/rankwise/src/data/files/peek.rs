//! Files opened before it is known what they hold: look at the first bytes, then choose how to read.
//!
//! A pipe can be read only once, so the bytes looked at are read again from memory.

use super::read::{Format, Loaded, ReadOptions, read_sources};
use super::scores::scores_from;
use super::sidecar;
use super::source::Source;
use super::trec::{Qrels, TrecRun, qrels_from, run_from};
use crate::error::Result;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How many decompressed bytes [`Peeked::head`] has at most.
const HEAD_BYTES: u64 = 1 << 16;

/// An open file, pipe or standard input (`-`), decompressed, with its first bytes in view.
pub struct Peeked {
    path: PathBuf,
    head: Vec<u8>,
    source: Source,
}

impl Peeked {
    /// Opens `path` and reads its first bytes.
    pub fn open(path: &Path) -> Result<Peeked> {
        let (head, source) = Source::open(path)?.peek(HEAD_BYTES)?;
        Ok(Peeked { path: path.to_path_buf(), head, source })
    }

    /// The first bytes, decompressed: up to 64 KiB, all of them if the file is shorter.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// All bytes, decompressed.
    pub fn bytes(mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.source.read_to_end(&mut bytes).map_err(|e| self.source.origin().read_error(e))?;
        Ok(bytes)
    }

    /// One score per document, `expected` in all.
    pub fn scores(self, expected: usize) -> Result<Vec<f64>> {
        scores_from(self.source, expected)
    }

    /// A TREC run.
    pub fn run(self) -> Result<TrecRun> {
        run_from(self.source)
    }

    /// TREC qrels.
    pub fn qrels(self) -> Result<Qrels> {
        qrels_from(self.source)
    }

    /// A data set. Without a format in `options`, the file's name gives it.
    pub fn data(self, options: &ReadOptions) -> Result<Loaded> {
        let format = options.format.unwrap_or_else(|| Format::of_path(&self.path));
        let loaded = read_sources(format, std::iter::once(Ok(self.source)), options)?;
        let data = loaded.data.described(sidecar::read(&self.path)?, &self.path)?;
        Ok(Loaded { data, ..loaded })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_in_full_after_its_first_bytes_were_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("scores.txt.zst");
        let text: String = (0..40_000).map(|i| format!("{i}.5\n")).collect();
        std::fs::write(&path, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
        let peeked = Peeked::open(&path).unwrap();
        assert_eq!(peeked.head().len(), HEAD_BYTES as usize);
        assert!(peeked.head().starts_with(b"0.5\n1.5\n"));
        let scores = peeked.scores(40_000).unwrap();
        assert_eq!((scores[0], scores[39_999]), (0.5, 39_999.5));
        assert_eq!(Peeked::open(&path).unwrap().bytes().unwrap(), text.as_bytes());
    }
}
