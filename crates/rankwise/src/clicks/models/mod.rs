//! Click models: how users come to click, with parameters estimated from a log.
//!
//! A user who examines a document clicks it if it attracts them; what is examined depends on the model. With attractiveness
//! `α`, which belongs to a document of a query, and `E` for examined:
//!
//! ```text
//! position-based   P(E at rank r) = θ_r                                                     (Richardson et al. 2007)
//! user browsing    P(E at rank r) = θ_{r,r′},  r′ the rank of the click before, or none     (Dupret and Piwowarski 2008)
//! cascade          down the list until the first click                                      (Craswell et al. 2008)
//! dependent click  after a click at rank r, on with probability λ_r                         (Guo, Liu and Wang 2009)
//! simplified DBN   after a click on d, on with probability 1 − σ_d                          (Chapelle and Zhang 2009)
//! DBN              after a click on d, on with γ(1 − σ_d); without a click, on with γ       (Chapelle and Zhang 2009)
//! ```
//!
//! Cascade, dependent click and simplified DBN are counted in one pass; the others are fitted by expectation
//! maximisation. A [`Prior`] adds the same clicks and views to every parameter, so that what EM increases in each
//! iteration is the log-likelihood plus that of the prior.

mod chain;
mod counting;
mod dbn;
mod evaluate;
mod examination;
mod file;
mod fit;
#[cfg(test)]
mod tests;

pub use evaluate::ModelEvaluation;
pub(super) use examination::{ViewCell, fit_views};
pub use fit::{FitOptions, FittedModel, Prior};

use super::sessions::{Shown, SortedSessions};
use crate::card;
use crate::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The kinds of click models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClickModelKind {
    /// The position-based model.
    Pbm,
    /// The cascade model.
    Cascade,
    /// The dependent click model.
    Dcm,
    /// The simplified dynamic Bayesian network.
    Sdbn,
    /// The dynamic Bayesian network.
    Dbn,
    /// The user browsing model.
    Ubm,
}

impl ClickModelKind {
    /// All kinds.
    pub const ALL: [ClickModelKind; 6] = [
        ClickModelKind::Pbm,
        ClickModelKind::Cascade,
        ClickModelKind::Dcm,
        ClickModelKind::Sdbn,
        ClickModelKind::Dbn,
        ClickModelKind::Ubm,
    ];

    /// The name, as typed.
    pub fn name(self) -> &'static str {
        match self {
            ClickModelKind::Pbm => "pbm",
            ClickModelKind::Cascade => "cascade",
            ClickModelKind::Dcm => "dcm",
            ClickModelKind::Sdbn => "sdbn",
            ClickModelKind::Dbn => "dbn",
            ClickModelKind::Ubm => "ubm",
        }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Result<ClickModelKind> {
        let names = ClickModelKind::ALL.map(ClickModelKind::name);
        let found = ClickModelKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| card::unknown("click model", name, &names))
    }
}

/// A probability for each document of each query, and one for all others.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ByDocument {
    /// The probability of documents that were not in the log.
    pub default: f64,
    /// By query, then by document.
    pub values: BTreeMap<String, BTreeMap<String, f64>>,
}

impl ByDocument {
    fn new(default: f64, pairs: &[(&str, &str)], values: &[f64]) -> ByDocument {
        let mut by_query: BTreeMap<String, BTreeMap<String, f64>> = BTreeMap::new();
        for ((query, document), &value) in pairs.iter().zip(values) {
            match by_query.get_mut(*query) {
                Some(documents) => drop(documents.insert((*document).to_owned(), value)),
                None => {
                    let documents = BTreeMap::from([((*document).to_owned(), value)]);
                    by_query.insert((*query).to_owned(), documents);
                }
            }
        }
        ByDocument { default, values: by_query }
    }

    /// The probability of a document, if it was in the log.
    pub fn known(&self, query: &str, document: &str) -> Option<f64> {
        self.values.get(query)?.get(document).copied()
    }

    /// The probability of a document.
    pub fn get(&self, query: &str, document: &str) -> f64 {
        self.known(query, document).unwrap_or(self.default)
    }

    /// One probability per pair.
    fn of_pairs(&self, pairs: &[(&str, &str)]) -> Vec<f64> {
        pairs.iter().map(|(query, document)| self.get(query, document)).collect()
    }
}

