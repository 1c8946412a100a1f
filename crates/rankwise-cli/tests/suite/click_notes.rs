//! What `clicks` says about logs in which something is missing: nothing is invented or left out silently.

use crate::place::Place;
use serde_json::Value;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Sessions that show three documents at the ranks 1, 2 and `last`, in every order, so that they move.
fn gap(last: u32) -> String {
    let orders = [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]];
    let session = |number: usize| {
        let shown = orders[number % 3];
        let clicks: Vec<&str> =
            (0..3).filter(|rank| (number / 3).is_multiple_of(rank + 2)).map(|rank| shown[rank]).collect();
        let session = serde_json::json!({
            "id": number, "query": "q", "shown": shown, "positions": [1, 2, last],
            "clicks": clicks.iter().map(|doc| serde_json::json!({ "doc": doc })).collect::<Vec<_>>(),
        });
        format!("{session}\n")
    };
    (0..180).map(session).collect()
}

#[test]
fn propensities_of_ranks_that_were_never_shown_are_interpolated_with_a_note() {
    let place = Place::new();
    place.write("log.jsonl", gap(5));
    for how in ["--by em", "--by paired-ranks", "--by paired-ranks --smoothing 0"] {
        let (printed, told) = place.both(&format!("clicks propensity log.jsonl {how} -o theta.json"));
        let note = "note: nothing was shown at ranks 3–4; propensities there are interpolated";
        assert!(words(&told).contains(note), "{how}: {told}");
        assert!(!told.contains("converged"), "{how}: {told}");
        let row = |rank: &str| words(printed.lines().find(|line| words(line).starts_with(rank)).unwrap());
        assert!(row("3 ").ends_with(" 0 0 –") && !row("2 ").ends_with('–'), "{printed}");
        let written: Value = serde_json::from_str(&place.read("theta.json")).unwrap();
        let theta: Vec<f64> =
            written["theta"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
        assert_eq!(written["interpolated"], serde_json::json!([3, 4]));
        assert!(theta.len() == 5 && theta.is_sorted_by(|a, b| a > b), "{how}: {theta:?}");
    }
    let (_, told) = place.both("clicks propensity log.jsonl --depth 2");
    assert!(!told.contains("nothing was shown"), "{told}");
}

#[test]
fn a_rank_far_down_ruins_no_log() {
    let place = Place::new();
    place.write("log.jsonl", gap(9999));
    let (_, told) = place.both("clicks propensity log.jsonl");
    assert!(
        words(&told).contains("nothing was shown at ranks 3–9998") && !told.contains("converged"),
        "{told}"
    );
    let printed = place.ok("clicks fit ubm log.jsonl -o ubm.json");
    assert!(printed.lines().map(words).any(|line| line.starts_with("3 – –")), "{printed}");
    assert!(place.bytes("ubm.json").len() < 1_000_000);
    let found = place.json("clicks fit ubm log.jsonl --json");
    let lengths: Vec<usize> =
        found["examination"].as_array().unwrap().iter().map(|row| row.as_array().unwrap().len()).collect();
    assert_eq!((lengths.len(), &lengths[..4], lengths[9998]), (9999, &[1, 2, 0, 0][..], 9999));
}

#[test]
fn the_json_of_a_fit_has_what_the_table_shows_of_ranks() {
    let place = Place::new();
    place.write("log.jsonl", gap(3));
    let of =
        |model: &str, name: &str| place.json(&format!("clicks fit {model} log.jsonl --json"))[name].clone();
    assert_eq!(of("pbm", "examination").as_array().unwrap().len(), 3);
    assert_eq!(of("dcm", "continuation").as_array().unwrap().len(), 3);
    assert!(of("dbn", "continuation").is_number() && of("sdbn", "continuation").is_null());
}

#[test]
fn known_propensities_are_written_by_hand() {
    let place = Place::new();
    place.write("log.jsonl", gap(3));
    place.write("new.run", "q Q0 c 1 3 new\nq Q0 a 2 2 new\n");
    let evaluated = |text: &str| {
        place.write("theta.json", text);
        place.ok("clicks evaluate log.jsonl --propensity theta.json --run new.run")
    };
    let long = evaluated(r#"{"method": "given", "theta": [1, 0.5], "converged": true}"#);
    assert_eq!((evaluated("[1, 0.5]"), evaluated(r#"{"theta": [2, 1]}"#)), (long.clone(), long));
}

#[test]
fn text_is_not_written_under_the_name_of_a_parquet_file() {
    let place = Place::new();
    place.write("log.jsonl", gap(3));
    place.write("judgments.csv", "query,doc,judge,rel\nq,a,ann,1\n");
    for arguments in
        ["clicks preferences log.jsonl -o pairs.parquet", "labels merge judgments.csv -o labels.parquet"]
    {
        let error = place.fails(arguments);
        assert!(error.contains("is the name of a Parquet file, and only text is written here"), "{error}");
    }
    assert!(!place.path("pairs.parquet").exists() && !place.path("labels.parquet").exists());
    // The columns have names of TREC.
    place.ok("labels merge judgments.csv -o labels.csv");
}

#[test]
fn times_that_cannot_be_read_are_counted() {
    let place = Place::new();
    let fields = r#""fields": [{"name": "query", "value": "cat"}], "items": [{"id": "a"}, {"id": "b"}]"#;
    let ranking = format!(r#"{{"event": "ranking", "id": "r", "timestamp": "yesterday", {fields}}}"#);
    let click = r#"{"event": "interaction", "id": "i", "ranking": "r", "timestamp": null, "type": "click", "item": "b"}"#;
    place.write("events.jsonl", format!("{ranking}\n{click}\n"));
    let (_, told) = place.both("clicks import events.jsonl -o log.jsonl");
    let note = "events whose times cannot be read; used without a time: 1 (events.jsonl:1: the timestamp \"yesterday\" is no time)";
    assert!(words(&told).contains(note), "{told}");
    assert_eq!(place.read("log.jsonl").lines().count(), 1);
}

#[test]
fn sessions_that_prefer_no_document_are_counted() {
    let place = Place::new();
    let session = |id: u32, clicks: &str| {
        format!(
            "{{\"id\":{id},\"query\":\"q\",\"shown\":[\"a\",\"b\"],\"features\":[[1],[2]],\"clicks\":[{clicks}]}}\n"
        )
    };
    let clicked = "{\"doc\": \"a\"}";
    place.write("log.jsonl", [session(1, clicked), session(2, ""), session(3, "")].concat());
    let (_, told) = place.both(
        "train lambda-mart --train log.jsonl --set position_bias=additive --set iterations=1 --set min_data_in_leaf=1 -o m.json",
    );
    let note =
        "sessions in which nothing or everything was clicked, which prefer no document, are left out: 2";
    assert!(words(&told).contains(note), "{told}");
}

#[test]
fn documents_that_do_not_match_are_shown_by_an_example() {
    let place = Place::new();
    place.write("log.jsonl", gap(3));
    place.write("train.csv", "label,qid,docid,x\n0,Q,A,1\n1,Q,B,2\n");
    let error = words(&place.fails("train list-net --train train.csv --clicks log.jsonl -o m.json"));
    assert!(
        error.contains("such as document `a` of query `q`; queries and documents are matched by their ids"),
        "{error}"
    );
    place.write("zero.csv", "label,qid,position,x\n1,Q,0,1\n0,Q,1,2\n");
    place.write("theta.json", "[1, 0.5]");
    let error = words(&place.fails("train list-net --train zero.csv --propensity theta.json -o m.json"));
    assert!(
        error.contains("document 1 was clicked and its position is 0 or missing")
            && error.contains("start at 1"),
        "{error}"
    );
}

#[test]
fn a_log_of_one_rank_has_nothing_to_compare() {
    let place = Place::new();
    place.write("log.jsonl", "{\"id\": 1, \"query\": \"q\", \"shown\": [\"a\"], \"clicks\": []}\n");
    let printed = words(&place.ok("clicks stats log.jsonl"));
    assert!(
        printed.contains("Only one rank was shown, so there are no other propensities to estimate"),
        "{printed}"
    );
    assert!(!printed.contains("propensities can be estimated"), "{printed}");
}
