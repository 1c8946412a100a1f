//! Data sets.

use crate::arrays::{self, Ids, Matrix, check_length};
use crate::errors::exception;
use crate::work;
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rankwise::data::{ColumnRoles, Columns, Dataset, Gathered, Parts, ReadOptions, gather, read_all};
use rankwise::models::{Numbering, Ranker};
use std::path::PathBuf;
use std::sync::Arc;

/// Documents with features, labels and queries.
///
/// Args:
///     X: The features, one row per document: NumPy, SciPy sparse, pandas, polars, pyarrow, or lists.
///     y: The labels, one per document; greater is better. Without them, the data can only be scored.
///     qid: The query of each document, numbers or texts in any order. Without qid and group, all documents are one query.
///     group: The number of documents of each query, whose rows are adjacent, as LightGBM takes it.
///     query_weight: One weight per query, or one per document that is the same within each query.
///     names: The names of the features; those of a frame are known.
///     categorical: Features that hold categories as whole numbers, by name or by number from 0.
///     docid: The id of each document.
///     position: The position at which each document was shown, from 1.
///
/// ```text
/// >>> import rankwise as rw
/// >>> data = rw.Data([[0.2, 3], [0.9, 1], [0.4, 2], [0.1, 2]], y=[0, 2, 1, 0], qid=[1, 1, 2, 2])
/// >>> data
/// <rankwise.Data: 4 documents in 2 queries, 2 features>
/// >>> data.shape, data.n_queries
/// ((4, 2), 2)
///
/// ```
#[pyclass(frozen, module = "rankwise", name = "Data", skip_from_py_object)]
pub(crate) struct Data {
    pub(crate) dataset: Arc<Dataset>,
    /// The row of Python's arrays that each document was, if the documents were gathered by query.
    order: Option<Vec<usize>>,
    labelled: bool,
    /// Whether columns are known by their place alone, and not by the numbers of a text file.
    by_place: bool,
}