/// What a click model says about everything but attractiveness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "lowercase")]
pub enum Browsing {
    /// The position-based model.
    Pbm {
        /// The probability that each rank, from 1, is examined.
        examination: Vec<f64>,
    },
    /// The user browsing model.
    Ubm {
        /// For each rank, from 1: the probability that it is examined if nothing was clicked before, then if the last
        /// click was at rank 1, 2 and so on. Empty for a rank at which nothing was shown.
        examination: Vec<Vec<f64>>,
    },
    /// The cascade model.
    Cascade,
    /// The dependent click model.
    Dcm {
        /// The probability of going on after a click at each rank, from 1.
        continuation: Vec<f64>,
    },
    /// The simplified dynamic Bayesian network.
    Sdbn {
        /// The probability of being satisfied by a document that was clicked.
        satisfaction: ByDocument,
    },
    /// The dynamic Bayesian network.
    Dbn {
        /// The probability of being satisfied by a document that was clicked.
        satisfaction: ByDocument,
        /// The probability of going on if not satisfied.
        continuation: f64,
    },
}

/// A click model with its parameters.
///
/// ```
/// use rankwise::clicks::models::{ClickModel, ClickModelKind, FitOptions};
/// use rankwise::clicks::{Session, SessionTable};
/// let lines = [
///     r#"{"id": 1, "query": "q", "shown": ["a", "b"], "clicks": [{"doc": "a"}]}"#,
///     r#"{"id": 2, "query": "q", "shown": ["b", "a"], "clicks": [{"doc": "a"}]}"#,
/// ];
/// let sessions = lines.map(|line| serde_json::from_str::<Session>(line).unwrap());
/// let table: SessionTable = sessions.iter().collect();
/// let fitted = ClickModel::fit(ClickModelKind::Pbm, &table, &FitOptions::default())?;
/// let model = &fitted.model;
/// assert!(model.attractiveness.get("q", "a") > model.attractiveness.get("q", "b"));
/// let at_first = [["a", "b"], ["b", "a"]].map(|shown| model.click_probabilities("q", &shown)[0]);
/// assert!(at_first[0] > at_first[1]);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClickModel {
    /// The rest of the model.
    #[serde(flatten)]
    pub browsing: Browsing,
    /// The probability of a click on each document that is examined.
    pub attractiveness: ByDocument,
}

impl ClickModel {
    /// Estimates the parameters of a model from a log.
    pub fn fit(kind: ClickModelKind, sessions: &SessionTable, options: &FitOptions) -> Result<FittedModel> {
        fit::fit(kind, sessions, options)
    }

    /// The kind of model.
    pub fn kind(&self) -> ClickModelKind {
        match self.browsing {
            Browsing::Pbm { .. } => ClickModelKind::Pbm,
            Browsing::Ubm { .. } => ClickModelKind::Ubm,
            Browsing::Cascade => ClickModelKind::Cascade,
            Browsing::Dcm { .. } => ClickModelKind::Dcm,
            Browsing::Sdbn { .. } => ClickModelKind::Sdbn,
            Browsing::Dbn { .. } => ClickModelKind::Dbn,
        }
    }

    /// The probability that each document of a list is clicked, the first rank first.
    pub fn click_probabilities<S: AsRef<str>>(&self, query: &str, shown: &[S]) -> Vec<f64> {
        self.with_list(query, shown, |model, list| model.click_probabilities(list))
    }

    /// For each document of a list, the probability that it is clicked given the clicks above it.
    pub fn conditional_click_probabilities<S: AsRef<str>>(
        &self,
        query: &str,
        shown: &[S],
        clicked: &[bool],
    ) -> Vec<f64> {
        self.with_list(query, shown, |model, list| {
            list.iter_mut().zip(clicked).for_each(|(shown, &clicked)| shown.clicked = clicked);
            model.conditional(list)
        })
    }

    /// The natural logarithm of the probability of exactly these clicks; −∞ if the model rules them out.
    pub fn log_likelihood<S: AsRef<str>>(&self, query: &str, shown: &[S], clicked: &[bool]) -> f64 {
        let conditional = self.conditional_click_probabilities(query, shown, clicked);
        let of_click = |(p, &clicked): (f64, &bool)| if clicked { p } else { 1.0 - p };
        conditional.into_iter().zip(clicked).map(|pair| of_click(pair).ln()).sum()
    }

    fn with_list<S: AsRef<str>, T>(
        &self,
        query: &str,
        shown: &[S],
        then: impl FnOnce(&PairModel<'_>, &mut [Shown]) -> T,
    ) -> T {
        let pairs: Vec<(&str, &str)> = shown.iter().map(|document| (query, document.as_ref())).collect();
        let place = |pair: usize| Shown { pair, rank: pair + 1, clicked: false };
        let mut list: Vec<Shown> = (0..shown.len()).map(place).collect();
        then(&PairModel::new(self, &pairs), &mut list)
    }
}

/// A model whose probabilities of documents are looked up by the number of the pair.
struct PairModel<'a> {
    browsing: &'a Browsing,
    attractiveness: Vec<f64>,
    /// Of the models that have it.
    satisfaction: Vec<f64>,
    /// The probability of parameters that were not in the log.
    default: f64,
}

