//! Learners that are a loss: what any scorer can minimise.

use super::Task;
use super::boosting::LearnedBias;
use super::parameters::Parameters;
use super::scorers::{LossScorer, NetworkParameters, ScorerKind, TreesParameters};
use crate::card::Card;
use crate::data::{Dataset, Features, Parts};
use crate::error::{Error, Result};
use crate::losses::{PerClick, QueryLoss, Reweighted, Scaled, SecondOrder};
use crate::watch::Stop;
use std::fmt;
use std::sync::Arc;

/// A loss of scores, together with the properties its optimiser may use. Trees and networks need only a
/// [`QueryLoss`]; linear models are fitted by the optimiser that suits the kind.
pub enum LossKind {
    /// Convex with kinks, such as a hinge: cutting planes, to a certified duality gap.
    Convex(Box<dyn QueryLoss>),
    /// Convex with a second derivative: truncated Newton steps, to a certified duality gap.
    SecondOrder(Box<dyn SecondOrder>),
    /// Convex and smooth: L-BFGS from zero weights.
    Smooth(Box<dyn QueryLoss>),
    /// Smooth, with several minima: L-BFGS from the minimum of ListNet's convex loss.
    NonConvex(Box<dyn QueryLoss>),
    /// λ-gradients, whose pairs are weighted by the current order. A linear model fixes the order, lowers the
    /// loss, updates the order and repeats.
    Lambda(Box<dyn Reweighted>),
}

impl LossKind {
    /// The loss alone.
    pub fn into_loss(self) -> Box<dyn QueryLoss> {
        match self {
            LossKind::Convex(loss) | LossKind::Smooth(loss) | LossKind::NonConvex(loss) => loss,
            LossKind::SecondOrder(loss) => loss,
            LossKind::Lambda(loss) => loss,
        }
    }
}

impl LossKind {
    /// The loss of weighted clicks that this one becomes ([`PerClick`]); it is of the same kind.
    pub fn per_click(self) -> LossKind {
        match self {
            LossKind::Convex(loss) => LossKind::Convex(Box::new(PerClick(loss))),
            LossKind::SecondOrder(loss) => LossKind::SecondOrder(Box::new(PerClick(loss))),
            LossKind::Smooth(loss) => LossKind::Smooth(Box::new(PerClick(loss))),
            LossKind::NonConvex(loss) => LossKind::NonConvex(Box::new(PerClick(loss))),
            LossKind::Lambda(loss) => LossKind::Lambda(Box::new(PerClick(loss))),
        }
    }

    /// Gives the loss a request to stop ([`QueryLoss::set_stop`]).
    pub(crate) fn set_stop(&mut self, stop: &Stop) {
        match self {
            LossKind::Convex(loss) | LossKind::Smooth(loss) | LossKind::NonConvex(loss) => {
                loss.set_stop(stop)
            }
            LossKind::SecondOrder(loss) => loss.set_stop(stop),
            LossKind::Lambda(loss) => loss.set_stop(stop),
        }
    }
}

impl fmt::Debug for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LossKind::Convex(_) => "Convex",
            LossKind::SecondOrder(_) => "SecondOrder",
            LossKind::Smooth(_) => "Smooth",
            LossKind::NonConvex(_) => "NonConvex",
            LossKind::Lambda(_) => "Lambda",
        })
    }
}