#[pymethods]
impl Data {
    #[new]
    #[pyo3(signature = (X, y=None, *, qid=None, group=None, query_weight=None, names=None, categorical=None, docid=None, position=None))]
    #[expect(non_snake_case, reason = "scikit-learn's name for features")]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        X: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        qid: Option<&Bound<'_, PyAny>>,
        group: Option<&Bound<'_, PyAny>>,
        query_weight: Option<&Bound<'_, PyAny>>,
        names: Option<Vec<String>>,
        categorical: Option<Vec<Bound<'_, PyAny>>>,
        docid: Option<&Bound<'_, PyAny>>,
        position: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Data> {
        let Matrix { mut features, mut columns, rows } = arrays::matrix(X)?;
        if names.is_some() {
            columns.names = names;
        }
        let (Gathered { bounds, order, .. }, query_ids) = queries(qid, group, rows)?;
        let row = |place: usize| order.as_ref().map_or(place, |order| order[place]);
        let reordered = |name: &str, values: &Bound<'_, PyAny>| -> PyResult<Vec<f32>> {
            let values = arrays::singles(name, values)?;
            check_length(name, values.len(), rows)?;
            Ok((0..rows).map(|place| values[row(place)]).collect())
        };
        let labels = y.map_or_else(|| Ok(vec![0.0; rows]), |y| reordered("y", y))?;
        let document_ids = docid.map(|ids| Ids::new("docid", ids)).transpose()?;
        if let Some(ids) = &document_ids {
            check_length("docid", ids.len(), rows)?;
        }
        let positions = position.map(|values| reordered("position", values)).transpose()?;
        let query_weights = query_weight.map(|weights| weights_of(weights, &bounds, row)).transpose()?;
        if let Some(order) = &order {
            features = features.select(order);
        }
        let mut parts = Parts {
            features,
            labels,
            bounds,
            query_ids: query_ids.into_iter().collect(),
            columns,
            comments: None,
            document_ids: document_ids.map(|ids| (0..rows).map(|place| ids.text(row(place))).collect()),
            query_weights,
            positions: positions.map(|positions| positions.into_iter().map(|p| p as u32).collect()),
            clicks: None,
        };
        if let Some(chosen) = categorical {
            let categories = std::mem::take(&mut parts.columns.categories);
            parts.columns.categories = categories.with_numbers(columns_called(&chosen, &parts.columns)?);
        }
        let dataset = work::unattended(X.py(), None, || Dataset::new(parts))?.map_err(exception)?;
        Ok(Data { dataset: Arc::new(dataset), order, labelled: y.is_some(), by_place: true })
    }

    /// The number of documents.
    fn __len__(&self) -> usize {
        self.dataset.len()
    }

    fn __repr__(&self) -> String {
        let data = &self.dataset;
        let counted = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
        format!(
            "<rankwise.Data: {} in {}, {}>",
            counted(data.len(), "document", "documents"),
            counted(data.query_count(), "query", "queries"),
            counted(data.width(), "feature", "features")
        )
    }

    /// The number of documents and of features.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.dataset.len(), self.dataset.width())
    }

    /// The number of queries.
    #[getter]
    fn n_queries(&self) -> usize {
        self.dataset.query_count()
    }

    /// The names of the features, if they have any.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        self.dataset.columns().names.clone()
    }

    /// The labels, one per document, in the order in which the documents were given.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        self.labelled()?;
        Ok(self.in_given_order(self.dataset.labels().to_vec()).into_pyarray(py))
    }

    /// The id of each document's query, in the order in which the documents were given.
    #[getter]
    fn qid(&self) -> Vec<String> {
        let ids =
            self.dataset.queries().flat_map(|query| std::iter::repeat_n(query.id().to_owned(), query.len()));
        self.in_given_order(ids.collect())
    }

    /// The id of each document, in the order in which the documents were given; `None` if they have none.
    #[getter]
    fn docid(&self) -> Option<Vec<String>> {
        let ids =
            (0..self.dataset.len()).map(|document| self.dataset.document_id(document).map(str::to_owned));
        ids.collect::<Option<_>>().map(|ids| self.in_given_order(ids))
    }

    /// The queries: the rows in the order of the queries, where each query starts among them (and the number of rows), and
    /// the weight of each query.
    #[getter]
    #[expect(clippy::type_complexity, reason = "three arrays")]
    fn queries<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>) {
        let rows: Vec<usize> = (0..self.dataset.len()).collect();
        let order: Vec<i64> = self.order.as_ref().unwrap_or(&rows).iter().map(|&row| row as i64).collect();
        let bounds: Vec<i64> = self.dataset.bounds().iter().map(|&bound| bound as i64).collect();
        let weights: Vec<f64> = self.dataset.queries().map(|query| query.weight()).collect();
        (order.into_pyarray(py), bounds.into_pyarray(py), weights.into_pyarray(py))
    }

    /// A fingerprint of everything that learning looks at.
    #[getter]
    fn fingerprint(&self) -> String {
        self.dataset.fingerprint()
    }
}

impl Data {
    /// Data that was read from files.
    pub(crate) fn of_dataset(dataset: Dataset) -> Data {
        Data { dataset: Arc::new(dataset), order: None, labelled: true, by_place: false }
    }

    /// The data of Python's argument: a `Data`, or features to score.
    pub(crate) fn of<'py>(
        container: &Bound<'py, PyAny>,
        qid: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<Data>> {
        if let Ok(data) = container.cast::<Data>() {
            return match qid {
                Some(_) => {
                    Err(PyValueError::new_err("the data has queries already; qid is for plain features"))
                }
                None => Ok(data.clone().unbind()),
            };
        }
        let data = Data::new(container, None, qid, None, None, None, None, None, None)?;
        Py::new(container.py(), data)
    }

    /// The data for a model to score. The columns of an array are the model's features in their order, whatever the number
    /// of the first is in its file.
    pub(crate) fn for_model(&self, ranker: &Ranker) -> PyResult<Arc<Dataset>> {
        let (own, first_id) = (self.dataset.columns(), ranker.columns.first_id);
        if !self.by_place || own.names.is_some() || own.first_id == first_id {
            return Ok(self.dataset.clone());
        }
        let columns = Columns { first_id, ..own.clone() };
        Ok(Arc::new(Dataset::clone(&self.dataset).with_columns(columns).map_err(exception)?))
    }

    /// Fails if the data has no labels.
    pub(crate) fn labelled(&self) -> PyResult<&Arc<Dataset>> {
        match self.labelled {
            true => Ok(&self.dataset),
            false => Err(PyValueError::new_err("the data has no labels; give them as y")),
        }
    }

