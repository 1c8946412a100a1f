//! Whole commands as users run them: what they print and how they fail.

use crate::place::{Place, text};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

#[test]
fn from_data_to_a_comparison() {
    let place = Place::with_data();
    let parts = place.ok("split data.txt -o parts --fractions 0.6,0.2,0.2");
    assert!(parts.contains("parts/train.txt: 18 queries"), "{parts}");
    let trained = place.ok(
        "train coordinate-ascent --train parts/train.txt --valid parts/valid.txt --set restarts=2 -o ascent.json",
    );
    assert!(trained.contains("wrote ascent.json"), "{trained}");
    place.ok("train regression --train parts/train.txt --normalize min-max -o regression.json");
    place.ok("score regression.json parts/test.txt -o scores.txt");

    // The model and its own scores are the same system.
    let by_model = place.json("eval regression.json parts/test.txt --json --per-query");
    let by_scores = place.json("eval scores.txt parts/test.txt --json --per-query");
    assert_eq!(by_model, by_scores);
    assert_eq!((&by_model["schema"], &by_model["queries"]), (&1.into(), &6.into()));
    assert_eq!(by_model["per_query"].as_array().unwrap().len(), 6);

    let compared = place.json("compare regression.json scores.txt ascent.json parts/test.txt --json");
    assert_eq!(compared["pairs"][0]["difference"], 0.0);
    assert_eq!(compared["pairs"][0]["p_permutation"], 1.0);
    assert_eq!(compared["pairs"].as_array().unwrap().len(), 2);
    let all = place.json("compare regression.json scores.txt ascent.json parts/test.txt --all-pairs --json");
    assert_eq!(all["pairs"].as_array().unwrap().len(), 3);
}

#[test]
fn the_same_command_gives_the_same_bytes_with_any_threads() {
    let place = Place::with_data();
    for threads in ["1", "2", "5"] {
        place.ok(&format!(
            "train coordinate-ascent --train data.txt --set restarts=2 --threads {threads} -o m{threads}.json"
        ));
    }
    assert_eq!(place.read("m1.json"), place.read("m2.json"));
    assert_eq!(place.read("m1.json"), place.read("m5.json"));
}

#[test]
fn data_is_read_from_pipes_and_compressed_files() {
    let place = Place::with_data();
    place.ok("convert data.txt data.csv");
    place.ok("convert data.csv again.txt.zst --label label --qid qid");
    place.ok("convert again.txt.zst again.tsv.gz");
    let stats = |file: &str| {
        let stats = place.json(&format!("stats {file} --json"));
        (stats["documents"].clone(), stats["grades"].clone())
    };
    assert_eq!(stats("data.txt"), stats("again.tsv.gz"));

    let mut child =
        place.command("stats - --json").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(place.path("again.txt.zst")).unwrap()).unwrap();
    let piped: serde_json::Value = serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(piped["documents"], stats("data.txt").0);
}

