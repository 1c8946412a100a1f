//! Compares every search with all rankings of small queries.

use super::*;
use crate::metrics::{Conventions, Discount, Gain, parse};
use crate::rng;
use rand::RngExt;

/// Every order of `0..n`.
fn permutations(n: usize) -> Vec<Vec<u32>> {
    fn extend(prefix: &mut Vec<u32>, n: usize, out: &mut Vec<Vec<u32>>) {
        if prefix.len() == n {
            out.push(prefix.clone());
        }
        for d in 0..n as u32 {
            if !prefix.contains(&d) {
                prefix.push(d);
                extend(prefix, n, out);
                prefix.pop();
            }
        }
    }
    let mut out = Vec::new();
    extend(&mut Vec::new(), n, &mut out);
    out
}

/// `w·δφ_po` by its definition, pair by pair.
fn lead_by_pairs(labels: &[f32], scores: &[f64], order: &[u32]) -> f64 {
    let (mut lead, mut pairs) = (0.0, 0.0);
    for (place, &ahead) in order.iter().enumerate() {
        for &behind in &order[place + 1..] {
            let (a, b) = (ahead as usize, behind as usize);
            let is_relevant = (labels[a] >= 1.0, labels[b] >= 1.0);
            if is_relevant.0 != is_relevant.1 {
                pairs += 1.0;
            }
            if is_relevant == (false, true) {
                lead += 2.0 * (scores[b] - scores[a]);
            }
        }
    }
    lead / pairs
}

/// `w·δφ_mrr` by its definition.
fn lead_by_first_relevant(labels: &[f32], scores: &[f64], order: &[u32]) -> f64 {
    let first = order.iter().position(|d| labels[*d as usize] >= 1.0).unwrap();
    order[..first].iter().map(|b| scores[order[first] as usize] - scores[*b as usize]).sum()
}

/// Labels and scores of a small query with documents of both classes; scores have few values, so ties are frequent.
fn random_case(seed: u64, n: usize) -> (Vec<f32>, Vec<f64>) {
    let mut random = rng::stream(seed, &[n as u64, 7]);
    let scale = [0.02, 0.3, 2.0][random.random_range(0..3)];
    loop {
        let labels: Vec<f32> = (0..n).map(|_| random.random_range(0..3) as f32).collect();
        let relevant = labels.iter().filter(|r| **r >= 1.0).count();
        let scores = (0..n).map(|_| scale * f64::from(random.random_range(-6..7))).collect();
        if (1..n).contains(&relevant) {
            return (labels, scores);
        }
    }
}

/// The search finds the best of all rankings, the hinge is its value and bounds Δ of the ranking by scores, and Δ is
/// one minus the metric.
fn agrees_with_enumeration<S: LossAugmentedArgmax>(
    search: S,
    metric_name: &str,
    lead: impl Fn(&[f32], &[f64], &[u32]) -> f64,
) {
    let conventions = Conventions { gain: Gain::Binary, ..Conventions::default() };
    let metric = parse(metric_name, &conventions).unwrap();
    let hinge = StructuredHinge(search);
    let search = &hinge.0;
    for (n, cases) in [(2, 200), (3, 500), (4, 1000), (5, 1000), (6, 300), (7, 40)] {
        let all: Vec<Ranking> = permutations(n).into_iter().map(Ranking::from_order).collect();
        for seed in 0..cases {
            let (labels, scores) = random_case(seed, n);
            let query = ScoredQuery { labels: &labels, scores: &scores, seed };
            let value_of = |ranking: &Ranking| {
                let lost = 1.0 - metric.value(&labels, ranking).unwrap();
                lost - lead(&labels, &scores, ranking.order())
            };
            let best = all.iter().map(value_of).fold(f64::NEG_INFINITY, f64::max);
            let found = search.argmax(query).unwrap();
            let context = || format!("{metric_name}: labels {labels:?}, scores {scores:?}");
            assert!((value_of(&found) - best).abs() < 1e-10, "{}", context());
            let value = hinge.value_and_gradient(query, &mut vec![0.0; n]);
            assert!((value - best).abs() < 1e-10, "{}", context());
            let predicted = search.task_loss(&labels, &Ranking::by_scores(&scores));
            assert!(value >= predicted - 1e-12, "{}", context());
        }
    }
}

#[test]
fn auc_agrees_with_all_rankings() {
    agrees_with_enumeration(AucSearch { threshold: 1.0 }, "auc", lead_by_pairs);
}

