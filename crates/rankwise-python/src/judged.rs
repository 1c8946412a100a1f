//! Runs and qrels as dictionaries of dictionaries, joined without copying document ids.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt, PyString};
use pyo3::{Borrowed, prelude::*};
use rankwise::data::trec::topic_notes;
use rankwise::data::{Texts, Topics};
use rankwise::metrics::{DocumentIds, IdSource, JudgedList};
use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

/// A run joined with its judgements, in the order of the judgements. Of each query come first the retrieved documents in
/// the order of the run, then those judged but not retrieved.
pub(crate) struct JudgedRun {
    queries: Vec<JudgedQuery>,
    labels: Vec<f32>,
    scores: Vec<f64>,
    /// Judged queries that are not in the run.
    missing: usize,
    /// Queries of the run without judgements.
    unjudged: usize,
}

struct JudgedQuery {
    key: Py<PyAny>,
    id: String,
    labels: Range<usize>,
    scores: Range<usize>,
    documents: Option<DocumentKeys>,
}

impl JudgedRun {
    pub(crate) fn new(
        qrels: &Bound<'_, PyDict>,
        run: &Bound<'_, PyDict>,
        topics: Topics,
    ) -> PyResult<JudgedRun> {
        let documents =
            run.values().iter().filter_map(|answer| answer.cast::<PyDict>().ok().map(|a| a.len())).sum();
        let mut joined = JudgedRun {
            queries: Vec::with_capacity(qrels.len()),
            labels: Vec::with_capacity(documents + documents / 4),
            scores: Vec::with_capacity(documents),
            missing: 0,
            unjudged: 0,
        };
        let (mut by_value, mut by_key) = (GradesByValue::default(), GradesByKey::default());
        let mut common = 0;
        for (key, grades) in qrels.iter() {
            let answer = run.get_item(&key)?;
            common += usize::from(answer.is_some());
            if answer.is_none() && topics == Topics::InBoth {
                continue;
            }
            let grades = inner(&grades, "qrels", &key)?;
            let answer = answer.as_ref().map(|answer| inner(answer, "the run", &key)).transpose()?;
            let (first_label, first_score) = (joined.labels.len(), joined.scores.len());
            match answer {
                None => joined.add_not_retrieved(grades, &key)?,
                Some(answer) => {
                    if !joined.add_by_value(grades, answer, &mut by_value, &key)? {
                        joined.labels.truncate(first_label);
                        joined.scores.truncate(first_score);
                        joined.add_by_key(grades, answer, &mut by_key, &key)?;
                    }
                }
            }
            joined.queries.push(JudgedQuery {
                id: key.str()?.to_cow()?.into_owned(),
                key: key.unbind(),
                labels: first_label..joined.labels.len(),
                scores: first_score..joined.scores.len(),
                documents: answer
                    .map(|answer| DocumentKeys { answer: answer.clone().unbind(), texts: OnceLock::new() }),
            });
        }
        (joined.missing, joined.unjudged) = (qrels.len() - common, run.len() - common);
        Ok(joined)
    }

    /// Fails if the run has none of the judged queries.
    pub(crate) fn check_common(&self, qrels: &Bound<'_, PyDict>, run: &Bound<'_, PyDict>) -> PyResult<()> {
        match self.queries.iter().any(|query| query.documents.is_some()) {
            true => Ok(()),
            false => Err(nothing_in_common(qrels, run)?),
        }
    }

    fn add_not_retrieved(&mut self, grades: &Bound<'_, PyDict>, query: &Bound<'_, PyAny>) -> PyResult<()> {
        each_item(grades, Reads::KeysAndValues, |document, grade| {
            self.labels.push(grade_of(document, grade, query)?);
            Ok(())
        })
    }