#[cfg(unix)]
#[test]
fn scores_from_a_pipe_are_compared_in_full() {
    let place = Place::with_data();
    place.ok("train regression --train data.txt -o m.json");
    place.ok("score m.json data.txt -o scores.txt");
    let mut command = place.command("compare m.json /dev/stdin data.txt --json");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(place.read("scores.txt").as_bytes()).unwrap();
    let compared: serde_json::Value =
        serde_json::from_slice(&child.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(compared["pairs"][0]["difference"], 0.0);
}

#[test]
fn trec_files_give_the_same_values_as_scores() {
    let place = Place::with_data();
    place.ok("train regression --train data.txt -o m.json");
    place.ok("score m.json data.txt --format trec --tag mine -o data.run");
    place.ok("convert data.txt data.qrels");
    let by_run =
        place.json("eval data.run data.qrels --metrics ndcg@10,map,mrr,bpref --preset default --json");
    let by_model = place.json("eval m.json data.txt --metrics ndcg@10,map,mrr,bpref --json");
    assert_eq!(by_run["means"], by_model["means"]);
}

/// Models and data are recognised by their content; file names do not matter.
#[test]
fn names_do_not_decide_what_a_file_is() {
    let place = Place::with_data();
    place.ok("train regression --train data.txt -o m.json");
    place.ok("score m.json data.txt -o plain.txt");
    place.ok("export m.json -o packed.zst --format rankwise");
    fs::create_dir(place.path("old.json.d")).unwrap();
    fs::copy(place.path("plain.txt"), place.path("old.json.d/scores.json")).unwrap();
    fs::copy(place.path("m.json"), place.path("model.scores")).unwrap();
    fs::copy(place.path("data.txt"), place.path("data.json")).unwrap();
    let expected = place.json("eval m.json data.txt --json");
    for system in ["plain.txt", "packed.zst", "old.json.d/scores.json", "model.scores"] {
        assert_eq!(place.json(&format!("eval {system} data.json --json")), expected, "{system}");
    }
    let compared =
        place.json("compare m.json old.json.d/scores.json model.scores packed.zst data.json --json");
    for pair in compared["pairs"].as_array().unwrap() {
        assert_eq!((&pair["wins"], &pair["losses"]), (&0.into(), &0.into()), "{pair}");
    }
}

#[test]
fn earlier_orders_of_arguments_are_accepted() {
    let place = Place::with_data();
    place.ok("train regression --train data.txt -o m.json");
    place.ok("score m.json data.txt -o scores.txt");
    place.ok("score m.json data.txt --format trec -o data.run");
    place.ok("convert data.txt data.qrels");
    for (new, old) in [
        ("eval m.json data.txt", "eval data.txt --model m.json"),
        ("eval scores.txt data.txt", "eval data.txt --scores scores.txt"),
        ("eval data.run data.qrels", "eval data.qrels --run data.run"),
        ("eval m.json data.txt --metrics map", "eval m.json data.txt --metric map"),
        ("compare m.json scores.txt data.txt", "compare data.txt m.json scores.txt"),
        ("split data.txt --fractions 0.5,0.5 -o parts", "split data.txt --shares 0.5,0.5 -o parts"),
    ] {
        assert_eq!(place.ok(new), place.ok(old), "{old}");
    }
}

#[test]
fn a_model_is_evaluated_from_a_pipe() {
    let place = Place::with_data();
    place.ok("train regression --train data.txt -o m.json");
    for (arguments, piped) in [("eval - data.txt", "m.json"), ("eval m.json -", "data.txt")] {
        let mut command = place.command(arguments);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&fs::read(place.path(piped)).unwrap()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(text(&output.stdout), place.ok("eval m.json data.txt"), "{arguments}");
    }
}

/// By hand: run `a` finds the only relevant document of each topic at rank 1, `b` at rank 2 and lacks topic 2.
#[test]
fn runs_are_compared_on_the_topics_that_one_of_them_has() {
    let place = Place::new();
    place.write("qrels.txt", "1 0 x 1\n1 0 y 0\n2 0 x 1\n2 0 y 0\n3 0 x 1\n");
    place.write("a.run", "1 Q0 x 1 2.0 a\n1 Q0 y 2 1.0 a\n2 Q0 x 1 2.0 a\n2 Q0 y 2 1.0 a\n");
    place.write("b.run", "1 Q0 y 1 2.0 b\n1 Q0 x 2 1.0 b\n");
    let output = place.run("compare a.run b.run qrels.txt --metric mrr --json");
    assert!(
        text(&output.stderr).contains("1 topic is missing from some of the runs"),
        "{}",
        text(&output.stderr)
    );
    let compared: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(compared["queries"], 2);
    assert_eq!(
        (&compared["systems"][0]["mean"], &compared["systems"][1]["mean"]),
        (&1.0.into(), &0.25.into())
    );
}

#[test]
fn grades_are_predicted_only_by_models_with_thresholds() {
    let place = Place::new();
    place.write(
        "data.txt",
        "0 qid:1 1:1\n0.1 qid:1 1:2\n4 qid:1 1:3\n0 qid:2 1:1\n0.1 qid:2 1:2\n4 qid:2 1:3\n",
    );
    place.ok("train oc-svm --train data.txt --set c=100 --set scale=false -o m.json");
    assert_eq!(place.ok("score m.json data.txt --grades"), "0\n0.1\n4\n0\n0.1\n4\n");
    let scores = place.ok("score m.json data.txt");
    assert_eq!(scores.lines().count(), 6);
    // The best margins put w at 2, and the thresholds half way between the scores 2, 4 and 6.
    let inspected = place.ok("inspect m.json");
    let (_, steps) = inspected.split_once("to below").unwrap();
    let numbers: Vec<f64> = steps.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let expected = [0.0, 3.0, 0.1, 3.0, 5.0, 4.0, 5.0];
    assert!(
        numbers.len() == 7 && numbers.iter().zip(expected).all(|(a, b)| (a - b).abs() < 0.02),
        "{inspected}"
    );
    place.ok("train regression --train data.txt -o linear.json");
    let message = place.fails("score linear.json data.txt --grades");
    assert!(message.contains("predicts no grades"), "{message}");
    assert!(place.fails("score m.json data.txt --grades --format trec").contains("--format"));
}

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

/// The mean of one file with query weights is the same number in every command, and every command says how it is made.
#[test]
fn query_weights_count_alike_in_every_command() {
    let place = Place::new();
    let row = |query: usize, label: usize, weight: usize, x: f64| format!("{label},q{query},{weight},{x}\n");
    let rows = |from: usize| -> String {
        let of_query = |q: usize| {
            row(q, q % 2, 1 + q * q, 1.0) + &row(q, 1, 1 + q * q, 0.5) + &row(q, 0, 1 + q * q, 0.25)
        };
        (from..from + 6).map(of_query).collect()
    };
    place.write("test.csv", format!("label,qid,weight,x\n{}", rows(1)));
    place.write("train.csv", format!("label,qid,weight,x\n{}", rows(7)));
    place.write("down.scores", "3\n2\n1\n".repeat(6));
    place.write("up.scores", "1\n2\n3\n".repeat(6));
    // With even numbers the first document is not relevant: MRR is 1/2 instead of 1 for the scores going down.
    let weight = |q: f64| 1.0 + q * q;
    let total: f64 = (1..=6).map(|q| weight(q.into())).sum();
    let expected =
        (1..=6).map(|q| weight(q.into()) * if q % 2 == 0 { 0.5 } else { 1.0 }).sum::<f64>() / total;
    let close = |value: &serde_json::Value| (value.as_f64().unwrap() - expected).abs() < 1e-12;

    let eval = place.json("eval down.scores test.csv --metrics mrr --json");
    assert!(close(&eval["means"]["mrr"]) && eval["weighted"] == true, "{eval}");
    let compared = place.json("compare down.scores up.scores test.csv --metric mrr --json");
    assert!(close(&compared["systems"][0]["mean"]) && compared["weighted"] == true, "{compared}");
    place.write(
        "e.toml",
        "name = \"e\"\nselection = \"mrr\"\nmetrics = \"mrr\"\n[[data]]\nname = \"d\"\ntrain = [\"train.csv\"]\n\
         test = [\"test.csv\"]\n[[learner]]\nname = \"regression\"\n[[external]]\nname = \"down\"\n\
         scores = \"down.scores\"\n",
    );
    let found = place.json("run e.toml --json");
    assert!(close(&found["data"][0]["standing"]["means"][1][0]), "{found}");
    assert_eq!(found["data"][0]["query_weights"][5], 37.0);
    place.ok("train regression --train train.csv -o model.json");
    let model = place.json("eval model.json test.csv --metrics mrr --json");
    let importance = place.json("importance model.json test.csv --metric mrr --json");
    assert_eq!((&importance["value"], &importance["weighted"]), (&model["means"]["mrr"], &true.into()));

    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for command in [
        "eval down.scores test.csv",
        "compare down.scores up.scores test.csv",
        "run e.toml",
        "importance model.json test.csv",
    ] {
        let printed = one_line(place.ok(command));
        assert!(printed.contains("weighted by query weight"), "rankwise {command}: {printed}");
    }
    assert!(place.read("results/e/leaderboard.md").contains("weighted by query weight"));
}

/// The raw features of the two documents are nearly parallel, the scaled ones are at right angles.
#[test]
fn data_is_scaled_before_it_is_cleaned() {
    let place = Place::new();
    let query = |q: usize| format!("1 qid:{q} 1:100 2:101\n0 qid:{q} 1:101 2:100\n0 qid:{q} 1:100 2:100\n");
    place.write("data.txt", (1..=6).map(query).collect::<String>());
    let prepared = place.json("prepare data.txt --normalize min-max --clean papers -o clean.txt --json");
    assert_eq!((&prepared["documents"], &prepared["queries"]), (&12.into(), &6.into()));
    assert_eq!(prepared["cleaning"]["steps"][0]["documents"], 6, "rows of zeros after scaling");
    place.write(
        "e.toml",
        "name = \"e\"\n[[data]]\nname = \"d\"\nfiles = [\"data.txt\"]\nk = 3\nnormalize = \"min-max\"\nclean = \"papers\"\n\
         [[learner]]\nname = \"regression\"\n",
    );
    assert_eq!(place.json("run e.toml --json")["data"][0]["summary"]["documents"], 12);
}

/// A second run with `--fresh` must not take the journal away from the first.
#[test]
fn starting_over_waits_for_a_run_that_is_writing() {
    let place = Place::with_data();
    let experiment = "name = \"e\"\n[[data]]\nname = \"d\"\nfiles = [\"data.txt\"]\nk = 3\n[[learner]]\nname = \"regression\"\n";
    place.write("e.toml", experiment);
    place.ok("run e.toml");
    let before = place.read("results/e/journal.jsonl");
    let file = fs::File::open(place.path("results/e/journal.jsonl")).unwrap();
    file.lock().unwrap();
    let refusal = place.fails("run e.toml --fresh");
    assert!(refusal.contains("another run is writing to it"), "{refusal}");
    assert_eq!(place.read("results/e/journal.jsonl"), before);
    drop(file);
    place.ok("run e.toml --fresh");
    assert_ne!(place.read("results/e/journal.jsonl"), before, "times differ");
    place.write("out.toml", experiment.replace("\"e\"", "\"..\""));
    assert!(place.fails("run out.toml").contains("`name` is a directory that exists already"));
    assert!(!place.path("findings.json").exists());
}

#[test]
fn the_demo_ends_with_a_leaderboard_and_a_report() {
    let place = Place::new();
    let output = place.run("demo");
    check_plain_and_narrow("demo", &output);
    let text = text(&output.stdout);
    assert!(text.contains("regression") && text.contains("coordinate-ascent"), "{text}");
    assert!(text.contains("report: rankwise-demo/report.html"), "{text}");
    assert!(place.read("rankwise-demo/report.html").starts_with("<!"));
}

/// Killed without warning or interrupted in the middle, the same command ends with the same findings.
#[cfg(unix)]
#[test]
fn a_killed_experiment_resumes() {
    let place = Place::with_data();
    place.write(
        "e.toml",
        "name = \"e\"\n[[data]]\nname = \"d\"\nfiles = [\"data.txt\"]\nk = 3\n[[learner]]\nname = \"coordinate-ascent\"\n\
         set = { passes = 200, tolerance = 0.0 }\ngrid = { restarts = [20, 21, 22, 23] }\n",
    );
    place.ok("run e.toml -o whole");
    for (signal, code) in [("-KILL", None), ("-INT", Some(130))] {
        let directory = format!("stopped{signal}");
        let mut command = place.command(&format!("run e.toml -o {directory}"));
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let journal = place.path(&format!("{directory}/journal.jsonl"));
        let lines = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
        let begun = std::time::Instant::now();
        while lines() < 3 && begun.elapsed().as_secs() < 60 {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), code, "{}", text(&output.stderr));
        let findings = format!("{directory}/findings.json");
        assert!(!place.path(&findings).exists(), "it ended before it was stopped");
        place.ok(&format!("run e.toml -o {directory}"));
        assert_eq!(place.read(&findings), place.read("whole/findings.json"));
    }
}

