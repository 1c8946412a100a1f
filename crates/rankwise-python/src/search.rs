//! Indexes of documents, their features and searches in them.

use crate::convert::to_python;
use crate::custom::Failure;
use crate::data::Data;
use crate::errors::exception;
use crate::ranker::Ranker;
use crate::work;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rankwise::data::Source;
use rankwise::data::Texts;
use rankwise::data::trec::{Qrels, Topic, TrecRun};
use rankwise::watch::Watch;
use rankwise_search::document::{self, DocumentFormat, DocumentOptions, Documents, OnError};
use rankwise_search::index::{Committed, Duplicates, Index, NewIndex, UnknownFields, WriterOptions};
use rankwise_search::search::{RetrievalOptions, Search, Shown};
use rankwise_search::{Analyzer, Candidates, Extraction, FeatureSet, Query, SearchQuery, Snapshot, Unjudged};
use serde_json::{Value, json};
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::{Arc, RwLock};

/// An index, and the commit that is searched.
#[pyclass(frozen, module = "rankwise", name = "SearchIndex", skip_from_py_object)]
pub(crate) struct SearchIndex {
    index: Index,
    snapshot: RwLock<Arc<Snapshot>>,
}

/// How documents are read and written.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct WritingOptions {
    id: Option<String>,
    format: Option<String>,
    on_error: String,
    duplicates: String,
    memory: u32,
    max_document: u32,
}

/// What is searched for, and how.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct SearchOptions<'py> {
    model: Option<Bound<'py, Ranker>>,
    depth: Option<usize>,
    syntax: String,
    k1: Option<f64>,
    b: Option<f64>,
    weights: Option<Vec<(String, f64)>>,
}

#[pymethods]
impl SearchIndex {
    /// The index in a directory.
    #[new]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<SearchIndex> {
        py.detach(|| SearchIndex::of(Index::open(path)?)).map_err(exception)
    }

    /// Makes an index of documents: paths, or an iterator of lines of JSON.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    #[pyo3(signature = (path, documents, fields, links, analyzer, options, callbacks))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        documents: DocumentSource,
        fields: Vec<String>,
        links: Vec<String>,
        analyzer: &str,
        options: WritingOptions,
        callbacks: Vec<Bound<'_, PyAny>>,
    ) -> PyResult<SearchIndex> {
        let analyzer = Analyzer::of_name(analyzer).map_err(exception)?;
        let new = NewIndex { fields, links, analyzer, writer: options.writer()? };
        let reading = options.reading(new.fields_to_read())?;
        let (directory, failure) = (path.clone(), Failure::default());
        let (committed, summary) =
            documents.write(py, reading, &callbacks, failure, move |documents, watch| {
                new.create(&directory, documents, watch)
            })?;
        note(py, &committed, &summary)?;
        SearchIndex::open(py, path)
    }

    /// Adds documents, and deletes those with these ids.
    #[pyo3(signature = (documents, delete, options, callbacks))]
    fn update<'py>(
        &self,
        py: Python<'py>,
        documents: Option<DocumentSource>,
        delete: Vec<String>,
        options: WritingOptions,
        callbacks: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (index, writer) = (self.index.clone(), options.writer()?);
        let (committed, summary) = match documents {
            None => {
                let committed = py.detach(|| -> rankwise::Result<Committed> {
                    let mut writer = index.writer(writer)?;
                    for id in &delete {
                        writer.delete(id)?;
                    }
                    writer.commit()
                });
                (committed.map_err(exception)?, Vec::new())
            }
            Some(documents) => {
                let reading = options.reading(None)?;
                documents.write(py, reading, &callbacks, Failure::default(), move |documents, watch| {
                    let mut writer = index.writer(writer)?;
                    for id in &delete {
                        writer.delete(id)?;
                    }
                    writer.write_documents(documents, watch)
                })?
            }
        };
        note(py, &committed, &summary)?;
        self.refresh(py)?;
        let Committed { documents, added, replaced, deleted, ignored, .. } = committed;
        to_python(
            py,
            &json!({
                "documents": documents, "added": added, "replaced": replaced, "deleted": deleted, "ignored": ignored,
            }),
        )
    }

    /// Looks at the last commit from now on.
    fn refresh(&self, py: Python<'_>) -> PyResult<()> {
        let snapshot = py.detach(|| self.index.snapshot()).map_err(exception)?;
        *self.snapshot.write().unwrap_or_else(|e| e.into_inner()) = Arc::new(snapshot);
        Ok(())
    }

    /// What the index says about itself.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let info = py.detach(|| self.index.info()).map_err(exception)?;
        to_python(py, &serde_json::to_value(&info).unwrap_or_default())
    }

    fn __len__(&self) -> usize {
        self.snapshot().len() as usize
    }

    /// The documents found for one query, as dictionaries.
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    #[pyo3(signature = (query, k, skip, explain, snippet, options))]
    fn search<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        k: usize,
        skip: usize,
        explain: bool,
        snippet: usize,
        options: SearchOptions<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (search, query) = self.searching(query, &options)?;
        let shown = Shown { k, skip, snippet, explain };
        let found =
            work::unattended(py, None, || search.results(&query, shown).map(|found| found.to_json()))?;
        to_python(py, &Value::Array(found.map_err(exception)?))
    }

    /// A run: the scores of the documents found for each query.
    fn run<'py>(
        &self,
        py: Python<'py>,
        queries: Vec<(String, String)>,
        k: usize,
        options: SearchOptions<'py>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let search = self.search_of(&options)?;
        let queries = self.queries(queries, &options.syntax)?;
        let found =
            work::unattended(py, None, || search.run_all(&queries, k, &|_| {}))?.map_err(exception)?;
        let run = PyDict::new(py);
        for (query, found) in queries.iter().zip(found) {
            let documents = PyDict::new(py);
            for found in found {
                documents.set_item(found.id, found.score)?;
            }
            run.set_item(&query.id, documents)?;
        }
        Ok(run)
    }

    /// Why a document is not among the first `k`: the reason as a dictionary, and in words.
    fn why_not<'py>(
        &self,
        py: Python<'py>,
        query: &str,
        id: &str,
        k: usize,
        options: SearchOptions<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, String)> {
        let (search, query) = self.searching(query, &options)?;
        let why = work::unattended(py, None, || search.why_not(&query, id, k))?.map_err(exception)?;
        Ok((to_python(py, &why.to_json())?, why.in_words(id, k)))
    }

    /// The names of a feature set, and the set as TOML.
    fn feature_set(
        &self,
        set: &str,
        pick: Vec<String>,
        without: Vec<String>,
    ) -> PyResult<(Vec<String>, String)> {
        let set = self.set(set, &pick, &without)?;
        Ok((set.names().map(str::to_owned).collect(), set.to_toml()))
    }

    /// The features of queries and their candidates.
    #[expect(clippy::too_many_arguments, reason = "keywords in Python")]
    fn features(
        &self,
        py: Python<'_>,
        queries: Vec<(String, String)>,
        candidates: CandidatesArgument<'_>,
        qrels: Option<Bound<'_, PyDict>>,
        set: &str,
        pick: Vec<String>,
        without: Vec<String>,
        keep_unjudged: bool,
        options: SearchOptions<'_>,
    ) -> PyResult<Data> {
        let queries = self.queries(queries, &options.syntax)?;
        let extraction = Extraction {
            set: self.set(set, &pick, &without)?,
            bm25: options.retrieval().complete(None).map_err(exception)?.bm25,
            candidates: candidates.candidates()?,
            qrels: qrels.map(|qrels| Ok::<_, PyErr>(Qrels { topics: topics(&qrels)? })).transpose()?,
            unjudged: if keep_unjudged { Unjudged::NonRelevant } else { Unjudged::Drop },
        };
        let snapshot = self.snapshot();
        let extracted = work::unattended(py, None, || extraction.run(&snapshot, &queries, &|_| {}))?;
        let extracted = extracted.map_err(exception)?;
        work::log(py, "warning", &extracted.report.notes())?;
        Ok(Data::of_dataset(extracted.data))
    }
}

