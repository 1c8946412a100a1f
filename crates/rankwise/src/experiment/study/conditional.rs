//! Shared by the studies of conditional models: parameters, fits and metrics.

use super::Setup;
use crate::data::Dataset;
use crate::error::{Error, Result};
use crate::learners::conditional::{Conditional, ConditionalLinearParameters, ConvexLoss, ExpGain, L3, Mle};
use crate::learners::{LearnerEntry, LossLearner, Task};
use crate::losses::conditional::ConditionalObjective;
use crate::metrics::evaluate;
use crate::models::{Model, Outcome, Ranker};
use crate::recipe::{Recipe, Start};
use crate::watch::Watch;
use toml::{Table as Settings, Value};

/// A conditional model with its parameters.
pub(super) struct Chosen {
    pub(super) learner: &'static LearnerEntry,
    pub(super) form: ConditionalObjective,
    pub(super) settings: Settings,
}

impl Chosen {
    /// All conditional models of `setup`, with the parameters that `study` must have.
    pub(super) fn all(study: &str, setup: &Setup<'_>, must: &[(&str, &str)]) -> Result<Vec<Chosen>> {
        let chosen = |learner: &&'static LearnerEntry| {
            let mut settings = setup.settings_of(learner);
            for (key, value) in must {
                demand(study, &mut settings, key, value)?;
            }
            Ok(Chosen { learner, form: form_of(study, learner)?, settings })
        };
        setup.learners.iter().map(chosen).collect()
    }

    /// The one conditional model of `setup`.
    pub(super) fn only(study: &str, setup: &Setup<'_>, must: &[(&str, &str)]) -> Result<Chosen> {
        let mut all = Chosen::all(study, setup, must)?;
        match (all.pop(), all.is_empty()) {
            (Some(one), true) => Ok(one),
            _ => Err(Error::parameter(format!("study {study} takes one learner at a time"))),
        }
    }

    /// Uses `value` for `key` where no other value was given.
    pub(super) fn by_default(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.settings.entry(key).or_insert(value.into());
        self
    }

    pub(super) fn name(&self) -> &'static str {
        self.learner.card.name
    }

    pub(super) fn title(&self) -> &'static str {
        self.learner.card.title
    }

    /// Its parameters, defaults filled in.
    pub(super) fn parameters(&self) -> Result<(Conditional, ConditionalLinearParameters)> {
        let all = Recipe::new(self.learner.card.name).set_all(self.settings.clone()).check()?;
        let of_loss = all.parameters().clone().try_into().expect("the parameters of a conditional model");
        let of_scorer = all.parameters().clone().try_into().expect("the parameters of its linear scorer");
        Ok((of_loss, of_scorer))
    }

    /// Trains with some parameters changed; none where it was interrupted.
    pub(super) fn fit(
        &self,
        setup: &Setup<'_>,
        change: &[(&str, Value)],
        watch: &mut dyn Watch,
    ) -> Result<Option<Ranker>> {
        let mut settings = self.settings.clone();
        settings.extend(change.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
        if watch.stop().requested() {
            return Ok(None);
        }
        let recipe = Recipe::new(self.learner.card.name).set_all(settings).seed(setup.seed);
        let ranker = recipe.fit(setup.train, None, Start::default(), watch)?;
        Ok((ranker.record.outcome != Outcome::Interrupted).then_some(ranker))
    }
}

fn form_of(study: &str, learner: &LearnerEntry) -> Result<ConditionalObjective> {
    let forms = [
        (Mle::CARD.name, ConditionalObjective::Mle),
        (ConvexLoss::CARD.name, ConditionalObjective::ConvexLoss),
        (ExpGain::CARD.name, ConditionalObjective::ExpGain),
        (L3::CARD.name, ConditionalObjective::L3),
    ];
    let found = forms.iter().find(|(name, _)| *name == learner.card.name);
    found.map(|(_, form)| *form).ok_or_else(|| {
        let (name, able) = (learner.card.name, forms.map(|(name, _)| name).join(", "));
        Error::parameter(format!("{name} is not a conditional model; study {study} takes {able}"))
    })
}

fn demand(study: &str, settings: &mut Settings, key: &str, value: &str) -> Result<()> {
    match settings.insert(key.to_owned(), value.into()) {
        Some(given) if given.as_str() != Some(value) => {
            Err(Error::parameter(format!("{key} is {given}; for study {study} it must be {value}")))
        }
        _ => Ok(()),
    }
}

/// The training task.
pub(super) fn task<'a>(setup: &Setup<'a>) -> Task<'a> {
    Task::new(setup.train, setup.metrics[0].as_ref(), setup.seed)
}

/// The queries to evaluate on, and their name: the training queries where there are no test queries.
pub(super) fn evaluated_on<'a>(setup: &Setup<'a>) -> (&'a Dataset, &'static str) {
    setup.test.map_or((setup.train, "training"), |test| (test, "test"))
}

/// The columns of all metrics.
pub(super) fn metric_columns(setup: &Setup<'_>) -> Vec<(String, String)> {
    let on = evaluated_on(setup).1;
    let column = |name: String| (name.clone(), format!("{name} on the {on} queries"));
    setup.metrics.iter().map(|m| column(m.name())).collect()
}

/// All metrics of a model.
pub(super) fn evaluated(setup: &Setup<'_>, model: &Model) -> Result<Vec<Option<f64>>> {
    let data = evaluated_on(setup).0;
    let values = evaluate(data, &model.scores(data)?, setup.metrics)?;
    Ok((0..setup.metrics.len()).map(|m| values.mean(m)).collect())
}

/// A number that the learner recorded.
pub(super) fn figure(fitted: &Ranker, name: &str) -> f64 {
    let found = fitted.record.figures.iter().find(|(n, _)| n == name);
    found.unwrap_or_else(|| panic!("a conditional model's record has no {name}")).1
}

/// The number in the middle, or the mean of both; none where there is no number.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(0.5 * (values[last / 2] + values[last.div_ceil(2)]))
}
