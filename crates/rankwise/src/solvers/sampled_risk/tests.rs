//! Compares the risk over sampled rankings with its definition, pair by pair.

use super::*;
use crate::losses::conditional::{GibbsSampler, RankingGain, RankingLoss, RankingSampler, Restarts};
use crate::metrics::Discount;
use crate::rng;
use rand::RngExt;

const FORMS: [ConditionalObjective; 5] = [
    ConditionalObjective::Mle,
    ConditionalObjective::ExpGain,
    ConditionalObjective::L2,
    ConditionalObjective::L3,
    ConditionalObjective::ConvexLoss,
];

/// Two queries with both classes and one with relevant documents only, with random features.
fn data(width: usize, labels: [&[f32]; 3]) -> Dataset {
    let mut random = rng::stream(5, &[width as u64]);
    let sizes = labels.map(<[f32]>::len);
    let labels = labels.concat();
    let values = (0..width * labels.len()).map(|_| 2.0 * random.random::<f32>() - 1.0).collect();
    Dataset::dense(values, width, labels, &sizes).unwrap()
}

fn small(width: usize) -> Dataset {
    data(width, [&[1.0, 0.0, 2.0, 0.0, 0.0], &[0.0, 0.0, 1.0], &[1.0, 1.0]])
}

fn distribution(form: ConditionalObjective, kappa: Kappa) -> SampledObjective {
    SampledObjective { form, kappa, threshold: 1.0 }
}

fn losses_of(loss: &RankingLoss, sample: &RankingSample, relevant: usize, non_relevant: usize) -> Vec<f64> {
    (0..sample.len()).map(|i| loss.of(relevant, non_relevant).at(sample.state(i).places())).collect()
}

/// A sample with random weights.
fn weighted<'a>(
    data: &'a Dataset,
    units: FeatureUnits,
    distribution: SampledObjective,
    loss: RankingLoss,
) -> SampledRisk<'a> {
    let sampler = RankingSampler { size: 40, steps: 9, thinning: 1, restarts: Restarts::Ends { best: 0.6 } };
    SampledRisk::new(data, units, distribution, &Stop::default(), |query, relevant, non_relevant| {
        let sample = sampler.draw(relevant.len(), non_relevant.len(), |_| 0.0, query.index() as u64);
        let losses = losses_of(&loss, &sample, relevant.len(), non_relevant.len());
        let mut random = rng::stream(9, &[query.index() as u64]);
        let log_weights = losses.iter().map(|_| random.random::<f64>()).collect();
        DrawnRankings { sample, losses, log_weights }
    })
}

/// Both kinds of rows: more features than documents, and fewer.
#[test]
fn gradients_agree_with_finite_differences() {
    for width in [2, 9] {
        let data = small(width);
        for form in FORMS {
            for units in [FeatureUnits::default(), FeatureUnits::deviations(&data)] {
                for (kappa, damping) in [(Kappa::One, 0.0), (Kappa::Pairs, 0.0), (Kappa::One, 0.7)] {
                    let loss = RankingLoss { gain: RankingGain::Map, ..RankingLoss::default() };
                    let risk =
                        weighted(&data, units.clone(), distribution(form, kappa), loss).damped(damping);
                    let w: Vec<f64> = (0..width).map(|i| 0.3 - 0.1 * i as f64).collect();
                    let mut gradient = vec![f64::NAN; width];
                    risk.value_and_gradient(&w, &mut gradient);
                    for i in 0..width {
                        let at = |h: f64| {
                            let mut w = w.clone();
                            w[i] += h;
                            risk.value_and_gradient(&w, &mut vec![0.0; width])
                        };
                        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                        assert!(
                            (slope - gradient[i]).abs() < 1e-7 * (1.0 + slope.abs()),
                            "{form:?}, {width} features: {slope} by differences, {}",
                            gradient[i]
                        );
                    }
                }
            }
        }
    }
}

/// One ranking of a query: its documents from the top.
type Shown = Vec<usize>;

fn every_order(documents: usize) -> Vec<Shown> {
    if documents == 0 {
        return vec![Vec::new()];
    }
    let put = |order: Shown| {
        (0..documents).map(move |at| {
            let mut order = order.clone();
            order.insert(at, documents - 1);
            order
        })
    };
    every_order(documents - 1).into_iter().flat_map(put).collect()
}