impl SearchIndex {
    fn of(index: Index) -> rankwise::Result<SearchIndex> {
        Ok(SearchIndex { snapshot: RwLock::new(Arc::new(index.snapshot()?)), index })
    }

    fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot.read().unwrap_or_else(|e| e.into_inner()))
    }

    fn search_of(&self, options: &SearchOptions<'_>) -> PyResult<Search> {
        let ranker = options.model.as_ref().map(|model| Arc::clone(&model.get().ranker));
        let search = Search::of(self.snapshot(), ranker, &options.retrieval()).map_err(exception)?;
        search.check_candidates().map_err(exception)?;
        Ok(search)
    }

    fn searching(&self, text: &str, options: &SearchOptions<'_>) -> PyResult<(Search, Query)> {
        Ok((self.search_of(options)?, self.query(text, &options.syntax)?))
    }

    fn query(&self, text: &str, syntax: &str) -> PyResult<Query> {
        match syntax {
            "words" => Ok(Query::words(text)),
            _ => Query::parse(text, self.snapshot().schema()).map_err(exception),
        }
    }

    fn queries(&self, named: Vec<(String, String)>, syntax: &str) -> PyResult<Vec<SearchQuery>> {
        let query = |(id, text): (String, String)| Ok(SearchQuery { query: self.query(&text, syntax)?, id });
        named.into_iter().map(query).collect()
    }

    fn set(&self, name: &str, pick: &[String], without: &[String]) -> PyResult<FeatureSet> {
        let set = FeatureSet::of_name(name, self.snapshot().schema());
        set.and_then(|set| set.select(pick, without)).map_err(exception)
    }
}

impl SearchOptions<'_> {
    fn retrieval(&self) -> RetrievalOptions {
        RetrievalOptions { depth: self.depth, k1: self.k1, b: self.b, weights: self.weights.clone() }
    }
}

impl WritingOptions {
    fn reading(&self, fields: Option<Vec<String>>) -> PyResult<DocumentOptions> {
        let format = self.format.as_deref().map(DocumentFormat::of_name).transpose().map_err(exception)?;
        let on_error = if self.on_error == "skip" { OnError::Skip } else { OnError::Stop };
        let longest = DocumentOptions::longest_of(self.document_bytes());
        Ok(DocumentOptions { format, id: self.id.clone(), fields, on_error, longest })
    }

