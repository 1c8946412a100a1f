//! Solutions worked out by hand, and the certificate and notes in the record.

use super::svm_auc::SvmAuc;
use super::svm_map::SvmMap;
use crate::data::{Dataset, Features, Parts};
use crate::learners::{Fitted, LinearParameters, LossLearner, LossScorer, ScorerKind, Task};
use crate::metrics::{Conventions, parse};
use crate::models::{LinearModel, Model, Outcome};
use crate::watch::Silent;

/// One feature; a query with one relevant (1) and one non-relevant (0) document, and one without relevant
/// documents.
fn two_documents() -> Dataset {
    Dataset::new(Parts {
        features: Features::dense(1, vec![1.0, 0.0, 5.0]),
        labels: vec![1.0, 0.0, 0.0],
        bounds: vec![0, 2, 3],
        query_ids: ["a", "b"].into_iter().collect(),
        ..Parts::default()
    })
    .unwrap()
}

fn learn<L: LossLearner>(learner: &L, linear: &LinearParameters) -> Fitted {
    let (train, metric) = (two_documents(), parse("map", &Conventions::default()).unwrap());
    let task = Task::new(&train, metric.as_ref(), 1);
    linear.fit(learner, &task, &mut Silent::default()).unwrap()
}

fn weight(fitted: &Fitted) -> f64 {
    let Model::Linear(LinearModel { weights, .. }) = &fitted.model else { panic!("a linear model") };
    weights[0]
}

/// The one wrong ranking has Δ = 1 for AUC and ½ for AP, and lead 2w: `min ½w² + C·[Δ − 2w]₊` is at `w = 2C`
/// while that is short of the margin, else at `w = Δ/2`.
#[test]
fn two_documents_match_the_solution_by_hand() {
    for (c, auc, map) in [(0.1, 0.2, 0.2), (0.2, 0.4, 0.25), (10.0, 0.5, 0.25)] {
        let linear = LinearParameters { c, tolerance: 1e-9, scale: false, ..LinearParameters::default() };
        let fitted = learn(&SvmAuc::default(), &linear);
        assert!((weight(&fitted) - auc).abs() < 1e-4, "AUC at C = {c}: {}", weight(&fitted));
        let fitted = learn(&SvmMap::default(), &linear);
        assert!((weight(&fitted) - map).abs() < 1e-4, "MAP at C = {c}: {}", weight(&fitted));
    }
}

#[test]
fn the_record_holds_the_certificate_and_counts_skipped_queries() {
    let fitted = learn(&SvmMap::default(), &LinearParameters { scale: false, ..LinearParameters::default() });
    assert_eq!(fitted.record.outcome, Outcome::Converged);
    let figure = |name: &str| fitted.record.figures.iter().find(|(n, _)| n == name).unwrap().1;
    let [primal, dual, gap] = ["primal objective", "dual objective", "relative duality gap"].map(figure);
    assert!((primal - 0.5 * 0.25 * 0.25).abs() < 1e-3 * primal && dual <= primal);
    assert!(gap <= 1e-3);
    assert!(fitted.record.notes.iter().any(|n| n.ends_with("another: 1")), "{:?}", fitted.record.notes);
}

#[test]
fn values_out_of_range_are_rejected_by_name() {
    let usual = LinearParameters::default();
    let wrong = [
        ("c", LinearParameters { c: 0.0, ..usual.clone() }),
        ("c", LinearParameters { c: f64::INFINITY, ..usual.clone() }),
        ("tolerance", LinearParameters { tolerance: 0.0, ..usual.clone() }),
        ("iterations", LinearParameters { iterations: 0, ..usual }),
    ];
    for (name, linear) in wrong {
        assert!(linear.check().unwrap_err().to_string().starts_with(&format!("{name} is ")));
    }
    let error = SvmAuc { threshold: f32::NAN }.check(ScorerKind::Linear).unwrap_err().to_string();
    assert!(error.starts_with("threshold is "), "{error}");
}

/// Identical rows: no weights change anything, which is known after one round.
#[test]
fn equal_rows_are_solved_at_once_with_a_note() {
    let data = |labels: Vec<f32>| {
        Dataset::new(Parts {
            features: Features::dense(2, vec![1.0; 8]),
            labels,
            bounds: vec![0, 4],
            query_ids: ["a"].into_iter().collect(),
            ..Parts::default()
        })
        .unwrap()
    };
    let metric = parse("map", &Conventions::default()).unwrap();
    for (labels, told) in [
        (vec![0.0, 1.0, 0.0, 2.0], "zero weights have the smallest loss"),
        (vec![1.0; 4], "prefer no document to another: 1"),
    ] {
        let train = data(labels);
        let task = Task::new(&train, metric.as_ref(), 1);
        let record = LinearParameters::default()
            .fit(&SvmMap::default(), &task, &mut Silent::default())
            .unwrap()
            .record;
        assert_eq!(record.outcome, Outcome::Converged);
        assert!(record.rounds <= 1 && record.notes[0].contains(told), "{record:?}");
    }
}
