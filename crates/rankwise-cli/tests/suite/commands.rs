//! Data to models to comparisons, and what every command has in common.

use crate::place::{Place, text};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Output, Stdio};

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
fn how_features_were_computed_goes_from_data_to_models() {
    let place = Place::with_data();
    let features: String = (1..=8).map(|i| format!("{{ name = 'bm25.f{i}' }}, ")).collect();
    let set = format!("name = 'mine'\nfeatures = [{features}]\nanalyzers = {{ title = 'english 5f0c' }}\n");
    place.write("data.txt.features.toml", set);
    place.ok("split data.txt -o parts --fractions 0.7,0.3 --extension csv");
    place.ok("convert parts/train.csv train.txt.gz");
    place.ok("train regression --train train.txt.gz -o m.json");
    let inspected = place.ok("inspect m.json");
    assert!(inspected.contains("from bm25.f1 to bm25.f8"), "{inspected}");
    assert!(inspected.contains("feature set mine, 8 features; analyzers: title english\n"), "{inspected}");
    place.ok("eval m.json parts/test.csv");
    // Scaled features are not those of the feature set.
    place.ok("prepare parts/train.csv -o scaled.csv --normalize min-max");
    assert!(!place.path("scaled.csv.features.toml").exists());
    place.write("train.txt.gz.features.toml", "name = 'x'\nfeatures = [{ name = 'a' }]");
    assert!(place.fails("stats train.txt.gz").contains("train.txt.gz.features.toml describes 1"));
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
pub(crate) fn check_plain_and_narrow(arguments: &str, output: &Output) {
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
