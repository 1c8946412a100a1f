//! From scores to an order: THE tie rule.
//!
//! Every order in this library is made here, so that a tie is broken in one place only. A [`Ranking`] lists
//! documents best first, in *groups*: with [`Ties::Average`] a group holds all documents of one score and every
//! order within it counts as equally likely; with every other rule each group has one document.

use serde::{Deserialize, Serialize};

/// What to do with documents of equal score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ties {
    /// The exact expectation over all orders of the tied documents.
    #[default]
    Average,
    /// The order of the input.
    Input,
    /// The least relevant first: a lower bound.
    Worst,
    /// By document id, the greatest first, as trec_eval does.
    DocId,
}

/// Documents best first, in groups of tied ones.
///
/// `order` may hold fewer documents than the query has labels: documents that are judged but were not retrieved
/// are labelled and not ranked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranking {
    order: Vec<u32>,
    group_ends: Vec<u32>,
}

impl Ranking {
    /// Ranks documents by decreasing score; equal scores form one group.
    pub fn by_scores(scores: &[f64]) -> Self {
        let mut order: Vec<u32> = (0..scores.len() as u32).collect();
        order.sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
        let mut group_ends = Vec::new();
        for i in 1..=order.len() {
            if i == order.len() || scores[order[i] as usize] != scores[order[i - 1] as usize] {
                group_ends.push(i as u32);
            }
        }
        Ranking { order, group_ends }
    }

    /// The documents, best first; those of one group in input order.
    pub fn order(&self) -> &[u32] {
        &self.order
    }
}
