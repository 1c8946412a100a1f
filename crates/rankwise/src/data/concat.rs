//! Several data sets as one.

use super::{Dataset, Features, Parts, Row, Texts};
use crate::error::{Error, Result};

/// Dense rows are widened to at most this many times their values, not counting `SLACK` cells.
const MOST_PADDING: usize = 4;
const SLACK: usize = 1 << 16;

impl Dataset {
    /// The queries of all `sets`, one set after the other. The sets must have the same column names. The result is as
    /// wide as the widest of them, and sparse if any of them is or if dense rows would mostly be padding. A query id that occurs twice is an error.
    pub fn concat(sets: &[&Dataset]) -> Result<Dataset> {
        let Some(first) = sets.first() else { return Err(Error::data("there are no data sets to join")) };
        if sets.iter().any(|s| s.columns() != first.columns()) {
            return Err(Error::data("the data sets do not have the same feature columns"));
        }
        if sets.iter().any(|s| s.click_labels() != first.click_labels()) {
            return Err(Error::data(
                "the labels of the data sets were made in different ways, some of them from clicks",
            ));
        }
        let mut bounds = vec![0];
        for set in sets {
            let start = bounds[bounds.len() - 1];
            bounds.extend(set.bounds()[1..].iter().map(|b| b + start));
        }
        let query_ids: Texts = sets.iter().flat_map(|s| s.parts().query_ids.iter()).collect();
        check_distinct(&query_ids)?;
        let width = sets.iter().map(|s| s.width()).max().unwrap_or(0);
        Dataset::new(Parts {
            features: joined_features(sets, width),
            labels: sets.iter().flat_map(|s| s.labels()).copied().collect(),
            bounds,
            query_ids,
            columns: first.columns().clone(),
            comments: joined_texts(sets, |p| p.comments.as_ref()),
            document_ids: joined_document_ids(sets),
            query_weights: joined(sets, |s| s.query_count(), |p| p.query_weights.as_deref(), 1.0),
            positions: joined(sets, |s| s.len(), |p| p.positions.as_deref(), 0),
            clicks: first.click_labels().cloned(),
        })
    }

    /// The same data with columns of zeros added up to `width`. It is an error if the columns have names.
    pub fn widened(self, width: usize) -> Result<Dataset> {
        if width <= self.width() {
            return Ok(self);
        }
        let features = joined_features(&[&self], width);
        Dataset::new(Parts { features, ..self.into_parts() })
    }
}

fn check_distinct(ids: &Texts) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    match ids.iter().find(|id| !seen.insert(*id)) {
        Some(id) => Err(Error::data(format!("the query `{id}` is in two of the data sets"))),
        None => Ok(()),
    }
}

/// Whether dense rows of `width` columns would mostly be padding of `given` values.
pub(crate) fn is_padding(given: usize, documents: usize, width: usize) -> bool {
    documents.saturating_mul(width) > given.saturating_mul(MOST_PADDING).saturating_add(SLACK)
}

fn joined_features(sets: &[&Dataset], width: usize) -> Features {
    let rows = || sets.iter().flat_map(|s| (0..s.len()).map(|r| s.row(r)));
    let given: usize = sets.iter().map(|s| s.parts().features.values().len()).sum();
    let documents = sets.iter().map(|s| s.len()).sum::<usize>();
    if is_padding(given, documents, width)
        || sets.iter().any(|s| matches!(s.parts().features, Features::Sparse { .. }))
    {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows() {
            for (c, x) in row.iter().filter(|(_, x)| *x != 0.0) {
                columns.push(c as u32);
                values.push(x);
            }
            starts.push(values.len());
        }
        return Features::Sparse { width, starts, columns, values };
    }
    let mut values = Vec::with_capacity(width * documents);
    for row in rows() {
        if let Row::Dense(row) = row {
            values.extend_from_slice(row);
            values.resize(values.len() + width - row.len(), 0.0);
        }
    }
    Features::dense(width, values)
}

fn joined_texts(sets: &[&Dataset], part: impl Fn(&Parts) -> Option<&Texts>) -> Option<Texts> {
    sets.iter().any(|s| part(s.parts()).is_some()).then(|| {
        sets.iter().flat_map(|s| (0..s.len()).map(|r| part(s.parts()).map_or("", |t| t.get(r)))).collect()
    })
}

