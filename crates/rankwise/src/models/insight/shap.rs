//! Why a document has its score: exact Shapley values of its features.
//!
//! For trees these are the path-dependent values of TreeSHAP (`lundberg2020local`): a feature that is left out is
//! averaged over, both ways of its tests weighted by the training documents that went there. They are computed here
//! as integrals (`owen1972multilinear`). On the way to a leaf of value v let `o_j` be 1 where the document passes all
//! tests of feature j, else 0, and let `z_j` be the product of the fractions of documents that pass them. Then
//!
//! ```text
//! φ_i = Σ_leaves v·(o_i − z_i) ∫₀¹ ∏_{j≠i} (z_j·(1−t) + o_j·t) dt,
//! ```
//!
//! over the features tested on the way: a polynomial in t, so that Gauss–Legendre quadrature is exact. No number in
//! it is a difference of large ones, as in the original recursion, so that deep trees lose no digits.

use crate::data::{Dataset, Row};
use crate::error::{Error, Result};
use crate::models::Model;
use crate::parallel;
use crate::watch::{Progress, Watch};

/// Documents that are explained together, whatever the number of threads: a leaf's tables are made once for them.
const CHUNK: usize = 64;

/// Values that are held in memory at a time while many documents are explained.
const BLOCK_VALUES: usize = 1 << 22;
/// The most documents between two reports of progress.
const BLOCK_DOCUMENTS: usize = 1 << 10;

/// Computes the contributions of features, for one shape of model.
pub(in crate::models) trait Explain: Send + Sync {
    /// The score before any feature is known.
    fn base(&self) -> f64;

    /// What the base is, in a table.
    fn base_name(&self) -> &'static str;

    /// Sets what every feature column contributes to the score of each of `rows`. `out` is 0 before.
    fn explain(&self, rows: &[Row<'_>], out: &mut [Vec<f64>]);
}

/// Computes what each feature of a document contributes to its score.
///
/// For trees the contributions are Shapley values, and the base is the expected score of a training document. For a
/// linear model they are `w_c·x_c`, and the base is the bias, since the model does not know the average document.
pub struct Explainer<'a> {
    model: &'a Model,
    explain: Box<dyn Explain + 'a>,
}

impl<'a> Explainer<'a> {
    /// An explainer of `model`. Fails if its scores are not sums of contributions (a neural network, or several
    /// outputs that are combined), or if its trees do not record how many documents reached their leaves.
    pub fn new(model: &'a Model) -> Result<Self> {
        Ok(Explainer { model, explain: model.shape().explain()? })
    }

    /// The score before any feature is known. The base and all contributions sum to the score.
    pub fn base(&self) -> f64 {
        self.explain.base()
    }

    /// What the base is, in a few words for a table.
    pub fn base_name(&self) -> &'static str {
        self.explain.base_name()
    }

    /// Number of feature columns of the model.
    pub fn width(&self) -> usize {
        self.model.width()
    }

    /// Why document `a` scores higher or lower than document `b`: what every feature column contributes to the score of
    /// `a`, less what it contributes to that of `b`. The differences sum to the difference of the scores.
    pub fn difference(&self, data: &Dataset, a: usize, b: usize) -> Result<Vec<f64>> {
        let both = self.contributions(data, &[a, b])?;
        Ok(both[0].iter().zip(&both[1]).map(|(a, b)| a - b).collect())
    }

    /// Like [`contributions`](Self::contributions), for any number of documents: `each` gets them block by block. A step
    /// of `watch` is a document.
    pub fn contributions_by_block(
        &self,
        data: &Dataset,
        documents: &[usize],
        watch: &mut dyn Watch,
        mut each: impl FnMut(&[usize], Vec<Vec<f64>>) -> Result<()>,
    ) -> Result<()> {
        let block = (BLOCK_VALUES / self.width().max(1)).clamp(1, BLOCK_DOCUMENTS);
        let (mut done, total) = (0, Some(documents.len() as u64));
        for documents in documents.chunks(block) {
            each(documents, self.contributions(data, documents)?)?;
            done += documents.len() as u64;
            watch.step(Progress { done, total, what: "", value: 0.0 });
            if watch.stop().requested() {
                return Err(Error::interrupted("stopped before every document was explained"));
            }
        }
        Ok(())
    }

    /// For each of `documents` (by their numbers in `data`, which is prepared), what every feature column of the model
    /// contributes to its score. Panics if there is no such document. The same for any number of threads.
    pub fn contributions(&self, data: &Dataset, documents: &[usize]) -> Result<Vec<Vec<f64>>> {
        self.model.check_width(data.width())?;
        let chunks: Vec<Vec<Vec<f64>>> = parallel::map(documents.chunks(CHUNK), |chunk| {
            let rows: Vec<Row<'_>> = chunk.iter().map(|&document| data.row(document)).collect();
            let mut out = vec![vec![0.0; self.model.width()]; rows.len()];
            self.explain.explain(&rows, &mut out);
            out
        });
        let rows: Vec<Vec<f64>> = chunks.into_iter().flatten().collect();
        match rows.iter().position(|row| row.iter().any(|value| !value.is_finite())) {
            Some(i) => Err(Error::data(format!(
                "the contribution of a feature to the score of document {} is too large for a number",
                documents[i] + 1
            ))),
            None => Ok(rows),
        }
    }
}
