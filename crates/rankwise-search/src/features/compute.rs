//! The features of documents for one query.

use super::compile::{CompiledSet, ScopePlan, ValuePlan};
use super::formulas::{Statistics, TermStatistics, Text};
use super::kind::{Kind, Statistic};
use crate::terms::{DocumentValues, ScopeDocument, ScopeQuery};

/// Seconds of a mean year of the Gregorian calendar.
const YEAR: f64 = 31_556_952.0;

/// A query for which features are computed. Every thread needs its own.
#[derive(Debug, Clone)]
pub struct PreparedQuery<'a> {
    set: &'a CompiledSet,
    scopes: Vec<PreparedScope<'a>>,
}

/// What is the same for all documents of a query, in one scope.
#[derive(Debug, Clone)]
struct PreparedScope<'a> {
    query: &'a ScopeQuery,
    terms: TermStatistics,
    scratch: Scratch,
}

/// Memory that is used again for every document.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// Where the positions of each term begin, and where the last end.
    pub(super) starts: Vec<usize>,
    /// All positions, each with its term in the lower half.
    pub(super) sorted: Vec<u64>,
    /// How often each term is in a window.
    pub(super) counts: Vec<u32>,
}

impl<'a> PreparedQuery<'a> {
    pub(super) fn new(set: &'a CompiledSet, scopes: &'a [ScopeQuery]) -> PreparedQuery<'a> {
        assert_eq!(scopes.len(), set.scopes.len(), "one item for each scope");
        let prepared = |query: &'a ScopeQuery| PreparedScope {
            query,
            terms: TermStatistics::new(query),
            scratch: Scratch::default(),
        };
        PreparedQuery { set, scopes: scopes.iter().map(prepared).collect() }
    }

    /// Computes all features of a document. Panics if there is not one item for each scope, and not one number in `row` for
    /// each feature.
    pub fn compute(&mut self, scopes: &[ScopeDocument], values: &DocumentValues, row: &mut [f32]) {
        assert!(scopes.len() == self.scopes.len() && row.len() == self.set.width());
        for ((plan, scope), document) in self.set.scopes.iter().zip(&mut self.scopes).zip(scopes) {
            if !plan.features.is_empty() {
                scope.compute(plan, document, row);
            }
        }
        for plan in &self.set.values {
            row[plan.column] = in_f32(value(plan, values));
        }
    }
}

impl PreparedScope<'_> {
    fn compute(&mut self, plan: &ScopePlan, document: &ScopeDocument, row: &mut [f32]) {
        if plan.needs_positions {
            self.scratch.starts.clear();
            self.scratch.starts.push(0);
            let mut end = 0;
            self.scratch.starts.extend(document.frequencies.iter().map(|&tf| {
                end += tf as usize;
                end
            }));
        }
        let text = Text { query: self.query, terms: &self.terms, document };
        let none = Statistics::default();
        let tf = if plan.needs_tf { Statistics::new(|term| text.tf(term), text.len()) } else { none };
        let norm =
            if plan.needs_tf_norm { Statistics::new(|term| text.tf_norm(term), text.len()) } else { none };
        let tf_idf =
            if plan.needs_tf_idf { Statistics::new(|term| text.tf_idf(term), text.len()) } else { none };
        for feature in &plan.features {
            let x = match feature.kind {
                Kind::Covered => text.covered(),
                Kind::CoveredRatio => text.covered_ratio(),
                Kind::Length => f64::from(document.length),
                Kind::QueryLength => self.query.words.len() as f64,
                Kind::Idf => self.terms.idf_sum,
                Kind::Tf(statistic) => tf.get(statistic),
                Kind::TfNorm(statistic) => norm.get(statistic),
                Kind::TfIdf(statistic) => tf_idf.get(statistic),
                Kind::Boolean => text.boolean(),
                Kind::Cosine => text.cosine(),
                Kind::Bm25 => text.bm25(feature.parameters.k1, feature.parameters.b),
                Kind::JelinekMercer => text.jelinek_mercer(feature.parameters.lambda),
                Kind::Dirichlet => text.dirichlet(feature.parameters.mu),
                Kind::AbsoluteDiscount => text.absolute_discount(feature.parameters.delta),
                Kind::FirstPosition => text.first_position(),
                Kind::Window => text.window(&mut self.scratch),
                Kind::Phrase => text.phrase(&self.scratch),
                Kind::InLinks
                | Kind::OutLinks
                | Kind::PageRank
                | Kind::Number
                | Kind::Date
                | Kind::RetrievalScore
                | Kind::RetrievalRank => f64::NAN,
            };
            row[feature.column] = in_f32(x);
        }
    }
}

impl Statistics {
    fn get(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Sum => self.sum,
            Statistic::Min => self.min,
            Statistic::Max => self.max,
            Statistic::Mean => self.mean,
            Statistic::Variance => self.variance,
        }
    }
}

/// A value that does not depend on the query's words.
fn value(plan: &ValuePlan, values: &DocumentValues) -> f64 {
    let field = || plan.field.and_then(|field| values.fields.get(field)).copied().unwrap_or(f64::NAN);
    match plan.kind {
        Kind::InLinks => values.in_links,
        Kind::OutLinks => values.out_links,
        Kind::PageRank => values.page_rank,
        Kind::RetrievalScore => values.retrieval_score,
        Kind::RetrievalRank => values.retrieval_rank,
        Kind::Date => field() / YEAR,
        _ => field(),
    }
}

/// Numbers that are too large become the largest, because learners take no infinite ones.
fn in_f32(x: f64) -> f32 {
    x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32
}
