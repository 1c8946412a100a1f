//! Judgments: `labels agree` and `labels merge` as users run them.

use crate::place::Place;

/// The example of Krippendorff (2011): four observers, twelve units.
const KRIPPENDORFF: [[&str; 12]; 4] = [
    ["1", "2", "3", "3", "2", "1", "4", "1", "2", "", "", ""],
    ["1", "2", "3", "3", "2", "2", "4", "1", "2", "5", "", "3"],
    ["", "3", "3", "3", "2", "3", "4", "2", "2", "5", "1", ""],
    ["1", "2", "3", "3", "2", "4", "4", "1", "2", "5", "1", ""],
];

const DIVIDED: &str = "query,document,judge,grade,note,time\n\
    q,a,ann,1,,\nq,a,bob,3,,\nq,a,eve,3,,\nq,b,ann,2,\"a note, with a comma\",10:00\nq,b,bob,0,,\n";

fn krippendorff() -> Place {
    let place = Place::new();
    let mut text = String::from("query,document,judge,grade\n");
    for (judge, grades) in KRIPPENDORFF.iter().enumerate() {
        for (unit, grade) in grades.iter().enumerate() {
            text += &format!("q,d{unit:02},judge{judge},{grade}\n");
        }
    }
    place.write("judgments.csv", text);
    place
}

#[test]
fn the_agreement_is_that_of_the_literature() {
    let place = krippendorff();
    let (out, error) = place.both("labels agree judgments.csv --json");
    assert!(error.contains("7 rows have no grade and are left out"), "{error}");
    let found: serde_json::Value = serde_json::from_str(&out).unwrap();
    for (name, expected) in [("nominal", 0.743_421), ("ordinal", 0.815_388), ("interval", 0.849_107)] {
        let value = found["estimates"][format!("alpha_{name}")]["value"].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-6, "{name} {value}");
    }
    let printed = place.narrow("labels agree judgments.csv --per-query --per-pair");
    for part in [
        "Krippendorff's α, nominal   0.743",
        "  ordinal                   0.815",
        "judge0",
        "judge3",
        "95 % CI",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert_eq!(printed.matches("judge1").count(), 4, "{printed}");
    // Intervals depend on the seed only.
    let again = place.json("--threads 1 labels agree judgments.csv --json");
    assert_eq!(again, found);
    assert_ne!(place.json("labels agree judgments.csv --seed 2 --json"), found);
}

#[test]
fn several_files_are_one_table_and_columns_have_other_names() {
    let place = Place::new();
    place.write("ann.tsv", "topic\turl\twho\tstars\nq\ta\tann\t1\nq\tb\tann\t0\n");
    place.write("bob.csv", "topic,url,who,stars\nq,a,bob,1\nq,b,bob,2\nq,b,bob,0\n");
    let columns = "--query topic --document url --judge who --grade stars";
    let (out, error) = place.both(&format!("labels agree ann.tsv bob.csv {columns}"));
    assert!(out.contains("equal judgments             1.000"), "{out}");
    assert!(error.contains("1 judgment was replaced by a later one"), "{error}");
    let error = place.fails("labels agree ann.tsv");
    assert!(error.contains("ann.tsv:1:1") && error.contains("no column `query`"), "{error}");
}

#[test]
fn labels_are_merged_by_each_rule() {
    let place = Place::new();
    place.write("judgments.csv", DIVIDED);
    for (rule, expected) in [
        ("majority", "q 0 a 3\nq 0 b 0\n"),
        ("median", "q 0 a 3\nq 0 b 0\n"),
        ("mean --round", "q 0 a 2\nq 0 b 1\n"),
    ] {
        place.ok(&format!("labels merge judgments.csv --by {rule} -o qrels.txt"));
        assert_eq!(place.read("qrels.txt"), expected, "{rule}");
    }
    let (out, error) = place.both("labels merge judgments.csv -o qrels.txt");
    assert_eq!(out, "qrels.txt: labels of 2 documents\n");
    assert!(error.contains("1 document has several grades that most judges gave"), "{error}");
    place.ok("labels merge judgments.csv --by mean -o labels.csv");
    let table = place.read("labels.csv");
    assert!(table.starts_with("query,document,grade,judges,support,tied\nq,a,2.333"), "{table}");
    assert!(table.ends_with("q,b,1,2,0,1\n"), "{table}");
    assert_eq!(place.ok("labels merge judgments.csv -o -"), "q 0 a 3\nq 0 b 0\n");
    let error = place.fails("labels merge judgments.csv --by mean -o means.txt");
    assert!(error.contains("2.3333") && error.contains("use --round"), "{error}");
    assert!(!place.path("means.txt").exists());
}

