//! Training in several processes: the same bytes, whatever happens to them.

use crate::place::{Place, text};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Synthetic data.
fn place() -> Place {
    let place = Place::new();
    place.ok("synth --shape mslr --queries 60 --documents 20 --features 12 -o all.txt");
    place
}

const TRAIN: &str =
    "train lambda-mart --set iterations=12 --set num_leaves=7 --train all.txt --valid all.txt";

#[test]
fn the_model_is_the_same_for_any_number_of_workers() {
    let place = place();
    let alone = place.ok(&format!("{TRAIN} -o alone.json"));
    for workers in [1, 2, 3, 7] {
        let printed = place.ok(&format!("{TRAIN} --workers {workers} -o divided.json"));
        assert!(place.bytes("divided.json") == place.bytes("alone.json"), "{workers} workers");
        assert_eq!(printed.replace("divided.json", "alone.json"), alone, "{workers} workers");
    }
    let (_, told) = place.both(&format!("{TRAIN} --workers 2 -o m.json"));
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("the training data is 1 file for 2 workers"), "{told}");
    assert!(told.contains("60 of 60 validation queries are also training queries"), "{told}");
    let json = |arguments: &str| {
        let mut value = place.json(&format!("{TRAIN} --json -o m.json {arguments}"));
        value.as_object_mut().unwrap().remove("model");
        value
    };
    assert_eq!(json(""), json("--workers 2 --threads 2"));
}

/// The processes that a process has started and that are alive.
#[cfg(target_os = "linux")]
fn children(of: &Child) -> Vec<u32> {
    let output = Command::new("ps").args(["-o", "pid=", "--ppid", &of.id().to_string()]).output().unwrap();
    text(&output.stdout).split_whitespace().map(|id| id.parse().unwrap()).collect()
}

#[cfg(target_os = "linux")]
fn kill(signal: &str, id: u32) {
    // It may have ended just before.
    let _ = Command::new("kill").args([signal, &id.to_string()]).stderr(Stdio::null()).status().unwrap();
}

