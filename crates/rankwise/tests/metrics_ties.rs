//! The closed forms for ties against the mean over every order of the tied documents.

use rand::RngExt;
use rankwise::metrics::{Conventions, METRICS, Metric, parse_list};
use rankwise::rank::{RankRule, Ranking, ScoreBits, Sorter, Ties};
use rankwise::rng::{self, Random};

/// Metrics that do not average over the orders of tied documents.
const NOT_AVERAGED: [&str; 3] = ["kendall", "iprec", "11pt-avg"];

/// Every metric with and without cuts, and every option that affects ties.
fn all_metrics(conventions: &Conventions) -> Vec<Box<dyn Metric>> {
    let variants: &[(&str, &[&str])] = &[
        ("ndcg", &[":gain=linear", ":gain=binary:t=2", ":discount=letor"]),
        ("map", &[":ap-divisor=min", ":t=2"]),
        ("p", &[":p-divisor=min"]),
        ("f1", &[":p-divisor=min"]),
        ("err", &[":stop=grade", ":max-grade=3"]),
        ("rbp", &[":p=0.5", ":rbp-gain=linear"]),
        ("bpref", &[":t=2"]),
        ("inf-ap", &[":t=2"]),
    ];
    let mut specs = Vec::new();
    for entry in METRICS.iter().filter(|e| !NOT_AVERAGED.contains(&e.card.name)) {
        let name = entry.card.name;
        let cuts: &[&str] = if entry.cut { &["", "@1..8"] } else { &[""] };
        let options = variants.iter().filter(|v| v.0 == name).flat_map(|v| v.1).copied();
        for option in options.chain([""]) {
            specs.extend(cuts.iter().map(|cut| format!("{name}{cut}{option}")));
        }
    }
    parse_list(&specs.join(","), conventions).unwrap()
}

struct Case {
    labels: Vec<f32>,
    scores: Vec<f64>,
}

/// Few grades, fewer scores; some documents unjudged, some judged below 0, some not retrieved.
fn random_case(random: &mut Random, most: usize) -> Case {
    let n = random.random_range(1..=most);
    let retrieved = if random.random_bool(0.3) { random.random_range(0..=n) } else { n };
    let grades = [0.0, 0.0, 1.0, 1.0, 2.0, 3.0, 4.0, -1.0, 0.5, f32::NAN];
    let levels = random.random_range(1..=5);
    Case {
        labels: (0..n).map(|_| grades[random.random_range(0..grades.len())]).collect(),
        scores: (0..retrieved).map(|_| f64::from(random.random_range(0..levels))).collect(),
    }
}

/// Every order of descending score.
fn all_orders(scores: &[f64]) -> Vec<Ranking> {
    fn extend(scores: &[f64], order: &mut Vec<u32>, found: &mut Vec<Ranking>) {
        let left: Vec<u32> = (0..scores.len() as u32).filter(|d| !order.contains(d)).collect();
        let Some(best) = left.iter().map(|&d| scores[d as usize]).max_by(f64::total_cmp) else {
            found.push(Ranking::from_order(order.clone()));
            return;
        };
        for &d in left.iter().filter(|&&d| scores[d as usize] == best) {
            order.push(d);
            extend(scores, order, found);
            order.pop();
        }
    }
    let mut found = Vec::new();
    extend(scores, &mut Vec::new(), &mut found);
    found
}

#[test]
fn averaging_ties_is_the_mean_over_all_orders() {
    let metrics = all_metrics(&Conventions::default());
    let mut random = rng::stream(7, &[1]);
    for (most, cases) in [(4, 1500), (5, 1000), (6, 300), (7, 40)] {
        for _ in 0..cases {
            let case = random_case(&mut random, most);
            let orders = all_orders(&case.scores);
            let averaged = Ranking::by_scores(&case.scores);
            for metric in &metrics {
                let value = metric.value(&case.labels, &averaged).unwrap();
                let sum: f64 = orders.iter().map(|o| metric.value(&case.labels, o).unwrap()).sum();
                let mean = sum / orders.len() as f64;
                assert!(
                    (value - mean).abs() < 1e-12,
                    "{}: {value} for labels {:?}, scores {:?}; mean over {} orders {mean}",
                    metric.name(),
                    case.labels,
                    case.scores,
                    orders.len()
                );
            }
        }
    }
}

