//! Scorers: how scores depend on features, and how a loss of scores is minimised over them.
//!
//! Every loss can be minimised by every scorer. The loss defines what is minimised; the scorer's parameters
//! define how.

mod linear;
mod network;
mod trees;

#[cfg(doc)]
use super::LossSource;
use super::parameters::{Parameters, table_of};
use super::{Fitted, Task};
use crate::card;
use crate::error::Result;
use crate::watch::Watch;
use toml::Table;

pub use super::boosting::TreesParameters;
pub use super::networks::NetworkParameters;
pub use linear::{LambdaLinearParameters, LinearParameters, RegularizationPath};
pub(super) use linear::{certified_record, skipped_note};

/// The kinds of scorers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScorerKind {
    /// A weighted sum of features.
    Linear,
    /// Boosted trees.
    Trees,
    /// A neural network.
    Network,
}

impl ScorerKind {
    /// All kinds.
    pub const ALL: [ScorerKind; 3] = [ScorerKind::Linear, ScorerKind::Trees, ScorerKind::Network];

    /// Its name: `linear`, `trees` or `network`.
    pub fn name(self) -> &'static str {
        match self {
            ScorerKind::Linear => "linear",
            ScorerKind::Trees => "trees",
            ScorerKind::Network => "network",
        }
    }

    /// The kind called `name`.
    pub fn named(name: &str) -> Result<ScorerKind> {
        let kind = match name.to_lowercase().as_str() {
            "mlp" | "neural-network" | "net" => Some(ScorerKind::Network),
            "tree" | "boosted-trees" | "gbdt" => Some(ScorerKind::Trees),
            plain => ScorerKind::ALL.into_iter().find(|kind| kind.name() == plain),
        };
        kind.ok_or_else(|| card::unknown("scorer", name, &ScorerKind::ALL.map(ScorerKind::name)))
    }
}

/// A scorer with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum Scorer {
    /// A weighted sum of features.
    Linear(LinearParameters),
    /// Boosted trees.
    Trees(TreesParameters),
    /// A neural network.
    Network(NetworkParameters),
}

impl Scorer {
    /// Its kind.
    pub fn kind(&self) -> ScorerKind {
        match self {
            Scorer::Linear(_) => ScorerKind::Linear,
            Scorer::Trees(_) => ScorerKind::Trees,
            Scorer::Network(_) => ScorerKind::Network,
        }
    }

    /// Its parameters as a table.
    pub fn parameters(&self) -> Table {
        match self {
            Scorer::Linear(parameters) => table_of(parameters),
            Scorer::Trees(parameters) => table_of(parameters),
            Scorer::Network(parameters) => table_of(parameters),
        }
    }
}

/// The parameters of a scorer that can minimise the losses of `L`.
pub trait LossScorer<L: ?Sized>: Parameters {
    /// Which scorer it is.
    const KIND: ScorerKind;

    /// Whether training can start from a model and keep a checkpoint.
    const CONTINUES: bool = false;

    /// Whether it learns from categorical features.
    const TAKES_CATEGORIES: bool = false;

    /// Whether it can be trained on data that is divided among workers.
    const DISTRIBUTES: bool = false;

    /// Whether labels may be weighted clicks: it minimises what [`LossSource::make_loss`] returns.
    const TAKES_CLICKS: bool = true;

    /// Rejects parameters that are out of range, or that make no sense for the loss.
    fn check(&self, loss: &L) -> Result<()>;

    /// Minimises the loss.
    fn fit(&self, loss: &L, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted>;

    /// One model per C of `cs`, each starting from those before; `None` if this loss and scorer have no
    /// regularization path.
    fn path(
        &self,
        loss: &L,
        cs: &[f64],
        task: &Task<'_>,
        watch: &mut dyn Watch,
    ) -> Result<Option<RegularizationPath>> {
        let _ = (loss, cs, task, watch);
        Ok(None)
    }
}
