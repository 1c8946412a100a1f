//! Feature sets made ready to compute.

use super::compute::PreparedQuery;
use super::kind::{Kind, Parameters};
use super::set::{FeatureSet, Target};
use crate::schema::Schema;
use crate::snapshot::Scope;
use crate::terms::{DocumentValues, ScopeDocument, ScopeQuery};
use rankwise::{Error, Result};
use std::time::Instant;

/// A feature set made ready to compute for the documents of one schema.
///
/// Scopes are numbered: the text fields in the order of the schema, and then all of them together. Slices of
/// [`ScopeQuery`] and [`ScopeDocument`] have one item for each, which may be empty for scopes that are not
/// [needed](CompiledSet::needs).
#[derive(Debug, Clone, PartialEq)]
pub struct CompiledSet {
    pub(super) scopes: Vec<ScopePlan>,
    pub(super) values: Vec<ValuePlan>,
    /// The places of the text fields in the schema.
    texts: Vec<usize>,
    width: usize,
}

/// What a scope's features are computed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// The scope has no features.
    Nothing,
    /// Frequencies and lengths.
    Frequencies,
    /// Positions, too.
    Positions,
}

/// The features of one scope.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ScopePlan {
    pub(super) features: Vec<PlannedFeature>,
    pub(super) needs_tf: bool,
    pub(super) needs_tf_norm: bool,
    pub(super) needs_tf_idf: bool,
    pub(super) needs_positions: bool,
}

/// A feature and its column.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PlannedFeature {
    pub(super) column: usize,
    pub(super) kind: Kind,
    pub(super) parameters: Parameters,
}

/// A feature that does not depend on text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ValuePlan {
    pub(super) column: usize,
    pub(super) kind: Kind,
    /// The number of its field in the schema.
    pub(super) field: Option<usize>,
}

impl CompiledSet {
    /// Makes a feature set ready. Fails if the schema lacks a field.
    pub fn new(set: &FeatureSet, schema: &Schema) -> Result<CompiledSet> {
        let texts: Vec<usize> = schema.words().map(|(field, _)| field).collect();
        let mut scopes = vec![ScopePlan::default(); texts.len() + 1];
        let mut values = Vec::new();
        for (column, feature) in set.features().iter().enumerate() {
            let kind = feature.kind;
            let field = match &feature.target {
                Target::Whole => {
                    scopes[texts.len()].add(column, kind, feature.parameters);
                    continue;
                }
                Target::Field(name) => Some(field_number(name, schema)?),
                Target::None => None,
            };
            match field.and_then(|field| texts.iter().position(|&text| text == field)) {
                Some(scope) => scopes[scope].add(column, kind, feature.parameters),
                None => values.push(ValuePlan { column, kind, field }),
            }
        }
        Ok(CompiledSet { scopes, values, texts, width: set.features().len() })
    }

    /// Number of features.
    pub fn width(&self) -> usize {
        self.width
    }

    /// What the features of every scope are computed from.
    pub fn needs(&self) -> Vec<Needs> {
        let needs = |plan: &ScopePlan| match (plan.features.is_empty(), plan.needs_positions) {
            (true, _) => Needs::Nothing,
            (false, false) => Needs::Frequencies,
            (false, true) => Needs::Positions,
        };
        self.scopes.iter().map(needs).collect()
    }

    /// Where a snapshot has to look for the words of a query: every scope that is needed, in the order of the scopes.
    pub fn places(&self) -> Vec<Scope> {
        let all = self.texts.iter().map(|&field| Scope::Field(field)).chain([Scope::Whole]);
        let is_needed = self.scopes.iter().map(|plan| !plan.features.is_empty());
        all.zip(is_needed).map(|(scope, needed)| if needed { scope } else { Scope::Nowhere }).collect()
    }

    /// Whether a feature needs the positions of words.
    pub fn needs_positions(&self) -> bool {
        self.scopes.iter().any(|plan| plan.needs_positions)
    }

    /// Makes ready what is the same for all documents of a query.
    ///
    /// Panics if there is not one item for each scope.
    pub fn query<'a>(&'a self, scopes: &'a [ScopeQuery]) -> PreparedQuery<'a> {
        PreparedQuery::new(self, scopes)
    }

    /// The seconds that every feature alone takes, per document. The documents of one query are computed `repeats` times.
    ///
    /// What features share, such as the frequencies of terms, is counted for each of them.
    pub fn times(
        &self,
        query: &[ScopeQuery],
        documents: &[(Vec<ScopeDocument>, DocumentValues)],
        repeats: u32,
    ) -> Vec<f64> {
        let mut row = vec![0.0; self.width];
        let mut time = |column: usize| {
            let alone = self.only(column);
            let mut prepared = alone.query(query);
            let start = Instant::now();
            for _ in 0..repeats {
                for (scopes, values) in documents {
                    prepared.compute(std::hint::black_box(scopes), values, &mut row);
                    std::hint::black_box(&row);
                }
            }
            start.elapsed().as_secs_f64() / (f64::from(repeats) * documents.len() as f64).max(1.0)
        };
        (0..self.width).map(&mut time).collect()
    }

    /// The set with one of its features, in the same column.
    fn only(&self, column: usize) -> CompiledSet {
        let mut alone = CompiledSet { scopes: vec![ScopePlan::default(); self.scopes.len()], ..self.clone() };
        alone.values.retain(|value| value.column == column);
        for (plan, all) in alone.scopes.iter_mut().zip(&self.scopes) {
            let features = all.features.iter().filter(|feature| feature.column == column);
            features.for_each(|feature| plan.add(column, feature.kind, feature.parameters));
        }
        alone
    }
}

impl ScopePlan {
    fn add(&mut self, column: usize, kind: Kind, parameters: Parameters) {
        self.needs_tf |= matches!(kind, Kind::Tf(_));
        self.needs_tf_norm |= matches!(kind, Kind::TfNorm(_));
        self.needs_tf_idf |= matches!(kind, Kind::TfIdf(_));
        self.needs_positions |= kind.needs_positions();
        self.features.push(PlannedFeature { column, kind, parameters });
    }
}

fn field_number(name: &str, schema: &Schema) -> Result<usize> {
    schema
        .fields
        .iter()
        .position(|field| field.name == name)
        .ok_or_else(|| Error::parameter(format!("the features need a field `{name}`, which the index lacks")))
}
