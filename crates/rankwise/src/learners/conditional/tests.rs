//! Solutions worked out by hand, agreement of the methods, and the record.

use super::*;
use crate::data::{Dataset, Features, Parts};
use crate::learners::pairwise::rank_net::RankNet;
use crate::learners::{Fitted, LinearParameters, LossLearner, LossScorer, ScorerKind, Task};
use crate::losses::conditional::{Kappa, RankingGain};
use crate::metrics::{Conventions, parse};
use crate::models::{LinearModel, Model, Outcome};
use crate::rng;
use crate::watch::Silent;
use rand::RngExt;

fn dataset(width: usize, values: Vec<f32>, labels: Vec<f32>, bounds: Vec<usize>) -> Dataset {
    let query_ids = (1..bounds.len()).map(|q| format!("q{q}")).collect();
    let features = Features::dense(width, values);
    Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() }).unwrap()
}

/// One feature; a query with one relevant (1) and one non-relevant (0) document, and one without relevant
/// documents.
fn two_documents() -> Dataset {
    dataset(1, vec![1.0, 0.0, 5.0], vec![1.0, 0.0, 0.0], vec![0, 2, 3])
}

fn learn<L>(learner: &L, optimisation: &ConditionalLinearParameters, train: &Dataset) -> Fitted
where
    L: LossLearner,
    ConditionalLinearParameters: LossScorer<L>,
{
    let metric = parse("map", &Conventions::default()).unwrap();
    let task = Task::new(train, metric.as_ref(), 1);
    learner.check(ScorerKind::Linear).unwrap();
    LossScorer::check(optimisation, learner).unwrap();
    optimisation.fit(learner, &task, &mut Silent::default()).unwrap()
}

fn weights(fitted: &Fitted) -> &[f64] {
    let Model::Linear(LinearModel { weights, .. }) = &fitted.model else { panic!("a linear model") };
    weights
}

fn figure(fitted: &Fitted, name: &str) -> f64 {
    fitted.record.figures.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("{name}")).1
}

/// `w²/C + log(1 + exp(−2w))` has its minimum where `w/C = σ(−2w)`; with AUC's Δ = 1 for the one wrong
/// ranking, ConvexLoss has `σ(1 − 2w)`. Both methods have the same two rankings, if the sample has each once.
#[test]
fn two_documents_match_the_solution_by_hand() {
    for (c, samples) in [(0.3, 2), (2.0, 2), (50.0, 2)] {
        let parameters = |method: Method| Conditional {
            gain: RankingGain::Auc,
            method,
            samples,
            steps: 1,
            thinning: 1,
            best: 1.0,
            ..Conditional::default()
        };
        let linear = LinearParameters { scale: false, tolerance: 1e-9, ..LinearParameters::smooth(c) };
        let linear = ConditionalLinearParameters { linear, starts: 1 };
        for method in [Method::Exact, Method::Sampled] {
            let balance = |w: f64, shift: f64| w / c - 1.0 / (1.0 + (2.0 * w - shift).exp());
            let w = weights(&learn(&Mle(parameters(method)), &linear, &two_documents()))[0];
            assert!(balance(w, 0.0).abs() < 1e-6, "MLE {method:?} at C = {c}: {w}");
            let w = weights(&learn(&ConvexLoss(parameters(method)), &linear, &two_documents()))[0];
            assert!(balance(w, 1.0).abs() < 1e-6, "ConvexLoss {method:?} at C = {c}: {w}");
            // The derivative of −log σ(2w) is −2σ(−2w), so ExpGain is MLE here.
            let w = weights(&learn(&ExpGain(parameters(method)), &linear, &two_documents()))[0];
            assert!(balance(w, 0.0).abs() < 1e-6, "ExpGain {method:?} at C = {c}: {w}");
        }
    }
}

fn closed(c: f64, starts: u64) -> (Conditional, ConditionalLinearParameters) {
    let parameters = Conditional { gain: RankingGain::Auc, method: Method::Exact, ..Conditional::default() };
    let linear = LinearParameters { scale: false, tolerance: 1e-9, ..LinearParameters::smooth(c) };
    (parameters, ConditionalLinearParameters { linear, starts })
}

