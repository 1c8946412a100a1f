//! Ranking metrics, their conventions and presets, and evaluation of a data set.
//!
//! A metric is one file and one line in [`METRICS`]. For a ranking with ties it gives the exact expectation over all
//! orders of the tied documents, in closed form (interpolated precision, which has none, sees tied documents at once).
//! [`Conventions`] decide everything on which tools differ, such as gains, tie rules and queries without relevant
//! documents.
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
mod clicked;
mod conventions;
mod counts;
mod dcg;
mod eleven_point;
mod err;
mod evaluate;
mod f1;
mod gains;
mod hits;
mod inf_ap;
mod interpolated;
mod iprec;
mod judged;
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
mod relevance;
mod set_map;
mod set_relative_p;
mod spec;
mod success;
mod trec_eval;

use crate::card::Card;
use crate::rank::{RankRule, Ranking, Sorter};
use serde::Serialize;

pub(crate) use clicked::MetricOfLabels;
pub use conventions::{
    ApDivisor, ApTies, Conventions, Discount, Empty, Gain, PDivisor, StopProbability, option_names,
};
pub(crate) use dcg::Dcg;
pub(crate) use evaluate::differ;
pub use evaluate::{
    Counts, DocumentIds, Evaluation, IdSource, JudgedList, evaluate, evaluate_lists, weighted_mean,
};
pub(crate) use evaluate::{evaluate_lists_of, mean_of_all};
pub use presets::{PRESETS, Preset, preset};
pub use relevance::check_relevance;
pub(crate) use relevance::check_relevance_of;
pub use spec::{find, parse, parse_list};
pub use trec_eval::trec_eval_name;

/// A metric of one query's ranking; greater is better.
///
/// [`parse`] makes the metrics of this library. A metric of your own implements five methods:
///
/// ```
/// use rankwise::metrics::{Conventions, Empty, Metric};
/// use rankwise::rank::{Ranking, Sorter};
///
/// /// The label of the first document.
/// struct FirstLabel(Conventions);
///
/// impl Metric for FirstLabel {
///     fn name(&self) -> String {
///         "first-label".into()
///     }
///     fn conventions(&self) -> &Conventions {
///         &self.0
///     }
///     fn empty(&self) -> Empty {
///         Empty::Zero
///     }
///     fn is_undefined(&self, labels: &[f32]) -> bool {
///         labels.is_empty()
///     }
///     fn value(&self, labels: &[f32], ranking: &Ranking) -> Option<f64> {
///         ranking.order().first().map(|&d| f64::from(labels[d as usize]))
///     }
/// }
///
/// let metric = FirstLabel(Conventions::default());
/// assert_eq!(metric.value_of_scores(&[0.0, 2.0], &[0.1, 0.9], &mut Sorter::default()), Some(2.0));
/// ```
pub trait Metric: Send + Sync {
    /// The name, as in `ndcg@10`.
    fn name(&self) -> String;

    /// The conventions it follows.
    fn conventions(&self) -> &Conventions;

    /// The value of a query for which the metric is undefined.
    fn empty(&self) -> Empty;

    /// Whether the metric is undefined for a query, usually because it has no relevant documents.
    fn is_undefined(&self, labels: &[f32]) -> bool;

    /// The value for one query, or `None` if the conventions skip the query.
    ///
    /// `labels` are those of all documents, NaN for unjudged ones; `ranking` has the documents that were retrieved.
    fn value(&self, labels: &[f32], ranking: &Ranking) -> Option<f64>;

    /// How scores become the ranking that [`value`](Self::value) expects.
    fn rank_rule(&self) -> RankRule {
        self.conventions().rank_rule()
    }

    /// Whether it counts something, so that values of queries are added up rather than averaged.
    fn is_count(&self) -> bool {
        false
    }

    /// The values for all queries at once, for metrics that are computed so: from another language, a call per query would
    /// be slow. Query `q` has the labels and scores at `bounds[q]..bounds[q + 1]`. `None` by default: query by query.
    fn values_at_once(&self, labels: &[f32], scores: &[f64], bounds: &[usize]) -> Option<Vec<Option<f64>>> {
        let _ = (labels, scores, bounds);
        None
    }

    /// The number of top ranks that decide the value; `usize::MAX` if all may.
    fn depth(&self) -> usize {
        usize::MAX
    }

    /// What depends on the labels alone, for [`value_beside`](Self::value_beside): the value of the best ranking, where
    /// the metric divides by it; 0 where the metric is undefined.
    fn ideal(&self, labels: &[f32]) -> f64 {
        f64::from(u8::from(!self.is_undefined(labels)))
    }

    /// The [`value`](Self::value), where the [`ideal`](Self::ideal) is known: faster for many rankings of one query.
    fn value_beside(&self, _ideal: f64, labels: &[f32], ranking: &Ranking) -> Option<f64> {
        self.value(labels, ranking)
    }

    /// The value for the scores of one query, none of which may be NaN. `sorter` is reusable memory.
    fn value_of_scores(&self, labels: &[f32], scores: &[f64], sorter: &mut Sorter) -> Option<f64> {
        self.value(labels, sorter.rank_top(scores, labels, self.rank_rule(), self.depth()))
    }
}

