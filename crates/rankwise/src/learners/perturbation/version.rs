//! What the hinges against perfect rankings look at.

use crate::losses::structured::DormSearch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much of a ranking counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// As many places as the parameters say.
    #[default]
    Full,
    /// The first place alone: NDCG@1, and the score of the first document.
    Top,
}

impl Version {
    /// The search with so much of a ranking.
    pub(super) fn of(self, full: DormSearch) -> DormSearch {
        match self {
            Version::Full => full,
            Version::Top => DormSearch { k: 1, cut_off: 1, ..full },
        }
    }
}
