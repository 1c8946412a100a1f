//! A mutation fuzzer: for any bytes and any block size, the reader gives the same answer and never panics.
//!
//! `RANKWISE_FUZZ_CASES=5000000 cargo test --release mutated_files` runs longer.

use super::*;
use crate::data::Layout;
use crate::rng::{self, Random};
use rand::RngExt;
use std::fs;
use std::io::Cursor;
use std::path::PathBuf;

const TEST_DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/broken/letor");
const SEEDS: [&[u8]; 4] = [
    b"2 qid:1 1:0.123456 2:12 3:-0.5 #docid = a\n0 qid:1 1:1e-3 3:NULL\n1 qid:2 2:0.25\n",
    b"\xef\xbb\xbf0\tqid:x 0:1 7:0.000001\r\n\r\n+1 qid:x 3:12345678 #\r\n",
    b"1 qid:10 1:0.5 2:0.5 3:0.5 4:0.5 5:0.5 6:0.5 7:0.5 8:0.5 9:0.5 10:0.5\n",
    b"1 qid:1 16777216:1\n1 qid:1 1:1 2:1\n",
];
const PIECES: [&[u8]; 24] = [
    b" ",
    b"\n",
    b"\r\n",
    b"\t",
    b"#",
    b":",
    b"qid:",
    b"qid:1",
    b"0",
    b"1:",
    b"16777216:",
    b"4294967296:",
    b"-",
    b"+",
    b".",
    b"e9",
    b"1e39",
    b"nan",
    b"NULL",
    b"inf",
    b"99999999",
    b"\0",
    b"\xff",
    b"0.0000000000000000000001",
];

#[test]
fn mutated_files_never_panic() {
    let cases = std::env::var("RANKWISE_FUZZ_CASES").map_or(100_000, |n| n.parse().unwrap());
    // Such small files are read faster by one thread.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let accepted = pool.install(|| accepted_of(cases));
    // Enough files must be accepted to test the later stages, but not all.
    assert!(accepted > cases / 50 && accepted < cases, "{accepted} of {cases} cases were read");
}

/// The number of mutated files that are accepted.
fn accepted_of(cases: usize) -> usize {
    let corpus = corpus();
    let mut random = rng::stream(2026, &[3]);
    (0..cases).filter(|_| survives(&mutated(&corpus, &mut random), &mut random)).count()
}

/// Small files, valid and broken.
fn corpus() -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(TEST_DATA).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let broken = paths.iter().filter(|path| path.extension().is_some_and(|e| e == "txt"));
    SEEDS.iter().map(|seed| seed.to_vec()).chain(broken.map(|path| fs::read(path).unwrap())).collect()
}

/// A file of the corpus with a few changes: bytes flipped, pieces inserted, ranges removed, repeated or taken from
/// another file.
fn mutated(corpus: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = corpus[random.random_range(0..corpus.len())].clone();
    for _ in 0..random.random_range(1..5) {
        let at = random.random_range(0..=bytes.len());
        let end = (at + random.random_range(0..20)).min(bytes.len());
        match random.random_range(0..6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = random.random(),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.extend_from_within(at..end),
            4 => {
                let other = &corpus[random.random_range(0..corpus.len())];
                let from = random.random_range(0..=other.len());
                bytes.truncate(at);
                bytes.extend_from_slice(&other[from..]);
            }
            _ => drop(bytes.splice(at..at, PIECES[random.random_range(0..PIECES.len())].iter().copied())),
        }
    }
    bytes
}

/// Whether the file is accepted. The result must be consistent and must not depend on the block size.
fn survives(bytes: &[u8], random: &mut Random) -> bool {
    let options = ReadOptions {
        group: random.random(),
        first_id: [None, Some(0), Some(1)][random.random_range(0..3)],
        layout: [Layout::Auto, Layout::Sparse][random.random_range(0..2)],
        ..ReadOptions::default()
    };
    let read = |block_bytes| {
        let source = Source::new("case", Cursor::new(bytes.to_vec()));
        // NaN does not equal itself, but prints the same.
        read_in_blocks(std::iter::once(source), &options, block_bytes).map_err(|error| error.to_string())
    };
    let whole = read(BLOCK_BYTES);
    // How much comes out of damaged gzip data before the damage is found depends on how much is asked for.
    let packed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5]);
    if !packed && random.random_bool(0.1) {
        let parts = read(random.random_range(1..100));
        assert_eq!(format!("{parts:?}"), format!("{whole:?}"), "{}", bytes.escape_ascii());
    }
    match whole {
        Ok(loaded) => {
            assert!(loaded.data.bounds().windows(2).all(|b| b[0] < b[1]));
            assert!(loaded.data.labels().iter().all(|label| label.is_finite()));
            true
        }
        Err(message) => {
            assert!(message.starts_with("case"), "{message}");
            false
        }
    }
}
