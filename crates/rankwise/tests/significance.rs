//! Tests of differences between systems: against SciPy and statsmodels (testdata/significance), against plain
//! enumeration, and against what theory says of p-values and intervals.

use rand::RngExt;
use rankwise::data::Texts;
use rankwise::experiment::significance::{Resampled, holm, paired_t_p, permutation_p};
use rankwise::experiment::{Comparison, ComparisonOptions, SystemValues};
use rankwise::rng;
use serde::Deserialize;

#[derive(Deserialize)]
struct Answers {
    cases: Vec<Case>,
    holm: Vec<Holm>,
}

#[derive(Deserialize)]
struct Case {
    a: Vec<f64>,
    b: Vec<f64>,
    t_p: f64,
    permutation_p: Option<f64>,
}

#[derive(Deserialize)]
struct Holm {
    p: Vec<f64>,
    adjusted: Vec<f64>,
}

fn answers() -> Answers {
    let text = include_str!("../../../testdata/significance/answers.json");
    serde_json::from_str(text).unwrap()
}

fn differences(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Values whose sum of twelve uniforms makes them all but normal, with variance 1.
fn normal(random: &mut rng::Random) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

fn normals(n: usize, path: &[u64]) -> Vec<f64> {
    let mut random = rng::stream(7, path);
    (0..n).map(|_| normal(&mut random)).collect()
}

fn system(name: &str, values: &[f64]) -> SystemValues {
    SystemValues { name: name.into(), values: values.iter().copied().map(Some).collect() }
}

fn ids(n: usize) -> Texts {
    (1..=n).map(|q| format!("q{q}")).collect()
}

#[test]
fn p_values_are_those_of_scipy() {
    for case in answers().cases {
        let d = differences(&case.a, &case.b);
        let t = paired_t_p(&d);
        assert!((t - case.t_p).abs() <= 1e-9 * case.t_p, "n = {}: {t} and {}", d.len(), case.t_p);
        if let Some(exact) = case.permutation_p {
            let p = permutation_p(&d, 1, 1);
            assert!((p - exact).abs() < 1e-12, "n = {}: {p} and {exact}", d.len());
        }
    }
}

#[test]
fn holm_is_that_of_statsmodels_and_of_a_hand_computation() {
    for Holm { p, adjusted } in answers().holm {
        for (ours, theirs) in holm(&p).iter().zip(adjusted) {
            assert!((ours - theirs).abs() < 1e-12, "{ours} and {theirs}");
        }
    }
    // In order: 3·0.01 = 0.03, then 2·0.03 = 0.06, then 1·0.04, which may not fall below the 0.06 before it.
    let by_hand = [0.03, 0.06, 0.06];
    for (ours, hand) in holm(&[0.01, 0.04, 0.03]).iter().zip(by_hand) {
        assert!((ours - hand).abs() < 1e-15);
    }
    assert!(holm(&[]).is_empty());
}

#[test]
fn enumeration_agrees_with_a_plain_loop_over_all_signs() {
    for n in 0..=11usize {
        // Tenths tie all the time, so equal sums must be seen as equal.
        let d: Vec<f64> = normals(n, &[1, n as u64]).iter().map(|x| (x * 3.0).round() / 10.0).collect();
        let tenths: Vec<i64> = d.iter().map(|x| (x * 10.0).round() as i64).collect();
        let observed = tenths.iter().sum::<i64>().abs();
        let reached = (0..1u32 << n)
            .filter(|signs| {
                let signed = |i: usize| if signs >> i & 1 == 1 { tenths[i] } else { -tenths[i] };
                (0..n).map(signed).sum::<i64>().abs() >= observed
            })
            .count();
        assert_eq!(permutation_p(&d, 1, 1), reached as f64 / f64::from(1 << n), "n = {n}");
    }
}

#[test]
fn sampling_agrees_with_enumeration() {
    // Twenty differences are enumerated. A twenty-first, far too small to change any comparison, has them sampled.
    for (trial, shift) in [0.0, 0.2, 0.4, 0.7].into_iter().enumerate() {
        let mut d: Vec<f64> = normals(20, &[2, trial as u64]).iter().map(|x| x + shift).collect();
        let exact = permutation_p(&d, 1, 1);
        d.push(1e-10);
        let m = 200_000;
        let sampled = permutation_p(&d, m, 3);
        let deviation = (exact * (1.0 - exact) / m as f64).sqrt();
        assert!((sampled - exact).abs() < 4.0 * deviation + 2.0 / m as f64, "{sampled} and {exact}");
    }
}

#[test]
fn sampled_p_is_never_zero_and_counts_the_observed_order() {
    let d = vec![1.0; 200];
    assert_eq!(permutation_p(&d, 999, 1), 1.0 / 1000.0);
    assert_eq!(permutation_p(&d, 5000, 1), 1.0 / 5001.0);
}

/// Largest distance between the distribution of `p` and the uniform one.
fn distance_from_uniform(mut p: Vec<f64>) -> f64 {
    p.sort_by(f64::total_cmp);
    let n = p.len() as f64;
    let distance = |(i, p): (usize, &f64)| (p - i as f64 / n).abs().max((p - (i + 1) as f64 / n).abs());
    p.iter().enumerate().map(distance).fold(0.0, f64::max)
}

#[test]
fn p_is_uniform_where_there_is_no_difference() {
    let trials = 500;
    let draw = |n: usize| (0..trials).map(move |t| normals(n, &[3, n as u64, t]));
    // The Kolmogorov–Smirnov bound at level 0.001, and the granularity of 1/2¹¹ or 1/500.
    let bound = 1.95 / (trials as f64).sqrt() + 0.002;
    assert!(distance_from_uniform(draw(12).map(|d| permutation_p(&d, 1, 1)).collect()) < bound);
    let sampled = draw(40).enumerate().map(|(t, d)| permutation_p(&d, 499, t as u64)).collect();
    assert!(distance_from_uniform(sampled) < bound);
    assert!(distance_from_uniform(draw(12).map(|d| paired_t_p(&d)).collect()) < bound);
}

#[test]
fn intervals_cover_the_truth_about_as_often_as_promised() {
    let trials = 400;
    let (mut mean, mut difference) = (0, 0);
    for t in 0..trials {
        let shared = normals(60, &[4, t]);
        let a: Vec<f64> = normals(60, &[5, t]).iter().zip(&shared).map(|(x, s)| x + s + 0.3).collect();
        let resampled = Resampled::draw(&[a, shared], &[1.0; 60], 400, t);
        let covers = |i: rankwise::experiment::significance::ConfidenceInterval| {
            u32::from(i.low <= 0.3 && 0.3 <= i.high)
        };
        mean += covers(resampled.mean(0, 0.9));
        difference += covers(resampled.difference(0, 1, 0.9));
    }
    // 360 of 400 expected, standard deviation 6; the percentile interval is known to be slightly narrow.
    assert!((335..=380).contains(&mean), "{mean}");
    assert!((335..=380).contains(&difference), "{difference}");
}

#[test]
fn degenerate_differences_have_the_p_that_is_documented() {
    assert_eq!(paired_t_p(&[0.0, 1e-17, 0.0]), 1.0);
    assert_eq!(paired_t_p(&[0.3 - 0.2, 0.4 - 0.3, 0.2 - 0.1]), 0.0);
    assert_eq!(paired_t_p(&[0.7]), 1.0);
    assert_eq!(permutation_p(&[0.0, 1e-17], 10, 1), 1.0);
    assert_eq!(permutation_p(&[0.7], 10, 1), 1.0);
}

#[test]
fn changing_places_changes_signs_and_nothing_else() {
    for n in [9, 60] {
        let a = system("a", &normals(n, &[6, 1]));
        let b = system("b", &normals(n, &[6, 2]));
        let compare = |systems: &[SystemValues]| {
            Comparison::new(
                systems,
                &ids(n),
                &ComparisonOptions { permutations: 5000, ..ComparisonOptions::default() },
            )
            .unwrap()
        };
        let (forth, back) = (compare(&[a.clone(), b.clone()]), compare(&[b, a]));
        let (f, b) = (&forth.pairs[0], &back.pairs[0]);
        assert_eq!(f.difference, -b.difference);
        assert_eq!((f.interval.low, f.interval.high), (-b.interval.high, -b.interval.low));
        assert_eq!(f.effect_size, b.effect_size.map(|d| -d));
        assert_eq!((f.wins, f.ties, f.losses), (b.losses, b.ties, b.wins));
        assert_eq!((f.p_permutation, f.p_t), (b.p_permutation, b.p_t));
        assert_eq!(f.exact, n == 9);
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let systems: Vec<SystemValues> = (0..4).map(|s| system(&s.to_string(), &normals(301, &[8, s]))).collect();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| Comparison::new(&systems, &ids(301), &ComparisonOptions::default()).unwrap())
    };
    let one = serde_json::to_string(&with(1)).unwrap();
    assert_eq!(one, serde_json::to_string(&with(2)).unwrap());
    assert_eq!(one, serde_json::to_string(&with(5)).unwrap());
}

