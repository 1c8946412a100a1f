//! Dialects of the text, and results that do not depend on blocks or threads.

use super::*;
use crate::data::{Dataset, Features, Layout, Row};
use crate::rng;
use proptest::prelude::*;
use rand::RngExt;
use std::fmt::Write;
use std::io::Cursor;

fn sources(texts: &[&[u8]]) -> impl Iterator<Item = Result<Source>> {
    let texts: Vec<Vec<u8>> = texts.iter().map(|text| text.to_vec()).collect();
    texts.into_iter().enumerate().map(|(i, text)| Source::new(&format!("{}.txt", i + 1), Cursor::new(text)))
}

fn load(text: &str) -> Loaded {
    read(sources(&[text.as_bytes()]), &ReadOptions::default()).unwrap()
}

fn dense_rows(data: &Dataset) -> Vec<Vec<f32>> {
    (0..data.len()).map(|i| (0..data.width()).map(|c| data.row(i).get(c)).collect()).collect()
}

#[test]
fn every_dialect_of_the_text_is_read() {
    let text = "\u{feff}# a file\r\n\r\n2 qid:a 1:0.5 3:1e-2 #docid = d1\r\n+1\tqid:a\t2:-3 \t \n\n  \n-0.5 qid:b#x\n\
                0 qid:b 3:NULL 2:nan 1:.25 #  spaced  \n1e0 qid:ü 01:7 # caf\u{e9}";
    let Loaded { data, notes, .. } = load(text);
    assert_eq!(notes, [""; 0]);
    assert_eq!(data.labels(), [2.0, 1.0, -0.5, 0.0, 1.0]);
    assert_eq!(data.bounds(), [0, 2, 4, 5]);
    assert_eq!(data.parts().query_ids.iter().collect::<Vec<_>>(), ["a", "b", "ü"]);
    assert_eq!(data.columns().first_id, 1);
    let comments: Vec<_> = (0..5).map(|i| data.comment(i).unwrap()).collect();
    assert_eq!(comments, ["docid = d1", "", "x", "spaced", "caf\u{e9}"]);
    assert_eq!(data.document_id(0), Some("d1"));
    let rows = dense_rows(&data);
    assert_eq!(rows[0], [0.5, 0.0, 0.01]);
    assert_eq!(rows[1], [0.0, -3.0, 0.0]);
    assert_eq!(rows[2], [0.0; 3]);
    assert!(rows[3][0] == 0.25 && rows[3][1].is_nan() && rows[3][2].is_nan());
    assert_eq!(rows[4], [7.0, 0.0, 0.0]);
}

#[test]
fn invalid_utf8_in_comments_is_replaced() {
    let loaded = read(sources(&[b"1 qid:1 1:2 # a\xffb\n"]), &ReadOptions::default()).unwrap();
    assert_eq!(loaded.data.comment(0), Some("a\u{fffd}b"));
    assert_eq!(load("1 qid:1 1:2\n").data.parts().comments, None);
}

#[test]
fn the_first_id_is_detected_or_given() {
    let from_zero = load("1 qid:1 1:1 2:2\n0 qid:1 0:5 2:6\n");
    assert_eq!(from_zero.notes, ["feature ids start at 0"]);
    assert_eq!(from_zero.data.columns().first_id, 0);
    assert_eq!(dense_rows(&from_zero.data), [[0.0, 1.0, 2.0], [5.0, 0.0, 6.0]]);
    let read_from = |first_id, text: &str| {
        read(sources(&[text.as_bytes()]), &ReadOptions { first_id, ..ReadOptions::default() })
    };
    let given = read_from(Some(0), "1 qid:1 1:1 2:2\n").unwrap();
    assert_eq!((dense_rows(&given.data), given.notes), (vec![vec![0.0, 1.0, 2.0]], vec![]));
    let later = read_from(Some(10), "1 qid:1 10:1 12:2\n").unwrap().data;
    assert_eq!((dense_rows(&later), later.columns().name(2)), (vec![vec![1.0, 0.0, 2.0]], "12".to_owned()));
    let error = read_from(Some(1), "1 qid:1 0:1\n").unwrap_err().to_string();
    let told = "1.txt:1:9: feature id `0` is below 1, which was given as the number of the first feature; give a lower \
                one or none";
    assert_eq!(error, told);
}

