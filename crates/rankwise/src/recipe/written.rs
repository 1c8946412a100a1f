//! A recipe as plain data, for other processes and machines.

use super::{Choice, MetricChoice, Recipe};
use crate::data::Normalizer;
use crate::error::{Error, Result};
use crate::metrics::Conventions;
use serde::{Deserialize, Serialize};
use toml::Table;

/// The names and values of a recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WrittenRecipe {
    learner: String,
    /// As TOML, which keeps numbers as they are.
    parameters: String,
    normalizer: Option<String>,
    metric: String,
    conventions: Conventions,
    seed: u64,
}

impl Recipe {
    /// The recipe as plain data. Fails if it is not made of names and values alone.
    pub(crate) fn written(&self) -> Result<WrittenRecipe> {
        let Choice::Named(learner) = &self.learner else {
            return Err(unsendable("the learner", &self.learner));
        };
        let MetricChoice::Named(metric, conventions) = &self.metric else {
            return Err(unsendable("the metric", &self.metric));
        };
        Ok(WrittenRecipe {
            learner: learner.clone(),
            parameters: self.parameters.to_string(),
            normalizer: self.normalizer.as_ref().map(Normalizer::to_string),
            metric: metric.clone(),
            conventions: conventions.clone(),
            seed: self.seed,
        })
    }
}

fn unsendable(what: &str, name: &dyn std::fmt::Debug) -> Error {
    Error::parameter(format!(
        "{what} {name:?} is code of this process and cannot be sent to workers; use one of the library by its name, or train \
         on one machine"
    ))
}

impl WrittenRecipe {
    /// The recipe.
    pub(crate) fn read(&self) -> Result<Recipe> {
        let parameters: Table = self.parameters.parse().map_err(|error| {
            Error::malformed(format!("the parameters of the recipe are no TOML: {error}"))
        })?;
        let normalizer = self.normalizer.as_deref().map(Normalizer::parse).transpose()?;
        let recipe = Recipe::new(&self.learner).set_all(parameters).normalizer(normalizer).seed(self.seed);
        Ok(recipe.metric(&self.metric).conventions(self.conventions.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::boosting::lambda_mart::LambdaMart;

    #[test]
    fn a_recipe_comes_back_with_every_digit() {
        let recipe = Recipe::new("lambda-mart")
            .set("learning_rate", 0.1 + 0.2)
            .set("monotone", vec![1i64, 0, -1])
            .metric("err@7")
            .normalizer(Some(Normalizer::parse("log,min-max").unwrap()))
            .conventions(Conventions { threshold: 0.3, ..Conventions::default() })
            .seed(u64::MAX);
        let text = serde_json::to_string(&recipe.written().unwrap()).unwrap();
        let written: WrittenRecipe = serde_json::from_str(&text).unwrap();
        let read = written.read().unwrap();
        assert_eq!(format!("{read:?}"), format!("{recipe:?}"));
        assert_eq!(read.written().unwrap(), recipe.written().unwrap());
        assert_eq!(read.parameters["learning_rate"].as_float(), Some(0.1 + 0.2));
    }

    #[test]
    fn code_of_the_caller_is_refused() {
        let refusal = Recipe::of_loss(LambdaMart::default()).written().unwrap_err().to_string();
        assert!(refusal.contains("lambda-mart is code of this process"), "{refusal}");
    }
}
