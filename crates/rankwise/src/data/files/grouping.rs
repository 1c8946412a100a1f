//! Which rows belong to which query, also if the rows of a query are not adjacent.

use super::excerpt::quoted;
use super::{Parts, Texts};
use crate::error::{Error, Place, Result};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Query ids in reading order: adjacent rows with the same id form one run.
#[derive(Debug, Default)]
pub(super) struct Runs {
    files: Vec<String>,
    ids: Texts,
    runs: Vec<LocatedRun>,
    rows: usize,
}

/// Adjacent rows of one query, and their place in the file.
#[derive(Debug, Clone, Copy)]
struct LocatedRun {
    /// Its first row.
    start: usize,
    file: usize,
    first_line: u64,
    last_line: u64,
    column: u64,
}

/// The queries of a data set, each once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Groups {
    /// Where each query starts after `order` is applied, and the number of rows.
    pub(super) bounds: Vec<usize>,
    /// One id per query.
    pub(super) ids: Texts,
    /// The rows in their new order; `None` if it does not change.
    pub(super) order: Option<Vec<usize>>,
    /// Number of queries whose rows had to be gathered.
    pub(super) gathered: usize,
}

impl Runs {
    /// No rows yet.
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Rows pushed from now on come from this file. A query may continue from the file before.
    pub(super) fn enter_file(&mut self, name: &str) {
        self.files.push(name.to_owned());
    }

    /// Adds the next row: its query id, and the line and column of the id, from 1.
    pub(super) fn push(&mut self, id: &str, line: u64, column: u64) {
        self.push_run(id, 1, line..=line, column);
    }

    /// Adds the next `rows` rows, all of one query, on `lines`; the id is at `column` of the first.
    pub(super) fn push_run(
        &mut self,
        id: &str,
        rows: usize,
        lines: std::ops::RangeInclusive<u64>,
        column: u64,
    ) {
        let file = self.files.len().saturating_sub(1);
        match self.runs.last_mut() {
            Some(run) if run.file == file && self.ids.get(self.ids.len() - 1) == id => {
                run.last_line = *lines.end();
            }
            _ => {
                let (first_line, last_line) = lines.into_inner();
                self.ids.push(id);
                self.runs.push(LocatedRun { start: self.rows, file, first_line, last_line, column });
            }
        }
        self.rows += rows;
    }

    /// The queries. If the rows of a query are not adjacent or are in two files, it is an error, unless `gather` is set:
    /// then they are gathered at the first of them, in their order.
    pub(super) fn finish(self, gather: bool) -> Result<Groups> {
        let mut query_of: HashMap<&str, usize> = HashMap::with_capacity(self.runs.len());
        let mut first_runs = Vec::with_capacity(self.runs.len());
        let mut queries = Vec::with_capacity(self.runs.len());
        for (index, id) in self.ids.iter().enumerate() {
            match query_of.entry(id) {
                Entry::Vacant(new) => {
                    queries.push(first_runs.len());
                    new.insert(first_runs.len());
                    first_runs.push(index);
                }
                Entry::Occupied(known) if gather => queries.push(*known.get()),
                Entry::Occupied(known) => return Err(self.scattered(first_runs[*known.get()], index)),
            }
        }
        if first_runs.len() == self.runs.len() {
            let bounds = self.runs.iter().map(|r| r.start).chain([self.rows]).collect();
            return Ok(Groups { bounds, ids: self.ids, order: None, gathered: 0 });
        }
        Ok(self.gather(&queries, &first_runs))
    }

    /// `queries[i]` is the query of run `i`, `first_runs[q]` the first run of query `q`.
    fn gather(&self, queries: &[usize], first_runs: &[usize]) -> Groups {
        let mut by_query: Vec<usize> = (0..self.runs.len()).collect();
        by_query.sort_by_key(|&run| queries[run]);
        let mut runs_of = vec![0usize; first_runs.len()];
        let (mut bounds, mut order) =
            (Vec::with_capacity(first_runs.len() + 1), Vec::with_capacity(self.rows));
        for run in by_query {
            if runs_of[queries[run]] == 0 {
                bounds.push(order.len());
            }
            runs_of[queries[run]] += 1;
            let end = self.runs.get(run + 1).map_or(self.rows, |next| next.start);
            order.extend(self.runs[run].start..end);
        }
        bounds.push(order.len());
        let ids = first_runs.iter().map(|&run| self.ids.get(run)).collect();
        let gathered = runs_of.iter().filter(|&&n| n > 1).count();
        let unmoved = order.iter().enumerate().all(|(i, &row)| i == row);
        Groups { bounds, ids, order: (!unmoved).then_some(order), gathered }
    }

