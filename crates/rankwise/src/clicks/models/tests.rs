//! Click models against enumeration of everything hidden.

use super::*;
use crate::clicks::{Click, Session};
use crate::rng;
use rand::RngExt;
use rand::seq::SliceRandom;

const DOCUMENTS: [&str; 4] = ["a", "b", "c", "d"];

fn random_model(kind: ClickModelKind, seed: u64) -> ClickModel {
    let mut random = rng::stream(seed, &[]);
    let mut p = || 0.05 + 0.9 * random.random::<f64>();
    let pairs = DOCUMENTS.map(|document| ("q", document));
    let mut by_document = |default| ByDocument::new(default, &pairs, &[p(), p(), p(), p()]);
    let (attractiveness, satisfaction) = (by_document(0.5), by_document(0.5));
    let browsing = match kind {
        ClickModelKind::Pbm => Browsing::Pbm { examination: vec![p(), p(), p(), p()] },
        ClickModelKind::Ubm => {
            Browsing::Ubm { examination: (1..=4).map(|rank| (0..rank).map(|_| p()).collect()).collect() }
        }
        ClickModelKind::Cascade => Browsing::Cascade,
        ClickModelKind::Dcm => Browsing::Dcm { continuation: vec![p(), p(), p(), p()] },
        ClickModelKind::Sdbn => Browsing::Sdbn { satisfaction },
        ClickModelKind::Dbn => Browsing::Dbn { satisfaction, continuation: p() },
    };
    ClickModel { browsing, attractiveness }
}

fn patterns(length: usize) -> impl Iterator<Item = Vec<bool>> {
    (0..1_u32 << length).map(move |bits| (0..length).map(|i| bits >> i & 1 == 1).collect())
}

/// Everything hidden at one rank.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Hidden {
    examined: bool,
    attractive: bool,
    satisfied: bool,
}

/// The probability of clicks together with hidden states, from the definitions: a product over ranks.
fn joint(model: &ClickModel, shown: &[&str], clicked: &[bool], hidden: &[Hidden]) -> f64 {
    let bernoulli = |p: f64, happened: bool| if happened { p } else { 1.0 - p };
    let (mut probability, mut last) = (1.0, 0);
    for (place, h) in hidden.iter().enumerate() {
        let document = shown[place];
        probability *= bernoulli(model.attractiveness.get("q", document), h.attractive);
        let (before, before_clicked) = match place {
            0 => (None, false),
            _ => (Some(hidden[place - 1]), clicked[place - 1]),
        };
        let goes_on = |p: f64| if before.is_none_or(|b| b.examined) { p } else { 0.0 };
        let examined = match &model.browsing {
            Browsing::Pbm { examination } => examination[place],
            Browsing::Ubm { examination } => examination[place][last],
            _ if place == 0 => 1.0,
            Browsing::Cascade => goes_on(if before_clicked { 0.0 } else { 1.0 }),
            Browsing::Dcm { continuation } => {
                goes_on(if before_clicked { continuation[place - 1] } else { 1.0 })
            }
            Browsing::Sdbn { .. } => goes_on(if before.is_some_and(|b| b.satisfied) { 0.0 } else { 1.0 }),
            Browsing::Dbn { continuation, .. } => {
                goes_on(if before.is_some_and(|b| b.satisfied) { 0.0 } else { *continuation })
            }
        };
        probability *= bernoulli(examined, h.examined);
        let click = h.examined && h.attractive;
        let satisfied = match &model.browsing {
            Browsing::Sdbn { satisfaction } | Browsing::Dbn { satisfaction, .. } if click => {
                satisfaction.get("q", document)
            }
            _ => 0.0,
        };
        probability *= bernoulli(satisfied, h.satisfied);
        if click != clicked[place] {
            return 0.0;
        }
        last = if click { place + 1 } else { last };
    }
    probability
}

/// All hidden states of a list.
fn all_hidden(length: usize) -> impl Iterator<Item = Vec<Hidden>> {
    (0..1_u32 << (3 * length)).map(move |bits| {
        let bit = |i: usize| bits >> i & 1 == 1;
        let at = |i: usize| Hidden { examined: bit(i), attractive: bit(i + 1), satisfied: bit(i + 2) };
        (0..length).map(|place| at(3 * place)).collect()
    })
}

fn probability(model: &ClickModel, shown: &[&str], clicked: &[bool]) -> f64 {
    all_hidden(shown.len()).map(|hidden| joint(model, shown, clicked, &hidden)).sum()
}

