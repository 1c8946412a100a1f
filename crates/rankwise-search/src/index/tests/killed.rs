//! Processes that are killed, may not write, or have no room: this test starts itself again.

use super::*;
use crate::index::Duplicates;
use rankwise::watch::Silent;
use std::env;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

const TASK: &str = "RANKWISE_TEST_TASK";
const PLACE: &str = "RANKWISE_TEST_PLACE";

fn again(program: &[&str], task: &str, path: &Path) -> Child {
    let this = env::current_exe().unwrap();
    let arguments = ["--exact", "index::tests::killed::child", "--ignored", "--nocapture"];
    let mut command = match program {
        [] => Command::new(this),
        [program, rest @ ..] => {
            let mut command = Command::new(program);
            command.args(rest).arg(this);
            command
        }
    };
    command
        .args(arguments)
        .env(TASK, task)
        .env(PLACE, path)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn succeeds(child: Child) -> String {
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
#[ignore = "what other tests start"]
fn child() {
    let path = env::var(PLACE).unwrap();
    let index = Index::open(path).unwrap();
    match env::var(TASK).unwrap().as_str() {
        "commit for ever" => commit_for_ever(&index),
        "fill the disk" => fill_the_disk(&index),
        "only read" => only_read(&index),
        "die before the first commit" => die(&index),
        "use memory" => use_memory(&index),
        task => panic!("{task}"),
    }
}

const NEW: u64 = 40;
const SAME: u64 = 25;

/// Each commit adds documents, and replaces others by such that name the commit.
fn commit_for_ever(index: &Index) {
    let first = round(index);
    let mut writer = index.writer(small()).unwrap();
    for round in first + 1.. {
        for number in 0..NEW {
            writer
                .add(document(
                    &format!("{round}-{number}"),
                    &[("body", text("new")), ("cites", text("same-0"))],
                ))
                .unwrap();
        }
        for number in 0..SAME {
            writer.add(titled(&format!("same-{number}"), &format!("round{round}"))).unwrap();
        }
        writer.commit().unwrap();
    }
}

/// The number of commits that an index has seen, after checking that nothing of another is there.
fn round(index: &Index) -> u64 {
    let view = index.view().unwrap();
    let all = content_of(index, &view);
    let round = (all.len() as u64).saturating_sub(SAME) / NEW;
    assert_eq!(all.len() as u64, if round == 0 { 0 } else { NEW * round + SAME });
    for number in 0..SAME.min(all.len() as u64) {
        assert!(all[&format!("same-{number}")].source.contains(&format!("round{round}\"")));
    }
    if round > 0 {
        let (links, _) = view.links.unwrap().load().unwrap();
        assert_eq!(u64::from(links.get("same-0").unwrap().in_links), NEW * round);
    }
    round
}

#[test]
fn a_process_that_is_killed_leaves_its_last_commit() {
    let directory = tempfile::tempdir().unwrap();
    let index = Index::create(directory.path(), &schema()).unwrap();
    let mut rounds = vec![0];
    let last = || round(&Index::open(directory.path()).unwrap());
    // Moments that fall on all parts of a commit, once there is a new one.
    for number in 0..12 {
        let mut child = again(&[], "commit for ever", directory.path());
        while last() == rounds[number as usize] {
            assert!(child.try_wait().unwrap().is_none(), "it has ended");
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(7 * number));
        child.kill().unwrap();
        child.wait().unwrap();
        rounds.push(last());
    }
    assert!(rounds.is_sorted(), "{rounds:?}");
    // Its lock and its files are no obstacle.
    let mut writer = index.writer(small()).unwrap();
    writer.add(titled("last", "x")).unwrap();
    assert_eq!(writer.commit_and_merge().unwrap().documents, NEW * rounds[12] + SAME + 1);
    let files: Vec<String> = fs::read_dir(directory.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    assert!(files.len() <= 10, "{files:?}");
}

/// Of a limit on the size of files, which is what a full disk looks like to a program.
fn fill_the_disk(index: &Index) {
    let mut writer = index.writer(WriterOptions { duplicates: Duplicates::Replace, ..small() }).unwrap();
    writer.add(titled("a", "before")).unwrap();
    writer.commit().unwrap();
    let body = |number: u64| {
        (0..200)
            .map(|word| format!("{:x} ", (number * 200 + word).wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            .collect()
    };
    let documents =
        (0..8_000).map(|number| Ok(document(&format!("{number}"), &[("body", Value::Text(body(number)))])));
    let added = writer.add_all(documents, &mut Silent::default()).map(drop);
    let error = added.and_then(|()| writer.commit().map(drop)).unwrap_err().to_string();
    assert!(error.starts_with("cannot write the index") && error.contains("File too large"), "{error}");
    for refused in [writer.add(titled("b", "x")), writer.commit().map(drop), writer.delete("a").map(drop)] {
        assert!(refused.unwrap_err().to_string().contains("failed before"));
    }
    writer.rollback().unwrap();
    writer.add(titled("b", "after")).unwrap();
    assert_eq!(writer.commit().unwrap().documents, 2);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_loses_nothing_that_was_committed() {
    let directory = tempfile::tempdir().unwrap();
    let index = Index::create(directory.path(), &schema()).unwrap();
    let limited = ["sh", "-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\""];
    succeeds(again(&limited, "fill the disk", directory.path()));
    assert_eq!(content(&index).into_keys().collect::<Vec<_>>(), ["a", "b"]);
}

/// After segments have been written.
fn die(index: &Index) {
    let mut writer = index.writer(small()).unwrap();
    let body = |number: u64| (0..200).map(|word| format!("{:x} ", number * 200 + word)).collect();
    let documents =
        (0..10_000).map(|number| Ok(document(&format!("{number}"), &[("body", Value::Text(body(number)))])));
    writer.add_all(documents, &mut Silent::default()).unwrap();
    std::process::abort();
}

#[test]
fn a_first_index_that_was_killed_is_no_obstacle() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    Index::create(path, &schema()).unwrap();
    assert!(!again(&[], "die before the first commit", path).wait().unwrap().success());
    let files = || fs::read_dir(path).unwrap().count();
    let left = files();
    let source = rankwise::data::Source::new("x.jsonl", std::io::Cursor::new("{\"id\": 1, \"a\": \"b\"}\n"));
    let mut documents = crate::Documents::from_source(source.unwrap(), &Default::default()).unwrap();
    crate::NewIndex::default().create(path, &mut documents, &mut Silent::default()).unwrap();
    assert!(files() < left, "{left} files before, {} now", files());
}

fn only_read(index: &Index) {
    assert_eq!(content(index).len(), 1);
    let error = index.writer(small()).map(drop).unwrap_err().to_string();
    assert!(error.starts_with("cannot write the index") && error.contains("Permission denied"), "{error}");
    let inside = index.path().join("inside");
    let error = Index::create(&inside, &schema()).map(drop).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot create the directory") && error.contains("Permission denied"),
        "{error}"
    );
}

#[test]
#[cfg(target_os = "linux")]
fn an_index_can_be_read_where_nothing_can_be_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let index = Index::create(path, &schema()).unwrap();
    let mut writer = index.writer(small()).unwrap();
    writer.add(titled("a", "x")).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let allow = |mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    for lock in [true, false] {
        if !lock {
            fs::remove_file(path.join(".tantivy-meta.lock")).unwrap();
        }
        allow(0o555);
        // Root may write anyway, so it becomes nobody.
        let is_root = fs::write(path.join("probe"), "").is_ok();
        let nobody = ["setpriv", "--reuid=65534", "--clear-groups"];
        succeeds(again(if is_root { &nobody } else { &[] }, "only read", path));
        allow(0o755);
    }
}

/// 90 MB of different words, with 20 MB of memory. Prints the peak for the first third and for all of it.
fn use_memory(index: &Index) {
    let before = memory();
    let (done, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let above = || (peak.load(Ordering::Relaxed) - before) >> 10;
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                peak.fetch_max(memory(), Ordering::Relaxed);
                thread::sleep(Duration::from_millis(2));
            }
        });
        add_much(index, 0..33_000);
        let first = above();
        let added = add_much(index, 33_000..100_000);
        done.store(true, Ordering::Relaxed);
        println!("text {} first {first} memory {}", added >> 20, above());
    });
}

fn add_much(index: &Index, numbers: Range<u64>) -> u64 {
    let mut writer = index.writer(small()).unwrap();
    let body = |number: u64| {
        let word = |word: u64| format!("{:07x} ", (number * 97 + word * word) % 200_000);
        (0..110).map(word).collect::<String>()
    };
    let documents =
        numbers.map(|number| Ok(document(&format!("{number}"), &[("body", Value::Text(body(number)))])));
    let added = writer.add_all(documents, &mut Silent::default()).unwrap();
    writer.commit().unwrap();
    added.bytes
}

/// Memory of this process, without files that are mapped, in KiB.
fn memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn memory_is_bounded() {
    let directory = tempfile::tempdir().unwrap();
    Index::create(directory.path(), &schema()).unwrap();
    let said = succeeds(again(&[], "use memory", directory.path()));
    let words: Vec<&str> = said.split_whitespace().collect();
    let after =
        |name: &str| words[words.iter().position(|&word| word == name).unwrap() + 1].parse::<u64>().unwrap();
    // Memory does not grow with the text. How much more the allocator keeps than the option names depends on the machine.
    assert!(after("text") >= 50, "{said}");
    assert!(after("memory") < 2 * after("first"), "{said}");
}
