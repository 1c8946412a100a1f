use super::*;
use crate::document::{DocumentOptions, Documents, OnError};
use crate::index::{Duplicates, NewIndex, UnknownFields};
use rankwise::Result;
use rankwise::data::Source;
use rankwise::watch::Silent;
use std::fs;
use std::io::Cursor;
use std::path::Path;

fn documents(text: &str, on_error: OnError) -> Documents {
    let source = Source::new("x.jsonl", Cursor::new(text.to_owned())).unwrap();
    Documents::from_source(source, &DocumentOptions { on_error, ..DocumentOptions::default() }).unwrap()
}

fn new(fields: &[&str], links: &[&str]) -> NewIndex {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    NewIndex {
        fields: names(fields),
        links: names(links),
        writer: WriterOptions { unknown_fields: UnknownFields::Ignore, ..small() },
        ..NewIndex::default()
    }
}

fn create(new: &NewIndex, path: &Path, text: &str) -> Result<u64> {
    let mut documents = documents(text, OnError::Stop);
    new.create(path, &mut documents, &mut Silent::default()).map(|committed| committed.documents)
}

const TWO: &str = "{\"id\": 1, \"title\": \"wren\"}\n{\"id\": 2, \"title\": \"owl\"}\n";

#[test]
fn documents_that_do_not_fit_are_placed_and_can_be_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.idx");
    let text = "{\"id\": 1, \"day\": \"2024-05-17\"}\n{\"id\": 2, \"day\": \"soon\"}\n{\"id\": 3}\n";
    let new = NewIndex { fields: vec!["day:date".into()], ..new(&[], &[]) };
    let error = create(&new, &path, text).unwrap_err().to_string();
    assert!(error.starts_with("x.jsonl:2:1: field `day` of document `2` should be a date"), "{error}");
    assert!(!path.exists());
    let mut skipping = documents(text, OnError::Skip);
    assert_eq!(new.create(&path, &mut skipping, &mut Silent::default()).unwrap().documents, 2);
    let summary = skipping.summary();
    assert_eq!((summary.documents, summary.skipped, &summary.messages), (2, 1, &vec![error]));
    let mut writer = Index::open(&path).unwrap().writer(small()).unwrap();
    let mut all_bad = documents("{\"id\": 4, \"day\": \"never\"}\n", OnError::Skip);
    let error = writer.write_documents(&mut all_bad, &mut Silent::default()).unwrap_err().to_string();
    assert!(
        error.starts_with("there is no document that can be indexed: x.jsonl:1:1: field `day`"),
        "{error}"
    );
}

#[test]
fn duplicates_are_placed_both() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.idx");
    let text = format!("{TWO}\n{{\"id\": \"1\", \"title\": \"again\"}}\n");
    let error = create(&new(&[], &[]), &path, &text).unwrap_err().to_string();
    assert!(
        error.starts_with("x.jsonl:4:1: two documents have the id `1`, the first is at x.jsonl:1;"),
        "{error}"
    );
    // What to do about them is an option of its own.
    let mut skipping = documents(&text, OnError::Skip);
    assert!(new(&[], &[]).create(&path, &mut skipping, &mut Silent::default()).is_err());
    let mut first = new(&[], &[]);
    first.writer.duplicates = Duplicates::KeepFirst;
    assert_eq!(create(&first, &path, &text).unwrap(), 2);
}

#[test]
fn named_fields_must_exist() {
    let directory = tempfile::tempdir().unwrap();
    for (fields, links, expected) in [
        (&["nope"][..], &[][..], "no document has a field `nope`; besides their ids, documents have title"),
        (&[], &["cites"], "no document has a field `cites`; besides their ids, documents have title"),
        (&["title", "a:number"], &["b"], "no document has a field `a` or `b`; besides"),
    ] {
        let path = directory.path().join("x.idx");
        let error = create(&new(fields, links), &path, TWO).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
        assert!(!path.exists());
        fs::create_dir(&path).unwrap();
        create(&new(fields, links), &path, TWO).unwrap_err();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        fs::remove_dir(&path).unwrap();
    }
    let rare = format!("{TWO}{{\"id\": 3, \"cites\": [\"1\"]}}\n");
    assert_eq!(create(&new(&["title"], &["cites"]), &directory.path().join("y.idx"), &rare).unwrap(), 3);
}

#[test]
fn an_index_to_which_nothing_was_committed_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let index = Index::create(path, &schema()).unwrap();
    let mut writer = index.writer(small()).unwrap();
    writer.add(titled("lost", "x")).unwrap();
    let error = create(&new(&[], &[]), path, TWO).unwrap_err().to_string();
    assert!(error.contains("is being written by another process"), "{error}");
    drop(writer);
    fs::write(path.join("notes.txt"), "mine").unwrap();
    // A failure leaves what may be replaced.
    create(&new(&["nope"], &[]), path, TWO).unwrap_err();
    assert_eq!(create(&new(&[], &[]), path, TWO).unwrap(), 2);
    assert_eq!(Index::open(path).unwrap().schema().names(), ["title"]);
    assert!(path.join("notes.txt").exists() && !path.join(".rankwise-new.lock").exists());
    for text in [TWO, "{\"id\": 9}\n"] {
        let error = create(&new(&[], &[]), path, text).unwrap_err().to_string();
        assert!(error.contains("there is already an index in"), "{error}");
    }
    let mut writer = Index::open(path).unwrap().writer(small()).unwrap();
    writer.delete_all().unwrap();
    assert_eq!(writer.commit_and_merge().unwrap().documents, 0);
    drop(writer);
    assert!(create(&new(&[], &[]), path, TWO).unwrap_err().to_string().contains("already an index"));
}