/// `w·δφ(y)` from the definition of φ, pair by pair.
fn lead(query: Query<'_>, w: &[f64], kappa: f64, shown: &[usize]) -> f64 {
    let is_relevant = |d: &usize| query.labels()[*d] >= 1.0;
    let score = |d: usize| query.row(d).dot(w);
    let place = |d: usize| shown.iter().position(|s| *s == d).unwrap();
    let documents: Vec<usize> = (0..query.len()).collect();
    let mut sum = 0.0;
    for &g in documents.iter().filter(|d| is_relevant(d)) {
        for &b in documents.iter().filter(|d| !is_relevant(d)) {
            let y = if place(g) < place(b) { 1.0 } else { -1.0 };
            sum += kappa * (1.0 - y) * (score(g) - score(b));
        }
    }
    sum
}

/// Δ from the definitions of the metrics.
fn loss_by_hand(gain: RankingGain, k: usize, discount: Discount, query: Query<'_>, shown: &[usize]) -> f64 {
    let is_relevant: Vec<bool> = shown.iter().map(|&d| query.labels()[d] >= 1.0).collect();
    let relevant = is_relevant.iter().filter(|g| **g).count();
    let worth = |rank: usize| match discount {
        _ if k > 0 && rank > k => 0.0,
        Discount::Log2 => 1.0 / (1.0 + rank as f64).log2(),
        Discount::Letor if rank <= 2 => 1.0,
        Discount::Letor => 1.0 / (rank as f64).log2(),
    };
    let ranks = || (1..=shown.len()).filter(|rank| is_relevant[rank - 1]);
    match gain {
        RankingGain::Ndcg => 1.0 - ranks().map(worth).sum::<f64>() / (1..=relevant).map(worth).sum::<f64>(),
        RankingGain::Map => {
            let precision = |rank: usize| ranks().filter(|r| *r <= rank).count() as f64 / rank as f64;
            1.0 - ranks().map(precision).sum::<f64>() / relevant as f64
        }
        RankingGain::Auc => {
            let right: usize = ranks().map(|rank| is_relevant[rank..].iter().filter(|g| !**g).count()).sum();
            1.0 - right as f64 / (relevant * (shown.len() - relevant)) as f64
        }
    }
}

fn of_form(form: ConditionalObjective, all: &[(f64, f64)]) -> f64 {
    let sum = |f: &dyn Fn(f64) -> f64| all.iter().map(|(a, loss)| a.exp() * f(*loss)).sum::<f64>();
    let total = sum(&|_| 1.0);
    match form {
        ConditionalObjective::Mle => total.ln(),
        ConditionalObjective::ExpGain => -(sum(&|loss| 1.0 - loss) / total).ln(),
        ConditionalObjective::L2 => sum(&|loss| loss) / total,
        ConditionalObjective::L3 => total.ln() + sum(&|loss| loss) / total,
        ConditionalObjective::ConvexLoss => sum(&f64::exp).ln(),
    }
}

/// The exponent `−w·δφ` and the loss of every ranking of a query, each `y` once.
fn over_every_ranking(
    query: Query<'_>,
    w: &[f64],
    kappa: f64,
    loss: impl Fn(&[usize]) -> f64,
) -> Vec<(f64, f64)> {
    let is_relevant = |d: usize| query.labels()[d] >= 1.0;
    let mut seen = std::collections::BTreeSet::new();
    let new = |shown: &Shown| {
        let pairs = shown.iter().enumerate().flat_map(|(i, a)| shown[i + 1..].iter().map(move |b| (*a, *b)));
        let mut wrong: Vec<_> = pairs.filter(|(a, b)| !is_relevant(*a) && is_relevant(*b)).collect();
        wrong.sort_unstable();
        seen.insert(wrong)
    };
    let kept: Vec<Shown> = every_order(query.len()).into_iter().filter(new).collect();
    kept.iter().map(|shown| (-lead(query, w, kappa, shown), loss(shown))).collect()
}

