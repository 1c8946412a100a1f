//! Theorems about boosted rules, and sums over pairs against plain loops.

use super::finder::{Finder, Weak};
use super::frank::{FRank, Fidelity};
use super::ndcg_boost::{Bound, NdcgBoost, WeakKind};
use super::pairs::Graded;
use super::rank_boost::{Pairs, RankBoost, RuleWeight};
use super::screen::{Bend, Screen};
use super::{WeakRounds, WeakTarget};
use crate::data::with_workers;
use crate::data::{Dataset, Features, Parts};
use crate::learners::{Fitted, Learner, Task};
use crate::metrics::{Conventions, parse};
use crate::models::{Model, Outcome};
use crate::rng;
use crate::watch::{Progress, Silent, Stop, Watch};
use rand::RngExt;

/// Queries of several sizes, three labels that depend on the first features with much noise, and query
/// weights.
fn data(seed: u64, queries: usize) -> Dataset {
    let width = 4;
    let mut random = rng::stream(seed, &[]);
    let (mut values, mut labels, mut bounds) = (Vec::new(), Vec::new(), vec![0]);
    for q in 0..queries {
        let documents = 3 + (q * 7) % 19;
        for _ in 0..documents {
            let row: Vec<f32> = (0..width).map(|_| random.random_range(0..40) as f32 / 8.0).collect();
            let noisy = 0.3 * row[0] - 0.2 * row[1] + 2.0 * random.random::<f32>();
            labels.push((noisy - 0.5).clamp(0.0, 2.9).floor());
            values.extend(row);
        }
        bounds.push(bounds[q] + documents);
    }
    let query_weights = Some((0..queries).map(|q| [1.0, 2.0, 0.0, 0.5][q % 4]).collect());
    let query_ids = (0..queries).map(|q| format!("q{q}")).collect();
    let features = Features::dense(width, values);
    Dataset::new(Parts { features, labels, bounds, query_ids, query_weights, ..Parts::default() }).unwrap()
}

fn scores(data: &Dataset, seed: u64, spread: f64) -> Vec<f64> {
    let mut random = rng::stream(seed, &[1]);
    (0..data.len()).map(|_| spread * (random.random::<f64>() - 0.5)).collect()
}

/// `visit(query, better, worse)` for all pairs with different labels.
fn each_pair(data: &Dataset, mut visit: impl FnMut(usize, usize, usize)) {
    let grade = |d: usize| data.labels()[d];
    for (q, query) in data.queries().enumerate() {
        for i in query.range() {
            query.range().filter(|&j| grade(i) > grade(j)).for_each(|j| visit(q, i, j));
        }
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn assert_near(found: &[f64], expected: &[f64]) {
    let size = expected.iter().map(|x| x.abs()).fold(f64::MIN_POSITIVE, f64::max);
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= 1e-10 * size, "{i}: {a} instead of {b}");
    }
}

/// The distribution computed pair by pair: it sums to one, and gives the same worths and rule weights as the
/// formulas.
#[test]
fn rank_boost_weights_match_those_computed_pair_by_pair() {
    let data = data(1, 12);
    let weight = |q: usize| data.query(q).weight();
    for spread in [0.0, 3.0, 400.0] {
        let scores = scores(&data, 2, spread);
        let (mut total, mut mass, mut worths) = (0.0, 0.0, vec![0.0; data.len()]);
        each_pair(&data, |q, i, j| {
            total += weight(q) * (scores[j] - scores[i]).exp();
            mass += weight(q);
        });
        let mut all = 0.0;
        each_pair(&data, |q, i, j| {
            let d = weight(q) * (scores[j] - scores[i]).exp() / total;
            worths[i] += d;
            worths[j] -= d;
            all += d;
        });
        assert!((all - 1.0).abs() < 1e-12);
        let chosen: Vec<bool> = (0..data.len()).map(|d| data.row(d).get(0) > 2.0).collect();
        let (mut right, mut wrong) = (0.0, 0.0);
        each_pair(&data, |q, i, j| {
            let d = weight(q) * (scores[j] - scores[i]).exp() / total;
            right += if chosen[i] && !chosen[j] { d } else { 0.0 };
            wrong += if chosen[j] && !chosen[i] { d } else { 0.0 };
        });
        let mut found = vec![0.0; data.len()];
        let r = right - wrong;
        for (step, expected) in [
            (RuleWeight::R, 0.5 * ((1.0 + r) / (1.0 - r)).ln()),
            (RuleWeight::Exact, 0.5 * (right / wrong).ln().clamp(-10.0, 10.0)),
        ] {
            let mut pairs = Pairs::new(&data, step);
            let loss = pairs.worths(&scores, &mut found);
            assert!((loss / (total / mass) - 1.0).abs() < 1e-10, "{loss}");
            assert_near(&found, &worths);
            assert_near(&[pairs.step(&scores, &chosen)], &[expected]);
        }
    }
}

