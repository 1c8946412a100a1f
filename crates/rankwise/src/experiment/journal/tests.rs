use super::super::findings::RankedDocument;
use super::*;
use crate::data::files::fuzz::{cases, damaged};
use crate::metrics::{Conventions, parse_list};
use crate::rng;
use rand::RngExt;

const QUERIES: usize = 3;

fn trial(value: f64) -> JobResult {
    JobResult::Trial(TrialResult {
        valid: Some(value),
        seconds: 0.25,
        cut_short: false,
        folds: vec![FoldResult { valid: Some(value), best_iteration: Some(7.0) }],
    })
}

/// The result of a test with two metrics on three queries.
fn test(value: f64) -> JobResult {
    let document = RankedDocument { id: "d 1".into(), grade: 2.0, score: -1.5 };
    JobResult::Test(TestResult {
        values: PerQuery::new(vec![vec![Some(value), None, Some(0.125)], vec![Some(1.0), Some(0.0), None]]),
        worst: vec![WorstQuery { query: 2, value: 0.125, top: vec![document], best_grades: vec![2.0] }],
        curve: Some(Curve { fold: 0, repeat: 0, what: "loss".into(), points: vec![(1, 0.5), (2, 0.25)] }),
        valid: Some(value),
        cut_short: false,
        model: None,
        threads: 2,
        alone: false,
        train_seconds: 1.5,
        score_seconds: 0.001,
    })
}

fn metrics() -> Vec<Box<dyn Metric>> {
    parse_list("ndcg@10,map", &Conventions::default()).unwrap()
}

fn open(path: &Path, experiment: &str) -> Result<Journal> {
    Journal::open(path, experiment, false)
}

/// A job of the journal, with its values checked.
fn finished(journal: &Journal, job: &str) -> Result<Option<JobResult>> {
    let values = ValidValues { metrics: &metrics(), selection: 0, queries: QUERIES };
    match job.ends_with("test") {
        true => Ok(journal.test(job, &values)?.cloned().map(JobResult::Test)),
        false => Ok(journal.trial(job, &values)?.cloned().map(JobResult::Trial)),
    }
}

/// The jobs of a journal for the tests below.
fn jobs() -> Vec<(&'static str, JobResult)> {
    vec![
        ("a fold 1 fraction 1", trial(1.0 / 3.0)),
        ("a fold 1 test", test(0.4443)),
        ("a fold 2 fraction 1", trial(0.5)),
        ("a fold 2 test", test(0.75)),
    ]
}

/// A journal at `path` with all of [`jobs`]; its text.
fn written(path: &Path) -> String {
    let journal = Journal::open(path, "x", true).unwrap();
    jobs().iter().for_each(|(job, result)| journal.add(job, result).unwrap());
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_journal_cut_anywhere_continues_after_its_last_complete_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let journal = open(&path, "x").unwrap();
    journal.add("a", &trial(1.0 / 3.0)).unwrap();
    journal.add("b", &trial(0.5)).unwrap();
    drop(journal);
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = (0..whole.len()).filter(|&i| whole[i] == b'\n').map(|i| i + 1).collect();
    for cut in 0..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let journal = open(&path, "x").unwrap();
        assert_eq!(finished(&journal, "a").unwrap().is_some(), cut >= ends[1], "cut at {cut}");
        assert_eq!(finished(&journal, "b").unwrap().is_some(), cut >= ends[2], "cut at {cut}");
        journal.add("c", &trial(0.75)).unwrap();
        drop(journal);
        let again = open(&path, "x").unwrap();
        assert_eq!(finished(&again, "c").unwrap(), Some(trial(0.75)), "cut at {cut}");
        assert!(finished(&again, "a").unwrap().is_none_or(|f| f == trial(1.0 / 3.0)));
    }
}

#[test]
fn a_journal_of_another_experiment_or_build_or_in_use_is_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let refusal = |experiment: &str| open(&path, experiment).err().unwrap().to_string();
    open(&path, "x").unwrap().add("a", &trial(0.5)).unwrap();
    assert!(refusal("y").contains("another experiment"), "{}", refusal("y"));
    let held = open(&path, "x").unwrap();
    assert!(refusal("x").contains("another run is writing"), "{}", refusal("x"));
    drop(held);
    let old = "{\"rankwise_journal\":1,\"experiment\":\"x\"}\n";
    std::fs::write(&path, old).unwrap();
    assert!(refusal("x").contains("another build of Rankwise"), "{}", refusal("x"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), old, "a journal that is rejected stays as it is");
}

#[test]
fn starting_over_empties_the_journal_unless_a_run_is_writing_to_it() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let before = written(&path);
    let live = open(&path, "x").unwrap();
    let refusal = Journal::open(&path, "x", true).err().unwrap().to_string();
    assert!(refusal.contains("another run is writing"), "{refusal}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    live.add("b", &trial(0.5)).unwrap();
    drop(live);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), before.lines().count() + 1);
    let fresh = Journal::open(&path, "y", true).unwrap();
    assert!(fresh.before.is_empty());
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
}

#[test]
fn a_changed_digit_is_refused_with_its_line_and_the_other_jobs_are_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let changed = written(&path).replace("0.4443", "2.4443");
    std::fs::write(&path, &changed).unwrap();
    let refusal = open(&path, "x").err().unwrap().to_string();
    assert!(refusal.contains("journal:3: this line is not as it was written"), "{refusal}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), changed);
    let twice = changed.replace("0.75", "0.57");
    std::fs::write(&path, &twice).unwrap();
    let refusal = open(&path, "x").err().unwrap().to_string();
    assert!(refusal.contains("journal:3: this line and others (5) are not"), "{refusal}");
    // What the message says to do.
    let lines: Vec<&str> = twice.lines().collect();
    std::fs::write(&path, [lines[0], lines[1], lines[3], ""].join("\n")).unwrap();
    let journal = open(&path, "x").unwrap();
    for (place, (job, result)) in jobs().into_iter().enumerate() {
        let kept = [true, false, true, false][place];
        assert_eq!(finished(&journal, job).unwrap(), kept.then_some(result), "{job}");
    }
}

