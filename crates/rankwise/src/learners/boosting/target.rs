//! What the trees minimise: gradients with respect to the scores of all documents.

use crate::data::Dataset;
use crate::error::Result;
use crate::learners::CustomGradients;
use crate::losses::{QueryLoss, ScoredQuery};
use crate::parallel;
use crate::rng;

/// A loss of the outputs of all documents.
pub(super) trait Target: Sync {
    /// Outputs per document; a round grows one tree for each.
    fn outputs(&self) -> usize {
        1
    }

    /// First and second derivatives of the loss at `scores`, one array per output.
    fn gradients(
        &self,
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
        &self,
        scores: &[Vec<f64>],
        round: u64,
        slopes: &mut [Vec<f64>],
        curvatures: &mut [Vec<f64>],
    ) -> Result<()> {
        let slopes = by_query(self.data, &mut slopes[0]);
        let curvatures = by_query(self.data, &mut curvatures[0]);
        parallel::for_each(slopes.into_iter().zip(curvatures).enumerate(), |(q, (slopes, curvatures))| {
            let query = self.data.query(q);
            let seed = rng::derive(self.seed, &[q as u64, round]);
            let scored = ScoredQuery { labels: query.labels(), scores: &scores[0][query.range()], seed };
            self.loss.newton(scored, slopes, curvatures);
            stand_in(slopes, curvatures);
            let weight = query.weight();
            if weight != 1.0 {
                slopes.iter_mut().chain(curvatures).for_each(|x| *x *= weight);
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
        &self,
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

/// A hinge has no curvature. With |g| in its place, the value of a leaf is the normalised sum of its
/// documents' gradients, between −1 and 1, whatever the scale of the loss.
fn stand_in(slopes: &[f64], curvatures: &mut [f64]) {
    if curvatures.iter().all(|&h| h == 0.0) {
        curvatures.iter_mut().zip(slopes).for_each(|(h, g)| *h = g.abs());
    }
}

/// An array of all documents, split by query.
pub(super) fn by_query<'a>(data: &Dataset, mut whole: &'a mut [f64]) -> Vec<&'a mut [f64]> {
    data.queries()
        .map(|query| {
            let (piece, rest) = std::mem::take(&mut whole).split_at_mut(query.len());
            whole = rest;
            piece
        })
        .collect()
}