#[test]
fn probabilities_are_those_of_the_definitions_and_sum_to_one() {
    for (seed, kind) in ClickModelKind::ALL.into_iter().enumerate() {
        let model = random_model(kind, seed as u64);
        let shown = ["c", "a", "d"];
        let (mut total, mut by_rank) = (0.0, [0.0; 3]);
        for clicked in patterns(3) {
            let expected = probability(&model, &shown, &clicked);
            let found = model.log_likelihood("q", &shown, &clicked).exp();
            assert!((found - expected).abs() < 1e-14, "{kind:?} {clicked:?}: {found} {expected}");
            total += found;
            by_rank.iter_mut().zip(&clicked).for_each(|(p, c)| *p += if *c { found } else { 0.0 });
        }
        assert!((total - 1.0).abs() < 1e-14, "{kind:?}: {total}");
        let found = model.click_probabilities("q", &shown);
        assert!(
            found.iter().zip(by_rank).all(|(f, e)| (f - e).abs() < 1e-14),
            "{kind:?}: {found:?} {by_rank:?}"
        );
    }
}

/// Sessions drawn from a model: lists in random order, clicks by enumeration of their probabilities.
fn log_of(model: &ClickModel, sessions: usize, seed: u64) -> Vec<Session> {
    let draw = |number: usize| {
        let mut random = rng::stream(seed, &[number as u64]);
        let mut shown = DOCUMENTS;
        shown.shuffle(&mut random);
        let shown = &shown[..3];
        let mut point = random.random::<f64>();
        let clicked = patterns(3).find(|clicked| {
            point -= model.log_likelihood("q", shown, clicked).exp();
            point < 0.0
        });
        let clicked = clicked.unwrap_or_else(|| vec![false; 3]);
        let clicks = shown.iter().zip(clicked).filter(|(_, clicked)| *clicked);
        let clicks = clicks.map(|(document, _)| Click { doc: (*document).to_owned(), time: None }).collect();
        let shown = shown.iter().map(|document| (*document).to_owned()).collect();
        Session { id: number.to_string(), query: "q".into(), shown, clicks, ..Session::default() }
    };
    (0..sessions).map(draw).collect()
}

/// One step of expectation maximisation with posteriors by enumeration of all hidden states.
fn brute_force_step(model: &ClickModel, log: &[Session], prior: Prior) -> ClickModel {
    use std::collections::BTreeMap;
    let mut tallies: BTreeMap<(&str, usize, String), (f64, f64)> = BTreeMap::new();
    for session in log {
        let shown: Vec<&str> = session.shown.iter().map(String::as_str).collect();
        let clicked = session.clicked();
        let total = probability(model, &shown, &clicked);
        for hidden in all_hidden(shown.len()) {
            let weight = joint(model, &shown, &clicked, &hidden) / total;
            if weight == 0.0 {
                continue;
            }
            let mut add = |what, place: usize, document: &str, success: bool| {
                let tally = tallies.entry((what, place, document.to_owned())).or_default();
                tally.0 += if success { weight } else { 0.0 };
                tally.1 += weight;
            };
            let mut last = 0;
            for (place, h) in hidden.iter().enumerate() {
                add("attractive", 0, shown[place], h.attractive);
                add("examined", place * 10 + last, "", h.examined);
                if clicked[place] {
                    add("satisfied", 0, shown[place], h.satisfied);
                    last = place + 1;
                }
                if h.examined && !h.satisfied && place + 1 < shown.len() {
                    add("on", 0, "", hidden[place + 1].examined);
                }
            }
        }
    }
    let estimate = |what, place: usize, document: &str, before: f64| {
        let (successes, trials) =
            tallies.get(&(what, place, document.to_owned())).copied().unwrap_or_default();
        let trials = trials + prior.views;
        if trials > 0.0 { (successes + prior.clicks) / trials } else { before }
    };
    let by_document = |what, before: &ByDocument| {
        let pairs = DOCUMENTS.map(|document| ("q", document));
        let values = DOCUMENTS.map(|document| estimate(what, 0, document, before.get("q", document)));
        ByDocument::new(before.default, &pairs, &values)
    };
    let of_last =
        |rank: usize, last: usize, before: f64| estimate("examined", (rank - 1) * 10 + last, "", before);
    let browsing = match &model.browsing {
        Browsing::Pbm { examination } => {
            let at = |(place, &before): (usize, &f64)| {
                let parts = (0..=place).map(|last| {
                    tallies.get(&("examined", place * 10 + last, String::new())).copied().unwrap_or_default()
                });
                let (s, t) = parts.fold((prior.clicks, prior.views), |sum, x| (sum.0 + x.0, sum.1 + x.1));
                if t > 0.0 { s / t } else { before }
            };
            Browsing::Pbm { examination: examination.iter().enumerate().map(at).collect() }
        }
        Browsing::Ubm { examination } => {
            let at = |(place, row): (usize, &Vec<f64>)| {
                row.iter().enumerate().map(|(last, &before)| of_last(place + 1, last, before)).collect()
            };
            Browsing::Ubm { examination: examination.iter().enumerate().map(at).collect() }
        }
        Browsing::Dbn { satisfaction, continuation } => Browsing::Dbn {
            satisfaction: by_document("satisfied", satisfaction),
            continuation: estimate("on", 0, "", *continuation),
        },
        other => other.clone(),
    };
    ClickModel { browsing, attractiveness: by_document("attractive", &model.attractiveness) }
}