/// Two relevant and two non-relevant documents, all pairs alike: with `p = σ(−2w)` the closed forms per pair
/// have their minimum at `w/C = p` (MLE), `p + p(1 − p)/4` (L3) and `σ(¼ − 2w)` (ConvexLoss).
#[test]
fn closed_forms_are_means_over_pairs() {
    let train = dataset(1, vec![1.0, 1.0, 0.0, 0.0], vec![1.0, 1.0, 0.0, 0.0], vec![0, 4]);
    for c in [0.3, 2.0, 50.0] {
        let (parameters, linear) = closed(c, 1);
        let p = |w: f64, shift: f64| 1.0 / (1.0 + (2.0 * w - shift).exp());
        let w = weights(&learn(&Mle(parameters.clone()), &linear, &train))[0];
        assert!((w / c - p(w, 0.0)).abs() < 1e-6, "MLE at C = {c}: {w}");
        let w = weights(&learn(&L3(parameters.clone()), &linear, &train))[0];
        assert!((w / c - p(w, 0.0) * (1.0 + 0.25 * (1.0 - p(w, 0.0)))).abs() < 1e-6, "L3 at C = {c}: {w}");
        let w = weights(&learn(&ConvexLoss(parameters), &linear, &train))[0];
        assert!((w / c - p(w, 0.25)).abs() < 1e-6, "ConvexLoss at C = {c}: {w}");
    }
}

/// The same C gives the same weights if every document is there three times, which makes nine times as many
/// pairs. With binary labels MLE at C is RankNet at 2C, with half its weights.
#[test]
fn one_c_serves_short_and_long_lists() {
    let short = noisy();
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for query in short.queries() {
        for (row, label) in query.range().zip(query.labels()) {
            let row = [short.row(row).get(0), short.row(row).get(1)];
            (0..3).for_each(|_| values.extend(row));
            labels.extend([*label; 3]);
        }
    }
    let long = dataset(2, values, labels, (0..=12).map(|q| 24 * q).collect());
    let (parameters, linear) = closed(3.0, 1);
    let expected = learn(&Mle(parameters.clone()), &linear, &short);
    let repeated = learn(&Mle(parameters), &linear, &long);
    let metric = parse("map", &Conventions::default()).unwrap();
    let pairs = LinearParameters { scale: false, tolerance: 1e-9, ..LinearParameters::smooth(6.0) };
    let task = Task::new(&short, metric.as_ref(), 1);
    let pairs = pairs.fit(&RankNet::default(), &task, &mut Silent::default()).unwrap();
    for (i, w) in weights(&expected).iter().enumerate() {
        assert!(w.abs() > 0.01, "{w}");
        assert!((weights(&repeated)[i] - w).abs() < 1e-6, "{} for {w}", weights(&repeated)[i]);
        assert!((weights(&pairs)[i] - 2.0 * w).abs() < 1e-6, "{} for twice {w}", weights(&pairs)[i]);
    }
}

#[test]
fn the_record_reports_the_objective_and_the_skipped_queries() {
    let parameters = Conditional { gain: RankingGain::Map, ..Conditional::default() };
    let linear = LinearParameters { scale: false, ..LinearParameters::smooth(1.0) };
    let optimisation = ConditionalLinearParameters { linear, starts: 4 };
    let fitted = learn(&L3(parameters), &optimisation, &two_documents());
    let w = weights(&fitted)[0];
    assert_eq!(fitted.record.outcome, Outcome::Converged);
    let (objective, mean) = (figure(&fitted, "objective"), figure(&fitted, "mean loss"));
    assert!((objective - (w * w / optimisation.linear.c + mean)).abs() < 1e-9);
    assert!(figure(&fitted, "norm of the gradient") < 1e-3);
    // Two documents have two rankings.
    assert_eq!(figure(&fitted, "different rankings drawn"), 2.0);
    let notes = fitted.record.notes.join("; ");
    assert!(notes.contains("another: 1") && notes.contains("4 of 4 starts reached"), "{notes}");
}

/// Twelve queries of eight documents; a hidden utility with some noise makes three documents of each query
/// relevant.
fn noisy() -> Dataset {
    let mut random = rng::stream(11, &[]);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..12 {
        let rows: Vec<[f32; 2]> = (0..8).map(|_| [random.random(), random.random()]).collect();
        let noise: Vec<f32> = (0..8).map(|_| random.random::<f32>()).collect();
        let utility = |i: usize| 2.0 * rows[i][0] - rows[i][1] + noise[i];
        let better = |i: usize| (0..8).filter(|&j| utility(j) > utility(i)).count();
        labels.extend((0..8).map(|i| f32::from(better(i) < 3)));
        values.extend(rows.into_flattened());
    }
    dataset(2, values, labels, (0..=12).map(|q| 8 * q).collect())
}