/// A learner that is a loss. Its fields are the parameters that change what is minimised; those that change
/// how it is minimised belong to the scorer.
///
/// Implement it and list it with [`LearnerEntry::of_loss`](super::LearnerEntry::of_loss): linear models,
/// boosted trees and neural networks can then be trained with it.
///
/// ```
/// use rankwise::card::Card;
/// use rankwise::data::Dataset;
/// use rankwise::learners::{LinearParameters, LossKind, LossLearner};
/// use rankwise::losses::{PairLogistic, PairSum};
/// use rankwise::recipe::{Recipe, Start};
/// use rankwise::watch::Silent;
/// use serde::{Deserialize, Serialize};
///
/// /// The mean logistic loss of pairs.
/// #[derive(Debug, Clone, Default, Serialize, Deserialize, schemars::JsonSchema)]
/// #[serde(deny_unknown_fields, default)]
/// struct MeanPairs {}
///
/// impl LossLearner for MeanPairs {
///     const CARD: Card = Card { name: "mean-pairs", title: "Mean pairs", summary: "…", citations: &[] };
///     type Linear = LinearParameters;
///
///     fn loss(&self, _train: &Dataset) -> rankwise::Result<LossKind> {
///         Ok(LossKind::Smooth(Box::new(PairLogistic { sum: PairSum::Mean })))
///     }
/// }
/// let train = Dataset::dense(vec![1.0, 0.0], 1, vec![1.0, 0.0], &[2])?;
/// let recipe = Recipe::of_loss(MeanPairs {});
/// let ranker = recipe.fit(&train, None, Start::default(), &mut Silent::default())?;
/// let scores = ranker.score(&train)?;
/// assert!(scores[0] > scores[1]);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub trait LossLearner: Parameters {
    /// Name, title, meaning and source.
    const CARD: Card;

    /// The default scorer.
    const SCORER: ScorerKind = ScorerKind::Linear;

    /// How a linear model of it is optimised: [`LinearParameters`](super::LinearParameters), unless the loss
    /// has an optimiser of its own.
    type Linear: LossScorer<Self>;

    /// Rejects parameters that are out of range, or that make no sense with the scorer.
    fn check(&self, scorer: ScorerKind) -> Result<()> {
        let _ = scorer;
        Ok(())
    }

    /// The loss. Some losses estimate weights from the training queries.
    fn loss(&self, train: &Dataset) -> Result<LossKind>;

    /// The loss where labels are weighted clicks. It must be linear in the labels, so that unbiased weights make an
    /// unbiased loss. By default each click is an example with one relevant document.
    fn loss_of_clicks(&self, train: &Dataset) -> Result<LossKind> {
        Ok(self.loss(&one_relevant(train)?)?.per_click())
    }

    /// The defaults of its own parameters with a scorer.
    fn default_for(scorer: ScorerKind) -> Self {
        let _ = scorer;
        Self::default()
    }

    /// The defaults of a linear model's parameters.
    fn linear() -> Self::Linear {
        Self::Linear::default()
    }

    /// The defaults of boosted trees' parameters.
    fn trees() -> TreesParameters {
        TreesParameters::default()
    }

    /// The defaults of a network's parameters.
    fn network() -> NetworkParameters {
        NetworkParameters::default()
    }

    /// The score that boosted trees start from.
    fn initial_score(&self, task: &Task<'_>) -> f64 {
        let _ = task;
        0.0
    }

    /// The position bias to learn while boosting trees, if there is one.
    fn learned_bias(&self) -> Result<Option<LearnedBias>> {
        Ok(None)
    }

    /// Notes for the user about this loss and the task, made before training.
    fn notes(&self, task: &Task<'_>) -> Vec<String> {
        let _ = task;
        Vec::new()
    }
}

/// Where a scorer gets its loss from: a [`LossLearner`] or a caller's own loss.
pub trait LossSource: Send + Sync {
    /// The loss for the labels of the training data, which may be weighted clicks.
    fn make_loss(&self, train: &Dataset) -> Result<LossKind>;

    /// The score that boosted trees start from.
    fn start_score(&self, task: &Task<'_>) -> f64;

    /// The position bias to learn while boosting trees, if there is one.
    fn learned_bias(&self) -> Result<Option<LearnedBias>> {
        Ok(None)
    }
}

impl<L: LossLearner> LossSource for L {
    fn make_loss(&self, train: &Dataset) -> Result<LossKind> {
        match train.click_labels() {
            None => self.loss(train),
            Some(_) => self.loss_of_clicks(train),
        }
    }

    fn start_score(&self, task: &Task<'_>) -> f64 {
        self.initial_score(task)
    }