    fn document_bytes(&self) -> u64 {
        u64::from(self.max_document) << 20
    }

    fn writer(&self) -> PyResult<WriterOptions> {
        Ok(WriterOptions {
            memory_bytes: (self.memory as usize) << 20,
            duplicates: match self.duplicates.as_str() {
                "keep-first" => Duplicates::KeepFirst,
                "replace" => Duplicates::Replace,
                _ => Duplicates::Refuse,
            },
            unknown_fields: UnknownFields::Ignore,
            document_bytes: self.document_bytes(),
        })
    }
}

/// Where documents come from.
#[derive(FromPyObject)]
enum DocumentSource {
    Paths(Vec<PathBuf>),
    /// An iterator of bytes: lines of JSON.
    Lines(Py<PyAny>),
}

impl DocumentSource {
    /// Opens the documents and lets `write` take them. Returns what became of them, and what was left out.
    fn write(
        self,
        py: Python<'_>,
        options: DocumentOptions,
        callbacks: &[Bound<'_, PyAny>],
        failure: Failure,
        write: impl FnOnce(&mut Documents, &mut dyn Watch) -> rankwise::Result<Committed> + Send + 'static,
    ) -> PyResult<(Committed, Vec<String>)> {
        let lines_fail = failure.clone();
        let work = move |watch: &mut (dyn Watch + Send)| {
            let mut documents = match self {
                DocumentSource::Paths(paths) => Documents::open(&paths, &options)?,
                DocumentSource::Lines(lines) => {
                    let format = options.format.or(Some(DocumentFormat::JsonLines));
                    let lines = Lines { lines, rest: Vec::new(), taken: 0, failure: lines_fail };
                    Documents::from_source(
                        Source::new("documents", lines)?,
                        &DocumentOptions { format, ..options },
                    )?
                }
            };
            let committed = write(&mut documents, watch)?;
            let summary = documents.summary();
            Ok((committed, summary.notes().into_iter().chain(summary.messages.clone()).collect()))
        };
        Ok(work::attended(py, None, callbacks, &failure, work)?.0)
    }
}

/// Lines that a Python iterator makes, as bytes to read.
struct Lines {
    lines: Py<PyAny>,
    rest: Vec<u8>,
    taken: usize,
    failure: Failure,
}

impl Read for Lines {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.rest.len() {
            let next = Python::attach(|py| -> PyResult<Option<Vec<u8>>> {
                let Some(line) = self.lines.bind(py).try_iter()?.next() else { return Ok(None) };
                Ok(Some(line?.cast::<PyBytes>()?.as_bytes().to_vec()))
            });
            match next {
                Ok(Some(line)) => (self.rest, self.taken) = (line, 0),
                Ok(None) => return Ok(0),
                Err(error) => {
                    self.failure.report(error);
                    return Err(io::Error::other("the documents could not be made"));
                }
            }
        }
        let count = buffer.len().min(self.rest.len() - self.taken);
        buffer[..count].copy_from_slice(&self.rest[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

/// The documents of each query: the name of a rule, or a run.
#[derive(FromPyObject)]
enum CandidatesArgument<'py> {
    Name(String),
    Run(Bound<'py, PyDict>),
}

impl CandidatesArgument<'_> {
    fn candidates(&self) -> PyResult<Candidates> {
        match self {
            CandidatesArgument::Name(name) => {
                Candidates::of_name(name).map_err(exception)?.ok_or_else(|| {
                    PyTypeError::new_err(format!("candidates is `{name}`; give bm25:100, judged or a run"))
                })
            }
            CandidatesArgument::Run(run) => {
                Ok(Candidates::Run(TrecRun { topics: topics(run)?, tag: String::new() }))
            }
        }
    }
}

/// A dictionary of dictionaries as topics.
fn topics<'py, V: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    nested: &Bound<'py, PyDict>,
) -> PyResult<Vec<Topic<V>>> {
    let mut topics = Vec::with_capacity(nested.len());
    for (query, entries) in nested.iter() {
        let (mut documents, mut values) = (Texts::new(), Vec::new());
        for (document, value) in entries.cast::<PyDict>()?.iter() {
            documents.push(&document.str()?.to_cow()?);
            values.push(value.extract()?);
        }
        topics.push(Topic { id: query.str()?.to_cow()?.into_owned(), documents, values });
    }
    Ok(topics)
}

/// Hands what deserves attention to Python's logging.
fn note(py: Python<'_>, committed: &Committed, summary: &[String]) -> PyResult<()> {
    work::log(py, "warning", summary)?;
    work::log(py, "warning", &committed.notes())
}

/// The queries of a file: ids and texts.
#[pyfunction]
pub(crate) fn read_queries(py: Python<'_>, path: PathBuf) -> PyResult<Vec<(String, String)>> {
    let queries = py.detach(|| document::read_queries(&path, None)).map_err(exception)?;
    Ok(queries.into_iter().map(|query| (query.id, query.text)).collect())
}
