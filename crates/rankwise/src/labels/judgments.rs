//! Judgments: who gave which grade to which document of which query.

use crate::data::{AtomicFile, TextColumn, push_f64, push_field, quoted, read_text_table};
use crate::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::Path;

/// The grade that a judge gave to a document of a query.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Judgment {
    /// The query.
    pub query: String,
    /// The id of the document.
    pub document: String,
    /// The name of the judge.
    pub judge: String,
    /// The grade; any finite number.
    pub grade: f64,
    /// A remark.
    pub note: Option<String>,
    /// When it was given.
    pub time: Option<String>,
}

impl Judgment {
    /// The columns of a table of judgments.
    pub const COLUMNS: [&str; 6] = ["query", "document", "judge", "grade", "note", "time"];

    /// Appends the judgment as a row of a table with all columns, without the end of the line. With the grade NaN, it is a row
    /// that takes back what the judge said before.
    pub fn push_row(&self, text: &mut Vec<u8>, delimiter: u8) {
        for field in [&self.query, &self.document, &self.judge] {
            push_field(text, field, delimiter);
            text.push(delimiter);
        }
        if !self.grade.is_nan() {
            push_f64(text, self.grade);
        }
        for field in [&self.note, &self.time] {
            text.push(delimiter);
            push_field(text, field.as_deref().unwrap_or_default(), delimiter);
        }
    }

    /// A judgment without note and time.
    pub fn new(query: &str, document: &str, judge: &str, grade: f64) -> Judgment {
        let [query, document, judge] = [query, document, judge].map(str::to_owned);
        Judgment { query, document, judge, grade, note: None, time: None }
    }
}

/// The columns of a table of judgments, by name. For one that is left out, the usual names are looked for:
///
/// | column | names |
/// |---|---|
/// | query | `query`, `qid`, `query_id` |
/// | document | `document`, `doc`, `docid`, `doc_id`, `docno`, `document_id` |
/// | judge | `judge`, `assessor`, `annotator`, `worker` |
/// | grade | `grade`, `label`, `rating`, `rel`, `relevance` |
/// | note, time | `note`; `time`, `timestamp`: these two may be missing |
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgmentColumns {
    /// The column of the query.
    pub query: Option<String>,
    /// The column of the document.
    pub document: Option<String>,
    /// The column of the judge.
    pub judge: Option<String>,
    /// The column of the grade.
    pub grade: Option<String>,
    /// The column of the note.
    pub note: Option<String>,
    /// The column of the time.
    pub time: Option<String>,
}

impl JudgmentColumns {
    fn columns(&self) -> [TextColumn<'_>; 6] {
        let column = |named, usual, required| TextColumn { named, usual, required };
        [
            column(self.query.as_deref(), &["query", "qid", "query_id"], Some("the query")),
            column(
                self.document.as_deref(),
                &["document", "doc", "docid", "doc_id", "docno", "document_id"],
                Some("the document"),
            ),
            column(self.judge.as_deref(), &["judge", "assessor", "annotator", "worker"], Some("the judge")),
            column(
                self.grade.as_deref(),
                &["grade", "label", "rating", "rel", "relevance"],
                Some("the grade"),
            ),
            column(self.note.as_deref(), &["note"], None),
            column(self.time.as_deref(), &["time", "timestamp"], None),
        ]
    }
}

/// Judgments, at most one for each query, document and judge.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgments {
    all: Vec<Judgment>,
    /// The place of each query, document and judge.
    places: HashMap<(String, String, String), usize>,
    /// Places of judgments that were taken back, until [`compact`](Judgments::compact).
    taken_back: Vec<usize>,
    replaced: usize,
    withdrawn: usize,
    without_grade: usize,
}

impl Judgments {
    /// Reads a table with a header: CSV, or TSV if its name ends in `.tsv`; compressed or not. A row without a grade takes
    /// back what the judge said before, and of several rows with the same query, document and judge the last one counts.
    ///
    /// ```
    /// use rankwise::labels::{JudgmentColumns, Judgments};
    /// let path = std::env::temp_dir().join(format!("rankwise-judgments-{}.csv", std::process::id()));
    /// std::fs::write(&path, "query,document,judge,grade,note\nq,a,ann,1,\nq,a,ann,2,\"on, second thoughts\"\n").unwrap();
    /// let judgments = Judgments::read(&path, &JudgmentColumns::default())?;
    /// assert_eq!((judgments.all().len(), judgments.all()[0].grade, judgments.replaced()), (1, 2.0, 1));
    /// # std::fs::remove_file(&path).unwrap();
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn read(path: &Path, columns: &JudgmentColumns) -> Result<Judgments> {
        Judgments::read_all([path], columns)
    }

