//! Every broken file of `testdata/broken/{csv,trec,scores}` is refused with the message beside it.

use rankwise::data::{ReadOptions, read, read_scores, trec};
use std::fs;
use std::path::{Path, PathBuf};

/// Reads every file of a folder and compares the error with the one expected.
fn walk(folder: &str, read: impl Fn(&Path) -> Option<rankwise::Error>) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/broken")).join(folder);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e != "expected"));
    files.sort();
    assert!(files.len() >= 8, "only {} broken files in {}", files.len(), folder.display());
    let mut wrong = Vec::new();
    for path in files {
        let expected = fs::read_to_string(path.with_extension("expected")).unwrap();
        let found = read(&path).map_or("no error".to_owned(), |e| e.to_string());
        let found = found.replace(&format!("{}/", folder.display()), "");
        if found != expected.trim_end() {
            wrong.push(format!("expected {expected}   found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn broken_tables() {
    walk("csv", |path| read(path, &ReadOptions::default()).err());
}

#[test]
fn broken_trec_files() {
    walk("trec", |path| match path.extension().is_some_and(|e| e == "run") {
        true => trec::read_run(path).err(),
        false => trec::read_qrels(path).err(),
    });
}

#[test]
fn broken_score_files() {
    walk("scores", |path| read_scores(path, 3).err());
}

#[test]
fn reading_stops_at_a_line_that_is_too_long() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.run");
    fs::write(&path, format!("301 Q0 {} 1 1 me\n", "d".repeat(70_000))).unwrap();
    let error = trec::read_run(&path).unwrap_err().to_string();
    assert!(error.ends_with("x.run:1:1: the line is longer than 65536 bytes"), "{error}");
}

#[test]
fn columns_that_are_named_must_exist() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    fs::write(&path, "grade,query,url,a\n1,7,u1,0.5\n").unwrap();
    let mut options = ReadOptions::default();
    (options.columns.label, options.columns.query) = (Some("grade".into()), Some("query".into()));
    let error = read(&path, &options).unwrap_err().to_string();
    assert!(error.contains("column `url`"), "without being named, it is a feature: {error}");
    options.columns.document = Some("uri".into());
    let error = read(&path, &options).unwrap_err().to_string();
    assert!(error.contains("no column `uri` for the document id; did you mean `url`?"), "{error}");
    options.columns.document = Some("url".into());
    assert_eq!(read(&path, &options).unwrap().data.document_id(0), Some("u1"));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    let error = read(
        Path::new(file!()),
        &ReadOptions { format: Some(rankwise::data::Format::Parquet), ..ReadOptions::default() },
    );
    assert!(error.unwrap_err().to_string().contains("Cargo feature `parquet`"));
}
