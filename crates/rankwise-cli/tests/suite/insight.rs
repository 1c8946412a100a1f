//! The commands that explain a model, on models made by hand.

use crate::place::Place;
use rankwise::data::Columns;
use rankwise::models::{Combine, LearnerCard, Model, Provenance, Ranker, TreeEnsemble};
use rankwise::trees::Tree;
use std::fs;

/// Two queries; `age` is missing once.
const DATA: &str = "label,qid,bm25,age,length\n\
    2,a,3,1,10\n\
    0,a,1,,10\n\
    1,a,2,5,20\n\
    0,b,1,1,20\n\
    1,b,4,5,10\n";

/// A place with `data.csv` and models of it.
fn place() -> Place {
    let place = Place::new();
    place.write("data.csv", DATA);
    save(&place, "trees.json", of_trees(0.5, vec![by_hand(), stump()]));
    save(&place, "linear.json", Model::linear(vec![2.0, -1.0, 0.0], 0.25));
    place
}

fn save(place: &Place, name: &str, model: Model) {
    let names = ["bm25", "age", "length"].map(String::from).to_vec();
    let card = LearnerCard { name: "by-hand".into(), title: "By hand".into(), citations: Vec::new() };
    let provenance = Provenance { learner: card, metric: "ndcg@10".into(), ..Provenance::default() };
    let columns = Columns { first_id: 1, names: Some(names), ..Columns::default() };
    let ranker = Ranker::new(model, columns, None, provenance).unwrap();
    ranker.save(&place.path(name)).unwrap();
}

fn of_trees(base: f64, trees: Vec<Tree>) -> Model {
    Model::Trees(TreeEnsemble::sum(3, base, trees).unwrap())
}

/// `bm25 ≤ 1.5`; above that, `age ≤ 2`, where missing goes left.
fn by_hand() -> Tree {
    Tree {
        features: vec![0, 1],
        thresholds: vec![1.5, 2.0],
        missing_left: vec![false, true],
        left: vec![!0, !1],
        right: vec![1, !2],
        gains: vec![3.0, 1.0],
        values: vec![-1.0, 1.0, 0.25],
        covers: vec![2000.0, 1000.0, 1000.0],
        ..Tree::default()
    }
}

/// `age ≤ 2`, missing right.
fn stump() -> Tree {
    Tree {
        features: vec![1],
        thresholds: vec![2.0],
        missing_left: vec![false],
        left: vec![!0],
        right: vec![!1],
        gains: vec![0.5],
        values: vec![0.5, 0.0],
        covers: vec![3000.0, 1000.0],
        ..Tree::default()
    }
}

/// The words of the first line that has `start` as its first word.
fn words(text: &str, start: &str) -> Vec<String> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(start));
    line.unwrap_or_else(|| panic!("no line starts with {start}:\n{text}"))
        .split_whitespace()
        .map(String::from)
        .collect()
}

#[test]
fn inspect_describes_trees() {
    let place = place();
    let printed = place.narrow("inspect trees.json");
    assert_eq!(words(&printed, "trees"), ["trees", "2"]);
    assert_eq!(words(&printed, "leaves"), ["leaves", "5"]);
    assert_eq!(words(&printed, "depth"), ["depth", "2"]);
    assert!(printed.contains("2 of 3"));
    assert_eq!(words(&printed, "bm25"), ["bm25", "3.000000", "66.7", "%", "1"]);
    assert_eq!(words(&printed, "age"), ["age", "1.500000", "33.3", "%", "2"]);
    assert!(place.narrow("inspect trees.json --top 1").contains("and 1 more feature: --top 0 shows all"));
}

