//! Sessions as dictionaries.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyString};
use rankwise::clicks::{Click, Interleaved, Session};

/// A session from a dictionary with the keys of a line of a log.
pub(super) fn session(given: &Bound<'_, PyAny>, number: usize) -> PyResult<Session> {
    let dict = given.cast::<PyDict>().map_err(|_| {
        let kind = given.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        PyTypeError::new_err(format!("session {number} is of type {kind}; give a dictionary"))
    })?;
    let fields = Fields { dict, number };
    Ok(Session {
        id: fields.id("id", &fields.required("id")?)?,
        query: fields.id("query", &fields.required("query")?)?,
        ranker: fields.optional("ranker", |value| fields.id("ranker", value))?,
        shown: fields.list("shown", &fields.required("shown")?, |item| fields.id("shown", item))?,
        positions: fields.optional("positions", |value| {
            fields.list("positions", value, |item| fields.extracted("positions", item))
        })?,
        features: fields.optional("features", |rows| {
            fields.list("features", rows, |row| fields.list("features", row, feature))
        })?,
        clicks: fields.list("clicks", &fields.required("clicks")?, |click| fields.click(click))?,
        time: fields.optional("time", |value| fields.extracted("time", value))?,
        swap: fields.optional("swap", |value| fields.extracted("swap", value))?,
        interleaved: fields.optional("interleaved", |value| fields.interleaved(value))?,
    })
}

/// The fields of a session, and its number for messages.
struct Fields<'a, 'py> {
    dict: &'a Bound<'py, PyDict>,
    number: usize,
}

impl<'py> Fields<'_, 'py> {
    fn required(&self, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let lacking = || PyValueError::new_err(format!("session {} has no `{name}`", self.number));
        self.dict.get_item(name)?.ok_or_else(lacking)
    }

    fn optional<T>(
        &self,
        name: &str,
        read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> PyResult<Option<T>> {
        let value = self.dict.get_item(name)?.filter(|value| !value.is_none());
        value.map(|value| read(&value)).transpose()
    }

    fn extracted<T: for<'a> FromPyObject<'a, 'py>>(
        &self,
        name: &str,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<T> {
        value.extract().map_err(|_| {
            PyTypeError::new_err(format!("the `{name}` of session {} cannot be read: {value}", self.number))
        })
    }

    /// A click: a dictionary with `doc` and perhaps `time`, or the id of a document.
    fn click(&self, value: &Bound<'py, PyAny>) -> PyResult<Click> {
        let Ok(click) = value.cast::<PyDict>() else {
            return Ok(Click { doc: self.id("clicks", value)?, time: None });
        };
        let fields = Fields { dict: click, number: self.number };
        Ok(Click {
            doc: fields.id("doc", &fields.required("doc")?)?,
            time: fields.optional("time", |value| fields.extracted("time", value))?,
        })
    }

    fn id(&self, name: &str, value: &Bound<'py, PyAny>) -> PyResult<String> {
        let place = || format!("the `{name}` of session {}", self.number);
        id(value).map_err(|error| PyTypeError::new_err(format!("{}: {}", place(), error.value(value.py()))))
    }

    fn list<T>(
        &self,
        name: &str,
        value: &Bound<'py, PyAny>,
        read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
    ) -> PyResult<Vec<T>> {
        if value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>() {
            let given = value.repr()?;
            let number = self.number;
            return Err(PyTypeError::new_err(format!(
                "the `{name}` of session {number} is {given}; give a list"
            )));
        }
        value.try_iter()?.map(|item| read(&item?)).collect()
    }

    fn interleaved(&self, value: &Bound<'py, PyAny>) -> PyResult<Interleaved> {
        let wrong =
            || PyTypeError::new_err(format!("`interleaved` of session {} is no dictionary", self.number));
        let fields = Fields { dict: value.cast::<PyDict>().map_err(|_| wrong())?, number: self.number };
        Ok(Interleaved {
            rankers: fields.extracted("rankers", &fields.required("rankers")?)?,
            credit: fields.extracted("credit", &fields.required("credit")?)?,
        })
    }
}

/// An id: text, or a whole number as text.
pub(super) fn id(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned());
    }
    let is_whole = value.extract::<i64>().is_ok() || value.extract::<u64>().is_ok();
    if is_whole && !value.is_instance_of::<PyBool>() {
        return Ok(value.str()?.to_cow()?.into_owned());
    }
    let (given, kind) = (value.repr()?, value.get_type().name()?);
    Err(PyTypeError::new_err(format!("{given} of type {kind} is no id; ids are text or whole numbers")))
}

/// A value of a feature; `None` is missing.
fn feature(value: &Bound<'_, PyAny>) -> PyResult<f32> {
    if value.is_none() { Ok(f32::NAN) } else { value.extract() }
}