#[test]
fn dawid_and_skene_show_their_convergence_and_the_judges_errors() {
    let place = Place::new();
    let mut text = String::from("query,document,judge,grade\n");
    for document in 0..40 {
        let truth = document % 2;
        for (judge, wrong_every) in [("ann", 20), ("bob", 10), ("eve", 2)] {
            let grade = if document % wrong_every == 1 { 1 - truth } else { truth };
            text += &format!("q,d{document},{judge},{grade}\n");
        }
    }
    place.write("judgments.csv", text);
    let printed = place.narrow("labels merge judgments.csv --by dawid-skene -o qrels.txt");
    for part in ["log-likelihood", "converged after", "accuracy", "gives 0", "eve"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let found = place.json("labels merge judgments.csv --by dawid-skene -o qrels.txt --json");
    let log: Vec<f64> =
        found["log_likelihood"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
    assert!(log.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9), "{log:?}");
    assert!(found["judges"][0]["accuracy"].as_f64() > found["judges"][2]["accuracy"].as_f64(), "{found}");
    let (_, error) = place.both("labels merge judgments.csv --by dawid-skene --iterations 1 -o qrels.txt");
    assert!(error.contains("has not converged after 1 iteration"), "{error}");
}

#[test]
fn bad_judgments_are_refused_with_their_place() {
    let place = Place::new();
    place.write("one.csv", "query,document,judge,grade\nq,a,ann,1\n");
    place.write("apart.csv", "query,document,judge,grade\nq,a,ann,1\nq,b,bob,1\n");
    place.write("word.csv", "query,document,judge,grade\nq,a,ann,good\n");
    place.write("short.csv", "query,document,judge,grade\nq,a,ann\n");
    place.write("none.csv", "query,document,judge,grade\nq,a,ann,\n");
    for (arguments, part) in [
        ("labels agree one.csv", "there is only one judge, `ann`"),
        ("labels agree apart.csv", "the 2 judges have no document in common"),
        ("labels agree word.csv", "word.csv:2:1: expected a number as the grade, found `good`"),
        ("labels agree short.csv", "short.csv:2"),
        ("labels agree missing.csv", "cannot open missing.csv"),
        ("labels agree one.csv --confidence 1.5", "a level between 0 and 1"),
        ("labels merge none.csv -o qrels.txt", "there are no judgments to merge"),
        ("labels merge one.csv -o one.csv", "give them different names"),
        ("labels merge one.csv --by vote -o q.txt", "invalid value 'vote'"),
        ("labels merge one.csv -o - --json", "cannot both go to standard output"),
    ] {
        let error = place.fails(arguments);
        assert!(error.contains(part), "{arguments}: {error}");
    }
    assert!(!place.path("qrels.txt").exists());
}

#[test]
fn judgments_that_were_taken_back_are_counted() {
    let place = Place::new();
    place.write("judgments.csv", "query,document,judge,grade\nq,x,a,1\nq,y,a,1\nq,x,a,\nq,z,a,\n");
    let (_, told) = place.both("labels merge judgments.csv -o qrels.txt");
    assert_eq!(place.read("qrels.txt"), "q 0 y 1\n");
    assert!(told.contains("1 judgment was taken back by a later row without a grade"), "{told}");
    assert!(told.contains("1 row has no grade and is left out"), "{told}");
}

#[test]
fn grades_may_be_any_numbers() {
    let place = Place::new();
    let row = |d: u32| {
        format!("q{},d{d},ann,{}\nq{},d{d},bob,{}\n", d % 9, f64::from(d) / 7.0, d % 9, f64::from(d) / 7.1)
    };
    let rows: String = (0..2_000).map(row).collect();
    place.write("judgments.csv", format!("query,document,judge,grade\n{rows}"));
    let printed = place.narrow("labels agree judgments.csv --resamples 20");
    assert!(printed.contains(", from 0 to 285.57") && printed.contains("queries"), "{printed}");
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let queries =
        printed.lines().map(words).find(|words| words.first().is_some_and(|word| word == "queries"));
    assert_eq!(queries.unwrap(), ["queries", "9"]);
}

#[test]
fn the_errors_of_judges_with_many_grades_fit_a_terminal() {
    let place = Place::new();
    let row = |d: u32| {
        let (ann, bob) = (d % 11, if d.is_multiple_of(5) { (d + 1) % 11 } else { d % 11 });
        format!("q,d{d},ann,{ann}\nq,d{d},bob,{bob}\nq,d{d},eve,{ann}\n")
    };
    let rows: String = (0..110).map(row).collect();
    place.write("judgments.csv", format!("query,document,judge,grade\n{rows}"));
    let printed = place.narrow("labels merge judgments.csv --by dawid-skene -o qrels.txt");
    for part in ["ann: accuracy", "bob: accuracy", "true grade", "10 (", "--json has all"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn ids_that_qrels_cannot_hold_have_a_way_out() {
    let place = Place::new();
    place.write("judgments.csv", "query,document,judge,grade\nq,two words,ann,1\n");
    let error = place.fails("labels merge judgments.csv -o qrels.txt");
    assert!(error.contains("-o NAME.csv with `labels merge`"), "{error}");
    place.ok("labels merge judgments.csv -o labels.csv");
}