    /// Values of the documents, in the order in which Python gave them.
    pub(crate) fn in_given_order<T: Clone>(&self, values: Vec<T>) -> Vec<T> {
        let Some(order) = &self.order else { return values };
        let mut given = values.clone();
        order.iter().zip(values).for_each(|(&row, value)| given[row] = value);
        given
    }

    /// One score per document, given in Python's order, in that of the data set.
    pub(crate) fn scores_in_data_order(&self, name: &str, scores: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let scores = arrays::doubles(name, scores)?;
        if scores.len() != self.dataset.len() {
            let (found, needed) = (scores.len(), self.dataset.len());
            return Err(PyValueError::new_err(format!(
                "{name} has {found} values, and the data has {needed} documents"
            )));
        }
        Ok(match &self.order {
            Some(order) => order.iter().map(|&row| scores[row]).collect(),
            None => scores,
        })
    }

    /// The query of each of Python's rows, by number.
    pub(crate) fn query_of_rows(&self) -> Vec<usize> {
        let numbers =
            self.dataset.queries().flat_map(|query| std::iter::repeat_n(query.index(), query.len()));
        self.in_given_order(numbers.collect())
    }

    /// The order of the documents, for values of many columns.
    pub(crate) fn order(&self) -> Option<&[usize]> {
        self.order.as_deref()
    }
}

/// The columns with these names or numbers (from 0).
fn columns_called(chosen: &[Bound<'_, PyAny>], columns: &Columns) -> PyResult<Vec<usize>> {
    let column = |chosen: &Bound<'_, PyAny>| -> PyResult<usize> {
        if let Ok(number) = chosen.extract::<usize>() {
            return Ok(number);
        }
        let name: String = chosen.extract().map_err(|_| {
            PyTypeError::new_err("categorical is a list of columns, by name or by number from 0")
        })?;
        let place = columns.names.iter().flatten().position(|known| *known == name);
        place.ok_or_else(|| {
            PyValueError::new_err(format!("categorical names `{name}`, and X has no such column"))
        })
    };
    chosen.iter().map(column).collect()
}

/// The queries of `rows` rows and their ids.
pub(crate) fn queries(
    qid: Option<&Bound<'_, PyAny>>,
    group: Option<&Bound<'_, PyAny>>,
    rows: usize,
) -> PyResult<(Gathered, Vec<String>)> {
    match (qid, group) {
        (Some(_), Some(_)) => {
            Err(PyValueError::new_err("qid and group both say where queries are; give one of them"))
        }
        (Some(qid), None) => {
            let ids = Ids::new("qid", qid)?;
            check_length("qid", ids.len(), rows)?;
            let gathered = match &ids {
                Ids::Numbers(ids) => gather(ids),
                Ids::Texts(ids) => gather(ids),
            };
            let texts = gathered.first_rows.iter().map(|&row| ids.text(row)).collect();
            Ok((gathered, texts))
        }
        (None, group) => {
            let sizes = group.map_or_else(|| Ok(vec![rows]), |group| sizes(group, rows))?;
            let sizes: Vec<usize> = sizes.into_iter().filter(|size| *size > 0).collect();
            let mut bounds = vec![0];
            sizes.iter().for_each(|size| bounds.push(bounds[bounds.len() - 1] + size));
            let texts = (1..=sizes.len()).map(|query| query.to_string()).collect();
            Ok((Gathered { first_rows: bounds[..sizes.len()].to_vec(), bounds, order: None }, texts))
        }
    }
}

/// The sizes of queries, as LightGBM and XGBoost take them.
fn sizes(group: &Bound<'_, PyAny>, rows: usize) -> PyResult<Vec<usize>> {
    let sizes = arrays::doubles("group", group)?;
    if let Some(size) = sizes.iter().find(|size| **size < 0.0 || size.fract() != 0.0) {
        return Err(PyValueError::new_err(format!("group has {size}, which is not the size of a query")));
    }
    let total: f64 = sizes.iter().sum();
    if total == rows as f64 {
        return Ok(sizes.into_iter().map(|size| size as usize).collect());
    }
    let hint = if sizes.len() == rows { "; for one id per row use qid=" } else { "" };
    Err(PyValueError::new_err(format!("the sizes in group sum to {total}, and X has {rows} rows{hint}")))
}

