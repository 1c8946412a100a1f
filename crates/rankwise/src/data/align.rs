//! The same columns for several data sets.

use super::{Dataset, Features, MAX_FEATURES, Parts, Row};
use crate::error::{Error, Result};

impl Dataset {
    /// Gives several data sets the same columns, so that a model trained on one can score the others.
    ///
    /// Numbered features are matched by number: columns of zeros are added on both sides up to the lowest and the
    /// highest number that occurs in any of the data sets. Named features must have the same names in the same order.
    /// A column that is categorical in one of them is categorical in all, with the same code for the same text.
    /// Features that were computed in different ways are an error; where it is not known, they are taken to be those of
    /// the first data set.
    ///
    /// ```
    /// use rankwise::data::{Dataset, Features, Parts};
    /// let one_query = |width: usize, id: &str| Dataset::new(Parts {
    ///     features: Features::dense(width, vec![1.0; width]),
    ///     labels: vec![0.0],
    ///     bounds: vec![0, 1],
    ///     query_ids: [id].into_iter().collect(),
    ///     ..Parts::default()
    /// });
    /// let aligned = Dataset::align_columns(vec![one_query(2, "a")?, one_query(5, "b")?])?;
    /// assert_eq!(aligned[0].width(), 5);
    /// assert_eq!(aligned[0].row(0).get(4), 0.0);
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn align_columns(sets: Vec<Dataset>) -> Result<Vec<Dataset>> {
        let Some(first) = sets.first() else { return Ok(sets) };
        if let Some(other) = sets.iter().find(|set| set.columns().names != first.columns().names) {
            return Err(different_names(first, other));
        }
        if let Some(names) = &first.columns().names {
            let source = first.columns().source.clone();
            for other in sets.iter().filter_map(|set| set.columns().source.as_ref()) {
                source.iter().try_for_each(|source| source.check_same(other, names))?;
            }
            return same_categories(sets)?
                .into_iter()
                .map(|set| match set.columns().source == source {
                    true => Ok(set),
                    false => set.with_source(source.clone()),
                })
                .collect();
        }
        let first_id = sets.iter().map(|set| set.columns().first_id).min().unwrap_or_default();
        let shift = |set: &Dataset| (set.columns().first_id - first_id) as usize;
        let width = sets.iter().map(|set| shift(set) + set.width()).max().unwrap_or_default();
        if width > MAX_FEATURES {
            return Err(Error::data(format!(
                "the files have features from number {first_id} on, {width} in all, which is more than the {MAX_FEATURES} \
                 allowed"
            )));
        }
        let aligned = |set: Dataset| match shift(&set) {
            0 => set.widened(width),
            columns => moved_up(set, columns, first_id).and_then(|set| set.widened(width)),
        };
        same_categories(sets.into_iter().map(aligned).collect::<Result<_>>()?)
    }
}

fn same_categories(sets: Vec<Dataset>) -> Result<Vec<Dataset>> {
    let united = Dataset::united_categories(&sets);
    sets.into_iter().map(|set| set.recoded(&united)).collect()
}

fn different_names(first: &Dataset, other: &Dataset) -> Error {
    let (Some(mine), Some(theirs)) = (&first.columns().names, &other.columns().names) else {
        return Error::data("one file has named features and another has numbered ones");
    };
    let place = (0..mine.len().max(theirs.len())).find(|&i| mine.get(i) != theirs.get(i)).unwrap_or(0);
    let name = |names: &[String]| names.get(place).map_or("absent".to_owned(), |name| format!("`{name}`"));
    Error::data(format!(
        "the files do not have the same feature columns in the same order: feature {} is {} in one and {} in another",
        place + 1,
        name(mine),
        name(theirs)
    ))
}

/// The same with `columns` columns of zeros before the first, which is then feature `first_id`.
fn moved_up(set: Dataset, columns: usize, first_id: u32) -> Result<Dataset> {
    let width = set.width() + columns;
    let features = match &set.parts().features {
        Features::Sparse { starts, columns: old, values, .. } => Features::Sparse {
            width,
            starts: starts.clone(),
            columns: old.iter().map(|column| column + columns as u32).collect(),
            values: values.clone(),
        },
        Features::Dense { .. } => {
            let mut values = Vec::with_capacity(width * set.len());
            for row in 0..set.len() {
                values.resize(values.len() + columns, 0.0);
                if let Row::Dense(row) = set.row(row) {
                    values.extend_from_slice(row);
                }
            }
            Features::dense(width, values)
        }
    };
    let mut parts = Parts { features, ..set.into_parts() };
    parts.columns.first_id = first_id;
    parts.columns.categories = parts.columns.categories.moved(|column| Some(column + columns));
    Dataset::new(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Columns;

    fn set(features: Features, columns: Columns) -> Dataset {
        let query_ids = ["a"].into_iter().collect();
        let (labels, bounds) = (vec![0.0, 1.0], vec![0, 2]);
        Dataset::new(Parts { features, labels, bounds, query_ids, columns, ..Parts::default() }).unwrap()
    }

    fn numbered(first_id: u32) -> Columns {
        Columns { first_id, names: None, ..Columns::default() }
    }

    fn named(names: &[&str]) -> Columns {
        Columns {
            first_id: 1,
            names: Some(names.iter().map(|name| name.to_string()).collect()),
            ..Columns::default()
        }
    }

    fn dense(width: usize) -> Features {
        Features::Dense { width, values: (1..=2 * width).map(|i| i as f32).collect() }
    }

    #[test]
    fn numbered_features_are_matched_by_number() {
        let sparse =
            Features::Sparse { width: 4, starts: vec![0, 1, 2], columns: vec![0, 3], values: vec![5.0, 6.0] };
        let sets = vec![set(dense(2), numbered(1)), set(dense(2), numbered(0)), set(sparse, numbered(1))];
        let aligned = Dataset::align_columns(sets).unwrap();
        let row = |set: &Dataset, row: usize| (0..5).map(|c| set.row(row).get(c)).collect::<Vec<_>>();
        assert!(aligned.iter().all(|set| set.width() == 5 && *set.columns() == numbered(0)));
        assert_eq!(row(&aligned[0], 1), [0.0, 3.0, 4.0, 0.0, 0.0]);
        assert_eq!(row(&aligned[1], 1), [3.0, 4.0, 0.0, 0.0, 0.0]);
        assert_eq!(row(&aligned[2], 0), [0.0, 5.0, 0.0, 0.0, 0.0]);
        assert_eq!(row(&aligned[2], 1), [0.0, 0.0, 0.0, 0.0, 6.0]);
    }

    #[test]
    fn equal_columns_stay_as_they_are_and_other_names_are_rejected() {
        let two = set(dense(2), named(&["x", "y"]));
        assert_eq!(
            Dataset::align_columns(vec![two.clone(), two.clone()]).unwrap(),
            [two.clone(), two.clone()]
        );
        let refusal =
            |other: Dataset| Dataset::align_columns(vec![two.clone(), other]).unwrap_err().to_string();
        let swapped = refusal(set(dense(2), named(&["x", "z"])));
        assert!(
            swapped.contains("same feature columns") && swapped.contains("feature 2 is `y` in one and `z`")
        );
        assert!(
            refusal(set(dense(1), named(&["x"]))).contains("feature 2 is `y` in one and absent in another")
        );
        assert!(refusal(set(dense(2), numbered(1))).contains("named features"));
        assert_eq!(Dataset::align_columns(Vec::new()).unwrap(), []);
    }
}
