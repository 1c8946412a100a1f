//! Data, arguments and file names as strangers have them: tables of pandas, mistakes and hostile files.

use crate::place::{BINARY, Place, text};
use std::fs;
use std::process::Command;

/// What `DataFrame.to_csv` writes of a table with a date, a text, truth values and a weight per document.
const PANDAS: &str = "\
,label,qid,date,in_title,weight,bm25,url
0,1,7,2024-03-01,True,2.5,13.25,https://a.example/1
1,0,7,2024-03-02,False,0.5,,https://a.example/2
2,2,8,2024-03-02,True,1.0,4.0,https://a.example/3
";

#[test]
fn a_table_of_pandas_is_read_with_its_columns_named() {
    let place = Place::new();
    place.write("p.csv", PANDAS);
    let refused = place.fails(&["stats", "p.csv"]);
    assert!(refused.contains("p.csv:2:7: expected a number or nothing in column `date`"), "{refused}");
    assert!(refused.contains("use --ignore date,url"), "{refused}");
    let weight = place.fails(&["stats", "p.csv", "--ignore", "date,url"]);
    assert!(
        weight.contains("query `7` has the weight 0.5 here but 2.5") && weight.contains("--weight ''"),
        "{weight}"
    );
    let roles = ["--ignore", "date", "--weight", "", "--docid", "url"];
    let (_, notes) = place.both(&[&["convert", "p.csv", "p.tsv"], &roles[..]].concat());
    assert!(notes.contains("the first column has no name"), "{notes}");
    let expected = "label\tqid\tdocid\tin_title\tweight\tbm25\n\
        1\t7\thttps://a.example/1\t1\t2.5\t13.25\n0\t7\thttps://a.example/2\t0\t0.5\t\n2\t8\thttps://a.example/3\t1\t1\t4\n";
    assert!(notes.contains("the feature `weight` has the name of a column that is not a feature"), "{notes}");
    assert_eq!(place.read("p.tsv"), expected);
    let only = ["convert", "p.csv", "only.csv", "--only", "bm25,in_title", "--weight", ""];
    place.ok(&only);
    assert_eq!(place.read("only.csv"), "label,qid,in_title,bm25\n1,7,1,13.25\n0,7,0,\n2,8,1,4\n");
    let wrong = place.fails(&["stats", "p.csv", "--only", "bm26"]);
    assert!(wrong.contains("no column `bm26` for a feature; did you mean `bm25`?"), "{wrong}");
}

#[test]
fn inputs_are_never_overwritten() {
    let place = Place::with_data();
    fs::create_dir(place.path("Fold1")).unwrap();
    let names = ["S1.txt", "train.txt", "x.txt", "Fold1/valid.txt"];
    let before = place.read("data.txt");
    names.iter().for_each(|name| place.write(name, &before));
    for arguments in [
        &["split", "S1.txt", "-o", ".", "--parts", "3"][..],
        &["split", "train.txt", "-o", ".", "--shares", "0.5,0.5"],
        &["split", "Fold1/valid.txt", "-o", ".", "--folds", "3"],
        &["prepare", "x.txt", "-o", "./x.txt", "--normalize", "min-max"],
        &["convert", "x.txt", "x.txt"],
        &["train", "regression", "--train", "x.txt", "-o", "x.txt"],
        &["train", "lambda-mart", "--train", "x.txt", "-o", "m.json", "--checkpoint", "x.txt"],
    ] {
        let error = place.fails(arguments);
        assert!(error.contains("give them different names"), "{arguments:?}: {error}");
    }
    names.iter().for_each(|name| assert_eq!(place.read(name), before, "{name}"));
    assert!(!place.path("test.txt").exists() && !place.path("S2.txt").exists());
}

