//! Parameters and plain data between Python and the library.

use crate::errors::exception;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rankwise::metrics::{Conventions, preset};
use serde_json::Value as Json;
use toml::{Table, Value};

/// A table of parameters. What is `None` is not given.
pub(crate) fn table(parameters: &Bound<'_, PyDict>) -> PyResult<Table> {
    let mut table = Table::new();
    for (name, value) in parameters.iter() {
        if !value.is_none() {
            let name: String = name.extract()?;
            table.insert(name.clone(), toml_value(&name, &value)?);
        }
    }
    Ok(table)
}

fn toml_value(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let whole =
            value.extract().map_err(|_| PyValueError::new_err(format!("{name} is too large: {value}")))?;
        return Ok(Value::Integer(whole));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| toml_value(name, &item?)).collect::<PyResult<_>>()?;
        return Ok(Value::Array(items));
    }
    if let Ok(entries) = value.cast::<PyDict>() {
        return Ok(Value::Table(table(entries)?));
    }
    // Scalars of NumPy.
    if let Ok(item) = value.call_method0("item") {
        return toml_value(name, &item);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "{name} is a value of type {kind}; give a number, a text or a list of them"
    )))
}

/// A parameter's value for Python.
pub(crate) fn to_json(value: &Value) -> Json {
    match value {
        Value::Boolean(value) => Json::from(*value),
        Value::Integer(value) => Json::from(*value),
        Value::Float(value) => Json::from(*value),
        Value::String(value) => Json::from(value.as_str()),
        Value::Array(values) => values.iter().map(to_json).collect(),
        Value::Table(table) => table.iter().map(|(name, value)| (name.clone(), to_json(value))).collect(),
        Value::Datetime(value) => Json::from(value.to_string()),
    }
}

/// Plain data as Python's own types.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Json::Null => py.None().into_bound(py),
        Json::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => whole.into_pyobject(py)?.into_any(),
            None => number.as_f64().into_pyobject(py)?,
        },
        Json::String(text) => PyString::new(py, text).into_any(),
        Json::Array(values) => {
            let values = values.iter().map(|value| to_python(py, value)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
        Json::Object(entries) => {
            let dict = PyDict::new(py);
            for (name, value) in entries {
                dict.set_item(name, to_python(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

/// The conventions of a preset, with changes.
pub(crate) fn conventions(name: &str, changes: Option<&Bound<'_, PyDict>>) -> PyResult<Conventions> {
    let mut conventions = preset(name).map_err(exception)?;
    for (key, value) in changes.into_iter().flatten() {
        let key: String = key.extract()?;
        conventions.set(&key.replace('_', "-"), &value.str()?.to_cow()?).map_err(exception)?;
    }
    Ok(conventions)
}