/// Document ids are joined if any set stores them; ids in comments are then taken from there.
fn joined_document_ids(sets: &[&Dataset]) -> Option<Texts> {
    sets.iter().any(|s| s.parts().document_ids.is_some()).then(|| {
        sets.iter().flat_map(|s| (0..s.len()).map(|r| s.document_id(r).unwrap_or_default())).collect()
    })
}

fn joined<T: Copy>(
    sets: &[&Dataset],
    length: impl Fn(&Dataset) -> usize,
    part: impl Fn(&Parts) -> Option<&[T]>,
    absent: T,
) -> Option<Vec<T>> {
    sets.iter().any(|s| part(s.parts()).is_some()).then(|| {
        let of = |s: &&Dataset| part(s.parts()).map_or_else(|| vec![absent; length(s)], <[T]>::to_vec);
        sets.iter().flat_map(of).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(ids: &[&str], features: Features) -> Dataset {
        let data = Dataset::from_features(features, vec![1.0; ids.len()], &vec![1; ids.len()]).unwrap();
        data.with_query_ids(ids).unwrap()
    }

    #[test]
    fn narrow_rows_are_filled_and_optional_parts_kept() {
        let narrow = set(&["a"], Features::dense(1, vec![3.0]));
        let mut parts = set(&["b", "c"], Features::dense(2, vec![1.0, 2.0, 4.0, 5.0])).into_parts();
        parts.query_weights = Some(vec![0.5, 2.0]);
        parts.document_ids = Some(["x", "y"].into_iter().collect());
        let wide = Dataset::new(parts).unwrap();
        let both = Dataset::concat(&[&narrow, &wide]).unwrap();
        assert_eq!(both.parts().features, Features::dense(2, vec![3.0, 0.0, 1.0, 2.0, 4.0, 5.0]));
        assert_eq!(both.bounds(), [0, 1, 2, 3]);
        assert_eq!(both.parts().query_weights, Some(vec![1.0, 0.5, 2.0]));
        assert_eq!(both.document_id(1), Some("x"));
        assert_eq!(both.select_queries(&[1, 2]).parts().features, wide.parts().features);
    }

    #[test]
    fn sparse_and_dense_rows_join_as_sparse() {
        let dense = set(&["a"], Features::dense(3, vec![0.0, f32::NAN, 2.0]));
        let sparse = Features::Sparse { width: 2, starts: vec![0, 1], columns: vec![1], values: vec![7.0] };
        let both = Dataset::concat(&[&dense, &set(&["b"], sparse)]).unwrap();
        let Features::Sparse { width, starts, columns, values } = &both.parts().features else {
            panic!("dense")
        };
        assert_eq!((*width, &starts[..], &columns[..]), (3, &[0, 2, 3][..], &[1, 2, 1][..]));
        assert!(values[0].is_nan() && values[1..] == [2.0, 7.0]);
    }

    #[test]
    fn a_widened_set_has_zeros_in_the_new_columns() {
        let wide = set(&["a"], Features::dense(1, vec![3.0])).widened(3).unwrap();
        assert_eq!(wide.parts().features, Features::dense(3, vec![3.0, 0.0, 0.0]));
        assert_eq!(wide.clone().widened(2).unwrap(), wide);
    }

    #[test]
    fn a_set_that_is_widened_much_becomes_sparse() {
        let rows = 1000;
        let ids: Vec<String> = (0..rows).map(|q| q.to_string()).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let narrow = set(&ids, Features::dense(1, vec![3.0; rows]));
        let wide = narrow.widened(1 << 22).unwrap();
        assert!(matches!(&wide.parts().features, Features::Sparse { values, .. } if values.len() == rows));
    }

    #[test]
    fn a_query_in_both_is_an_error() {
        let one = set(&["a"], Features::dense(1, vec![1.0]));
        assert!(Dataset::concat(&[&one, &one]).unwrap_err().to_string().contains("query `a`"));
        assert!(Dataset::concat(&[]).is_err());
    }
}
