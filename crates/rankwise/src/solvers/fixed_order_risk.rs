//! The risk of a loss that weights its terms by the current ranking, with the ranking fixed.

use super::objective::{LinearRisk, Objective};
use crate::losses::{Reweighted, ScoredQuery};

/// The risk of a linear model, with the ranking fixed to that of given weights (the anchor). It is differentiable,
/// while the risk itself is not. The scores of the anchor are recomputed at every evaluation, which costs less than
/// storing a weight per pair.
pub struct FixedOrderRisk<'a, 'd, L> {
    risk: &'a LinearRisk<'d, L>,
    /// The anchor in the units of the data.
    anchor: Vec<f64>,
}

impl<'d, L: Reweighted> LinearRisk<'d, L> {
    /// The risk with every ranking fixed to the ranking by `w`.
    pub fn in_order_of<'a>(&'a self, w: &[f64]) -> FixedOrderRisk<'a, 'd, L> {
        FixedOrderRisk { risk: self, anchor: self.in_data_units(w).into_owned() }
    }
}

impl<L: Reweighted> Objective for FixedOrderRisk<'_, '_, L> {
    fn dim(&self) -> usize {
        self.risk.dim()
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        self.risk.over_all_queries(w, gradient, |_, query, scores, slopes| {
            let mut anchor = vec![0.0; query.len()];
            query.dot(&self.anchor, &mut anchor);
            let scored = ScoredQuery { labels: query.labels(), scores, seed: self.risk.seed(query) };
            self.risk.loss().value_and_gradient_in_order(scored, &anchor, slopes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Dataset;
    use crate::losses::{Lambda, LambdaMetric};
    use crate::rng;
    use rand::RngExt;

    /// With the ranking fixed, the gradient agrees with finite differences at any weights. At the anchor, value and
    /// gradient are those of the risk itself.
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
        let held = risk.in_order_of(&anchor);
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
        let map = LinearRisk::new(&data, Lambda::of(LambdaMetric::Map), 1);
        assert!(map.in_order_of(&anchor).value_and_gradient(&w, &mut gradient) > 0.0);
    }
}
