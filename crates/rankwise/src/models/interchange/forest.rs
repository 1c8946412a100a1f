//! Trees and weights as search engines hold them: scored literally, in single precision, by the engine's own tests.
//!
//! Nothing here is shared with the writers, so that a mistake of theirs shows.

use super::foreign::quoted;
use crate::data::Columns;
use crate::error::{Error, Result};
use std::collections::HashMap;

/// How an engine scores a row.
pub(super) enum Engine {
    /// `Σ wᵢxᵢ`, what is missing being 0.
    Linear(Vec<(usize, f32)>),
    /// `bias + Σ wᵢxᵢ` in double precision, what is missing being 0.
    DoubleLinear(f64, Vec<(usize, f64)>),
    /// Weighted trees.
    Forest(Vec<(f32, Grown)>),
    /// The columns that a network takes, and its layers.
    Network(Vec<usize>, Vec<DenseLayer>),
    /// An engine that gets some columns in other units.
    Normalised(Vec<Norm>, Box<Engine>),
}

/// A layer of a network: a row of weights and a bias for each unit.
pub(super) struct DenseLayer {
    pub weights: Vec<Vec<f32>>,
    pub biases: Vec<f32>,
    pub activation: fn(f32) -> f32,
}

/// The column becomes `(x − average) / deviation`.
pub(super) struct Norm {
    pub column: usize,
    pub average: f32,
    pub deviation: f32,
    /// What a missing value counts as; NaN stays missing.
    pub missing: f32,
}

/// A tree: nodes by number, the root first, children after their parents.
#[derive(Default)]
pub(super) struct Grown(pub Vec<Node>);

pub(super) enum Node {
    Leaf(f32),
    Split {
        column: usize,
        threshold: f32,
        test: Test,
        /// Where a missing value goes; it counts as 0 where that is not said.
        missing_left: Option<bool>,
        left: usize,
        right: usize,
    },
}

/// When a value goes left.
#[derive(Clone, Copy)]
pub(super) enum Test {
    /// `x < threshold`
    Below,
    /// `x ≤ threshold`
    AtMost,
}

impl Engine {
    /// The engine's score of a row.
    pub(super) fn score(&self, row: &[f32]) -> f64 {
        let known = |column: usize| if row[column].is_nan() { 0.0 } else { row[column] };
        match self {
            Engine::Linear(weights) => {
                weights.iter().fold(0.0, |sum, &(column, weight)| sum + weight * known(column)).into()
            }
            Engine::DoubleLinear(bias, weights) => {
                weights.iter().fold(*bias, |sum, &(column, weight)| sum + weight * f64::from(known(column)))
            }
            Engine::Forest(trees) => {
                trees.iter().fold(0.0, |sum, (weight, tree)| sum + weight * tree.value(row)).into()
            }
            Engine::Network(columns, layers) => {
                let inputs = columns.iter().map(|&column| known(column)).collect();
                layers.iter().fold(inputs, |values, layer| layer.outputs(values))[0].into()
            }
            Engine::Normalised(norms, engine) => {
                let mut row = row.to_vec();
                norms.iter().for_each(|norm| norm.apply(&mut row));
                engine.score(&row)
            }
        }
    }

    /// Refuses what reaches beyond `width` columns.
    pub(super) fn check(&self, width: usize) -> Result<()> {
        match self.columns().into_iter().find(|column| *column >= width) {
            Some(beyond) => Err(Error::model(format!(
                "it asks for feature {} in order, and the model has {width}",
                beyond + 1
            ))),
            None => Ok(()),
        }
    }

    fn columns(&self) -> Vec<usize> {
        match self {
            Engine::Linear(weights) => weights.iter().map(|(column, _)| *column).collect(),
            Engine::DoubleLinear(_, weights) => weights.iter().map(|(column, _)| *column).collect(),
            Engine::Forest(trees) => trees.iter().flat_map(|(_, tree)| tree.columns()).collect(),
            Engine::Network(columns, _) => columns.clone(),
            Engine::Normalised(norms, engine) => {
                norms.iter().map(|norm| norm.column).chain(engine.columns()).collect()
            }
        }
    }
}

impl DenseLayer {
    fn outputs(&self, inputs: Vec<f32>) -> Vec<f32> {
        let unit = |(weights, bias): (&Vec<f32>, &f32)| {
            (self.activation)(weights.iter().zip(&inputs).fold(*bias, |sum, (w, x)| sum + w * x))
        };
        self.weights.iter().zip(&self.biases).map(unit).collect()
    }
}

impl Norm {
    fn apply(&self, row: &mut [f32]) {
        let x = row[self.column];
        let known = if x.is_nan() { self.missing } else { x };
        row[self.column] = (known - self.average) / self.deviation;
    }
}

