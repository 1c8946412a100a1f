//! Logs with everything that can be wrong.

use super::*;
use crate::clicks::events::{Clicked, sealed};
use crate::clicks::metarank::{MetarankOptions, read_events};
use crate::clicks::{ClickCounts, LogProblem, LogStats, Movement, write_log};
use crate::data::files::fuzz::{cases, damaged};
use crate::rng;
use proptest::prelude::*;

fn written(text: &[u8]) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".jsonl").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn read(text: &[u8]) -> (Vec<Session>, LogReport) {
    let file = written(text);
    let mut log = LogReader::open(file.path()).unwrap();
    let sessions = log.by_ref().map(Result::unwrap).collect();
    (sessions, log.report().clone())
}

/// What each line must give: how many sessions, and which problem.
const LINES: [(&str, u64, Option<LogProblem>); 22] = [
    (
        r#"{"id":"1","query":"q","shown":["a","b"],"clicks":[{"doc":"b","time":2}],"time":1,"more":[]}"#,
        1,
        None,
    ),
    (r#"{"id":2,"query":7,"shown":[5,-6],"clicks":[{"doc":5},{"doc":5}]}"#, 1, None),
    (r#"{"id":"3","query":"q","shown":["a"],"clicks":[]"#, 0, Some(LogProblem::Malformed)),
    (r#"{"id":"3","query":"q","shown":["a"]}"#, 0, Some(LogProblem::Malformed)),
    (r#"["id"]"#, 0, Some(LogProblem::Malformed)),
    (r#"{"id":"3","query":"q","shown":[],"clicks":[]}"#, 0, Some(LogProblem::EmptyList)),
    (r#"{"id":"3","query":"q","shown":["a","b","a"],"clicks":[]}"#, 0, Some(LogProblem::RepeatedDocument)),
    (
        r#"{"id":"3","query":"q","shown":["a","b"],"positions":[2,1],"clicks":[]}"#,
        0,
        Some(LogProblem::InvalidPositions),
    ),
    (
        r#"{"id":"3","query":"q","shown":["a","b"],"positions":[0,1],"clicks":[]}"#,
        0,
        Some(LogProblem::InvalidPositions),
    ),
    (
        r#"{"id":"3","query":"q","shown":["a","b"],"positions":[1],"clicks":[]}"#,
        0,
        Some(LogProblem::InvalidPositions),
    ),
    (
        r#"{"id":"4","query":"q","shown":["a","b"],"positions":[1,4],"clicks":[]}"#,
        1,
        Some(LogProblem::SkippedPositions),
    ),
    (r#"{"id":"5","query":"q","shown":["a","b"],"positions":[1,2],"clicks":[]}"#, 1, None),
    (r#"{"id":"1","query":"q","shown":["a"],"clicks":[]}"#, 0, Some(LogProblem::DuplicateSession)),
    (
        r#"{"id":"6","query":"q","shown":["a"],"clicks":[{"doc":"a"},{"doc":"z"}]}"#,
        1,
        Some(LogProblem::UnknownClick),
    ),
    (
        r#"{"id":"7","query":"q","shown":["a","b"],"clicks":[{"doc":"b","time":5},{"doc":"a","time":3}]}"#,
        1,
        Some(LogProblem::ClickOrder),
    ),
    (r#"{"id":"8","query":"q","shown":["a"],"clicks":[],"time":0}"#, 1, Some(LogProblem::SessionOrder)),
    (r#"{"id":"9","query":"q","shown":["a","b"],"clicks":[],"features":[[1,null],[2.5,3]]}"#, 1, None),
    (
        r#"{"id":"10","query":"q","shown":["a","b"],"clicks":[],"features":[[1,2],[2.5]]}"#,
        1,
        Some(LogProblem::FeatureRows),
    ),
    (
        r#"{"id":"11","query":"q","shown":["a","b"],"positions":[1,10001],"clicks":[]}"#,
        0,
        Some(LogProblem::InvalidPositions),
    ),
    (r#"{"id":"12","query":"q","shown":["a","b"],"clicks":[],"swap":[1,3]}"#, 1, Some(LogProblem::SwapRanks)),
    (
        r#"{"id":"13","query":"q","shown":["a","b"],"clicks":[],"interleaved":{"rankers":["x","y"],"credit":[1,2]}}"#,
        1,
        Some(LogProblem::Credit),
    ),
    (
        r#"{"id":"14","query":"q","shown":["a","b"],"clicks":[],"swap":[2,1],"interleaved":{"rankers":["x","y"],"credit":[1,0.5]}}"#,
        1,
        None,
    ),
];

#[test]
fn every_problem_is_counted_with_its_place_and_nothing_else_is() {
    let text: String = LINES.iter().map(|(line, ..)| format!("{line}\n\n")).collect();
    let (sessions, report) = read(text.as_bytes());
    assert_eq!(report.lines, LINES.len() as u64);
    assert_eq!(sessions.len() as u64, LINES.iter().map(|line| line.1).sum::<u64>());
    assert_eq!(report.sessions, sessions.len() as u64);
    let mut counted = 0;
    for (number, (line, _, problem)) in LINES.iter().enumerate() {
        let Some(problem) = problem else { continue };
        counted += 1;
        let of_kind = LINES.iter().filter(|line| line.2 == Some(*problem)).count() as u64;
        assert_eq!(report.count(*problem), of_kind, "{line}");
        let found = report.problems.iter().find(|found| found.problem == *problem).unwrap();
        let place = format!(".jsonl:{}: ", 2 * number + 1);
        assert!(found.examples.iter().any(|example| example.contains(&place)), "{place} {found:?}");
    }
    assert_eq!(report.problems.iter().map(|problem| problem.count).sum::<u64>(), counted);
    assert!(report.to_string().contains("the JSON is truncated"), "{report}");
    let by_id = |id: &str| sessions.iter().find(|session| session.id == id).unwrap();
    assert_eq!((by_id("2").shown[1].as_str(), by_id("2").clicked()), ("-6", vec![true, false]));
    assert_eq!(by_id("7").clicks[0].doc, "a");
    assert_eq!(by_id("6").clicks.len(), 1);
    assert_eq!((by_id("4").rank(0), by_id("4").rank(1)), (1, 4));
    let rows = by_id("9").features.as_ref().unwrap();
    assert!(rows[0][1].is_nan() && rows[1] == [2.5, 3.0]);
    assert!(by_id("10").features.is_none());
    assert!(by_id("12").swap.is_none() && by_id("13").interleaved.is_none());
    assert!(by_id("14").swap.is_some() && by_id("14").interleaved.is_some());
}

#[test]
fn logs_are_written_and_read_again_in_every_compression() {
    let text: String = LINES.iter().map(|(line, ..)| format!("{line}\n")).collect();
    let (mut sessions, _) = read(text.as_bytes());
    sessions.iter_mut().for_each(|session| session.features = None);
    sessions[0].swap = Some([1, 2]);
    let credit = vec![1.0, 0.25];
    sessions[0].interleaved = Some(Interleaved { rankers: ["x".into(), "y".into()], credit });
    let folder = tempfile::tempdir().unwrap();
    for name in ["log.jsonl", "log.jsonl.gz", "log.jsonl.zst"] {
        let path = folder.path().join(name);
        write_log(&path, &sessions).unwrap();
        let log = LogReader::open(&path).unwrap();
        assert_eq!(log.collect::<Result<Vec<_>>>().unwrap(), sessions, "{name}");
    }
    // Two files are one log: the second is full of duplicates.
    let paths = ["log.jsonl", "log.jsonl.gz"].map(|name| folder.path().join(name));
    let mut log = LogReader::open_all(&paths).unwrap();
    assert_eq!(log.by_ref().count(), sessions.len());
    assert_eq!(log.report().count(LogProblem::DuplicateSession), sessions.len() as u64);
    let packed = std::fs::read(&paths[1]).unwrap();
    let cut = written(&packed[..packed.len() - 20]);
    let results: Vec<_> = LogReader::open(cut.path()).unwrap().collect();
    let error = results.last().unwrap().as_ref().unwrap_err().to_string();
    assert!(error.contains("is truncated gzip data"), "{error}");
}

#[test]
fn a_line_that_does_not_end_is_skipped_without_being_kept() {
    let good = LINES[0].0;
    let mut text = vec![b'x'; MAX_LINE_BYTES + 100];
    text.push(b'\n');
    text.extend_from_slice(good.as_bytes());
    let (sessions, report) = read(&text);
    assert_eq!((sessions.len(), report.lines, report.count(LogProblem::Malformed)), (1, 2, 1));
    assert!(report.problems[0].examples[0].contains("longer than"), "{report}");
}

#[test]
fn damaged_logs_are_counted_line_by_line() {
    let seed: String = LINES.iter().map(|(line, ..)| format!("{line}\n")).collect();
    let events: String = EVENTS.iter().map(|line| format!("{line}\n")).collect();
    let pieces: [&[u8]; 12] =
        [b"\"", b"{", b"}", b"[", b"]", b",", b"\n", b"\xff", b"null", b"-1", b"1e999", b"99999999999"];
    for case in 0..cases(300) {
        let random = &mut rng::stream(11, &[case]);
        let file = written(&damaged(seed.as_bytes(), &pieces, random));
        let mut log = LogReader::open(file.path()).unwrap();
        let sessions: Vec<Session> = log.by_ref().map(Result::unwrap).collect();
        let report = log.report();
        use LogProblem::{DuplicateSession, EmptyList, InvalidPositions, Malformed, RepeatedDocument};
        let left_out = [Malformed, EmptyList, RepeatedDocument, InvalidPositions, DuplicateSession];
        let left_out: u64 = left_out.into_iter().map(|problem| report.count(problem)).sum();
        assert_eq!(report.lines, report.sessions + left_out);
        assert_eq!(report.sessions, sessions.len() as u64);
        let counts: ClickCounts = sessions.iter().collect();
        let shown: usize = sessions.iter().map(|s| s.shown.len()).sum();
        assert_eq!(LogStats::new(&counts).all.shown, shown as u64);
        let file = written(&damaged(events.as_bytes(), &pieces, random));
        let report = read_events(file.path(), &MetarankOptions::default(), |_| Ok(())).unwrap();
        assert!(report.sessions <= report.lines);
    }
}

const EVENTS: [&str; 7] = [
    r#"{"event":"item","id":"x","timestamp":"1","item":"a","fields":[]}"#,
    r#"{"event":"ranking","id":"r1","timestamp":"2020-09-06T11:24:27Z","fields":[{"name":"query","value":"cat"}],"items":[{"id":"a","relevancy":1},{"id":"b"}]}"#,
    r#"{"event":"ranking","id":"r2","timestamp":"1599391468000","fields":[],"items":[{"id":"a"}]}"#,
    r#"{"event":"interaction","id":"i1","ranking":"r1","timestamp":1599391470000,"type":"click","item":"b"}"#,
    r#"{"event":"interaction","id":"i2","ranking":"r1","timestamp":"1599391469000","type":"click","item":"a"}"#,
    r#"{"event":"interaction","id":"i3","ranking":"r1","timestamp":"1599391469000","type":"purchase","item":"a"}"#,
    r#"{"event":"interaction","id":"i4","ranking":"r9","timestamp":"1599391469000","type":"click","item":"a"}"#,
];

#[test]
fn events_of_metarank_become_sessions() {
    let file = written(EVENTS.join("\n").as_bytes());
    let mut sessions = Vec::new();
    let report = read_events(file.path(), &MetarankOptions::default(), |session| {
        sessions.push(session);
        Ok(())
    });
    let report = report.unwrap();
    let [session] = &sessions[..] else { panic!("{sessions:?}") };
    assert_eq!((session.query.as_str(), session.time), ("cat", Some(1_599_391_467_000.0)));
    let clicks: Vec<&str> = session.clicks.iter().map(|click| click.doc.as_str()).collect();
    assert_eq!(clicks, ["a", "b"]);
    for problem in [LogProblem::NoQuery, LogProblem::ClickOrder, LogProblem::UnknownRanking] {
        assert_eq!(report.count(problem), 1, "{report}");
    }
    assert_eq!(report.count(LogProblem::OtherEvent), 2);
    // Where only one ranking stays open, interactions with the one before come too late.
    let text = [EVENTS[1], &EVENTS[1].replace("r1", "r3"), EVENTS[3]].join("\n");
    let options = MetarankOptions { open_rankings: 1, ..MetarankOptions::default() };
    let file = written(text.as_bytes());
    let report = read_events(file.path(), &options, |_| Ok(())).unwrap();
    assert_eq!((report.sessions, report.count(LogProblem::UnknownRanking)), (2, 1));
}

proptest! {
    /// Counts are those of naive counting, and groups of ranks those of repeated joining.
    #[test]
    fn counts_and_movement_are_those_of_naive_counting(
        sessions in prop::collection::vec((0..3_u8, prop::sample::subsequence(vec![0_usize, 1, 2, 3, 4], 1..5), 0..32_u8), 1..30)
    ) {
        let log: Vec<Session> = sessions.iter().map(|(query, documents, clicks)| Session {
            query: format!("q{query}"),
            shown: documents.iter().map(|d| format!("d{d}")).collect(),
            clicks: documents.iter().enumerate().filter(|(i, _)| clicks >> i & 1 == 1)
                .map(|(_, d)| Click { doc: format!("d{d}"), time: None }).collect(),
            ..Session::default()
        }).collect();
        let counts: ClickCounts = log.iter().collect();
        let at = |s: &Session, q: usize, d: usize, rank: usize| {
            s.query == format!("q{q}") && s.shown.get(rank - 1) == Some(&format!("d{d}"))
        };
        let mut joined: Vec<usize> = (0..6).collect();
        for (q, d) in (0..3).flat_map(|q| (0..5).map(move |d| (q, d))) {
            let cell = |rank: usize| {
                let shown = log.iter().filter(|s| at(s, q, d, rank));
                let clicks = shown.clone().filter(|s| s.clicked()[rank - 1]).count() as u64;
                (shown.count() as u64, clicks)
            };
            for rank in 1..6 {
                let found = counts.cell(&format!("q{q}"), &format!("d{d}"), rank as u32);
                prop_assert_eq!((found.shown, found.clicks), cell(rank));
                for other in 1..rank {
                    let (a, b) = (cell(rank), cell(other));
                    if a.0 > 0 && b.0 > 0 && a.1 + b.1 > 0 {
                        let (from, to) = (joined[rank], joined[other]);
                        joined.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
                    }
                }
            }
        }
        let shown: Vec<usize> = (1..6).filter(|&rank| log.iter().any(|s| s.shown.len() >= rank)).collect();
        let mut groups: Vec<usize> = shown.iter().map(|&rank| joined[rank]).collect();
        groups.sort_unstable();
        groups.dedup();
        let movement = Movement::of(&counts, u32::MAX);
        prop_assert_eq!(movement.groups.len(), groups.len());
        for group in &movement.groups {
            prop_assert!(group.windows(2).all(|pair| joined[pair[0] as usize] == joined[pair[1] as usize]));
        }
    }
}

fn shown(id: &str, shown: &[&str]) -> Session {
    let [id, query] = [id, "q"].map(str::to_owned);
    Session { id, query, shown: shown.iter().map(|d| (*d).to_owned()).collect(), ..Session::default() }
}

fn clicked(session: &str, doc: &str) -> Clicked {
    let click = Click { doc: doc.to_owned(), time: None };
    Clicked { session: session.to_owned(), clicks: vec![click] }
}

/// A server's log: clicks come in lines of their own. Lines that are damaged, or belong to nothing, are counted.
#[test]
fn clicks_of_a_server_join_the_lists_they_belong_to() {
    let lines = [
        sealed(&shown("s1", &["a", "b"])).unwrap(),
        sealed(&shown("s2", &["b"])).unwrap(),
        sealed(&clicked("s1", "b")).unwrap(),
        sealed(&clicked("s3", "b")).unwrap(),
        String::from_utf8(sealed(&clicked("s2", "b")).unwrap())
            .unwrap()
            .replace("\"b\"", "\"c\"")
            .into_bytes(),
        br#"{"id":"s4","query":"q","shown":["a"],"clicks":[]}"#.to_vec(),
        sealed(&serde_json::json!({ "shadow": "next", "session": "s1" })).unwrap(),
        sealed(&clicked("s1", "a")).unwrap(),
    ];
    let (sessions, report) = read(&lines.join(&b'\n'));
    let found: Vec<(&str, Vec<bool>)> = sessions.iter().map(|s| (s.id.as_str(), s.clicked())).collect();
    // The one of another program does not wait.
    assert_eq!(found, [("s4", vec![false]), ("s1", vec![true, true]), ("s2", vec![false])]);
    assert_eq!((report.lines, report.sessions, report.clicks), (8, 3, 2));
    for problem in [LogProblem::Damaged, LogProblem::UnknownRanking, LogProblem::OtherEvent] {
        assert_eq!(report.count(problem), 1, "{report}");
    }
}

/// However a log ends or a byte of it changes, whole lines before are read and the rest is counted.
#[test]
fn a_damaged_log_of_a_server_gives_what_is_whole() {
    let lines: Vec<u8> = (0..20)
        .flat_map(|number| {
            let id = format!("s{number}");
            [sealed(&shown(&id, &["a", "b"])).unwrap(), sealed(&clicked(&id, "a")).unwrap()].concat()
        })
        .collect();
    let starts: Vec<usize> =
        (0..lines.len()).filter(|&at| at == 0 || lines[at - 1] == b'\n').chain([lines.len()]).collect();
    for end in (0..lines.len()).step_by(7) {
        let whole = starts.iter().filter(|start| **start <= end).count() - 1;
        let (sessions, report) = read(&lines[..end]);
        let clicks = sessions.iter().filter(|session| session.clicked()[0]).count();
        // A line is whole without the end of the line, too.
        let almost = starts.contains(&(end + 1));
        assert_eq!(sessions.len() + clicks, whole + usize::from(almost), "{end}: {report}");
    }
    for at in (0..lines.len()).step_by(11) {
        let mut changed = lines.clone();
        changed[at] ^= 1;
        let (sessions, report) = read(&changed);
        let problems: u64 = report.problems.iter().map(|counted| counted.count).sum();
        assert!(problems > 0 && sessions.len() >= 18, "{at}: {report}");
    }
}
