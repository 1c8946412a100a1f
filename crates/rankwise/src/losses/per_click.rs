//! A loss of weighted clicks: every click is an example with one relevant document.
//!
//! ```text
//! L(m, s) = Σᵢ mᵢ·L'(eᵢ, s) ,      eᵢ = 1 for document i and 0 for all others
//! ```
//! It is linear in the weights m. If clicks are weighted so that m has the relevance γ as its expectation, then L has
//! the expectation `Σᵢ γᵢ·L'(eᵢ, s)`, which is the loss under full information, whatever L' is. The same holds for
//! gradients and curvatures. A sum of convex losses is convex. For the hinge of pairs, L is the propensity-weighted
//! Ranking SVM (Joachims, Swaminathan and Schnabel, WSDM 2017). Only documents with a weight are visited.

use super::{HessianProduct, QueryLoss, Reweighted, ScoredQuery, SecondOrder};
use crate::watch::Stop;

/// A loss of weighted clicks; the labels are the weights. Those that are not above 0 count as 0.
///
/// ```
/// use rankwise::losses::{PairHinge, PerClick, QueryLoss, ScoredQuery};
/// let labels = [2.0, 0.0, 0.5];
/// let query = ScoredQuery { labels: &labels, scores: &[0.0; 3], seed: 1 };
/// // Two and a half clicks, each with two pairs.
/// assert_eq!(PerClick(PairHinge::default()).value_and_gradient(query, &mut [0.0; 3]), 5.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct PerClick<L>(pub L);

impl<L> PerClick<L> {
    /// Calls `visit` with the weight of each clicked document, and the query in which only that one is relevant.
    fn each_click(query: ScoredQuery<'_>, mut visit: impl FnMut(f64, ScoredQuery<'_>)) {
        let mut labels = vec![0.0; query.labels.len()];
        for (document, &weight) in query.labels.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
            labels[document] = 1.0;
            visit(weight.into(), ScoredQuery { labels: &labels, ..query });
            labels[document] = 0.0;
        }
    }

    /// The sum over clicks of what `of` returns, and of what it writes, each with the weight of the click.
    fn sum(
        query: ScoredQuery<'_>,
        out: &mut [f64],
        mut of: impl FnMut(ScoredQuery<'_>, &mut [f64]) -> f64,
    ) -> f64 {
        out.fill(0.0);
        let (mut value, mut terms) = (0.0, vec![0.0; out.len()]);
        Self::each_click(query, |weight, click| {
            value += weight * of(click, &mut terms);
            add(weight, &terms, out);
        });
        value
    }
}

fn add(weight: f64, terms: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
}

impl<L: QueryLoss> QueryLoss for PerClick<L> {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        Self::sum(query, gradient, |click, terms| self.0.value_and_gradient(click, terms))
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        Self::sum(query, curvature, |click, terms| {
            self.0.curvature(click, terms);
            0.0
        });
    }

    fn newton(&self, query: ScoredQuery<'_>, gradient: &mut [f64], curvature: &mut [f64]) {
        curvature.fill(0.0);
        let mut bends = vec![0.0; curvature.len()];
        gradient.fill(0.0);
        let mut slopes = vec![0.0; gradient.len()];
        Self::each_click(query, |weight, click| {
            self.0.newton(click, &mut slopes, &mut bends);
            add(weight, &slopes, gradient);
            add(weight, &bends, curvature);
        });
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        let mut found = false;
        Self::each_click(ScoredQuery { labels, scores: &[], seed: 0 }, |_, click| {
            found = found || self.0.has_signal(click.labels);
        });
        found
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.0.set_stop(stop);
    }

    fn steps(&self, labels: &[f32]) -> f64 {
        let mut steps = 0.0;
        Self::each_click(ScoredQuery { labels, scores: &[], seed: 0 }, |_, click| {
            steps += self.0.steps(click.labels);
        });
        steps
    }
}

impl<L: SecondOrder> SecondOrder for PerClick<L> {
    fn hessian(&self, query: ScoredQuery<'_>) -> HessianProduct<'_> {
        let mut products = Vec::new();
        Self::each_click(query, |weight, click| products.push((weight, self.0.hessian(click))));
        Box::new(move |v, out| {
            out.fill(0.0);
            let mut terms = vec![0.0; out.len()];
            for (weight, product) in &products {
                product(v, &mut terms);
                add(*weight, &terms, out);
            }
        })
    }
}

impl<L: Reweighted> Reweighted for PerClick<L> {
    fn value_and_gradient_in_order(
        &self,
        query: ScoredQuery<'_>,
        anchor: &[f64],
        gradient: &mut [f64],
    ) -> f64 {
        Self::sum(query, gradient, |click, terms| self.0.value_and_gradient_in_order(click, anchor, terms))
    }
}

#[cfg(test)]
mod tests;
