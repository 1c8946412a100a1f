//! How good is an order? Metrics, their conventions and presets, and evaluation over a data set.
//!
//! A metric is one file and one line in [`METRICS`]. It says what a ranking with ties is *expected* to be
//! worth, over all orders of the tied documents, in closed form; a ranking without ties is the special case.
//! What a query without relevant documents counts, how ties are treated and the like stand in
//! [`Conventions`].
//!
//! ```
//! use rankwise::metrics::{Conventions, parse};
//! use rankwise::rank::Ranking;
//! let ndcg = parse("ndcg@3", &Conventions::default())?;
//! let ranking = Ranking::by_scores(&[4.0, 3.0, 2.0, 1.0]);
//! let value = ndcg.value(&[0.0, 2.0, 1.0, 3.0], &ranking).unwrap();
//! assert_eq!(format!("{value:.4}"), "0.2547");
//! # Ok::<(), rankwise::Error>(())
//! ```

mod auc;
mod bpref;
mod conventions;
mod dcg;
mod err;
mod evaluate;
mod f1;
mod gains;
mod hits;
mod kendall;
mod map;
mod mean_ndcg;
mod mrr;
mod ndcg;
mod p;
mod presets;
mod r_precision;
mod rbp;
mod recall;
mod spec;
mod success;

use crate::card::Card;
use crate::rank::{RankRule, Ranking, Sorter};
use serde::Serialize;

pub use conventions::{
    ApDivisor, ApTies, Conventions, Discount, Empty, Gain, PDivisor, StopProbability, option_names,
};
pub(crate) use dcg::Dcg;
pub use evaluate::{Counts, DocumentIds, Evaluation, JudgedList, evaluate, evaluate_lists};
pub use presets::{PRESETS, Preset, preset};
pub use spec::{find, parse, parse_list};

/// A metric of one query's ranking; greater is better.
pub trait Metric: Send + Sync {
    /// Its name as a user would type it: `ndcg@10`.
    fn name(&self) -> String;

    /// The choices it was made with.
    fn conventions(&self) -> &Conventions;

    /// What a query counts for which the metric is not defined.
    fn empty(&self) -> Empty;

    /// Whether the metric is not defined for a query, as a rule because nothing in it is relevant.
    fn is_undefined(&self, labels: &[f32]) -> bool;

    /// The value for one query, or `None` where its conventions skip the query.
    ///
    /// `labels` are the grades of all documents, NaN where a document is unjudged; `ranking` orders those
    /// that were retrieved.
    fn value(&self, labels: &[f32], ranking: &Ranking) -> Option<f64>;

    /// How scores are to become the ranking it is given.
    fn rank_rule(&self) -> RankRule {
        self.conventions().rank_rule()
    }

    /// How many places from the first on decide its value; `usize::MAX` where all may.
    fn depth(&self) -> usize {
        usize::MAX
    }

    /// The value of one query's scores, none of them NaN. `sorter` is memory to reuse.
    fn value_of_scores(&self, labels: &[f32], scores: &[f64], sorter: &mut Sorter) -> Option<f64> {
        self.value(labels, sorter.rank_top(scores, labels, self.rank_rule(), self.depth()))
    }
}

/// What one file of this room defines: the metric where it is defined.
trait MetricFormula: Send + Sync {
    /// Whether the query leaves it undefined.
    fn is_undefined(&self, labels: &[f32]) -> bool;

    /// Its expectation over all orders that the ranking leaves open, for a query that defines it.
    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64;
}

/// A metric with its name and conventions.
struct Named<M> {
    name: String,
    conventions: Conventions,
    empty: Empty,
    depth: usize,
    formula: M,
}

impl<M: MetricFormula> Metric for Named<M> {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn conventions(&self) -> &Conventions {
        &self.conventions
    }

    fn empty(&self) -> Empty {
        self.empty
    }

    fn is_undefined(&self, labels: &[f32]) -> bool {
        self.formula.is_undefined(labels)
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn value(&self, labels: &[f32], ranking: &Ranking) -> Option<f64> {
        if !self.formula.is_undefined(labels) {
            return Some(self.formula.expectation(labels, ranking));
        }
        match self.empty {
            Empty::Zero => Some(0.0),
            Empty::One => Some(1.0),
            Empty::Skip => None,
        }
    }
}

/// A metric in the list, with what can be claimed of it.
#[derive(Serialize)]
pub struct MetricEntry {
    /// Name, title, meaning and source.
    #[serde(flatten)]
    pub card: Card,
    /// Other names it is accepted under, among them those of other tools. Case, `-` and `_` make no difference, so
    /// a spelling such as `Bpref` needs no entry.
    pub aliases: &'static [&'static str],
    /// Its least and, where there is one, greatest value.
    pub range: (f64, Option<f64>),
    /// What it does with a query that leaves it undefined.
    pub empty: &'static str,
    /// Whether it can be cut: `@k`.
    pub cut: bool,
    /// The conventions it looks at, beside those that all metrics do: `empty`, `ties` and `scores`.
    pub options: &'static [&'static str],
    #[serde(skip)]
    make: fn(Request) -> Box<dyn Metric>,
}

impl MetricEntry {
    /// The canonical name, then the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.card.name).chain(self.aliases.iter().copied())
    }
}

/// What a user asked for, understood and checked.
struct Request {
    name: String,
    conventions: Conventions,
    cut: Option<usize>,
}

impl Request {
    /// How far down the ranking the metric looks.
    fn depth(&self) -> usize {
        self.cut.unwrap_or(usize::MAX)
    }

    /// The metric as a metric, under the conventions for the one called `card`.
    fn build<M: MetricFormula + 'static>(self, card: &Card, formula: M) -> Box<dyn Metric> {
        let empty = self.conventions.empty_for(card.name);
        let depth = self.depth();
        Box::new(Named { name: self.name, empty, depth, conventions: self.conventions, formula })
    }
}

/// How most metrics treat a query without relevant documents.
const BY_CONVENTION: &str = "nothing relevant: 0, 1 or skipped, as `empty` says";

/// Every metric there is.
pub static METRICS: &[MetricEntry] = &[
    ndcg::ENTRY,
    dcg::ENTRY,
    mean_ndcg::ENTRY,
    map::ENTRY,
    mrr::ENTRY,
    p::ENTRY,
    recall::ENTRY,
    f1::ENTRY,
    r_precision::ENTRY,
    success::ENTRY,
    err::ENTRY,
    rbp::ENTRY,
    bpref::ENTRY,
    auc::ENTRY,
    kendall::ENTRY,
];
