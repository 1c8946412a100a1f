//! The risk over drawn rankings against what it is defined to be, worked out pair by pair.

use super::*;
use crate::losses::conditional::{Chain, Gain, RankingLoss, Restarts, Sampler};
use crate::metrics::Discount;
use crate::rng;
use rand::RngExt;

const FORMS: [Form; 5] = [Form::Mle, Form::ExpGain, Form::L2, Form::L3, Form::ConvexLoss];

/// Two queries of both kinds and one of goods alone, random features.
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

fn law(form: Form, kappa: Kappa) -> SampledLaw {
    SampledLaw { form, kappa, threshold: 1.0 }
}

fn losses_of(loss: &RankingLoss, sample: &Sample, goods: usize, bads: usize) -> Vec<f64> {
    (0..sample.len()).map(|i| loss.of(goods, bads).at(sample.state(i).places())).collect()
}

/// A sample with random weights.
fn weighted<'a>(data: &'a Dataset, units: Units, law: SampledLaw, loss: RankingLoss) -> SampledRisk<'a> {
    let sampler = Sampler { size: 40, steps: 9, thinning: 1, restarts: Restarts::Ends { best: 0.6 } };
    SampledRisk::new(data, units, law, &Stop::default(), |query, goods, bads| {
        let sample = sampler.draw(goods.len(), bads.len(), |_| 0.0, query.index() as u64);
        let losses = losses_of(&loss, &sample, goods.len(), bads.len());
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
            for units in [Units::default(), Units::deviations(&data)] {
                for (kappa, damping) in [(Kappa::One, 0.0), (Kappa::Pairs, 0.0), (Kappa::One, 0.7)] {
                    let loss = RankingLoss { gain: Gain::Map, ..RankingLoss::default() };
                    let risk = weighted(&data, units.clone(), law(form, kappa), loss).damped(damping);
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

/// One ranking of a query: which documents, from the top.
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
    let good = |d: &usize| query.labels()[*d] >= 1.0;
    let score = |d: usize| query.row(d).dot(w);
    let place = |d: usize| shown.iter().position(|s| *s == d).unwrap();
    let documents: Vec<usize> = (0..query.len()).collect();
    let mut sum = 0.0;
    for &g in documents.iter().filter(|d| good(d)) {
        for &b in documents.iter().filter(|d| !good(d)) {
            let y = if place(g) < place(b) { 1.0 } else { -1.0 };
            sum += kappa * (1.0 - y) * (score(g) - score(b));
        }
    }
    sum
}

/// Δ from the measures' definitions.
fn loss_by_hand(gain: Gain, k: usize, discount: Discount, query: Query<'_>, shown: &[usize]) -> f64 {
    let is_good: Vec<bool> = shown.iter().map(|&d| query.labels()[d] >= 1.0).collect();
    let goods = is_good.iter().filter(|g| **g).count();
    let worth = |rank: usize| match discount {
        _ if k > 0 && rank > k => 0.0,
        Discount::Log2 => 1.0 / (1.0 + rank as f64).log2(),
        Discount::Letor if rank <= 2 => 1.0,
        Discount::Letor => 1.0 / (rank as f64).log2(),
    };
    let ranks = || (1..=shown.len()).filter(|rank| is_good[rank - 1]);
    match gain {
        Gain::Ndcg => 1.0 - ranks().map(worth).sum::<f64>() / (1..=goods).map(worth).sum::<f64>(),
        Gain::Map => {
            let precision = |rank: usize| ranks().filter(|r| *r <= rank).count() as f64 / rank as f64;
            1.0 - ranks().map(precision).sum::<f64>() / goods as f64
        }
        Gain::Auc => {
            let right: usize = ranks().map(|rank| is_good[rank..].iter().filter(|g| !**g).count()).sum();
            1.0 - right as f64 / (goods * (shown.len() - goods)) as f64
        }
    }
}

fn of_form(form: Form, all: &[(f64, f64)]) -> f64 {
    let sum = |f: &dyn Fn(f64) -> f64| all.iter().map(|(a, loss)| a.exp() * f(*loss)).sum::<f64>();
    let total = sum(&|_| 1.0);
    match form {
        Form::Mle => total.ln(),
        Form::ExpGain => -(sum(&|loss| 1.0 - loss) / total).ln(),
        Form::L2 => sum(&|loss| loss) / total,
        Form::L3 => total.ln() + sum(&|loss| loss) / total,
        Form::ConvexLoss => sum(&f64::exp).ln(),
    }
}

/// What all rankings of a query, each `y` once, have for exponent `−w·δφ` and loss.
fn over_every_ranking(
    query: Query<'_>,
    w: &[f64],
    kappa: f64,
    loss: impl Fn(&[usize]) -> f64,
) -> Vec<(f64, f64)> {
    let good = |d: usize| query.labels()[d] >= 1.0;
    let mut seen = std::collections::BTreeSet::new();
    let new = |shown: &Shown| {
        let pairs = shown.iter().enumerate().flat_map(|(i, a)| shown[i + 1..].iter().map(move |b| (*a, *b)));
        let mut wrong: Vec<_> = pairs.filter(|(a, b)| !good(*a) && good(*b)).collect();
        wrong.sort_unstable();
        seen.insert(wrong)
    };
    let kept: Vec<Shown> = every_order(query.len()).into_iter().filter(new).collect();
    kept.iter().map(|shown| (-lead(query, w, kappa, shown), loss(shown))).collect()
}

/// A sample in which every `y` that has a ranking is once, found by drawing until nothing new comes.
fn every_state(goods: usize, bads: usize) -> Sample {
    let sampler = Sampler { size: 20_000, steps: 50, thinning: 1, restarts: Restarts::Ends { best: 0.5 } };
    sampler.draw(goods, bads, |_| 0.0, 3)
}

/// Over all class patterns, each once (the copies drawn have no weight), the risk is the sum over all rankings.
#[test]
fn the_risk_over_every_ranking_is_the_exact_sum() {
    let data = data(3, [&[1.0, 0.0, 2.0, 0.0], &[0.0, 0.0, 1.0], &[1.0, 1.0]]);
    let w = [0.7, -0.4, 0.2];
    let cases = [
        (Gain::Auc, 0, Discount::Log2),
        (Gain::Map, 0, Discount::Log2),
        (Gain::Ndcg, 0, Discount::Log2),
        (Gain::Ndcg, 2, Discount::Letor),
        (Gain::Ndcg, 3, Discount::Log2),
    ];
    for (form, (gain, k, discount)) in FORMS.into_iter().flat_map(|form| cases.map(|case| (form, case))) {
        let loss = RankingLoss { gain, k, discount };
        let draw = |_: Query<'_>, goods: &[usize], bads: &[usize]| {
            let sample = every_state(goods.len(), bads.len());
            let losses = losses_of(&loss, &sample, goods.len(), bads.len());
            // No two rankings have the same counts.
            let mut seen = std::collections::BTreeSet::new();
            let once = |i: usize| {
                let state = sample.state(i);
                let new = seen.insert([state.bads_ahead(), state.goods_behind()].concat());
                if new { 0.0 } else { f64::NEG_INFINITY }
            };
            let log_weights = (0..sample.len()).map(once).collect();
            DrawnRankings { sample, losses, log_weights }
        };
        let risk = SampledRisk::new(&data, Units::default(), law(form, Kappa::One), &Stop::default(), draw);
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

/// Rankings drawn from the law at `v`, weighed by `exp(v·δφ)/m`, tell the objective at another `w` but for `log Z_v`.
#[test]
fn weighted_draws_are_consistent_with_the_exact_sum() {
    let data = small(2);
    let (v, size) = ([0.3, -0.2], 40_000);
    let loss = RankingLoss { gain: Gain::Ndcg, ..RankingLoss::default() };
    for form in FORMS {
        let draw = |query: Query<'_>, goods: &[usize], bads: &[usize]| {
            let exponents =
                |class: &[usize]| class.iter().map(|&i| 2.0 * query.row(i).dot(&v)).collect::<Vec<f64>>();
            let (good, bad) = (exponents(goods), exponents(bads));
            let sample = Chain { size, sweeps: 20, thinning: 5 }.draw(&good, &bad, query.index() as u64);
            let losses = losses_of(&loss, &sample, goods.len(), bads.len());
            let lead = |i: usize| {
                let state = sample.state(i);
                let sum = |e: &[f64], c: &[u32]| e.iter().zip(c).map(|(e, c)| e * f64::from(*c)).sum::<f64>();
                sum(&good, state.bads_ahead()) - sum(&bad, state.goods_behind()) - (size as f64).ln()
            };
            let drawn = (1..sample.len()).map(lead);
            let log_weights = std::iter::once(f64::NEG_INFINITY).chain(drawn).collect();
            DrawnRankings { sample, losses, log_weights }
        };
        let risk = SampledRisk::new(&data, Units::default(), law(form, Kappa::One), &Stop::default(), draw);
        assert!((risk.effective_share(&v) - 1.0).abs() < 1e-5);
        for w in [v, [0.6, 0.1], [-0.2, -0.5]] {
            let constant = |q: usize| {
                let law = over_every_ranking(data.query(q), &v, 1.0, |_| 0.0);
                if matches!(form, Form::ExpGain | Form::L2) { 0.0 } else { of_form(Form::Mle, &law) }
            };
            let of_query = |q: usize| {
                let query = data.query(q);
                let loss = |shown: &[usize]| loss_by_hand(loss.gain, 0, Discount::Log2, query, shown);
                of_form(form, &over_every_ranking(query, &w, 1.0, loss)) - constant(q)
            };
            let exact = 0.5 * (of_query(0) + of_query(1));
            let value = risk.value_and_gradient(&w, &mut [0.0; 2]);
            assert!((value - exact).abs() < 0.02, "{form:?} at {w:?}: {value} against {exact}");
            assert!(risk.effective_share(&w) > 0.2);
        }
    }
}

#[test]
fn the_share_that_counts_is_one_at_least_and_all_at_most() {
    let data = small(2);
    let risk = weighted(&data, Units::default(), law(Form::Mle, Kappa::One), RankingLoss::default());
    for reach in [0.0, 1.0, 1e3] {
        let share = risk.effective_share(&[reach, -reach]);
        assert!((1.0 / 40.0..=1.0).contains(&(share * (1.0 - 1e-12) + 1e-13)), "{share}");
    }
}

#[test]
fn asked_to_stop_nothing_is_drawn() {
    let (data, stop) = (small(2), Stop::default());
    stop.request();
    let law = law(Form::Mle, Kappa::One);
    let risk = SampledRisk::new(&data, Units::default(), law, &stop, |_, _, _| panic!("drawn"));
    assert_eq!((risk.rankings(), risk.value_and_gradient(&[1.0, 1.0], &mut [0.0; 2])), (0, 0.0));
}