#[test]
fn a_line_of_another_journal_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (path, other) = (directory.path().join("journal"), directory.path().join("other"));
    Journal::open(&other, "y", true).unwrap().add("b", &trial(0.9)).unwrap();
    let stranger = std::fs::read_to_string(&other).unwrap().lines().nth(1).unwrap().to_owned();
    let text = written(&path) + &stranger + "\n";
    std::fs::write(&path, text).unwrap();
    let refusal = open(&path, "x").err().unwrap().to_string();
    assert!(refusal.contains("journal:6: this line is not as it was written"), "{refusal}");
}

/// A journal whose lines have right checksums, whatever they contain.
fn mended(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.split(|b| *b == b'\n').filter(|line| !line.is_empty()) {
        let length = SEAL.0.len() + DIGITS + SEAL.1.len();
        let mut object = line[..line.len().saturating_sub(length)].to_vec();
        object.push(b'}');
        bytes.extend(sealed("x", object));
        bytes.push(b'\n');
    }
    bytes
}

#[test]
fn values_are_checked_even_where_the_checksum_is_right() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let whole = written(&path);
    let refusal = |from: &str, to: &str, job: &str| {
        assert!(whole.contains(from), "{from}");
        std::fs::write(&path, mended(whole.replacen(from, to, 1).as_bytes())).unwrap();
        finished(&open(&path, "x").unwrap(), job).unwrap_err().to_string()
    };
    for (from, to, job, why) in [
        (
            "0.4443,null,0.125",
            "0.4443,null",
            jobs()[1].0,
            "journal:3: this line does not have the values of 2",
        ),
        (",[1.0,0.0,null]", "", jobs()[1].0, "the values of 2 metrics on 3 queries"),
        ("[[0.4443,", "[[2.4443,", jobs()[1].0, "2.4443 of ndcg@10, which is impossible"),
        ("[1.0,0.0,null]", "[1.0,-7.0,null]", jobs()[1].0, "-7 of map, which is impossible"),
        ("\"query\":2", "\"query\":3", jobs()[1].0, "names query 4 of 3"),
        ("\"valid\":0.33", "\"valid\":1.33", jobs()[0].0, "journal:2: this line has the value 1.33"),
    ] {
        let message = refusal(from, to, job);
        assert!(message.contains(why), "{message}");
        assert!(message.contains("Delete the line to run its job again"), "{message}");
    }
}

#[test]
fn a_trial_is_not_taken_for_a_test() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    Journal::open(&path, "x", true).unwrap().add("b test", &trial(0.5)).unwrap();
    let refusal = finished(&open(&path, "x").unwrap(), "b test").unwrap_err().to_string();
    assert!(refusal.contains("journal:2: this line is not the result of a test"), "{refusal}");
}

const PIECES: &[&[u8]] = &[
    b"\n",
    b"\r\n",
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"true",
    b"1e999",
    b"-1",
    b"0",
    b"9",
    b".",
    b"18446744073709551616",
    b"\\u0000",
    b"\xff",
    b"\0",
    b"\"test\":",
    b"\"trial\":",
    b"\"checksum\":",
    b"fold 1",
];

/// Whatever happens to a journal's bytes, only results that were written are believed.
#[test]
fn damaged_journals_are_refused_or_read_as_they_were_written() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let whole = written(&path).into_bytes();
    let (mut random, mut accepted, mut refused) = (rng::stream(29, &[1]), 0, 0);
    for _ in 0..cases(20_000) {
        let bytes = damaged(&whole, PIECES, &mut random);
        let complete = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
        match read(&bytes[..complete], &path, "x") {
            Ok(before) => {
                accepted += 1;
                for (job, entry) in before {
                    let known =
                        jobs().into_iter().any(|(name, result)| name == job && result == entry.finished);
                    assert!(known, "{job} is believed in {:?}", String::from_utf8_lossy(&bytes));
                }
            }
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                assert!(message.len() < 800 && !message.contains(char::is_control), "{message:?}");
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}

/// Damage below a checksum that was mended: whatever is believed has the values of every metric and query.
#[test]
fn damaged_journals_with_right_checksums_give_no_impossible_values() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("journal");
    let whole = written(&path).into_bytes();
    let head = whole.iter().position(|b| *b == b'\n').unwrap() + 1;
    let (mut random, mut accepted, mut refused) = (rng::stream(29, &[2]), 0, 0);
    for _ in 0..cases(20_000) / 10 {
        let at = random.random_range(head..whole.len() - 30);
        let end = (at + random.random_range(20..400)).min(whole.len());
        let mut bytes = whole[..at].to_vec();
        bytes.extend(damaged(&whole[at..end], PIECES, &mut random));
        bytes.extend_from_slice(&whole[end..]);
        std::fs::write(&path, mended(&bytes)).unwrap();
        let Ok(journal) = open(&path, "x") else {
            refused += 1;
            continue;
        };
        for (job, _) in jobs() {
            match finished(&journal, job) {
                Ok(Some(JobResult::Test(result))) => {
                    accepted += 1;
                    let lengths: Vec<usize> = result.values.iter().map(<[_]>::len).collect();
                    assert_eq!(lengths, [QUERIES; 2]);
                    assert!(
                        result.values.iter().flatten().flatten().all(|v| (0.0..=1.0 + ROUNDING).contains(v))
                    );
                }
                Ok(_) => accepted += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}