#[test]
fn the_layout_follows_what_is_not_zero() {
    let layout = |layout, text: &str| {
        let options = ReadOptions { layout, memory_limit: u64::MAX, ..ReadOptions::default() };
        read(sources(&[text.as_bytes()]), &options).unwrap().data.into_parts().features
    };
    let text = "1 qid:1 4:2 2:0\n1 qid:1 1:1\n";
    let dense = Features::dense(4, vec![0.0, 0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
    let sparse =
        Features::Sparse { width: 4, starts: vec![0, 1, 2], columns: vec![3, 0], values: vec![2.0, 1.0] };
    assert_eq!(layout(Layout::Auto, text), dense);
    assert_eq!(layout(Layout::Dense, text), dense);
    assert_eq!(layout(Layout::Sparse, text), sparse);
    let wide = layout(Layout::Auto, "1 qid:1 16777216:2\n0 qid:1 5:0\n");
    let starts = vec![0, 1, 1];
    assert_eq!(
        wide,
        Features::Sparse { width: 1 << 24, starts, columns: vec![(1 << 24) - 1], values: vec![2.0] }
    );
}

#[test]
fn memory_for_what_the_text_does_not_have_is_limited() {
    let refused = |text: &str, layout: Layout| {
        let options = ReadOptions { layout, ..ReadOptions::default() };
        read(sources(&[text.as_bytes()]), &options).err().map(|e| e.to_string())
    };
    let hostile = refused("1 qid:1 16777216:1\n", Layout::Auto).unwrap();
    assert!(hostile.starts_with("1.txt: the highest feature id is 16777216, which makes"), "{hostile}");
    assert!(hostile.contains("may take 16.0 GiB, more than the memory limit of 1.0 GiB"), "{hostile}");
    let rows = "1 qid:1 1000000:1\n".repeat(1500);
    assert_eq!(refused(&rows, Layout::Auto), None);
    let dense = refused(&rows, Layout::Dense).unwrap();
    assert!(
        dense.contains("1500 dense rows of 1000000 columns would take 5.6 GiB for 1500 values"),
        "{dense}"
    );
    let allowed = ReadOptions { memory_limit: 17 << 30, ..ReadOptions::default() };
    assert_eq!(read(sources(&[&b"1 qid:1 16777216:1\n"[..]]), &allowed).unwrap().data.width(), 1 << 24);
}

#[test]
fn bare_carriage_returns_are_refused_and_never_hide_documents() {
    for text in [
        "1 qid:1 1:0.5 # a\r0 qid:1 1:0.25 # b\r2 qid:2 1:1\r",
        "1 qid:1 1:0.5\r0 qid:1 1:0.25\r",
        "# a header\r1 qid:1 1:0.5\r",
        "1 qid:1 1:0.5\r# a comment\n",
        "1 qid:1 1:0.5\r2:0.25\n",
    ] {
        // After other lines, too, which are read on the fast path.
        for before in ["", "1 qid:1 1:0.5 2:0.25 # x\n1 qid:1 1:0.5 2:0.25\n"] {
            let whole = format!("{before}{text}");
            let error = read(sources(&[whole.as_bytes()]), &ReadOptions::default()).unwrap_err().to_string();
            assert!(error.contains("a carriage return in the middle of the line"), "{text:?}: {error}");
        }
    }
    assert_eq!(load("1 qid:1 1:0.5\r\n0 qid:1 1:2 # c\r\r\n").data.len(), 2);
}

#[test]
fn a_wide_line_late_does_not_widen_all_before_it() {
    let mut text = "1 qid:1 1:1 2:2 3:3\n".repeat(50_000);
    text.push_str("1 qid:1 1000000:1\n");
    let data = load(&text).data;
    assert_eq!((data.len(), data.width()), (50_001, 1_000_000));
    assert_eq!(data.row(49_999), Row::Sparse(&[0, 1, 2], &[1.0, 2.0, 3.0]));
    assert_eq!(data.row(50_000), Row::Sparse(&[999_999], &[1.0]));
}

#[test]
fn files_are_joined_and_share_their_first_id_width_and_layout() {
    let texts: [&[u8]; 3] = [b"1 qid:1 1:1\n", b"0 qid:2 0:3 2:4", b"2 qid:3 1:5 # last"];
    let Loaded { data, notes, .. } = read(sources(&texts), &ReadOptions::default()).unwrap();
    assert_eq!(dense_rows(&data), [[0.0, 1.0, 0.0], [3.0, 0.0, 4.0], [0.0, 5.0, 0.0]]);
    assert_eq!((data.bounds(), notes.len(), data.comment(2)), (&[0, 1, 2, 3][..], 1, Some("last")));
    let twice: [&[u8]; 2] = [b"1 qid:1 1:1\n1 qid:2 1:1\n", b"\n1 qid:3 1:1\n0 qid:1 1:2\n"];
    let error = read(sources(&twice), &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("2.txt:3:7: query `1` occurs on line 1 of 1.txt"), "{error}");
    let gathered = read(sources(&twice), &ReadOptions { group: true, ..ReadOptions::default() }).unwrap();
    assert!(gathered.moved);
    assert_eq!(gathered.data.bounds(), [0, 2, 3, 4]);
    assert_eq!(gathered.notes, ["the rows of 1 query were not adjacent and have been gathered"]);
    assert_eq!(dense_rows(&gathered.data), [[1.0], [2.0], [1.0], [1.0]]);
}

#[test]
fn the_first_error_in_the_text_is_reported() {
    let error = |texts: &[&[u8]], block| {
        read_in_blocks(sources(texts), &ReadOptions::default(), block).unwrap_err().to_string()
    };
    let scattered_first: &[u8] = b"1 qid:1 1:1\n1 qid:2 1:1\n1 qid:1 1:1\n1 qid:1 x\n1 qid:1 y\n";
    for block in [1, 20, 1000] {
        assert!(error(&[scattered_first], block).starts_with("1.txt:3:7: query `1` occurs on line 1"));
        assert!(error(&[&scattered_first[36..], b"z"], block).starts_with("1.txt:1:9: expected `id:value`"));
    }
    let mut packed = zstd::encode_all(&b"1 qid:1 1:1\n".repeat(9000)[..], 1).unwrap();
    packed.truncate(packed.len() - 5);
    assert!(error(&[&packed], 100).starts_with("1.txt is truncated zstd data"));
    assert!(error(&[], 100).contains("no files to read"));
    assert!(error(&[b"1 qid:1 1:1", b" \n# nothing\n"], 100).starts_with("2.txt has no documents"));
}

/// Text with everything that may change how a block is read: widths that grow, ids from 0 late, sparse and dense
/// stretches, comments that start late, odd spaces, long and short lines.
fn varied_text(seed: u64, documents: usize) -> String {
    let mut random = rng::stream(seed, &[7]);
    let mut text = String::new();
    let (mut width, mut dense) = (3, true);
    for document in 0..documents {
        if random.random_bool(0.02) {
            width = random.random_range(1..60);
            dense = random.random_bool(0.6);
        }
        write!(text, "{} qid:{}", random.random_range(0..5), document / 7).unwrap();
        for id in u32::from(document * 3 < documents * 2)..width {
            if random.random_bool(if dense { 0.95 } else { 0.05 }) {
                match random.random_range(0..8) {
                    0 => write!(text, " {id}:{}", random.random_range(0..100_000_000)),
                    1 => write!(text, "  {id}:{:e}", random.random::<f32>()),
                    2 => write!(text, "\t{id}:NaN"),
                    3 => write!(text, " {id}:-{}", random.random::<f32>()),
                    _ => write!(text, " {id}:{:.6}", random.random::<f32>()),
                }
                .unwrap();
            }
        }
        text.push_str(match random.random_range(0..20) {
            0 if document > documents / 2 => "# a comment\n",
            1 => "\r\n",
            2 => " \n\n#\n",
            _ => "\n",
        });
    }
    text
}

/// Equal, with missing values equal to each other.
fn assert_same(a: &Loaded, b: &Loaded) {
    let bits = |loaded: &Loaded| {
        let mut parts = loaded.data.clone().into_parts();
        let bits: Vec<u32> = parts.features.values_mut().iter().map(|v| v.to_bits()).collect();
        parts.features.values_mut().fill(0.0);
        (parts, bits, loaded.notes.clone())
    };
    assert!(bits(a) == bits(b), "{a:?}\n{b:?}");
}

#[test]
fn results_do_not_depend_on_blocks_or_threads() {
    for seed in 0..3 {
        let text = varied_text(seed, 300);
        for layout in [Layout::Auto, Layout::Dense, Layout::Sparse] {
            let options = ReadOptions { layout, ..ReadOptions::default() };
            let read = |block| read_in_blocks(sources(&[text.as_bytes()]), &options, block).unwrap();
            let whole = read(1 << 20);
            for block in [1, 7, 64, 300, 1000, 5000] {
                assert_same(&read(block), &whole);
            }
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                assert_same(&pool.install(|| read(100)), &whole);
            }
        }
    }
}

#[test]
fn the_fast_path_agrees_with_the_careful_parser() {
    let text = varied_text(11, 400);
    let data = load(&text).data;
    let (mut document, mut row) = (0, Vec::new());
    for text in text.lines() {
        let parsed = line::parse(text.as_bytes(), Ids::starting_at(None), &mut row).unwrap();
        let Some(parsed) = parsed else { continue };
        assert_eq!(data.labels()[document], parsed.label);
        for &(id, value) in &row {
            let found = data.row(document).get(id as usize);
            assert_eq!(found.to_bits(), value.to_bits(), "document {document}, feature {id}");
        }
        let nonzero = data.row(document).iter().filter(|(_, v)| *v != 0.0).count();
        assert_eq!(nonzero, row.iter().filter(|(_, v)| *v != 0.0).count());
        document += 1;
    }
    assert_eq!(document, data.len());
}

proptest! {
    #[test]
    fn no_bytes_cause_a_panic_in_any_blocks(text in "([ \t0-9.:#qid\r\n-]{0,12}|1 qid:1 |[0-2]:[0-9.]{1,9} |\n){0,40}", block in 1usize..50) {
        let result = |block| read_in_blocks(sources(&[text.as_bytes()]), &ReadOptions::default(), block);
        match (result(block), result(1 << 16)) {
            (Ok(a), Ok(b)) => assert_same(&a, &b),
            (Err(a), Err(b)) => prop_assert_eq!(a.to_string(), b.to_string()),
            (a, b) => prop_assert!(false, "{:?} {:?}", a, b),
        }
    }
}
