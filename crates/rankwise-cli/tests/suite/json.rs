//! The JSON output of every command has the keys that docs/json.md documents.

use crate::place::Place;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A heading of docs/json.md, and commands whose output it documents. Together they print all of its optional keys.
const COMMANDS: &[(&str, &[&str])] = &[
    ("`learners --json`", &["learners --json"]),
    (
        "`learners NAME --json`",
        &["learners lambda-mart --json", "learners prank --json", "learners svm-map --scorer network --json"],
    ),
    ("`metrics --json`", &["metrics --json"]),
    ("`metrics NAME --json`", &["metrics ndcg --json"]),
    ("`stats FILE… --json`", &["stats data.txt --json"]),
    (
        "`prepare FILE -o OUT --json`",
        &[
            "prepare data.txt --normalize min-max -o scaled.txt --json",
            "prepare data.txt --clean empty-queries -o clean.txt --json",
        ],
    ),
    (
        "`train … --json`",
        &[
            "train lambda-mart --train data.txt --valid data.txt --set iterations=5 -o trees.json --json",
            "train prank --train data.txt -o prank.json --json",
        ],
    ),
    (
        "`tune … --json`",
        &[
            "tune lambda-mart --train data.txt --folds 2 --set iterations=5 --grid num_leaves=[3,5] -o t.json --json",
            "tune regression --train data.txt --valid data.txt --grid ridge=[1e-3,1.0] -o linear.json --json",
        ],
    ),
    (
        "`eval MODEL FILE --json`",
        &[
            "eval trees.json data.txt --json",
            "eval trees.json data.txt --per-query --json",
            "eval trees.json data.txt --metrics num_ret,map --json",
        ],
    ),
    (
        "`compare MODEL… FILE --json`",
        &[
            "compare linear.json trees.json data.txt --json",
            "compare linear.json trees.json data.txt --metrics map,mrr --per-query --json",
        ],
    ),
    // `demo` prints the same; cli.rs runs it.
    ("`run FILE --json`, `demo --json`", &["run e.toml -o results --json"]),
    ("`study --json`", &["study --json"]),
    ("`study NAME --json`", &["study c-path --train data.txt --values 1 --learner svm-auc -o s --json"]),
    (
        "`inspect MODEL --json`",
        &["inspect trees.json --json", "inspect prank.json --json", "inspect clicked.json --json"],
    ),
    (
        "`inspect MODEL --tree N --json`",
        &[
            "inspect trees.json --tree 1 --json",
            concat!(
                "inspect ",
                env!("CARGO_MANIFEST_DIR"),
                "/../../testdata/categories/lightgbm-pandas.txt --tree 1 --json"
            ),
        ],
    ),
    ("`importance MODEL FILE --json`", &["importance trees.json data.txt --repeats 1 --json"]),
    (
        "`explain MODEL FILE --document X | --query ID | --pair X Y --json`",
        &["explain trees.json data.txt --document 1 --json", "explain trees.json data.txt --pair 1 2 --json"],
    ),
    ("`dependence MODEL FILE --feature F --json`", &["dependence linear.json data.txt --feature 1 --json"]),
    ("`verify-export MODEL EXPORTED --json`", &["verify-export trees.json trees.txt --json"]),
    ("`index FILE -o INDEX --json`", &["index docs.jsonl -o docs.idx --links cites --json"]),
    ("`index --show -o INDEX --json`", &["index --show -o docs.idx --json"]),
    ("`search INDEX QUERY --json`", &["search docs.idx time sharing --json"]),
    ("`search INDEX --queries FILE --json`", &["search docs.idx --queries q.tsv --json"]),
    (
        "`search INDEX QUERY --why-not ID --json`",
        &[
            "search docs.idx sharing --why-not d1 --json",
            "search docs.idx sharing -k 1 --why-not d2 --json",
            "search docs.idx sharing -k 1 --why-not d2 --model search.json --depth 1 --json",
        ],
    ),
    ("`labels agree FILE… --json`", &["labels agree judgments.csv --json"]),
    (
        "`labels merge FILE… -o OUT --json`",
        &[
            "labels merge judgments.csv -o qrels.txt --json",
            "labels merge judgments.csv --by dawid-skene -o qrels.txt --json",
        ],
    ),
    ("`clicks stats LOG… --json`", &["clicks stats log.jsonl broken.jsonl --json"]),
    (
        "`clicks fit MODEL LOG… --json`",
        &[
            "clicks fit pbm log.jsonl --json",
            "clicks fit dcm log.jsonl --json",
            "clicks fit cascade log.jsonl --held-out 0 --json",
        ],
    ),
    (
        "`clicks propensity LOG… --json`",
        &[
            "clicks propensity log.jsonl -o theta.json --json",
            "clicks propensity log.jsonl --by em --depth 3 --json",
            "clicks propensity gap.jsonl --json",
        ],
    ),
    (
        "`clicks evaluate LOG… --json`",
        &["clicks evaluate log.jsonl --propensity theta.json --model linear.json --data data.txt --json"],
    ),
    ("`clicks interleaving LOG… --json`", &["clicks interleaving interleaved.jsonl --json"]),
];

