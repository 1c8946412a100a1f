//! Search logs: the commands of `clicks` as users run them, and everything that can be wrong with a log.

use crate::place::Place;
use serde_json::Value;

/// Data, two models and a log of both.
fn place() -> Place {
    let place = Place::with_data();
    place.ok("train list-net --train data.txt --set iterations=3 -o a.json");
    place.ok("train regression --train data.txt -o b.json");
    place.ok("clicks simulate data.txt --model prod=a.json --model b.json --law pbm:eta=1 --sessions 60 -o log.jsonl");
    place
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn logs_are_simulated_and_the_seed_decides() {
    let place = place();
    let log = place.read("log.jsonl");
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(first["shown"].as_array().unwrap().len(), 10);
    let stats = place.json("clicks stats log.jsonl --json");
    assert_eq!((&stats["sessions"], &stats["queries"]), (&1800.into(), &30.into()));
    let rankers: Vec<&String> = stats["rankers"].as_object().unwrap().keys().collect();
    assert_eq!(rankers, ["b", "prod"]);
    let again = "clicks simulate data.txt --model prod=a.json --model b.json --sessions 60";
    place.ok(&format!("{again} --user pbm --threads 1 -o again.jsonl.zst"));
    let (_, error) = place.both(&format!("{again} --seed 2 -o other.jsonl"));
    assert!(error.contains("1,800 sessions"), "{error}");
    assert_ne!(place.read("other.jsonl"), log);
    let unpacked = place.json("clicks stats again.jsonl.zst --json");
    assert_eq!(unpacked, stats);
    let shown = place.narrow("clicks stats log.jsonl");
    for part in ["by ranker", "click-through", "moving documents", "propensities can be estimated"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn simulations_log_features_and_refuse_what_makes_no_sense() {
    let place = place();
    place.ok("clicks simulate data.txt --model a.json --sessions 1 --depth 3 --features --user dcm:continue=0.4 -o f.jsonl");
    let line: Value = serde_json::from_str(place.read("f.jsonl").lines().next().unwrap()).unwrap();
    assert_eq!(
        (line["features"].as_array().unwrap().len(), line["features"][0].as_array().unwrap().len()),
        (3, 8)
    );
    for (options, part) in [
        ("--model a.json --user pbm:beta=1", "`beta=1` is no parameter of the user model `pbm`"),
        ("--model a.json --user reader", "unknown user model `reader`"),
        ("--model a.json --noise 2", "`noise` is 2"),
        ("--model a.json --depth 0", "`depth` is 0"),
        ("--model a.json --model a.json", "two models are called a"),
        ("--model a.json --interleave team-draft", "two rankers can be interleaved, not 1"),
        ("--model a.json --model b.json --interleave balanced", "unknown way of interleaving"),
        ("--model missing.json", "missing.json"),
    ] {
        let error = place.fails(&format!("clicks simulate data.txt {options} -o no.jsonl"));
        assert!(error.contains(part), "{options}: {error}");
        assert!(!place.path("no.jsonl").exists());
    }
}

#[test]
fn every_click_model_is_fitted_and_evaluated_on_held_out_sessions() {
    let place = place();
    for model in ["pbm", "cascade", "dcm", "sdbn", "dbn", "ubm"] {
        let out = format!("{model}.json");
        let shown = place.narrow(&format!("clicks fit {model} log.jsonl -o {out}"));
        assert!(shown.contains("perplexity") && shown.contains("held out"), "{shown}");
        let written: Value = serde_json::from_str(&place.read(&out)).unwrap();
        assert_eq!(written["model"], model);
        assert!(written["attractiveness"]["values"].as_object().unwrap().len() == 30, "{written}");
    }
    let found = place.json("clicks fit pbm log.jsonl --json");
    let [fitted, held_out] = ["fitted", "held_out"].map(|part| &found[part]);
    assert_eq!(number(&fitted["sessions"]) + number(&held_out["sessions"]), 1800.0);
    assert!((100.0..260.0).contains(&number(&held_out["sessions"])), "{found}");
    // Users who look at ranks whatever they clicked are foreseen by the model of such users.
    let cascade = place.json("clicks fit cascade log.jsonl --json");
    assert!(number(&held_out["perplexity"]) < number(&cascade["held_out"]["perplexity"]) - 0.05, "{cascade}");
    assert_eq!(held_out["perplexity_by_rank"].as_array().unwrap().len(), 10);
    assert!(place.json("clicks fit pbm log.jsonl --held-out 0 --json")["held_out"].is_null());
    // A cascade has one click at most.
    let (_, error) = place.both("clicks fit cascade log.jsonl");
    assert!(error.contains("clicks that the model rules out"), "{error}");
    let (_, error) = place.both("clicks fit pbm log.jsonl --iterations 2");
    assert!(error.contains("has not converged after 2 iterations"), "{error}");
    for (arguments, part) in [
        ("clicks fit bpm log.jsonl", "unknown click model `bpm`; known: pbm, cascade"),
        ("clicks fit pbm log.jsonl --held-out 1", "at least 0 and below 1"),
        ("clicks fit pbm log.jsonl --tolerance=-1", "`tolerance` is -1"),
        ("clicks fit pbm log.jsonl -o log.jsonl", "give them different names"),
    ] {
        let error = place.fails(arguments);
        assert!(error.contains(part), "{arguments}: {error}");
    }
}

#[test]
fn propensities_are_estimated_where_documents_move_and_refused_where_they_do_not() {
    let place = place();
    let shown = place.narrow("clicks propensity log.jsonl -o theta.json");
    assert!(shown.contains("weight of a click"), "{shown}");
    let written: Value = serde_json::from_str(&place.read("theta.json")).unwrap();
    let theta = written["theta"].as_array().unwrap();
    assert_eq!((theta.len(), number(&theta[0])), (10, 1.0));
    assert!((0.35..0.7).contains(&number(&theta[1])), "{written}");
    let em = place.json("clicks propensity log.jsonl --by em --depth 4 --json");
    assert_eq!((&em["method"], em["theta"].as_array().unwrap().len()), (&"em".into(), 4));
    place.ok("clicks simulate data.txt --model a.json --randomize swap --sessions 100 -o swap.jsonl");
    let swap = place.json("clicks propensity swap.jsonl --by swap --json");
    assert!((0.35..0.7).contains(&number(&swap["theta"][1])), "{swap}");
    // One ranker that always shows the same list.
    place.ok("clicks simulate data.txt --model a.json -o still.jsonl");
    for method in ["paired-ranks", "em"] {
        let error = place.fails(&format!("clicks propensity still.jsonl --by {method} -o no.json"));
        assert!(error.contains("documents do not move between these groups of ranks: {1}, {2}"), "{error}");
        assert!(error.contains("Log several rankers, or exchange documents"), "{error}");
    }
    assert!(place.narrow("clicks stats still.jsonl").contains("Documents do not move"), "stats say it, too");
    for (arguments, part) in [
        ("clicks propensity log.jsonl --by swap", "the log has no swap experiments"),
        ("clicks propensity log.jsonl --by em --smoothing 1", "--smoothing is for"),
        ("clicks propensity log.jsonl --smoothing=-1", "`smoothing` is -1"),
        ("clicks propensity log.jsonl --by swap --depth 3", "--depth is not for"),
    ] {
        let error = place.fails(arguments);
        assert!(error.contains(part), "{arguments}: {error}");
    }
    assert!(!place.path("no.json").exists());
}

const SMALL: &str = r#"{"id": 1, "query": "q", "shown": ["a", "b", "c"], "clicks": [{"doc": "c"}]}
{"id": 2, "query": "q", "shown": ["c", "a, b"], "clicks": [{"doc": "a, b"}]}
{"id": 3, "query": "q", "shown": ["c", "a"], "clicks": [{"doc": "a"}]}
"#;

#[test]
fn clicks_become_preferences_in_three_formats() {
    let place = Place::new();
    place.write("log.jsonl", SMALL);
    let (out, error) = place.both("clicks preferences log.jsonl");
    let expected = "query,better,worse,sessions\nq,a,c,1\nq,\"a, b\",c,1\nq,c,a,1\nq,c,b,1\n";
    assert_eq!(out, expected);
    assert!(error.contains("1 pair is preferred both ways"), "{error}");
    assert_eq!(
        place.ok("clicks preferences log.jsonl --rule skip-previous -o p.tsv"),
        "p.tsv: 3 preferences\n"
    );
    assert_eq!(
        place.read("p.tsv"),
        "query\tbetter\tworse\tsessions\nq\ta\tc\t1\nq\ta, b\tc\t1\nq\tc\tb\t1\n"
    );
    place.ok("clicks preferences log.jsonl --rule no-click-next -o p.jsonl");
    assert_eq!(place.read("p.jsonl"), "");
    place.ok("clicks preferences log.jsonl --rule last-click -o p.jsonl");
    let first = "{\"query\":\"q\",\"better\":\"a\",\"worse\":\"c\",\"sessions\":1}\n";
    assert!(place.read("p.jsonl").starts_with(first), "{}", place.read("p.jsonl"));
    let error = place.fails("clicks preferences log.jsonl --rule skip-abov");
    assert!(error.contains("did you mean `skip-above`?"), "{error}");
}

#[test]
fn a_ranker_is_evaluated_by_the_log_of_another() {
    let place = Place::new();
    place.write("log.jsonl", SMALL);
    place.write("theta.json", r#"{"method": "given", "theta": [1, 0.5, 0.25], "converged": true}"#);
    place.write("new.run", "q Q0 c 1 3 new\nq Q0 a 2 2 new\nr Q0 x 1 1 new\n");
    // Clicks: c at rank 3, now 1; `a, b` at rank 2, not ranked; a at rank 2, now 2.
    let found = place.json("clicks evaluate log.jsonl --propensity theta.json --run new.run --metric reciprocal --clip 0.5 --json");
    let ranker = &found["rankers"][0];
    let close = |name: &str, expected: f64| {
        assert!((number(&ranker[name]) - expected).abs() < 1e-12, "{name}: {ranker}");
    };
    close("ips", (4.0 + 1.0) / 3.0);
    close("clipped", (2.0 + 1.0) / 3.0);
    close("shown", (4.0 / 3.0 + 1.0 + 1.0) / 3.0);
    close("snips", (4.0 + 1.0) / 8.0);
    assert_eq!((&ranker["unranked_clicks"], &ranker["clipped_clicks"]), (&1.into(), &1.into()));
    assert_eq!(ranker["deep_clicks"], 0);
    let printed = place.narrow("clicks evaluate log.jsonl --propensity theta.json --run new.run");
    for part in ["new.run: 3 sessions of 1 query", "as shown", "SNIPS", "95 % CI", "clipped at 0.1"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // Queries are resampled, and there is only one.
    assert!(ranker["ips_interval"].is_null() && ranker["snips_interval"].is_null(), "{ranker}");
    assert!(!printed.contains(" to ") && printed.contains('–'), "{printed}");
    let (_, told) = place.both("clicks evaluate log.jsonl --propensity theta.json --run new.run");
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("new.run: all sessions are of one query, so there are no confidence intervals"),
        "{told}"
    );
    assert!(told.contains("clicks on documents that it does not rank; they count for nothing: 1"), "{told}");
    place.write("other.run", "z Q0 c 1 3 new\n");
    place.write("zero.json", r#"{"method": "given", "theta": [1, 0], "converged": true}"#);
    for (arguments, part) in [
        ("--propensity theta.json --run other.run", "no session of a query that the new ranker ranks"),
        (
            "--propensity theta.json --run new.run --metric ndcg@10",
            "`ndcg@10` cannot be estimated from clicks",
        ),
        ("--propensity theta.json --run new.run --clip 2", "`clip` is 2"),
        ("--propensity zero.json --run new.run", "the propensity of rank 2 is 0"),
        ("--propensity new.run --run new.run", "new.run holds no propensities"),
        ("--propensity theta.json", "--run"),
        ("--propensity theta.json --model m.json", "--data"),
    ] {
        let error = place.fails(&format!("clicks evaluate log.jsonl {arguments}"));
        assert!(error.contains(part), "{arguments}: {error}");
    }
}

#[test]
fn a_model_that_was_never_shown_is_worth_what_its_own_log_says() {
    let place = place();
    place.ok("clicks propensity log.jsonl -o theta.json");
    let found = place.json("clicks evaluate log.jsonl --propensity theta.json --model a.json --model b.json --data data.txt --json");
    place.ok("clicks simulate data.txt --model b.json --sessions 300 -o own.jsonl");
    let own =
        place.json("clicks evaluate own.jsonl --propensity theta.json --model b.json --data data.txt --json");
    let (of_log, of_own) = (&found["rankers"][1], &own["rankers"][0]);
    assert!((number(&of_own["difference"])).abs() < 1e-9, "its own lists are as shown: {of_own}");
    let (low, high) = (number(&of_log["ips_interval"]["low"]), number(&of_log["ips_interval"]["high"]));
    assert!((low..=high).contains(&number(&of_own["shown"])), "{of_log} {of_own}");
}

#[test]
fn interleaved_lists_are_compared() {
    let place = place();
    place.ok("clicks simulate data.txt --model prod=a.json --model next=a.json --interleave team-draft -o equal.jsonl");
    let equal = place.json("clicks interleaving equal.jsonl --json");
    let result = &equal["results"][0];
    assert!((number(&result["win_rate"]) - 0.5).abs() < 0.05 && number(&result["p"]) > 0.01, "{result}");
    let session = |id: u32, rankers: &str, credit: &str| {
        format!(
            "{{\"id\": {id}, \"query\": \"q\", \"shown\": [\"a\", \"b\"], \"clicks\": [{{\"doc\": \"a\"}}], \"interleaved\": {{\"rankers\": {rankers}, \"credit\": {credit}}}}}\n"
        )
    };
    let mut log: String = (0..9).map(|id| session(id, r#"["x", "y"]"#, "[1, 0]")).collect();
    log += &session(9, r#"["y", "x"]"#, "[1, 0]");
    log += &session(10, r#"["x", "z"]"#, "[0.5, 0.5]");
    log += &session(11, r#"["x", "z"]"#, "[0.5]");
    place.write("log.jsonl", log);
    let (out, error) = place.both("clicks interleaving log.jsonl --json");
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&found["results"][0]["wins"], &found["results"][1]["ties"]), (&vec![9, 1].into(), &1.into()));
    assert!((number(&found["results"][0]["p"]) - 22.0 / 1024.0).abs() < 1e-12, "{found}");
    assert!(
        error.contains("credit does not fit their documents") && error.contains("1 session is not"),
        "{error}"
    );
    let printed = place.narrow("clicks interleaving log.jsonl");
    for part in ["wins without ties", "90.0 %", "x is better", "no difference is shown"] {
        assert!(printed.replace("\n  ", " ").contains(part), "{part}: {printed}");
    }
    place.write("plain.jsonl", SMALL);
    assert!(place.fails("clicks interleaving plain.jsonl").contains("no interleaved sessions"));
    assert!(place.fails("clicks interleaving log.jsonl --confidence 1").contains("`confidence` is 1"));
}

#[test]
fn events_of_metarank_are_imported() {
    let place = Place::new();
    place.write(
        "events.jsonl",
        concat!(
            r#"{"event":"item","id":"x","timestamp":"1","item":"a","fields":[]}"#, "\n",
            r#"{"event":"ranking","id":"r1","timestamp":"2","fields":[{"name":"search","value":"cat"}],"items":[{"id":"a"},{"id":"b"}]}"#, "\n",
            r#"{"event":"interaction","id":"i1","ranking":"r1","timestamp":"3","type":"purchase","item":"b"}"#, "\n",
            r#"{"event":"interaction","id":"i2","ranking":"r7","timestamp":"3","type":"click","item":"b"}"#, "\n",
        ),
    );
    let (_, error) =
        place.both("clicks import events.jsonl --query-field search --types click,purchase -o log.jsonl");
    for part in [
        "1 session, 1 click",
        "neither rankings nor clicks; left out: 1",
        "not known (any more); left out: 1 (events.jsonl:4",
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let line: Value = serde_json::from_str(&place.read("log.jsonl")).unwrap();
    assert_eq!((&line["query"], &line["clicks"][0]["doc"]), (&"cat".into(), &"b".into()));
    let error = place.fails("clicks import events.jsonl -o no.jsonl");
    assert!(
        error.contains("rankings without a query; left out: 1")
            && error.contains("no rankings that can be used"),
        "{error}"
    );
    assert!(!place.path("no.jsonl").exists());
}

/// Lines with everything that can be wrong, and what is said of each.
const BROKEN: [(&str, &str); 13] = [
    (
        r#"{"id": "cut", "query": "q", "shown": ["#,
        "lines that are no session; left out: 2 (first log.jsonl:2: the JSON is truncated)",
    ),
    (r#"{"id": "no-query", "shown": ["a"], "clicks": []}"#, ""),
    (
        r#"{"id": "empty", "query": "q", "shown": [], "clicks": []}"#,
        "sessions that show no documents; left out: 1 (log.jsonl:4: session `empty`",
    ),
    (r#"{"id": "twice", "query": "q", "shown": ["a", "a"], "clicks": []}"#, "shows `a` twice"),
    (
        r#"{"id": "back", "query": "q", "shown": ["a", "b"], "positions": [2, 1], "clicks": []}"#,
        "sessions with impossible positions; left out: 1 (log.jsonl:6",
    ),
    (
        r#"{"id": "good", "query": "q", "shown": ["b", "a"], "clicks": []}"#,
        "sessions with the id of an earlier one; left out: 1 (log.jsonl:7",
    ),
    (
        r#"{"id": "ghost", "query": "q", "shown": ["a"], "clicks": [{"doc": "z"}]}"#,
        "clicks on documents that were not shown; these clicks are left out: 1 (log.jsonl:8: session `ghost`",
    ),
    (
        r#"{"id": "order", "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "a", "time": 2}, {"doc": "b", "time": 1}]}"#,
        "sessions with times out of order; their clicks were put in order: 1 (log.jsonl:9",
    ),
    (
        r#"{"id": "early", "query": "q", "shown": ["a"], "clicks": [], "time": 5}"#,
        "sessions that are earlier than one before them; used as they are: 1 (log.jsonl:10",
    ),
    (
        r#"{"id": "skips", "query": "q", "shown": ["a", "b"], "positions": [1, 3], "clicks": []}"#,
        "sessions whose positions leave out ranks; used as they are: 1 (log.jsonl:11",
    ),
    (
        r#"{"id": "rows", "query": "q", "shown": ["a"], "clicks": [], "features": []}"#,
        "sessions whose features do not fit their documents; used without features: 1 (log.jsonl:12",
    ),
    (
        r#"{"id": "swap", "query": "q", "shown": ["a"], "clicks": [], "swap": [1, 2]}"#,
        "sessions that swap ranks they do not show; used without the swap: 1 (log.jsonl:13",
    ),
    (
        r#"{"id": "credit", "query": "q", "shown": ["a"], "clicks": [], "interleaved": {"rankers": ["x", "y"], "credit": [2]}}"#,
        "used as if they were not interleaved: 1 (log.jsonl:14",
    ),
];

#[test]
fn everything_that_is_wrong_with_a_log_is_counted_and_said() {
    let place = Place::new();
    let mut log = String::from(
        "{\"id\": \"good\", \"query\": \"q\", \"shown\": [\"a\", \"b\"], \"clicks\": [{\"doc\": \"a\"}], \"time\": 9}\n",
    );
    BROKEN.iter().for_each(|(line, _)| log += &format!("{line}\n"));
    place.write("log.jsonl", &log);
    let (out, error) = place.both("clicks stats log.jsonl --json");
    for (line, part) in BROKEN {
        assert!(error.contains(part), "{line}: {error}");
    }
    let found: Value = serde_json::from_str(&out).unwrap();
    let report = &found["log"];
    assert_eq!(
        (&report["lines"], &report["sessions"], &found["sessions"]),
        (&14.into(), &8.into(), &8.into())
    );
    let counts = report["problems"].as_array().unwrap().iter().map(|problem| number(&problem["count"]));
    assert_eq!(counts.sum::<f64>(), 13.0);
    assert_eq!(found["all"]["clicks"], 3);
    // All commands say it.
    let (_, error) = place.both("clicks preferences log.jsonl");
    assert!(error.contains("the JSON is truncated"), "{error}");
    let (_, error) = place.both("-q clicks stats log.jsonl");
    assert_eq!(error, "");
    place.write("bad.jsonl", "{\n");
    let error = place.fails("clicks stats bad.jsonl");
    assert!(error.contains("bad.jsonl has no sessions that can be used"), "{error}");
    place.write(
        "other.jsonl",
        "0 qid:1 1:0.5\n{\"id\": 1, \"query\": \"q\", \"shown\": [\"a\"], \"clicks\": [\"a\"]}\n",
    );
    let error = place.fails("clicks stats other.jsonl");
    assert!(error.contains("expected a session, an object with `id`"), "{error}");
    let error = place.fails("clicks import other.jsonl -o no.jsonl");
    assert!(error.contains("expected an event, an object with `event`"), "{error}");
    place.write("empty.jsonl", "");
    assert!(place.fails("clicks fit pbm empty.jsonl").contains("empty.jsonl has no sessions"));
    assert!(place.fails("clicks stats missing.jsonl").contains("cannot open missing.jsonl"));
    place.write("cut.jsonl.gz", [0x1f, 0x8b, 8, 0]);
    assert!(place.fails("clicks stats cut.jsonl.gz").contains("cut.jsonl.gz"));
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_no_half_written_log() {
    use std::fs;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let place = place();
    let before = place.names();
    let child = place
        .command("clicks simulate data.txt --model a.json --sessions 100000000 -o big.jsonl")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let temporary = |name: &String| name.starts_with(".big.jsonl");
    // Wait until it has written something, at most a minute.
    let begun = Instant::now();
    while begun.elapsed().as_secs() < 60 {
        let name = place.names().into_iter().find(temporary);
        if name.is_some_and(|name| fs::metadata(place.path(&name)).is_ok_and(|file| file.len() > 0)) {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(130));
    assert_eq!(place.names(), before);
}
