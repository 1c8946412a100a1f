//! What can be worked out by hand, and what the certificate and the record say.

use super::svm_auc::SvmAuc;
use super::svm_map::SvmMap;
use crate::data::Dataset;
use crate::learners::{Fitted, Learner, Start, Task};
use crate::metrics::{Conventions, parse};
use crate::models::{LinearModel, Model, Outcome};
use crate::watch::Silent;

/// One feature; a query with one good (1) and one bad (0) document, and one with nothing relevant.
fn two_documents() -> Dataset {
    Dataset::dense(vec![1.0, 0.0, 5.0], 1, vec![1.0, 0.0, 0.0], &[2, 1]).unwrap()
}

fn learn(learner: &impl Learner) -> Fitted {
    let (train, metric) = (two_documents(), parse("map", &Conventions::default()).unwrap());
    let task = Task { train: &train, valid: None, metric: metric.as_ref(), seed: 1, start: Start::default() };
    learner.fit(&task, &mut Silent::default()).unwrap()
}

fn weight(fitted: &Fitted) -> f64 {
    let Model::Linear(LinearModel { weights, .. }) = &fitted.model else { panic!("a linear model") };
    weights[0]
}

/// The one wrong ranking has Δ = 1 for AUC and ½ for AP, and lead 2w: `min ½w² + C·[Δ − 2w]₊` is at `w = 2C`
/// while that is short of the margin, else at `w = Δ/2`.
#[test]
fn two_documents_by_hand() {
    for (c, auc, map) in [(0.1, 0.2, 0.2), (0.2, 0.4, 0.25), (10.0, 0.5, 0.25)] {
        let (gap, scale) = (1e-9, false);
        let fitted = learn(&SvmAuc { c, gap, scale, ..SvmAuc::default() });
        assert!((weight(&fitted) - auc).abs() < 1e-4, "AUC at C = {c}: {}", weight(&fitted));
        let fitted = learn(&SvmMap { c, gap, scale, ..SvmMap::default() });
        assert!((weight(&fitted) - map).abs() < 1e-4, "MAP at C = {c}: {}", weight(&fitted));
    }
}

#[test]
fn the_record_holds_the_certificate_and_counts_skipped_queries() {
    let fitted = learn(&SvmMap { scale: false, ..SvmMap::default() });
    assert_eq!(fitted.record.outcome, Outcome::Converged);
    let figure = |name: &str| fitted.record.figures.iter().find(|(n, _)| n == name).unwrap().1;
    let [primal, dual, gap] = ["primal objective", "dual objective", "relative duality gap"].map(figure);
    assert!((primal - 0.5 * 0.25 * 0.25).abs() < 1e-3 * primal && dual <= primal);
    assert!(gap <= 1e-3);
    assert!(fitted.record.notes.iter().any(|n| n.ends_with("order: 1")), "{:?}", fitted.record.notes);
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let wrong = [
        ("c", SvmAuc { c: 0.0, ..SvmAuc::default() }),
        ("c", SvmAuc { c: f64::INFINITY, ..SvmAuc::default() }),
        ("gap", SvmAuc { gap: 0.0, ..SvmAuc::default() }),
        ("rounds", SvmAuc { rounds: 0, ..SvmAuc::default() }),
        ("threshold", SvmAuc { threshold: f32::NAN, ..SvmAuc::default() }),
    ];
    for (name, learner) in wrong {
        assert!(learner.check().unwrap_err().to_string().starts_with(&format!("{name} is ")));
    }
}

/// Rows that are all the same: no weights change anything, which is certain after a round.
#[test]
fn equal_rows_are_solved_at_once_and_told() {
    let data = |labels: Vec<f32>| Dataset::dense(vec![1.0; 8], 2, labels, &[4]).unwrap();
    let metric = parse("map", &Conventions::default()).unwrap();
    for (labels, told) in [
        (vec![0.0, 1.0, 0.0, 2.0], "no weights have a smaller loss"),
        (vec![1.0; 4], "no training query asks for any order"),
    ] {
        let train = data(labels);
        let task =
            Task { train: &train, valid: None, metric: metric.as_ref(), seed: 1, start: Start::default() };
        let record = SvmMap::default().fit(&task, &mut Silent::default()).unwrap().record;
        assert_eq!(record.outcome, Outcome::Converged);
        assert!(record.rounds <= 1 && record.notes[0].contains(told), "{record:?}");
    }
}