/// A sample that contains every `y` once, found by sampling until no new one appears.
fn every_state(relevant: usize, non_relevant: usize) -> RankingSample {
    let sampler =
        RankingSampler { size: 20_000, steps: 50, thinning: 1, restarts: Restarts::Ends { best: 0.5 } };
    sampler.draw(relevant, non_relevant, |_| 0.0, 3)
}

/// Over all class patterns, each with weight once, the risk is the sum over all rankings.
#[test]
fn the_risk_over_every_ranking_is_the_exact_sum() {
    let data = data(3, [&[1.0, 0.0, 2.0, 0.0], &[0.0, 0.0, 1.0], &[1.0, 1.0]]);
    let w = [0.7, -0.4, 0.2];
    let cases = [
        (RankingGain::Auc, 0, Discount::Log2),
        (RankingGain::Map, 0, Discount::Log2),
        (RankingGain::Ndcg, 0, Discount::Log2),
        (RankingGain::Ndcg, 2, Discount::Letor),
        (RankingGain::Ndcg, 3, Discount::Log2),
    ];
    for (form, (gain, k, discount)) in FORMS.into_iter().flat_map(|form| cases.map(|case| (form, case))) {
        let loss = RankingLoss { gain, k, discount };
        let draw = |_: Query<'_>, relevant: &[usize], non_relevant: &[usize]| {
            let sample = every_state(relevant.len(), non_relevant.len());
            let losses = losses_of(&loss, &sample, relevant.len(), non_relevant.len());
            // No two rankings have the same counts.
            let mut seen = std::collections::BTreeSet::new();
            let once = |i: usize| {
                let state = sample.state(i);
                let new = seen.insert([state.non_relevant_ahead(), state.relevant_behind()].concat());
                if new { 0.0 } else { f64::NEG_INFINITY }
            };
            let log_weights = (0..sample.len()).map(once).collect();
            DrawnRankings { sample, losses, log_weights }
        };
        let risk = SampledRisk::new(
            &data,
            FeatureUnits::default(),
            distribution(form, Kappa::One),
            &Stop::default(),
            draw,
        );
        assert_eq!(risk.skipped(), 1);
        let value = risk.value_and_gradient(&w, &mut [0.0; 3]);
        let of_query = |q: usize| {
            let query = data.query(q);
            let loss = |shown: &[usize]| loss_by_hand(gain, k, discount, query, shown);
            of_form(form, &over_every_ranking(query, &w, 1.0, loss))
        };
        let exact = 0.5 * (of_query(0) + of_query(1));
        assert!((value - exact).abs() < 1e-6, "{form:?} {gain:?} {k}: {value} against {exact}");
    }
}

/// Rankings drawn from the distribution at `v` and weighted by `exp(v·δφ)/m` estimate the objective at another `w` up
/// to `log Z_v`.
#[test]
fn weighted_draws_are_consistent_with_the_exact_sum() {
    let data = small(2);
    let (v, size) = ([0.3, -0.2], 40_000);
    let loss = RankingLoss { gain: RankingGain::Ndcg, ..RankingLoss::default() };
    for form in FORMS {
        let draw = |query: Query<'_>, relevant: &[usize], non_relevant: &[usize]| {
            let exponents =
                |class: &[usize]| class.iter().map(|&i| 2.0 * query.row(i).dot(&v)).collect::<Vec<f64>>();
            let (relevant_scores, non_relevant_scores) = (exponents(relevant), exponents(non_relevant));
            let sample = GibbsSampler { size, sweeps: 20, thinning: 5 }.draw(
                &relevant_scores,
                &non_relevant_scores,
                query.index() as u64,
            );
            let losses = losses_of(&loss, &sample, relevant.len(), non_relevant.len());
            let lead = |i: usize| {
                let state = sample.state(i);
                let sum = |e: &[f64], c: &[u32]| e.iter().zip(c).map(|(e, c)| e * f64::from(*c)).sum::<f64>();
                sum(&relevant_scores, state.non_relevant_ahead())
                    - sum(&non_relevant_scores, state.relevant_behind())
                    - (size as f64).ln()
            };
            let drawn = (1..sample.len()).map(lead);
            let log_weights = std::iter::once(f64::NEG_INFINITY).chain(drawn).collect();
            DrawnRankings { sample, losses, log_weights }
        };
        let risk = SampledRisk::new(
            &data,
            FeatureUnits::default(),
            distribution(form, Kappa::One),
            &Stop::default(),
            draw,
        );
        assert!((risk.effective_fraction(&v) - 1.0).abs() < 1e-5);
        for w in [v, [0.6, 0.1], [-0.2, -0.5]] {
            let constant = |q: usize| {
                let distribution = over_every_ranking(data.query(q), &v, 1.0, |_| 0.0);
                if matches!(form, ConditionalObjective::ExpGain | ConditionalObjective::L2) {
                    0.0
                } else {
                    of_form(ConditionalObjective::Mle, &distribution)
                }
            };
            let of_query = |q: usize| {
                let query = data.query(q);
                let loss = |shown: &[usize]| loss_by_hand(loss.gain, 0, Discount::Log2, query, shown);
                of_form(form, &over_every_ranking(query, &w, 1.0, loss)) - constant(q)
            };
            let exact = 0.5 * (of_query(0) + of_query(1));
            let value = risk.value_and_gradient(&w, &mut [0.0; 2]);
            assert!((value - exact).abs() < 0.02, "{form:?} at {w:?}: {value} against {exact}");
            assert!(risk.effective_fraction(&w) > 0.2);
        }
    }
}

