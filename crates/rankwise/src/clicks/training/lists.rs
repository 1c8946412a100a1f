//! Sessions as queries, for learners that see the position of each click.

use super::rows::{FeatureRows, rows_by_id};
use super::{ClickData, ClickWeights};
use crate::clicks::counts::ClickCounts;
use crate::clicks::log::Session;
use crate::clicks::sessions::{Pattern, SessionTable, Shown};
use crate::data::{Columns, Dataset, Features, Parts, Texts};
use crate::error::{Error, Result};
use std::collections::HashMap;

/// Where the features of documents come from.
enum RowSource<'a> {
    Sessions(FeatureRows),
    File(&'a Dataset, HashMap<(&'a str, std::borrow::Cow<'a, str>), usize>),
}

impl RowSource<'_> {
    /// Appends the features of a document; `false` if there are none.
    fn push(&self, counts: &mut ClickCounts, query: &str, document: &str, values: &mut Vec<f32>) -> bool {
        match self {
            RowSource::Sessions(rows) => {
                let row = rows.row(counts.pair(query, document));
                row.inspect(|row| values.extend_from_slice(row)).is_some()
            }
            RowSource::File(data, known) => {
                let row = known.get(&(query, document.into()));
                row.inspect(|row| values.extend((0..data.width()).map(|c| data.row(**row).get(c)))).is_some()
            }
        }
    }
}

impl ClickWeights {
    /// Sessions as queries `QUERY#1`, `QUERY#2` and so on, with the documents they showed, their positions, and 1 as the
    /// label of clicked ones. Sessions with the same list and clicks become one query with their number as its weight.
    /// Those in which nothing or everything was clicked are left out, since they prefer no document.
    ///
    /// Features come from the sessions, or from `features`, where queries and documents are matched by their ids.
    pub fn lists(
        sessions: impl IntoIterator<Item = Result<Session>>,
        features: Option<&Dataset>,
    ) -> Result<ClickData> {
        let (mut table, mut counts) = (SessionTable::default(), ClickCounts::default());
        let mut rows = FeatureRows::default();
        for session in sessions {
            let session = session?;
            table.add(&session);
            if features.is_none() {
                rows.add(&session, &mut counts)?;
            }
        }
        let (width, columns, mut notes) = match features {
            Some(data) => (data.width(), data.columns().clone(), Vec::new()),
            None => (rows.width().ok_or_else(super::no_features)?, Columns::default(), rows.notes()),
        };
        let source = match features {
            Some(data) => RowSource::File(data, rows_by_id(data)?),
            None => RowSource::Sessions(rows),
        };
        let sorted = table.sorted();
        let mut lists = Lists::default();
        for pattern in &sorted.patterns {
            lists.add(pattern, &sorted.pairs, &source, &mut counts);
        }
        notes.extend(lists.notes());
        let data = lists.finish(width, columns)?;
        Ok(ClickData { missing: vec![0.0; data.len()], data, notes })
    }
}

/// The parts of the data set.
#[derive(Default)]
struct Lists {
    values: Vec<f32>,
    labels: Vec<f32>,
    positions: Vec<u32>,
    documents: Texts,
    bounds: Vec<usize>,
    ids: Texts,
    weights: Vec<f32>,
    /// How many lists each query has so far.
    numbers: HashMap<String, u64>,
    /// Displays and clicks of documents without features.
    lost: (u64, u64),
    /// Sessions that prefer no document.
    undecided: u64,
}

impl Lists {
    fn add(
        &mut self,
        pattern: &Pattern,
        pairs: &[(&str, &str)],
        source: &RowSource<'_>,
        counts: &mut ClickCounts,
    ) {
        let query = pairs[pattern.shown[0].pair].0;
        let (mut values, mut labels) = (Vec::new(), Vec::new());
        let (mut positions, mut documents) = (Vec::new(), Vec::new());
        for &Shown { pair, rank, clicked } in &pattern.shown {
            let document = pairs[pair].1;
            if !source.push(counts, query, document, &mut values) {
                self.lost.0 += pattern.count;
                self.lost.1 += if clicked { pattern.count } else { 0 };
                continue;
            }
            labels.push(f32::from(u8::from(clicked)));
            positions.push(rank as u32);
            documents.push(document);
        }
        if labels.iter().all(|label| *label == 1.0) || labels.iter().all(|label| *label == 0.0) {
            self.undecided += pattern.count;
            return;
        }
        let number = self.numbers.entry(query.to_owned()).or_insert(0);
        *number += 1;
        self.ids.push(&format!("{query}#{number}"));
        self.bounds.push(self.labels.len());
        self.weights.push(pattern.count as f32);
        self.values.append(&mut values);
        self.labels.append(&mut labels);
        self.positions.append(&mut positions);
        documents.into_iter().for_each(|document| self.documents.push(document));
    }

    fn notes(&self) -> Vec<String> {
        let (shown, clicks) = self.lost;
        let lost = (shown > 0).then(|| {
            format!("{shown} displays of documents have no features and are left out, with {clicks} clicks")
        });
        let undecided = (self.undecided > 0).then(|| {
            format!(
                "sessions in which nothing or everything was clicked, which prefer no document, are left out: {}",
                self.undecided
            )
        });
        lost.into_iter().chain(undecided).collect()
    }

    fn finish(mut self, width: usize, columns: Columns) -> Result<Dataset> {
        if self.labels.is_empty() {
            return Err(Error::data(
                "no session of the log has both clicked and other documents with features",
            ));
        }
        self.bounds.push(self.labels.len());
        Dataset::new(Parts {
            features: Features::dense(width, self.values),
            labels: self.labels,
            bounds: self.bounds,
            query_ids: self.ids,
            columns,
            document_ids: Some(self.documents),
            query_weights: Some(self.weights),
            positions: Some(self.positions),
            ..Parts::default()
        })
    }
}
