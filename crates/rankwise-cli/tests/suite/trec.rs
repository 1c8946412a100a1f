//! TREC files as users of trec_eval and ranx have them: evaluation, comparison and fusion of runs.

use crate::place::{Place, text};
use std::fs;

/// Topic 2 has a document that was pooled but not judged, and topic 3 nothing relevant.
const QRELS: &str = "1 0 a 2\n1 0 b 0\n1 0 c 1\n2 0 a 1\n2 0 b -1\n3 0 a 0\n";
/// In topic 1, `b` and `c` are tied: trec_eval ranks `c` first, in input order `b` is. `x` is unjudged.
const FIRST: &str = "1 Q0 b 1 2.0 one\n1 Q0 c 2 2.0 one\n1 Q0 a 3 1.0 one\n\
    2 Q0 x 1 3.0 one\n2 Q0 a 2 2.0 one\n3 Q0 a 1 1.0 one\n";
/// The relevant documents first.
const SECOND: &str =
    "1 Q0 a 1 3.0 two\n1 Q0 c 2 2.0 two\n2 Q0 a 1 2.0 two\n2 Q0 b 2 1.0 two\n3 Q0 b 1 1.0 two\n";

/// A place with qrels and two runs.
fn place() -> Place {
    let place = Place::new();
    for (name, text) in [("qrels.txt", QRELS), ("one.run", FIRST), ("two.run", SECOND)] {
        place.write(name, text);
    }
    place
}

/// By hand. MRR of topic 1 is 1 if the tie goes to `c`, and 1/2 if it goes to `b`.
#[test]
fn runs_are_evaluated_as_trec_eval_does_unless_asked_otherwise() {
    let place = place();
    let mean = |arguments: &str| place.json(arguments)["means"]["mrr"].as_f64().unwrap();
    assert_eq!(mean("eval one.run qrels.txt --metrics mrr --json"), (1.0 + 0.5) / 3.0);
    let by_input = mean("eval one.run qrels.txt --metrics mrr --convention ties=input --json");
    assert_eq!(by_input, (0.5 + 0.5) / 3.0);
    assert_eq!(mean("eval one.run qrels.txt --metrics mrr --preset default --json"), (0.75 + 0.5) / 3.0);
    assert!(place.ok("eval one.run qrels.txt").contains("preset trec"));
    assert_eq!(
        place.ok("eval qrels.txt one.run"),
        place.ok("eval one.run qrels.txt"),
        "as trec_eval takes them"
    );
    assert!(place.ok("compare one.run two.run qrels.txt").contains("preset trec"));
    assert!(place.ok("compare one.run two.run qrels.txt --preset ranx").contains("preset ranx"));
}

/// By hand, in the form of `trec_eval -q`.
#[test]
fn values_are_printed_as_trec_eval_prints_them() {
    let place = place();
    let found = place.ok(
        "eval one.run qrels.txt --format trec --per-query --metrics num_q,num_rel_ret,recip_rank,P_2,ndcg_cut_1,judged@2",
    );
    let expected = [
        ("num_rel_ret", "1", "2"),
        ("recip_rank", "1", "1.0000"),
        ("P_2", "1", "0.5000"),
        ("ndcg_cut_1", "1", "0.5000"),
        ("judged@2", "1", "1.0000"),
        ("num_rel_ret", "2", "1"),
        ("recip_rank", "2", "0.5000"),
        ("P_2", "2", "0.5000"),
        ("ndcg_cut_1", "2", "0.0000"),
        ("judged@2", "2", "0.5000"),
        ("num_rel_ret", "3", "0"),
        ("recip_rank", "3", "0.0000"),
        ("P_2", "3", "0.0000"),
        ("ndcg_cut_1", "3", "0.0000"),
        ("judged@2", "3", "1.0000"),
        ("num_q", "all", "3"),
        ("num_rel_ret", "all", "3"),
        ("recip_rank", "all", "0.5000"),
        ("P_2", "all", "0.3333"),
        ("ndcg_cut_1", "all", "0.1667"),
        ("judged@2", "all", "0.8333"),
    ];
    let lines: Vec<String> =
        expected.iter().map(|(metric, query, value)| format!("{metric:<22}\t{query}\t{value}\n")).collect();
    assert_eq!(found, lines.concat());
    let means = place.ok("eval one.run qrels.txt --format trec --metrics iprec_at_recall,infAP");
    assert_eq!(means.lines().count(), 12);
    assert!(means.contains("iprec_at_recall_0.10  \tall\t0.5000\n"), "{means}");
    assert!(place.fails("eval one.run qrels.txt --format trec --json").contains("--json"));
}

