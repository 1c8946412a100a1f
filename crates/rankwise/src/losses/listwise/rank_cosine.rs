//! RankCosine (Qin, Zhang, Tsai, Wang, Liu and Li, Information Processing and Management 2008): the angle between the
//! vector of scores and the vector of labels.
//!
//! ```text
//! L(s) = ½ (1 − a·b / (‖a‖ √(‖b‖² + nε²))) ,     a = r − mean r ,  b = s − mean s
//! ```
//! This differs from the paper in two ways. First, the means of scores and labels are subtracted, because a ranking
//! does not depend on an offset; with `centred` false they are not, as in the paper. Second, the cosine is undefined
//! at equal scores, where training starts, and it does not depend on the scale of the scores, so regularised weights
//! would have no optimum. ε, in the units of scores, fixes both. For scores much larger than ε, the loss is that of
//! the paper.
//!
//! Values are from 0 to 1; not convex. O(n).

use super::super::{QueryLoss, ScoredQuery};
use crate::card::Card;
use crate::rank::grade;

pub(in super::super) const CARD: Card = Card {
    name: "rank-cosine",
    title: "Cosine of scores and labels (RankCosine)",
    summary: "Half of one minus the cosine between the centred vectors of scores and labels.",
    citations: &["qin2008query"],
};

/// Half of one minus the cosine between scores and labels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankCosine {
    /// ε: the scale of scores below which the loss is damped, above 0.
    pub unit: f64,
    /// Whether to subtract the means of scores and labels.
    pub centred: bool,
}

impl Default for RankCosine {
    fn default() -> Self {
        RankCosine { unit: 1.0, centred: true }
    }
}

impl RankCosine {
    /// The labels as a unit vector; `None` if they are all 0.
    fn direction(&self, labels: &[f32]) -> Option<Vec<f64>> {
        let mut wanted: Vec<f64> = labels.iter().map(|&label| grade(label).into()).collect();
        // Not by the mean, which may be rounded.
        if self.centred && wanted.iter().all(|x| *x == wanted[0]) {
            return None;
        }
        self.centre(&mut wanted);
        let largest = wanted.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
        wanted.iter_mut().for_each(|x| *x /= largest);
        let length = norm(&wanted);
        wanted.iter_mut().for_each(|x| *x /= length);
        (largest > 0.0).then_some(wanted)
    }

    fn centre(&self, vector: &mut [f64]) {
        if self.centred {
            let mean = vector.iter().sum::<f64>() / vector.len() as f64;
            vector.iter_mut().for_each(|x| *x -= mean);
        }
    }

    /// √(‖b‖² + nε²), with b the scores.
    fn length(&self, scores: &[f64]) -> f64 {
        norm(scores).hypot(self.unit * (scores.len() as f64).sqrt())
    }
}

impl QueryLoss for RankCosine {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let Some(wanted) = self.direction(query.labels) else { return 0.0 };
        let mut scores = query.scores.to_vec();
        self.centre(&mut scores);
        let length = self.length(&scores);
        let cosine = wanted.iter().zip(&scores).map(|(a, b)| a * b).sum::<f64>() / length;
        for ((g, a), b) in gradient.iter_mut().zip(&wanted).zip(&scores) {
            *g = -0.5 * (a - cosine * b / length) / length;
        }
        0.5 * (1.0 - cosine)
    }

    /// `1/(2(‖b‖² + nε²))`: L is a quarter of the squared distance between the directions of scores and labels, and
    /// this is its second derivative with the norm of the scores fixed.
    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        let mut scores = query.scores.to_vec();
        self.centre(&mut scores);
        let length = self.length(&scores);
        curvature.fill(if self.has_signal(query.labels) { 0.5 / (length * length) } else { 0.0 });
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.direction(labels).is_some()
    }
}

fn norm(vector: &[f64]) -> f64 {
    vector.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(loss: RankCosine, labels: &[f32], scores: &[f64]) -> f64 {
        loss.value_and_gradient(ScoredQuery { labels, scores, seed: 0 }, &mut vec![f64::NAN; labels.len()])
    }

    /// Angles of 0, 60, 90 and 180 degrees, with scores so large that ε is negligible.
    #[test]
    fn angles_by_hand() {
        let plain = RankCosine { unit: 1e-3, centred: false };
        let angles =
            [([1.0, 0.0], 0.0), ([0.5, 0.75_f64.sqrt()], 0.25), ([0.0, 1.0], 0.5), ([-1.0, 0.0], 1.0)];
        for (scores, expected) in angles {
            let found = value(plain, &[2.0, 0.0], &scores.map(|s| 1e6 * s));
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
        // After subtracting the means, two documents are either in the right order or in the wrong one.
        let centred = RankCosine { centred: true, ..plain };
        assert!(value(centred, &[2.0, f32::NAN], &[1e6, 3.0]) < 1e-12);
        assert!(value(centred, &[2.0, 0.0], &[1.0, 1e6]) > 1.0 - 1e-12);
    }

    /// Scores 3, 1, 1, −1 minus their mean are 2, 0, 0, −2, with norm √8; labels 1, 0, 0, −1 minus theirs have norm
    /// √2.
    #[test]
    fn epsilon_by_hand() {
        let expected = 0.5 * (1.0 - 4.0 / (2_f64.sqrt() * (8.0_f64 + 4.0 * 0.25).sqrt()));
        let found =
            value(RankCosine { unit: 0.5, centred: true }, &[2.0, 1.0, 1.0, 0.0], &[3.0, 1.0, 1.0, -1.0]);
        assert!((found - expected).abs() < 1e-15);
        assert_eq!(value(RankCosine::default(), &[2.0, 1.0], &[7.0, 7.0]), 0.5);
    }
}
