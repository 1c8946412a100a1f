//! Solutions worked out by hand, and the weights of pairs against all swaps.

use super::ir_svm::{IrSvm, swap_drops};
use super::rank_net::RankNet;
use super::rank_svm::{PairLoss, RankSvm};
use crate::data::{Dataset, Features, Parts};
use crate::learners::{
    CustomLoss, Fitted, LinearParameters, LossKind, LossLearner, LossScorer, LossSource, Task,
};
use crate::losses::PairSum;
use crate::metrics::{Conventions, parse};
use crate::models::{LinearModel, Model, Outcome};
use crate::rank::Ranking;
use crate::rng;
use crate::watch::Silent;
use rand::RngExt;

fn dataset(values: Vec<f32>, labels: Vec<f32>, bounds: Vec<usize>) -> Dataset {
    let query_ids = (1..bounds.len()).map(|q| format!("q{q}")).collect();
    let features = Features::dense(1, values);
    Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() }).unwrap()
}

fn learn(learner: &impl LossSource, linear: &LinearParameters, train: &Dataset) -> Fitted {
    let metric = parse("map", &Conventions::default()).unwrap();
    let task = Task::new(train, metric.as_ref(), 1);
    linear.fit(learner, &task, &mut Silent::default()).unwrap()
}

fn exactly(c: f64) -> LinearParameters {
    LinearParameters { c, tolerance: 1e-10, scale: false, ..LinearParameters::default() }
}

fn weight(fitted: &Fitted) -> f64 {
    let Model::Linear(LinearModel { weights, .. }) = &fitted.model else { panic!("a linear model") };
    weights[0]
}

/// One feature; labels 1, 0, 0 at 1, 0, 0: two pairs of difference 1. A second query has no pairs and is
/// skipped.
///
/// The mean over both is `[1 − w]₊`. `½w² + C[1 − w]₊` is least at `min(C, 1)`, and `½w² + C[1 − w]₊²` at
/// `2C/(1 + 2C)`.
#[test]
fn two_pairs_match_the_solution_by_hand() {
    let train = dataset(vec![1.0, 0.0, 0.0, 7.0], vec![1.0, 0.0, 0.0, 0.0], vec![0, 3, 4]);
    for c in [0.05, 0.2, 3.0] {
        for (loss, expected) in
            [(PairLoss::Hinge, f64::min(c, 1.0)), (PairLoss::SquaredHinge, 2.0 * c / (1.0 + 2.0 * c))]
        {
            let fitted = learn(&RankSvm { loss }, &exactly(c), &train);
            assert!((weight(&fitted) - expected).abs() < 1e-4, "{loss:?} at {c}: {}", weight(&fitted));
            assert_eq!(fitted.record.outcome, Outcome::Converged);
            assert!(fitted.record.notes.iter().any(|n| n.ends_with("another: 1")));
        }
        // In IR SVM the pairs weigh 1 in total, times τ = 1: the relevant document is the only one of its
        // grade.
        let fitted = learn(&IrSvm::default(), &exactly(c), &train);
        assert!((weight(&fitted) - c.min(1.0)).abs() < 1e-4, "IR SVM at {c}: {}", weight(&fitted));
    }
}

/// If every document occurs three times, a query has nine times as many pairs, but the mean over them is the
/// same; so are the weights. Queries have different numbers of pairs.
#[test]
fn the_length_of_lists_changes_no_weight() {
    let mut random = rng::stream(4, &[]);
    let values: Vec<f32> = (0..30).map(|_| random.random()).collect();
    let labels: Vec<f32> = values.iter().map(|x| (2.0 * x + random.random::<f32>()).floor()).collect();
    let times = |k: usize| {
        let bounds = [0, 7, 12, 30].map(|b| b * k).to_vec();
        let each = |column: &[f32]| column.iter().flat_map(|x| vec![*x; k]).collect::<Vec<f32>>();
        dataset(each(&values), each(&labels), bounds)
    };
    let (short, long) = (times(1), times(3));
    let learners: [&dyn LossSource; 4] = [
        &RankSvm { loss: PairLoss::Hinge },
        &RankSvm { loss: PairLoss::SquaredHinge },
        &RankNet { sum: PairSum::Total },
        &RankNet { sum: PairSum::Mean },
    ];
    for learner in learners {
        for c in [0.3, 3.0] {
            let fits = [&short, &long].map(|train| {
                let metric = parse("map", &Conventions::default()).unwrap();
                let task = Task::new(train, metric.as_ref(), 1);
                weight(&exactly(c).fit(learner, &task, &mut Silent::default()).unwrap())
            });
            assert!(fits[0] > 0.05 && (fits[0] - fits[1]).abs() < 1e-3 * fits[0], "at {c}: {fits:?}");
        }
    }
}

