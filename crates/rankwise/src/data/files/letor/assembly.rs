//! The data set under construction: fragments are appended in the order of the text.

use super::fragment::Fragment;
use super::rows::{MatrixShape, RowBuffer};
use crate::data::files::excerpt::quoted;
use crate::data::files::grouping::Runs;
use crate::data::{Categories, Columns, Dataset, Loaded, MAX_FEATURES, Parts, ReadOptions, Texts};
use crate::error::{Error, Place, Result};

/// Everything read so far.
pub(super) struct Assembly {
    labels: Vec<f32>,
    rows: RowBuffer,
    runs: Runs,
    comments: Option<Texts>,
    /// Files so far; the last is being read.
    files: Vec<String>,
    lines: u64,
    documents_before_file: usize,
}

impl Assembly {
    /// An empty data set. Feature ids start at 1 unless `first_id` is given or an id 0 occurs.
    pub(super) fn new(first_id: Option<u32>) -> Self {
        Assembly {
            labels: Vec::new(),
            rows: RowBuffer::new(first_id.unwrap_or(1)),
            runs: Runs::new(),
            comments: None,
            files: Vec::new(),
            lines: 0,
            documents_before_file: 0,
        }
    }

    /// Fragments appended from now on come from this file.
    pub(super) fn enter_file(&mut self, name: &str) {
        self.runs.enter_file(name);
        self.files.push(name.to_owned());
        self.lines = 0;
        self.documents_before_file = self.labels.len();
    }

    /// Fails if the file had no documents.
    pub(super) fn leave_file(&self) -> Result<()> {
        match self.labels.len() == self.documents_before_file {
            true => Err(Error::malformed(format!(
                "{} has no documents, only blank lines or comments",
                self.file()
            ))),
            false => Ok(()),
        }
    }

    fn file(&self) -> &str {
        self.files.last().map_or("", String::as_str)
    }

    /// The expected shape of the next rows.
    pub(super) fn shape(&self) -> MatrixShape {
        self.rows.shape()
    }

    /// Appends a fragment. If it has a fault, that is the error.
    pub(super) fn append(&mut self, fragment: &Fragment) -> Result<()> {
        self.append_comments(fragment);
        self.labels.extend_from_slice(&fragment.labels);
        self.rows.append(&fragment.rows);
        for (run, id) in fragment.runs.iter().zip(fragment.query_ids.iter()) {
            let line = self.lines + 1;
            let lines = line + run.first_line..=line + run.last_line;
            self.runs.push_run(id, run.count, lines, run.at as u64 + 1);
        }
        self.lines += fragment.lines;
        match &fragment.fault {
            None => Ok(()),
            Some(fault) => {
                let column = fault.at as u64 + 1;
                let place = Place { file: self.file().to_owned(), line: self.lines + 1, column };
                Err(Error::parse(place, &*fault.message))
            }
        }
    }

    fn append_comments(&mut self, fragment: &Fragment) {
        if fragment.comments.is_none() && self.comments.is_none() {
            return;
        }
        let earlier = self.labels.len();
        let all = self.comments.get_or_insert_with(|| (0..earlier).map(|_| "").collect());
        match &fragment.comments {
            Some(comments) => all.append(comments),
            None => fragment.labels.iter().for_each(|_| all.push("")),
        }
    }

    /// The first error in the text: `error`, unless the rows of a query before it are not adjacent.
    pub(super) fn earliest_error(self, error: Error, gather: bool) -> Error {
        self.runs.finish(gather).err().unwrap_or(error)
    }

    /// The data set.
    pub(super) fn finish(mut self, options: &ReadOptions) -> Result<Loaded> {
        let groups = self.runs.finish(options.group)?;
        let within = |error: String| format!("{}: {error}", self.files.join(", "));
        if self.rows.width() > MAX_FEATURES {
            // Known only at the end: the highest id allowed depends on whether there is an id 0.
            return Err(Error::malformed(within(too_many_columns(self.rows.first()))));
        }
        let finished = self.rows.finish(options.layout, options.memory_limit);
        let (features, first_id) = finished.map_err(|e| Error::data(within(e.to_string())))?;
        self.labels.shrink_to_fit();
        if let Some(comments) = &mut self.comments {
            comments.shrink_to_fit();
        }
        let mut notes: Vec<String> = groups.note().into_iter().collect();
        if options.first_id.is_none() && first_id == 0 {
            notes.push("feature ids start at 0".to_owned());
        }
        if features.width() == 0 {
            notes.push("no line has any features".to_owned());
        }
        let categories = numbered_categories(&options.columns.categorical, first_id, features.width());
        let categories = categories.map_err(|e| Error::parameter(within(e)))?;
        let columns = Columns { first_id, categories, ..Columns::default() };
        let mut parts =
            Parts { features, labels: self.labels, comments: self.comments, columns, ..Parts::default() };
        let moved = groups.order.is_some();
        groups.arrange(&mut parts);
        Ok(Loaded { data: Dataset::new(parts)?, notes, moved })
    }
}

/// Why more than [`MAX_FEATURES`] columns are refused.
pub(in crate::data::files) fn too_many_columns(first_id: u32) -> String {
    format!(
        "feature ids run from {first_id} to {MAX_FEATURES}, which is more than the {MAX_FEATURES} columns allowed"
    )
}

/// The categorical columns by the numbers of their features.
pub(in crate::data::files) fn numbered_categories(
    numbers: &[String],
    first_id: u32,
    width: usize,
) -> std::result::Result<Categories, String> {
    let column = |number: &String| {
        let column = number.trim().parse::<u32>().ok().and_then(|number| number.checked_sub(first_id));
        column.map(|column| column as usize).filter(|column| *column < width).ok_or_else(|| {
            format!(
                "there is no feature {} to read as categorical; LETOR text has features by number, here from {first_id} to \
                 {}",
                quoted(number.as_bytes()),
                (width as u64 + u64::from(first_id)).saturating_sub(1)
            )
        })
    };
    let columns: Vec<usize> = numbers.iter().map(column).collect::<std::result::Result<_, _>>()?;
    Ok(Categories::default().with_numbers(columns))
}
