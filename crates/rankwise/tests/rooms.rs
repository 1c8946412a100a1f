//! Imports go one way: data → metrics → losses → solvers, trees → models → learners → experiment.

use std::fs;
use std::path::Path;

const ROOMS: [&str; 8] =
    ["data", "metrics", "losses", "solvers", "trees", "models", "learners", "experiment"];

fn rust_files(directory: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// The rooms named in `crate::ROOM` or `use crate::{ROOM, …}` outside comments.
fn rooms_used(text: &str) -> Vec<&'static str> {
    let code: String =
        text.lines().filter(|l| !l.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let named = |room: &str| code.contains(&format!("crate::{room}::"));
    let listed = |room: &str| {
        code.split("crate::{").skip(1).any(|rest| {
            let list = rest.split(';').next().unwrap_or_default();
            list.split([',', '{', '}', ':']).any(|word| word.trim() == room)
        })
    };
    ROOMS.into_iter().filter(|room| named(room) || listed(room)).collect()
}

#[test]
fn no_room_imports_from_a_later_one() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut checked = 0;
    for (place, room) in ROOMS.iter().enumerate() {
        let mut files = Vec::new();
        rust_files(&source.join(room), &mut files);
        for file in files {
            for used in rooms_used(&fs::read_to_string(&file).unwrap()) {
                let other = ROOMS.iter().position(|r| *r == used).unwrap();
                assert!(other <= place, "{} imports from {used}, which comes after {room}", file.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "only {checked} imports were found: the test no longer sees them");
}

#[test]
fn both_ways_of_writing_an_import_are_seen() {
    assert_eq!(rooms_used("use crate::models::Model;"), ["models"]);
    assert_eq!(rooms_used("use crate::{card, data::{Dataset, Query}, learners};"), ["data", "learners"]);
    assert_eq!(rooms_used("// use crate::models::Model;\nuse crate::models_of::X;"), [""; 0]);
}
