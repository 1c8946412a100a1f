//! A journal after every kind of end.

use super::*;
use rankwise::clicks::events::{Seal, seal_of, sealed};
use serde_json::json;
use std::sync::mpsc::channel;

const FORM: Form = Form {
    name: "a file of lines",
    begins: |line| line.starts_with(b"{") || line.starts_with(b"\0"),
    is_whole: |line| seal_of(line) == Seal::Intact,
    end_of_row: end_of_line,
    check: |_, _| Ok(()),
    rotates: true,
};

fn opened(path: &Path) -> Opened {
    Journal::open(path, 1 << 20, FORM).unwrap()
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
        let mut kept = whole[..end].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        // A line that lacks nothing but its end gets it.
        if whole.get(end) == Some(&b'\n') {
            kept = end + 1;
        }
        assert_eq!(lines, whole[..kept], "{end}");
        assert_eq!(notes.len(), usize::from(kept < end));
        assert_eq!(append(&journal, line(9)), Ok(()));
        journal.close();
        assert_eq!(std::fs::read(&path).unwrap(), [&whole[..kept], &line(9)].concat());
        let cut = std::fs::read(beside(&path, "cut")).unwrap_or_default();
        let torn = &whole[kept.min(end)..end];
        assert_eq!(cut.strip_suffix(b"\n").unwrap_or_default(), torn, "nothing is thrown away");
    }
}

/// Blocks of a disk may be written in any order: some of the last ones are there, and others are zeros.
#[test]
fn lines_with_holes_are_cut_off_and_all_others_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let whole: Vec<u8> = (0..4).flat_map(line).collect();
    let length = line(0).len();
    for from in 0..whole.len() - 8 {
        let path = directory.path().join(format!("{from}"));
        let mut text = whole.clone();
        text[from..from + 8].fill(0);
        std::fs::write(&path, &text).unwrap();
        let Opened { lines, notes, .. } = opened(&path);
        // Without its end, a line takes the next one with it.
        let hits = |at: usize, number: usize| at / length == number || at + 1 == number * length;
        let is_hit = |number: &usize| (from..from + 8).any(|at| hits(at, *number));
        assert_eq!(
            lines,
            (0..4).filter(|number| !is_hit(number)).flat_map(line).collect::<Vec<u8>>(),
            "{from}"
        );
        assert_eq!((std::fs::read(&path).unwrap(), notes.len()), (lines, 1));
        assert!(std::fs::read(beside(&path, "cut")).unwrap().contains(&0));
    }
}

#[test]
fn lines_that_somebody_has_changed_stay() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let changed = String::from_utf8(line(7)).unwrap().replace("7", "8");
    // Lines of other programs have no checksum.
    for text in [changed.repeat(3), "{\"id\":1}\n".to_owned(), format!("{changed}\n\n")] {
        std::fs::write(&path, &text).unwrap();
        let Opened { journal, lines, notes } = opened(&path);
        assert_eq!((lines.as_slice(), notes.len()), (text.as_bytes(), 0));
        drop(journal);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    assert!(!beside(&path, "cut").exists());
}

#[test]
fn a_file_of_another_kind_is_refused_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    std::fs::write(&path, "1 0 184 1\n1 0 29").unwrap();
    let error = Journal::open(&path, 1 << 20, FORM).err().unwrap().to_string();
    assert!(error.contains("log is not a file of lines, so nothing is written to it"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), b"1 0 184 1\n1 0 29");
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
    let Opened { lines, .. } = Journal::open(&path, 3 * length as u64 + 5, FORM).unwrap();
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
}

/// What is acknowledged is in the file that has the name.
#[cfg(unix)]
#[test]
fn nothing_is_written_to_a_file_that_others_have_replaced_or_changed_unless_it_rotates() {
    let directory = tempfile::tempdir().unwrap();
    let (path, moved) = (directory.path().join("table"), directory.path().join("moved"));
    let Opened { journal, .. } = Journal::open(&path, 1 << 20, Form { rotates: false, ..FORM }).unwrap();
    assert_eq!(append(&journal, line(1)), Ok(()));
    std::fs::rename(&path, &moved).unwrap();
    let refused = |journal: &Journal| append(journal, line(2)).unwrap_err().0;
    assert!(refused(&journal).contains("removed or replaced by somebody else"), "it is gone");
    std::fs::write(&path, line(3)).unwrap();
    assert!(refused(&journal).contains("start the server again"), "another one is there");
    std::fs::rename(&moved, &path).unwrap();
    assert_eq!(append(&journal, line(4)), Ok(()), "it is there again");
    assert_eq!(std::fs::read(&path).unwrap(), [line(1), line(4)].concat());
    // Without the end of the line, ours would become a part of it.
    std::fs::write(&path, [line(1), line(5)].concat().trim_ascii_end()).unwrap();
    assert!(refused(&journal).contains("was changed"), "it is shorter");
    std::fs::write(&path, [line(1), line(5)].concat()).unwrap();
    assert_eq!(append(&journal, line(6)), Ok(()));
}
