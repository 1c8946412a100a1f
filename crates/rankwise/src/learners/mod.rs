//! The algorithms: everything that has a paper and parameters, by family.
//!
//! A learner is one file with one plain parameter struct. It is listed once, in [`LEARNERS`]; the command line,
//! the help, the tables and the tests that walk the list pick it up from there.

pub mod boosting;
mod by_loss;
pub mod conditional;
pub mod direct;
mod entry;
pub mod forests;
pub mod listwise;
pub mod margin;
pub mod networks;
pub mod ordinal;
pub mod pairwise;
pub mod perturbation;
pub mod pointwise;
pub mod smooth;
pub mod structured;
mod validation;

use crate::card::{self, Card};
use crate::data::Dataset;
use crate::error::Result;
use crate::metrics::Metric;
use crate::models::{Model, Record};
use crate::watch::Watch;
use boosting::Checkpoint;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use by_loss::ByLoss;
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
    /// What to go on from, for learners that can.
    pub start: Start<'a>,
}

/// What learning goes on from.
#[derive(Debug, Clone, Default)]
pub struct Start<'a> {
    /// A model to add to.
    pub model: Option<&'a Model>,
    /// Where the state of training is kept, so that it survives being killed.
    pub checkpoint: Option<&'a Checkpoint>,
    /// What is being learned, from what: only a checkpoint of the same is taken up.
    identity: String,
}

impl<'a> Start<'a> {
    /// From a model, with a checkpoint, both or neither.
    pub fn new(model: Option<&'a Model>, checkpoint: Option<&'a Checkpoint>) -> Start<'a> {
        Start { model, checkpoint, identity: String::new() }
    }
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

    /// Whether it can go on from a model or a checkpoint.
    const CONTINUES: bool = false;

    /// Refuses parameters that are out of range.
    fn check(&self) -> Result<()>;

    /// Learns. Called with checked parameters and data that has queries and features.
    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted>;
}

/// Every learner there is.
pub static LEARNERS: &[Entry] = &[
    Entry::of_loss::<pointwise::regression::Regression>(),
    Entry::of::<ordinal::oc_svm::OcSvm>(),
    Entry::of::<ordinal::prank::Prank>(),
    Entry::of_loss::<pairwise::rank_svm::RankSvm>(),
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
    Entry::of_loss::<conditional::Mle>(),
    Entry::of_loss::<conditional::ExpGain>(),
    Entry::of_loss::<conditional::L3>(),
    Entry::of_loss::<conditional::ConvexLoss>(),
    Entry::of_loss::<pairwise::rank_net::RankNet>(),
    Entry::of_loss::<pairwise::lambda_rank::LambdaRank>(),
    Entry::of_loss::<listwise::list_net::ListNet>(),
    Entry::of_loss::<listwise::list_mle::ListMle>(),
    Entry::of_loss::<listwise::rank_cosine::RankCosine>(),
    Entry::of_loss::<listwise::soft_rank::SoftRank>(),
    Entry::of_loss::<listwise::boltz_rank::BoltzRank>(),
    Entry::of_loss::<listwise::approx_ndcg::ApproxNdcg>(),
    Entry::of_loss::<listwise::xe_ndcg::XeNdcg>(),
    Entry::of_loss::<listwise::lambda_loss::LambdaLoss>(),
    Entry::of::<direct::coordinate_ascent::CoordinateAscent>(),
    Entry::of::<direct::ada_rank::AdaRank>(),
    Entry::of::<boosting::weak::rank_boost::RankBoost>(),
    Entry::of::<boosting::weak::frank::FRank>(),
    Entry::of::<boosting::weak::ndcg_boost::NdcgBoost>(),
    Entry::of::<boosting::mart::Mart>(),
    Entry::of::<boosting::lambda_mart::LambdaMart>(),
    Entry::of::<boosting::gb_rank::GbRank>(),
    Entry::of::<boosting::mcrank::McRank>(),
    Entry::of::<forests::random_forest::RandomForest>(),
];

/// The learner called `name`.
pub fn find(name: &str) -> Result<&'static Entry> {
    card::find(LEARNERS, |e| &e.card, "learner", name)
}
