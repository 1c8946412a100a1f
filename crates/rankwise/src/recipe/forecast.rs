//! How long training may take, said before it starts.

use super::Trainer;
use crate::data::Dataset;
use crate::error::Result;
use crate::learners::LossKind;
use serde::{Deserialize, Serialize};
use toml::Value;

/// Elementary steps per second of one thread, roughly.
const SPEED: f64 = 3e8;
/// Only training that may take longer than this many seconds has a forecast.
const LONG: f64 = 300.0;

/// How long one training may take, or several.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TrainingTime {
    /// Roughly, for one thread.
    pub(crate) seconds: f64,
    /// What the time comes from and what to do about it, for the end of a sentence.
    pub(crate) reason: String,
}

impl TrainingTime {
    /// A sentence about `what` if it may take very long.
    pub(crate) fn forecast(&self, what: &str) -> Option<String> {
        let Self { seconds, reason } = self;
        (*seconds > LONG).then(|| format!("{what} may take {} here: {reason}", in_words(*seconds)))
    }
}

impl Trainer {
    /// A sentence if training may take very long, with what to do about it. The time is rough, for one thread.
    pub fn forecast(&self, train: &Dataset) -> Result<Option<String>> {
        Ok(self.forecast_of(&self.time(train)?))
    }

    /// The same of a time that is known.
    pub(crate) fn forecast_of(&self, time: &TrainingTime) -> Option<String> {
        time.forecast(&self.learner.name)
    }

    /// How long training may take.
    pub(crate) fn time(&self, train: &Dataset) -> Result<TrainingTime> {
        let iterations = ["iterations", "epochs"].iter().find_map(|name| self.parameters().get(*name));
        let iterations = iterations.and_then(Value::as_integer).unwrap_or(1).max(1) as f64;
        let (steps, has_cutoff) = match self.loss(train)? {
            Some(loss) => {
                // λ-gradients hardly change below the first ranks; other losses are flat without the rest.
                let has_cutoff = matches!(loss, LossKind::Lambda(_));
                let loss = loss.into_loss();
                let steps: f64 = train.queries().map(|query| loss.steps(query.labels())).sum();
                (steps * iterations, has_cutoff)
            }
            None => (self.configured.steps(train), false),
        };
        let reason = match self.configured.compares_documents() {
            true => long_queries(train, has_cutoff),
            false => many_features(train),
        };
        Ok(TrainingTime { seconds: steps / SPEED, reason })
    }
}

fn long_queries(train: &Dataset, has_cutoff: bool) -> String {
    let longest = train.queries().map(|query| query.len()).max().unwrap_or(0);
    let cutoff = if has_cutoff { "set the cutoff `k`, " } else { "" };
    format!(
        "it compares the documents of a query with each other, and the longest query has {longest}; {cutoff}train on \
         fewer documents per query, or use rank-net, list-net or rank-svm, whose time grows with the number of documents"
    )
}

fn many_features(train: &Dataset) -> String {
    format!(
        "its time grows with the number of features, and there are {}; leave some out, or use rank-svm or list-net, \
         whose time grows with the values that are not 0",
        train.width()
    )
}

fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 5400.0 => format!("about {:.0} minutes", s / 60.0),
        s if s < 172_800.0 => format!("about {:.0} hours", s / 3600.0),
        s => format!("about {:.0} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Features;
    use crate::recipe::Recipe;

    fn forecast(learner: &str, train: &Dataset) -> Option<String> {
        Recipe::new(learner).check().unwrap().forecast(train).unwrap()
    }

    #[test]
    fn long_queries_and_many_features_are_forecast_where_they_take_long() {
        let labels: Vec<f32> = (0..100_000).map(|i| (i % 3) as f32).collect();
        let long = Dataset::dense(vec![1.0; 100_000], 1, labels, &[100_000]).unwrap();
        for learner in ["lambda-rank", "lambda-loss", "soft-rank"] {
            let said = forecast(learner, &long).unwrap();
            assert!(said.contains("the longest query has 100000") && said.contains("list-net"), "{said}");
            assert_eq!(said.contains("cutoff `k`"), learner != "soft-rank", "{said}");
        }
        for learner in
            ["rank-net", "list-net", "mle", "approx-ndcg", "rank-svm", "lambda-mart", "svm-map", "frank"]
        {
            assert_eq!(forecast(learner, &long), None, "{learner}");
        }
        let labels: Vec<f32> = (0..100_000).map(|i| i as f32).collect();
        let many_labels = Dataset::dense(vec![1.0; 100_000], 1, labels, &[100_000]).unwrap();
        assert!(forecast("frank", &many_labels).unwrap().contains("the longest query has 100000"));
        let labels: Vec<f32> = (0..400_000).map(|i| (i % 2) as f32).collect();
        let short = Dataset::dense(vec![1.0; 400_000], 1, labels, &[2; 200_000]).unwrap();
        assert_eq!(forecast("frank", &short), None);
        let wide = Features::Sparse {
            width: 50_000,
            starts: (0..=4000).map(|i| 40 * i).collect(),
            columns: (0..160_000).map(|i| (i % 40 * 1250 + i / 40 % 1250) as u32).collect(),
            values: vec![1.0; 160_000],
        };
        let parts = crate::data::Parts {
            features: wide,
            labels: (0..4000).map(|i| (i % 2) as f32).collect(),
            bounds: (0..=200).map(|q| 20 * q).collect(),
            query_ids: (0..200).map(|q| q.to_string()).collect(),
            ..crate::data::Parts::default()
        };
        let wide = Dataset::new(parts).unwrap();
        for learner in ["random-forest", "coordinate-ascent"] {
            assert!(forecast(learner, &wide).unwrap().contains("there are 50000"), "{learner}");
        }
        for learner in ["rank-svm", "svm-map", "ada-rank"] {
            assert_eq!(forecast(learner, &wide), None, "{learner}");
        }
    }

    #[test]
    fn times_are_in_words() {
        assert_eq!(in_words(600.0), "about 10 minutes");
        assert_eq!(in_words(36_000.0), "about 10 hours");
        assert_eq!(in_words(864_000.0), "about 10 days");
    }
}