    /// Reads several tables, one after the other.
    pub fn read_all<P: AsRef<Path>>(
        paths: impl IntoIterator<Item = P>,
        columns: &JudgmentColumns,
    ) -> Result<Judgments> {
        let mut judgments = Judgments::default();
        for path in paths {
            judgments.add_table(path.as_ref(), columns)?;
        }
        judgments.compact();
        Ok(judgments)
    }

    /// The judgments of rows as those of a table: one with the grade NaN takes back what the judge said before.
    ///
    /// ```
    /// use rankwise::labels::{Judgment, Judgments};
    /// let rows = [("ann", 1.0), ("bob", 2.0), ("ann", f64::NAN)].map(|(judge, grade)| Judgment::new("q", "d", judge, grade));
    /// let judgments = Judgments::of_rows(rows)?;
    /// assert_eq!((judgments.all().len(), judgments.withdrawn()), (1, 1));
    /// # Ok::<(), rankwise::Error>(())
    /// ```
    pub fn of_rows(rows: impl IntoIterator<Item = Judgment>) -> Result<Judgments> {
        let mut judgments = Judgments::default();
        for row in rows {
            match row.grade.is_nan() {
                true => judgments.take_back(&row.query, &row.document, &row.judge),
                false => judgments.push(row)?,
            }
        }
        judgments.compact();
        Ok(judgments)
    }

    fn add_table(&mut self, path: &Path, columns: &JudgmentColumns) -> Result<()> {
        read_text_table(path, columns.columns(), |row| {
            let [query, document, judge, grade, note, time] = row.fields;
            let required = |field: Option<&str>, what: &str| match field {
                Some(text) if !text.is_empty() => Ok(text.to_owned()),
                _ => Err(row.error(format!("the row has no {what}"))),
            };
            let grade = grade.unwrap_or_default();
            if grade.is_empty() {
                let [query, document, judge] = [query, document, judge].map(Option::unwrap_or_default);
                self.take_back(query, document, judge);
                return Ok(());
            }
            let number = fast_float2::parse::<f64, _>(grade).ok().filter(|number| number.is_finite());
            let optional = |field: Option<&str>| field.filter(|text| !text.is_empty()).map(str::to_owned);
            self.push(Judgment {
                query: required(query, "query")?,
                document: required(document, "document")?,
                judge: required(judge, "judge")?,
                grade: number.ok_or_else(|| {
                    row.error(format!("expected a number as the grade, found {}", quoted(grade.as_bytes())))
                })?,
                note: optional(note),
                time: optional(time),
            })
        })
    }

    /// Adds a judgment. One of the same query, document and judge is replaced.
    pub fn push(&mut self, judgment: Judgment) -> Result<()> {
        if !judgment.grade.is_finite() {
            let Judgment { document, judge, grade, .. } = &judgment;
            return Err(Error::data(format!(
                "the grade of document `{document}` by judge `{judge}` is {grade}"
            )));
        }
        let key = (judgment.query.clone(), judgment.document.clone(), judgment.judge.clone());
        match self.places.get(&key) {
            Some(&place) => {
                self.all[place] = judgment;
                self.replaced += 1;
            }
            None => {
                self.places.insert(key, self.all.len());
                self.all.push(judgment);
            }
        }
        Ok(())
    }

    /// Takes a judgment back. Returns whether there was one.
    pub fn withdraw(&mut self, query: &str, document: &str, judge: &str) -> bool {
        let found = self.remove(query, document, judge);
        self.compact();
        found
    }

    /// Takes a judgment back for a row without a grade.
    fn take_back(&mut self, query: &str, document: &str, judge: &str) {
        match self.remove(query, document, judge) {
            true => self.withdrawn += 1,
            false => self.without_grade += 1,
        }
    }

    /// Forgets the place of a judgment. Returns whether there was one.
    fn remove(&mut self, query: &str, document: &str, judge: &str) -> bool {
        let place = self.places.remove(&[query, document, judge].map(str::to_owned).into());
        self.taken_back.extend(place);
        place.is_some()
    }