impl Grown {
    fn value(&self, row: &[f32]) -> f32 {
        let mut at = 0;
        loop {
            match &self.0[at] {
                Node::Leaf(value) => return *value,
                Node::Split { column, threshold, test, missing_left, left, right } => {
                    let goes_left = match (row[*column], missing_left) {
                        (x, Some(told)) if x.is_nan() => *told,
                        (x, None) if x.is_nan() => test.passes(0.0, *threshold),
                        (x, _) => test.passes(x, *threshold),
                    };
                    at = if goes_left { *left } else { *right };
                }
            }
        }
    }

    fn columns(&self) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(|node| match node {
            Node::Leaf(_) => None,
            Node::Split { column, .. } => Some(*column),
        })
    }
}

impl Test {
    fn passes(self, x: f32, threshold: f32) -> bool {
        match self {
            Test::Below => x < threshold,
            Test::AtMost => x <= threshold,
        }
    }
}

/// The columns by what they are called.
pub(super) struct Names(HashMap<String, usize>);

impl Names {
    pub(super) fn of(columns: &Columns, width: usize) -> Names {
        Names((0..width).map(|column| (columns.name(column), column)).collect())
    }

    /// The column called `name`.
    pub(super) fn column(&self, name: &str) -> Result<usize> {
        self.0.get(name).copied().ok_or_else(|| {
            Error::model(format!("it asks for a feature {}, which the model does not have", quoted(name)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 where x₁ < 2, else −4 where x₀ ≤ 1 (missing: the right), else 7; and half of a constant 3.
    fn forest() -> Engine {
        let split = |column, threshold, test, missing_left, left, right| Node::Split {
            column,
            threshold,
            test,
            missing_left,
            left,
            right,
        };
        let tree = Grown(vec![
            split(1, 2.0, Test::Below, None, 1, 2),
            Node::Leaf(10.0),
            split(0, 1.0, Test::AtMost, Some(false), 3, 4),
            Node::Leaf(-4.0),
            Node::Leaf(7.0),
        ]);
        Engine::Forest(vec![(1.0, tree), (0.5, Grown(vec![Node::Leaf(3.0)]))])
    }

    #[test]
    fn rows_are_scored_by_hand() {
        let nan = f32::NAN;
        for (row, score) in
            [([0.0, 1.9], 11.5), ([1.0, 2.0], -2.5), ([1.1, 2.0], 8.5), ([nan, 2.0], 8.5), ([0.0, nan], 11.5)]
        {
            assert_eq!(forest().score(&row), score, "{row:?}");
        }
        let linear = Engine::Linear(vec![(1, 2.0), (0, -1.0)]);
        assert_eq!([[3.0, 4.0], [nan, 4.0]].map(|row| linear.score(&row)), [5.0, 8.0]);
        let double = Engine::DoubleLinear(0.1, vec![(1, 0.2)]);
        assert_eq!([[9.0, 3.0], [9.0, nan]].map(|row| double.score(&row)), [0.1 + 0.2 * 3.0, 0.1]);
        assert!(forest().check(2).is_ok());
        assert!(forest().check(1).unwrap_err().to_string().contains("feature 2 in order"));
        assert!(linear.check(0).is_err() && double.check(1).is_err());
    }

    /// Two hidden units, max(0, 1 + 2a − b) and max(0, −3 + a), where a is (x₁ − 10) / 4 and b is x₀; then the first
    /// less twice the second, plus a half.
    #[test]
    fn a_network_is_scored_by_hand() {
        let network = || {
            let hidden = DenseLayer {
                weights: vec![vec![2.0, -1.0], vec![1.0, 0.0]],
                biases: vec![1.0, -3.0],
                activation: |x| x.max(0.0),
            };
            let last = DenseLayer { weights: vec![vec![1.0, -2.0]], biases: vec![0.5], activation: |x| x };
            Engine::Network(vec![1, 0], vec![hidden, last])
        };
        let norm = |missing| Norm { column: 1, average: 10.0, deviation: 4.0, missing };
        let engine = Engine::Normalised(vec![norm(0.0)], Box::new(network()));
        let nan = f32::NAN;
        for (row, score) in [([0.5, 12.0], 2.0), ([0.0, 30.0], 7.5), ([nan, 10.0], 1.5), ([-6.0, nan], 2.5)] {
            assert_eq!(engine.score(&row), score, "{row:?}");
        }
        assert!(engine.check(2).is_ok() && engine.check(1).is_err());
        let stays = Engine::Normalised(vec![norm(nan)], Box::new(forest()));
        assert_eq!(stays.score(&[1.0, nan]), forest().score(&[1.0, nan]));
    }
}
