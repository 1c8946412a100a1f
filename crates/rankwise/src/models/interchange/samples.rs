//! Models made by hand for the tests of this room.

use crate::data::Columns;
use crate::models::{Model, Ranker, TreeEnsemble};
use crate::trees::Tree;

/// Feature 0 at 1.5; to the right, feature 2 at −2. Missing goes right, then left.
pub(super) fn tree() -> Tree {
    Tree {
        features: vec![0, 2],
        thresholds: vec![1.5, -2.0],
        missing_left: vec![false, true],
        left: vec![!0, !1],
        right: vec![1, !2],
        gains: vec![3.0, 1.0],
        values: vec![10.0, 20.0, 30.0],
        covers: vec![5.0, 3.0, 2.0],
    }
}

/// Two trees and a constant, over three features without names.
pub(super) fn ranker() -> Ranker {
    let mut second = tree();
    second.features = vec![1, 0];
    second.scale(-0.125);
    let trees = vec![tree(), second, Tree::constant(0.25, 10.0)];
    let model = Model::Trees(TreeEnsemble::sum(3, 0.5, trees).unwrap());
    Ranker::of_model(model, Columns::default()).unwrap()
}