/// The start of expectation maximisation.
fn start(kind: ClickModelKind) -> ClickModel {
    let mut model = random_model(kind, 1);
    let half = ByDocument::new(0.5, &DOCUMENTS.map(|document| ("q", document)), &[0.5; 4]);
    model.attractiveness = half.clone();
    model.browsing = match model.browsing {
        Browsing::Pbm { .. } => Browsing::Pbm { examination: vec![0.5; 3] },
        Browsing::Ubm { .. } => Browsing::Ubm { examination: vec![vec![0.5; 1], vec![0.5; 2], vec![0.5; 3]] },
        _ => Browsing::Dbn { satisfaction: half, continuation: 0.5 },
    };
    model
}

const FITTED_BY_EM: [ClickModelKind; 3] = [ClickModelKind::Pbm, ClickModelKind::Ubm, ClickModelKind::Dbn];

#[test]
fn iterations_are_those_with_posteriors_by_enumeration() {
    for kind in FITTED_BY_EM {
        let log = log_of(&random_model(kind, 9), 40, 1);
        let table: SessionTable = log.iter().collect();
        for prior in [Prior::default(), Prior { clicks: 0.0, views: 0.0 }] {
            let mut expected = start(kind);
            for iterations in 1..=3 {
                expected = brute_force_step(&expected, &log, prior);
                let options = FitOptions { iterations, tolerance: 0.0, prior, ..FitOptions::default() };
                let found = ClickModel::fit(kind, &table, &options).unwrap();
                assert_eq!(found.iterations, iterations);
                assert_close(&found.model, &expected);
            }
        }
    }
}

fn assert_close(found: &ClickModel, expected: &ClickModel) {
    let [found_numbers, expected_numbers] = [found, expected].map(|model| {
        let text = serde_json::to_value(model).unwrap();
        let mut numbers = Vec::new();
        collect(&text, &mut numbers);
        numbers
    });
    assert_eq!(found_numbers.len(), expected_numbers.len());
    let close = found_numbers.iter().zip(&expected_numbers).all(|(f, e)| (f - e).abs() < 1e-12);
    assert!(close, "{found:?}\n{expected:?}");
}

fn collect(value: &serde_json::Value, numbers: &mut Vec<f64>) {
    match value {
        serde_json::Value::Number(number) => numbers.extend(number.as_f64()),
        serde_json::Value::Array(values) => values.iter().for_each(|value| collect(value, numbers)),
        serde_json::Value::Object(values) => values.values().for_each(|value| collect(value, numbers)),
        _ => {}
    }
}

#[test]
fn the_objective_of_em_never_falls_and_is_what_it_says() {
    for kind in FITTED_BY_EM {
        for (seed, prior) in [
            (1, Prior::default()),
            (2, Prior { clicks: 0.0, views: 0.0 }),
            (3, Prior { clicks: 0.5, views: 3.0 }),
        ] {
            let log = log_of(&random_model(kind, seed), 60, seed);
            let table: SessionTable = log.iter().collect();
            let options = FitOptions { iterations: 60, tolerance: 0.0, prior, ..FitOptions::default() };
            let fitted = ClickModel::fit(kind, &table, &options).unwrap();
            let objective = &fitted.objective;
            assert_eq!(objective.len(), fitted.iterations + 1);
            let slack = 1e-9 * objective[0].abs();
            assert!(objective.windows(2).all(|pair| pair[1] >= pair[0] - slack), "{kind:?} {objective:?}");
            assert!(objective[objective.len() - 1] > objective[0] + 1.0, "{kind:?} {objective:?}");
            let of_session = |session: &Session| {
                fitted.model.log_likelihood(&session.query, &session.shown, &session.clicked())
            };
            let naive: f64 = log.iter().map(of_session).sum();
            assert!((naive - fitted.log_likelihood).abs() < 1e-8, "{naive} {}", fitted.log_likelihood);
            if prior.views == 0.0 {
                assert!((objective[objective.len() - 1] - naive).abs() < 1e-8);
            }
        }
    }
}

