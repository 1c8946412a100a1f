//! Why a document has its score: exact Shapley values of its features.
//!
//! For trees these are the path-dependent values of TreeSHAP (`lundberg2020local`): a feature that is left out is
//! averaged over, both ways of its tests weighted by the training documents that went there. They are computed here
//! as integrals (`owen1972multilinear`). On the way to a leaf of value v let `o_j` be 1 where the document passes all
//! tests of feature j, else 0, and let `z_j` be the product of the shares of documents that pass them. Then
//!
//! ```text
//! φ_i = Σ_leaves v·(o_i − z_i) ∫₀¹ ∏_{j≠i} (z_j·(1−t) + o_j·t) dt,
//! ```
//!
//! over the features tested on the way: a polynomial in t, so that Gauss–Legendre quadrature is exact. No number in
//! it is a difference of large ones, as in the original recursion, so that deep trees lose no digits.

use super::paths::Forest;
use super::{check_width, used_columns};
use crate::data::{Dataset, Row};
use crate::error::{Error, Result};
use crate::models::{Combine, LinearModel, Model, OrdinalModel, TreeEnsemble};
use rayon::prelude::*;

/// Documents that are explained together, whatever the number of threads: a leaf's tables are made once for them.
const CHUNK: usize = 64;

/// Tells what each feature of a document contributes to its score.
///
/// For trees the contributions are Shapley values, beside the score that is expected of a training document. For a
/// linear model they are `w_c·x_c`, beside the bias: it does not know the average document that they could be
/// compared with.
pub struct Explainer<'a> {
    model: &'a Model,
    base: f64,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Linear(&'a [f64]),
    Trees(Forest<'a>),
}

impl<'a> Explainer<'a> {
    /// An explainer of `model`; an error where its scores are no sums (a network, several outputs that are combined), or
    /// where its trees do not say how many documents reached their leaves.
    pub fn new(model: &'a Model) -> Result<Self> {
        let (base, kind) = match model {
            Model::Linear(LinearModel { weights, bias }) => (*bias, Kind::Linear(weights)),
            Model::Ordinal(OrdinalModel { weights, .. }) => (0.0, Kind::Linear(weights)),
            Model::Trees(ensemble) => {
                check_sum(ensemble)?;
                let forest = Forest::new(ensemble, &used_columns(model))?;
                (ensemble.base()[0] + forest.expectation(), Kind::Trees(forest))
            }
            Model::Network(_) => {
                return Err(Error::parameter(
                    "the model is a network, whose scores are no sums over features, so they cannot be explained; \
                     importance and partial dependence can be asked of it",
                ));
            }
        };
        Ok(Explainer { model, base, kind })
    }

    /// The score before any feature is known. A score is this and all contributions, summed.
    pub fn base(&self) -> f64 {
        self.base
    }

    /// Number of feature columns of the model.
    pub fn width(&self) -> usize {
        self.model.width()
    }

    /// For each of `documents` (by their numbers in `data`, which is as the model sees it), what every feature column
    /// of the model contributes to its score. Panics where there is no such document. The same for any number of
    /// threads.
    pub fn contributions(&self, data: &Dataset, documents: &[usize]) -> Result<Vec<Vec<f64>>> {
        check_width(self.model, data)?;
        let chunks: Vec<Vec<Vec<f64>>> = documents
            .par_chunks(CHUNK)
            .map(|chunk| {
                let rows: Vec<Row<'_>> = chunk.iter().map(|&document| data.row(document)).collect();
                let mut out = vec![vec![0.0; self.model.width()]; rows.len()];
                match &self.kind {
                    Kind::Linear(weights) => explain_linear(weights, &rows, &mut out),
                    Kind::Trees(forest) => forest.explain(&rows, &mut out),
                }
                out
            })
            .collect();
        let rows: Vec<Vec<f64>> = chunks.into_iter().flatten().collect();
        match rows.iter().position(|row| row.iter().any(|value| !value.is_finite())) {
            Some(i) => Err(Error::data(format!(
                "a feature of document {} contributes more to its score than a number can hold",
                documents[i] + 1
            ))),
            None => Ok(rows),
        }
    }
}

/// A missing value counts as 0, as it does in the score.
fn explain_linear(weights: &[f64], rows: &[Row<'_>], out: &mut [Vec<f64>]) {
    for (row, out) in rows.iter().zip(out) {
        for (column, x) in row.iter().filter(|(_, x)| !x.is_nan()) {
            out[column] = weights[column] * f64::from(x);
        }
    }
}

fn check_sum(ensemble: &TreeEnsemble) -> Result<()> {
    match ensemble.combine() {
        Combine::Sum => Ok(()),
        _ => Err(Error::parameter(
            "the model makes its scores from several outputs, so they are no sums of contributions and cannot be \
             explained; models whose trees add up to the score can",
        )),
    }
}
