//! The algorithms: everything that has a paper and parameters, by family.
//!
//! A learner is a loss, which every scorer can minimise ([`LossLearner`]), or a method of its own
//! ([`Learner`]). Either is one file with one plain parameter struct. It is listed once, in [`LEARNERS`]; the
//! command line, the help, the tables and the tests that loop over the list pick it up from there.

pub mod boosting;
pub mod conditional;
pub mod direct;
mod distinct;
mod entry;
pub mod forests;
mod holdout;
pub mod listwise;
mod loss;
pub mod networks;
pub mod ordinal;
pub mod pairwise;
mod parameters;
pub mod perturbation;
pub mod pointwise;
mod scorers;
#[cfg(test)]
mod sharded;
#[cfg(test)]
mod sharded_methods;
pub mod structured;
mod validation;

use crate::card::{self, Card};
use crate::data::Dataset;
use crate::error::Result;
use crate::metrics::Metric;
use crate::models::{Model, Record};
use crate::watch::Watch;
use boosting::Checkpoint;

pub use entry::LearnerEntry;
pub(crate) use entry::{Configured, names_with_path, take_scorer};
pub use loss::{CustomGradients, CustomLoss, LossKind, LossLearner, LossSource};
pub(crate) use parameters::table_of;
pub use parameters::{Parameter, Parameters, parse_setting};
pub use scorers::{
    LambdaLinearParameters, LinearParameters, LossScorer, NetworkParameters, RegularizationPath, Scorer,
    ScorerKind, TreesParameters,
};

/// The data to learn from, and the metric to judge by.
#[derive(Clone)]
pub struct Task<'a> {
    /// The queries to learn from.
    pub train: &'a Dataset,
    /// Validation queries for early stopping and model selection.
    pub valid: Option<&'a Dataset>,
    /// The metric to choose by, and to optimise where the learner can.
    pub metric: &'a dyn Metric,
    /// The seed of all random choices.
    pub seed: u64,
    /// A model to continue from, for learners that support it.
    pub start: Option<&'a Model>,
    /// Where the state of training is kept, for learners that support it.
    pub checkpoint: Option<FingerprintedCheckpoint<'a>>,
}

/// A checkpoint with the fingerprint of the training it belongs to.
#[derive(Debug, Clone, Copy)]
pub struct FingerprintedCheckpoint<'a> {
    /// The file.
    pub checkpoint: &'a Checkpoint,
    /// Fingerprint of learner, parameters and data; a checkpoint with another fingerprint is rejected.
    pub fingerprint: &'a str,
}

impl<'a> Task<'a> {
    /// Training from scratch without validation queries.
    pub fn new(train: &'a Dataset, metric: &'a dyn Metric, seed: u64) -> Task<'a> {
        Task { train, valid: None, metric, seed, start: None, checkpoint: None }
    }
}

/// A trained model and the record of its training.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The model.
    pub model: Model,
    /// How training went.
    pub record: Record,
}

/// A learner that is a method of its own: its parameters are the struct itself.
///
/// One doc line per field gives its meaning and range; [`check`](Learner::check) enforces the range.
pub trait Learner: Parameters {
    /// Name, title, meaning and source.
    const CARD: Card;

    /// Whether it can start from a model and keep a checkpoint.
    const CONTINUES: bool = false;

    /// Whether it compares the documents of a query with each other, so that [`steps`](Learner::steps) grow with long
    /// queries and not with the number of features.
    const COMPARES_DOCUMENTS: bool = false;
    /// Whether it learns from categorical features.
    const TAKES_CATEGORIES: bool = false;

    /// Whether it can be trained on data that is divided among workers.
    const DISTRIBUTES: bool = false;

    /// Whether labels may be weighted clicks: what it computes is linear in the labels.
    const TAKES_CLICKS: bool = false;

    /// Rejects parameters that are out of range.
    fn check(&self) -> Result<()>;

    /// About how many elementary steps training takes, where that can be far more than for other learners: the basis
    /// of a forecast.
    fn steps(&self, train: &Dataset) -> f64 {
        let _ = train;
        0.0
    }

    /// Trains. Called with checked parameters and data that has queries and features.
    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted>;
}

/// All learners.
pub static LEARNERS: &[LearnerEntry] = &[
    LearnerEntry::of_loss::<pointwise::regression::Regression>(),
    LearnerEntry::of::<ordinal::oc_svm::OcSvm>(),
    LearnerEntry::of::<ordinal::prank::Prank>(),
    LearnerEntry::of_loss::<pairwise::rank_svm::RankSvm>(),
    LearnerEntry::of_loss::<pairwise::ir_svm::IrSvm>(),
    LearnerEntry::of_loss::<structured::svm_auc::SvmAuc>(),
    LearnerEntry::of_loss::<structured::svm_map::SvmMap>(),
    LearnerEntry::of_loss::<structured::svm_mrr::SvmMrr>(),
    LearnerEntry::of_loss::<structured::svm_ndcg::SvmNdcg>(),
    LearnerEntry::of_loss::<structured::svm_combo::SvmCombo>(),
    LearnerEntry::of_loss::<structured::dorm::Dorm>(),
    LearnerEntry::of_loss::<perturbation::min_perturb::MinPerturb>(),
    LearnerEntry::of_loss::<perturbation::tie_random::TieRandom>(),
    LearnerEntry::of_loss::<perturbation::max_max::MaxMax>(),
    LearnerEntry::of_loss::<conditional::Mle>(),
    LearnerEntry::of_loss::<conditional::ExpGain>(),
    LearnerEntry::of_loss::<conditional::L3>(),
    LearnerEntry::of_loss::<conditional::ConvexLoss>(),
    LearnerEntry::of_loss::<pairwise::rank_net::RankNet>(),
    LearnerEntry::of_loss::<pairwise::lambda_rank::LambdaRank>(),
    LearnerEntry::of_loss::<listwise::list_net::ListNet>(),
    LearnerEntry::of_loss::<listwise::list_mle::ListMle>(),
    LearnerEntry::of_loss::<listwise::rank_cosine::RankCosine>(),
    LearnerEntry::of_loss::<listwise::soft_rank::SoftRank>(),
    LearnerEntry::of_loss::<listwise::boltz_rank::BoltzRank>(),
    LearnerEntry::of_loss::<listwise::approx_ndcg::ApproxNdcg>(),
    LearnerEntry::of_loss::<listwise::xe_ndcg::XeNdcg>(),
    LearnerEntry::of_loss::<listwise::lambda_loss::LambdaLoss>(),
    LearnerEntry::of::<direct::coordinate_ascent::CoordinateAscent>(),
    LearnerEntry::of::<direct::ada_rank::AdaRank>(),
    LearnerEntry::of::<boosting::weak::rank_boost::RankBoost>(),
    LearnerEntry::of::<boosting::weak::frank::FRank>(),
    LearnerEntry::of::<boosting::weak::ndcg_boost::NdcgBoost>(),
    LearnerEntry::of_loss::<boosting::mart::Mart>(),
    LearnerEntry::of_loss::<boosting::lambda_mart::LambdaMart>(),
    LearnerEntry::of::<boosting::gb_rank::GbRank>(),
    LearnerEntry::of::<boosting::mcrank::McRank>(),
    LearnerEntry::of::<forests::random_forest::RandomForest>(),
];

/// The learner called `name`.
pub fn find(name: &str) -> Result<&'static LearnerEntry> {
    card::find(LEARNERS, |e| &e.card, "learner", name)
}
