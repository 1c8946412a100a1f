//! Several losses of one query combined: their weighted sum or their maximum (Chakrabarti et al., KDD 2008).
//!
//! ```text
//! separate slacks:  L(s) = Σ_l a_l·L_l(s)          shared slack:  L(s) = max_l a_l·L_l(s)
//! ```

use super::structured::{AucSearch, MapSearch, MrrSearch, NdcgSearch, StructuredHinge};
use super::{QueryLoss, ScoredQuery};
use crate::card::Card;
use crate::metrics::Discount;
use crate::watch::Stop;

pub(super) const CARD: Card = Card {
    name: "combined",
    title: "Combination of losses",
    summary: "The weighted sum or the maximum of several losses, computed per query.",
    citations: &["chakrabarti2008structured"],
};

/// Several losses with weights.
pub struct Combined {
    /// The weights, at least 0, and the losses.
    pub parts: Vec<(f64, Box<dyn QueryLoss>)>,
    /// Whether to take the maximum instead of the sum.
    pub shared: bool,
}

impl Combined {
    /// The sum of the structured hinges of AUC, MAP, NDCG@10 and MRR.
    pub(super) fn of_all_metrics() -> Combined {
        let threshold = 1.0;
        let ndcg = NdcgSearch { threshold, k: 10, discount: Discount::Log2 };
        let losses: [Box<dyn QueryLoss>; 4] = [
            Box::new(StructuredHinge(AucSearch { threshold })),
            Box::new(StructuredHinge(MapSearch { threshold })),
            Box::new(StructuredHinge(ndcg)),
            Box::new(StructuredHinge(MrrSearch { threshold, k: 0 })),
        ];
        Combined { parts: losses.into_iter().map(|loss| (1.0, loss)).collect(), shared: false }
    }
}

impl QueryLoss for Combined {
    fn value_and_gradient(&self, query: ScoredQuery<'_>, gradient: &mut [f64]) -> f64 {
        let mut total = 0.0;
        let mut slopes = vec![0.0; gradient.len()];
        gradient.fill(0.0);
        for (weight, loss) in &self.parts {
            let value = weight * loss.value_and_gradient(query, &mut slopes);
            if self.shared && value <= total {
                continue;
            }
            if self.shared {
                gradient.fill(0.0);
                total = 0.0;
            }
            total += value;
            gradient.iter_mut().zip(&slopes).for_each(|(g, s)| *g += weight * s);
        }
        total
    }

    fn set_stop(&mut self, stop: &Stop) {
        self.parts.iter_mut().for_each(|(_, loss)| loss.set_stop(stop));
    }

    fn steps(&self, labels: &[f32]) -> f64 {
        self.parts.iter().map(|(_, loss)| loss.steps(labels)).sum()
    }

    fn curvature(&self, query: ScoredQuery<'_>, curvature: &mut [f64]) {
        let mut part = vec![0.0; curvature.len()];
        curvature.fill(0.0);
        for (weight, loss) in &self.parts {
            loss.curvature(query, &mut part);
            curvature.iter_mut().zip(&part).for_each(|(c, p)| *c += weight * p);
        }
    }

    fn has_signal(&self, labels: &[f32]) -> bool {
        self.parts.iter().any(|(weight, loss)| *weight > 0.0 && loss.has_signal(labels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A non-relevant document ahead of a relevant one, with scores 1 and 0: AUC loses 1, AP ½, each plus a lead of
    /// 2.
    #[test]
    fn two_documents_by_hand() {
        let query = ScoredQuery { labels: &[0.0, 1.0], scores: &[1.0, 0.0], seed: 0 };
        let combined = |shared| Combined {
            parts: vec![
                (1.0, Box::new(StructuredHinge(AucSearch { threshold: 1.0 })) as Box<dyn QueryLoss>),
                (2.0, Box::new(StructuredHinge(MapSearch { threshold: 1.0 }))),
            ],
            shared,
        };
        let mut gradient = [0.0; 2];
        assert_eq!(combined(false).value_and_gradient(query, &mut gradient), 3.0 + 2.0 * 2.5);
        assert_eq!(gradient, [2.0 + 4.0, -2.0 - 4.0]);
        assert_eq!(combined(true).value_and_gradient(query, &mut gradient), 5.0);
        assert_eq!(gradient, [4.0, -4.0]);
    }
}