#[test]
fn the_exit_code_of_an_experiment_shows_whether_all_went_well() {
    let place = Place::with_data();
    let expect = |value: &str| {
        format!(
            "name = \"e\"\n[[data]]\nname = \"d\"\nfiles = [\"data.txt\"]\nk = 3\n[[learner]]\nname = \"regression\"\n\
             [[expect]]\nsystem = \"regression\"\nmetric = \"ndcg@10\"\nvalue = {value}\nwithin = 0.5\n"
        )
    };
    place.write("good.toml", expect("0.5"));
    place.write("bad.toml", expect("7.0"));
    place.write(
        "unknown.toml",
        expect("0.5").replace("selection", "").replace("name = \"e\"", "name = \"e\"\nmetric = \"map\""),
    );
    place.ok("run good.toml");
    assert!(place.path("results/e/report.html").exists());
    let bad = place.run("run bad.toml -o elsewhere");
    assert_eq!(bad.status.code(), Some(1), "{}", text(&bad.stderr));
    let unknown = place.fails("run unknown.toml -o third");
    assert!(unknown.contains("unknown.toml:2:1: unknown key `metric`; did you mean `metrics`?"), "{unknown}");
}

#[test]
fn tuning_writes_the_model_of_the_best_setting() {
    let place = Place::with_data();
    place.ok("split data.txt -o parts --shares 0.5,0.25,0.25");
    let tune = |more: &str| {
        let mut command = place.command(&format!(
            "tune regression --train parts/train.txt --valid parts/valid.txt --json -o m.json {more} --grid"
        ));
        let output = command.arg("ridge=[1e-6, 0.01, 100.0]").output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let tuned = tune("");
    let value = |t: &serde_json::Value| t["valid"].as_f64().unwrap();
    let trials = tuned["trials"].as_array().unwrap();
    let best = trials.iter().max_by(|a, b| value(a).total_cmp(&value(b))).unwrap();
    assert_eq!(trials.len(), 3);
    assert_eq!(
        value(trials.iter().find(|t| t["parameters"]["ridge"] == tuned["parameters"]["ridge"]).unwrap()),
        value(best)
    );
    let again = place.json("eval m.json parts/valid.txt --metrics ndcg@10 --json");
    assert_eq!(again["means"]["ndcg@10"].as_f64().unwrap(), value(best));
    assert_eq!(tune("--method halving --draws 3")["trials"].as_array().unwrap().len(), 5);
    assert!(
        place
            .fails("tune regression --train parts/train.txt --valid parts/valid.txt -o m.json --grid ridge=1")
            .contains("neither a list nor a range")
    );
}

/// Checks what holds along C for any data, and compares one point with a single training.
#[test]
fn a_study_leaves_numbers_charts_and_a_page() {
    let place = Place::with_data();
    let text = place.ok(
        "study c-path --train data.txt --test data.txt --metrics map,mrr --learner svm-auc --learner svm-map \
         --from 0.01 --to 100 --steps 5 --set gap=1e-4 -o s",
    );
    assert!(text.contains("SVM-AUC: from C = 0.01 to 100") && text.contains("wrote c-path.csv"), "{text}");
    assert!(place.read("s/c-path.svg").starts_with("<svg ") && place.read("s/c-path.md").starts_with("# "));
    let study: serde_json::Value = serde_json::from_str(&place.read("s/c-path.json")).unwrap();
    assert_eq!(study["table"]["rows"].as_array().unwrap().len(), 10);

    let csv = place.read("s/c-path.csv");
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    let number = |row: &[&str], name: &str| -> f64 {
        row[header.iter().position(|h| *h == name).unwrap()].parse().unwrap()
    };
    assert_eq!(rows.len(), 10);
    for row in &rows {
        let [c, slack, norm, objective] = ["c", "slack", "norm", "objective"].map(|name| number(row, name));
        assert!((c * slack + 0.5 * norm * norm - objective).abs() <= 1e-9 * objective, "{row:?}");
        assert!(number(row, "gap") <= 1e-4, "{row:?}");
        let cold = number(row, "objective_from_scratch");
        assert!((cold - objective).abs() <= 1e-4 * cold.max(objective), "{row:?}");
    }
    for pair in rows.windows(2).filter(|pair| pair[0][0] == pair[1][0]) {
        let [slack, dual, objective, c] =
            ["slack", "dual", "objective", "c"].map(|name| [&pair[0], &pair[1]].map(|row| number(row, name)));
        let open = objective[0] - dual[0] + objective[1] - dual[1];
        assert!(slack[1] <= slack[0] + open / (c[1] - c[0]) + 1e-12, "{pair:?}");
    }
    let last = rows.iter().rfind(|row| row[0] == "svm-auc").unwrap();
    place.ok("train svm-auc --train data.txt --set c=100 --set gap=1e-4 -o m.json");
    let figures = &place.json("inspect m.json --json")["record"]["figures"];
    let primal = figures.as_array().unwrap().iter().find(|f| f[0] == "primal objective").unwrap()[1].as_f64();
    let (primal, objective) = (primal.unwrap(), number(last, "objective"));
    assert!((primal - objective).abs() <= 1e-4 * primal.max(objective), "{primal} {objective}");

    place.ok("study c-path --train data.txt --values 1 --learner svm-auc -o s");
    assert_eq!(place.read("s/c-path.csv").lines().count(), 2);
    place.write("s/c-path.json", "{}");
    assert!(place.fails("study c-path --train data.txt -o s").contains("choose another directory"));
    assert_eq!(place.json("study --json")[0]["name"], "c-path");
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_a_study_and_keeps_what_is_finished() {
    let place = Place::new();
    place.ok("synth --shape mslr --queries 300 -o big.txt");
    let command =
        "study c-path --train big.txt --learner svm-auc --from 1e-6 --to 1e6 --steps 40 --set gap=1e-9 -o s";
    let child = place.command(command).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(4000));
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("stopped before it was complete"), "{}", text(&output.stdout));
    let rows = place.read("s/c-path.csv").lines().count() - 1;
    assert!((1..40).contains(&rows), "{rows} rows");
}

