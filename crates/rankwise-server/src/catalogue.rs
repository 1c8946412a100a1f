//! The models by name and version. A request sees one state of all of them.

use crate::problem::{Answer, Problem};
use arc_swap::ArcSwap;
use axum::http::StatusCode;
use rankwise::models::{Ranker, checksum};
use rankwise::{Error, Result};
use rankwise_search::{Bm25, Search, Snapshot};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The name of the search without a model.
pub(crate) const BM25: &str = "bm25";

/// How many earlier versions of a model can be returned to.
const KEPT: usize = 4;

/// The most models.
const MOST: usize = 100;

/// A version of a model, ready to answer.
pub(crate) struct Served {
    pub(crate) name: String,
    pub(crate) version: u32,
    /// The checksum of its file.
    pub(crate) checksum: String,
    /// None for BM25.
    pub(crate) ranker: Option<Arc<Ranker>>,
    /// None without an index.
    pub(crate) search: Option<Search>,
}

/// All models at one moment.
#[derive(Clone)]
pub(crate) struct Catalogue {
    models: BTreeMap<String, Versions>,
    default: Option<String>,
    /// Changes whenever anything does.
    pub(crate) revision: u64,
}

#[derive(Clone)]
struct Versions {
    current: Arc<Served>,
    /// The last one is the newest.
    earlier: Vec<Arc<Served>>,
    /// The version of the next one.
    next: u32,
}

/// The models, which change while requests are answered.
pub(crate) struct Models {
    current: ArcSwap<Catalogue>,
    index: Option<Searchable>,
    /// Held while a change is made.
    changing: Mutex<()>,
}

/// What is searched, and how candidates are found.
pub(crate) struct Searchable {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) bm25: Bm25,
    pub(crate) depth: usize,
}

impl Models {
    /// No models, and BM25 if there is an index.
    pub(crate) fn new(index: Option<Searchable>) -> Models {
        let mut models = BTreeMap::new();
        if let Some(Searchable { snapshot, bm25, .. }) = &index {
            let search = Search::new(Arc::clone(snapshot), bm25.clone());
            let (name, checksum) = (BM25.to_owned(), String::new());
            let current = Arc::new(Served { name, version: 1, checksum, ranker: None, search: Some(search) });
            models.insert(BM25.to_owned(), Versions { current, earlier: Vec::new(), next: 2 });
        }
        let default = models.keys().next().cloned();
        let current = ArcSwap::from_pointee(Catalogue { models, default, revision: 0 });
        Models { current, index, changing: Mutex::new(()) }
    }

    /// The models now.
    pub(crate) fn now(&self) -> Arc<Catalogue> {
        self.current.load_full()
    }

    pub(crate) fn index(&self) -> Option<&Searchable> {
        self.index.as_ref()
    }

    /// Reads and checks a model file and lets it serve as the next version of `name`. Requests are answered by the version
    /// before until it is ready.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Answer<Arc<Served>> {
        check_name(name)?;
        let loaded = self.load(bytes)?;
        self.change(|catalogue| {
            if !catalogue.models.contains_key(name) && catalogue.models.len() >= MOST {
                return Err(Problem::unusable(format!("there are {MOST} models, and more are not kept")));
            }
            let version = catalogue.models.get(name).map_or(1, |versions| versions.next);
            let (checksum, ranker, search) = loaded;
            let current = Arc::new(Served { name: name.to_owned(), version, checksum, ranker, search });
            let mut earlier = Vec::new();
            if let Some(before) = catalogue.models.remove(name) {
                earlier = before.earlier;
                earlier.push(before.current);
                earlier.drain(..earlier.len().saturating_sub(KEPT));
            }
            let versions = Versions { current: Arc::clone(&current), earlier, next: version + 1 };
            catalogue.models.insert(name.to_owned(), versions);
            Ok(current)
        })
    }

    fn load(&self, bytes: &[u8]) -> Result<(String, Option<Arc<Ranker>>, Option<Search>)> {
        let ranker = Arc::new(Ranker::from_bytes(bytes)?);
        // The first scorer compiles trees; no request should wait for that.
        drop(ranker.scorer());
        let search = match &self.index {
            Some(Searchable { snapshot, bm25, depth }) => {
                let search = Search::new(Arc::clone(snapshot), bm25.clone());
                Some(search.with_model(Arc::clone(&ranker), *depth)?)
            }
            None => None,
        };
        Ok((checksum(bytes), Some(ranker), search))
    }

    /// Makes a model the default.
    pub(crate) fn promote(&self, name: &str) -> Answer<Arc<Served>> {
        self.change(|catalogue| {
            let served = catalogue.get(name)?;
            catalogue.default = Some(name.to_owned());
            Ok(served)
        })
    }

    /// Returns to the version before.
    pub(crate) fn roll_back(&self, name: &str) -> Answer<Arc<Served>> {
        self.change(|catalogue| {
            catalogue.get(name)?;
            let versions = catalogue.models.get_mut(name);
            let before = versions.and_then(|versions| {
                versions.current = versions.earlier.pop()?;
                Some(Arc::clone(&versions.current))
            });
            before.ok_or_else(|| {
                Problem::new(
                    StatusCode::CONFLICT,
                    format!("the model `{name}` has no earlier version to return to"),
                )
            })
        })
    }

    /// Changes a copy, which then takes the place of the catalogue.
    fn change<T>(&self, change: impl FnOnce(&mut Catalogue) -> Answer<T>) -> Answer<T> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut catalogue = Catalogue::clone(&self.current.load());
        let result = change(&mut catalogue)?;
        catalogue.revision += 1;
        self.current.store(Arc::new(catalogue));
        Ok(result)
    }
}

