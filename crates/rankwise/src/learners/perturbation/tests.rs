//! Solutions worked out by hand, and a check that the parameters reach the loss.

use super::Version;
use super::max_max::MaxMax;
use super::min_perturb::MinPerturb;
use super::tie_random::TieRandom;
use crate::data::{Dataset, Features, Parts};
use crate::learners::{LinearParameters, LossLearner, LossScorer, ScorerKind, Task};
use crate::metrics::{Conventions, parse};
use crate::models::{LinearModel, Model};
use crate::watch::Silent;

/// One query, one feature: label 1 at x = 1, label 0 at x = 0.
fn two_documents() -> Dataset {
    Dataset::new(Parts {
        features: Features::dense(1, vec![1.0, 0.0]),
        labels: vec![1.0, 0.0],
        bounds: vec![0, 2],
        query_ids: ["a"].into_iter().collect(),
        ..Parts::default()
    })
    .unwrap()
}

fn weight<L: LossLearner>(learner: &L, c: f64) -> f64 {
    let (train, metric) = (two_documents(), parse("map", &Conventions::default()).unwrap());
    let task = Task::new(&train, metric.as_ref(), 1);
    let linear = LinearParameters { c, tolerance: 1e-9, scale: false, ..LinearParameters::default() };
    match linear.fit(learner, &task, &mut Silent::default()).unwrap().model {
        Model::Linear(LinearModel { weights, .. }) => weights[0],
        other => panic!("{other:?} is not linear"),
    }
}

/// ν = 1 and Z = 1, so `min ½w² + C·[Δ − w]₊` is at `min(C, Δ)`.
#[test]
fn the_smallest_perturbation_of_two_documents_by_hand() {
    for (c, margin, expected) in [(0.05, 0.1, 0.05), (3.0, 0.1, 0.1), (3.0, 2.0, 2.0)] {
        let weight = weight(&MinPerturb { margin, ..MinPerturb::default() }, c);
        assert!((weight - expected).abs() < 1e-4, "C = {c}, Δ = {margin}: {weight}");
    }
}

/// The one wrong ranking loses `1 − 1/log₂3`, at the top 1, and trails by `w·(1 − 1/√2)`, at the top `w`:
/// `min ½w² + C·[loss − lead·w]₊` is at `min(C·lead, loss/lead)`. There is one perfect ranking, so both
/// agree.
#[test]
fn the_hinges_of_two_documents_by_hand() {
    let (full, top) = ((1.0 - 3_f64.log2().recip(), 1.0 - 0.5_f64.sqrt()), (1.0, 1.0));
    for (version, (loss, lead)) in [(Version::Full, full), (Version::Top, top)] {
        for c in [0.1, 0.5, 20.0] {
            let expected = (c * lead).min(loss / lead);
            let random = weight(&TieRandom { version, ..TieRandom::default() }, c);
            let all = weight(&MaxMax { version, ..MaxMax::default() }, c);
            assert!((random - expected).abs() < 1e-4, "{version:?}, C = {c}: {random} for {expected}");
            assert!((all - expected).abs() < 1e-4, "{version:?}, C = {c}: {all} for {expected}");
        }
    }
}

#[test]
fn values_out_of_range_are_rejected_by_name() {
    let refused = |learner: &dyn Fn() -> crate::error::Result<()>, name: &str| {
        assert!(learner().unwrap_err().to_string().starts_with(&format!("{name} is ")));
    };
    refused(&|| MinPerturb { margin: 0.0, ..MinPerturb::default() }.check(ScorerKind::Linear), "margin");
    refused(&|| MaxMax { decay: -1.0, ..MaxMax::default() }.check(ScorerKind::Linear), "decay");
    refused(&|| TieRandom { decay: f64::NAN, ..TieRandom::default() }.check(ScorerKind::Linear), "decay");
    refused(&|| TieRandom { draws: 0, ..TieRandom::default() }.check(ScorerKind::Trees), "draws");
}