const JUDGMENTS: &str =
    "query,document,judge,grade\nq,a,ann,2\nq,a,bob,2\nq,b,ann,0\nq,b,bob,1\nq,c,ann,1\nq,c,bob,1\n";

/// An experiment with everything that has findings of its own.
const EXPERIMENT: &str = r#"
name = "e"
[[data]]
name = "d"
files = ["data.txt"]
k = 3
[[learner]]
name = "regression"
grid = { ridge = [1e-3, 1.0] }
[[learner]]
name = "coordinate-ascent"
set = { restarts = 1 }
[[expect]]
data = "d"
system = "regression"
metric = "ndcg@10"
value = 0.5
within = 1.0
source = "by hand"
"#;

const DOCUMENTS: &str = r#"{"id": "d1", "title": "Time sharing", "cites": ["d2"]}
{"id": "d2", "title": "Sharing a batch of time", "cites": []}
"#;

/// Nothing was shown at rank 2.
const GAP: &str = r#"{"id": 1, "query": "q", "shown": ["a", "b"], "positions": [1, 3], "clicks": [{"doc": "a"}]}
{"id": 2, "query": "q", "shown": ["b", "a"], "positions": [1, 3], "clicks": [{"doc": "b"}, {"doc": "a"}]}
"#;

/// Objects whose keys are names of metrics or parameters, or that belong to a file format.
const ARBITRARY: [&str; 10] = [
    "means",
    "totals",
    "values",
    "parameters",
    "model",
    "normalizer",
    "empty-except",
    "analyzers",
    "fields",
    "rankers",
];

/// What docs/json.md has under a heading.
struct Documented {
    keys: BTreeSet<String>,
    optional: BTreeSet<String>,
}

fn document() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    fs::read_to_string(path).unwrap()
}

fn quoted(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// The first column of the section's table has the keys, in backquotes.
fn documented(document: &str, heading: &str) -> Documented {
    let start = document.find(&format!("### {heading}\n"));
    let (_, body) =
        document[start.unwrap_or_else(|| panic!("no heading {heading}"))..].split_once('\n').unwrap();
    let section = &body[..body.find("\n##").unwrap_or(body.len())];
    let rows = section.lines().skip_while(|line| !line.starts_with("| key |")).skip(2);
    let cells: Vec<&str> =
        rows.take_while(|line| line.starts_with("| ")).filter_map(|line| line.split('|').nth(1)).collect();
    let (optional, always): (Vec<&str>, Vec<&str>) =
        cells.iter().partition(|cell| cell.contains("(optional)"));
    Documented {
        keys: always.into_iter().flat_map(quoted).collect(),
        optional: optional.into_iter().flat_map(quoted).collect(),
    }
}

/// Every key of a value, at any depth, except arbitrary ones.
fn all_keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| all_keys(item, found)),
        Value::Object(fields) => {
            for (key, inner) in fields {
                found.insert(key.clone());
                if !(inner.is_object() && ARBITRARY.contains(&key.as_str())) {
                    all_keys(inner, found);
                }
            }
        }
        _ => {}
    }
}