/// A metric with a depth is given only the top of the ranking. This must not change a bit of its value, for any tie rule
/// and any previous use of the memory.
#[test]
fn ranks_below_the_cut_make_no_difference() {
    let mut random = rng::stream(7, &[4]);
    for ties in [Ties::Average, Ties::Input, Ties::Worst, Ties::DocId] {
        for bits in [ScoreBits::F64, ScoreBits::F32] {
            let conventions = Conventions { ties, scores: bits, ..Conventions::default() };
            let metrics = all_metrics(&conventions);
            assert!(
                metrics.iter().any(|m| m.depth() == 8) && metrics.iter().any(|m| m.depth() == usize::MAX)
            );
            let (mut whole, mut top) = (Sorter::default(), Sorter::default());
            for _ in 0..60 {
                let mut case = random_case(&mut random, 60);
                // Some scores differ in double precision only.
                case.scores.iter_mut().for_each(|s| *s += 1e-12 * f64::from(random.random_range(0..2)));
                for metric in &metrics {
                    let ranking = whole.rank(&case.scores, &case.labels, RankRule { ties, scores: bits });
                    let expected = metric.value(&case.labels, ranking);
                    let value = metric.value_of_scores(&case.labels, &case.scores, &mut top);
                    assert_eq!(value, expected, "{} with {ties:?}, {bits:?}", metric.name());
                }
            }
        }
    }
}

#[test]
fn the_worst_order_has_the_least_value() {
    let conventions = Conventions { ties: Ties::Worst, ..Conventions::default() };
    let metrics = parse_list("ndcg@3,dcg,map,mrr,err,p@2,recall@3,rbp", &conventions).unwrap();
    let mut random = rng::stream(7, &[2]);
    for _ in 0..300 {
        let case = random_case(&mut random, 5);
        for metric in &metrics {
            let worst = metric.value_of_scores(&case.labels, &case.scores, &mut Sorter::default()).unwrap();
            let values =
                all_orders(&case.scores).into_iter().map(|o| metric.value(&case.labels, &o).unwrap());
            let least = values.min_by(f64::total_cmp).unwrap();
            assert!((worst - least).abs() < 1e-12, "{}: {worst}, least {least}", metric.name());
        }
    }
}

/// τ-b by its definition, pair by pair; documents that were not retrieved have one score below all others.
#[test]
fn kendall_counts_every_pair() {
    let metric = parse_list("kendall:empty=skip", &Conventions::default()).unwrap().remove(0);
    let mut random = rng::stream(7, &[3]);
    for _ in 0..2000 {
        let case = random_case(&mut random, 9);
        let grade = |i: usize| if case.labels[i].is_nan() { 0.0 } else { case.labels[i] };
        let score = |i: usize| case.scores.get(i).copied().unwrap_or(-1.0);
        let (mut concordance, mut untied_grades, mut untied_scores) = (0.0_f64, 0.0_f64, 0.0_f64);
        for i in 0..case.labels.len() {
            for j in 0..i {
                let (g, s) = (f64::from(grade(i) - grade(j)), score(i) - score(j));
                let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
                concordance += sign(g) * sign(s);
                untied_grades += sign(g).abs();
                untied_scores += sign(s).abs();
            }
        }
        let value = metric.value(&case.labels, &Ranking::by_scores(&case.scores));
        if untied_grades == 0.0 {
            assert_eq!(value, None);
        } else {
            let expected =
                if untied_scores == 0.0 { 0.0 } else { concordance / (untied_grades * untied_scores).sqrt() };
            assert!((value.unwrap() - expected).abs() < 1e-12, "{value:?} {expected}");
        }
    }
}

/// Interpolated precision with ties seen at once, by its definition: the best precision at the end of a group of equal
/// scores where enough relevant documents are found.
#[test]
fn interpolated_precision_sees_tied_documents_at_once() {
    let metrics = parse_list("iprec", &Conventions::default()).unwrap();
    let mean = parse_list("11pt-avg", &Conventions::default()).unwrap().remove(0);
    let mut random = rng::stream(7, &[4]);
    for _ in 0..2000 {
        let case = random_case(&mut random, 9);
        let relevant = case.labels.iter().filter(|&&l| l >= 1.0).count();
        let ranking = Ranking::by_scores(&case.scores);
        let mut sum = 0.0;
        for (tenths, metric) in metrics.iter().enumerate() {
            // As trec_eval rounds it: 0.7 of 3 documents are 2.
            let needed = (tenths as f64 / 10.0 * relevant as f64 + 0.9) as usize;
            let mut best = 0.0_f64;
            for &least in &case.scores {
                let seen = case.scores.iter().zip(&case.labels).filter(|(score, _)| **score >= least);
                let hits = seen.clone().filter(|(_, label)| **label >= 1.0).count();
                if relevant > 0 && hits >= needed {
                    best = best.max(hits as f64 / seen.count() as f64);
                }
            }
            let value = metric.value(&case.labels, &ranking).unwrap();
            assert_eq!(value, best, "{} {:?} {:?}", metric.name(), case.labels, case.scores);
            sum += best;
        }
        assert!((mean.value(&case.labels, &ranking).unwrap() - sum / 11.0).abs() < 1e-12);
    }
}
