use super::*;
use crate::index::{Duplicates, UnknownFields};
use rankwise::watch::{Progress, Silent, Stop, Watch};
use rankwise::{Error, ErrorKind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

fn new_index() -> (tempfile::TempDir, Index) {
    let directory = tempfile::tempdir().unwrap();
    let index = Index::create(directory.path(), &schema()).unwrap();
    (directory, index)
}

#[test]
fn duplicates_are_treated_as_asked() {
    for (duplicates, kept) in [(Duplicates::KeepFirst, "first"), (Duplicates::Replace, "second")] {
        let (_directory, index) = new_index();
        let mut writer = index.writer(WriterOptions { duplicates, ..small() }).unwrap();
        writer.add(titled("a", "first")).unwrap();
        writer.add(titled("b", "other")).unwrap();
        writer.add(titled("a", "second")).unwrap();
        let committed = writer.commit().unwrap();
        let first = duplicates == Duplicates::KeepFirst;
        let counts = (committed.documents, committed.added, committed.replaced, committed.ignored);
        assert_eq!(counts, if first { (2, 2, 0, 1) } else { (2, 3, 1, 0) });
        assert_eq!(content(&index)["a"].source, format!("{{\"title\":\"{kept}\"}}"));
        // A document of an earlier commit is no duplicate.
        writer.add(titled("a", "third")).unwrap();
        assert_eq!(writer.commit().unwrap().replaced, 1);
        assert_eq!(content(&index)["a"].source, "{\"title\":\"third\"}");
    }
    let (_directory, index) = new_index();
    let mut writer = index.writer(small()).unwrap();
    let documents = ["x", "a", "y", "a", "z"].map(|id| Ok(titled(id, id)));
    let error = writer.add_all(documents, &mut Silent::default()).unwrap_err().to_string();
    assert!(error.starts_with("two documents have the id `a`, the first is number 2 of those"), "{error}");
    // A deleted document may come again.
    assert!(writer.delete("a").unwrap() && !writer.delete("a").unwrap());
    writer.add(titled("a", "again")).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 3);
}

#[test]
fn unknown_fields_are_refused_or_counted() {
    let (_directory, index) = new_index();
    let with_colour = || document("a", &[("title", text("wren")), ("colour", text("brown"))]);
    let mut writer = index.writer(small()).unwrap();
    let error = writer.add(with_colour()).unwrap_err().to_string();
    assert!(error.contains("`colour`") && error.contains("title, tag, body"), "{error}");
    drop(writer);
    let options = WriterOptions { unknown_fields: UnknownFields::Ignore, ..small() };
    let mut writer = index.writer(options).unwrap();
    writer.add(with_colour()).unwrap();
    writer.add(document("empty", &[])).unwrap();
    let committed = writer.commit().unwrap();
    assert_eq!(committed.unknown_fields, BTreeMap::from([("colour".to_owned(), 1)]));
    let content = content(&index);
    assert_eq!(
        (content["a"].source.as_str(), content["empty"].source.as_str()),
        ("{\"title\":\"wren\"}", "{}")
    );
}

#[test]
fn documents_that_do_not_fit_are_refused_in_sentences() {
    let (_directory, index) = new_index();
    let mut writer = index.writer(WriterOptions { document_bytes: 100_000, ..small() }).unwrap();
    let long = "x".repeat(70_000);
    let two_prices = document("d", &[("price", Value::Number(1.0)), ("price", Value::Number(2.0))]);
    let cases = [
        (titled("", "x"), "an empty id"),
        (titled(&"i".repeat(513), "x"), "513 bytes"),
        (titled("big", &"word ".repeat(30_000)), "document `big` has 0.1 MiB of text"),
        (
            document("d", &[("price", text("cheap"))]),
            "field `price` of document `d` should be a number, but is `cheap`",
        ),
        (document("d", &[("price", Value::Number(f64::INFINITY))]), "is infinite"),
        (
            document("d", &[("day", text("soon"))]),
            "field `day` of document `d` should be a date such as 2024-05-17",
        ),
        (document("d", &[("tag", text(&long))]), "has 70000 bytes, and a keyword has at most 65530"),
        (two_prices, "has more than one value"),
    ];
    for (document, expected) in cases {
        let error = writer.add(document).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    // They leave nothing behind.
    writer.add(document("d", &[("price", text(" 2.5 ")), ("day", Value::Number(1970.0))])).unwrap();
    writer.add(document("e", &[("price", Value::Number(f64::NAN)), ("day", text(""))])).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 2);
    let content = content(&index);
    assert_eq!(content["d"].numbers, BTreeMap::from([("price".into(), 2.5), ("day".into(), 0.0)]));
    assert!(content["e"].numbers.is_empty());
}

/// Stops after a number of reports.
struct StopAfter {
    reports: Vec<(u64, f64)>,
    most: usize,
    stop: Stop,
}