    /// Adds a query whose judged documents are looked up in the run; their scores, as objects, then tell which of the
    /// retrieved documents they are. Returns false if objects are shared, so that they do not.
    fn add_by_value<'py>(
        &mut self,
        grades: &Bound<'py, PyDict>,
        answer: &Bound<'py, PyDict>,
        table: &mut GradesByValue,
        query: &Bound<'py, PyAny>,
    ) -> PyResult<bool> {
        table.clear(grades.len());
        let mut distinct = true;
        each_item(grades, Reads::KeysAndValues, |document, grade| {
            let grade = grade_of(document, grade, query)?;
            match answer.get_item(document)? {
                Some(score) => distinct &= table.insert(score.as_ptr() as usize, grade),
                None => table.not_retrieved.push(grade),
            }
            Ok(())
        })?;
        if !distinct {
            return Ok(false);
        }
        let mut found = 0;
        each_item(answer, Reads::Values, |document, score| {
            self.scores.push(score_of(document, score, query)?);
            let grade = table.get(score.as_ptr() as usize);
            found += usize::from(grade.is_some());
            self.labels.push(grade.unwrap_or(f32::NAN));
            Ok(())
        })?;
        self.labels.extend(&table.not_retrieved);
        Ok(found == table.len)
    }

    /// The same by the ids of documents.
    fn add_by_key<'py>(
        &mut self,
        grades: &Bound<'py, PyDict>,
        answer: &Bound<'py, PyDict>,
        table: &mut GradesByKey<'py>,
        query: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        table.fill(grades, query)?;
        each_item(answer, Reads::KeysAndValues, |document, score| {
            self.scores.push(score_of(document, score, query)?);
            self.labels.push(table.take(document)?);
            Ok(())
        })?;
        self.labels.extend(table.not_retrieved());
        Ok(())
    }

    /// The lists to evaluate: of all queries, or of those chosen.
    pub(crate) fn lists(&self, chosen: Option<&[usize]>) -> Vec<JudgedList<'_>> {
        let list = |query: usize| {
            let query = &self.queries[query];
            JudgedList {
                id: &query.id,
                labels: &self.labels[query.labels.clone()],
                scores: &self.scores[query.scores.clone()],
                document_ids: query
                    .documents
                    .as_ref()
                    .map_or(DocumentIds::Absent, |ids| DocumentIds::OnDemand(ids)),
                weight: 1.0,
            }
        };
        match chosen {
            Some(chosen) => chosen.iter().map(|&query| list(query)).collect(),
            None => (0..self.queries.len()).map(list).collect(),
        }
    }

    /// Whether each query is in the run.
    pub(crate) fn found(&self) -> Vec<bool> {
        self.queries.iter().map(|query| query.documents.is_some()).collect()
    }

    /// The queries as the dictionary names them.
    pub(crate) fn keys<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        self.queries.iter().map(|query| query.key.bind(py).clone()).collect()
    }

    pub(crate) fn notes(&self, topics: Topics) -> Vec<String> {
        topic_notes(self.missing, self.unjudged, topics)
    }
}

fn inner<'a, 'py>(
    value: &'a Bound<'py, PyAny>,
    whose: &str,
    query: &Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyDict>> {
    value.cast::<PyDict>().map_err(|_| {
        let kind = value.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "{whose} has a value of type {kind} for the query {}; give a dictionary of document ids and numbers",
            shown(query)
        ))
    })
}

fn shown(key: &Bound<'_, PyAny>) -> String {
    // A `repr` of the caller's own may change the dictionary that this was borrowed from.
    let key = key.clone();
    key.repr().map_or_else(|_| "?".into(), |text| text.to_string())
}

fn not_a_number(
    what: &str,
    document: &Bound<'_, PyAny>,
    query: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyErr {
    let kind = value.get_type().name().map_or_else(|_| "object".into(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "the {what} of document {} of query {} is of type {kind}; give a number",
        shown(document),
        shown(query)
    ))
}

/// Why no query can be evaluated.
fn nothing_in_common(qrels: &Bound<'_, PyDict>, run: &Bound<'_, PyDict>) -> PyResult<PyErr> {
    if qrels.is_empty() || run.is_empty() {
        let which = if qrels.is_empty() { "qrels has" } else { "the run has" };
        return Ok(PyValueError::new_err(format!("{which} no queries")));
    }
    let kind = |dict: &Bound<'_, PyDict>| -> PyResult<String> {
        let key = dict.keys().get_item(0)?;
        Ok(key.get_type().name()?.to_string())
    };
    let (judged, found) = (kind(qrels)?, kind(run)?);
    let hint = if judged == found {
        String::new()
    } else {
        format!("; its query ids are of type {found}, and those of qrels of type {judged}")
    };
    Ok(PyValueError::new_err(format!("no query of the run is judged in qrels{hint}")))
}