impl Catalogue {
    /// The model of this name.
    pub(crate) fn get(&self, name: &str) -> Answer<Arc<Served>> {
        match self.models.get(name) {
            Some(versions) => Ok(Arc::clone(&versions.current)),
            None if self.models.is_empty() => {
                Err(Problem::not_found(format!("there is no model `{name}`; this server has no models")))
            }
            None => {
                let known: Vec<&str> = self.models.keys().map(String::as_str).collect();
                Err(Problem::not_found(rankwise::card::unknown("model", name, &known).to_string()))
            }
        }
    }

    /// The model that answers unless another is asked for.
    pub(crate) fn default(&self) -> Answer<Arc<Served>> {
        match &self.default {
            Some(name) => self.get(name),
            None => Err(Problem::not_found(
                "this server has no model yet; an administrator can `PUT /v1/models/NAME`",
            )),
        }
    }

    /// All models that serve, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Served>> {
        self.models.values().map(|versions| &versions.current)
    }

    /// What clients are told about the models.
    pub(crate) fn as_json(&self) -> Value {
        let model = |versions: &Versions| {
            let mut value = versions.current.as_json();
            value["default"] = (self.default.as_deref() == Some(&versions.current.name)).into();
            value["earlier"] = versions.earlier.iter().map(|served| served.version).collect();
            value
        };
        json!({ "default": self.default, "models": self.models.values().map(model).collect::<Vec<_>>() })
    }
}

impl Served {
    /// The model, which BM25 is not.
    pub(crate) fn ranker(&self) -> Answer<&Arc<Ranker>> {
        self.ranker.as_ref().ok_or_else(|| {
            Problem::unusable("BM25 is not a model of features; name a model with the parameter `model`")
        })
    }

    /// The search, which needs an index.
    pub(crate) fn search(&self) -> Answer<&Search> {
        self.search.as_ref().ok_or_else(|| {
            Problem::not_found(
                "this server has no index, so it cannot search; start it with one, or send feature rows to /v1/rank or /v1/score",
            )
        })
    }

    pub(crate) fn as_json(&self) -> Value {
        let mut value = json!({ "name": self.name, "version": self.version });
        if let Some(ranker) = &self.ranker {
            value["checksum"] = self.checksum.as_str().into();
            value["learner"] = ranker.learner.title.as_str().into();
            value["features"] = ranker.model.width().into();
        }
        value
    }
}

/// Names are parts of paths and of logs.
fn check_name(name: &str) -> Answer<()> {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_safe) || name.starts_with('.') {
        return Err(Problem::bad_request(
            "the name of a model has 1 to 64 letters, digits or - _ . of ASCII, and does not begin with a dot",
        ));
    }
    match name {
        BM25 => Err(Problem::new(
            StatusCode::CONFLICT,
            "`bm25` is the search without a model; choose another name",
        )),
        _ => Ok(()),
    }
}

/// A model that the server is started with.
pub(crate) fn load(models: &Models, name: &str, path: &std::path::Path) -> Result<()> {
    let bytes = rankwise::models::read_bytes(path)?;
    let put = models.put(name, &bytes);
    put.map(drop)
        .map_err(|problem| Error::model(format!("the model {name}={}: {}", path.display(), problem.detail)))
}
