//! The models by name and version. A request sees one state of all of them.

use crate::problem::{Answer, Problem};
use crate::settings::Settings;
use crate::store::{Given, Kept, Store};
use arc_swap::ArcSwap;
use axum::http::StatusCode;
use rankwise::models::{Ranker, checksum, read_bytes};
use rankwise::{Error, Result};
use rankwise_search::search::RetrievalOptions;
use rankwise_search::{Search, Snapshot};
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
    /// The last version of each name. No number is used twice, because the log knows lists by them.
    last: BTreeMap<String, u32>,
    /// What the server was started with.
    given: Given,
    /// What all models search.
    pub(crate) index: Option<Searchable>,
    /// Changes whenever anything does.
    pub(crate) revision: u64,
}

#[derive(Clone)]
struct Versions {
    current: Arc<Served>,
    /// The last one is the newest.
    earlier: Vec<Arc<Served>>,
}

/// The models, which change while requests are answered.
pub(crate) struct Models {
    current: ArcSwap<Catalogue>,
    /// Where changes are kept for another start.
    store: Option<Store>,
    /// Held while a change is made.
    changing: Mutex<()>,
}

/// What is searched, and how candidates are found.
#[derive(Clone)]
pub(crate) struct Searchable {
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) retrieval: RetrievalOptions,
}

impl Searchable {
    /// The search by a model, or by BM25.
    fn search(&self, ranker: Option<&Arc<Ranker>>) -> Result<Search> {
        Search::of(Arc::clone(&self.snapshot), ranker.cloned(), &self.retrieval)
    }
}

impl Models {
    /// BM25 if there is an index, and what the store has.
    pub(crate) fn new(index: Option<Searchable>, store: Option<Store>) -> Result<Models> {
        let mut models = BTreeMap::new();
        if let Some(index) = &index {
            let (name, checksum, search) = (BM25.to_owned(), String::new(), Some(index.search(None)?));
            let current = Arc::new(Served { name, version: 1, checksum, ranker: None, search });
            models.insert(BM25.to_owned(), Versions { current, earlier: Vec::new() });
        }
        let default = models.keys().next().cloned();
        let mut catalogue =
            Catalogue { models, default, last: BTreeMap::new(), given: Given::default(), index, revision: 0 };
        if let Some(store) = &store {
            catalogue.take_up(store)?;
        }
        Ok(Models { current: ArcSwap::from_pointee(catalogue), store, changing: Mutex::new(()) })
    }

    /// Adds the models that the settings name and makes one of them the default, unless the store has something newer.
    /// Returns what an operator should know.
    pub(crate) fn begin(&self, settings: &Settings) -> Result<Vec<String>> {
        let mut notes = Vec::new();
        let mut given = self.now().given.clone();
        for (name, path) in &settings.models {
            let shown = format!("{name}={}", path.display());
            let bytes = read_bytes(path)?;
            let sum = checksum(&bytes);
            let kept = self.now().models.get(name).map(|versions| Arc::clone(&versions.current));
            match kept {
                Some(kept) if kept.checksum == sum => {}
                Some(kept) if given.models.get(name) == Some(&sum) => notes.push(format!(
                    "version {} of `{name}` serves, which was sent after {shown} was first given",
                    kept.version
                )),
                None if given.models.get(name) == Some(&sum) => {
                    notes.push(format!("`{name}` does not serve: it was removed after {shown} was first given; it can be sent again with PUT"));
                }
                _ => {
                    let put = self.put(name, &bytes);
                    put.map_err(|problem| Error::model(format!("the model {shown}: {}", problem.detail)))?;
                }
            }
            given.models.insert(name.clone(), sum);
        }
        let first = settings.default.as_ref().or(settings.models.first().map(|(name, _)| name));
        let is_new = given.default.as_ref() != first;
        given.default = first.cloned();
        self.change(|catalogue| {
            if let Some(name) = first
                && (is_new || catalogue.default().is_err())
            {
                catalogue.default = Some(catalogue.get(name)?.name.clone());
            }
            catalogue.given = given;
            Ok(())
        })
        .map_err(|problem| Error::parameter(problem.detail))?;
        Ok(notes)
    }

    /// The models now.
    pub(crate) fn now(&self) -> Arc<Catalogue> {
        self.current.load_full()
    }