/// The weighted fraction of pairs in the wrong order; ties count half.
fn pair_error(data: &Dataset, scores: &[f64]) -> f64 {
    let (mut wrong, mut all) = (0.0, 0.0);
    each_pair(data, |q, i, j| {
        let w = data.query(q).weight();
        all += w;
        wrong += w * if scores[i] < scores[j] {
            1.0
        } else if scores[i] == scores[j] {
            0.5
        } else {
            0.0
        };
    });
    wrong / all
}

/// The objective after each round.
#[derive(Default)]
struct Curve(Vec<f64>, Stop);

impl Watch for Curve {
    fn step(&mut self, step: Progress<'_>) {
        self.0.push(step.value);
    }

    fn stop(&self) -> &Stop {
        &self.1
    }
}

fn fit(learner: &impl Learner, train: &Dataset, watch: &mut dyn Watch) -> Fitted {
    let metric = parse("ndcg@5", &Conventions::default()).unwrap();
    learner.check().unwrap();
    learner.fit(&Task::new(train, &*metric, 5), watch).unwrap()
}

fn rounds(rounds: u64, thresholds: usize) -> WeakRounds {
    WeakRounds { iterations: rounds, thresholds, ..WeakRounds::default() }
}

/// Scores of the training documents after each of a model's rounds.
fn scores_by_round(fitted: &Fitted, data: &Dataset) -> Vec<Vec<f64>> {
    let Model::Trees(ensemble) = &fitted.model else { panic!("no trees") };
    let mut scores = vec![0.0; data.len()];
    let mut all = Vec::new();
    for tree in ensemble.trees() {
        scores.iter_mut().enumerate().for_each(|(d, s)| *s += tree.values[tree.leaf(data.row(d))]);
        all.push(scores.clone());
    }
    all
}

/// The theorem: the pair error is at most `Π Z_t`, and with α by the formula `Z_t ≤ √(1 − r_t²)`.
#[test]
fn rank_boosts_pair_error_stays_below_its_product_bound() {
    let data = data(3, 30);
    for step in [RuleWeight::R, RuleWeight::Exact] {
        let learner = RankBoost { step, weak: rounds(60, 10) };
        let mut curve = Curve::default();
        let fitted = fit(&learner, &data, &mut curve);
        let (mut product, mut pairs, mut before) = (1.0, Pairs::new(&data, step), vec![0.0; data.len()]);
        let mut worths = vec![0.0; data.len()];
        for (after, loss) in scores_by_round(&fitted, &data).iter().zip(&curve.0) {
            pairs.worths(&before, &mut worths);
            // The documents that the rule selected have moved.
            let r: f64 = worths
                .iter()
                .zip(after.iter().zip(&before))
                .filter(|(_, (a, b))| a != b)
                .map(|(w, _)| w)
                .sum();
            product *= (1.0 - r * r).sqrt();
            assert!(*loss <= product * (1.0 + 1e-9), "{loss} above {product}");
            assert!(pair_error(&data, after) <= *loss + 1e-12);
            before = after.clone();
        }
        assert!(curve.0.len() == 60 && curve.0[59] < 0.9, "{:?}", curve.0.last());
    }
    let last = |step| {
        let mut curve = Curve::default();
        fit(&RankBoost { step, weak: rounds(1, 0) }, &data, &mut curve);
        curve.0[0]
    };
    assert!(last(RuleWeight::Exact) < last(RuleWeight::R), "the exact step goes no lower");
}

