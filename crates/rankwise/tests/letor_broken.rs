//! Every broken file in testdata/broken/letor is refused with the message beside it.

use rankwise::ErrorKind;
use rankwise::data::{ReadOptions, read};
use std::fs;
use std::path::Path;

const BROKEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/broken/letor");

#[test]
fn broken_files_are_refused_with_the_message_expected() {
    let mut files: Vec<_> = fs::read_dir(BROKEN).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "txt"));
    files.sort();
    assert!(files.len() >= 20, "only {} broken files", files.len());
    let wrong: Vec<String> = files.iter().filter_map(|path| difference(path)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The message, if it is not the one expected.
fn difference(path: &Path) -> Option<String> {
    let expected = fs::read_to_string(path.with_extension("expected")).unwrap();
    let found = match read(path, &ReadOptions::default()) {
        Ok(_) => "it was read".to_owned(),
        Err(error) if error.kind() != ErrorKind::Parse => format!("{:?}: {error}", error.kind()),
        Err(error) => error.to_string().replace(&format!("{BROKEN}/"), ""),
    };
    (found != expected.trim_end()).then(|| format!("expected {expected}found    {found}\n"))
}