#[test]
fn tables_fit_80_columns_and_have_no_colours_in_a_pipe() {
    let place = Place::with_data();
    place.ok("train regression --train data.txt -o a-model-with-a-rather-long-name.json");
    place.ok("train coordinate-ascent --train data.txt --set restarts=1 -o another.json");
    place.ok("train oc-svm --train data.txt -o ordinal.json");
    for arguments in [
        "learners",
        "learners coordinate-ascent",
        "metrics",
        "metrics ndcg",
        "stats data.txt --features",
        "inspect another.json",
        "inspect ordinal.json",
        "eval another.json data.txt",
        "compare a-model-with-a-rather-long-name.json another.json data.txt",
        "prepare data.txt -o clean.txt --clean papers",
        "study",
        "study c-path --train data.txt --test data.txt --values 0.1,1 -o study",
    ] {
        check_plain_and_narrow(arguments, &place.run(arguments));
    }
}

/// Lines of at most 80 characters, without colours.
fn check_plain_and_narrow(arguments: &str, output: &Output) {
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!text(&output.stderr).contains('\u{1b}'), "rankwise {arguments} colours its notes");
    for line in text(&output.stdout).lines() {
        let width = line.chars().count();
        assert!(width <= 80, "rankwise {arguments}: {width} wide: {line}");
        assert!(!line.contains('\u{1b}'), "rankwise {arguments} colours a pipe: {line}");
    }
}