    fn learned_bias(&self) -> Result<Option<LearnedBias>> {
        LossLearner::learned_bias(self)
    }
}

/// Makes a loss from the training data.
type MakeLoss = dyn Fn(&Dataset) -> Result<LossKind> + Send + Sync;

/// A caller's own loss, made by a closure or from another language.
#[derive(Clone)]
pub struct CustomLoss {
    /// Its name in records and files.
    pub name: String,
    make: Arc<MakeLoss>,
}

impl CustomLoss {
    /// A loss called `name`, made from the training data by `make`.
    pub fn new(
        name: impl Into<String>,
        make: impl Fn(&Dataset) -> Result<LossKind> + Send + Sync + 'static,
    ) -> CustomLoss {
        CustomLoss { name: name.into(), make: Arc::new(make) }
    }
}

/// Sets the first and second derivatives by the scores of all documents.
type ComputeGradients = dyn Fn(&Dataset, &[f64], &mut [f64], &mut [f64]) -> Result<()> + Send + Sync;

/// A caller's own gradients of all queries at once, which boosted trees follow: for losses from another language, where
/// a call per query would be slow, or that are not sums over queries.
///
/// ```
/// use rankwise::Recipe;
/// use rankwise::data::Synth;
/// use rankwise::learners::CustomGradients;
/// use rankwise::recipe::Start;
/// use rankwise::watch::Silent;
/// // The squared error of the labels.
/// let squared = CustomGradients::new("squared", |data, scores, slopes, curvatures| {
///     for d in 0..data.len() {
///         (slopes[d], curvatures[d]) = (scores[d] - f64::from(data.labels()[d]), 1.0);
///     }
///     Ok(())
/// });
/// let data = Synth::demo().generate()?;
/// let recipe = Recipe::custom_gradients(squared).set("iterations", 5);
/// let ranker = recipe.fit(&data, None, Start::default(), &mut Silent::default())?;
/// assert_eq!(ranker.record.rounds, 5);
/// # Ok::<(), rankwise::Error>(())
/// ```
#[derive(Clone)]
pub struct CustomGradients {
    /// Its name in records and files.
    pub name: String,
    compute: Arc<ComputeGradients>,
}

impl CustomGradients {
    /// Gradients called `name`. `compute` gets the training data, with queries in the order of their ids, and a score per
    /// document. It sets the first derivatives and the second ones, which are not negative. Query weights are applied
    /// afterwards.
    pub fn new(
        name: impl Into<String>,
        compute: impl Fn(&Dataset, &[f64], &mut [f64], &mut [f64]) -> Result<()> + Send + Sync + 'static,
    ) -> CustomGradients {
        CustomGradients { name: name.into(), compute: Arc::new(compute) }
    }

    pub(crate) fn compute(
        &self,
        data: &Dataset,
        scores: &[f64],
        slopes: &mut [f64],
        curvatures: &mut [f64],
    ) -> Result<()> {
        (self.compute)(data, scores, slopes, curvatures)?;
        match slopes.iter().zip(&*curvatures).position(|(g, h)| !g.is_finite() || !h.is_finite() || *h < 0.0)
        {
            None => Ok(()),
            Some(d) => Err(Error::data(format!(
                "`{}` gives document {} the gradient {} and the curvature {}; both must be finite, and the curvature not \
                 negative",
                self.name,
                d + 1,
                slopes[d],
                curvatures[d]
            ))),
        }
    }
}

impl LossSource for CustomLoss {
    fn make_loss(&self, train: &Dataset) -> Result<LossKind> {
        let loss = (self.make)(train)?;
        Ok(if train.click_labels().is_some() { loss.per_click() } else { loss })
    }

    fn start_score(&self, _: &Task<'_>) -> f64 {
        0.0
    }
}

/// The training queries as one click sees them, with the first document as the relevant one, and without features.
/// What a loss estimates from them does not depend on who clicked, which would bias it.
fn one_relevant(train: &Dataset) -> Result<Dataset> {
    let mut labels = vec![0.0; train.len()];
    train.queries().for_each(|query| labels[query.range().start] = 1.0);
    let features = Features::Sparse {
        width: train.width(),
        starts: vec![0; train.len() + 1],
        columns: Vec::new(),
        values: Vec::new(),
    };
    Dataset::new(Parts {
        features,
        labels,
        bounds: train.bounds().to_vec(),
        query_ids: train.parts().query_ids.clone(),
        query_weights: train.parts().query_weights.clone(),
        ..Parts::default()
    })
}

/// A sum over pairs, divided by the mean number of pairs per training query that has any. So one C serves
/// short and long lists, while every pair has the same weight.
pub(super) fn per_mean_pairs<L>(loss: L, train: &Dataset, pairs: impl Fn(&[f32]) -> f64 + Sync) -> Scaled<L> {
    let (pairs, queries) = train.total(|queries| {
        let counted = queries.map(|q| (train.query(q).weight(), pairs(train.query(q).labels())));
        counted
            .filter(|(_, pairs)| *pairs > 0.0)
            .fold((0.0, 0.0), |(sum, weights), (w, pairs)| (sum + w * pairs, weights + w))
    });
    Scaled { loss, factor: if pairs > 0.0 { queries / pairs } else { 1.0 } }
}
