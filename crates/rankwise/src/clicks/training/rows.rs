//! The features of a log's documents, from its sessions or from a data set.

use crate::clicks::counts::ClickCounts;
use crate::clicks::log::Session;
use crate::clicks::simulate::document_id;
use crate::data::Dataset;
use crate::error::{Error, Result};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

/// The feature rows of sessions, one for each document of a query.
#[derive(Default)]
pub(super) struct FeatureRows {
    rows: HashMap<u32, Box<[f32]>>,
    width: Option<usize>,
    /// Whether a document had other features before.
    changed: bool,
    sessions_without: u64,
}

impl FeatureRows {
    /// Number of features.
    pub(super) fn width(&self) -> Option<usize> {
        self.width
    }

    /// The features of a document.
    pub(super) fn row(&self, pair: u32) -> Option<&[f32]> {
        self.rows.get(&pair).map(|row| &**row)
    }

    /// Keeps the features of the documents shown. If a document has several rows, the least of them by its values is
    /// kept, so that the order of sessions plays no part.
    pub(super) fn add(&mut self, session: &Session, counts: &mut ClickCounts) -> Result<()> {
        let Some(rows) = &session.features else {
            self.sessions_without += 1;
            return Ok(());
        };
        for (document, row) in session.shown.iter().zip(rows) {
            let width = *self.width.get_or_insert(row.len());
            if row.len() != width {
                return Err(Error::data(format!(
                    "session `{}` has {} features for a document, and sessions before it {width}",
                    session.id,
                    row.len()
                )));
            }
            let pair = counts.pair(&session.query, document);
            match self.rows.get_mut(&pair) {
                None => drop(self.rows.insert(pair, row.as_slice().into())),
                Some(known) => match order(row, known) {
                    Ordering::Equal => {}
                    Ordering::Less => {
                        self.changed = true;
                        known.copy_from_slice(row);
                    }
                    Ordering::Greater => self.changed = true,
                },
            }
        }
        Ok(())
    }

    /// What was odd about the features.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.changed {
            notes.push(
                "some documents have other features in other sessions of the same query; each is trained on with one of \
                 these rows"
                    .to_owned(),
            );
        }
        if self.sessions_without > 0 {
            notes.push(format!(
                "{} sessions have no features; their clicks count where other sessions have features of the document",
                self.sessions_without
            ));
        }
        notes
    }
}

fn order(a: &[f32], b: &[f32]) -> Ordering {
    let orders = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The row of each document, by the ids of query and document.
pub(super) fn rows_by_id(data: &Dataset) -> Result<HashMap<(&str, Cow<'_, str>), usize>> {
    let mut rows = HashMap::with_capacity(data.len());
    for query in data.queries() {
        for (i, row) in query.range().enumerate() {
            let id = document_id(query, i);
            if rows.insert((query.id(), id.clone()), row).is_some() {
                return Err(Error::data(format!(
                    "the document `{id}` is twice in query `{}`, so its features are not certain",
                    query.id()
                )));
            }
        }
    }
    Ok(rows)
}