#[test]
fn every_command_has_help_with_examples() {
    let place = Place::new();
    let help = place.ok("--help");
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|l| !l.starts_with("Commands:"))
        .skip(1)
        .take_while(|l| !l.is_empty())
        .filter(|l| l.starts_with("  ") && !l.starts_with("   "))
        .filter_map(|l| l.split_whitespace().next())
        .filter(|c| *c != "help")
        .collect();
    assert!(commands.len() >= 14, "{commands:?}");
    for command in commands {
        let help = place.ok(&format!("{command} --help"));
        assert!(help.contains("Usage: rankwise"), "{command}: {help}");
        assert!(help.contains("Examples:"), "{command} --help has no example");
        for line in help.lines().filter(|line| !line.starts_with("Usage:")) {
            assert!(line.chars().count() <= 80, "{command} --help is too wide: {line}");
        }
    }
}

/// The golden evaluation of the LETOR 3.0 script, to all four digits it prints.
#[test]
fn eval_reproduces_the_letor_script() {
    let shared = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    if !Path::new(shared).exists() {
        eprintln!("skipped: {shared} is not there");
        return;
    }
    let place = Place::new();
    let golden = fs::read_to_string(format!("{shared}/golden/ohsumed-svm_rank/ndcg.txt")).unwrap();
    let rows: Vec<Vec<&str>> = golden
        .lines()
        .take_while(|l| !l.starts_with("Performance on validation"))
        .filter(|l| l.starts_with("Fold") && !l.starts_with("Folds"))
        .map(|l| l.split_whitespace().skip(1).collect())
        .collect();
    assert_eq!(rows.len(), 10);
    for fold in 1..=5 {
        let part = (fold + 3) % 5 + 1;
        let values = place.json(&format!(
            "eval {shared}/golden/ohsumed-svm_rank/fold{fold}.test_score.txt.zst {shared}/ohsumed/S{part}.txt.zst \
             --preset letor --metrics ndcg@1..10,mean-ndcg,p@1..10,map --json"
        ));
        let expected = rows[fold - 1].iter().chain(&rows[fold + 4]);
        let means = values["means"].as_object().unwrap();
        assert_eq!(means.len(), 22);
        for ((name, value), expected) in means.iter().zip(expected) {
            assert_eq!(format!("{:.4}", value.as_f64().unwrap()), **expected, "{name} of fold {fold}");
        }
    }
}

/// The crate holds a copy, so that its package is complete; links do not work on every system.
#[test]
fn the_demos_experiment_is_the_one_in_experiments() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/quick.toml");
    assert_eq!(fs::read_to_string(file).unwrap(), include_str!("../../demo/quick.toml"));
}