#[test]
fn the_effective_fraction_is_between_one_ranking_and_all() {
    let data = small(2);
    let risk = weighted(
        &data,
        FeatureUnits::default(),
        distribution(ConditionalObjective::Mle, Kappa::One),
        RankingLoss::default(),
    );
    for reach in [0.0, 1.0, 1e3] {
        let share = risk.effective_fraction(&[reach, -reach]);
        assert!((1.0 / 40.0..=1.0).contains(&(share * (1.0 - 1e-12) + 1e-13)), "{share}");
    }
}

#[test]
fn nothing_is_drawn_after_a_request_to_stop() {
    let (data, stop) = (small(2), Stop::default());
    stop.request();
    let distribution = distribution(ConditionalObjective::Mle, Kappa::One);
    let risk =
        SampledRisk::new(&data, FeatureUnits::default(), distribution, &stop, |_, _, _| panic!("drawn"));
    assert_eq!((risk.rankings(), risk.value_and_gradient(&[1.0, 1.0], &mut [0.0; 2])), (0, 0.0));
}

/// Value and gradient are those of the sample with repetitions.
#[test]
fn repetitions_add_up_to_weights() {
    let data = small(2);
    for form in [ConditionalObjective::Mle, ConditionalObjective::ExpGain, ConditionalObjective::L3] {
        let distribution = SampledObjective { form, kappa: Kappa::One, threshold: 1.0 };
        let sampler =
            RankingSampler { size: 200, steps: 9, thinning: 1, restarts: Restarts::Ends { best: 0.7 } };
        let drawn = |query: Query<'_>, relevant: &[usize], non_relevant: &[usize]| {
            let sample = sampler.draw(relevant.len(), non_relevant.len(), |_| 0.0, query.index() as u64);
            let loss = RankingLoss { gain: RankingGain::Ndcg, k: 0, discount: Discount::Log2 };
            let losses = losses_of(&loss, &sample, relevant.len(), non_relevant.len());
            let log_weights = (0..losses.len()).map(|i| -(i as f64) / 100.0).collect();
            DrawnRankings { sample, losses, log_weights }
        };
        let (units, stop) = (FeatureUnits::default, Stop::default());
        let all = SampledRisk::new(&data, units(), distribution, &stop, drawn);
        let once = SampledRisk::new(&data, units(), distribution, &stop, |query, relevant, non_relevant| {
            drawn(query, relevant, non_relevant).without_repetitions()
        });
        assert!(once.rankings() < all.rankings() / 4, "{} of {}", once.rankings(), all.rankings());
        let w: Vec<f64> = (0..data.width()).map(|c| 0.3 - 0.2 * c as f64).collect();
        let (mut a, mut b) = (vec![0.0; w.len()], vec![0.0; w.len()]);
        let (value, other) = (all.value_and_gradient(&w, &mut a), once.value_and_gradient(&w, &mut b));
        assert!((value - other).abs() < 1e-12 * (1.0 + value.abs()), "{form:?}: {other} for {value}");
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{form:?}: {b} for {a}");
        }
    }
}