#[test]
fn counts_are_added_up() {
    let place = place();
    let found = place.json("eval one.run qrels.txt --metrics num_ret,num_rel,map --json");
    assert_eq!(found["totals"], serde_json::json!({ "num-ret": 6, "num-rel": 3 }));
    assert_eq!(found["means"]["num-ret"], 2.0);
    let table = place.ok("eval one.run qrels.txt --metrics num_ret,map --per-query");
    assert!(table.contains("6 in all"), "{table}");
}

/// By hand: the first run has MRR 1, 1/2 and 0, the second 1, 1 and 0; in P@1 they have 1, 0, 0 and 1, 1, 0.
#[test]
fn runs_are_compared_by_several_metrics_with_qrels_first() {
    let place = place();
    let found = place.json("compare qrels.txt one.run two.run --metrics mrr,P_1 --per-query --json");
    assert_eq!((&found["metric"], &found["queries"]), (&"mrr".into(), &3.into()));
    let by_metric = found["by_metric"].as_array().unwrap();
    let names: Vec<&str> = by_metric.iter().map(|m| m["metric"].as_str().unwrap()).collect();
    assert_eq!(names, ["mrr", "p@1"]);
    assert_eq!(by_metric[0]["pairs"], found["pairs"]);
    assert_eq!(by_metric[1]["pairs"][0]["wins"], 1);
    assert_eq!(by_metric[1]["systems"][1]["mean"].as_f64().unwrap(), 2.0 / 3.0);
    let second = &found["per_query"][1];
    assert_eq!(
        second,
        &serde_json::json!({ "query": "2", "values": { "mrr": [0.5, 1.0], "p@1": [0.0, 1.0] } })
    );
    let printed = place.ok("compare qrels.txt one.run two.run --metrics mrr,P_1 --per-query");
    let row = printed.lines().find(|line| line.split_whitespace().take(2).eq(["2", "p@1"])).unwrap();
    assert_eq!(row.split_whitespace().skip(2).collect::<Vec<_>>(), ["0.0000", "1.0000"]);
    assert!(printed.contains("for each metric by itself"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
}

/// By hand: `a` is third and first in topic 1, `c` first and second, `b` second.
#[test]
fn runs_are_fused() {
    let place = place();
    let fused = place.ok("fuse one.run two.run --k 1 --tag both");
    let first: Vec<&str> = fused.lines().take(3).collect();
    assert_eq!(
        first,
        ["1 Q0 c 1 0.8333333333333333 both", "1 Q0 a 2 0.75 both", "1 Q0 b 3 0.3333333333333333 both",]
    );
    place.ok("fuse one.run two.run --method comb-mnz --normalize max --depth 1 -o fused.run");
    let written = fs::read_to_string(place.directory().join("fused.run")).unwrap();
    // a: 1/2 + 1 in two runs; b: 1 in one; c: 1 + 2/3 in two.
    assert!(written.starts_with("1 Q0 c 1 3.333333333333333"), "{written}");
    assert_eq!(written.lines().count(), 3);
    place.ok("eval fused.run qrels.txt --metrics map");
    for (arguments, message) in [
        ("fuse one.run two.run --normalize max", "--normalize is for comb-sum"),
        ("fuse one.run two.run --method comb-sum --k 3", "--k is for rrf"),
        ("fuse one.run qrels.txt", "qrels.txt is a file of TREC qrels"),
        ("fuse one.run two.run -o one.run", "give them different names"),
        ("fuse one.run two.run --k=-1", "`k` is -1; it must be 0 or more"),
    ] {
        let found = place.fails(arguments);
        assert!(found.contains(message), "{arguments}: {found}");
    }
    fs::write(place.directory().join("short.run"), "1 Q0 a 1 1.0 s\n").unwrap();
    let output = place.run("fuse one.run short.run");
    assert!(text(&output.stderr).contains("2 topics are missing from some of the runs"));
}