    /// Reads and checks a model file and lets it serve as the next version of `name`. Requests are answered by the version
    /// before until it is ready. The first model of all is the default.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> Answer<Arc<Served>> {
        check_name(name)?;
        let ranker = Arc::new(load(bytes)?);
        self.change(|catalogue| {
            let before = catalogue.models.get(name);
            if before.is_none() && catalogue.models.len() >= MOST {
                return Err(Problem::unusable(format!("there are {MOST} models, and more are not kept")));
            }
            let version = catalogue.last.get(name).map_or(1, |last| last + 1);
            let sum = checksum(bytes);
            let current = Arc::new(Served::new(name, version, sum, ranker, catalogue.index.as_ref())?);
            if let Some(store) = &self.store {
                store.save(&current.checksum, bytes).map_err(not_kept)?;
            }
            let mut earlier = Vec::new();
            if let Some(before) = catalogue.models.remove(name) {
                earlier = before.earlier;
                earlier.push(before.current);
                earlier.drain(..earlier.len().saturating_sub(KEPT));
            }
            catalogue.last.insert(name.to_owned(), version);
            let versions = Versions { current: Arc::clone(&current), earlier };
            catalogue.models.insert(name.to_owned(), versions);
            catalogue.default.get_or_insert_with(|| name.to_owned());
            Ok(current)
        })
    }

    /// Lets all models search what another commit of the index has.
    pub(crate) fn refresh(&self, snapshot: Snapshot) -> Answer<()> {
        let snapshot = Arc::new(snapshot);
        self.change(|catalogue| {
            let Some(before) = &catalogue.index else { return Ok(()) };
            let index = Searchable { snapshot, ..before.clone() };
            for versions in catalogue.models.values_mut() {
                for served in versions.earlier.iter_mut().chain([&mut versions.current]) {
                    *served = Arc::new(served.on(&index)?);
                }
            }
            catalogue.index = Some(index);
            Ok(())
        })
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

    /// Removes all versions of a model.
    pub(crate) fn remove(&self, name: &str) -> Answer<Arc<Served>> {
        self.change(|catalogue| {
            let served = catalogue.get(name)?;
            let refused = |why: String| Err(Problem::new(StatusCode::CONFLICT, why));
            if served.ranker.is_none() {
                return refused(format!("`{name}` is the search without a model, which stays"));
            }
            if catalogue.default.as_deref() == Some(name) {
                return refused(format!("`{name}` is the default; promote another model first"));
            }
            catalogue.models.remove(name);
            Ok(served)
        })
    }

    /// Changes a copy, which then takes the place of the catalogue.
    fn change<T>(&self, change: impl FnOnce(&mut Catalogue) -> Answer<T>) -> Answer<T> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut catalogue = Catalogue::clone(&self.current.load());
        let result = change(&mut catalogue)?;
        catalogue.revision += 1;
        if let Some(store) = &self.store {
            store.change(catalogue.kept()).map_err(not_kept)?;
        }
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

    /// What a store keeps.
    fn kept(&self) -> Kept {
        let models = self.models.values().filter(|versions| versions.current.ranker.is_some());
        let models = models.map(|versions| {
            let all = versions.earlier.iter().chain([&versions.current]);
            let all = all.map(|served| (served.version, served.checksum.clone())).collect();
            (versions.current.name.clone(), all)
        });
        Kept {
            default: self.default.clone(),
            models: models.collect(),
            last: self.last.clone(),
            given: self.given.clone(),
        }
    }

    /// Adds what a store has kept.
    fn take_up(&mut self, store: &Store) -> Result<()> {
        let kept = store.kept();
        for (name, versions) in kept.models {
            let mut earlier = Vec::new();
            for (version, sum) in versions {
                let served = store.read(&sum).and_then(|bytes| {
                    Served::new(&name, version, sum, Arc::new(load(&bytes)?), self.index.as_ref())
                });
                earlier.push(Arc::new(served.map_err(|error| {
                    Error::model(format!("version {version} of `{name}`, which the store has: {error}"))
                })?));
            }
            if let Some(current) = earlier.pop() {
                self.models.insert(name, Versions { current, earlier });
            }
        }
        self.default = kept.default.filter(|name| self.models.contains_key(name)).or(self.default.take());
        self.last = kept.last;
        self.given = kept.given;
        Ok(())
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
    fn new(
        name: &str,
        version: u32,
        checksum: String,
        ranker: Arc<Ranker>,
        index: Option<&Searchable>,
    ) -> Result<Served> {
        let search = index.map(|index| index.search(Some(&ranker))).transpose()?;
        Ok(Served { name: name.to_owned(), version, checksum, ranker: Some(ranker), search })
    }

    /// The same version on another commit of the index.
    fn on(&self, index: &Searchable) -> Result<Served> {
        Ok(Served {
            name: self.name.clone(),
            version: self.version,
            checksum: self.checksum.clone(),
            ranker: self.ranker.clone(),
            search: Some(index.search(self.ranker.as_ref())?),
        })
    }

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

    /// The search, if the model can order candidates of BM25.
    pub(crate) fn finder(&self) -> Option<&Search> {
        self.search.as_ref().filter(|search| search.check_candidates().is_ok())
    }

    /// The model's name with its version, by which lists in the log are known: clicks on one version say nothing of another.
    pub(crate) fn label(&self) -> String {
        match self.ranker {
            Some(_) => format!("{}@{}", self.name, self.version),
            None => self.name.clone(),
        }
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

/// A model that is ready to score.
fn load(bytes: &[u8]) -> Result<Ranker> {
    let ranker = Ranker::from_bytes(bytes)?;
    // The first scorer compiles trees; no request should wait for that.
    drop(ranker.scorer());
    Ok(ranker)
}

/// A change that cannot be kept does not happen.
fn not_kept(error: Error) -> Problem {
    Problem::new(StatusCode::INSUFFICIENT_STORAGE, format!("nothing has changed: {error}"))
}
