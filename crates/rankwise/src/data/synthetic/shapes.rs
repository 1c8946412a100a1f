//! The shapes of public data sets: sizes, grades and kinds of features.

use crate::card::Card;

/// The sizes and proportions of a public data set.
#[derive(Debug)]
pub struct SyntheticShape {
    /// Its name and what it imitates.
    pub card: Card,
    /// Default number of queries.
    pub queries: usize,
    /// Default mean number of documents per query.
    pub documents: usize,
    /// Default number of features.
    pub features: usize,
    /// The fraction of documents with each grade from 0.
    pub grades: &'static [f64],
    /// Standard deviation of the logarithm of the number of documents.
    pub(super) documents_spread: f64,
    /// How much the fractions of the grades differ between queries, in normal quantiles.
    pub(super) grade_jitter: f64,
    /// Whether every query has a relevant document.
    pub(super) always_relevant: bool,
    /// Whether rows are sparse, values in [0, 1], and many absent.
    pub(super) sparse: bool,
    /// Weights of the kinds of features.
    pub(super) mix: Mix,
}

/// The relative frequency of each kind of feature.
#[derive(Debug)]
pub(super) struct Mix {
    /// Integer counts with heavy tails.
    pub(super) counts: f64,
    /// Scores in [0, 1].
    pub(super) scores: f64,
    /// Match scores that are 0 where nothing matched.
    pub(super) matches: f64,
    /// 0 or 1, mostly 0.
    pub(super) indicators: f64,
    /// The same for all documents of a query.
    pub(super) of_query: f64,
    /// Unrelated to anything.
    pub(super) noise: f64,
}

/// Every shape.
pub static SHAPES: &[SyntheticShape] = &[
    SyntheticShape {
        card: Card {
            name: "ohsumed",
            title: "OHSUMED",
            summary: "Like LETOR's OHSUMED: 106 queries of about 152 documents, 45 features, grades 0 to 2.",
            citations: &[],
        },
        queries: 106,
        documents: 152,
        features: 45,
        grades: &[0.7003, 0.1602, 0.1395],
        documents_spread: 0.4,
        grade_jitter: 0.5,
        always_relevant: false,
        sparse: false,
        mix: Mix { counts: 0.15, scores: 0.25, matches: 0.5, indicators: 0.05, of_query: 0.0, noise: 0.05 },
    },
    SyntheticShape {
        card: Card {
            name: "letor-gov",
            title: "LETOR .gov",
            summary: "Like LETOR's TD2004: 75 queries of about 1,000 documents, 64 features, few of them relevant.",
            citations: &[],
        },
        queries: 75,
        documents: 1000,
        features: 64,
        grades: &[0.994, 0.006],
        documents_spread: 0.05,
        grade_jitter: 0.2,
        always_relevant: true,
        sparse: false,
        mix: Mix { counts: 0.3, scores: 0.15, matches: 0.4, indicators: 0.05, of_query: 0.05, noise: 0.05 },
    },
    SyntheticShape {
        card: Card {
            name: "mslr",
            title: "MSLR-WEB",
            summary: "Like MSLR-WEB30K: about 120 documents per query, 136 features, grades 0 to 4, mostly 0 (1,000 queries).",
            citations: &[],
        },
        queries: 1000,
        documents: 120,
        features: 136,
        grades: &[0.5147, 0.3250, 0.1339, 0.0183, 0.0081],
        documents_spread: 0.5,
        grade_jitter: 0.6,
        always_relevant: false,
        sparse: false,
        mix: Mix { counts: 0.4, scores: 0.1, matches: 0.3, indicators: 0.05, of_query: 0.1, noise: 0.05 },
    },
    SyntheticShape {
        card: Card {
            name: "yahoo",
            title: "Yahoo! Learning to Rank Challenge",
            summary: "Like its set 1: about 24 documents per query, 700 features in [0, 1] of which most are absent, \
                      grades 0 to 4 (1,000 queries).",
            citations: &[],
        },
        queries: 1000,
        documents: 24,
        features: 700,
        grades: &[0.26, 0.36, 0.28, 0.08, 0.02],
        documents_spread: 0.6,
        grade_jitter: 0.6,
        always_relevant: false,
        sparse: true,
        mix: Mix { counts: 0.0, scores: 0.45, matches: 0.35, indicators: 0.1, of_query: 0.05, noise: 0.05 },
    },
];
