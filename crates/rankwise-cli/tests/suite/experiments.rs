//! Experiments, tuning and studies: results, interruptions and exit codes.

use crate::commands::check_plain_and_narrow;
use crate::place::{Place, text};
use std::fs;
use std::process::{Command, Stdio};

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

/// The crate holds a copy, so that its package is complete; links do not work on every system.
#[test]
fn the_demos_experiment_is_the_one_in_experiments() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/quick.toml");
    assert_eq!(fs::read_to_string(file).unwrap(), include_str!("../../demo/quick.toml"));
}