impl Watch for StopAfter {
    fn step(&mut self, step: Progress<'_>) {
        self.reports.push((step.done, step.value));
        if self.reports.len() == self.most {
            self.stop.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn many_documents_can_be_watched_and_stopped() {
    let (_directory, index) = new_index();
    let mut writer = index.writer(small()).unwrap();
    let mut watch = StopAfter { reports: Vec::new(), most: 3, stop: Stop::default() };
    let documents = (0..100_000).map(|number| Ok(titled(&format!("{number:06}"), "four")));
    let added = writer.add_all(documents, &mut watch).unwrap();
    assert!(added.stopped && added.documents > 0 && added.documents < 100_000);
    assert_eq!(watch.reports.len(), 3);
    assert!(watch.reports.is_sorted());
    assert_eq!(watch.reports[2], (added.documents, added.documents as f64 * 10.0));
    assert_eq!(writer.commit().unwrap().documents, added.documents);
    let first = format!("{:06}", added.documents - 1);
    assert_eq!(content(&index).last_key_value().unwrap().0, &first);
}

#[test]
fn documents_before_an_error_are_added() {
    let (_directory, index) = new_index();
    let mut writer = index.writer(small()).unwrap();
    let documents = (0..3000).map(|number| match number {
        1234 => Err(Error::malformed("line 1235 is not JSON")),
        number => Ok(titled(&format!("{number:06}"), "x")),
    });
    let error = writer.add_all(documents, &mut Silent::default()).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Parse, "line 1235 is not JSON"));
    assert_eq!(writer.commit().unwrap().documents, 1234);
}

#[test]
fn only_one_writer_at_a_time() {
    let (directory, index) = new_index();
    let writer = index.writer(small()).unwrap();
    for other in [&index, &Index::open(directory.path()).unwrap()] {
        let error = other.writer(small()).map(drop).unwrap_err().to_string();
        assert!(error.contains("is being written by another process"), "{error}");
    }
    drop(writer);
    index.writer(small()).unwrap();
    for memory_bytes in [1, 5_000_000_000] {
        let error = index.writer(WriterOptions { memory_bytes, ..small() }).map(drop).unwrap_err();
        assert!(error.to_string().contains("`memory_bytes`"), "{error}");
    }
}

#[test]
fn writers_take_turns() {
    let (directory, index) = new_index();
    for round in 0..3 {
        let other = Index::open(directory.path()).unwrap();
        let mut writer = if round % 2 == 0 { other.writer(small()) } else { index.writer(small()) }.unwrap();
        writer.add(titled("same", &format!("round{round}"))).unwrap();
        writer.add(titled(&format!("of {round}"), "x")).unwrap();
        assert_eq!(writer.commit().unwrap().documents, round + 2);
    }
    assert_eq!(content(&index)["same"].source, "{\"title\":\"round2\"}");
}

/// The files of tantivy's segments.
fn segment_files(path: &std::path::Path) -> Vec<std::ffi::OsString> {
    let names = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.filter(|name| !name.to_string_lossy().starts_with('.')).collect();
    names.sort();
    names
}

#[test]
fn what_was_not_committed_takes_no_space() {
    let (directory, index) = new_index();
    let mut writer = index.writer(small()).unwrap();
    writer.add(titled("first", "x")).unwrap();
    writer.commit().unwrap();
    let before = segment_files(directory.path());
    // More than fits in memory, so that some is on the disk before the commit.
    for number in 0..30 {
        let words: Vec<String> = (0..100_000).map(|word| format!("w{number}x{word}")).collect();
        writer.add(titled(&format!("d{number}"), &words.join(" "))).unwrap();
    }
    assert!(segment_files(directory.path()).len() > before.len(), "nothing was written yet");
    // What a process leaves that is killed now.
    let killed = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(directory.path()).unwrap().map(Result::unwrap) {
        std::fs::copy(entry.path(), killed.path().join(entry.file_name())).unwrap();
    }
    drop(writer);
    assert_eq!(segment_files(directory.path()), before);
    drop(Index::open(killed.path()).unwrap().writer(small()).unwrap());
    assert_eq!(segment_files(killed.path()), before);
    assert_eq!(content(&Index::open(killed.path()).unwrap()), content(&index));
}

#[test]
fn a_view_stays_as_it_is_while_others_write() {
    let (_directory, index) = new_index();
    let mut writer = index.writer(WriterOptions { duplicates: Duplicates::Replace, ..small() }).unwrap();
    let add = |writer: &mut crate::index::Writer, round: u64| {
        for number in 0..10 {
            let cites = ("cites", text(&format!("d{}", (number + round) % 10)));
            writer
                .add(document(&format!("d{number}"), &[("title", text(&format!("round{round}"))), cites]))
                .unwrap();
        }
        writer.add(titled(&format!("new{round}"), "x")).unwrap();
        writer.commit().unwrap();
    };
    add(&mut writer, 0);
    let (view, before) = (index.view().unwrap(), content(&index));
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = Vec::new();
            while !done.load(Ordering::Relaxed) {
                seen.push(consistent(&index));
            }
            seen
        });
        (1..40).for_each(|round| add(&mut writer, round));
        done.store(true, Ordering::Relaxed);
        let seen = reader.join().unwrap();
        assert!(seen.is_sorted() && seen.len() > 2, "{seen:?}");
    });
    assert_eq!(consistent(&index), 39);
    assert_eq!(content_of(&index, &view), before);
    // One document gone of ten, and links of the same commit.
    assert_eq!(view.links.unwrap().load().unwrap().0.ids.len(), 11);
}

/// The round of a view, after checking that all of it is of that round.
fn consistent(index: &Index) -> u64 {
    let view = index.view().unwrap();
    let all = content_of(index, &view);
    let round = all.len() as u64 - 11;
    for number in 0..10 {
        assert!(all[&format!("d{number}")].source.contains(&format!("\"round{round}\"")));
    }
    assert!(all.contains_key(&format!("new{round}")));
    let (links, _) = view.links.unwrap().load().unwrap();
    assert_eq!(links.ids, all.into_keys().collect::<Vec<_>>());
    round
}
