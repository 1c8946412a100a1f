//! The algorithms: everything that has a paper and parameters, by family.
//!
//! A learner is one file with one plain parameter struct. It is listed once, in [`LEARNERS`]; the command line,
//! the help, the tables and the tests that walk the list pick it up from there.

pub mod conditional;
pub mod direct;
mod entry;
pub mod margin;
pub mod ordinal;
pub mod pairwise;
pub mod perturbation;
pub mod pointwise;
pub mod structured;
mod validation;

use crate::card::{self, Card};
use crate::data::Dataset;
use crate::error::Result;
use crate::metrics::Metric;
use crate::models::{Model, Record};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use entry::{Entry, Parameter, Path, parse_setting};

/// What is to be learned, and from what.
pub struct Task<'a> {
    /// The queries to learn from.
    pub train: &'a Dataset,
    /// Queries to choose by, where a learner stops early or chooses among several results.
    pub valid: Option<&'a Dataset>,
    /// The measure to choose by, and to optimise where the learner can.
    pub metric: &'a dyn Metric,
    /// The seed of all random choices.
    pub seed: u64,
}

/// A learned model and how it came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// What was learned.
    pub model: Model,
    /// How it went.
    pub record: Record,
}

/// An algorithm: its parameters are the struct itself.
///
/// One doc line per field says its meaning and range; [`check`](Learner::check) enforces the range.
pub trait Learner: Default + Serialize + DeserializeOwned + JsonSchema {
    /// Name, title, meaning and source.
    const CARD: Card;

    /// Refuses parameters that are out of range.
    fn check(&self) -> Result<()>;

    /// Learns. Called with checked parameters and data that has queries and features.
    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted>;
}

/// Every learner there is.
pub static LEARNERS: &[Entry] = &[
    Entry::of::<pointwise::regression::Regression>(),
    Entry::of::<ordinal::oc_svm::OcSvm>(),
    Entry::of::<ordinal::prank::Prank>(),
    Entry::of::<pairwise::rank_svm::RankSvm>(),
    Entry::of_margin::<pairwise::ir_svm::IrSvm>(),
    Entry::of_margin::<structured::svm_auc::SvmAuc>(),
    Entry::of_margin::<structured::svm_map::SvmMap>(),
    Entry::of_margin::<structured::svm_mrr::SvmMrr>(),
    Entry::of_margin::<structured::svm_ndcg::SvmNdcg>(),
    Entry::of_margin::<structured::svm_combo::SvmCombo>(),
    Entry::of_margin::<structured::dorm::Dorm>(),
    Entry::of_margin::<perturbation::min_perturb::MinPerturb>(),
    Entry::of_margin::<perturbation::tie_random::TieRandom>(),
    Entry::of_margin::<perturbation::max_max::MaxMax>(),
    Entry::of::<conditional::Mle>(),
    Entry::of::<conditional::ExpGain>(),
    Entry::of::<conditional::L3>(),
    Entry::of::<conditional::ConvexLoss>(),
    Entry::of::<direct::coordinate_ascent::CoordinateAscent>(),
];

/// The learner called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    card::find(LEARNERS, |e| &e.card, "learner", name)
}