/// M and w by their definitions, every pair of documents visited.
fn plain_bound(data: &Dataset, scores: &[f64]) -> (f64, Vec<f64>) {
    let gain = |d: usize| 2f64.powf(data.labels()[d].into()) - 1.0;
    let (mut value, mut weights, mut count) = (0.0, vec![0.0; data.len()], 0.0);
    for query in data.queries() {
        let mut gains: Vec<f64> = query.range().map(gain).collect();
        gains.sort_by(|a, b| b.total_cmp(a));
        let ideal: f64 = gains.iter().enumerate().map(|(place, g)| g / (place as f64 + 2.0).log2()).sum();
        if ideal == 0.0 {
            continue;
        }
        count += query.weight();
        for i in query.range() {
            for j in query.range().filter(|j| *j != i) {
                let ahead = scores[i] - scores[j];
                value += query.weight() * gain(i) / ideal * logistic(-ahead);
                let theta = logistic(ahead) * logistic(-ahead);
                weights[i] += query.weight() * theta * (gain(i) - gain(j)) / ideal;
            }
        }
    }
    weights.iter_mut().for_each(|w| *w /= count);
    (value / count, weights)
}

#[test]
fn ndcg_boosts_bound_and_weights_are_those_of_all_pairs() {
    let data = data(4, 12);
    for spread in [0.0, 4.0, 500.0] {
        let scores = scores(&data, 5, spread);
        let mut worths = vec![0.0; data.len()];
        let value = Bound::new(&data, 0.0, 0).worths(&scores, &mut worths);
        let (expected, weights) = plain_bound(&data, &scores);
        assert_near(&[value], &[expected]);
        assert_near(&worths, &weights);
    }
}

/// `α = ½ ln(N/D)` with N and D over all pairs, and M falls by at least `(√N − √D)²`.
#[test]
fn ndcg_boosts_step_is_the_closed_form_and_lowers_m_by_the_bound() {
    let data = data(6, 15);
    let informed: f64 =
        data.queries().filter(|q| q.labels().iter().any(|l| *l > 0.0)).map(|q| q.weight()).sum();
    for (seed, spread) in [(1, 0.0), (2, 3.0), (3, 3.0), (4, 400.0)] {
        let scores = scores(&data, seed, spread);
        let chosen: Vec<bool> = (0..data.len()).map(|d| data.row(d).get(seed as usize % 4) > 2.0).collect();
        let (mut n, mut d) = (0.0, 0.0);
        for query in data.queries() {
            let dcg = crate::metrics::Dcg::new(&Conventions::default(), usize::MAX);
            let ideal = dcg.ideal(query.labels());
            for i in query.range() {
                for j in query.range().filter(|_| ideal > 0.0) {
                    let ahead = scores[i] - scores[j];
                    let term = query.weight() * dcg.gains.of(data.labels()[i]) / ideal
                        * logistic(ahead)
                        * logistic(-ahead)
                        / informed;
                    n += if chosen[i] && !chosen[j] { term } else { 0.0 };
                    d += if chosen[j] && !chosen[i] { term } else { 0.0 };
                }
            }
        }
        let mut bound = Bound::new(&data, 0.0, 0);
        let mut worths = vec![0.0; data.len()];
        let before = bound.worths(&scores, &mut worths);
        let step = bound.step(&scores, &chosen);
        assert_near(&[step], &[0.5 * (n / d).ln()]);
        let moved: Vec<f64> =
            scores.iter().zip(&chosen).map(|(s, c)| if *c { s + step } else { *s }).collect();
        let after = bound.worths(&moved, &mut worths);
        assert!(before - after >= (n.sqrt() - d.sqrt()).powi(2) - 1e-12, "{before} {after}");
    }
}

