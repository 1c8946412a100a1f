//! Mistakes, full disks, closed pipes and Ctrl-C.

use crate::place::{Place, text};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn mistakes_are_explained_in_a_sentence_with_exit_code_2() {
    let place = Place::with_data();
    place.write("empty.txt", "");
    place.write("letters.txt", "1 qid:1 1:0.5\n0 qid:1 1:abc\n");
    place.write("split.txt", "1 qid:1 1:1\n1 qid:2 1:1\n0 qid:1 1:0\n");
    place.write("no-label.csv", "points,qid,a\n1,q,0.5\n");
    place.write("short.scores", "0.5\n0.25\n");
    place.write("nan.scores", "NaN\n");
    place.write("three.scores", "3\n2\n1\n");
    place.write("judged.qrels", "1 0 a 1\n");
    place.write("other.run", "2 Q0 a 1 0.5 x\n");
    place.write("letter.txt", "Dear reader\n");
    place.write("forest.xml", "## LambdaMART\n");
    place.write("cut.json", "{\n\"format\": \"rankwise-model\",");
    for (arguments, expected) in [
        ("stats missing.txt", "missing.txt"),
        ("stats empty.txt", "empty.txt"),
        ("stats letters.txt", "letters.txt:2:"),
        ("stats letters.txt", "`abc`"),
        ("stats split.txt", "--group"),
        ("stats no-label.csv", "label"),
        ("train regresion --train data.txt -o m.json", "did you mean `regression`?"),
        ("train regression --train data.txt --set rigde=1 -o m.json", "did you mean `ridge`?"),
        ("train regression --train data.txt --set ridge=-1 -o m.json", "ridge"),
        ("train regression --train data.txt --set ridge=much -o m.json", "ridge"),
        ("train regression --train data.txt --metric ndgc@10 -o m.json", "did you mean `ndcg`?"),
        ("train regression --train data.txt --normalize minmax -o m.json", "did you mean `min-max`?"),
        ("train regression --train data.txt -o no/such/dir/m.json", "no/such/dir"),
        ("train regression --train data.txt --set ridge=1 --set ridge=2 -o m.json", "given twice"),
        ("train regression --train data.txt --json -o -", "standard output"),
        ("eval split.txt --scores three.scores --group", "convert --group"),
        ("eval judged.qrels --run other.run", "no topic"),
        ("eval data.txt --scores short.scores", "2"),
        ("eval data.txt --scores nan.scores", "nan.scores:1:1"),
        ("eval data.txt --scores data.txt", "data.txt:1:"),
        ("eval data.txt --model cut.json", "cut short"),
        ("eval data.txt --model data.txt", "is not a model of Rankwise"),
        ("eval data.txt --model cut.json --preset leter", "did you mean `letor`?"),
        ("eval data.txt", "rankwise eval MODEL data.txt"),
        ("synth --shape mslt -o x.txt", "did you mean `mslr`?"),
        ("split data.txt -o parts", "--folds"),
        ("split data.txt -o parts --parts 31", "31"),
        ("prepare data.txt -o x.txt", "--normalize"),
        ("prepare data.txt -o x.txt --clean nears", "did you mean `near`?"),
        ("compare short.scores nan.scores data.txt", "short.scores"),
        ("compare data.txt short.scores nan.scores", "short.scores"),
        ("compare short.scores nan.scores three.scores", "three.scores is a score file"),
        ("compare data.txt split.txt data.txt", "split.txt is a data file"),
        ("compare - - data.txt", "standard input can be read only once"),
        ("compare other.run short.scores judged.qrels", "qrels go with TREC runs"),
        ("compare other.run other.run data.txt", "convert data.txt OUT.qrels"),
        ("compare other.run other.run judged.qrels", "no topic"),
        ("eval data.txt three.scores", "in the other order"),
        ("eval split.txt data.txt", "split.txt is a data file"),
        ("eval empty.txt data.txt", "empty.txt is empty"),
        ("eval letter.txt data.txt", "letter.txt is of an unknown format"),
        (
            "eval forest.xml data.txt",
            "forest.xml cannot be used as a model: it does not begin with <ensemble>",
        ),
        ("eval three.scores judged.qrels", "qrels go with TREC runs"),
        ("eval other.run data.txt", "convert data.txt OUT.qrels"),
        ("eval three.scores data.txt --complete", "--complete is for TREC runs"),
        ("eval three.scores data.txt --scores three.scores", "there are two"),
        ("score data.txt data.txt", "it looks like a data file"),
        ("stats .", "cannot read .: it is a directory"),
        ("score . data.txt", "cannot read .: it is a directory"),
        ("eval three.scores .", "cannot read .: it is a directory"),
        ("run .", "directory"),
        ("convert data.txt .", "cannot write .: it is a directory"),
        ("synth --shape mslr --queries 1 -o no/such/x.txt", "the folder no/such does not exist"),
        ("prepare data.txt --normalize log -o no/such/x.txt", "the folder no/such does not exist"),
        ("split data.txt --parts 2 -o data.txt", "cannot create the directory data.txt"),
        ("learners lambda-marts", "unknown learner"),
        ("metrics ndgc", "did you mean `ndcg`?"),
        ("evl data.txt", "eval"),
        ("study c-paht -o s", "did you mean `c-path`?"),
        ("study c-path --learner svm-acu -o s", "did you mean `svm-auc`?"),
        ("study c-path --learner regression --train data.txt -o s", "regression has no path along C"),
        ("study c-path --train data.txt --set treshold=2 -o s", "did you mean `threshold`?"),
        ("study c-path --train data.txt --from 10 --to 1 -o s", "from 10 to 1"),
        ("study c-path --train data.txt --values 1,0 -o s", "c is 0"),
        ("study c-path --train missing.txt -o s", "missing.txt"),
        ("stats data.txt --threads 0", "threads"),
    ] {
        let message = place.fails(arguments);
        assert!(message.contains(expected), "rankwise {arguments}: {message}");
        assert!(message.starts_with("error: "), "rankwise {arguments}: {message}");
    }
    assert!(!place.path("m.json").exists() && !place.path("x.txt").exists() && !place.path("s").exists());
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_file() {
    if !Path::new("/dev/full").exists() {
        eprintln!("skipped: there is no /dev/full here");
        return;
    }
    let place = Place::with_data();
    place.ok("train regression --train data.txt -o m.json");
    let before = place.names();
    for arguments in [
        "score m.json data.txt -o /dev/full",
        "convert data.txt /dev/full",
        "train regression --train data.txt -o /dev/full",
    ] {
        let message = place.fails(arguments);
        assert!(
            message.contains("/dev/full") && message.contains("space"),
            "rankwise {arguments}: {message}"
        );
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = place.command("score m.json data.txt").stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert_eq!(place.names(), before);
}

#[test]
fn a_closed_pipe_is_no_error() {
    let place = Place::with_data();
    place.ok("train regression --train data.txt -o m.json");
    for arguments in [
        "stats data.txt --features",
        "stats data.txt --json",
        "convert data.txt -",
        "score m.json data.txt",
        "export m.json -o - --format onnx",
        "explain m.json data.txt --csv",
    ] {
        let mut command = place.command(arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{:?} {}",
            output.status,
            text(&output.stderr)
        );
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_training_and_keeps_the_best_model_so_far() {
    let place = Place::new();
    place.ok("synth --shape mslr --queries 60 -o big.txt");
    let child = place
        .command("train lambda-mart --train big.txt --set iterations=1000000 -o m.json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("interrupted"), "{}", text(&output.stdout));
    assert_eq!(place.json("inspect m.json --json")["record"]["outcome"], "interrupted");
    assert_eq!(place.names(), ["big.txt", "m.json"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_half_written_file() {
    let place = Place::new();
    let child =
        place.command("synth --shape mslr --queries 1000 -o big.txt").stderr(Stdio::piped()).spawn().unwrap();
    // Wait until it writes, at most a minute.
    let begun = std::time::Instant::now();
    while place.names().is_empty() && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert_eq!(place.names(), [""; 0]);
}
