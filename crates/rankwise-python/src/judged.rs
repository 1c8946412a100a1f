//! Runs and qrels as dictionaries of dictionaries, joined without copying document ids.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyFloat, PyInt, PyString};
use pyo3::{Borrowed, prelude::*};
use rankwise::data::trec::topic_notes;
use rankwise::data::{Texts, Topics};
use rankwise::metrics::{DocumentIds, JudgedList, Metric};
use rankwise::rank::{ScoreBits, Ties};
use std::ops::Range;

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
    /// Only where a tie has to be broken by them.
    document_ids: Option<Texts>,
    found: bool,
}

impl JudgedRun {
    pub(crate) fn new(
        qrels: &Bound<'_, PyDict>,
        run: &Bound<'_, PyDict>,
        topics: Topics,
        metrics: &[Box<dyn Metric>],
    ) -> PyResult<JudgedRun> {
        let rules: Vec<_> = metrics.iter().map(|metric| metric.rank_rule()).collect();
        let by_id =
            |scores: ScoreBits| rules.iter().any(|rule| rule.ties == Ties::DocId && rule.scores == scores);
        let mut joined = JudgedRun {
            queries: Vec::new(),
            labels: Vec::new(),
            scores: Vec::new(),
            missing: 0,
            unjudged: 0,
        };
        let documents =
            run.values().iter().filter_map(|answer| answer.cast::<PyDict>().ok().map(|a| a.len())).sum();
        joined.scores.reserve(documents);
        joined.labels.reserve(documents + documents / 4);
        let mut table = GradeTable::default();
        let mut ties = Ties32::default();
        let mut common = 0;
        for (key, grades) in qrels.iter() {
            let answer = run.get_item(&key)?;
            common += usize::from(answer.is_some());
            if answer.is_none() && topics == Topics::InBoth {
                continue;
            }
            let grades = inner(&grades, "qrels", &key)?;
            table.fill(grades, &key)?;
            let (first_label, first_score) = (joined.labels.len(), joined.scores.len());
            let answer = answer.as_ref().map(|answer| inner(answer, "the run", &key)).transpose()?;
            if let Some(answer) = answer {
                joined.add_retrieved(answer, &mut table, &key)?;
            }
            let new = first_score..joined.scores.len();
            let needs_ids = by_id(ScoreBits::F64) && has_equal(&joined.scores[new.clone()])
                || by_id(ScoreBits::F32) && ties.in_single_precision(&joined.scores[new.clone()]);
            let document_ids = match answer.filter(|_| needs_ids) {
                Some(answer) => Some(texts(answer)?),
                None => None,
            };
            joined.labels.extend(table.not_retrieved());
            joined.queries.push(JudgedQuery {
                id: key.str()?.to_cow()?.into_owned(),
                key: key.unbind(),
                labels: first_label..joined.labels.len(),
                scores: new,
                document_ids,
                found: answer.is_some(),
            });
        }
        (joined.missing, joined.unjudged) = (qrels.len() - common, run.len() - common);
        Ok(joined)
    }

    /// Fails if the run has none of the judged queries.
    pub(crate) fn check_common(&self, qrels: &Bound<'_, PyDict>, run: &Bound<'_, PyDict>) -> PyResult<()> {
        match self.queries.iter().any(|query| query.found) {
            true => Ok(()),
            false => Err(nothing_in_common(qrels, run)?),
        }
    }