/// The samples depend on the seed, the optimum does not.
#[test]
fn adaptive_sampling_converges_to_the_same_weights_with_any_seed() {
    let train = noisy();
    let adaptive = |seed: u64| {
        let parameters = Conditional {
            method: Method::Adaptive,
            kappa: Kappa::One,
            samples: 3000,
            redraws: 10,
            ..Conditional::default()
        };
        let metric = parse("map", &Conventions::default()).unwrap();
        let task = Task::new(&train, metric.as_ref(), seed);
        let optimisation = ConditionalLinearParameters { linear: LinearParameters::smooth(5.0), starts: 1 };
        optimisation.fit(&Mle(parameters), &task, &mut Silent::default()).unwrap()
    };
    let (first, second) = (adaptive(1), adaptive(2));
    for (a, b) in weights(&first).iter().zip(weights(&second)) {
        assert!((a - b).abs() < 0.02 * (a.abs() + b.abs()), "{a} with one seed, {b} with another");
    }
    assert_eq!(first.record.outcome, Outcome::Converged);
    assert!(figure(&first, "objective fell by, all draws together") > 0.0);
    assert!(first.record.notes.iter().any(|n| n.starts_with("the objective fell from draw to draw by ")));
}

#[test]
fn values_out_of_range_are_rejected_by_name() {
    let base = || Conditional { gain: RankingGain::Auc, ..Conditional::default() };
    let wrong = [
        ("threshold is", Conditional { threshold: f32::NAN, ..base() }),
        ("method exact requires", Conditional { gain: RankingGain::Map, method: Method::Exact, ..base() }),
        ("best is", Conditional { best: f64::NAN, ..base() }),
        ("skew is", Conditional { skew: f64::INFINITY, ..base() }),
        ("samples is", Conditional { samples: 1, ..base() }),
        ("rungs is", Conditional { rungs: 1, ..base() }),
        ("steps is", Conditional { steps: 0, ..base() }),
        ("thinning is", Conditional { thinning: 0, ..base() }),
        ("redraws is", Conditional { redraws: 0, ..base() }),
    ];
    for (name, parameters) in wrong {
        let error = Mle(parameters).check(ScorerKind::Linear).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
    }
    let starting =
        |starts: u64| ConditionalLinearParameters { starts, ..ConditionalLinearParameters::default() };
    let refused = |result: crate::error::Result<()>| result.unwrap_err().to_string().starts_with("starts is");
    assert!(refused(LossScorer::check(&starting(0), &Mle(base()))));
    assert!(refused(LossScorer::check(&starting(2), &Mle(base()))));
    let adaptive = Conditional { method: Method::Adaptive, ..base() };
    assert!(LossScorer::check(&starting(2), &L3(adaptive.clone())).is_ok());
    assert!(LossScorer::check(&starting(2), &ExpGain(adaptive)).is_ok());
}

/// Several starts of L3 cannot be compared where rankings are drawn again, so only the first is used.
#[test]
fn l3_with_adaptive_sampling_uses_one_start_and_says_so() {
    let train = noisy();
    let learn = |starts: u64| {
        let parameters = Conditional { method: Method::Adaptive, samples: 50, redraws: 2, ..L3::default().0 };
        let metric = parse("map", &Conventions::default()).unwrap();
        let task = Task::new(&train, metric.as_ref(), 1);
        let optimisation = ConditionalLinearParameters { starts, ..L3::linear() };
        optimisation.fit(&L3(parameters), &task, &mut Silent::default()).unwrap()
    };
    let (several, one) = (learn(L3::linear().starts), learn(1));
    assert_eq!(several.model, one.model);
    let noted = |fitted: &Fitted| fitted.record.notes.iter().any(|n| n.contains("only the first start"));
    assert!(noted(&several) && !noted(&one));
}

/// Trees and networks minimise the closed form, and reject everything else.
#[test]
fn trees_and_networks_support_only_the_closed_form() {
    let closed = ConvexLoss::default_for(ScorerKind::Trees);
    assert_eq!((closed.0.gain, closed.0.method), (RankingGain::Auc, Method::Exact));
    assert!(closed.check(ScorerKind::Trees).is_ok());
    let sampled = ConvexLoss::default_for(ScorerKind::Linear);
    assert!(sampled.check(ScorerKind::Linear).is_ok() && sampled.check(ScorerKind::Network).is_err());
}