/// One weight per query, from as many weights or from one per row that is the same for all rows of a query.
fn weights_of(
    weights: &Bound<'_, PyAny>,
    bounds: &[usize],
    row: impl Fn(usize) -> usize,
) -> PyResult<Vec<f32>> {
    let weights = arrays::singles("query_weight", weights)?;
    let (queries, rows) = (bounds.len() - 1, bounds[bounds.len() - 1]);
    if weights.len() == queries && queries != rows {
        return Ok(weights);
    }
    if weights.len() != rows {
        return Err(PyValueError::new_err(format!(
            "query_weight has {} values; give one per query ({queries}), or one per row ({rows})",
            weights.len()
        )));
    }
    let query_weight = |query: &[usize]| {
        let first = weights[row(query[0])];
        match (query[0]..query[1]).all(|place| weights[row(place)] == first) {
            true => Ok(first),
            false => Err(PyValueError::new_err(
                "weights differ within a query; Rankwise weights queries, so give all rows of a query the same weight",
            )),
        }
    };
    bounds.windows(2).map(query_weight).collect()
}

/// Reads one file or several, plain or compressed, as one data set: LETOR text, CSV, TSV or Parquet.
///
/// Args:
///     path: A path, or several.
///     label: The column of labels; this and the next five are for CSV, TSV and Parquet.
///     qid: The column of query ids.
///     docid: The column of document ids.
///     weight: The column of query weights.
///     position: The column of positions.
///     ignore: Columns to leave out.
///     only: The columns that are features, if not all others are.
///     categorical: Columns that hold categories.
///     first_id: The number of the first feature in LETOR text, 0 or 1; found out by default.
///
/// ```text
/// >>> import pathlib, tempfile
/// >>> import rankwise as rw
/// >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.txt"
/// >>> _ = path.write_text("2 qid:1 1:0.9 2:3\n0 qid:1 1:0.2 2:1\n1 qid:2 1:0.5 2:2\n")
/// >>> rw.read(path)
/// <rankwise.Data: 3 documents in 2 queries, 2 features>
///
/// ```
#[pyfunction]
#[pyo3(signature = (path, *, label=None, qid=None, docid=None, weight=None, position=None, ignore=Vec::new(), only=Vec::new(), categorical=Vec::new(), first_id=None))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn read(
    py: Python<'_>,
    path: Paths,
    label: Option<String>,
    qid: Option<String>,
    docid: Option<String>,
    weight: Option<String>,
    position: Option<String>,
    ignore: Vec<String>,
    only: Vec<String>,
    categorical: Vec<String>,
    first_id: Option<u32>,
) -> PyResult<Data> {
    let reading = Reading { label, qid, docid, weight, position, ignore, only, categorical, first_id };
    let options = reading.options();
    let loaded = work::unattended(py, None, || read_all(&path.list(), &options))?.map_err(exception)?;
    work::log(py, "info", &loaded.notes)?;
    Ok(Data::of_dataset(loaded.data))
}

/// How to read files: the arguments of `read`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    label: Option<String>,
    qid: Option<String>,
    docid: Option<String>,
    weight: Option<String>,
    position: Option<String>,
    ignore: Vec<String>,
    only: Vec<String>,
    categorical: Vec<String>,
    first_id: Option<u32>,
}

impl Reading {
    pub(crate) fn options(self) -> ReadOptions {
        let columns = ColumnRoles {
            label: self.label,
            query: self.qid,
            document: self.docid,
            weight: self.weight,
            position: self.position,
            ignore: self.ignore,
            only: self.only,
            categorical: self.categorical,
        };
        ReadOptions { columns, first_id: self.first_id, group: true, ..ReadOptions::default() }
    }

    /// The same for files that a model scores. LETOR text counts features from where the model does: a file by itself may
    /// lack feature 0.
    pub(crate) fn options_for(self, ranker: &Ranker) -> ReadOptions {
        let known = ranker.columns.names.is_none() && ranker.numbering == Numbering::Known;
        let options = self.options();
        ReadOptions { first_id: options.first_id.or(known.then_some(ranker.columns.first_id)), ..options }
    }
}

/// One path or several.
#[derive(FromPyObject)]
pub(crate) enum Paths {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

impl Paths {
    fn list(self) -> Vec<PathBuf> {
        match self {
            Paths::One(path) => vec![path],
            Paths::Several(paths) => paths,
        }
    }
}
