//! Which positions the hinges against perfect rankings look at.

use crate::losses::structured::DormSearch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which positions count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Version {
    /// Those given by the parameters.
    #[default]
    Full,
    /// The first position only: NDCG@1, and the score of the first document.
    Top,
}

impl Version {
    /// The search restricted to these positions.
    pub(super) fn of(self, full: DormSearch) -> DormSearch {
        match self {
            Version::Full => full,
            Version::Top => DormSearch { k: 1, cut_off: 1, ..full },
        }
    }
}