#[test]
fn ndcg_boosts_m_never_rises() {
    let data = data(7, 25);
    let ways = [
        (WeakKind::Stump, 0.0, 0),
        (WeakKind::Stump, 0.0, 10),
        (WeakKind::Stump, 0.3, 10),
        (WeakKind::Tree, 0.0, 30),
        (WeakKind::Tree, 0.0, 0),
    ];
    for (weak, sample, thresholds) in ways {
        let learner = NdcgBoost { weak, num_leaves: 5, sample, rounds: rounds(80, thresholds) };
        let mut curve = Curve::default();
        let fitted = fit(&learner, &data, &mut curve);
        let (start, _) = plain_bound(&data, &vec![0.0; data.len()]);
        let all: Vec<f64> = std::iter::once(start).chain(curve.0.iter().copied()).collect();
        assert_eq!(curve.0.len(), 80);
        assert!(all.windows(2).all(|m| m[1] <= m[0] + 1e-12), "{weak:?} {sample}: {all:?}");
        assert!(all[80] < 0.95 * all[0], "{weak:?} {sample}: {} to {}", all[0], all[80]);
        let (last, _) = plain_bound(&data, &fitted.model.scores(&data).unwrap());
        assert!((last - all[80]).abs() < 1e-9, "not M of the model: {last} {}", all[80]);
    }
}

/// M is reported after every round, also if there are validation queries.
#[test]
fn m_is_reported_with_validation_queries_as_well() {
    #[derive(Default)]
    struct Told(Vec<f64>, Stop);
    impl Watch for Told {
        fn step(&mut self, step: Progress<'_>) {
            let m = step.what.strip_prefix("M ").and_then(|rest| rest.strip_suffix(", ndcg@5 (valid)"));
            self.0.push(m.expect("no M").parse().unwrap());
        }

        fn stop(&self) -> &Stop {
            &self.1
        }
    }
    let (train, valid) = (data(7, 25), data(8, 10));
    let metric = parse("ndcg@5", &Conventions::default()).unwrap();
    let task = Task { valid: Some(&valid), ..Task::new(&train, &*metric, 5) };
    let learner = NdcgBoost { rounds: rounds(30, 10), ..NdcgBoost::default() };
    let (mut told, mut alone) = (Told::default(), Curve::default());
    learner.fit(&task, &mut told).unwrap();
    fit(&learner, &train, &mut alone);
    assert_eq!(told.0.len(), 30);
    assert!(told.0.iter().zip(&alone.0).all(|(a, b)| (a - b).abs() < 1e-6), "{:?} {:?}", told.0, alone.0);
}

/// One query, one feature that sorts it without a mistake: D = 0 in the first round.
#[test]
fn a_rule_without_mistakes_has_a_finite_weight() {
    let perfect = Dataset::dense(vec![3.0, 1.0, 0.0], 1, vec![1.0, 0.0, 0.0], &[3]).unwrap();
    let models = [
        fit(&NdcgBoost { rounds: rounds(3, 0), ..NdcgBoost::default() }, &perfect, &mut Silent::default()),
        fit(&RankBoost { weak: rounds(3, 0), ..RankBoost::default() }, &perfect, &mut Silent::default()),
        fit(&RankBoost { step: RuleWeight::Exact, weak: rounds(3, 0) }, &perfect, &mut Silent::default()),
        fit(&FRank { weak: rounds(3, 0), ..FRank::default() }, &perfect, &mut Silent::default()),
    ];
    for fitted in models {
        let scores = fitted.model.scores(&perfect).unwrap();
        assert!(scores[0] > scores[1] && scores[1] == scores[2] && scores[0] <= 15.0, "{scores:?}");
        assert!(fitted.record.figures.iter().all(|f| f.1.is_finite()));
    }
}

