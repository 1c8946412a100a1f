//! A loss multiplied by a constant.

use super::{HessianProduct, QueryLoss, ScoredQuery, SecondOrder};

/// A loss multiplied by a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled<L> {
    /// The loss.
    pub loss: L,
    /// The factor, above 0.
    pub factor: f64,
}

impl<L> Scaled<L> {
    fn scale(&self, terms: &mut [f64]) {
        terms.iter_mut().for_each(|x| *x *= self.factor);
    }
}

impl<L: QueryLoss> QueryLoss for Scaled<L> {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        let value = self.loss.value_and_gradient(query, gradient);
        self.scale(gradient);
        value * self.factor
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        self.loss.curvature(query, curvature);
        self.scale(curvature);
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        self.loss.newton(query, gradient, curvature);
        self.scale(gradient);
        self.scale(curvature);
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.loss.has_signal(labels)
    }
}

impl<L: SecondOrder> SecondOrder for Scaled<L> {
    fn hessian(&self, query: ScoredQuery<'_>) -> HessianProduct<'_> {
        let product = self.loss.hessian(query);
        Box::new(move |v, out| {
            product(v, out);
            self.scale(out);
        })
    }
}
