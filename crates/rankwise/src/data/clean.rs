//! Cleaning: dropping documents and queries that no ranker could get right, with a count of what was dropped.
//!
//! Papers describe their cleaning in a sentence that can be read in several ways, and the choice changes the figures.
//! Here every step has a name and explicit options. Steps are applied in the order given:
//!
//! ```text
//! zero-rows                      documents whose features are all 0
//! conflicts                      documents with the same features and different grades
//!   side=both|non-relevant|relevant     which of them to drop                       (both)
//!   grades=binary|graded         different: across the threshold, or at all         (binary)
//!   scope=query|data             compare within a query, or in the whole data set   (query)
//!   zeros=skip|compare           whether rows of zeros can conflict                 (skip)
//! near                           relevant and non-relevant documents of a query with nearly parallel features
//!   side=both|non-relevant|relevant     which of them to drop                       (both)
//!   cosine=0..1                  nearly parallel: a cosine above this               (0.99)
//! empty-queries                  queries without relevant documents
//!   lacking=relevant|non-relevant|either                                            (relevant)
//! papers                         all four in this order; each option goes to the steps that have it
//! ```
//! In every step but the first, labels from `threshold` (1) on are relevant. Within a step, all documents are checked
//! before any is dropped. `good`, `bad` and `irrelevant` are accepted for `relevant` and `non-relevant`.

mod steps;

use super::Dataset;
use crate::card::{self, Card};
use crate::error::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use steps::CleaningStep;

/// Every cleaning step, and the bundle `papers`.
pub static CLEANING: &[Card] = &[
    Card {
        name: "zero-rows",
        title: "Rows of zeros",
        summary: "Drops documents whose features are all 0.",
        citations: &[],
    },
    Card {
        name: "conflicts",
        title: "Conflicting labels",
        summary: "Drops documents that have the same features but different labels; \
                  options side, grades, scope, zeros, threshold.",
        citations: &[],
    },
    Card {
        name: "near",
        title: "Nearly parallel documents",
        summary: "Drops relevant and non-relevant documents of a query whose features are nearly parallel; \
                  options side, cosine, threshold.",
        citations: &[],
    },
    Card {
        name: "empty-queries",
        title: "Queries without relevant documents",
        summary: "Drops queries without a relevant document; options lacking, threshold.",
        citations: &[],
    },
    Card {
        name: "papers",
        title: "Cleaning as in the papers",
        summary: "The steps zero-rows, conflicts, near and empty-queries; both sides are dropped unless side is given.",
        citations: &[],
    },
];

/// Cleaning steps, in order.
///
/// ```
/// use rankwise::data::Cleaner;
/// let cleaner = Cleaner::parse("zero-rows,near:side=non-relevant:cosine=0.995")?;
/// assert_eq!(cleaner.to_string(), "zero-rows,near:side=non-relevant:cosine=0.995:threshold=1");
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Cleaner {
    steps: Vec<CleaningStep>,
}

/// What cleaning dropped.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CleanReport {
    /// Documents before.
    pub documents_before: usize,
    /// Documents left.
    pub documents_after: usize,
    /// Queries before.
    pub queries_before: usize,
    /// Queries left.
    pub queries_after: usize,
    /// What each step dropped, in order.
    pub steps: Vec<Dropped>,
}

/// What one step of cleaning dropped.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Dropped {
    /// The step with all its options, as it could be typed.
    pub step: String,
    /// Documents dropped.
    pub documents: usize,
    /// Queries dropped, because all their documents were.
    pub queries: usize,
    /// The labels of the documents dropped, ascending, with the number of each.
    pub grades: Vec<(f32, usize)>,
}

impl Cleaner {
    /// Parses steps separated by commas, each with its options: `zero-rows,near:side=non-relevant:cosine=0.995`.
    pub fn parse(text: &str) -> Result<Self> {
        let mut steps = Vec::new();
        for item in text.split(',') {
            let mut pieces = item.split(':').map(str::trim);
            let name = pieces.next().unwrap_or_default();
            let name = card::find(CLEANING, |c| c, "cleaning step", name)?.name;
            let options = pieces.map(option).collect::<Result<Vec<_>>>()?;
            steps.extend(CleaningStep::named(name, &options)?);
        }
        Ok(Cleaner { steps })
    }

    /// Applies the steps one after the other. It is an error if no documents are left.
    pub fn clean(&self, mut data: Dataset) -> Result<(Dataset, CleanReport)> {
        let (documents_before, queries_before) = (data.len(), data.query_count());
        let mut steps = Vec::new();
        for step in &self.steps {
            let drop = step.drops(&data);
            let kept: Vec<usize> = (0..data.len()).filter(|&r| !drop[r]).collect();
            if kept.is_empty() {
                return Err(Error::data(format!("cleaning with `{step}` leaves no documents")));
            }
            let (documents, queries) = (data.len(), data.query_count());
            let grades = count_grades((0..documents).filter(|&r| drop[r]).map(|r| data.labels()[r]));
            if kept.len() < documents {
                data = data.select_rows(&kept);
            }
            steps.push(Dropped {
                step: step.to_string(),
                documents: documents - data.len(),
                queries: queries - data.query_count(),
                grades,
            });
        }
        let (documents_after, queries_after) = (data.len(), data.query_count());
        let report = CleanReport { documents_before, documents_after, queries_before, queries_after, steps };
        Ok((data, report))
    }
}

impl fmt::Display for Cleaner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.steps.iter().enumerate() {
            write!(f, "{}{step}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Every label that occurs, ascending, with the number of documents that have it.
pub(super) fn count_grades(labels: impl Iterator<Item = f32>) -> Vec<(f32, usize)> {
    let mut counts = BTreeMap::new();
    for label in labels {
        // Adding 0 turns −0 into 0. Non-negative floats are ordered like their bits, negative ones in reverse.
        let bits = (label + 0.0).to_bits() as i32;
        *counts.entry(if bits < 0 { bits ^ i32::MAX } else { bits }).or_insert(0) += 1;
    }
    let label = |key: i32| f32::from_bits((if key < 0 { key ^ i32::MAX } else { key }) as u32);
    counts.into_iter().map(|(key, count)| (label(key), count)).collect()
}

fn option(text: &str) -> Result<(&str, &str)> {
    text.split_once('=').map(|(key, value)| (key.trim(), value.trim())).ok_or_else(|| {
        Error::parameter(format!("`{text}` is not an option of a cleaning step, such as `side=both`"))
    })
}

#[cfg(test)]
mod tests;