#[test]
fn average_precision_agrees_with_all_rankings() {
    agrees_with_enumeration(MapSearch { threshold: 1.0 }, "map", lead_by_pairs);
}

#[test]
fn ndcg_agrees_with_all_rankings_with_and_without_cutoff() {
    for (discount, name) in [(Discount::Log2, "log2"), (Discount::Letor, "letor")] {
        for k in [0, 1, 2, 3, 5, 10] {
            let cut = if k == 0 { String::new() } else { format!("@{k}") };
            let search = NdcgSearch { threshold: 1.0, k, discount };
            agrees_with_enumeration(search, &format!("ndcg{cut}:discount={name}"), lead_by_pairs);
        }
    }
}

#[test]
fn reciprocal_rank_agrees_with_all_rankings_with_and_without_cutoff() {
    for (k, metric_name) in [(0, "mrr"), (1, "mrr@1"), (2, "mrr@2"), (4, "mrr@4"), (9, "mrr@9")] {
        agrees_with_enumeration(MrrSearch { threshold: 1.0, k }, metric_name, lead_by_first_relevant);
        agrees_with_enumeration(MrrPairSearch { threshold: 1.0, k }, metric_name, lead_by_pairs);
    }
}

/// `w·δφ_dorm` by its definition, relative to the mean of all perfect rankings: each document is at each position of
/// its gain equally often.
fn lead_by_places(search: DormSearch) -> impl Fn(&[f32], &[f64], &[u32]) -> f64 {
    move |labels, scores, order| {
        let places = if search.cut_off == 0 { order.len() } else { search.cut_off };
        let pulls: Vec<f64> = (0..places).map(|p| 1.0 / (1.0 + p as f64).powf(search.decay)).collect();
        let pull = |place: usize| pulls.get(place).copied().unwrap_or(0.0);
        let gain = |i: usize| search.gain.of(labels[i], search.threshold);
        let lead = |(place, &d): (usize, &u32)| {
            let i = d as usize;
            let first = (0..labels.len()).filter(|&j| gain(j) > gain(i)).count();
            let end = (0..labels.len()).filter(|&j| gain(j) >= gain(i)).count();
            let mean = (first..end).map(pull).sum::<f64>() / (end - first) as f64;
            scores[i] * (mean - pull(place))
        };
        order.iter().enumerate().map(lead).sum()
    }
}

#[test]
fn dorm_agrees_with_all_rankings_for_binary_and_graded_labels() {
    let (binary, graded) = ((Gain::Binary, "binary"), (Gain::Exp2, "exp2"));
    let (log2, letor) = ((Discount::Log2, "log2"), (Discount::Letor, "letor"));
    for ((gain, gain_name), (discount, name), k, decay, cut_off) in [
        (binary, log2, 0, 0.5, 0),
        (binary, letor, 3, 0.5, 5),
        (binary, log2, 10, 0.5, 3),
        (graded, log2, 0, 0.5, 0),
        (graded, letor, 0, 0.5, 0),
        (graded, letor, 2, 1.0, 0),
        (graded, log2, 3, 0.5, 5),
        (graded, log2, 1, 0.5, 1),
    ] {
        let cut = if k == 0 { String::new() } else { format!("@{k}") };
        let search = DormSearch { gain, threshold: 1.0, k, discount, decay, cut_off };
        let metric_name = format!("ndcg{cut}:discount={name}:gain={gain_name}");
        agrees_with_enumeration(search, &metric_name, lead_by_places(search));
    }
}

