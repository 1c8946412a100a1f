//! A mutational fuzzer without special tools: whatever the bytes, the reader answers and never panics.
//!
//! `RANKWISE_FUZZ_CASES=5000000 cargo test --release --test letor_fuzz` looks longer.

use rand::RngExt;
use rankwise::data::{Layout, ReadOptions, read};
use rankwise::rng::{self, Random};
use std::fs;
use std::path::{Path, PathBuf};

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
    let corpus = corpus();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("case.txt");
    let mut random = rng::stream(2026, &[3]);
    let mut accepted = 0;
    for _ in 0..cases {
        let bytes = mutated(&corpus, &mut random);
        accepted += u64::from(survives(&path, &bytes, &mut random));
    }
    // Enough must get through the reader for its later stages to be tried, and not all.
    assert!(accepted > cases / 50 && accepted < cases, "{accepted} of {cases} cases were read");
}

/// Small files, good and broken.
fn corpus() -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(TEST_DATA).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let broken = paths.iter().filter(|path| path.extension().is_some_and(|e| e == "txt"));
    SEEDS.iter().map(|seed| seed.to_vec()).chain(broken.map(|path| fs::read(path).unwrap())).collect()
}

/// A file of the corpus with a few changes: bytes flipped, pieces put in, stretches cut, doubled or taken from
/// another.
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

/// Whether it is read; an error must say something, and what is read must fit together.
fn survives(path: &Path, bytes: &[u8], random: &mut Random) -> bool {
    fs::write(path, bytes).unwrap();
    let options = ReadOptions {
        group: random.random(),
        first_id: [None, Some(0), Some(1)][random.random_range(0..3)],
        layout: [Layout::Auto, Layout::Sparse][random.random_range(0..2)],
        ..ReadOptions::default()
    };
    match read(path, &options) {
        Ok(loaded) => {
            assert!(loaded.data.bounds().windows(2).all(|b| b[0] < b[1]));
            assert!(loaded.data.labels().iter().all(|label| label.is_finite()));
            true
        }
        Err(error) => {
            assert!(error.to_string().len() > 10, "{error}");
            false
        }
    }
}