    fn scattered(&self, first: usize, again: usize) -> Error {
        let (earlier, run, id) = (&self.runs[first], &self.runs[again], self.ids.get(again));
        let file = self.files.get(run.file).cloned().unwrap_or_default();
        let where_first = match earlier {
            LocatedRun { first_line, last_line, .. } if first_line == last_line => {
                format!("on line {first_line}")
            }
            LocatedRun { first_line, last_line, .. } => format!("on lines {first_line}–{last_line}"),
        };
        let where_first = match earlier.file == run.file {
            true => where_first,
            false => format!("{where_first} of {}", self.files[earlier.file]),
        };
        let place = Place { file, line: run.first_line, column: run.column };
        Error::parse(
            place,
            format!(
                "query {} occurs {where_first} and again on line {}; put its rows together, or read the data with the \
                 option `group`, which gathers them",
                quoted(id.as_bytes()),
                run.first_line
            ),
        )
    }
}

impl Groups {
    /// Sets the queries of `parts`, and reorders everything it has per row. `query_weights` are not per row.
    pub(super) fn arrange(self, parts: &mut Parts) {
        if let Some(order) = &self.order {
            let texts = |texts: &mut Texts| *texts = order.iter().map(|&r| texts.get(r)).collect();
            parts.features = parts.features.select(order);
            parts.labels = order.iter().map(|&r| parts.labels[r]).collect();
            parts.comments.as_mut().map(texts);
            parts.document_ids.as_mut().map(texts);
            if let Some(positions) = &mut parts.positions {
                *positions = order.iter().map(|&r| positions[r]).collect();
            }
        }
        parts.bounds = self.bounds;
        parts.query_ids = self.ids;
    }

    /// The reading note about it, if there is one.
    pub(super) fn note(&self) -> Option<String> {
        match self.gathered {
            0 => None,
            1 => Some("the rows of 1 query were not adjacent and have been gathered".to_owned()),
            n => Some(format!("the rows of {n} queries were not adjacent and have been gathered")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Features;

    fn runs(ids: &[&str]) -> Runs {
        let mut runs = Runs::new();
        runs.enter_file("a.txt");
        for (i, id) in ids.iter().enumerate() {
            runs.push(id, 10 + i as u64, 3);
        }
        runs
    }

    #[test]
    fn adjacent_rows_form_one_query() {
        let groups = runs(&["x", "x", "y", "z", "z"]).finish(false).unwrap();
        assert_eq!(groups.bounds, [0, 2, 3, 5]);
        assert_eq!(groups.ids.iter().collect::<Vec<_>>(), ["x", "y", "z"]);
        assert_eq!((groups.order, groups.gathered), (None, 0));
    }

    #[test]
    fn a_scattered_query_is_refused_with_both_places() {
        let error = runs(&["x", "x", "y", "x"]).finish(false).unwrap_err().to_string();
        assert!(error.starts_with("a.txt:13:3: query `x` occurs on lines 10–11"), "{error}");
        assert!(error.contains("again on line 13") && error.contains("option `group`"));
        let mut two = runs(&["x", "y"]);
        two.enter_file("b.txt");
        two.push("y", 1, 3);
        let error = two.finish(false).unwrap_err().to_string();
        assert!(error.starts_with("b.txt:1:3: query `y` occurs on line 11 of a.txt"), "{error}");
    }

    #[test]
    fn gathering_is_stable_and_moves_everything() {
        let groups = runs(&["x", "y", "x", "z", "y", "x"]).finish(true).unwrap();
        assert_eq!(groups.note().unwrap(), "the rows of 2 queries were not adjacent and have been gathered");
        let letters = |text: &str| Some(text.chars().map(String::from).collect::<Texts>());
        let mut parts = Parts {
            features: Features::Dense { width: 1, values: (0..6).map(|i| i as f32).collect() },
            labels: vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
            comments: letters("abcdef"),
            document_ids: letters("ABCDEF"),
            positions: Some(vec![0, 1, 2, 3, 4, 5]),
            ..Parts::default()
        };
        groups.arrange(&mut parts);
        assert_eq!(parts.bounds, [0, 3, 5, 6]);
        assert_eq!(parts.query_ids.iter().collect::<String>(), "xyz");
        assert_eq!(parts.labels, [0.0, 2.0, 5.0, 1.0, 4.0, 3.0]);
        assert_eq!(parts.features, Features::dense(1, parts.labels.clone()));
        assert_eq!(parts.comments.unwrap().iter().collect::<String>(), "acfbed");
        assert_eq!(parts.document_ids.unwrap().iter().collect::<String>(), "ACFBED");
        assert_eq!(parts.positions.unwrap(), [0, 2, 5, 1, 4, 3]);
    }

    #[test]
    fn a_query_that_continues_in_the_next_file_can_be_gathered_in_place() {
        let mut two = runs(&["x", "y"]);
        two.enter_file("b.txt");
        two.push("y", 1, 3);
        let groups = two.finish(true).unwrap();
        assert_eq!((groups.bounds, groups.order, groups.gathered), (vec![0, 1, 3], None, 1));
    }
}