/// The formula of a metric, for queries that define it: what one file of this module implements.
trait MetricFormula: Send + Sync {
    /// Whether the metric is undefined for the query.
    fn is_undefined(&self, labels: &[f32]) -> bool;

    /// The expectation over all orders of tied documents, for a query that defines the metric.
    fn expectation(&self, labels: &[f32], ranking: &Ranking) -> f64;

    /// What the expectation is divided by, if it depends on the labels alone.
    fn ideal(&self, _labels: &[f32]) -> f64 {
        1.0
    }

    /// The expectation, where the ideal is known.
    fn expectation_beside(&self, _ideal: f64, labels: &[f32], ranking: &Ranking) -> f64 {
        self.expectation(labels, ranking)
    }

    /// Whether it counts something.
    fn is_count(&self) -> bool {
        false
    }
}

/// A formula with its name and conventions.
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

    fn is_count(&self) -> bool {
        self.formula.is_count()
    }

    fn depth(&self) -> usize {
        self.depth
    }

    fn value(&self, labels: &[f32], ranking: &Ranking) -> Option<f64> {
        self.value_beside(self.ideal(labels), labels, ranking)
    }

    fn ideal(&self, labels: &[f32]) -> f64 {
        if self.formula.is_undefined(labels) { 0.0 } else { self.formula.ideal(labels) }
    }

    fn value_beside(&self, ideal: f64, labels: &[f32], ranking: &Ranking) -> Option<f64> {
        if ideal != 0.0 {
            return Some(self.formula.expectation_beside(ideal, labels, ranking));
        }
        match self.empty {
            Empty::Zero => Some(0.0),
            Empty::One => Some(1.0),
            Empty::Skip => None,
        }
    }
}

/// A metric in the list [`METRICS`].
#[derive(Serialize)]
pub struct MetricEntry {
    /// Name, title, summary and papers.
    #[serde(flatten)]
    pub card: Card,
    /// Other names it is accepted under, among them those of other tools. Case, `-` and `_` make no difference, so
    /// a spelling such as `Bpref` needs no entry.
    pub aliases: &'static [&'static str],
    /// The least and, if there is one, the greatest value.
    pub range: (f64, Option<f64>),
    /// When it is undefined, and the value then.
    pub empty: &'static str,
    /// Whether it accepts a cut, `@k`.
    pub cut: bool,
    /// Whether it needs a level of recall, `@0.1`; without one, it stands for the eleven levels from 0 to 1.
    pub levels: bool,
    /// The conventions it depends on, besides those of all metrics: `empty`, `ties` and `scores`.
    pub options: &'static [&'static str],
    #[serde(skip)]
    make: fn(Request) -> Box<dyn Metric>,
}

impl MetricEntry {
    /// What may follow its name, as in a table of metrics: `[@k]`, `[@r]` or nothing.
    pub fn suffix(&self) -> &'static str {
        match (self.cut, self.levels) {
            (true, _) => "[@k]",
            (_, true) => "[@r]",
            _ => "",
        }
    }

    /// The canonical name, then the aliases.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.card.name).chain(self.aliases.iter().copied())
    }
}

/// The least and, if there is one, the greatest value of a metric; no bounds for one that is not in the list.
pub fn value_range(metric: &dyn Metric) -> (f64, Option<f64>) {
    let name = metric.name();
    let entry = METRICS.iter().find(|entry| name.split(['@', ':']).next() == Some(entry.card.name));
    entry.map_or((f64::MIN, None), |entry| entry.range)
}

/// A parsed and checked specification of a metric.
struct Request {
    name: String,
    conventions: Conventions,
    cut: Option<usize>,
    /// A level of recall, from 0 to 1; 0 for metrics that have none.
    level: f64,
}

impl Request {
    /// The number of top ranks that count.
    fn depth(&self) -> usize {
        self.cut.unwrap_or(usize::MAX)
    }

    /// The metric with this formula, under the conventions for the one called `card`.
    fn build<M: MetricFormula + 'static>(self, card: &Card, formula: M) -> Box<dyn Metric> {
        let empty = self.conventions.empty_for(card.name);
        let depth = self.depth();
        Box::new(Named { name: self.name, empty, depth, conventions: self.conventions, formula })
    }
}

/// How most metrics treat a query without relevant documents.
const BY_CONVENTION: &str = "no relevant documents: 0, 1 or skipped, depending on `empty`";

/// For metrics that do not depend on relevant documents.
const NEVER: &str = "never: it does not depend on relevant documents";

/// Every metric.
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
    inf_ap::ENTRY,
    iprec::ENTRY,
    eleven_point::ENTRY,
    set_map::ENTRY,
    set_relative_p::ENTRY,
    judged::ENTRY,
    auc::ENTRY,
    kendall::ENTRY,
    counts::QUERIES,
    counts::RETRIEVED,
    counts::RELEVANT,
    counts::RELEVANT_RETRIEVED,
];
