//! A journal after every kind of end.

use super::*;
use rankwise::clicks::events::{Seal, seal_of, sealed};
use serde_json::json;
use std::sync::mpsc::channel;

fn is_broken(line: &[u8]) -> bool {
    seal_of(line) == Seal::Broken
}

fn opened(path: &Path) -> Opened {
    Journal::open(path, 1 << 20, is_broken, true).unwrap()
}

/// Appends a line and waits for what becomes of it.
fn append(journal: &Journal, line: Vec<u8>) -> Written {
    let (sender, receiver) = channel();
    journal.append(Entry { line, sync: true, done: Box::new(move |written| sender.send(written).unwrap()) });
    receiver.recv().unwrap()
}

fn line(number: usize) -> Vec<u8> {
    sealed(&json!({ "number": number, "text": "a\nb" })).unwrap()
}

#[test]
fn a_file_that_ends_anywhere_is_cut_back_to_whole_lines() {
    let directory = tempfile::tempdir().unwrap();
    let whole: Vec<u8> = (0..4).flat_map(line).collect();
    for end in 0..=whole.len() {
        let path = directory.path().join(format!("{end}"));
        std::fs::write(&path, &whole[..end]).unwrap();
        let Opened { journal, lines, notes } = opened(&path);
        let kept = whole[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        assert_eq!(lines, whole[..kept], "{end}");
        assert_eq!(notes.len(), usize::from(kept < end));
        assert_eq!(append(&journal, line(9)), Ok(()));
        journal.close();
        assert_eq!(std::fs::read(&path).unwrap(), [&whole[..kept], &line(9)].concat());
    }
}

#[test]
fn last_lines_that_are_damaged_are_cut_off_and_others_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let mut text: Vec<u8> = (0..4).flat_map(line).collect();
    let length = line(0).len();
    // Blocks of a disk may be written in any order: the end of the last line is there, its beginning is not.
    text[3 * length..3 * length + 8].fill(0);
    std::fs::write(&path, &text).unwrap();
    let Opened { lines, notes, .. } = opened(&path);
    assert_eq!((lines.len(), notes.len()), (3 * length, 1));
    // Lines of other programs have no checksum.
    std::fs::write(&path, "{\"id\":1}\n").unwrap();
    let found = opened(&path);
    assert_eq!((found.lines.as_slice(), found.notes.len()), (&b"{\"id\":1}\n"[..], 0));
}

#[test]
fn lines_of_many_threads_are_whole_and_in_the_order_of_each() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let journal = opened(&path).journal;
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let journal = &journal;
            scope.spawn(move || {
                (0..50).for_each(|number| assert_eq!(append(journal, line(thread * 1000 + number)), Ok(())));
            });
        }
    });
    // What is acknowledged is there without closing.
    let text = std::fs::read(&path).unwrap();
    let mut last = [None; 8];
    for found in text.split_inclusive(|byte| *byte == b'\n') {
        assert_eq!(seal_of(found), Seal::Intact);
        let value: serde_json::Value = serde_json::from_slice(found).unwrap();
        let number = value["number"].as_u64().unwrap() as usize;
        assert!(last[number / 1000] < Some(number));
        last[number / 1000] = Some(number);
    }
    assert_eq!(last, std::array::from_fn(|thread| Some(thread * 1000 + 49)));
}

#[test]
fn only_the_end_of_a_long_file_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let text: Vec<u8> = (0..100).flat_map(line).collect();
    std::fs::write(&path, &text).unwrap();
    let length = line(99).len();
    let Opened { lines, .. } = Journal::open(&path, 3 * length as u64 + 5, is_broken, true).unwrap();
    assert_eq!(lines, (97..100).flat_map(line).collect::<Vec<u8>>());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let journal = opened(Path::new("/dev/full")).journal;
    for _ in 0..3 {
        let NotWritten(why) = append(&journal, line(1)).unwrap_err();
        assert!(why.contains("cannot write to /dev/full: No space left on device"), "{why}");
        assert!(journal.is_failing());
    }
    journal.close();
    assert!(append(&journal, line(1)).is_err());
}

#[cfg(unix)]
#[test]
fn a_file_that_is_moved_away_is_followed_by_another() {
    let directory = tempfile::tempdir().unwrap();
    let (path, moved) = (directory.path().join("log"), directory.path().join("log.1"));
    let Opened { journal, .. } = opened(&path);
    assert_eq!(append(&journal, line(1)), Ok(()));
    std::fs::rename(&path, &moved).unwrap();
    assert_eq!((append(&journal, line(2)), append(&journal, line(3))), (Ok(()), Ok(())));
    // What stands there already is gone on with, without the line that it lacks the end of.
    std::fs::rename(&path, directory.path().join("log.2")).unwrap();
    std::fs::write(&path, [line(7), line(8)[..5].to_vec()].concat()).unwrap();
    assert_eq!(append(&journal, line(4)), Ok(()));
    journal.close();
    let text = |name: &str| std::fs::read(directory.path().join(name)).unwrap();
    assert_eq!((text("log.1"), text("log.2")), (line(1), [line(2), line(3)].concat()));
    assert_eq!(text("log"), [line(7), line(4)].concat());
    // Another that must not rotate writes on.
    let path = directory.path().join("table");
    let Opened { journal, .. } = Journal::open(&path, 1 << 20, is_broken, false).unwrap();
    std::fs::rename(&path, &moved).unwrap();
    assert_eq!(append(&journal, line(5)), Ok(()));
    assert!(!path.exists() && std::fs::read(&moved).unwrap() == line(5));
}
