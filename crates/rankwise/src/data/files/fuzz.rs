//! Readers are given damaged copies of valid files. They must not panic, and errors must point to a place that exists.
//!
//! `RANKWISE_FUZZ_CASES` sets the number of cases for each reader.

use super::source::Source;
use super::{ReadOptions, delimited, scores, trec};
use crate::data::fusion::{FusionMethod, ScoreNormalization, fuse};
use crate::error::Result;
use crate::rng;
use rand::RngExt;

/// Pieces inserted into files.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"\"\"",
    b",",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"-",
    b"+",
    b".",
    b"e",
    b"1e99",
    b"1e-99",
    b"nan",
    b"inf",
    b"NULL",
    b"0",
    b"99999999999999999999",
    b"#",
    b"label",
    b"qid",
    b"weight",
    b"position",
    b"docid",
    b"f1",
];

/// The number of cases: what `RANKWISE_FUZZ_CASES` says, or `usual`.
pub(crate) fn cases(usual: u64) -> u64 {
    std::env::var("RANKWISE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// A copy of `seed` with a few bytes removed, repeated, flipped or replaced by one of the `pieces`.
pub(crate) fn damaged(seed: &[u8], pieces: &[&[u8]], random: &mut impl RngExt) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..random.random_range(1..6) {
        let at = random.random_range(0..=bytes.len());
        let to = random.random_range(at..=bytes.len().min(at + 12));
        match random.random_range(0..6) {
            // Rarely, because a truncated file is soon refused.
            0 if random.random_range(0..4) == 0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let copy = bytes[at..to].to_vec();
                let place = random.random_range(0..=bytes.len());
                bytes.splice(place..place, copy);
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            _ => {
                let piece = pieces[random.random_range(0..pieces.len())];
                bytes.splice(at..to, piece.iter().copied());
            }
        }
    }
    bytes
}

/// Runs `read` on damaged copies of `seeds`. Some must be accepted and some refused.
fn fuzz<T>(stream: u64, seeds: &[&str], read: impl Fn(Source) -> Result<T>) {
    let mut random = rng::stream(11, &[stream]);
    let (mut accepted, mut refused) = (0u64, 0u64);
    for case in 0..cases(50_000) {
        let bytes = damaged(seeds[case as usize % seeds.len()].as_bytes(), PIECES, &mut random);
        let source = Source::new("x", std::io::Cursor::new(bytes.clone()));
        match source.and_then(&read) {
            Ok(_) => accepted += 1,
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                assert!(message.len() < 800 && !message.contains(char::is_control), "{message:?}");
                check_place(&error, &bytes);
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}

fn check_place(error: &crate::Error, bytes: &[u8]) {
    let Some(place) = error.place() else { return };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let line = text.split(|b| *b == b'\n').nth(place.line as usize - 1);
    let exists = line.is_some_and(|line| (1..=line.len() as u64 + 1).contains(&place.column));
    assert!(exists, "{error} in {:?}", String::from_utf8_lossy(bytes));
}

#[test]
fn damaged_tables_never_cause_a_panic() {
    let seeds = [
        "label,qid,docid,weight,position,f1,f2\n1,7,x,1,1,0.5,2\n0,7,\"y, \"\"z\"\"\n\",1,2,,1e-3\n2,8,,0.5,,NaN,-4\n",
        "qid,label,bm25\n\"a\",1,0.5\r\n\"a\",0,NULL\r\n\r\n\"b\",2,7\r\n",
    ];
    fuzz(1, &seeds, |source| delimited::read([Ok(source)].into_iter(), b',', &ReadOptions::default()));
    let tabs: Vec<String> = seeds.iter().map(|seed| seed.replace(',', "\t")).collect();
    let tabs: Vec<&str> = tabs.iter().map(String::as_str).collect();
    let options = ReadOptions { group: true, ..ReadOptions::default() };
    fuzz(2, &tabs, |source| delimited::read([Ok(source)].into_iter(), b'\t', &options));
}

#[test]
fn damaged_judgements_and_runs_never_cause_a_panic() {
    let seeds =
        ["301 0 FBIS3-1 1\n301 0 FBIS3-2 -1\n302 0 FBIS3-1 0\n\n301 0 d 2\n", "1\t0\td\t3\r\n2 0 e 0"];
    fuzz(3, &seeds, trec::qrels_from);
    let seeds = ["301 Q0 d1 1 2.5 me\n301 Q0 d2 2 -1e-3 me\n302 Q0 d1 1 7 me\n", "1\tQ0\td\t1\t.5\tme\r\n"];
    fuzz(4, &seeds, trec::run_from);
}

#[test]
fn damaged_runs_are_fused_or_refused() {
    let good = "301 Q0 d1 1 2.5 me\n301 Q0 d2 2 -1e-3 me\n302 Q0 d1 1 7 me\n";
    let source = Source::new("x", std::io::Cursor::new(good.as_bytes().to_vec())).unwrap();
    let other = trec::run_from(source).unwrap();
    let normalizations = [
        ScoreNormalization::None,
        ScoreNormalization::MinMax,
        ScoreNormalization::Max,
        ScoreNormalization::Sum,
        ScoreNormalization::ZScore,
        ScoreNormalization::Rank,
    ];
    let seeds = [good, "301\tQ0\td3\t1\t1e308\tme\r\n301 Q0 d4 2 -1e308 me\n"];
    fuzz(6, &seeds, |source| {
        let runs = [trec::run_from(source)?, other.clone()];
        let methods = normalizations.map(FusionMethod::CombMnz);
        for method in methods.into_iter().chain([FusionMethod::Rrf { k: 60.0 }]) {
            let fused = fuse(&runs, method, Some(3), "f")?.run;
            let scores = fused.topics.iter().flat_map(|topic| &topic.values);
            assert!(scores.clone().all(|score| score.is_finite()), "{method:?}");
        }
        Ok(())
    });
}

#[test]
fn damaged_scores_never_cause_a_panic() {
    fuzz(5, &["0.5\n-1e-3\n7\n\n", "1\r\n2\r\n3"], |source| scores::scores_from(source, 3));
}