    /// Removes the judgments that were taken back, all at once.
    fn compact(&mut self) {
        if self.taken_back.is_empty() {
            return;
        }
        self.taken_back.sort_unstable();
        let taken_back = std::mem::take(&mut self.taken_back);
        let mut place = 0;
        self.all.retain(|_| {
            place += 1;
            taken_back.binary_search(&(place - 1)).is_err()
        });
        let before = |place: usize| taken_back.partition_point(|taken| *taken < place);
        self.places.values_mut().for_each(|place| *place -= before(*place));
    }

    /// All judgments, in the order in which each was first given.
    pub fn all(&self) -> &[Judgment] {
        &self.all
    }

    /// How many judgments were replaced by a later one of the same judge.
    pub fn replaced(&self) -> usize {
        self.replaced
    }

    /// How many judgments were taken back by a row without a grade.
    pub fn withdrawn(&self) -> usize {
        self.withdrawn
    }

    /// What was replaced, taken back and left out, a sentence each.
    pub fn notes(&self) -> Vec<String> {
        let counts = [
            (self.without_grade, "row has no grade and is left out", "rows have no grade and are left out"),
            (
                self.withdrawn,
                "judgment was taken back by a later row without a grade",
                "judgments were taken back by later rows without a grade",
            ),
            (
                self.replaced,
                "judgment was replaced by a later one of the same judge, query and document",
                "judgments were replaced by later ones of the same judge, query and document",
            ),
        ];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        counts.map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many })).collect()
    }

    /// How many rows had no grade and took nothing back.
    pub fn without_grade(&self) -> usize {
        self.without_grade
    }

    /// Writes the judgments as CSV, or TSV if the name ends in `.tsv`.
    pub fn write(&self, path: &Path) -> Result<()> {
        let name = path.to_string_lossy();
        let delimiter = if name.contains(".tsv") { b'\t' } else { b',' };
        let mut file = AtomicFile::create(path)?;
        let mut text = Vec::new();
        for (i, name) in Judgment::COLUMNS.iter().enumerate() {
            text.extend((i > 0).then_some(delimiter));
            text.extend_from_slice(name.as_bytes());
        }
        text.push(b'\n');
        for judgment in &self.all {
            judgment.push_row(&mut text, delimiter);
            text.push(b'\n');
        }
        file.put(&text)?;
        file.commit()
    }

    /// The judgments by document, in the order of queries and documents.
    pub(super) fn panel(&self) -> Panel<'_> {
        let mut judges: Vec<&str> = self.all.iter().map(|judgment| judgment.judge.as_str()).collect();
        judges.sort_unstable();
        judges.dedup();
        let mut grades: Vec<f64> = self.all.iter().map(|judgment| judgment.grade + 0.0).collect();
        grades.sort_unstable_by(f64::total_cmp);
        grades.dedup();
        let mut sorted: Vec<&Judgment> = self.all.iter().collect();
        sorted.sort_unstable_by_key(|j| (&j.query, &j.document, &j.judge));
        let same = |a: &&Judgment, b: &&Judgment| (&a.query, &a.document) == (&b.query, &b.document);
        let item = |of_document: &[&'_ Judgment]| -> Vec<(usize, usize)> {
            let numbers = of_document.iter().map(|judgment| {
                (
                    judges.partition_point(|judge| *judge < judgment.judge.as_str()),
                    grades.partition_point(|grade| *grade < judgment.grade),
                )
            });
            numbers.collect()
        };
        let documents = || sorted.chunk_by(same);
        Panel {
            items: documents().map(|j| (j[0].query.as_str(), j[0].document.as_str())).collect(),
            ratings: documents().map(item).collect(),
            judges,
            grades,
        }
    }
}

/// Judgments as numbers.
pub(super) struct Panel<'a> {
    /// The query and document of each item, ascending.
    pub(super) items: Vec<(&'a str, &'a str)>,
    /// The names of the judges, ascending.
    pub(super) judges: Vec<&'a str>,
    /// The grades that were given, ascending.
    pub(super) grades: Vec<f64>,
    /// The judge and the grade, by their numbers, of each judgment of each item.
    pub(super) ratings: Vec<Vec<(usize, usize)>>,
}