#[test]
fn a_small_comparison_by_hand() {
    let mut systems = [
        system("old", &[0.2, 0.5, 0.9, 0.4]),
        system("new", &[0.4, 0.5, 0.1, 0.5]),
        system("odd", &[0.0; 4]),
    ];
    systems[1].values[2] = None;
    let comparison = Comparison::new(&systems, &ids(4), &ComparisonOptions::default()).unwrap();
    assert_eq!((comparison.queries, comparison.skipped.as_slice()), (3, &["q3".to_string()][..]));
    let pairs: Vec<_> = comparison.pairs.iter().map(|p| (p.system, p.against)).collect();
    assert_eq!(pairs, [(1, 0), (2, 0), (2, 1)]);
    let pair = &comparison.pairs[0];
    // Differences 0.2, 0, 0.1: mean 0.1, deviation 0.1; two of the four sign choices reach the sum.
    assert!((pair.difference - 0.1).abs() < 1e-12);
    assert!((pair.relative_change.unwrap() - 100.0 * 0.3 / 1.1).abs() < 1e-9);
    assert!((pair.effect_size.unwrap() - 1.0).abs() < 1e-12);
    assert_eq!((pair.wins, pair.ties, pair.losses, pair.p_permutation), (2, 1, 0, 0.5));
    assert_eq!(pair.p_permutation_holm, 0.75);
    let against_odd = ComparisonOptions { baseline: Some(2), ..ComparisonOptions::default() };
    let comparison = Comparison::new(&systems, &ids(4), &against_odd).unwrap();
    assert_eq!(comparison.pairs.len(), 2);
    assert_eq!(comparison.pairs[0].relative_change, None);
}

