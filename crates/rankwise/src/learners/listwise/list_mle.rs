//! ListMLE: a linear model under which the order of the grades is likely (Xia, Liu, Wang, Zhang and Li, ICML 2008).
//!
//! ```text
//! min_w ½‖w‖² + C/Q Σ_q −ln Pr(order of the grades | Xw)          Plackett–Luce, ties as Efron (1977) has them
//! ```

use crate::card::Card;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::smooth::{self, Shape, Smooth};
use crate::learners::{ByLoss, Fitted, Learner, Task};
use crate::losses::{QueryLoss, listwise as losses};
use crate::watch::Watch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A ranker by the likelihood of the order of grades.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListMle {
    /// How the linear model is found.
    #[serde(flatten)]
    pub smooth: Smooth,
}

impl Default for ListMle {
    fn default() -> Self {
        ListMle { smooth: Smooth { c: 0.1, ..Smooth::default() } }
    }
}

impl Learner for ListMle {
    const CARD: Card = Card {
        name: "list-mle",
        title: "ListMLE",
        summary: "Likelihood of placing the documents from the best grade down, one after the other; ties have no order.",
        citations: &["xia2008listwise", "efron1977efficiency"],
    };

    fn check(&self) -> Result<()> {
        self.smooth.check()
    }

    fn fit(&self, task: &Task<'_>, watch: &mut dyn Watch) -> Result<Fitted> {
        Ok(smooth::fit(losses::ListMle, Shape::Convex, &self.smooth, task, watch))
    }
}

impl ByLoss for ListMle {
    fn concerns_loss(parameter: &str) -> bool {
        !Smooth::has(parameter)
    }

    fn loss_of_scores(&self, _: &Dataset) -> Result<Box<dyn QueryLoss>> {
        Ok(Box::new(losses::ListMle))
    }
}