impl<'a> PairModel<'a> {
    fn new(model: &'a ClickModel, pairs: &[(&str, &str)]) -> PairModel<'a> {
        let satisfaction = match &model.browsing {
            Browsing::Sdbn { satisfaction } | Browsing::Dbn { satisfaction, .. } => {
                satisfaction.of_pairs(pairs)
            }
            _ => Vec::new(),
        };
        let attractiveness = model.attractiveness.of_pairs(pairs);
        let default = model.attractiveness.default;
        PairModel { browsing: &model.browsing, attractiveness, satisfaction, default }
    }

    fn click_probabilities(&self, shown: &[Shown]) -> Vec<f64> {
        match self.browsing {
            Browsing::Pbm { examination } => {
                let of = |s: &Shown| self.attractiveness[s.pair] * self.at(examination, s.rank);
                shown.iter().map(of).collect()
            }
            Browsing::Ubm { examination } => self.click_probabilities_by_last_click(examination, shown),
            _ => chain::click_probabilities(&self.steps(shown)),
        }
    }

    fn conditional(&self, shown: &[Shown]) -> Vec<f64> {
        match self.browsing {
            Browsing::Pbm { .. } => self.click_probabilities(shown),
            Browsing::Ubm { examination } => {
                let mut last = 0;
                let of = |s: &Shown| {
                    let examined = self.after(examination, s.rank, last);
                    last = if s.clicked { s.rank } else { last };
                    self.attractiveness[s.pair] * examined
                };
                shown.iter().map(of).collect()
            }
            _ => chain::conditional(&self.steps(shown), shown),
        }
    }

    /// The probability at a rank, from 1.
    fn at(&self, by_rank: &[f64], rank: usize) -> f64 {
        by_rank.get(rank - 1).copied().unwrap_or(self.default)
    }

    /// The probability that a rank is examined after a click at the rank `last`, 0 if there was none.
    fn after(&self, examination: &[Vec<f64>], rank: usize, last: usize) -> f64 {
        examination.get(rank - 1).and_then(|by_last| by_last.get(last)).copied().unwrap_or(self.default)
    }

    /// The user browsing model, by dynamic programming over the rank of the last click.
    fn click_probabilities_by_last_click(&self, examination: &[Vec<f64>], shown: &[Shown]) -> Vec<f64> {
        // How likely each rank, 0 for none, is that of the last click so far.
        let mut last = vec![(0, 1.0)];
        let mut all = Vec::with_capacity(shown.len());
        for s in shown {
            let mut clicked = 0.0;
            for (rank, probability) in &mut last {
                let click = self.attractiveness[s.pair] * self.after(examination, s.rank, *rank);
                clicked += *probability * click;
                *probability *= 1.0 - click;
            }
            last.push((s.rank, clicked));
            all.push(clicked);
        }
        all
    }

    /// The list as a chain, for models in which users go down the list.
    fn steps(&self, shown: &[Shown]) -> Vec<chain::Step> {
        let step = |s: &Shown| {
            let (after_click, after_skip) = match self.browsing {
                Browsing::Cascade => (0.0, 1.0),
                Browsing::Dcm { continuation } => (self.at(continuation, s.rank), 1.0),
                Browsing::Sdbn { .. } => (1.0 - self.satisfaction[s.pair], 1.0),
                Browsing::Dbn { continuation, .. } => {
                    (continuation * (1.0 - self.satisfaction[s.pair]), *continuation)
                }
                Browsing::Pbm { .. } | Browsing::Ubm { .. } => {
                    unreachable!("examination does not depend on what was examined before")
                }
            };
            chain::Step { attractiveness: self.attractiveness[s.pair], after_click, after_skip }
        };
        shown.iter().map(step).collect()
    }
}

use super::SessionTable;

/// The log-likelihood of all sessions.
fn log_likelihood(model: &PairModel<'_>, sessions: &SortedSessions<'_>) -> f64 {
    let of_pattern = |pattern: &super::sessions::Pattern| {
        let conditional = model.conditional(&pattern.shown);
        let of_click = |(p, s): (f64, &Shown)| if s.clicked { p.ln() } else { (1.0 - p).ln() };
        pattern.count as f64 * conditional.into_iter().zip(&pattern.shown).map(of_click).sum::<f64>()
    };
    sessions.patterns.iter().map(of_pattern).sum()
}