#[cfg(target_os = "linux")]
fn start(place: &Place, arguments: &str) -> Child {
    let mut command = place.command(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until `ready`, a minute at most.
#[cfg(target_os = "linux")]
fn wait(what: &str, mut ready: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !ready() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn killing_workers_does_not_change_the_model() {
    let place = place();
    let train = TRAIN.replace("iterations=12", "iterations=30");
    place.ok(&format!("{train} -o alone.json"));
    let mut hits = 0;
    for time in 0..20 {
        let driver = start(&place, &format!("{train} --workers 2 -o divided.json"));
        wait("workers", || children(&driver).len() == 2);
        std::thread::sleep(Duration::from_millis(time * 17));
        if let Some(&worker) = children(&driver).get(time as usize % 2) {
            kill("-KILL", worker);
        }
        let output = driver.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let told = text(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
        if told.contains("1 worker was lost") {
            hits += 1;
            assert!(
                told.contains(" was lost, and another one takes its place: its process ended with"),
                "{told}"
            );
        }
        assert!(place.bytes("divided.json") == place.bytes("alone.json"), "kill {time}");
    }
    // A training that was faster than the killer is none the worse.
    assert!(hits > 0, "{hits}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_driver_that_was_killed_resumes_from_its_checkpoint() {
    let place = place();
    let train = TRAIN.replace("iterations=12", "iterations=60");
    place.ok(&format!("{train} -o alone.json"));
    let divided = format!("{train} --checkpoint state.json --checkpoint-every 1 -o divided.json");
    let mut driver = start(&place, &format!("{divided} --workers 2"));
    // The first write has no trees.
    wait("the checkpoint", || place.path("state.json").exists() && place.bytes("state.json").len() > 2000);
    let workers = children(&driver);
    driver.kill().unwrap();
    driver.wait().unwrap();
    assert!(!place.path("divided.json").exists());
    let alive = |id: &u32| std::path::Path::new(&format!("/proc/{id}")).exists();
    wait("the end of the workers", || !workers.iter().any(alive));
    // Another number of workers may go on.
    place.ok(&format!("{divided} --workers 3"));
    assert!(place.bytes("divided.json") == place.bytes("alone.json"));
    assert!(!place.path("state.json").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_stops_all_and_keeps_the_model_so_far() {
    let place = place();
    let driver = start(
        &place,
        "train lambda-mart --train all.txt --set iterations=1000000 --workers 2 --checkpoint s.json \
         --checkpoint-every 1 -o m.json",
    );
    wait("the first round", || place.path("s.json").exists() && place.bytes("s.json").len() > 2000);
    kill("-INT", driver.id());
    let output = driver.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let inspected = place.json("inspect m.json --json");
    assert_eq!(inspected["record"]["outcome"], "interrupted");
    let rounds = inspected["record"]["rounds"].as_u64().unwrap();
    place.ok(&format!("train lambda-mart --train all.txt --set iterations={rounds} -o alone.json"));
    let trees = |name: &str| place.json(&format!("inspect {name} --json"))["model"].clone();
    assert_eq!(trees("m.json"), trees("alone.json"));
}

#[test]
fn what_one_process_notes_about_the_data_is_noted_with_workers() {
    let place = Place::new();
    place.write("apart.txt", "1 qid:1 1:0.5\n0 qid:2 1:0.1\n0 qid:1 1:0.2\n1 qid:2 1:0.4\n");
    place.write("more.txt", "1 qid:1 1:0.9\n0 qid:3 1:0.1\n");
    let notes = |arguments: &str| {
        let (_, told) = place.both(&format!("train regression --group -o m.json --train {arguments}"));
        told.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let one_file = "note: the rows of 2 queries were not adjacent and have been gathered";
    assert!(notes("apart.txt").contains(one_file) && notes("apart.txt --workers 2").contains(one_file));
    let told = notes("apart.txt more.txt --workers 2");
    assert!(told.contains("note: apart.txt: the rows of 2 queries were not adjacent"), "{told}");
    assert!(
        told.contains("note: the rows of 1 query were in several files and have been gathered"),
        "{told}"
    );
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_before_anyone_waits_for_it() {
    let place = place();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let error = place.fails("train lambda-mart --train pipe --workers 2 -o m.json");
    let expected =
        "pipe is a pipe or a device, which cannot be divided among workers; write the data to a file";
    assert!(error.split_whitespace().collect::<Vec<_>>().join(" ").contains(expected), "{error}");
}

#[test]
fn mistakes_are_explained() {
    let place = place();
    place.write("log.jsonl", "{\"id\": 1, \"query\": \"q\", \"shown\": [\"a\"], \"clicks\": []}\n");
    place.write("letters.txt", "1 qid:1 1:0.5\n0 qid:1 1:abc\n");
    for (arguments, expected) in [
        ("train lambda-mart --train missing.txt --workers 2 -o m.json", "missing.txt"),
        ("train lambda-mart --train letters.txt --workers 2 -o m.json", "letters.txt:2:"),
        ("train lambda-mart --train - --workers 2 -o m.json", "standard input"),
        ("train lambda-mart --train all.txt --workers 0 -o m.json", "0 is not in 1..=1024"),
        (
            "train lambda-mart --train all.txt --valid log.jsonl --workers 2 -o m.json",
            "clicks are read as a whole",
        ),
        ("train lambda-mart --train letters.txt all.txt --workers 2 --group -o m.json", "letters.txt:2:"),
        ("train lambda-mart --train all.txt --workers 2 --start m.json -o n.json", "--start"),
        ("train list-net --scorer network --train all.txt --workers 2 -o m.json", "several workers"),
    ] {
        let message = place.fails(arguments);
        assert!(message.contains(expected), "rankwise {arguments}: {message}");
    }
    assert!(!place.path("m.json").exists());
}
