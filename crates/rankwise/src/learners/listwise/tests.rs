//! Optima that can be worked out by hand, and minima against the losses themselves.

use super::{approx_ndcg, boltz_rank, lambda_loss, list_mle, list_net, rank_cosine, soft_rank, xe_ndcg};
use crate::data::{Dataset, Features, Parts};
use crate::learners::pairwise::{lambda_rank, rank_net};
use crate::learners::smooth::Smooth;
use crate::learners::{ByLoss, Fitted, Learner, Start, Task};
use crate::losses::PairSum;
use crate::metrics::{Conventions, parse};
use crate::models::{LinearModel, Model, Outcome};
use crate::rng;
use crate::solvers::{LinearRisk, Objective};
use crate::watch::Silent;
use rand::RngExt;

fn dataset(width: usize, values: Vec<f32>, labels: Vec<f32>, bounds: Vec<usize>) -> Dataset {
    let query_ids = (1..bounds.len()).map(|q| format!("q{q}")).collect();
    let features = Features::Dense { width, values };
    Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() }).unwrap()
}

fn learn(learner: &impl Learner, train: &Dataset) -> (Vec<f64>, Fitted) {
    let metric = parse("ndcg", &Conventions::default()).unwrap();
    let task = Task { train, valid: None, metric: metric.as_ref(), seed: 1, start: Start::default() };
    let fitted = learner.fit(&task, &mut Silent::default()).unwrap();
    let Model::Linear(LinearModel { weights, .. }) = &fitted.model else { panic!("a linear model") };
    (weights.clone(), fitted)
}

fn exactly(c: f64) -> Smooth {
    Smooth { c, tolerance: 1e-10, scale: false, ..Smooth::default() }
}

/// One feature, 1 of the better document and 0 of the worse. Each objective is `½w² + C·ℓ(w)`, so the optimum is where
/// `w = −C·ℓ'(w)`; a second query asks for no order and does not count.
#[test]
fn one_pair_by_hand() {
    let train = dataset(1, vec![1.0, 0.0, 5.0], vec![1.0, 0.0, 0.0], vec![0, 2, 3]);
    for c in [0.3, 4.0] {
        // ℓ = ln(1 + exp(−w)), as pair, list, and by what it weighs: NDCG loses 1 − 1/log₂3 by a swap.
        let falls = |w: f64| 1.0 / (1.0 + w.exp());
        let swap = 1.0 - 1.0 / 3_f64.log2();
        // The target of ListNet is e/(e + 1) for the better document.
        let target = 1_f64.exp() / (1_f64.exp() + 1.0);
        let smooth = exactly(c);
        let rank_net = rank_net::RankNet { sum: PairSum::Total, smooth: smooth.clone() };
        let lambda_rank = lambda_rank::LambdaRank { smooth: smooth.clone(), ..Default::default() };
        let (weights, fitted) = learn(&rank_net, &train);
        assert!((weights[0] - c * falls(weights[0])).abs() < 1e-8);
        assert_eq!(fitted.record.outcome, Outcome::Converged);
        assert!(fitted.record.notes.iter().any(|note| note.ends_with("order: 1")));
        let (weights, _) = learn(&list_mle::ListMle { smooth: smooth.clone() }, &train);
        assert!((weights[0] - c * falls(weights[0])).abs() < 1e-8);
        let (weights, _) = learn(&list_net::ListNet { smooth }, &train);
        assert!((weights[0] - c * (target - 1.0 + falls(weights[0]))).abs() < 1e-8);
        // Orders are lowered only so far each.
        let (weights, _) = learn(&lambda_rank, &train);
        assert!((weights[0] - c * swap * falls(weights[0])).abs() < 1e-4 * c, "{weights:?}");
    }
}

/// No step away from what was found has a smaller objective.
fn assert_minimal<L: ByLoss>(learner: L, c: f64, train: &Dataset) {
    let (weights, fitted) = learn(&learner, train);
    let risk = LinearRisk::new(train, learner.loss_of_scores(train).unwrap(), 1);
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
fn minima_are_minima() {
    let mut random = rng::stream(5, &[]);
    let values: Vec<f32> = (0..360).map(|_| random.random::<f32>() * 2.0 - 1.0).collect();
    let noisy = |row: &[f32], noise: f32| (1.2 + row[0] - 0.8 * row[1] + noise).clamp(0.0, 2.9).floor();
    let labels = values.chunks(3).map(|row| noisy(row, random.random::<f32>() - 0.5)).collect();
    let train = dataset(3, values, labels, vec![0, 30, 45, 80, 120]);
    let (c, smooth) = (5.0, exactly(5.0));
    assert_minimal(rank_net::RankNet { sum: PairSum::Mean, smooth: smooth.clone() }, c, &train);
    assert_minimal(list_net::ListNet { smooth: smooth.clone() }, c, &train);
    assert_minimal(list_mle::ListMle { smooth: smooth.clone() }, c, &train);
    assert_minimal(xe_ndcg::XeNdcg { smooth: smooth.clone() }, c, &train);
    assert_minimal(rank_cosine::RankCosine { smooth: smooth.clone(), ..Default::default() }, c, &train);
    assert_minimal(soft_rank::SoftRank { smooth: smooth.clone(), ..Default::default() }, c, &train);
    assert_minimal(approx_ndcg::ApproxNdcg { smooth: smooth.clone(), ..Default::default() }, c, &train);
    assert_minimal(boltz_rank::BoltzRank { smooth, ..Default::default() }, c, &train);
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let refused = |result: crate::error::Result<()>, name: &str| {
        let text = result.unwrap_err().to_string();
        assert!(text.starts_with(&format!("{name} is ")), "{text}");
    };
    let smooth = |smooth| list_net::ListNet { smooth }.check();
    refused(smooth(Smooth { c: f64::NAN, ..Smooth::default() }), "c");
    refused(smooth(Smooth { rounds: 0, ..Smooth::default() }), "rounds");
    refused(smooth(Smooth { tolerance: 1.0, ..Smooth::default() }), "tolerance");
    refused(lambda_rank::LambdaRank { orders: 0, ..Default::default() }.check(), "orders");
    refused(lambda_rank::LambdaRank { sigma: 0.0, ..Default::default() }.check(), "sigma");
    refused(lambda_loss::LambdaLoss { mu: -1.0, ..Default::default() }.check(), "mu");
    refused(rank_cosine::RankCosine { unit: 0.0, ..Default::default() }.check(), "unit");
    refused(soft_rank::SoftRank { deviation: -1.0, ..Default::default() }.check(), "deviation");
    refused(approx_ndcg::ApproxNdcg { temperature: 0.0, ..Default::default() }.check(), "temperature");
    refused(boltz_rank::BoltzRank { samples: 1, ..Default::default() }.check(), "samples");
    refused(boltz_rank::BoltzRank { mix: 1.5, ..Default::default() }.check(), "mix");
}
