//! What the trees minimise: gradients with respect to the scores of all documents.

use crate::data::Dataset;
use crate::error::Result;
use crate::learners::CustomGradients;
use crate::losses::{QueryLoss, ScoredQuery};
use crate::parallel;
use crate::rng;
use std::ops::Range;

/// The minimum number of documents in a task of its own.
const DOCUMENTS: usize = 256;

/// A loss of the outputs of all documents.
pub(super) trait Target: Sync {
    /// Outputs per document; a round grows one tree for each.
    fn outputs(&self) -> usize {
        1
    }

    /// First and second derivatives of the loss at `scores`, one array per output.
    fn gradients(
        &mut self,
        scores: &[Vec<f64>],
        round: u64,
        slopes: &mut [Vec<f64>],
        curvatures: &mut [Vec<f64>],
    ) -> Result<()>;
}

/// The weighted mean of a loss over queries.
pub(super) struct MeanLoss<'a, L> {
    pub(super) data: &'a Dataset,
    pub(super) loss: L,
    pub(super) seed: u64,
}

impl<L: QueryLoss> Target for MeanLoss<'_, L> {
    fn gradients(
        &mut self,
        scores: &[Vec<f64>],
        round: u64,
        slopes: &mut [Vec<f64>],
        curvatures: &mut [Vec<f64>],
    ) -> Result<()> {
        let blocks = blocks(self.data);
        let slopes = split(&blocks, self.data, &mut slopes[0]);
        let curvatures = split(&blocks, self.data, &mut curvatures[0]);
        parallel::for_each(blocks.into_iter().zip(slopes.into_iter().zip(curvatures)), |(block, both)| {
            let (slopes, curvatures) = both;
            let scored = block.clone().map(|q| {
                let query = self.data.query(q);
                let seed = rng::derive(self.seed, &[query.number(), round]);
                ScoredQuery { labels: query.labels(), scores: &scores[0][query.range()], seed }
            });
            self.loss.newton_each(&scored.collect::<Vec<_>>(), slopes, curvatures);
            let start = self.data.bounds()[block.start];
            for query in block.map(|q| self.data.query(q)) {
                let own = query.range().start - start..query.range().end - start;
                let (slopes, curvatures) = (&mut slopes[own.clone()], &mut curvatures[own]);
                stand_in(slopes, curvatures);
                let weight = query.weight();
                if weight != 1.0 {
                    slopes.iter_mut().chain(curvatures).for_each(|x| *x *= weight);
                }
            }
        });
        Ok(())
    }
}

/// A caller's own gradients of all queries at once, weighted by query.
pub(super) struct OwnGradients<'a> {
    pub(super) data: &'a Dataset,
    pub(super) custom: &'a CustomGradients,
}

impl Target for OwnGradients<'_> {
    fn gradients(
        &mut self,
        scores: &[Vec<f64>],
        _: u64,
        slopes: &mut [Vec<f64>],
        curvatures: &mut [Vec<f64>],
    ) -> Result<()> {
        let (slopes, curvatures) = (&mut slopes[0], &mut curvatures[0]);
        self.custom.compute(self.data, &scores[0], slopes, curvatures)?;
        for query in self.data.queries().filter(|query| query.weight() != 1.0) {
            let both = slopes[query.range()].iter_mut().chain(&mut curvatures[query.range()]);
            both.for_each(|x| *x *= query.weight());
        }
        Ok(())
    }
}

/// Consecutive queries with at least [`DOCUMENTS`] documents together, except for the last.
pub(super) fn blocks(data: &Dataset) -> Vec<Range<usize>> {
    let (mut blocks, mut start) = (Vec::new(), 0);
    for (q, query) in data.queries().enumerate() {
        if query.range().end - data.bounds()[start] >= DOCUMENTS || q + 1 == data.query_count() {
            blocks.push(start..q + 1);
            start = q + 1;
        }
    }
    blocks
}

/// A hinge has no curvature. With |g| in its place, the value of a leaf is the normalised sum of its
/// documents' gradients, between −1 and 1, whatever the scale of the loss.
fn stand_in(slopes: &[f64], curvatures: &mut [f64]) {
    if curvatures.iter().all(|&h| h == 0.0) {
        curvatures.iter_mut().zip(slopes).for_each(|(h, g)| *h = g.abs());
    }
}

/// An array of all documents, split by query.
pub(super) fn by_query<'a>(data: &Dataset, whole: &'a mut [f64]) -> Vec<&'a mut [f64]> {
    split(&(0..data.query_count()).map(|q| q..q + 1).collect::<Vec<_>>(), data, whole)
}

/// An array of all documents, split by blocks of queries.
pub(super) fn split<'a>(
    blocks: &[Range<usize>],
    data: &Dataset,
    mut whole: &'a mut [f64],
) -> Vec<&'a mut [f64]> {
    let pieces = blocks.iter().map(|block| {
        let documents = data.bounds()[block.end] - data.bounds()[block.start];
        let (piece, rest) = std::mem::take(&mut whole).split_at_mut(documents);
        whole = rest;
        piece
    });
    pieces.collect()
}