/// The score of a document.
fn score_of(
    document: &Bound<'_, PyAny>,
    score: &Bound<'_, PyAny>,
    query: &Bound<'_, PyAny>,
) -> PyResult<f64> {
    match number(score) {
        Some(value) if !value.is_nan() => Ok(value),
        Some(_) => Err(PyValueError::new_err(format!(
            "the score of document {} of query {} is not a number (NaN)",
            shown(document),
            shown(query)
        ))),
        None => Err(not_a_number("score", document, query, score)),
    }
}

/// The grade of a document.
fn grade_of(
    document: &Bound<'_, PyAny>,
    grade: &Bound<'_, PyAny>,
    query: &Bound<'_, PyAny>,
) -> PyResult<f32> {
    match number(grade) {
        Some(value) if value.is_finite() => Ok(value as f32),
        Some(value) => Err(PyValueError::new_err(format!(
            "the grade of document {} of query {} is {value}; grades are finite",
            shown(document),
            shown(query)
        ))),
        None => Err(not_a_number("grade", document, query, grade)),
    }
}

/// The retrieved documents of a query, as keys of its dictionary. They become texts where a tie has to be broken by them.
struct DocumentKeys {
    answer: Py<PyDict>,
    texts: OnceLock<Texts>,
}

impl DocumentKeys {
    fn texts(&self) -> PyResult<Texts> {
        Python::attach(|py| {
            let mut texts = Texts::new();
            for document in self.answer.bind(py).keys().iter() {
                match document.cast::<PyString>() {
                    Ok(text) => texts.push(&text.to_cow()?),
                    Err(_) => texts.push(&document.str()?.to_cow()?),
                }
            }
            Ok(texts)
        })
    }
}

impl IdSource for DocumentKeys {
    fn id(&self, i: usize) -> Option<&str> {
        // A dictionary that changed meanwhile has no ids for its scores.
        let texts = self.texts.get_or_init(|| self.texts().unwrap_or_default());
        (i < texts.len()).then(|| texts.get(i))
    }
}

impl fmt::Debug for DocumentKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DocumentKeys").field(&self.texts.get()).finish()
    }
}

/// What is done with the items of a dictionary.
#[derive(Clone, Copy, PartialEq)]
enum Reads {
    KeysAndValues,
    /// Keys are not looked at, except for an error: their memory is not even touched.
    Values,
}

/// Calls `each` with every key and value.
///
/// Texts and plain numbers run no Python code when they are hashed or read, so nothing can change the dictionary meanwhile,
/// and they are borrowed from it: counting references would take as long as all the rest.
fn each_item<'py>(
    dict: &Bound<'py, PyDict>,
    reads: Reads,
    mut each: impl FnMut(&Bound<'py, PyAny>, &Bound<'py, PyAny>) -> PyResult<()>,
) -> PyResult<()> {
    if !has_lock(dict.py()) {
        return dict.iter().try_for_each(|(key, value)| each(&key, &value));
    }
    let (py, length, mut place) = (dict.py(), dict.len(), 0);
    let (mut key, mut value) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: `dict` is a dictionary, and this thread holds the lock of the interpreter.
    #[expect(unsafe_code, reason = "borrowing from a dictionary")]
    while unsafe { ffi::PyDict_Next(dict.as_ptr(), &mut place, &mut key, &mut value) } != 0 {
        // SAFETY: the dictionary owns both, and does not change before they are used: see above.
        let (key, value) = unsafe { (Borrowed::from_ptr(py, key), Borrowed::from_ptr(py, value)) };
        if (reads == Reads::Values || is_plain(&key)) && is_plain(&value) {
            each(&key, &value)?;
        } else {
            each(&key.to_owned(), &value.to_owned())?;
            if dict.len() != length {
                return Err(PyRuntimeError::new_err("a dictionary changed while it was evaluated"));
            }
        }
    }
    Ok(())
}

/// Whether the interpreter has a lock, so that no other thread can change a dictionary meanwhile.
fn has_lock(py: Python<'_>) -> bool {
    static HAS_LOCK: PyOnceLock<bool> = PyOnceLock::new();
    *HAS_LOCK.get_or_init(py, || {
        let sys = py.import("sys").and_then(|sys| sys.call_method0("_is_gil_enabled"));
        // Interpreters before 3.13 cannot be asked, because all of them have it.
        sys.and_then(|answer| answer.is_truthy()).unwrap_or(true)
    })
}

fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyInt>()
}

/// The value of a number.
fn number(value: &Bound<'_, PyAny>) -> Option<f64> {
    if value.is_exact_instance_of::<PyInt>()
        && let Ok(whole) = value.extract::<i64>()
    {
        return Some(whole as f64);
    }
    value.extract().ok()
}

/// Slots per entry of a table: with few neighbours, branches are foreseen.
const ROOM: usize = 4;

/// The grades of one query by the object that is the document's score.
#[derive(Default)]
struct GradesByValue {
    /// Addresses, 0 if free, and grades. The length is a power of two.
    slots: Vec<(usize, f32)>,
    len: usize,
    not_retrieved: Vec<f32>,
}

impl GradesByValue {
    fn clear(&mut self, documents: usize) {
        self.slots.clear();
        self.slots.resize((ROOM * documents + 1).next_power_of_two(), (0, 0.0));
        self.len = 0;
        self.not_retrieved.clear();
    }

    /// The slot of an address, or the free one where it would be.
    fn slot(&self, address: usize) -> usize {
        let mut slot = mixed(address as u64) & (self.slots.len() - 1);
        while self.slots[slot].0 != 0 && self.slots[slot].0 != address {
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        slot
    }

    /// Returns false if the address is there already.
    fn insert(&mut self, address: usize, grade: f32) -> bool {
        let slot = self.slot(address);
        self.len += 1;
        std::mem::replace(&mut self.slots[slot], (address, grade)).0 == 0
    }

    fn get(&self, address: usize) -> Option<f32> {
        let (found, grade) = self.slots[self.slot(address)];
        (found != 0).then_some(grade)
    }
}

/// Spreads numbers that are alike.
fn mixed(number: u64) -> usize {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize
}

/// The grades of one query by document.
#[derive(Default)]
struct GradesByKey<'py> {
    /// Numbers of documents, from 1; 0 is free. The length is a power of two.
    slots: Vec<u32>,
    documents: Vec<GradedDocument<'py>>,
}

struct GradedDocument<'py> {
    key: Bound<'py, PyAny>,
    hash: isize,
    grade: f32,
    retrieved: bool,
}

impl<'py> GradesByKey<'py> {
    fn fill(&mut self, grades: &Bound<'py, PyDict>, query: &Bound<'py, PyAny>) -> PyResult<()> {
        self.documents.clear();
        self.slots.clear();
        self.slots.resize((ROOM * grades.len() + 1).next_power_of_two(), 0);
        each_item(grades, Reads::KeysAndValues, |key, grade| {
            let grade = grade_of(key, grade, query)?;
            let (key, hash) = (key.clone(), key.hash()?);
            let mut slot = self.first_slot(hash);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.documents.push(GradedDocument { key, hash, grade, retrieved: false });
            self.slots[slot] = self.documents.len() as u32;
            Ok(())
        })
    }

    fn first_slot(&self, hash: isize) -> usize {
        mixed(hash as u64) & (self.slots.len() - 1)
    }

    /// The grade of a retrieved document, NaN if it has none.
    fn take(&mut self, document: &Bound<'py, PyAny>) -> PyResult<f32> {
        let hash = document.hash()?;
        let mut slot = self.first_slot(hash);
        loop {
            let number = self.slots[slot] as usize;
            if number == 0 {
                return Ok(f32::NAN);
            }
            let graded = &mut self.documents[number - 1];
            if graded.hash == hash && is_same(&graded.key, document)? {
                graded.retrieved = true;
                return Ok(graded.grade);
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
    }

    fn not_retrieved(&self) -> impl Iterator<Item = f32> {
        self.documents.iter().filter(|graded| !graded.retrieved).map(|graded| graded.grade)
    }
}

fn is_same(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> PyResult<bool> {
    if a.is(b) {
        return Ok(true);
    }
    if let (Ok(a), Ok(b)) = (a.cast_exact::<PyString>(), b.cast_exact::<PyString>())
        && let (Ok(a), Ok(b)) = (a.to_str(), b.to_str())
    {
        return Ok(a == b);
    }
    a.eq(b)
}
