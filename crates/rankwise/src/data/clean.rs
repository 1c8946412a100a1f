//! Cleaning: dropping documents and queries that no ranker could get right, with a count of what went.
//!
//! Papers clean with one sentence that has many readings, and their figures lie between the readings. So every
//! step is named, with the side that goes and the threshold, and steps are applied in the order given:
//!
//! ```text
//! zero-rows                      documents whose features are all 0
//! conflicts                      documents with the same features and different grades
//!   side=both|bad|good           which of them go                                   (both)
//!   grades=binary|graded         grades differ by the threshold, or at all          (binary)
//!   scope=query|data             within a query, or anywhere in the data            (query)
//!   zeros=skip|compare           whether rows of zeros are the same features        (skip)
//! near                           good and bad documents of a query with nearly parallel features
//!   side=both|bad|good           which of them go                                   (both)
//!   cosine=0..1                  parallel: a cosine greater than this               (0.99)
//! empty-queries                  queries that lack something to rank
//!   lacking=relevant|irrelevant|either                                              (relevant)
//! papers                         all four in this order; options go to the steps that know them
//! ```
//! `threshold=1` is the least grade that counts as good, in every step but the first. Within a step all
//! documents are judged before any is dropped.

mod steps;

use super::Dataset;
use crate::card::{self, Card};
use crate::error::{Error, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use steps::CleaningStep;

/// Every step of cleaning, and the bundle `papers`.
pub static CLEANING: &[Card] = &[
    Card {
        name: "zero-rows",
        title: "Rows of zeros",
        summary: "Drops documents whose features are all 0.",
        citations: &[],
    },
    Card {
        name: "conflicts",
        title: "Conflicting grades",
        summary: "Drops documents with the same features and different grades; \
                  options side, grades, scope, zeros, threshold.",
        citations: &[],
    },
    Card {
        name: "near",
        title: "Nearly parallel documents",
        summary: "Drops good and bad documents of one query whose cosine is above a bound; \
                  options side, cosine, threshold.",
        citations: &[],
    },
    Card {
        name: "empty-queries",
        title: "Queries with nothing to rank",
        summary: "Drops queries without a relevant document; options lacking, threshold.",
        citations: &[],
    },
    Card {
        name: "papers",
        title: "The papers' cleaning",
        summary: "zero-rows, conflicts, near and empty-queries, with both sides dropped unless side= says otherwise.",
        citations: &[],
    },
];

/// Steps of cleaning, in order.
///
/// ```
/// use rankwise::data::Cleaner;
/// let cleaner = Cleaner::parse("zero-rows,near:side=bad:cosine=0.995")?;
/// assert_eq!(cleaner.to_string(), "zero-rows,near:side=bad:cosine=0.995:threshold=1");
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
    /// Documents that went.
    pub documents: usize,
    /// Queries that went, because all their documents did.
    pub queries: usize,
    /// The grades of the documents that went, ascending, with the number of each.
    pub grades: Vec<(f32, usize)>,
}

impl Cleaner {
    /// Reads steps with commas between, each with its options: `zero-rows,near:side=bad:cosine=0.995`.
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

    /// Applies the steps one after the other; fails when nothing is left.
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

/// Every grade there is, ascending, and how many documents have it.
pub(super) fn count_grades(labels: impl Iterator<Item = f32>) -> Vec<(f32, usize)> {
    let mut counts = BTreeMap::new();
    for label in labels {
        // Adding 0 makes −0 a plain 0. Non-negative floats order as their bits; negative ones the other way.
        let bits = (label + 0.0).to_bits() as i32;
        *counts.entry(if bits < 0 { bits ^ i32::MAX } else { bits }).or_insert(0) += 1;
    }
    let label = |key: i32| f32::from_bits((if key < 0 { key ^ i32::MAX } else { key }) as u32);
    counts.into_iter().map(|(key, count)| (label(key), count)).collect()
}

fn option(text: &str) -> Result<(&str, &str)> {
    text.split_once('=').map(|(key, value)| (key.trim(), value.trim())).ok_or_else(|| {
        Error::parameter(format!("`{text}` is not an option of a cleaning step, such as `side=bad`"))
    })
}

#[cfg(test)]
mod tests;
