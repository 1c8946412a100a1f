//! Estimates against enumeration of all clicks.

use super::*;
use crate::clicks::Click;

const DOCUMENTS: [&str; 3] = ["a", "b", "c"];
const RELEVANCE: [f64; 3] = [0.2, 0.9, 0.5];
const THETA: [f64; 3] = [1.0, 0.5, 0.2];

fn rankings() -> Rankings {
    Rankings::from([("q".to_owned(), ["b", "c", "a"].map(str::to_owned).into())])
}

fn session(bits: u32) -> Session {
    let clicks = (0..3).filter(|i| bits >> i & 1 == 1);
    let clicks = clicks.map(|i| Click { doc: DOCUMENTS[i].to_owned(), time: None }).collect();
    Session { query: "q".into(), shown: DOCUMENTS.map(str::to_owned).into(), clicks, ..Session::default() }
}

/// Expectations of an estimate over all clicks that the position-based model allows.
fn expected(value: RankValue, theta: &[f64], clip: f64, of: impl Fn(&CounterfactualEstimate) -> f64) -> f64 {
    let (rankings, theta) = (rankings(), Propensities::given(theta.to_vec()).unwrap());
    let of_pattern = |bits: u32| {
        let p = |i: usize| THETA[i] * RELEVANCE[i];
        let probability: f64 = (0..3).map(|i| if bits >> i & 1 == 1 { p(i) } else { 1.0 - p(i) }).product();
        let mut sums = Counterfactual::new(&rankings).unwrap();
        sums.add(&session(bits));
        let options = EstimateOptions { value, clip, resamples: 1, ..EstimateOptions::default() };
        let found = sums.estimate(&theta, &options).unwrap();
        assert!((found.ips - found.shown - found.difference).abs() < 1e-12);
        probability * of(&found)
    };
    (0..8).map(of_pattern).sum()
}

fn expected_ips(value: RankValue, theta: &[f64], clip: f64) -> f64 {
    expected(value, theta, clip, |found| found.ips)
}

#[test]
fn with_true_propensities_ips_is_unbiased() {
    for value in [RankValue::Dcg { depth: 2 }, RankValue::Precision { depth: 2 }, RankValue::Reciprocal] {
        // Documents b, c and a are at ranks 1, 2 and 3 of the new ranker.
        let truth = value.at(1) * 0.9 + value.at(2) * 0.5 + value.at(3) * 0.2;
        assert!((expected_ips(value, &THETA, 0.0) - truth).abs() < 1e-12);
        assert!((expected_ips(value, &THETA, 0.2) - truth).abs() < 1e-12);
        // The lists that were shown are a, b and c.
        let shown = value.at(1) * 0.2 + value.at(2) * 0.9 + value.at(3) * 0.5;
        assert!((expected(value, &THETA, 0.0, |found| found.shown) - shown).abs() < 1e-12);
        // Without propensities, or if they are clipped, the estimate is too small.
        assert!(expected_ips(value, &[1.0; 3], 0.0) < truth - 0.1);
        let clipped = value.at(1) * 0.9 + value.at(2) * 0.5 * 0.4 + value.at(3) * 0.2;
        assert!((expected_ips(value, &THETA, 0.5) - clipped).abs() < 1e-12);
    }
}

#[test]
fn values_of_ranks_are_those_of_the_metrics() {
    use crate::metrics::{Conventions, parse};
    use crate::rank::Ranking;
    for (name, value) in [("p@3", RankValue::Precision { depth: 3 }), ("dcg@3", RankValue::Dcg { depth: 3 })]
    {
        let metric = parse(name, &Conventions::default()).unwrap();
        for rank in 1..=5_usize {
            let mut labels = [0.0; 5];
            labels[rank - 1] = 1.0;
            let expected = metric.value(&labels, &Ranking::by_scores(&[5.0, 4.0, 3.0, 2.0, 1.0]));
            assert!((value.at(rank as u32) - expected.unwrap()).abs() < 1e-12, "{name} {rank}");
        }
    }
    assert_eq!(RankValue::Reciprocal.at(4), 0.25);
}

#[test]
fn estimates_are_those_of_naive_sums_and_count_what_they_leave_out() {
    let theta = Propensities::given(THETA.to_vec()).unwrap();
    let rankings = Rankings::from([
        ("q".to_owned(), vec!["b".to_owned(), "c".to_owned()]),
        ("r".to_owned(), vec!["a".to_owned()]),
    ]);
    let mut sums = Counterfactual::new(&rankings).unwrap();
    let options = EstimateOptions {
        value: RankValue::Reciprocal,
        clip: 0.3,
        resamples: 200,
        confidence: 0.9,
        ..EstimateOptions::default()
    };
    assert!(sums.estimate(&theta, &options).unwrap_err().to_string().contains("no session of a query"));
    let of = |query: &str, bits| Session { query: query.into(), ..session(bits) };
    // Clicks: a at rank 1 (not ranked); b at rank 2; c at rank 3, below the limit.
    for session in [of("q", 0b001), of("q", 0b110), of("r", 0b001), of("r", 0), of("unknown", 0b111)] {
        sums.add(&session);
    }
    let found = sums.estimate(&theta, &options).unwrap();
    let (b, c) = (2.0, 1.0 / 0.3);
    let valued = b * 1.0 + c * 0.5 + 1.0;
    assert!((found.ips - valued / 4.0).abs() < 1e-12);
    assert!((found.snips.unwrap() - valued / (1.0 + b + c + 1.0)).abs() < 1e-12);
    assert!((found.shown - (1.0 + b * 0.5 + c / 3.0 + 1.0) / 4.0).abs() < 1e-12);
    let (of_ips, of_difference) = (found.ips_interval.unwrap(), found.difference_interval.unwrap());
    assert!(of_ips.low <= found.ips && found.ips <= of_ips.high);
    assert!(of_difference.low <= found.difference && found.difference <= of_difference.high);
    assert_eq!((found.sessions, found.queries), (4, 2));
    assert_eq!((found.unranked_sessions, found.unranked_clicks, found.clipped_clicks), (1, 1, 1));
    for wrong in [
        EstimateOptions { clip: 2.0, ..options },
        EstimateOptions { resamples: 0, ..options },
        EstimateOptions { confidence: 1.0, ..options },
        EstimateOptions { value: RankValue::Dcg { depth: 0 }, ..options },
    ] {
        assert!(sums.estimate(&theta, &wrong).is_err(), "{wrong:?}");
    }
    let twice = Rankings::from([("q".to_owned(), vec!["b".to_owned(), "b".to_owned()])]);
    assert!(Counterfactual::new(&twice).is_err());
}

#[test]
fn metrics_are_read_as_they_are_written() {
    for text in ["dcg@10", "p@3", "reciprocal"] {
        assert_eq!(RankValue::parse(text).unwrap().to_string(), text);
    }
    for text in ["ndcg@10", "dcg", "p@0", "dcg@x", "map", ""] {
        assert!(RankValue::parse(text).unwrap_err().to_string().contains("cannot be estimated"), "{text}");
    }
}

#[test]
fn rankings_of_a_run_are_in_the_order_of_their_scores() {
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(path.path(), "q Q0 a 1 0.5 t\nq Q0 b 2 0.7 t\nr Q0 x 1 1 t\nq Q0 c 3 0.5 t\n").unwrap();
    let rankings = rankings_of_run(&crate::data::read_run(path.path()).unwrap()).unwrap();
    assert_eq!(
        (&rankings["q"][..], &rankings["r"][..]),
        (&["b", "c", "a"].map(str::to_owned)[..], &["x".to_owned()][..])
    );
}
