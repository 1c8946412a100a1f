//! ListMLE: the likelihood of the order of the labels (Xia, Liu, Wang, Zhang and Li, ICML 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q −ln Pr(order of the labels | Xw)          Plackett–Luce, ties as in Efron (1977)
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::{LinearParameters, LossKind, LossLearner};
use crate::losses::listwise as losses;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Likelihood of the order of the labels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ListMle {}

impl LossLearner for ListMle {
    const CARD: Card = Card {
        name: "list-mle",
        title: "ListMLE",
        summary: "Plackett–Luce likelihood of ranking the documents by decreasing label; ties are unordered.",
        citations: &["xia2008listwise", "efron1977efficiency"],
    };

    type Linear = LinearParameters;

    fn linear() -> LinearParameters {
        LinearParameters::smooth(0.1)
    }

    fn loss(&self, _: &Dataset) -> Result<LossKind> {
        Ok(LossKind::Smooth(Box::new(losses::ListMle)))
    }
}