#[test]
fn inspect_prints_a_tree_that_people_can_read() {
    let place = place();
    let lines: Vec<Vec<String>> = place
        .ok("inspect trees.json --tree 1")
        .lines()
        .map(|line| line.split_whitespace().map(String::from).collect())
        .collect();
    let expected = [
        "level test or leaf value gain documents",
        "0 if bm25 ≤ 1.5 3.000000 4,000",
        "1 -1.000000 2,000",
        "0 else or missing",
        "1 if age ≤ 2 or missing 1.000000 2,000",
        "2 +1.000000 1,000",
        "1 else",
        "2 +0.250000 1,000",
    ];
    assert_eq!(lines.iter().map(|words| words.join(" ")).collect::<Vec<_>>(), expected);
    assert_eq!(place.json("inspect trees.json --tree 2 --json")["features"], serde_json::json!([1]));
    for number in [0, 3] {
        let printed = place.fails(&format!("inspect trees.json --tree {number}"));
        assert!(printed.contains(&format!("there is no tree {number}: the model has 2 trees")), "{printed}");
    }
    assert!(place.fails("inspect linear.json --tree 1").contains("not a model of trees"));
}

#[test]
fn importance_puts_shuffles_beside_gain_and_splits() {
    let place = place();
    let found = place.json("importance trees.json data.csv --metric mrr --repeats 9 --json");
    assert_eq!((&found["metric"], &found["repeats"]), (&"mrr".into(), &9.into()));
    let features = found["features"].as_array().unwrap();
    let of = |name: &str| features.iter().find(|f| f["feature"] == name).unwrap();
    assert_eq!((&of("bm25")["gain"], &of("age")["splits"]), (&3.0.into(), &2.into()));
    assert_eq!((&of("length")["drop"], &of("length")["deviation"]), (&0.0.into(), &0.0.into()));
    assert!(of("bm25")["drop"].as_f64().unwrap() > 0.0);
    let printed = place.narrow("importance trees.json data.csv --metric mrr --repeats 9 --threads 2");
    assert_eq!(words(&printed, "length"), ["length", "0.0000", "0.0000", "0.000000", "0"]);
    assert!(printed.contains("9 shuffles"));
    assert!(place.json("importance linear.json data.csv --json")["features"][0].get("gain").is_none());
    assert!(place.fails("importance trees.json data.csv --metric nonsense").contains("nonsense"));
}

/// By hand, for document 1 (bm25 3, age 1): of tree 1 the expectations are −3/16 knowing nothing, 5/8 with bm25, and
/// ½·(−1) + ½·1 = 0 with age, 1 with both; so bm25 has ½·(13/16 + 1) and age ½·(3/16 + 3/8). Tree 2 gives age 1/8.
#[test]
fn explain_splits_a_score_among_features() {
    let place = place();
    let found = place.json("explain trees.json data.csv --document 1 --json");
    assert_eq!(found["base"], 0.5 - 3.0 / 16.0 + 0.375);
    let document = &found["documents"][0];
    assert_eq!(
        (&document["score"], &document["rank"], &document["query"]),
        (&2.0.into(), &1.into(), &"a".into())
    );
    let contributions = document["contributions"].as_array().unwrap();
    let of =
        |i: usize| (contributions[i]["feature"].as_str().unwrap(), contributions[i]["contribution"].as_f64());
    for (i, name, expected) in [(0, "bm25", 29.0 / 32.0), (1, "age", 9.0 / 32.0 + 0.125), (2, "length", 0.0)]
    {
        assert_eq!(of(i).0, name);
        assert!((of(i).1.unwrap() - expected).abs() < 1e-12);
    }
    let printed = place.narrow("explain trees.json data.csv --document 1");
    assert!(printed.starts_with("document 1: grade 2, rank 1 of 3 in query a\n"), "{printed}");
    assert_eq!(words(&printed, "bm25"), ["bm25", "3", "+0.906250", "│████████"]);
    // 13/32 of 29/32, in 16 steps: 7.
    assert_eq!(words(&printed, "age"), ["age", "1", "+0.406250", "│███▌"]);
    assert_eq!(words(&printed, "score"), ["score", "+2.000000"]);
    let printed = place.narrow("explain trees.json data.csv --query a --depth 0 --top 1");
    assert!(
        printed.contains("document 2: grade 0, rank 3 of 3") && printed.contains("1 more feature"),
        "{printed}"
    );
    assert!(printed.find("document 1").unwrap() < printed.find("document 3").unwrap());
    let printed = place.narrow("explain linear.json data.csv --document 2");
    assert_eq!(words(&printed, "bm25"), ["bm25", "1", "+2.000000", "│████████"]);
    assert_eq!(words(&printed, "bias"), ["bias", "+0.250000"]);
    assert!(!printed.contains("age"), "a missing value contributes nothing: {printed}");
}

