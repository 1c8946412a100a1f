//! Arrays of NumPy as the library's features, labels and ids.

use crate::errors::exception;
use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_pyarrow::FromPyArrow;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rankwise::data::{Categories, Columns, Features, Values, category_codes, read_frame};
use std::sync::Arc;

/// Features with the names and kinds of their columns, and the number of rows.
pub(crate) struct Matrix {
    pub(crate) features: Features,
    pub(crate) columns: Columns,
    pub(crate) rows: usize,
}

/// The features of any container. `rankwise._containers` knows them all and gives one of four layouts.
pub(crate) fn matrix(container: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let module = container.py().import("rankwise._containers")?;
    let layout = module.call_method1("features", (container,))?;
    let kind: String = layout.getattr("kind")?.extract()?;
    match kind.as_str() {
        "dense" => dense(&layout),
        "sparse" => sparse(&layout),
        _ => arrow(&layout),
    }
}

/// A matrix in C order and single precision is shared with Python, not copied.
fn dense(layout: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let array: PyReadonlyArray2<'_, f32> = layout.getattr("values")?.extract()?;
    let (rows, width) = (array.shape()[0], array.shape()[1]);
    let owner = SharedArray::new(&array)?;
    let mut features = Features::dense(width, Values::shared(Arc::new(owner)));
    let names: Option<Vec<String>> = layout.getattr("names")?.extract()?;
    let mut categories = Categories::default();
    let texts: Vec<(usize, Vec<String>)> = layout.getattr("categories")?.extract()?;
    for (column, texts) in texts {
        let (codes, texts) = category_codes(texts.iter().map(String::as_str)).map_err(exception)?;
        let in_column = features.values_mut().iter_mut().skip(column).step_by(width);
        in_column.filter(|value| !value.is_nan()).for_each(|value| *value = codes[*value as usize] as f32);
        categories = categories.with(column, texts).map_err(exception)?;
    }
    Ok(Matrix { features, columns: Columns { names, categories, ..Columns::default() }, rows })
}

fn sparse(layout: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let starts: PyReadonlyArray1<'_, i64> = layout.getattr("starts")?.extract()?;
    let columns: PyReadonlyArray1<'_, u32> = layout.getattr("columns")?.extract()?;
    let values: PyReadonlyArray1<'_, f32> = layout.getattr("values")?.extract()?;
    let width: usize = layout.getattr("width")?.extract()?;
    let starts: Vec<usize> = starts.as_slice()?.iter().map(|&start| start as usize).collect();
    let rows = starts.len() - 1;
    let features = Features::Sparse {
        width,
        starts,
        columns: columns.as_slice()?.to_vec(),
        values: values.as_slice()?.to_vec(),
    };
    Ok(Matrix { features, columns: Columns::default(), rows })
}

fn arrow(layout: &Bound<'_, PyAny>) -> PyResult<Matrix> {
    let stream = RecordBatchStreamReader::from_pyarrow_bound(&layout.getattr("stream")?)?;
    let schema = stream.schema();
    let (features, columns) = read_frame(&schema, stream).map_err(exception)?;
    let rows = match features.width() {
        0 => 0,
        width => features.values().len() / width,
    };
    Ok(Matrix { features, columns, rows })
}

/// The memory of a NumPy array, which stays alive as long as this does.
struct SharedArray {
    _array: Py<PyAny>,
    first: *const f32,
    len: usize,
}

// SAFETY: the memory belongs to `_array`, which is kept, and is only read. That nobody writes to an array while it is in
// use is the caller's side of the bargain, as for every library that borrows from NumPy.
#[expect(unsafe_code, reason = "memory that Python owns")]
unsafe impl Send for SharedArray {}
#[expect(unsafe_code, reason = "memory that Python owns")]
unsafe impl Sync for SharedArray {}

impl SharedArray {
    fn new(array: &PyReadonlyArray2<'_, f32>) -> PyResult<SharedArray> {
        let slice = array.as_slice()?;
        let (first, len) = (slice.as_ptr(), slice.len());
        Ok(SharedArray { _array: array.as_any().clone().unbind(), first, len })
    }
}

impl AsRef<[f32]> for SharedArray {
    #[expect(unsafe_code, reason = "memory that Python owns")]
    fn as_ref(&self) -> &[f32] {
        // SAFETY: `first` and `len` are those of the array, which is contiguous and alive.
        unsafe { std::slice::from_raw_parts(self.first, self.len) }
    }
}

/// One number per row, of any container, in single precision.
pub(crate) fn singles(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Vec<f32>> {
    let array = numbers(name, values, "float32")?;
    let array: PyReadonlyArray1<'_, f32> = array.extract()?;
    Ok(array.as_slice()?.to_vec())
}

/// One number per row in double precision.
pub(crate) fn doubles(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array = numbers(name, values, "float64")?;
    let array: PyReadonlyArray1<'_, f64> = array.extract()?;
    Ok(array.as_slice()?.to_vec())
}

fn numbers<'py>(name: &str, values: &Bound<'py, PyAny>, kind: &str) -> PyResult<Bound<'py, PyAny>> {
    let module = values.py().import("rankwise._containers")?;
    module.call_method1("numbers", (values, name, kind))
}

/// Query or document ids: whole numbers or texts.
pub(crate) enum Ids {
    Numbers(Vec<i64>),
    Texts(Vec<String>),
}

impl Ids {
    pub(crate) fn new(name: &str, values: &Bound<'_, PyAny>) -> PyResult<Ids> {
        let module = values.py().import("rankwise._containers")?;
        let ids = module.call_method1("ids", (values, name))?;
        match ids.cast::<PyArray1<i64>>() {
            Ok(numbers) => Ok(Ids::Numbers(numbers.readonly().as_slice()?.to_vec())),
            Err(_) => Ok(Ids::Texts(ids.extract()?)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Ids::Numbers(ids) => ids.len(),
            Ids::Texts(ids) => ids.len(),
        }
    }

    pub(crate) fn text(&self, row: usize) -> String {
        match self {
            Ids::Numbers(ids) => ids[row].to_string(),
            Ids::Texts(ids) => ids[row].clone(),
        }
    }
}

/// Fails unless there is one value per row.
pub(crate) fn check_length(name: &str, length: usize, rows: usize) -> PyResult<()> {
    match length == rows {
        true => Ok(()),
        false => Err(PyValueError::new_err(format!("{name} has {length} values, and X has {rows} rows"))),
    }
}