#[test]
fn the_output_is_looked_at_before_the_work() {
    let place = Place::with_data();
    // Reading the data would fail, so an error about the output shows that it came first.
    place.write("bad.txt", "no data\n");
    for (arguments, expected) in [
        (
            &["train", "regression", "--train", "bad.txt", "-o", "none/m.json"][..],
            "the folder none does not exist",
        ),
        (
            &["tune", "regression", "--train", "bad.txt", "--grid", "ridge=[1.0]", "-o", "none/m.json"],
            "none does not",
        ),
        (
            &["train", "lambda-mart", "--train", "bad.txt", "-o", "m.json", "--checkpoint", "none/c"],
            "none does not",
        ),
        (&["train", "regression", "--train", "bad.txt", "-o", "."], "it is a directory"),
        (&["train", "regression", "--train", "bad.txt", "-o", "m.json.bz2"], "only .gz and .zst compress"),
        (&["convert", "bad.txt", "x.xlsx"], "`.xlsx` belongs to no format"),
        (&["convert", "bad.txt", "x.csv.bz2"], "`.bz2` belongs to no format"),
        (
            &["split", "bad.txt", "-o", "parts", "--parts", "2", "--extension", "xls"],
            "`.xls` belongs to no format",
        ),
    ] {
        let error = place.fails(arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    let left: Vec<_> = fs::read_dir(place.directory()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn validation_queries_that_are_training_queries_are_noticed() {
    let place = Place::with_data();
    place.ok(&["split", "data.txt", "-o", "parts", "--fractions", "0.5,0.5"]);
    fs::copy(place.path("parts/train.txt"), place.path("copy.txt")).unwrap();
    let train = |valid: &str| {
        place.both(&["train", "regression", "--train", "parts/train.txt", "--valid", valid, "-o", "m.json"]).1
    };
    assert!(train("copy.txt").contains("15 of 15 validation queries are also training queries"));
    assert!(!train("parts/test.txt").contains("also training queries"));
}

#[test]
fn a_mistyped_feature_number_costs_no_gigabytes() {
    let place = Place::new();
    place.write("h.txt", "1 qid:1 16777216:1\n");
    for arguments in [
        &["stats", "h.txt"][..],
        &["stats", "h.txt", "--features"],
        &["stats", "h.txt", "--json"],
        &["stats", "h.txt", "--group", "--layout", "dense"],
        &["convert", "h.txt", "h.csv"],
        &["train", "regression", "--train", "h.txt", "-o", "m.json"],
    ] {
        let error = place.fails(arguments);
        assert!(error.contains("the highest feature id is 16777216"), "{arguments:?}: {error}");
        assert!(error.contains("memory limit of 1.0 GiB") && error.contains("--memory-limit"), "{error}");
    }
    assert!(place.fails(&["stats", "h.txt", "--memory-limit", "0"]).contains("above 0"));
    let wide = "1 qid:1 1:1 300000:1\n0 qid:1 2:1\n";
    place.write("w.txt", wide);
    place.ok(&["convert", "w.txt", "back.txt", "--memory-limit", "1"]);
    assert_eq!(place.read("back.txt"), wide);
}

#[test]
fn numbers_out_of_range_are_refused() {
    let place = Place::with_data();
    place.ok(&["train", "regression", "--train", "data.txt", "-o", "m.json"]);
    let huge = "18446744073709551615";
    for (arguments, expected) in [
        (&["split", "data.txt", "-o", "p", "--folds", huge][..], "30 queries cannot be split"),
        (&["split", "data.txt", "-o", "p", "--folds", "1000000000"], "30 queries cannot be split"),
        (&["split", "data.txt", "-o", "p", "--parts", huge], "at most the number of queries"),
        (
            &[
                "tune",
                "regression",
                "--train",
                "data.txt",
                "--grid",
                "ridge=[1.0]",
                "--folds",
                huge,
                "-o",
                "t.json",
            ],
            "2..=10000",
        ),
        (
            &[
                "tune",
                "regression",
                "--train",
                "data.txt",
                "--grid",
                "ridge=[1.0]",
                "--draws",
                huge,
                "-o",
                "t.json",
            ],
            "1..=100000",
        ),
        (
            &["tune", "regression", "--train", "data.txt", "--grid", "ridge=[1.0, 2", "-o", "t.json"],
            "syntax error",
        ),
        (&["importance", "m.json", "data.txt", "--repeats", "1000000000"], "1..=10000"),
        (&["stats", "data.txt", "--threads", "65535"], "1..=1024"),
    ] {
        let error = place.fails(arguments);
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn file_names_that_are_not_utf_8_are_written_and_reported() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Place::with_data();
    let name = OsStr::from_bytes(b"m\xff.json");
    let mut train = place.command(&["train", "regression", "--train", "data.txt", "--json", "-o"]);
    let output = train.arg(name).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["model"], "m\u{fffd}.json");
    assert!(place.directory().join(name).exists());
    place.write("e.toml", "name = \"e\"\n[[data]]\nname = \"d\"\nfiles = [\"data.txt\"]\nk = 3\n[[learner]]\nname = \"regression\"\n");
    let output = place.command(&["run", "e.toml", "-o"]).arg(OsStr::from_bytes(b"out\xff")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A limit on address space leaves no room for the stacks of many threads.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_cannot_be_started_are_reported_once() {
    let script = "ulimit -v 1500000; exec \"$0\" --threads 1024 learners";
    let run = || Command::new("sh").args(["-c", script, BINARY]).output().unwrap();
    // If room remains for the stack of a thread but not for that of its signals, the standard library aborts.
    let output = (0..10).map(|_| run()).find(|output| output.status.code().is_some());
    let output = output.expect("one of ten runs ends by itself");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(
        error.contains("cannot start the threads (1024)") && error.contains("a smaller --threads"),
        "{error}"
    );
    assert!(!error.contains("temporarily unavailable"), "{error}");
}

#[test]
fn names_and_ids_cannot_command_the_terminal() {
    let place = Place::new();
    place.write("e.csv", "label,qid,\u{1b}]0;owned\u{7},b\n1,q\u{1b}[2J,0.5,1\n0,q\u{1b}[2J,0.25,2\n");
    let long = "n".repeat(1_000_000);
    place.write("long.csv", format!("label,qid,{long}\n1,7,1\n0,7,2\n"));
    let quiet = |text: &str| text.chars().all(|c| !c.is_control() || c == '\n');
    for arguments in [
        &["stats", "e.csv", "--features"][..],
        &["stats", "e.csv", "--json"],
        &["stats", "no\u{1b}[31m.txt"],
        &["stats", "long.csv", "--features"],
        &["stats", "--\u{1b}[31mx"],
        &["stats", "e.csv", "--layout", &"d".repeat(100_000)],
        &["stats", "long.csv", "--label", &"m".repeat(100_000)],
    ] {
        let output = place.run(arguments);
        let (out, error) = (text(&output.stdout), text(&output.stderr));
        assert!(quiet(&out) && quiet(&error), "{arguments:?}: {out:?} {error:?}");
        assert!(out.len() + error.len() < 10_000, "{} bytes", out.len() + error.len());
    }
    let report: serde_json::Value = serde_json::from_str(&place.ok(&["stats", "e.csv", "--json"])).unwrap();
    assert_eq!(report["feature_stats"][0]["name"], "\u{1b}]0;owned\u{7}");
}

#[test]
fn scores_are_written_as_a_table_with_ids() {
    let place = Place::new();
    place.write(
        "d.csv",
        "label,qid,docid,a\n1,red shoes,x,0.5\n0,red shoes,\"y,z\",0.25\n2,hat,w,1\n0,hat,v,0\n",
    );
    place.ok(&["train", "regression", "--train", "d.csv", "-o", "m.json"]);
    let plain: Vec<String> = place.ok(&["score", "m.json", "d.csv"]).lines().map(str::to_owned).collect();
    let expected = format!(
        "qid,docid,score\nred shoes,x,{}\nred shoes,\"y,z\",{}\nhat,w,{}\nhat,v,{}\n",
        plain[0], plain[1], plain[2], plain[3]
    );
    place.ok(&["score", "m.json", "d.csv", "-o", "s.csv"]);
    assert_eq!(place.read("s.csv"), expected);
    assert_eq!(place.ok(&["score", "m.json", "d.csv", "--format", "csv"]), expected);
    place.ok(&["score", "m.json", "d.csv", "-o", "s.tsv"]);
    assert!(place.read("s.tsv").starts_with("qid\tdocid\tscore\nred shoes\tx\t"));
    let trec = place.fails(&["score", "m.json", "d.csv", "--format", "trec"]);
    assert!(trec.contains("the id `red shoes` cannot be written to a TREC file"), "{trec}");
    assert!(trec.contains("use --format csv"), "{trec}");
}

#[test]
fn other_encodings_and_separators_are_named() {
    let place = Place::new();
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    place.write("u.csv", utf16("\u{feff}label,qid,a\n1,1,2\n"));
    place.write("s.csv", "label;qid;a\n1;1;2\n");
    place.write("t.csv", "label\tqid\ta\n1\t1\t2\n");
    for (name, expected) in [
        ("u.csv", "UTF-16 text; save it as UTF-8"),
        ("s.csv", "separated by semicolons"),
        ("t.csv", "separated by tabs"),
    ] {
        let error = place.fails(&["stats", name]);
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn new_data_is_scored_without_labels() {
    let place = Place::new();
    place.write("train.csv", "label,qid,x\n0,1,0.1\n1,1,0.9\n0,2,0.3\n1,2,0.7\n");
    place.write("new.csv", "qid,x\n7,0.25\n7,0.75\n");
    place.write("labelled.csv", "label,qid,x\n0,7,0.25\n1,7,0.75\n");
    place.ok("train regression --train train.csv -o m.json");
    place.ok("convert labelled.csv labelled.parquet");
    let scores = place.ok("score m.json new.csv");
    assert_eq!(scores.lines().count(), 2);
    assert_eq!(scores, place.ok("score m.json labelled.csv"));
    assert_eq!(scores, place.ok("score m.json labelled.parquet"));
    // What needs labels still asks for them.
    let error = place.fails("eval m.json new.csv");
    assert!(error.contains("there is no column `label`"), "{error}");
}
