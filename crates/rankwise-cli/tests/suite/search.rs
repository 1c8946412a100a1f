//! From documents to rankings: `index`, `features`, `train` and `search` as users run them.

use crate::place::Place;

const DOCUMENTS: &str = r#"{"id": "d1", "title": "Time sharing", "body": "A time sharing system for many users.", "year": 1970, "cites": ["d2"]}
{"id": "d2", "title": "Batch systems", "body": "Before time sharing there were batches.", "year": 1960, "cites": []}
{"id": "d3", "title": "Sorting", "body": "How to sort numbers quickly, in little time.", "year": 1965, "cites": ["d1", "d2"]}
{"id": "d4", "title": "Compilers", "body": "Sharing registers among variables.", "cites": []}
"#;

fn place() -> Place {
    let place = Place::new();
    place.write("docs.jsonl", DOCUMENTS);
    place.write("q.tsv", "1\ttime sharing\n2\tsort numbers\n3\tbatch system\n");
    place.write("qrels.txt", "1 0 d1 2\n1 0 d2 1\n2 0 d3 1\n3 0 d2 1\n3 0 d9 1\n");
    place
}

fn indexed() -> Place {
    let place = place();
    place.ok("index docs.jsonl -o docs.idx --links cites");
    place
}

#[test]
fn documents_become_an_index_that_says_what_it_is() {
    let place = place();
    let printed = place.narrow("index docs.jsonl -o docs.idx --links cites");
    for part in ["4 added", "field title", "text, english", "field year", "date", "field cites", "links"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let shown = place.json("index --show -o docs.idx --json");
    assert_eq!((&shown["documents"], shown["fields"].as_array().unwrap().len()), (&4.into(), 4));
    let error = place.fails("index docs.jsonl -o docs.idx");
    assert!(error.contains("there is already an index"), "{error}");
}

#[test]
fn documents_are_added_replaced_and_deleted() {
    let place = indexed();
    place.write(
        "more.jsonl",
        "{\"id\": \"d4\", \"title\": \"Parsers\", \"pages\": 3}\n{\"id\": \"d5\", \"title\": \"Time\"}\n",
    );
    let (out, error) = place.both("index more.jsonl --add -o docs.idx");
    assert!(out.contains("2 added, 1 replaced") && error.contains("no field `pages`"), "{out}{error}");
    assert!(place.ok("search docs.idx parsers").contains("d4"));
    assert!(place.ok("search docs.idx compilers").contains("nothing found"));
    place.write("gone.txt", "d5\nd77\n");
    let (out, error) = place.both("index --delete gone.txt -o docs.idx");
    assert!(out.contains("1 deleted") && error.contains("such as `d77`"), "{out}{error}");
    assert_eq!(place.json("index --show -o docs.idx --json")["documents"], 4);
}

#[test]
fn a_search_shows_documents_with_their_words() {
    let place = indexed();
    let printed = place.narrow("search docs.idx time sharing");
    let first = printed.lines().next().unwrap();
    assert!(first.contains("1. d1"), "{printed}");
    assert!(printed.contains("A time sharing system"), "{printed}");
    let found = place.json("search docs.idx time sharing --json");
    let ids: Vec<&str> =
        found["documents"].as_array().unwrap().iter().map(|d| d["id"].as_str().unwrap()).collect();
    assert_eq!(ids[..2], ["d1", "d2"]);
    let first = &found["documents"][0];
    let snippet = first["snippet"].as_str().unwrap();
    let snippet: Vec<char> = snippet.chars().collect();
    let ranges: Vec<[usize; 2]> = serde_json::from_value(first["highlights"].clone()).unwrap();
    let marked: Vec<String> =
        ranges.iter().map(|[start, end]| snippet[*start..*end].iter().collect()).collect();
    assert_eq!(marked, ["time", "sharing"]);
    let only = place.json(&["search", "docs.idx", "+title:sharing year:[1969 TO 1971]", "--json"]);
    assert_eq!(only["documents"].as_array().unwrap().len(), 1);
}

#[test]
fn runs_are_those_that_trec_eval_reads() {
    let place = indexed();
    place.ok("search docs.idx --queries q.tsv -o bm25.run");
    let run = place.read("bm25.run");
    let first: Vec<&str> = run.lines().next().unwrap().split(' ').collect();
    assert_eq!((first[0], first[1], first[2], first[3], first[5]), ("1", "Q0", "d1", "1", "rankwise"));
    let evaluated = place.json("eval bm25.run qrels.txt --metrics mrr --json");
    assert_eq!(evaluated["means"]["mrr"], 1.0, "{evaluated}");
}

#[test]
fn a_model_remembers_its_features_and_search_computes_them() {
    let place = indexed();
    let (out, error) =
        place.both("features docs.idx --queries q.tsv --qrels qrels.txt --set small -o train.txt");
    assert!(out.contains("3 queries") && !error.contains("documents named"), "{out}{error}");
    assert!(place.read("train.txt.features.toml").contains("bm25.title"));
    place.ok("train regression --train train.txt -o model.json");
    assert!(place.ok("inspect model.json").contains("small"));
    // What the model scores in the file is what it scores in the search, to the last digit.
    place.ok("score model.json train.txt -o scores.csv");
    let scores = place.read("scores.csv");
    let found = place.json("search docs.idx time sharing --model model.json --explain --json");
    for document in found["documents"].as_array().unwrap() {
        let id = document["id"].as_str().unwrap();
        let line = scores.lines().find(|line| line.starts_with(&format!("1,{id},"))).unwrap();
        let score: f64 = line.rsplit(',').next().unwrap().parse().unwrap();
        assert_eq!(document["score"].as_f64().unwrap(), score, "{id}");
        let parts = document["features"].as_array().unwrap().iter();
        let sum: f64 = parts.map(|feature| feature["contribution"].as_f64().unwrap()).sum();
        assert!((sum + document["base"].as_f64().unwrap() - score).abs() < 1e-9, "{id}");
    }
    let text = place.narrow("search docs.idx time sharing --model model.json --explain --top 3");
    assert!(text.contains('│'), "{text}");
}

#[test]
fn explanations_sum_to_scores_whatever_is_shown() {
    let place = indexed();
    place.ok("features docs.idx --queries q.tsv --qrels qrels.txt --set small -o train.txt");
    // Every candidate is scaled among all candidates, shown or not.
    place.ok("train regression --normalize z-score --train train.txt -o model.json");
    let scores: Vec<f64> = ["-k 1", "-k 2", "-k 3", "-k 3 --depth 2"]
        .map(|shown| {
            let found = place
                .json(&format!("search docs.idx time sharing --model model.json --explain --json {shown}"));
            for document in found["documents"].as_array().unwrap() {
                let Some(base) = document.get("base") else {
                    assert_eq!(document["by_model"], false, "{shown}");
                    continue;
                };
                let parts = document["features"].as_array().unwrap().iter();
                let sum: f64 = parts.map(|feature| feature["contribution"].as_f64().unwrap()).sum();
                let score = document["score"].as_f64().unwrap();
                assert!((sum + base.as_f64().unwrap() - score).abs() < 1e-9, "{shown}: {document}");
            }
            found["documents"][0]["score"].as_f64().unwrap()
        })
        .to_vec();
    assert!(scores[0] == scores[1] && scores[1] == scores[2], "{scores:?}");
    let text = place.narrow("search docs.idx time sharing --model model.json --explain -k 3 --depth 2");
    assert!(text.contains("not scored by the model") && !text.contains("+-"), "{text}");
}

#[test]
fn rows_without_a_judgment_are_counted() {
    let place = indexed();
    place.write("few.txt", "1 0 d1 2\n");
    let (_, notes) = place.both("features docs.idx --queries q.tsv --qrels few.txt -o train.csv");
    assert!(notes.contains("have no judgment and count as not relevant"), "{notes}");
    let (_, notes) =
        place.both("features docs.idx --queries q.tsv --qrels few.txt --unjudged drop -o train.csv");
    assert!(!notes.contains("no judgment and"), "{notes}");
    let (_, notes) = place.both("features docs.idx --queries q.tsv -o train.csv");
    assert!(notes.contains("all labels are 0"), "{notes}");
}

#[test]
fn ids_that_would_break_a_run_are_refused() {
    let place = Place::new();
    place.write(
        "docs.jsonl",
        "{\"id\": \"a b\", \"title\": \"time\"}\n{\"id\": \"c\", \"title\": \"sharing\"}\n",
    );
    place.ok("index docs.jsonl -o docs.idx");
    let error = place.fails("search docs.idx time --format trec -o out.run");
    assert!(error.contains("`a b` cannot be written to a TREC file") && error.contains("--json"), "{error}");
    assert!(!place.path("out.run").exists());
    place.write("q.tsv", "q 1\tsharing\n");
    assert!(place.fails("search docs.idx --queries q.tsv -o out.run").contains("`q 1` cannot be written"));
}

#[test]
fn another_analyzer_or_a_model_of_other_features_is_refused() {
    let place = indexed();
    place.ok("features docs.idx --queries q.tsv --qrels qrels.txt --set small -o train.txt");
    place.ok("train regression --train train.txt -o model.json");
    place.ok("index docs.jsonl -o plain.idx --links cites --analyzer plain");
    let error = place.fails("search plain.idx time --model model.json");
    assert!(error.contains("does not fit the model") && error.contains("plain"), "{error}");
    place.ok("synth --shape ohsumed --queries 5 --documents 5 --features 4 -o other.txt");
    place.ok("train regression --train other.txt -o other.json");
    let error = place.fails("search docs.idx time --model other.json");
    assert!(error.contains("does not say how its features were computed"), "{error}");
}

#[test]
fn why_a_document_is_not_shown_is_said() {
    let place = indexed();
    for (arguments, part) in [
        ("search docs.idx time sharing --why-not d1", "at rank 1"),
        ("search docs.idx time sharing -k 1 --why-not d2", "is at rank 2"),
        ("search docs.idx sorting --why-not d1", "does not match"),
        ("search docs.idx time --why-not d77", "no document `d77`"),
    ] {
        let printed = place.narrow(arguments);
        assert!(printed.replace('\n', " ").contains(part), "{arguments}: {printed}");
    }
    let why = place.json("search docs.idx sorting --why-not d1 --json");
    assert_eq!(why["reason"], "no-match");
}

#[test]
fn feature_sets_are_printed_edited_and_timed() {
    let place = indexed();
    let set = place.ok("features docs.idx --print-set --set small --pick bm25.*");
    assert!(set.contains("bm25.whole") && !set.contains("pagerank\","), "{set}");
    place.write("my.toml", set.replace("bm25.whole", "mine"));
    place.ok("features docs.idx --queries q.tsv --set my.toml -o out.csv");
    assert!(place.read("out.csv").lines().next().unwrap().contains("mine"));
    let times = place.narrow("features docs.idx --queries q.tsv --set my.toml --times");
    assert!(times.contains("reading words, numbers and links"), "{times}");
    let error = place.fails("features docs.idx --queries q.tsv --set none -o out.csv");
    assert!(error.contains("no feature set `none`"), "{error}");
}

#[test]
fn bad_input_is_explained_and_leaves_nothing_behind() {
    let place = place();
    place.write("bad.jsonl", format!("{DOCUMENTS}{{\"id\": \"x\", \"title\": }}\n"));
    let error = place.fails("index bad.jsonl -o bad.idx");
    assert!(error.contains("bad.jsonl:5:"), "{error}");
    assert!(!place.path("bad.idx").exists());
    let (_, error) = place.both("index bad.jsonl -o skipped.idx --on-error skip");
    assert!(error.contains("1 malformed document") && error.contains("bad.jsonl:5:"), "{error}");
    place.write("twice.jsonl", format!("{DOCUMENTS}{DOCUMENTS}"));
    assert!(place.fails("index twice.jsonl -o twice.idx").contains("two documents have the id `d1`"));
    assert!(!place.path("twice.idx").exists());
    place.ok("index twice.jsonl -o twice.idx --duplicates keep-first");
    place.write("no_id.jsonl", "{\"title\": \"x\"}\n");
    assert!(place.fails("index no_id.jsonl -o n.idx").contains("no_id.jsonl:1:"));
    place.write("empty.jsonl", "");
    assert!(place.fails("index empty.jsonl -o n.idx").contains("empty"));
    assert!(place.fails("search docs.idx time").contains("docs.idx"));
    assert!(place.fails("search skipped.idx titel:time").contains("titel"));
    assert!(place.fails(&["search", "skipped.idx", "(time"]).contains("cannot be read at"));
    let (out, error) = place.both("search skipped.idx the");
    assert!(out.contains("nothing found") && error.contains("analyzer leaves out"), "{out}{error}");
    assert!(place.fails("index missing.jsonl -o n.idx").contains("missing.jsonl"));
    assert!(!place.path("n.idx").exists());
}

#[test]
fn the_demo_shows_bm25_beside_a_model() {
    let place = Place::new();
    let printed = place.narrow("demo search");
    assert!(printed.contains("BM25") && printed.contains("lambda-mart"), "{printed}");
    place.ok("search rankwise-demo-search/docs.idx lighthouse --model rankwise-demo-search/model.json");
    assert!(place.fails("demo search").contains("is there already"));
}