#[test]
fn em_stops_when_it_hardly_gains_and_finds_the_model_again() {
    for kind in [ClickModelKind::Pbm, ClickModelKind::Dbn] {
        let truth = random_model(kind, 5);
        let table: SessionTable = log_of(&truth, 40_000, 5).iter().collect();
        let options = FitOptions { iterations: 2000, tolerance: 1e-8, ..FitOptions::default() };
        let fitted = ClickModel::fit(kind, &table, &options).unwrap();
        assert!(fitted.converged && fitted.iterations < 2000, "{}", fitted.iterations);
        // Only products of attractiveness and examination are known.
        for shown in [["a", "b", "c"], ["d", "c", "b"]] {
            let pairs = fitted
                .model
                .click_probabilities("q", &shown)
                .into_iter()
                .zip(truth.click_probabilities("q", &shown));
            pairs.for_each(|(found, expected)| {
                assert!((found - expected).abs() < 0.02, "{kind:?} {found} {expected}")
            });
        }
        let held_out: SessionTable = log_of(&truth, 5000, 6).iter().collect();
        let (own, other) = (fitted.model.evaluate(&held_out).unwrap(), truth.evaluate(&held_out).unwrap());
        assert!((own.log_likelihood - other.log_likelihood).abs() < 0.005);
        assert!((own.perplexity - other.perplexity).abs() < 0.005);
    }
}

#[test]
fn counted_models_count() {
    let session = |shown: [&str; 3], clicks: &[&str]| Session {
        query: "q".into(),
        shown: shown.map(str::to_owned).into(),
        clicks: clicks.iter().map(|doc| Click { doc: (*doc).to_owned(), time: None }).collect(),
        ..Session::default()
    };
    let log = [
        session(["a", "b", "c"], &["a", "b"]),
        session(["b", "a", "c"], &["a"]),
        session(["a", "c", "b"], &[]),
    ];
    let table: SessionTable = log.iter().collect();
    let options = FitOptions { prior: Prior { clicks: 0.0, views: 0.0 }, ..FitOptions::default() };
    let fit = |kind| ClickModel::fit(kind, &table, &options).unwrap().model;
    let attractiveness = |model: &ClickModel| ["a", "b", "c"].map(|d| model.attractiveness.get("q", d));
    // a is clicked in two of three views; b above c in one of three; c is looked at only without a click.
    for kind in [ClickModelKind::Dcm, ClickModelKind::Sdbn] {
        assert_eq!(attractiveness(&fit(kind)), [2.0 / 3.0, 1.0 / 3.0, 0.0]);
    }
    // Up to the first click: b is looked at only in the last two.
    assert_eq!(attractiveness(&fit(ClickModelKind::Cascade)), [2.0 / 3.0, 0.0, 0.0]);
    // Two clicks at rank 2, none of which was followed by another; one at rank 1, which was.
    let Browsing::Dcm { continuation } = fit(ClickModelKind::Dcm).browsing else { unreachable!() };
    assert_eq!(continuation, [1.0, 0.0, 0.5]);
    let Browsing::Sdbn { satisfaction } = fit(ClickModelKind::Sdbn).browsing else { unreachable!() };
    assert_eq!(["a", "b", "c"].map(|d| satisfaction.get("q", d)), [0.5, 1.0, 0.5]);
    let cascade = fit(ClickModelKind::Cascade).evaluate(&table).unwrap();
    assert_eq!((cascade.sessions, cascade.impossible), (2, 1));
}

#[test]
fn the_order_of_the_log_changes_no_bit() {
    for kind in ClickModelKind::ALL {
        let mut log = log_of(&random_model(ClickModelKind::Dbn, 3), 200, 3);
        let fit =
            |log: &[Session]| ClickModel::fit(kind, &log.iter().collect(), &FitOptions::default()).unwrap();
        let first = fit(&log);
        log.reverse();
        log[..100].shuffle(&mut rng::stream(4, &[]));
        assert_eq!(fit(&log), first);
    }
}

#[test]
fn what_was_not_in_the_log_has_the_priors_mean() {
    let log = log_of(&random_model(ClickModelKind::Ubm, 3), 50, 3);
    for kind in ClickModelKind::ALL {
        let model = ClickModel::fit(kind, &log.iter().collect(), &FitOptions::default()).unwrap().model;
        assert_eq!(model.attractiveness.get("q", "unheard of"), 0.5);
        let long: Vec<String> = (0..20).map(|i| format!("x{i}")).collect();
        let probabilities = model.click_probabilities("other", &long);
        assert!(probabilities.iter().all(|p| (0.0..=0.5).contains(p)), "{kind:?} {probabilities:?}");
        let evaluation = model
            .evaluate(&[Session { shown: long, query: "q".into(), ..Session::default() }].iter().collect())
            .unwrap();
        assert_eq!(evaluation.unknown_documents, 20);
    }
    assert!(ClickModel::fit(ClickModelKind::Pbm, &SessionTable::default(), &FitOptions::default()).is_err());
    let wrong = FitOptions { start: 1.0, ..FitOptions::default() };
    assert!(ClickModel::fit(ClickModelKind::Pbm, &log.iter().collect(), &wrong).is_err());
}
