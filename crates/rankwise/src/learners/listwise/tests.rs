//! Optima worked out by hand, and minima checked against the losses themselves.

use super::{approx_ndcg, boltz_rank, lambda_loss, list_mle, list_net, rank_cosine, soft_rank, xe_ndcg};
use crate::data::{Dataset, Features, Parts};
use crate::learners::pairwise::{lambda_rank, rank_net};
use crate::learners::{
    Fitted, LambdaLinearParameters, LinearParameters, LossKind, LossLearner, LossScorer, ScorerKind, Task,
};
use crate::losses::PairSum;
use crate::metrics::{Conventions, parse};
use crate::models::{LinearModel, Model, Outcome};
use crate::rng;
use crate::solvers::{LinearRisk, Objective};
use crate::watch::Silent;
use rand::RngExt;

fn dataset(width: usize, values: Vec<f32>, labels: Vec<f32>, bounds: Vec<usize>) -> Dataset {
    let query_ids = (1..bounds.len()).map(|q| format!("q{q}")).collect();
    let features = Features::dense(width, values);
    Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() }).unwrap()
}

fn learn<L: LossLearner, S: LossScorer<L>>(learner: &L, linear: &S, train: &Dataset) -> (Vec<f64>, Fitted) {
    let metric = parse("ndcg", &Conventions::default()).unwrap();
    let task = Task::new(train, metric.as_ref(), 1);
    let fitted = linear.fit(learner, &task, &mut Silent::default()).unwrap();
    let Model::Linear(LinearModel { weights, .. }) = &fitted.model else { panic!("a linear model") };
    (weights.clone(), fitted)
}

fn exactly(c: f64) -> LinearParameters {
    LinearParameters { tolerance: 1e-10, scale: false, ..LinearParameters::smooth(c) }
}

/// One feature, 1 for the better document and 0 for the worse. Each objective is `½w² + C·ℓ(w)`, so the
/// optimum is where `w = −C·ℓ'(w)`; a second query has no pairs and is skipped.
#[test]
fn one_pair_matches_the_solution_by_hand() {
    let train = dataset(1, vec![1.0, 0.0, 5.0], vec![1.0, 0.0, 0.0], vec![0, 2, 3]);
    for c in [0.3, 4.0] {
        // ℓ = ln(1 + exp(−w)) for pairs and lists, times the weight of the pair: a swap costs 1 − 1/log₂3 of
        // NDCG.
        let falls = |w: f64| 1.0 / (1.0 + w.exp());
        let swap = 1.0 - 1.0 / 3_f64.log2();
        // The target of ListNet is e/(e + 1) for the better document.
        let target = 1_f64.exp() / (1_f64.exp() + 1.0);
        let linear = exactly(c);
        let rank_net = rank_net::RankNet { sum: PairSum::Total };
        let (weights, fitted) = learn(&rank_net, &linear, &train);
        assert!((weights[0] - c * falls(weights[0])).abs() < 1e-8);
        assert_eq!(fitted.record.outcome, Outcome::Converged);
        assert!(fitted.record.notes.iter().any(|note| note.ends_with("another: 1")));
        let (weights, _) = learn(&list_mle::ListMle {}, &linear, &train);
        assert!((weights[0] - c * falls(weights[0])).abs() < 1e-8);
        let (weights, _) = learn(&list_net::ListNet {}, &linear, &train);
        assert!((weights[0] - c * (target - 1.0 + falls(weights[0]))).abs() < 1e-8);
        // Each order is lowered only partly.
        let by_order = LambdaLinearParameters { linear, ..LambdaLinearParameters::default() };
        let (weights, _) = learn(&lambda_rank::LambdaRank::default(), &by_order, &train);
        assert!((weights[0] - c * swap * falls(weights[0])).abs() < 1e-4 * c, "{weights:?}");
    }
}

/// No step away from the minimum found has a smaller objective.
fn assert_minimal<L: LossLearner>(learner: L, c: f64, train: &Dataset) {
    let (weights, fitted) = learn(&learner, &exactly(c), train);
    let risk = LinearRisk::new(train, learner.loss(train).unwrap().into_loss(), 1);
    let objective = |w: &[f64]| {
        let risk = risk.value_and_gradient(w, &mut vec![0.0; w.len()]);
        0.5 * w.iter().map(|w| w * w).sum::<f64>() + c * risk
    };
    let (name, least) = (L::CARD.name, objective(&weights));
    let (_, said) = fitted.record.figures.iter().find(|(name, _)| name == "objective").unwrap();
    assert!((said - least).abs() < 1e-9 * (1.0 + least), "{name}: {said} for {least}");
    assert!(objective(&vec![0.0; weights.len()]) > least, "{name}");
    for i in 0..weights.len() {
        for step in [-1e-3, 1e-3, -0.05, 0.05] {
            let mut moved = weights.clone();
            moved[i] += step;
            assert!(objective(&moved) >= least, "{name}: {step} away along {i}");
        }
    }
}

