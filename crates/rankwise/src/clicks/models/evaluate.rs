//! How well a model foresees clicks.

use super::{ClickModel, PairModel};
use crate::clicks::SessionTable;
use crate::error::{Error, Result};
use serde::Serialize;

/// How well a model foresees the clicks of sessions; use sessions that it was not fitted to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelEvaluation {
    /// Sessions that the model does not rule out.
    pub sessions: u64,
    /// Sessions with clicks that the model rules out, such as a second click in the cascade model. They are left out of the
    /// log-likelihood.
    pub impossible: u64,
    /// The mean log-likelihood of a session.
    pub log_likelihood: f64,
    /// For each rank, from 1, the perplexity of the clicks there, given the list but no other clicks: 1 if all are foreseen
    /// with certainty, 2 for guesses. NaN where nothing was shown.
    pub perplexity_by_rank: Vec<f64>,
    /// The mean perplexity of the ranks at which documents were shown.
    pub perplexity: f64,
    /// How often a document was shown that the model does not know.
    pub unknown_documents: u64,
}

impl ClickModel {
    /// Evaluates the model on sessions.
    pub fn evaluate(&self, sessions: &SessionTable) -> Result<ModelEvaluation> {
        if sessions.sessions() == 0 {
            return Err(Error::data("there are no sessions to evaluate a click model on"));
        }
        let sorted = sessions.sorted();
        let model = PairModel::new(self, &sorted.pairs);
        let is_unknown =
            |(query, document): &(&str, &str)| self.attractiveness.known(query, document).is_none();
        let unknown: Vec<bool> = sorted.pairs.iter().map(is_unknown).collect();
        let mut bits = vec![(0.0, 0); sorted.ranks];
        let (mut possible, mut log_likelihood, mut unknown_documents) = (0, 0.0, 0);
        for pattern in &sorted.patterns {
            let conditional = model.conditional(&pattern.shown);
            let clicks = pattern.shown.iter().map(|shown| shown.clicked);
            let of = |(p, clicked): (&f64, bool)| if clicked { *p } else { 1.0 - p };
            let of_session: f64 = conditional.iter().zip(clicks.clone()).map(|pair| of(pair).ln()).sum();
            if of_session > f64::NEG_INFINITY {
                possible += pattern.count;
                log_likelihood += pattern.count as f64 * of_session;
            }
            let probabilities = model.click_probabilities(&pattern.shown);
            for ((shown, p), clicked) in pattern.shown.iter().zip(&probabilities).zip(clicks) {
                let (sum, count) = &mut bits[shown.rank - 1];
                *sum -= pattern.count as f64 * of((p, clicked)).log2();
                *count += pattern.count;
                unknown_documents += u64::from(unknown[shown.pair]) * pattern.count;
            }
        }
        let perplexity = |(bits, count): &(f64, u64)| (bits / *count as f64).exp2();
        let perplexity_by_rank: Vec<f64> = bits.iter().map(perplexity).collect();
        let seen: Vec<f64> = perplexity_by_rank.iter().copied().filter(|p| !p.is_nan()).collect();
        Ok(ModelEvaluation {
            sessions: possible,
            impossible: sessions.sessions() - possible,
            log_likelihood: log_likelihood / possible as f64,
            perplexity: seen.iter().sum::<f64>() / seen.len() as f64,
            perplexity_by_rank,
            unknown_documents,
        })
    }
}
