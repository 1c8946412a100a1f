//! What can be worked out by hand, and that the parameters reach the loss.

use super::Version;
use super::max_max::MaxMax;
use super::min_perturb::MinPerturb;
use super::tie_random::TieRandom;
use crate::data::Dataset;
use crate::learners::{Learner, Start, Task};
use crate::metrics::{Conventions, parse};
use crate::models::{LinearModel, Model};
use crate::watch::Silent;

/// One query, one feature: grade 1 at x = 1, grade 0 at x = 0.
fn two_documents() -> Dataset {
    Dataset::dense(vec![1.0, 0.0], 1, vec![1.0, 0.0], &[2]).unwrap()
}

fn weight(learner: &impl Learner) -> f64 {
    let (train, metric) = (two_documents(), parse("map", &Conventions::default()).unwrap());
    let task = Task { train: &train, valid: None, metric: metric.as_ref(), seed: 1, start: Start::default() };
    match learner.fit(&task, &mut Silent::default()).unwrap().model {
        Model::Linear(LinearModel { weights, .. }) => weights[0],
        other => panic!("{other:?} is not linear"),
    }
}

/// ν = 1 and Z = 1, so `min ½w² + C·[Δ − w]₊` is at `min(C, Δ)`.
#[test]
fn the_least_perturbation_of_two_documents_by_hand() {
    for (c, margin, expected) in [(0.05, 0.1, 0.05), (3.0, 0.1, 0.1), (3.0, 2.0, 2.0)] {
        let learner = MinPerturb { c, margin, gap: 1e-9, scale: false, ..MinPerturb::default() };
        assert!((weight(&learner) - expected).abs() < 1e-4, "C = {c}, Δ = {margin}: {}", weight(&learner));
    }
}

/// The one wrong ranking loses `1 − 1/log₂3`, at the top 1, and trails by `w·(1 − 1/√2)`, at the top `w`:
/// `min ½w² + C·[loss − lead·w]₊` is at `min(C·lead, loss/lead)`. There is one perfect ranking, so both agree.
#[test]
fn the_hinges_of_two_documents_by_hand() {
    let (full, top) = ((1.0 - 3_f64.log2().recip(), 1.0 - 0.5_f64.sqrt()), (1.0, 1.0));
    for (version, (loss, lead)) in [(Version::Full, full), (Version::Top, top)] {
        for c in [0.1, 0.5, 20.0] {
            let expected = (c * lead).min(loss / lead);
            let (gap, scale) = (1e-9, false);
            let random = weight(&TieRandom { c, gap, scale, version, ..TieRandom::default() });
            let all = weight(&MaxMax { c, gap, scale, version, ..MaxMax::default() });
            assert!((random - expected).abs() < 1e-4, "{version:?}, C = {c}: {random} for {expected}");
            assert!((all - expected).abs() < 1e-4, "{version:?}, C = {c}: {all} for {expected}");
        }
    }
}

#[test]
fn values_out_of_range_are_refused_by_name() {
    let refused = |learner: &dyn Fn() -> crate::error::Result<()>, name: &str| {
        assert!(learner().unwrap_err().to_string().starts_with(&format!("{name} is ")));
    };
    refused(&|| MinPerturb { margin: 0.0, ..MinPerturb::default() }.check(), "margin");
    refused(&|| MaxMax { decay: -1.0, ..MaxMax::default() }.check(), "decay");
    refused(&|| TieRandom { decay: f64::NAN, ..TieRandom::default() }.check(), "decay");
    refused(&|| TieRandom { rounds: 0, ..TieRandom::default() }.check(), "rounds");
}
