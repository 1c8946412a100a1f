//! Sessions as dictionaries.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rankwise::clicks::{Click, Interleaved, Session};

/// A session from a dictionary with the keys of a line of a log.
pub(super) fn session(given: &Bound<'_, PyAny>, number: usize) -> PyResult<Session> {
    let dict = given.cast::<PyDict>().map_err(|_| {
        let kind = given.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        PyTypeError::new_err(format!("session {number} is of type {kind}; give a dictionary"))
    })?;
    let fields = Fields { dict, number };
    Ok(Session {
        id: id(&fields.required("id")?)?,
        query: id(&fields.required("query")?)?,
        ranker: fields.optional("ranker", id)?,
        shown: list(&fields.required("shown")?, id)?,
        positions: fields
            .optional("positions", |value| list(value, |item| fields.extracted("positions", item)))?,
        features: fields.optional("features", |rows| list(rows, |row| list(row, feature)))?,
        clicks: list(&fields.required("clicks")?, |click| fields.click(click))?,
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
        let Ok(click) = value.cast::<PyDict>() else { return Ok(Click { doc: id(value)?, time: None }) };
        let fields = Fields { dict: click, number: self.number };
        Ok(Click {
            doc: id(&fields.required("doc")?)?,
            time: fields.optional("time", |value| fields.extracted("time", value))?,
        })
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

fn list<'py, T>(
    value: &Bound<'py, PyAny>,
    read: impl Fn(&Bound<'py, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    value.try_iter()?.map(|item| read(&item?)).collect()
}

/// An id: text, or a whole number as text.
pub(super) fn id(value: &Bound<'_, PyAny>) -> PyResult<String> {
    match value.cast::<PyString>() {
        Ok(text) => Ok(text.to_cow()?.into_owned()),
        Err(_) => Ok(value.str()?.to_cow()?.into_owned()),
    }
}

/// A value of a feature; `None` is missing.
fn feature(value: &Bound<'_, PyAny>) -> PyResult<f32> {
    if value.is_none() { Ok(f32::NAN) } else { value.extract() }
}