/// J by its definition.
fn plain_fidelity(data: &Dataset, scores: &[f64]) -> f64 {
    let mut pairs = vec![0.0; data.query_count()];
    each_pair(data, |q, _, _| pairs[q] += 1.0);
    let count: f64 = data.queries().zip(&pairs).filter(|(_, n)| **n > 0.0).map(|(q, _)| q.weight()).sum();
    let mut loss = 0.0;
    each_pair(data, |q, i, j| {
        loss += data.query(q).weight() / (count * pairs[q]) * (1.0 - logistic(scores[i] - scores[j]).sqrt());
    });
    loss
}

#[test]
fn franks_worths_are_the_negative_gradient_of_its_loss() {
    let data = data(8, 10);
    for spread in [0.0, 4.0, 800.0] {
        let scores = scores(&data, 9, spread);
        let mut worths = vec![0.0; data.len()];
        let loss = Fidelity::new(&data).worths(&scores, &mut worths);
        assert_near(&[loss], &[plain_fidelity(&data, &scores)]);
        for d in (0..data.len()).step_by(3) {
            let at = |h: f64| {
                let mut moved = scores.clone();
                moved[d] += h;
                plain_fidelity(&data, &moved)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((worths[d] + slope).abs() < 1e-8, "{d}: {} against {slope}", worths[d]);
        }
    }
}

/// `½ ln(W₊/W₋)` of a rule with weights computed pair by pair, and the loss after that step.
fn plain_outcome(data: &Dataset, scores: &[f64], chosen: &[bool]) -> (f64, f64) {
    let mut pairs = vec![0.0; data.query_count()];
    each_pair(data, |q, _, _| pairs[q] += 1.0);
    let (mut right, mut wrong) = (0.0, 0.0);
    each_pair(data, |q, i, j| {
        let sigma = logistic(scores[i] - scores[j]);
        let w = data.query(q).weight() / pairs[q] * sigma.sqrt() * logistic(scores[j] - scores[i]);
        right += if chosen[i] && !chosen[j] { w } else { 0.0 };
        wrong += if chosen[j] && !chosen[i] { w } else { 0.0 };
    });
    let step = if right + wrong > 0.0 { (0.5 * (right / wrong).ln()).clamp(-5.0, 5.0) } else { 0.0 };
    let moved: Vec<f64> = scores.iter().zip(chosen).map(|(s, c)| if *c { s + step } else { *s }).collect();
    (step, plain_fidelity(data, &moved))
}

/// Tsai et al.: every rule has its own step, and the rule of least loss is added. All rules of four features
/// with forty values each are tried by plain loops.
#[test]
fn frank_adds_the_rule_of_least_loss_at_its_own_step() {
    for missing in [false, true] {
        let data = with_missing(data(10, 14), missing);
        let mut curve = Curve::default();
        let learner = FRank { weak: rounds(12, 254), validation_fraction: 0.0 };
        let fitted = fit(&learner, &data, &mut curve);
        let mut before = vec![0.0; data.len()];
        for (after, told) in scores_by_round(&fitted, &data).iter().zip(&curve.0) {
            let start = plain_fidelity(&data, &before);
            let mut least = f64::INFINITY;
            for feature in 0..4 {
                for cut in 0..=40 {
                    for missing_right in [false, true] {
                        let is_right = |x: f32| if x.is_nan() { missing_right } else { x > cut as f32 / 8.0 };
                        let chosen: Vec<bool> =
                            (0..data.len()).map(|d| is_right(data.row(d).get(feature))).collect();
                        least = least.min(plain_outcome(&data, &before, &chosen).1);
                    }
                }
            }
            let moved: Vec<bool> = before.iter().zip(after).map(|(b, a)| a != b).collect();
            let (step, loss) = plain_outcome(&data, &before, &moved);
            let at = moved.iter().position(|moved| *moved).expect("a rule that selects documents");
            assert!(
                (after[at] - before[at] - step).abs() < 1e-9,
                "step {} for {step}",
                after[at] - before[at]
            );
            assert!((loss - told).abs() < 1e-12 && loss < start, "{loss} {told} {start}");
            // Rules are first compared by an estimate: the chosen one may fall short by a thousandth.
            assert!(
                start - loss >= 0.999 * (start - least),
                "fell by {}, not {}",
                start - loss,
                start - least
            );
            before = after.clone();
        }
        assert_eq!(curve.0.len(), 12);
    }
}

/// The same data with every fifth value of two features missing.
fn with_missing(data: Dataset, missing: bool) -> Dataset {
    let mut parts = data.parts().clone();
    if missing {
        parts.features.values_mut().iter_mut().enumerate().for_each(|(i, x)| {
            if i % 4 < 2 && i % 5 == 0 {
                *x = f32::NAN;
            }
        });
    }
    Dataset::new(parts).unwrap()
}

/// With many features, and with more pairs than are compared in a round, the loss still falls in every round
/// and rules are sensible.
#[test]
fn frank_learns_from_sparse_data_with_thousands_of_features() {
    let (documents, width) = (120, 3000);
    let mut random = rng::stream(14, &[]);
    let (mut starts, mut columns, mut values, mut labels) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for _ in 0..documents {
        let label = random.random_range(0..2);
        // Column 1500 tells the label in three of four documents; the others are noise.
        if random.random_range(0..4) < 3 && label == 1 {
            columns.push(1500);
            values.push(1.0);
        }
        columns.push(random.random_range(1501..width as u32));
        values.push(1.0);
        labels.push(label as f32);
        starts.push(columns.len());
    }
    let features = Features::Sparse { width, starts, columns, values };
    let data = Dataset::from_features(features, labels, &[12; 10]).unwrap();
    let mut curve = Curve::default();
    let fitted = fit(&FRank { weak: rounds(10, 254), validation_fraction: 0.0 }, &data, &mut curve);
    assert!(curve.0.windows(2).all(|loss| loss[1] < loss[0]), "{:?}", curve.0);
    let Model::Trees(ensemble) = &fitted.model else { panic!("no trees") };
    assert_eq!(ensemble.trees()[0].features, [1500]);
}

/// If there are too many pairs for a round, every worker takes those rows that one machine takes.
#[test]
fn some_rows_of_pairs_are_the_same_on_any_number_of_workers() {
    struct Slope;
    impl Bend for Slope {
        fn of(&self, z: f64) -> (f64, f64) {
            let sigma = 1.0 / (1.0 + z);
            (z * sigma, -z * sigma * sigma)
        }
    }
    let rules = |data: &Dataset, pairs: f64| {
        let finder = Finder::new(data, Weak::Stump, 254).unwrap();
        let queries: Vec<Graded> = data.queries().map(|q| Graded::new(q.labels(), |_| 0.0)).collect();
        let weights = vec![1e-5; queries.len()];
        let first = data.whole().first_document;
        let scores: Vec<f64> = (0..data.len()).map(|d| ((first + d) as f64).sin()).collect();
        let screen = Screen { data, queries: &queries, weights: &weights, pairs, bend: Slope };
        let best = |round| screen.best(&finder, round, &scores, &vec![0.0; data.len()], 4);
        (0..4).flat_map(best).map(|rule| rule.tree).collect::<Vec<_>>()
    };
    let data = data(10, 60);
    // With four features, every fourth row is used.
    let pairs = 2f64.powi(26);
    let alone = rules(&data, pairs);
    assert_eq!(alone.len(), 16);
    assert_ne!(alone, rules(&data, 1.0));
    for workers in [1, 2, 7] {
        let (driver, others) = with_workers(&data, None, workers, |data, _| rules(data, pairs));
        others.iter().chain([&driver]).for_each(|found| assert_eq!(*found, alone));
    }
}

/// A rule depends only on the order of a feature's values.
#[test]
fn monotone_transforms_of_a_feature_change_no_score() {
    let plain = data(11, 20);
    let mut parts = plain.parts().clone();
    parts.features.values_mut().chunks_mut(4).for_each(|x| {
        x[0] = (x[0] * 2.0).exp();
        x[1] = x[1].powi(3) - 50.0;
        x[2] *= -7.0;
    });
    let transformed = Dataset::new(parts).unwrap();
    let same = |learner: &dyn Fn(&Dataset) -> Fitted| {
        let scores = |data: &Dataset| learner(data).model.scores(data).unwrap();
        let (a, b) = (scores(&plain), scores(&transformed));
        // A negated feature selects the same documents by the other side of a test, which may shift a query's
        // scores.
        for query in plain.queries() {
            let (a, b) = (&a[query.range()], &b[query.range()]);
            a.iter().zip(b).for_each(|(x, y)| assert!((x - a[0] - (y - b[0])).abs() < 1e-9));
        }
    };
    let silent = Silent::default;
    for thresholds in [0, 254] {
        let weak = rounds(25, thresholds);
        same(&|d| fit(&RankBoost { weak: weak.clone(), ..RankBoost::default() }, d, &mut silent()));
        same(&|d| fit(&FRank { weak: weak.clone(), ..FRank::default() }, d, &mut silent()));
        same(&|d| fit(&NdcgBoost { rounds: weak.clone(), ..NdcgBoost::default() }, d, &mut silent()));
    }
}

#[test]
fn odd_data_ends_at_once_with_a_note() {
    let one_grade = {
        let mut parts = data(12, 5).parts().clone();
        parts.labels.fill(2.0);
        Dataset::new(parts).unwrap()
    };
    let constant = {
        let mut parts = data(12, 5).parts().clone();
        parts.features.values_mut().fill(1.0);
        Dataset::new(parts).unwrap()
    };
    for data in [&one_grade, &constant] {
        let fits = [
            fit(&RankBoost::default(), data, &mut Silent::default()),
            fit(&FRank::default(), data, &mut Silent::default()),
            fit(&NdcgBoost::default(), data, &mut Silent::default()),
        ];
        for fitted in fits {
            assert_eq!((fitted.record.outcome, fitted.record.rounds), (Outcome::Converged, 0));
            assert!(fitted.model.scores(data).unwrap().iter().all(|s| *s == 0.0));
            assert!(fitted.record.notes[0].contains("contribute nothing"), "{:?}", fitted.record.notes);
        }
    }
}

#[test]
fn parameters_out_of_range_are_rejected_by_name() {
    let refused = |learner: NdcgBoost| learner.check().unwrap_err().to_string();
    assert!(refused(NdcgBoost { sample: 1.5, ..NdcgBoost::default() }).contains("sample is 1.5"));
    assert!(refused(NdcgBoost { num_leaves: 1, ..NdcgBoost::default() }).contains("leaves is 1"));
    assert!(refused(NdcgBoost { rounds: rounds(0, 0), ..NdcgBoost::default() }).contains("iterations is 0"));
    assert!(
        refused(NdcgBoost { rounds: rounds(1, 255), ..NdcgBoost::default() }).contains("thresholds is 255")
    );
}

/// Every rule is right about every pair, and takes the largest step: losses become too small for a number.
#[test]
fn few_separable_documents_can_be_learned_for_many_iterations() {
    let data = Dataset::dense(vec![0.1, 0.9, 0.2, 0.8], 1, vec![0.0, 1.0, 0.0, 1.0], &[2, 2]).unwrap();
    let fitted = fit(&RankBoost::default(), &data, &mut Silent::default());
    let scores = fitted.model.scores(&data).unwrap();
    assert!(scores[1] > scores[0] && scores[3] > scores[2]);
}