/// By hand: document 1 scores 2·3 − 1 + ¼ and document 3 2·2 − 5 + ¼.
#[test]
fn explain_shows_why_one_document_ranks_above_another() {
    let place = place();
    let printed = place.narrow("explain linear.json data.csv --pair 1 3");
    assert_eq!(words(&printed, "age"), ["age", "1", "5", "+4.000000", "│████████"]);
    assert_eq!(words(&printed, "bm25"), ["bm25", "3", "2", "+2.000000", "│████"]);
    assert_eq!(words(&printed, "score"), ["score", "+5.250000", "-0.750000", "+6.000000"]);
    assert!(printed.contains("Document 1 ranks above document 3."), "{printed}");
    let turned = place.narrow("explain linear.json data.csv --pair 3 1 --top 1");
    assert_eq!(words(&turned, "age"), ["age", "5", "1", "-4.000000", "████████│"]);
    assert_eq!(words(&turned, "1"), ["1", "more", "feature", "-2.000000"]);
    assert!(turned.contains("Document 3 ranks below document 1."), "{turned}");
    let found = place.json("explain linear.json data.csv --pair 1 3 --json");
    assert_eq!(
        (&found["difference"]["score"], found["documents"].as_array().unwrap().len()),
        (&6.0.into(), 2)
    );
    let first = serde_json::json!({ "feature": "age", "values": [1.0, 5.0], "difference": 4.0 });
    assert_eq!(found["difference"]["features"][0], first);
    let trees = place.json("explain trees.json data.csv --pair 5 4 --json");
    let features = trees["difference"]["features"].as_array().unwrap();
    let sum: f64 = features.iter().map(|f| f["difference"].as_f64().unwrap()).sum();
    assert!((sum - trees["difference"]["score"].as_f64().unwrap()).abs() < 1e-12);
    assert_eq!(place.narrow("explain linear.json data.csv --pair 1 3 --csv").lines().count(), 3);
}

#[test]
fn documents_are_named_by_id_or_number() {
    let place = place();
    let ids = "label,qid,docid,bm25,age,length\n2,a,x,3,1,10\n0,a,y,1,,10\n1,a,z,2,5,20\n0,b,x,1,1,20\n1,b,2,4,5,10\n";
    fs::write(place.directory().join("ids.csv"), ids).unwrap();
    let explained = |chosen: &str| place.narrow(&format!("explain linear.json ids.csv {chosen}"));
    assert!(explained("--document y").starts_with("document 2 (y): grade 0"));
    assert!(explained("--query b --document x").starts_with("document 4 (x): grade 0"));
    assert!(explained("--document 3").starts_with("document 3 (z)"), "no document has the id 3");
    assert!(explained("--document 2").starts_with("document 5 (2)"), "an id comes before a number");
    assert!(explained("--pair z x").contains("Document 3 (z) ranks below document 1 (x)."));
    for (chosen, message) in [
        ("--document x", "documents with the id `x` in several queries (a, b); choose one with --query"),
        ("--document w", "ids.csv has no document with the id `w`"),
        ("--query b --document y", "query b of ids.csv has no document with the id `y`"),
        ("--query b --document 1", "document 1 is not of query b"),
        ("--pair y 4", "belong to different queries, a and b"),
        ("--pair x x", "choose one with --query"),
        ("--pair x", "2 values"),
        ("--pair x y --document z", "cannot be used with"),
        ("--document x --query a --depth 2", "cannot be used with"),
    ] {
        let found = place.fails(&format!("explain linear.json ids.csv {chosen}"));
        assert!(found.contains(message), "{chosen}: {found}");
    }
    assert!(place.fails("explain linear.json data.csv --document y").contains("have no ids; give a number"));
    fs::write(place.directory().join("twice.csv"), ids.replace("a,y", "a,x")).unwrap();
    let found = place.fails("explain linear.json twice.csv --query a --document x");
    assert!(found.contains("query a of twice.csv has several documents with the id `x`"), "{found}");
}