#[test]
fn the_json_output_of_every_command_has_the_documented_keys() {
    let document = document();
    let (_, shared) = document.split_once("## Shared objects").unwrap();
    // Objects described in one section appear in others, such as the metrics of `metrics --json`.
    let described: BTreeSet<String> = quoted(shared).chain(["schema".into()]).collect();
    let place = Place::new();
    fs::write(place.directory().join("e.toml"), EXPERIMENT).unwrap();
    place.ok("synth --shape ohsumed --queries 12 --documents 15 --features 6 -o data.txt");
    place.write("docs.jsonl", DOCUMENTS);
    place.write("q.tsv", "1\ttime sharing\n2\tsharing\n");
    place.write("judgments.csv", JUDGMENTS);
    place.write("gap.jsonl", GAP);
    place.write("broken.jsonl", "{\"id\": 1");
    for (heading, commands) in COMMANDS {
        let documented = documented(&document, heading);
        assert!(!documented.keys.is_empty(), "{heading}: no table of keys");
        let mut optional_seen = BTreeSet::new();
        for arguments in *commands {
            if arguments.starts_with("verify-export") {
                place.ok("export trees.json --format lightgbm -o trees.txt");
            }
            if arguments.contains("search.json") {
                place.ok("features docs.idx --queries q.tsv --set small -o search.csv");
                place.ok("train regression --train search.csv -o search.json");
            }
            if arguments.contains("clicked.json") {
                place.ok("clicks simulate data.txt --model trees.json --sessions 20 -o shown.jsonl");
                place.ok("train list-net --train data.txt --clicks shown.jsonl -o clicked.json");
            }
            if arguments.starts_with("clicks stats") {
                let models = "--model trees.json --model linear.json --sessions 20";
                place.ok(&format!("clicks simulate data.txt {models} -o log.jsonl"));
                place.ok(&format!(
                    "clicks simulate data.txt {models} --interleave team-draft -o interleaved.jsonl"
                ));
            }
            let value: Value = serde_json::from_str(&place.ok(*arguments)).unwrap();
            let objects = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            assert!(!objects.is_empty(), "{arguments}");
            for object in &objects {
                let mut keys: BTreeSet<String> = object.as_object().unwrap().keys().cloned().collect();
                if value.is_object() {
                    assert_eq!(object.as_object().unwrap().keys().next().unwrap(), "schema", "{arguments}");
                    assert_eq!(object["schema"], 1, "{arguments}");
                    keys.remove("schema");
                }
                optional_seen.extend(keys.intersection(&documented.optional).cloned());
                let always: BTreeSet<String> = keys.difference(&documented.optional).cloned().collect();
                assert_eq!(always, documented.keys, "printed and documented keys of `{arguments}`");
            }
            let mut inner = BTreeSet::new();
            all_keys(&value, &mut inner);
            let lacking: Vec<&String> = inner.difference(&described).collect();
            assert!(lacking.is_empty(), "docs/json.md lacks {lacking:?} of `{arguments}`");
        }
        assert_eq!(optional_seen, documented.optional, "optional keys of {heading} that were printed");
    }
}

#[test]
fn every_heading_of_the_document_is_checked_and_every_command_with_json_has_one() {
    let document = document();
    let headings: Vec<&str> = document.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let checked: Vec<&str> = COMMANDS.iter().map(|(heading, _)| *heading).collect();
    assert_eq!(headings, checked);
    let place = Place::new();
    let help = place.ok("--help");
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let names = list.lines().take_while(|line| line.starts_with("  "));
    // Continued descriptions are indented further.
    let names: Vec<&str> = names
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let prints_json = place.ok(&format!("{name} --help")).contains("--json");
        let has_heading = headings.iter().any(|heading| heading.contains(&format!("`{name} ")));
        assert_eq!(prints_json, has_heading, "{name}");
    }
}
