//! Any data set in any dialect of LETOR text, plain or compressed, in one or several files, is read back the same.

use proptest::prelude::*;
use rankwise::data::{Layout, ReadOptions, read, read_all};
use std::fs;
use std::path::{Path, PathBuf};

/// The content of a line.
#[derive(Debug, Clone)]
struct Document {
    label: f32,
    features: Vec<(u32, f32)>,
    comment: Option<String>,
}

/// How lines are written.
#[derive(Debug, Clone)]
struct Dialect {
    space: &'static str,
    line_end: &'static str,
    missing: &'static str,
    scientific: bool,
    trailing_space: bool,
    descending: bool,
    filler: &'static str,
    last_line_end: bool,
    mark: bool,
    packing: &'static str,
}

fn documents() -> impl Strategy<Value = Vec<(String, Vec<Document>)>> {
    let value = prop_oneof![
        4 => (0..1_000_000u32).prop_map(|n| n as f32 / 1e6),
        2 => (-1000..1000i32).prop_map(|n| n as f32),
        2 => any::<f32>().prop_filter("finite", |v| v.is_finite()),
        1 => Just(f32::NAN),
    ];
    let label =
        prop_oneof![(0..5u8).prop_map(f32::from), any::<f32>().prop_filter("finite", |v| v.is_finite())];
    let features =
        proptest::collection::btree_map(0..30u32, value, 0..20).prop_map(|map| map.into_iter().collect());
    let comment = proptest::option::of("([!-~é][ -~é]{0,10}[!-~é])?");
    let document = (label, features, comment).prop_map(|(label, features, comment)| Document {
        label,
        features,
        comment,
    });
    let queries =
        proptest::collection::btree_map("[!-\"$-~ü]{1,6}", proptest::collection::vec(document, 1..6), 1..12);
    queries.prop_map(|queries| queries.into_iter().collect())
}

fn dialect() -> impl Strategy<Value = Dialect> {
    let words = (
        proptest::sample::select(vec![" ", "\t", "  ", " \t "]),
        proptest::sample::select(vec!["\n", "\r\n"]),
        proptest::sample::select(vec!["NULL", "NaN", "nan", "NA", "null"]),
        proptest::sample::select(vec!["", "\n", "# nothing\n", " \t\r\n"]),
        proptest::sample::select(vec!["plain", "gzip", "zstd"]),
    );
    (words, any::<[bool; 5]>()).prop_map(|((space, line_end, missing, filler, packing), flags)| Dialect {
        space,
        line_end,
        missing,
        filler,
        packing,
        scientific: flags[0],
        trailing_space: flags[1],
        descending: flags[2],
        last_line_end: flags[3],
        mark: flags[4],
    })
}

impl Dialect {
    fn write(&self, queries: &[(String, Vec<Document>)]) -> Vec<u8> {
        let mut text = String::from(if self.mark { "\u{feff}" } else { "" });
        for (query, documents) in queries {
            text.push_str(self.filler);
            for document in documents {
                self.write_line(&mut text, query, document);
            }
        }
        if !self.last_line_end {
            text.truncate(text.len() - self.line_end.len());
        }
        match self.packing {
            "gzip" => gzip(text.as_bytes()),
            "zstd" => zstd::encode_all(text.as_bytes(), 1).unwrap(),
            _ => text.into_bytes(),
        }
    }

    fn write_line(&self, text: &mut String, query: &str, document: &Document) {
        *text += &format!("{}{}qid:{query}", self.number(document.label), self.space);
        let mut features = document.features.clone();
        if self.descending {
            features.reverse();
        }
        for (id, value) in features {
            *text += &format!("{}{id}:{}", self.space, self.number(value));
        }
        if self.trailing_space {
            *text += self.space;
        }
        if let Some(comment) = &document.comment {
            *text += &format!("#{}{comment}", self.space);
        }
        *text += self.line_end;
    }

    fn number(&self, value: f32) -> String {
        match value {
            _ if value.is_nan() => self.missing.to_owned(),
            _ if self.scientific => format!("{value:e}"),
            _ => value.to_string(),
        }
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    std::io::copy(&mut flate2::read::GzEncoder::new(text, flate2::Compression::fast()), &mut packed).unwrap();
    packed
}

/// Reads the files and compares every label, value, query and comment with what was written.
fn check(paths: &[PathBuf], written: &[(String, Vec<Document>)], layout: Layout) {
    let loaded = read_all(paths, &ReadOptions { layout, ..ReadOptions::default() }).unwrap();
    let data = loaded.data;
    let from_zero = written.iter().flat_map(|(_, d)| d).any(|d| d.features.iter().any(|f| f.0 == 0));
    assert_eq!(data.columns().first_id, u32::from(!from_zero));
    assert_eq!(loaded.notes.contains(&"feature ids start at 0".to_owned()), from_zero);
    assert_eq!(data.query_count(), written.len());
    let mut row = 0;
    for (query, (id, documents)) in data.queries().zip(written) {
        assert_eq!((query.id(), query.len()), (&**id, documents.len()));
        for document in documents {
            assert_eq!(data.labels()[row].to_bits(), document.label.to_bits());
            assert_eq!(data.comment(row).unwrap_or(""), document.comment.as_deref().unwrap_or(""));
            let mut expected = vec![0.0f32; data.width()];
            for &(id, value) in &document.features {
                expected[(id - data.columns().first_id) as usize] = value;
            }
            let same = |(c, v): (usize, &f32)| {
                (v.is_nan() && data.row(row).get(c).is_nan()) || *v == data.row(row).get(c)
            };
            assert!(expected.iter().enumerate().all(same), "row {row}: {:?} for {expected:?}", data.row(row));
            row += 1;
        }
    }
}

fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_dialect_is_read(
        written in documents(), first in dialect(), second in dialect(), split in 0.0..1.0f64, pick in 0..3usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let layout = [Layout::Auto, Layout::Dense, Layout::Sparse][pick];
        let whole = write_file(folder.path(), "whole.txt", &first.write(&written));
        check(&[whole], &written, layout);
        let middle = (split * written.len() as f64) as usize;
        if middle > 0 {
            let one = write_file(folder.path(), "one.txt", &first.write(&written[..middle]));
            let two = write_file(folder.path(), "two.txt", &second.write(&written[middle..]));
            check(&[one, two], &written, layout);
        }
    }
}

#[test]
fn errors_name_files_that_cannot_be_opened_or_read() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| read(path, &ReadOptions::default()).unwrap_err();
    let absent = folder.path().join("absent.txt");
    assert!(error(&absent).to_string().starts_with(&format!("cannot open {}: ", absent.display())));
    assert_eq!(error(folder.path()).kind(), rankwise::ErrorKind::Io);
}
