//! A risk whose loss weights its terms by the order of the documents, with the order of given weights held fast.

use super::objective::{LinearRisk, Objective};
use crate::losses::{Reweighted, ScoredQuery};

/// The risk of a linear model in the order that an anchor gives: a function with a derivative, where the risk itself has
/// none. The scores of the anchor are worked out anew each time, which costs little beside keeping every pair's weight.
pub struct HeldRisk<'a, 'd, L> {
    risk: &'a LinearRisk<'d, L>,
    /// In the units of the data.
    anchor: Vec<f64>,
}

impl<'d, L: Reweighted> LinearRisk<'d, L> {
    /// The risk in the order that `w` gives.
    pub fn held_at<'a>(&'a self, w: &[f64]) -> HeldRisk<'a, 'd, L> {
        HeldRisk { risk: self, anchor: self.in_data_units(w).into_owned() }
    }
}

impl<L: Reweighted> Objective for HeldRisk<'_, '_, L> {
    fn dim(&self) -> usize {
        self.risk.dim()
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let parts = self.risk.over_queries(w, |_, query, scores, slopes| {
            let mut anchor = vec![0.0; query.len()];
            query.dot(&self.anchor, &mut anchor);
            let scored = ScoredQuery { labels: query.labels(), scores, seed: self.risk.seed(query) };
            self.risk.loss().value_and_gradient_in_order(scored, &anchor, slopes)
        });
        super::objective::total_of(parts, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::losses::{Lambda, LambdaMeasure};
    use crate::rng;
    use rand::RngExt;

    /// With the order held fast the gradient is the slope of the value, wherever the weights go, and at the anchor itself
    /// both are those of the present order.
    #[test]
    fn gradients_agree_with_finite_differences() {
        let mut random = rng::stream(1, &[]);
        let data = Dataset::dense(
            (0..60).map(|_| random.random::<f32>()).collect(),
            3,
            (0..20).map(|_| random.random_range(0..3) as f32).collect(),
            &[8, 12],
        )
        .unwrap();
        let risk = LinearRisk::new(&data, Lambda::of_lambda_loss(), 1).scaled();
        let anchor = [0.5, -1.0, 0.3];
        let held = risk.held_at(&anchor);
        let (mut gradient, mut scratch) = (vec![0.0; 3], vec![0.0; 3]);
        assert_eq!(
            held.value_and_gradient(&anchor, &mut gradient),
            risk.value_and_gradient(&anchor, &mut scratch)
        );
        assert_eq!(gradient, scratch);
        let w = [-0.7, 0.2, 0.4];
        held.value_and_gradient(&w, &mut gradient);
        for i in 0..3 {
            let mut at = |step: f64| {
                let mut moved = w;
                moved[i] += step;
                held.value_and_gradient(&moved, &mut scratch)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - gradient[i]).abs() < 1e-8, "{slope} for {}", gradient[i]);
        }
        let map = LinearRisk::new(&data, Lambda::of(LambdaMeasure::Map), 1);
        assert!(map.held_at(&anchor).value_and_gradient(&w, &mut gradient) > 0.0);
    }
}