/// Large queries: the dynamic program and the assignment, with and without a warm start, find the same value.
#[test]
fn the_merge_and_the_assignment_agree_on_large_queries() {
    for seed in 0..60 {
        let mut random = rng::stream(seed, &[2]);
        let n = random.random_range(20..120);
        let kinds = [2, 2, 2, 3][seed as usize % 4];
        let gains: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(0..kinds)) / 20.0).collect();
        let unit = [0.0, 0.0003, 0.01, 0.3][seed as usize / 4 % 4];
        let scores: Vec<f64> = (0..n).map(|_| unit * f64::from(random.random_range(-30..30))).collect();
        let query = ScoredQuery { labels: &[], scores: &scores, seed };
        let k = if seed % 3 == 0 { n } else { random.random_range(1..12) };
        let cut_off = if seed % 5 < 3 { n } else { random.random_range(1..20) };
        let pull = |cut: usize| (0..cut).map(|p| 1.0 / (1.0 + p as f64).sqrt()).collect::<Vec<f64>>();
        let worth: Vec<f64> = (0..k).map(|p| Discount::Log2.at(p)).collect();
        let placing = placing::Placing::new(query, &gains, pull(cut_off), worth.clone());
        let value = |order: &[u32]| {
            let document = |(place, &i): (usize, &u32)| {
                let d = placing.documents[i as usize] as usize;
                let weight = |weights: &[f64]| weights.get(place).copied().unwrap_or(0.0);
                weight(&pull(cut_off)) * scores[d] - weight(&worth) * gains[d]
            };
            order.iter().enumerate().map(document).sum::<f64>()
        };
        let merged = value(&merge::Merge::new(&placing).solve());
        let assigned = value(&placing.by_assignment());
        assert!((merged - assigned).abs() < 1e-10 * (1.0 + merged.abs()), "{merged} against {assigned}");
    }
}

/// Without a cutoff, the dynamic program must agree with divide and conquer; a cutoff beyond all documents has no
/// effect.
#[test]
fn both_searches_for_ndcg_agree_on_large_queries() {
    for seed in 0..40 {
        let mut random = rng::stream(seed, &[1]);
        let n = random.random_range(20..200);
        let labels: Vec<f32> =
            (0..n).map(|i| if i < 2 { i as f32 } else { random.random_range(0..2) as f32 }).collect();
        let scores: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(-30..30)) / 15.0).collect();
        let value = |k: usize| {
            let hinge = StructuredHinge(NdcgSearch { threshold: 1.0, k, discount: Discount::Log2 });
            hinge
                .value_and_gradient(ScoredQuery { labels: &labels, scores: &scores, seed }, &mut vec![0.0; n])
        };
        assert!((value(0) - value(n)).abs() < 1e-10, "{} against {}", value(0), value(n));
    }
}

/// Each non-relevant document tries every position independently, with the loss summed per relevant document:
/// O(n⁺·n⁺·n⁻), without using monotonicity.
#[test]
fn average_precision_of_large_queries_agrees_with_the_slow_search() {
    for seed in 0..20 {
        let mut random = rng::stream(seed, &[]);
        let n = random.random_range(60..160);
        let labels: Vec<f32> =
            (0..n).map(|i| if i < 2 { i as f32 } else { random.random_range(0..4) as f32 / 2.0 }).collect();
        let scores: Vec<f64> = (0..n).map(|_| f64::from(random.random_range(-30..30)) / 15.0).collect();
        let query = ScoredQuery { labels: &labels, scores: &scores, seed };
        let classes = Classes::of(query, 1.0).unwrap();
        let (relevant, non_relevant) = (classes.relevant.len() as f64, classes.non_relevant.len() as f64);
        let mut best = 0.0;
        for (j, &non_relevant_doc) in classes.non_relevant.iter().enumerate() {
            let gain = |(g, &relevant_doc): (usize, &u32)| {
                let precision = |j: usize| (g + 1) as f64 / (g + j + 1) as f64 / relevant;
                2.0 * (scores[non_relevant_doc as usize] - scores[relevant_doc as usize])
                    / (relevant * non_relevant)
                    + precision(j)
                    - precision(j + 1)
            };
            let gains: Vec<f64> = classes.relevant.iter().enumerate().map(gain).collect();
            best += (0..=gains.len())
                .map(|rho| gains[rho..].iter().sum::<f64>())
                .fold(f64::NEG_INFINITY, f64::max);
        }
        let hinge = StructuredHinge(MapSearch { threshold: 1.0 });
        let value = hinge.value_and_gradient(query, &mut vec![0.0; n]);
        assert!((value - best).abs() < 1e-9, "{value} against {best}");
    }
}

#[test]
fn queries_with_a_single_class_have_no_loss() {
    let hinges: [&dyn QueryLoss; 2] =
        [&StructuredHinge(AucSearch { threshold: 1.0 }), &StructuredHinge(MapSearch { threshold: 1.0 })];
    for labels in [[0.0, f32::NAN], [1.0, 2.0]] {
        for hinge in hinges {
            let mut gradient = [f64::NAN; 2];
            let query = ScoredQuery { labels: &labels, scores: &[0.5, -1.0], seed: 0 };
            assert_eq!(hinge.value_and_gradient(query, &mut gradient), 0.0);
            assert_eq!(gradient, [0.0; 2]);
        }
    }
}