    fn add_retrieved<'py>(
        &mut self,
        answer: &Bound<'py, PyDict>,
        table: &mut GradeTable<'py>,
        query: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        self.scores.reserve(answer.len());
        self.labels.reserve(answer.len());
        each_item(answer, |document, score| {
            let score = number(score).ok_or_else(|| not_a_number("score", document, query, score))?;
            if score.is_nan() {
                return Err(PyValueError::new_err(format!(
                    "the score of document {} of query {} is not a number (NaN)",
                    shown(document),
                    shown(query)
                )));
            }
            self.labels.push(table.take(document)?);
            self.scores.push(score);
            Ok(())
        })
    }

    /// The lists to evaluate: of all queries, or of those chosen.
    pub(crate) fn lists(&self, chosen: Option<&[usize]>) -> Vec<JudgedList<'_>> {
        let list = |query: usize| {
            let query = &self.queries[query];
            JudgedList {
                id: &query.id,
                labels: &self.labels[query.labels.clone()],
                scores: &self.scores[query.scores.clone()],
                document_ids: query.document_ids.as_ref().map_or(DocumentIds::Absent, DocumentIds::Texts),
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
        self.queries.iter().map(|query| query.found).collect()
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

/// The ids of documents as texts.
fn texts(answer: &Bound<'_, PyDict>) -> PyResult<Texts> {
    let mut texts = Texts::new();
    for document in answer.keys().iter() {
        match document.cast::<PyString>() {
            Ok(text) => texts.push(&text.to_cow()?),
            Err(_) => texts.push(&document.str()?.to_cow()?),
        }
    }
    Ok(texts)
}

/// Calls `each` with every key and value.
///
/// Texts and plain numbers run no Python code when they are hashed or read, so nothing can change the dictionary meanwhile,
/// and they are borrowed from it: counting references would take as long as all the rest.
fn each_item<'py>(
    dict: &Bound<'py, PyDict>,
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
        if is_plain(&key) && is_plain(&value) {
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

/// The grades of one query by document. Python's own hashes, which texts keep, make a lookup a few instructions; asking
/// the dictionary would cost several times as much.
#[derive(Default)]
struct GradeTable<'py> {
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

impl<'py> GradeTable<'py> {
    fn fill(&mut self, grades: &Bound<'py, PyDict>, query: &Bound<'py, PyAny>) -> PyResult<()> {
        self.documents.clear();
        self.slots.clear();
        self.slots.resize((ROOM * grades.len() + 1).next_power_of_two(), 0);
        each_item(grades, |key, grade| {
            let value = number(grade).ok_or_else(|| not_a_number("grade", key, query, grade))?;
            if !value.is_finite() {
                return Err(PyValueError::new_err(format!(
                    "the grade of document {} of query {} is {value}; grades are finite",
                    shown(key),
                    shown(query)
                )));
            }
            let (key, hash) = (key.clone(), key.hash()?);
            let mut slot = self.first_slot(hash);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (self.slots.len() - 1);
            }
            self.documents.push(GradedDocument { key, hash, grade: value as f32, retrieved: false });
            self.slots[slot] = self.documents.len() as u32;
            Ok(())
        })
    }

    /// Hashes of whole numbers are the numbers themselves, so they are mixed.
    fn first_slot(&self, hash: isize) -> usize {
        let mixed = (hash as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.slots.len() - 1)
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

/// Whether two scores are equal.
fn has_equal(scores: &[f64]) -> bool {
    if scores.windows(2).all(|pair| pair[0] > pair[1]) {
        return false;
    }
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.windows(2).any(|pair| pair[0] == pair[1])
}

/// Finds scores that are equal in single precision. It keeps its memory from query to query.
#[derive(Default)]
struct Ties32 {
    slots: Vec<u32>,
}

impl Ties32 {
    fn in_single_precision(&mut self, scores: &[f64]) -> bool {
        if scores.windows(2).all(|pair| pair[0] as f32 > pair[1] as f32) {
            return false;
        }
        // NaN, which is no score, marks free slots.
        const FREE: u32 = u32::MAX;
        self.slots.clear();
        self.slots.resize((ROOM * scores.len() + 1).next_power_of_two(), FREE);
        let mask = self.slots.len() - 1;
        for &score in scores {
            // 0 and -0 are equal.
            let bits = (score as f32 + 0.0).to_bits();
            let mut slot = (u64::from(bits).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
            while self.slots[slot] != FREE {
                if self.slots[slot] == bits {
                    return true;
                }
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = bits;
        }
        false
    }
}