/// Both records hold a certificate: the dual objective is a lower bound and close to the primal objective.
#[test]
fn the_certificate_of_newton_steps_is_that_of_cutting_planes() {
    let mut random = rng::stream(9, &[]);
    let values = (0..60).map(|_| random.random::<f32>()).collect();
    let labels = (0..60).map(|_| random.random_range(0..3) as f32).collect();
    let train = dataset(values, labels, vec![0, 20, 40, 60]);
    let linear = LinearParameters { c: 10.0, tolerance: 1e-7, ..LinearParameters::default() };
    let newton = learn(&RankSvm { loss: PairLoss::SquaredHinge }, &linear, &train);
    let convex = CustomLoss::new("squared hinge as any convex loss", |train| {
        let loss = super::per_mean_pair_count(crate::losses::SquaredPairHinge::default(), train);
        Ok(LossKind::Convex(Box::new(loss)))
    });
    let planes = learn(&convex, &linear, &train);
    let figure = |fitted: &Fitted, name: &str| {
        fitted.record.figures.iter().find(|(n, _)| n == name).expect("a figure of that name").1
    };
    for (a, b) in [(&newton, &planes), (&planes, &newton)] {
        assert!(figure(a, "relative duality gap") <= 1e-7);
        assert!(figure(a, "dual objective") <= figure(b, "primal objective") * (1.0 + 1e-12));
    }
    assert!(newton.record.rounds < planes.record.rounds);
}

/// Every swap of documents with different labels in a perfect ranking, by the metric itself.
#[test]
fn pair_weights_agree_with_all_swaps() {
    let metric = parse("ndcg@1", &Conventions::default()).unwrap();
    for seed in 0..20 {
        let mut random = rng::stream(seed, &[3]);
        let labels: Vec<f32> =
            (0..40).map(|_| [0.0, 1.0, 2.0, 2.5, -1.0][random.random_range(0..5)]).collect();
        let bounds: Vec<usize> = vec![0, 4, 9, 17, 19, 30, 40];
        let train = dataset(vec![0.0; 40], labels.clone(), bounds.clone());
        let found = swap_drops(&train);
        for (better, worse) in [(2.5, 2.0), (2.5, 0.0), (2.0, 1.0), (2.0, 0.0), (1.0, 0.0), (0.0, -1.0)] {
            let mut drops = Vec::new();
            for bound in bounds.windows(2) {
                let mut perfect = labels[bound[0]..bound[1]].to_vec();
                perfect.sort_by(|a, b| b.total_cmp(a));
                let value = |order: Vec<u32>| metric.value(&perfect, &Ranking::from_order(order)).unwrap();
                let order: Vec<u32> = (0..perfect.len() as u32).collect();
                let places =
                    |grade: f32| (0..perfect.len()).filter(|&i| perfect[i] == grade).collect::<Vec<_>>();
                let mut query = Vec::new();
                for &i in &places(better) {
                    for &j in &places(worse) {
                        let mut swapped = order.clone();
                        swapped.swap(i, j);
                        query.push(value(order.clone()) - value(swapped));
                    }
                }
                if !query.is_empty() {
                    drops.push(query.iter().sum::<f64>() / query.len() as f64);
                }
            }
            let expected = drops.iter().sum::<f64>() / drops.len().max(1) as f64;
            let tau = found.of(better, worse);
            if !drops.is_empty() {
                assert!((tau - expected).abs() < 1e-12, "({better}, {worse}): {tau} for {expected}");
            }
        }
    }
}

#[test]
fn too_many_different_labels_are_rejected() {
    let train =
        dataset((0..300).map(|i| i as f32).collect(), (0..300).map(|i| i as f32).collect(), vec![0, 300]);
    let metric = parse("map", &Conventions::default()).unwrap();
    let task = Task::new(&train, metric.as_ref(), 1);
    let error = IrSvm::default().loss(task.train).unwrap_err();
    assert!(error.to_string().contains("more than 256 different labels"), "{error}");
}