#[test]
fn no_nearby_weights_are_better_than_the_minimum() {
    let mut random = rng::stream(5, &[]);
    let values: Vec<f32> = (0..360).map(|_| random.random::<f32>() * 2.0 - 1.0).collect();
    let noisy = |row: &[f32], noise: f32| (1.2 + row[0] - 0.8 * row[1] + noise).clamp(0.0, 2.9).floor();
    let labels = values.chunks(3).map(|row| noisy(row, random.random::<f32>() - 0.5)).collect();
    let train = dataset(3, values, labels, vec![0, 30, 45, 80, 120]);
    let c = 5.0;
    assert_minimal(rank_net::RankNet { sum: PairSum::Mean }, c, &train);
    assert_minimal(list_net::ListNet {}, c, &train);
    assert_minimal(list_mle::ListMle {}, c, &train);
    assert_minimal(xe_ndcg::XeNdcg {}, c, &train);
    assert_minimal(rank_cosine::RankCosine::default(), c, &train);
    assert_minimal(soft_rank::SoftRank::default(), c, &train);
    assert_minimal(approx_ndcg::ApproxNdcg::default(), c, &train);
    assert_minimal(boltz_rank::BoltzRank::default(), c, &train);
}

#[test]
fn values_out_of_range_are_rejected_by_name() {
    let refused = |result: crate::error::Result<()>, name: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with(&format!("{name} is ")), "{text}");
    };
    let none = LambdaLinearParameters { reorderings: 0, ..Default::default() };
    refused(none.check(&lambda_rank::LambdaRank::default()), "reorderings");
    refused(lambda_rank::LambdaRank { sigma: 0.0, ..Default::default() }.check(ScorerKind::Linear), "sigma");
    refused(lambda_loss::LambdaLoss { mu: -1.0, ..Default::default() }.check(ScorerKind::Linear), "mu");
    refused(rank_cosine::RankCosine { unit: 0.0, ..Default::default() }.check(ScorerKind::Linear), "unit");
    refused(
        soft_rank::SoftRank { deviation: -1.0, ..Default::default() }.check(ScorerKind::Linear),
        "deviation",
    );
    refused(
        approx_ndcg::ApproxNdcg { temperature: 0.0, ..Default::default() }.check(ScorerKind::Linear),
        "temperature",
    );
    refused(boltz_rank::BoltzRank { samples: 1, ..Default::default() }.check(ScorerKind::Linear), "samples");
    refused(boltz_rank::BoltzRank { mix: 1.5, ..Default::default() }.check(ScorerKind::Linear), "mix");
}

/// What the record says of λ-gradients is true of the weights that are returned: the objective in the order that they
/// give, and convergence only if the λ-gradient of that order is small.
#[test]
fn tolerance_and_record_of_lambda_gradients_are_about_the_final_order() {
    let mut random = rng::stream(5, &[]);
    let values: Vec<f32> = (0..5 * 8 * 3).map(|_| random.random::<f32>()).collect();
    let labels = (0..40).map(|_| random.random_range(0..3) as f32).collect();
    let train = dataset(3, values, labels, (0..=5).map(|q| 8 * q).collect());
    let mut endings = Vec::new();
    for (tolerance, reorderings) in [(0.5, 10), (1e-2, 10), (1e-2, 1), (1e-5, 40), (1e-12, 2)] {
        let linear = LinearParameters { tolerance, ..exactly(20.0) };
        let by_order = LambdaLinearParameters { linear, reorderings };
        let rank = lambda_rank::LambdaRank::default();
        let loss = lambda_loss::LambdaLoss { mu: 10.0, ..Default::default() };
        let fits = [
            (rank.loss(&train).unwrap(), learn(&rank, &by_order, &train)),
            (loss.loss(&train).unwrap(), learn(&loss, &by_order, &train)),
        ];
        for (kind, (weights, fitted)) in fits {
            let LossKind::Lambda(loss) = kind else { panic!("λ-gradients") };
            let risk = LinearRisk::new(&train, loss, 1);
            let held = risk.in_order_of(&weights);
            let at = |w: &[f64]| {
                let mut gradient = vec![0.0; w.len()];
                let value = held.value_and_gradient(w, &mut gradient);
                let norm = gradient.iter().zip(w).map(|(g, w)| (w + 20.0 * g).powi(2)).sum::<f64>().sqrt();
                (0.5 * w.iter().map(|w| w * w).sum::<f64>() + 20.0 * value, norm)
            };
            let ((value, norm), (_, start)) = (at(&weights), at(&[0.0; 3]));
            let (_, said) = fitted.record.figures.iter().find(|(name, _)| name == "objective").unwrap();
            assert!((said - value).abs() < 1e-9 * (1.0 + value), "{said} for {value}");
            let converged = fitted.record.outcome == Outcome::Converged;
            assert_eq!(converged, norm <= tolerance * start, "{tolerance}: {norm} of {start}");
            assert_eq!(!converged, fitted.record.notes.iter().any(|n| n.contains("the λ-gradient is still")));
            endings.push(converged);
        }
    }
    assert!(endings[0] && endings[1] && endings.contains(&false), "{endings:?}");
}
