//! Properties that every metric in the list must have.

use rand::RngExt;
use rankwise::metrics::{Conventions, Empty, METRICS, Metric, PRESETS, parse};
use rankwise::rank::{Ranking, Sorter};
use rankwise::rng::{self, Random};

fn by_default(name: &str) -> Box<dyn Metric> {
    parse(name, &Conventions::default()).unwrap()
}

fn random_query(random: &mut Random, most: usize) -> (Vec<f32>, Vec<f64>) {
    let n = random.random_range(1..=most);
    let labels = (0..n).map(|_| random.random_range(0..5) as f32).collect();
    let scores = (0..n).map(|_| f64::from(random.random_range(0..12))).collect();
    (labels, scores)
}

/// Each metric without a cut, and with cuts or levels of recall if it accepts them.
fn names() -> Vec<(&'static rankwise::metrics::MetricEntry, String)> {
    let cuts = |e: &'static rankwise::metrics::MetricEntry| match (e.cut, e.levels) {
        (true, _) => vec!["", "@1", "@3", "@10"],
        (_, true) => vec!["@0", "@0.3", "@1"],
        _ => vec![""],
    };
    METRICS
        .iter()
        .flat_map(|e| cuts(e).into_iter().map(move |cut| (e, format!("{}{cut}", e.card.name))))
        .collect()
}

#[test]
fn values_stay_in_range_under_every_preset() {
    let mut random = rng::stream(11, &[1]);
    let mut sorter = Sorter::default();
    for preset in PRESETS {
        for (entry, name) in names() {
            let metric = parse(&name, &preset.conventions()).unwrap();
            let high = entry.range.1.unwrap_or(f64::MAX) + 1e-12;
            // The RBP of ranx is a mean label.
            let high = if entry.card.name == "rbp" && preset.card.name == "ranx" { 4.0 } else { high };
            for _ in 0..50 {
                let (labels, scores) = random_query(&mut random, 12);
                let value = metric.value_of_scores(&labels, &scores, &mut sorter).unwrap();
                assert!(
                    value >= entry.range.0 - 1e-12 && value <= high,
                    "{name} under {}: {value} for {labels:?} {scores:?}",
                    preset.card.name
                );
            }
        }
    }
}

#[test]
fn ranking_by_label_is_best() {
    let mut random = rng::stream(11, &[2]);
    for (_, name) in names() {
        let metric = by_default(&name);
        for _ in 0..100 {
            let (labels, scores) = random_query(&mut random, 8);
            let by_grade: Vec<f64> = labels.iter().map(|&l| f64::from(l)).collect();
            let best = metric.value(&labels, &Ranking::by_scores(&by_grade)).unwrap();
            let other = metric.value(&labels, &Ranking::by_scores(&scores)).unwrap();
            assert!(
                best >= other - 1e-12,
                "{name}: {best} for the best order of {labels:?}, {other} for {scores:?}"
            );
        }
    }
}

#[test]
fn a_perfect_ranking_has_the_value_one() {
    let labels = [0.0, 3.0, 1.0, 0.0, 2.0, 2.0, 0.0];
    let scores: Vec<f64> = labels.iter().map(|&l| f64::from(l)).collect();
    let perfect = "ndcg ndcg@1 ndcg@3 mean-ndcg map mrr recall recall@4 f1@4 r-precision success@1 p@4 bpref auc \
        kendall iprec@0 iprec@1 11pt-avg judged@3";
    for name in perfect.split_whitespace() {
        let value = by_default(name).value(&labels, &Ranking::by_scores(&scores)).unwrap();
        assert!((value - 1.0).abs() < 1e-15, "{name}: {value}");
        if name.contains("ndcg") {
            assert_eq!(value, 1.0, "{name}");
        }
    }
}

#[test]
fn averaged_ties_do_not_depend_on_the_input_order() {
    let mut random = rng::stream(11, &[3]);
    for (_, name) in names() {
        let metric = by_default(&name);
        for _ in 0..50 {
            let (labels, scores) = random_query(&mut random, 12);
            let scores: Vec<f64> = scores.iter().map(|s| (s / 4.0).floor()).collect();
            let value = metric.value(&labels, &Ranking::by_scores(&scores)).unwrap();
            let turn = random.random_range(0..labels.len());
            let (mut labels, mut scores) = (labels, scores);
            labels.rotate_left(turn);
            scores.rotate_left(turn);
            let turned = metric.value(&labels, &Ranking::by_scores(&scores)).unwrap();
            assert!((value - turned).abs() < 1e-12, "{name}: {value} and {turned}");
        }
    }
}

#[test]
fn empty_queries_follow_the_conventions() {
    let labels = [0.0, f32::NAN, 0.0];
    let ranking = Ranking::by_scores(&[1.0, 2.0, 2.0]);
    for (entry, name) in names() {
        if entry.empty.starts_with("never") {
            assert!(!by_default(&name).is_undefined(&labels), "{name}");
            continue;
        }
        for (empty, expected) in [(Empty::Zero, Some(0.0)), (Empty::One, Some(1.0)), (Empty::Skip, None)] {
            let metric = parse(&name, &Conventions { empty, ..Conventions::default() }).unwrap();
            // A sum has no best value.
            let expected = if entry.card.name == "dcg" { expected.map(|_| 0.0) } else { expected };
            assert_eq!(metric.value(&labels, &ranking), expected, "{name}");
            assert!(metric.is_undefined(&labels), "{name}");
        }
    }
}

#[test]
fn values_of_unusual_queries_are_finite() {
    let queries: &[(&[f32], &[f64])] = &[
        (&[1.0], &[0.0]),
        (&[0.0], &[0.0]),
        (&[2.0, 0.0, 1.0], &[5.0, 5.0, 5.0]),
        (&[1.0, 1.0], &[1.0, 2.0]),
        (&[31.0, 40.0, 0.0, 1.0], &[1.0, 2.0, 3.0, 4.0]),
        (&[1000.0, 2000.0, f32::MAX, 1.0], &[3.0, 2.0, 2.0, 4.0]),
        (&[1e-30, 0.25, -7.0, f32::NAN], &[f64::INFINITY, 2.0, f64::NEG_INFINITY, 4.0]),
        (&[1.0, 2.0, 0.0], &[]),
    ];
    for preset in PRESETS {
        for (_, name) in names() {
            let metric = parse(&name, &preset.conventions()).unwrap();
            for (labels, scores) in queries {
                let value = metric.value_of_scores(labels, scores, &mut Sorter::default());
                assert!(value.is_none_or(f64::is_finite), "{name} of {labels:?} {scores:?}: {value:?}");
            }
        }
    }
}

#[test]
fn every_citation_is_in_the_references() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/references.bib");
    let references = std::fs::read_to_string(path).unwrap();
    let cards = METRICS.iter().map(|e| &e.card).chain(PRESETS.iter().map(|p| &p.card));
    for key in cards.flat_map(|c| c.citations) {
        assert!(references.contains(&format!("{{{key},")), "{key}");
    }
}
