//! Agreement and merged labels: by hand, by enumeration, and what must not matter.

use super::*;
use crate::rng;
use rand::RngExt;
use rand::seq::SliceRandom;

/// Judgments of documents `d00`, `d01` … by judges `j0`, `j1` …; negative grades are missing.
fn judged(rows: &[&[f64]]) -> Judgments {
    let mut judgments = Judgments::default();
    for (d, row) in rows.iter().enumerate() {
        for (j, &grade) in row.iter().enumerate().filter(|(_, grade)| **grade >= 0.0) {
            judgments
                .push(Judgment::new(&format!("q{}", d % 2), &format!("d{d:02}"), &format!("j{j}"), grade))
                .unwrap();
        }
    }
    judgments
}

fn random_rows(documents: usize, judges: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = rng::stream(seed, &[]);
    let mut grade = |truth: f64| match random.random_range(0..10) {
        0..6 => truth,
        6..9 => f64::from(random.random_range(0..4)),
        _ => -1.0,
    };
    (0..documents).map(|d| (0..judges).map(|_| grade((d % 3) as f64)).collect()).collect()
}

fn of_rows(rows: &[Vec<f64>]) -> Judgments {
    judged(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

#[test]
fn agreement_is_that_of_naive_sums() {
    for seed in 0..5 {
        let rows = random_rows(20, 4, seed);
        let found = Coefficients::of(&of_rows(&rows));
        // All ordered pairs of judgments of the same document, each with the weight 1/(m − 1).
        let (mut pairs, mut equal, mut all) = (Vec::new(), 0, 0);
        for row in &rows {
            let given: Vec<f64> = row.iter().copied().filter(|g| *g >= 0.0).collect();
            for (i, &a) in given.iter().enumerate() {
                for (j, &b) in given.iter().enumerate().filter(|(j, _)| *j != i) {
                    pairs.push((a, b, 1.0 / (given.len() - 1) as f64));
                    all += usize::from(j > i);
                    equal += usize::from(j > i && a == b);
                }
            }
        }
        assert_eq!(found.percentage, Some(equal as f64 / all as f64));
        let n: f64 = pairs.iter().map(|p| p.2).sum();
        let observed: f64 = pairs.iter().map(|(a, b, w)| w * (a - b).powi(2)).sum::<f64>() / n;
        let mut expected = 0.0;
        for (a, _, v) in &pairs {
            expected += pairs.iter().map(|(b, _, w)| v * w * (a - b).powi(2)).sum::<f64>();
        }
        let alpha = 1.0 - observed / (expected / (n * (n - 1.0)));
        assert!((found.alpha_interval.unwrap() - alpha).abs() < 1e-12, "{found:?} {alpha}");
    }
}

/// With as many grades as judgments, a table of pairs of grades for each resample would take minutes and gigabytes.
#[test]
fn grades_may_be_as_many_as_judgments() {
    let rows: Vec<Vec<f64>> = (0..30_000).map(|d| vec![f64::from(d), f64::from(d) + 0.5]).collect();
    let found =
        Agreement::new(&of_rows(&rows), &AgreementOptions { resamples: 1, ..AgreementOptions::default() });
    let found = found.unwrap().estimates;
    let value = |estimate: Option<Estimate>| estimate.unwrap().value;
    assert_eq!(value(found.percentage), 0.0);
    // 1 − ½²·2/(E[(a − b)²]) for grades that are uniform on an interval.
    let n = 30_000_f64;
    assert!((value(found.alpha_interval) - (1.0 - 0.25 / (n * n / 6.0))).abs() < 1e-10);
    assert!(value(found.alpha_ordinal) > 0.999_999 && value(found.cohen_linear) > 0.999_9);
}

#[test]
fn rows_without_a_grade_take_back_what_was_said_before() {
    let row = |document: &str, judge: &str, grade| Judgment::new("q", document, judge, grade);
    let rows = [
        row("x", "a", 1.0),
        row("y", "a", 1.0),
        row("x", "a", f64::NAN),
        row("z", "a", f64::NAN),
        row("y", "a", 2.0),
        row("x", "b", 3.0),
        row("x", "a", 0.0),
        row("x", "b", f64::NAN),
    ];
    let judgments = Judgments::of_rows(rows).unwrap();
    let left: Vec<_> = judgments.all().iter().map(|j| (&j.document[..], &j.judge[..], j.grade)).collect();
    assert_eq!(left, [("y", "a", 2.0), ("x", "a", 0.0)]);
    let notes = [
        "1 row has no grade and is left out",
        "2 judgments were taken back by later rows without a grade",
        "1 judgment was replaced by a later one of the same judge, query and document",
    ];
    assert_eq!(judgments.notes(), notes);
    // The places of those that are left are still known.
    let mut judgments = judgments;
    judgments.push(row("x", "a", 4.0)).unwrap();
    assert!(judgments.withdraw("q", "y", "a") && !judgments.withdraw("q", "y", "a"));
    assert_eq!(judgments.all(), [row("x", "a", 4.0)]);
}

#[test]
fn krippendorffs_example_has_his_values() {
    let rows: [[f64; 4]; 12] = [
        [1.0, 1.0, -1.0, 1.0],
        [2.0, 2.0, 3.0, 2.0],
        [3.0, 3.0, 3.0, 3.0],
        [3.0, 3.0, 3.0, 3.0],
        [2.0, 2.0, 2.0, 2.0],
        [1.0, 2.0, 3.0, 4.0],
        [4.0, 4.0, 4.0, 4.0],
        [1.0, 1.0, 2.0, 1.0],
        [2.0, 2.0, 2.0, 2.0],
        [-1.0, 5.0, 5.0, 5.0],
        [-1.0, -1.0, 1.0, 1.0],
        [-1.0, 3.0, -1.0, -1.0],
    ];
    let found = Coefficients::of(&judged(&rows.each_ref().map(|row| row.as_slice())));
    for (found, expected) in
        [(found.alpha_nominal, 0.743421), (found.alpha_ordinal, 0.815388), (found.alpha_interval, 0.849107)]
    {
        assert!((found.unwrap() - expected).abs() < 5e-7, "{found:?} {expected}");
    }
}

#[test]
fn without_two_judges_or_two_grades_nothing_is_made_up() {
    let options = AgreementOptions { resamples: 20, ..AgreementOptions::default() };
    let refused = |judgments: &Judgments| Agreement::new(judgments, &options).unwrap_err().to_string();
    assert!(refused(&Judgments::default()).contains("no judgments"));
    assert!(refused(&judged(&[&[1.0], &[2.0]])).contains("only one judge, `j0`"));
    assert!(
        refused(&judged(&[&[1.0, -1.0], &[-1.0, 2.0]])).contains("the 2 judges have no document in common")
    );
    assert!(Agreement::new(&judged(&[&[1.0, 1.0]]), &AgreementOptions { resamples: 0, ..options }).is_err());
    // All say the same: chance would agree as well.
    let same = Agreement::new(&judged(&[&[1.0, 1.0], &[1.0, 1.0]]), &options).unwrap();
    assert_eq!(same.estimates.percentage.unwrap().value, 1.0);
    assert!(
        same.estimates.cohen.is_none()
            && same.estimates.alpha_nominal.is_none()
            && same.estimates.fleiss.is_none()
    );
    // A third judge who shares no document changes nothing but the grades that exist.
    let rows: [&[f64]; 4] = [&[0.0, 0.0], &[3.0, 3.0], &[3.0, 0.0], &[0.0, 0.0]];
    let more: [&[f64]; 5] = [rows[0], rows[1], rows[2], rows[3], &[-1.0, -1.0, 2.0]];
    let (a, b) = (Coefficients::of(&judged(&rows)), Coefficients::of(&judged(&more)));
    assert_eq!(a, b);
    assert_eq!(a.cohen_linear, a.cohen_quadratic);
}

#[test]
fn the_report_is_by_judge_and_query_and_the_order_of_rows_changes_nothing() {
    let rows = random_rows(30, 4, 7);
    let judgments = of_rows(&rows);
    let options = AgreementOptions { resamples: 300, ..AgreementOptions::default() };
    let report = Agreement::new(&judgments, &options).unwrap();
    assert_eq!(report.estimates.fleiss.map(|e| e.value), Coefficients::of(&judgments).fleiss);
    let of_query = |query: &str| {
        let mut own = Judgments::default();
        let judgments = judgments.all().iter().filter(|j| j.query == query);
        judgments.for_each(|j| own.push(j.clone()).unwrap());
        Coefficients::of(&own).alpha_ordinal
    };
    let queries = QueryAgreement::all(&judgments, &options).unwrap();
    assert_eq!((report.queries, queries.len()), (2, 2));
    for query in &queries {
        assert_eq!(query.estimates.alpha_ordinal.map(|e| e.value), of_query(&query.query));
    }
    for (j, judge) in report.judges.iter().enumerate() {
        let (mut equal, mut all) = (0, 0);
        for row in rows.iter().filter(|row| row[j] >= 0.0) {
            let others = (0..4).filter(|&k| k != j && row[k] >= 0.0);
            others.for_each(|k| (equal, all) = (equal + usize::from(row[k] == row[j]), all + 1));
        }
        assert_eq!(judge.percentage.unwrap().value, f64::from(equal as u32) / f64::from(all));
        assert_eq!(judge.judgments, rows.iter().filter(|row| row[j] >= 0.0).count());
    }
    assert_eq!(report.pairs.len(), 6);
    for pair in &report.pairs {
        let mut own = Judgments::default();
        let judgments = judgments.all().iter().filter(|j| pair.judges.contains(&j.judge));
        judgments.for_each(|j| own.push(j.clone()).unwrap());
        let alone = Coefficients::of(&own);
        assert_eq!((pair.percentage, pair.cohen), (alone.percentage, alone.cohen));
        assert_eq!((pair.cohen_linear, pair.cohen_quadratic), (alone.cohen_linear, alone.cohen_quadratic));
        let [a, b] = &pair.judges;
        let given = |judge: &String| {
            own.all()
                .iter()
                .filter(|j| j.judge == *judge)
                .map(|j| (&j.query, &j.document))
                .collect::<Vec<_>>()
        };
        let common = given(a).iter().filter(|document| given(b).contains(document)).count();
        assert_eq!(pair.documents, common as u64);
    }
    let interval = report.estimates.alpha_nominal.unwrap().interval.unwrap();
    let value = report.estimates.alpha_nominal.unwrap().value;
    assert!(
        interval.low < value && value < interval.high && interval.high - interval.low < 0.5,
        "{interval:?}"
    );
    let mut shuffled: Vec<Judgment> = judgments.all().to_vec();
    shuffled.shuffle(&mut rng::stream(8, &[]));
    let mut again = Judgments::default();
    shuffled.into_iter().for_each(|judgment| again.push(judgment).unwrap());
    assert_eq!(Agreement::new(&again, &options).unwrap(), report);
    for rule in [MergeRule::Majority, MergeRule::Median, MergeRule::Mean, MergeRule::DawidSkene] {
        assert_eq!(again.merge(rule), judgments.merge(rule));
    }
}

#[test]
fn merged_labels_follow_their_rules_where_judges_are_divided() {
    let judgments =
        judged(&[&[1.0, 3.0, 3.0], &[2.0, 0.0], &[2.0, 2.0, 0.0, 0.0], &[1.0, 2.0, 4.0, 0.0, 0.0], &[3.0]]);
    let grades = |rule| -> Vec<f64> {
        let mut labels = judgments.merge(rule).labels;
        labels.sort_by(|a, b| a.document.cmp(&b.document));
        labels.iter().map(|label| label.grade).collect()
    };
    assert_eq!(grades(MergeRule::Majority), [3.0, 0.0, 0.0, 0.0, 3.0]);
    assert_eq!(grades(MergeRule::Median), [3.0, 0.0, 0.0, 1.0, 3.0]);
    assert_eq!(grades(MergeRule::Mean), [7.0 / 3.0, 1.0, 1.0, 1.4, 3.0]);
    let majority = judgments.merge(MergeRule::Majority);
    assert_eq!(majority.tied, 2);
    let first = &majority.labels[0];
    assert_eq!((first.document.as_str(), first.judges, first.support), ("d00", 3, 2.0 / 3.0));
    assert!(Judgments::default().merge(MergeRule::DawidSkene).labels.is_empty());
    assert!(Judgments::default().push(Judgment::new("q", "d", "j", f64::NAN)).is_err());
}

#[test]
fn the_likelihood_of_dawid_and_skene_never_falls_and_is_that_of_the_definition() {
    for seed in 0..6 {
        let rows = random_rows(25, 5, seed);
        let judgments = of_rows(&rows);
        let options = DawidSkeneOptions { iterations: 50, tolerance: 0.0 };
        let model = DawidSkene::fit(&judgments, &options);
        let logs = &model.log_likelihood;
        assert!(logs.len() > 3 && logs.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9), "{logs:?}");
        let mut log_likelihood = 0.0;
        for (item, label) in model.merged.labels.iter().enumerate() {
            let of_document = judgments.all().iter().filter(|j| j.document == label.document);
            let joint: Vec<f64> = (0..model.grades.len())
                .map(|k| {
                    let given = of_document.clone().map(|j| {
                        let judge = model.judges.iter().find(|judge| judge.judge == j.judge).unwrap();
                        judge.given[k][model.grades.iter().position(|g| *g == j.grade).unwrap()]
                    });
                    model.frequencies[k] * given.product::<f64>()
                })
                .collect();
            let total: f64 = joint.iter().sum();
            log_likelihood += total.ln();
            let close =
                joint.iter().zip(&model.probabilities[item]).all(|(j, p)| (j / total - p).abs() < 1e-9);
            assert!(close);
        }
        assert!((log_likelihood - logs[logs.len() - 1]).abs() < 1e-8);
    }
}

#[test]
fn tables_are_read_by_their_columns_and_written_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.tsv");
    let text = "worker\tqid\turl\trating\ttime\nann\tq 1\td\t2\t10:00\n\n bob \tq 1\td\t\t\nann\tq 1\t\"e\tf\"\t1e0\t\nann\tq 1\td\t0\t\n";
    std::fs::write(&path, text).unwrap();
    let columns = JudgmentColumns { document: Some("url".into()), ..JudgmentColumns::default() };
    let judgments = Judgments::read(&path, &columns).unwrap();
    assert_eq!((judgments.all().len(), judgments.replaced(), judgments.without_grade()), (2, 1, 1));
    assert_eq!((judgments.all()[0].grade, judgments.all()[1].document.as_str()), (0.0, "e\tf"));
    let copy = folder.path().join("copy.csv.gz");
    judgments.write(&copy).unwrap();
    let read = Judgments::read(&copy, &JudgmentColumns::default()).unwrap();
    assert_eq!(read.all(), judgments.all());
    let refused = |text: &str| {
        let path = folder.path().join("wrong.csv");
        std::fs::write(&path, text).unwrap();
        Judgments::read(&path, &JudgmentColumns::default()).unwrap_err().to_string()
    };
    assert!(refused("").contains("is empty"));
    assert!(
        refused("query,document,jugde,grade\n")
            .contains("no column `judge` for the judge; did you mean `jugde`?")
    );
    assert!(
        refused("query,document,judge,grade\nq,d,j,good\n")
            .contains(":2:1: expected a number as the grade, found `good`")
    );
    assert!(refused("query,document,judge,grade\nq,d,j,inf\n").contains("found `inf`"));
    assert!(refused("query,document,judge,grade\nq,,j,1\n").contains("the row has no document"));
    assert!(refused("query,document,judge,grade\nq,d,1\n").contains("the row has 3 fields"));
    let qrels = judgments.merge(MergeRule::Median).qrels().unwrap();
    let refused = qrels.write(&folder.path().join("qrels.txt")).unwrap_err().to_string();
    assert!(refused.contains("the id `q 1` cannot be written"), "{refused}");
    let table = folder.path().join("merged.csv");
    judged(&[&[1.0, 3.0, 3.0], &[2.0, 0.0]]).merge(MergeRule::Mean).write(&table).unwrap();
    let expected =
        "query,document,grade,judges,support,tied\nq0,d00,2.3333333333333335,3,0,0\nq1,d01,1,2,0,1\n";
    assert_eq!(std::fs::read_to_string(&table).unwrap(), expected);
    let both = Judgments::read_all([&path, &copy], &columns).err().map(|error| error.to_string());
    assert!(both.unwrap().contains("no column `url`"));
    let twice = Judgments::read_all([&copy, &copy], &JudgmentColumns::default()).unwrap();
    assert_eq!((twice.all(), twice.replaced()), (judgments.all(), 2));
    let labels = judged(&[&[1.0, 1.0], &[0.0]]).merge(MergeRule::Majority);
    labels.qrels().unwrap().write(&folder.path().join("qrels.txt")).unwrap();
    assert_eq!(std::fs::read_to_string(folder.path().join("qrels.txt")).unwrap(), "q0 0 d00 1\nq1 0 d01 0\n");
}

#[test]
fn a_row_without_a_grade_takes_back_what_the_judge_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("j.csv");
    let text = "query,document,judge,grade,note,time\nq,a,ann,1,,\nq,b,ann,2,,\nq,a,bob,3,,\nq,a,ann,,,\nq,c,ann,,,\n";
    std::fs::write(&path, text).unwrap();
    let judgments = Judgments::read(&path, &JudgmentColumns::default()).unwrap();
    let left: Vec<(&str, &str, f64)> =
        judgments.all().iter().map(|j| (j.document.as_str(), j.judge.as_str(), j.grade)).collect();
    assert_eq!((left, judgments.without_grade()), (vec![("b", "ann", 2.0), ("a", "bob", 3.0)], 1));
    // What is left is still found by its key.
    let mut judgments = judgments;
    judgments.push(Judgment::new("q", "a", "bob", 0.0)).unwrap();
    assert_eq!((judgments.all().len(), judgments.all()[1].grade), (2, 0.0));
    let mut row = Vec::new();
    Judgment { note: Some("a, b".into()), ..Judgment::new("q", "a", "ann", f64::NAN) }
        .push_row(&mut row, b',');
    assert_eq!(row, b"q,a,ann,,\"a, b\",");
}