#[test]
fn what_cannot_be_compared_is_refused_in_a_sentence() {
    let two = [system("a", &[0.1, 0.2]), system("b", &[0.3, f64::NAN])];
    let refuse = |systems: &[SystemValues], change: fn(&mut ComparisonOptions)| {
        let mut options = ComparisonOptions::default();
        change(&mut options);
        Comparison::new(systems, &ids(2), &options).unwrap_err().to_string()
    };
    assert!(refuse(&two[..1], |_| ()).contains("at least 2 systems"));
    assert!(refuse(&two, |_| ()).contains("`b` on query `q2` is NaN"));
    assert!(refuse(&two, |o| o.baseline = Some(2)).contains("`baseline` is 2"));
    assert!(refuse(&two, |o| o.confidence = f64::NAN).contains("`confidence` is NaN"));
    assert!(refuse(&two, |o| o.permutations = 0).contains("`permutations` is 0"));
    assert!(refuse(&two, |o| o.resamples = usize::MAX).contains("`resamples`"));
    assert!(refuse(&[two[0].clone(), system("c", &[1.0])], |_| ()).contains("1 values for 2 queries"));
    let none = SystemValues { name: "n".into(), values: vec![None, None] };
    assert!(refuse(&[two[0].clone(), none], |_| ()).contains("no query"));
}
