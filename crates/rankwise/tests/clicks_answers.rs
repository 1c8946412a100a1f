//! Click models against the parameters and click probabilities of another tool on the same log, if they are available.

use rankwise::clicks::models::{Browsing, ByDocument, ClickModel, ClickModelKind, FitOptions};
use rankwise::clicks::{LogReader, Session, SessionTable};
use serde_json::Value;
use std::io::Write;
use std::path::Path;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/clicks");

fn material() -> Option<(Vec<Session>, Value)> {
    let (log, answers) = (Path::new(DATA).join("log.jsonl.zst"), Path::new(DATA).join("answers.json.zst"));
    if !log.exists() || !answers.exists() {
        // If the message cannot be printed, that is not a failure.
        let _ = writeln!(std::io::stderr(), "skipped: {DATA} is not there");
        return None;
    }
    let mut log = LogReader::open(&log).unwrap();
    let sessions: Vec<Session> = log.by_ref().map(Result::unwrap).collect();
    assert_eq!((log.report().sessions, log.report().problems.len()), (1800, 0));
    let answers = zstd::decode_all(std::fs::File::open(answers).unwrap()).unwrap();
    Some((sessions, serde_json::from_slice(&answers).unwrap()))
}

fn assert_close(found: f64, expected: &Value, what: &str) {
    let expected = expected.as_f64().unwrap_or_else(|| panic!("{what}: {expected}"));
    assert!((found - expected).abs() < 1e-6, "{what}: {found}, not {expected}");
}

fn assert_documents(found: &ByDocument, expected: &Value, what: &str) {
    let mut compared = 0;
    for (query, documents) in expected.as_object().unwrap() {
        for (document, expected) in documents.as_object().unwrap() {
            assert_close(found.get(query, document), expected, &format!("{what} of {query} {document}"));
            compared += 1;
        }
    }
    assert_eq!(compared, 180);
}

fn assert_ranks(found: &[f64], expected: &Value, what: &str) {
    let expected = expected.as_array().unwrap();
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(found, expected)| assert_close(*found, expected, what));
}

/// The other tool counts once, or runs ten iterations of EM; every parameter starts from one of two counts.
#[test]
fn parameters_and_click_probabilities_are_those_of_another_tool() {
    let Some((sessions, answers)) = material() else { return };
    let table: SessionTable = sessions.iter().collect();
    let options = FitOptions { iterations: 10, tolerance: 0.0, ..FitOptions::default() };
    use ClickModelKind::{Cascade, Dcm, Pbm, Sdbn, Ubm};
    for (name, kind) in [("PBM", Pbm), ("UBM", Ubm), ("CM", Cascade), ("DCM", Dcm), ("SDBN", Sdbn)] {
        let fitted = ClickModel::fit(kind, &table, &options).unwrap();
        let (model, parameters) = (&fitted.model, &answers[name]["parameters"]);
        assert_documents(&model.attractiveness, &parameters["attr"], name);
        match &model.browsing {
            Browsing::Pbm { examination } => assert_ranks(examination, &parameters["exam"], name),
            Browsing::Dcm { continuation } => assert_ranks(continuation, &parameters["cont"], name),
            Browsing::Sdbn { satisfaction } => assert_documents(satisfaction, &parameters["sat"], name),
            Browsing::Ubm { examination } => {
                for (rank, by_last) in examination.iter().enumerate() {
                    // Their last column stands for no click before.
                    let expected = &parameters["exam"][rank];
                    assert_close(by_last[0], &expected[9], name);
                    (1..=rank).for_each(|last| assert_close(by_last[last], &expected[last - 1], name));
                }
            }
            Browsing::Cascade | Browsing::Dbn { .. } => {}
        }
        assert_probabilities(model, &sessions, &answers[name], name);
    }
}

/// The other tool gives the probability of what happened, given the clicks above; not so in the cascade model, where it takes no
/// notice of them, and gives at least 1e-6 after a click.
fn assert_probabilities(model: &ClickModel, sessions: &[Session], answers: &Value, name: &str) {
    for (number, session) in sessions[..5].iter().enumerate() {
        let found = model.click_probabilities(&session.query, &session.shown);
        assert_ranks(&found, &answers["click_probabilities_of_first_5_sessions"][number], name);
        if model.kind() == ClickModelKind::Cascade {
            continue;
        }
        let clicked = session.clicked();
        let found = model.conditional_click_probabilities(&session.query, &session.shown, &clicked);
        let happened = found.iter().zip(clicked).map(|(p, clicked)| if clicked { *p } else { 1.0 - p });
        assert_ranks(&happened.collect::<Vec<f64>>(), &answers["conditional_first_5"][number], name);
    }
}

/// Where a session has no click, the other tool estimates the parameters of its DBN as if the last click were below the list,
/// and so finds other ones than expectation maximisation. With its parameters, probabilities are the same; the log is more
/// likely with ours.
#[test]
fn the_dbn_gives_the_same_probabilities_and_better_parameters() {
    let Some((sessions, answers)) = material() else { return };
    let table: SessionTable = sessions.iter().collect();
    let parameters = &answers["DBN"]["parameters"];
    let by_document = |name: &str| {
        let values = serde_json::from_value(parameters[name].clone()).unwrap();
        ByDocument { default: 0.5, values }
    };
    let continuation = parameters["cont"].as_f64().unwrap();
    let browsing = Browsing::Dbn { satisfaction: by_document("sat"), continuation };
    let theirs = ClickModel { browsing, attractiveness: by_document("attr") };
    assert_probabilities(&theirs, &sessions, &answers["DBN"], "DBN");
    let options = FitOptions { iterations: 10, tolerance: 0.0, ..FitOptions::default() };
    let ours = ClickModel::fit(ClickModelKind::Dbn, &table, &options).unwrap().model;
    let mean = |model: &ClickModel| model.evaluate(&table).unwrap().log_likelihood;
    assert!(mean(&ours) > mean(&theirs) + 0.01, "{} {}", mean(&ours), mean(&theirs));
}
