//! Normalised discounted cumulative gain (Järvelin and Kekäläinen 2002; with exponential gain, Burges et al.
//! 2005).
//!
//! ```text
//! NDCG@k = DCG@k / max over all rankings of DCG@k
//! ```
//! The best ranking is that of all judged documents, retrieved or not.

use super::conventions::Conventions;
use super::dcg::Dcg;
use super::{BY_CONVENTION, MetricEntry, MetricFormula};
use crate::card::Card;
use crate::rank::Ranking;

pub(super) const ENTRY: MetricEntry = MetricEntry {
    card: Card {
        name: "ndcg",
        title: "Normalised discounted cumulative gain",
        summary: "DCG@k divided by the DCG@k of the best ranking of all judged documents.",
        citations: &["jarvelin2002cumulated", "burges2005ranknet"],
    },
    aliases: &["ndcg_cut", "ndcg_score", "lambdarank", "rank_xendcg"],
    range: (0.0, Some(1.0)),
    empty: BY_CONVENTION,
    cut: true,
    levels: false,
    options: &["gain", "discount", "threshold"],
    make: |request| {
        let formula = Ndcg::new(&request.conventions, request.depth());
        request.build(&ENTRY.card, formula)
    },
};

pub(super) struct Ndcg(pub(super) Dcg);

impl Ndcg {
    pub(super) fn new(conventions: &Conventions, depth: usize) -> Self {
        Ndcg(Dcg::new(conventions, depth))
    }
}

impl MetricFormula for Ndcg {
    fn is_undefined(&self, labels: &[f32]) -> bool {
        self.0.gains.are_zero(labels)
    }

    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64 {
        self.expectation_beside(self.ideal(labels), labels, ranking)
    }

    fn ideal(&self, labels: &[f32]) -> f64 {
        self.0.ideal(labels)
    }

    fn expectation_beside(&self, ideal: f64, labels: &[f32], ranking: &Ranking) -> f64 {
        self.0.expectation(labels, ranking) / ideal
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::{Conventions, parse};
    use crate::rank::Ranking;

    /// The worked example of the short introduction to learning to rank (Li 2011), its Table 1.
    #[test]
    fn the_worked_example_of_an_introduction() {
        let (given, best) = ([2.0, 3.0, 2.0, 3.0, 1.0, 1.0, 1.0], [3.0, 3.0, 2.0, 2.0, 1.0, 1.0, 1.0]);
        let values = |name: &str, labels: &[f32]| {
            [1, 2, 3].map(|k| {
                let metric = parse(&format!("{name}@{k}"), &Conventions::default()).unwrap();
                metric.value(labels, &Ranking::from_order((0..7).collect())).unwrap()
            })
        };
        // It cuts DCG after two decimals, and rounds NDCG.
        let cut = |values: [f64; 3]| values.map(|v| (v * 100.0).floor() / 100.0);
        assert_eq!(cut(values("dcg", &given)), [3.0, 7.41, 8.91]);
        assert_eq!(cut(values("dcg", &best)), [7.0, 11.41, 12.91]);
        assert_eq!(values("ndcg", &given).map(|v| format!("{v:.2}")), ["0.43", "0.65", "0.69"]);
    }

    /// One list, three tools, three values (measured in each).
    #[test]
    fn one_list_has_three_values() {
        let ranking = Ranking::from_order((0..4).collect());
        for (name, expected) in [
            ("lightgbm", "0.2547"),
            ("xgboost", "0.2547"),
            ("trec", "0.3700"),
            ("sklearn", "0.3700"),
            ("letor", "0.3415"),
        ] {
            let metric = parse("ndcg@3", &crate::metrics::preset(name).unwrap()).unwrap();
            let value = metric.value(&[0.0, 2.0, 1.0, 3.0], &ranking).unwrap();
            assert_eq!(format!("{value:.4}"), expected, "{name}");
        }
    }
}