#[test]
fn explain_writes_all_documents_as_csv() {
    let place = place();
    place.narrow("explain linear.json data.csv -o out.csv");
    let written = fs::read_to_string(place.directory().join("out.csv")).unwrap();
    let expected = "document,query,score,base,bm25,age,length\n\
        1,a,5.25,0.25,6,-1,0\n2,a,2.25,0.25,2,0,0\n3,a,-0.75,0.25,4,-5,0\n4,b,1.25,0.25,2,-1,0\n5,b,3.25,0.25,8,-5,0\n";
    assert_eq!(written, expected);
    let some = place.narrow("explain linear.json data.csv --query b --depth 1 --csv");
    assert_eq!(some, "document,query,score,base,bm25,age,length\n5,b,3.25,0.25,8,-5,0\n");
}

#[test]
fn what_cannot_be_explained_is_refused_in_a_sentence() {
    let place = place();
    assert!(place.fails("explain trees.json data.csv").contains("choose what to explain"));
    assert!(place.fails("explain trees.json data.csv --document 6").contains("has 5 documents"));
    assert!(place.fails("explain trees.json data.csv --query c").contains("has no query `c`"));
    let combine = Combine::Ordinal { grades: vec![0.0, 1.0, 2.0] };
    let trees = vec![by_hand(), stump()];
    save(&place, "graded.json", Model::Trees(TreeEnsemble::new(3, vec![0.0, 0.0], combine, trees).unwrap()));
    assert!(place.fails("explain graded.json data.csv --document 1").contains("several outputs"));
    place.narrow("importance graded.json data.csv");
    let unknown = Tree { covers: vec![0.0; 3], ..by_hand() };
    save(&place, "unknown.json", of_trees(0.0, vec![unknown]));
    assert!(place.fails("explain unknown.json data.csv --document 1").contains("tree 1 does not say"));
    let printed = place.narrow("inspect unknown.json --tree 1");
    assert_eq!(words(&printed, "1"), ["1", "-1.000000"], "no documents are claimed where none are known");
}

#[test]
fn dependence_gives_mean_scores() {
    let place = place();
    // bm25 at 1: −1 for all. Else by age, of which one is missing, two are 1 and two are 5: (1 + 2·1 + 2·¼)/5.
    // Tree 2 adds ½ for two of five.
    let found = place.json("dependence trees.json data.csv --feature bm25 --json");
    let means: Vec<f64> =
        found["points"].as_array().unwrap().iter().map(|p| p["mean"].as_f64().unwrap()).collect();
    let (low, high) = (0.5 + 0.2 - 1.0, 0.5 + 0.2 + 0.7);
    for (mean, expected) in means.iter().zip([low, high, high, high]) {
        assert!((mean - expected).abs() < 1e-12, "{means:?}");
    }
    assert_eq!((means.len(), &found["documents"]), (4, &5.into()));
    let printed = place.narrow("dependence trees.json data.csv --feature age");
    assert!(words(&printed, "missing").len() == 2 && printed.contains("means over 5 documents"), "{printed}");
    place.narrow("dependence linear.json data.csv --feature length --feature bm25 -o out.csv");
    let written = fs::read_to_string(place.directory().join("out.csv")).unwrap();
    assert!(written.starts_with("length,bm25,mean score\n10,1,"), "{written}");
    assert_eq!(written.lines().count(), 1 + 2 * 4);
    assert!(
        place.fails("dependence trees.json data.csv --feature pagerank").contains("no feature `pagerank`")
    );
    assert!(place.fails("dependence trees.json data.csv --feature age --points 1").contains("`points` is 1"));
    assert!(place.fails("dependence trees.json data.csv --feature age --feature age").contains("different"));
}
