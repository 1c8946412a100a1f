//! A feature set as data and models remember it.

use super::written;
use super::{FeatureSet, Target};
use crate::schema::{Field, Schema};
use rankwise::data::FeatureSource;
use rankwise::models::Ranker;
use rankwise::{Error, Result};

impl FeatureSet {
    /// What data and models remember: the features with all their parameters, and a fingerprint of every field's analyzer.
    pub fn source(&self, schema: &Schema) -> Result<FeatureSource> {
        let analyzers = toml::Value::Table(analyzers(schema));
        FeatureSource::parse(&format!("{}analyzers = {analyzers}\n", written::explicit(self)))
    }

    /// The features that a model needs, in its order, for documents of this schema.
    ///
    /// Fails if the model does not know how its features were computed, or if they cannot be computed in the same way.
    pub fn of_model(model: &Ranker, schema: &Schema) -> Result<FeatureSet> {
        let (Some(source), Some(names)) = (&model.columns.source, &model.columns.names) else {
            return Err(Error::model(
                "the model does not say how its features were computed, so they cannot be computed for a search; train \
                 it on features that were extracted from an index",
            ));
        };
        let defined = source.feature_names();
        if let Some(name) = names.iter().find(|name| !defined.contains(name)) {
            return Err(Error::model(format!(
                "the model uses the feature `{name}`, which is not in its feature set `{}`: it was added to the training \
                 data afterwards and cannot be computed from an index",
                source.name()
            )));
        }
        let needed = source.of_features(names).unwrap_or_else(|| source.clone());
        let set = FeatureSet::from_toml(needed.as_toml(), "the model's feature set", schema)
            .map_err(|e| Error::model(format!("the index does not fit the model: {}", e.message())))?;
        set.check_analyzers(source, schema)?;
        Ok(set)
    }

    /// Rejects an index that finds other terms in the fields that are used.
    fn check_analyzers(&self, source: &FeatureSource, schema: &Schema) -> Result<()> {
        let (then, now) = (source.analyzers(), analyzers(schema));
        let whole = self.features.iter().any(|feature| feature.target == Target::Whole);
        let used = |name: &str| {
            whole || self.features.iter().any(|feature| feature.target == Target::Field(name.to_owned()))
        };
        let named = then.iter().map(|(name, _)| name.as_str()).chain(now.keys().map(String::as_str));
        for name in named.filter(|name| used(name)) {
            let then = then.iter().find(|(field, _)| field == name).map(|(_, analyzer)| analyzer.as_str());
            let now = now.get(name).and_then(toml::Value::as_str);
            if then != now {
                let show = |analyzer: Option<&str>| analyzer.unwrap_or("no text field").to_owned();
                return Err(Error::model(format!(
                    "the index does not fit the model: the field `{name}` has the analyzer {}, and the model was trained \
                     with {}; build the index as it was then, or train the model again on features of this index",
                    show(now),
                    show(then)
                )));
            }
        }
        Ok(())
    }
}

/// The text fields, with the name and fingerprint of their analyzers.
fn analyzers(schema: &Schema) -> toml::Table {
    let named = |field: &Field| {
        let analyzer = field.words()?;
        Some((field.name.clone(), format!("{} {}", analyzer.name(), analyzer.fingerprint()).into()))
    };
    schema.fields.iter().filter_map(named).collect()
}
