//! The formulas of features of text. See the [module](super) for their letters.

use super::compute::Scratch;
use crate::terms::{QueryTerm, ScopeDocument, ScopeQuery};

/// What the formulas need of a query's terms, for all documents.
#[derive(Debug, Clone)]
pub(super) struct TermStatistics {
    pub(super) idf: Vec<f64>,
    /// p, the share of all words that are the term.
    share: Vec<f64>,
    pub(super) idf_sum: f64,
    /// √(Σ (w·idf)²)
    norm: f64,
    average_length: f64,
}

impl TermStatistics {
    pub(super) fn new(query: &ScopeQuery) -> TermStatistics {
        let idf: Vec<f64> =
            query.terms.iter().map(|term| idf(query.documents, term.document_frequency)).collect();
        let (documents, tokens) = (query.documents as f64, query.tokens as f64);
        let squares =
            query.terms.iter().zip(&idf).map(|(term, idf)| (term.weight * idf) * (term.weight * idf));
        TermStatistics {
            share: query
                .terms
                .iter()
                .map(|term| term.collection_frequency as f64 / tokens.max(1.0))
                .collect(),
            idf_sum: idf.iter().fold(0.0, |sum, idf| sum + idf),
            norm: squares.sum::<f64>().sqrt(),
            average_length: tokens / documents.max(1.0),
            idf,
        }
    }
}

/// ln(1 + (N − n + ½)/(n + ½)); 0 for a term that no document has.
fn idf(documents: u64, with_term: u64) -> f64 {
    let (all, n) = (documents as f64, with_term as f64);
    if with_term == 0 { 0.0 } else { ((all - n + 0.5) / (n + 0.5)).ln_1p() }
}

/// Sum, extremes, mean and variance of the values of a query's terms; 0 without terms.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Statistics {
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Statistics {
    pub(super) fn new(value: impl Fn(usize) -> f64, terms: usize) -> Statistics {
        if terms == 0 {
            return Statistics::default();
        }
        let (mut sum, mut min, mut max) = (0.0, f64::INFINITY, f64::NEG_INFINITY);
        for x in (0..terms).map(&value) {
            sum += x;
            min = x.min(min);
            max = x.max(max);
        }
        let mean = sum / terms as f64;
        let squares: f64 = (0..terms).map(|term| (value(term) - mean) * (value(term) - mean)).sum();
        Statistics { sum, min, max, mean, variance: squares / terms as f64 }
    }
}

/// A document in one scope of a query.
pub(super) struct Text<'a> {
    pub(super) query: &'a ScopeQuery,
    pub(super) terms: &'a TermStatistics,
    pub(super) document: &'a ScopeDocument,
}

impl Text<'_> {
    /// Number of terms of the query.
    pub(super) fn len(&self) -> usize {
        self.query.terms.len()
    }

    fn length(&self) -> f64 {
        f64::from(self.document.length)
    }

    pub(super) fn tf(&self, term: usize) -> f64 {
        f64::from(self.document.frequencies[term])
    }

    pub(super) fn tf_norm(&self, term: usize) -> f64 {
        self.tf(term) / self.length().max(1.0)
    }

    pub(super) fn tf_idf(&self, term: usize) -> f64 {
        self.tf(term) * self.terms.idf[term]
    }

    pub(super) fn covered(&self) -> f64 {
        self.document.frequencies.iter().filter(|tf| **tf > 0).count() as f64
    }

    pub(super) fn covered_ratio(&self) -> f64 {
        self.covered() / self.len().max(1) as f64
    }

    pub(super) fn boolean(&self) -> f64 {
        f64::from(self.len() > 0 && self.document.frequencies.iter().all(|tf| *tf > 0))
    }

    /// The cosine of w·idf and √tf. The length of a document's vector is √(Σ tf) = √dl.
    pub(super) fn cosine(&self) -> f64 {
        let product =
            self.sum(|term, QueryTerm { weight, .. }| weight * self.terms.idf[term] * self.tf(term).sqrt());
        let norms = self.terms.norm * self.length().sqrt();
        if norms > 0.0 { product / norms } else { 0.0 }
    }

    /// Σ w·idf·tf/(tf + k1(1−b + b·dl/avdl))
    pub(super) fn bm25(&self, k1: f64, b: f64) -> f64 {
        let relative_length =
            if self.document.length == 0 { 0.0 } else { self.length() / self.terms.average_length };
        let slowness = k1 * (1.0 - b + b * relative_length);
        self.sum(|term, QueryTerm { weight, .. }| match self.tf(term) {
            0.0 => 0.0,
            tf => weight * self.terms.idf[term] * tf / (tf + slowness),
        })
    }

    /// Σ w·ln((1−λ)·tf/dl + λ·p)
    pub(super) fn jelinek_mercer(&self, lambda: f64) -> f64 {
        self.log_likelihood(|term, share| (1.0 - lambda) * self.tf_norm(term) + lambda * share)
    }

    /// Σ w·ln((tf + μ·p)/(dl + μ))
    pub(super) fn dirichlet(&self, mu: f64) -> f64 {
        let total = self.length() + mu;
        self.log_likelihood(|term, share| (self.tf(term) + mu * share) / total)
    }

    /// Σ w·ln(max(tf−δ, 0)/dl + δ·u/dl·p), with u/dl = 1 in an empty text.
    pub(super) fn absolute_discount(&self, delta: f64) -> f64 {
        let (length, empty) = (self.length().max(1.0), self.document.length == 0);
        let distinct = if empty { 1.0 } else { f64::from(self.document.distinct) / length };
        self.log_likelihood(|term, share| {
            (self.tf(term) - delta).max(0.0) / length + delta * distinct * share
        })
    }

    /// The weighted sum of the logarithms of probabilities, without terms that are nowhere in the collection.
    fn log_likelihood(&self, probability: impl Fn(usize, f64) -> f64) -> f64 {
        self.sum(|term, QueryTerm { weight, collection_frequency, .. }| match collection_frequency {
            0 => 0.0,
            _ => weight * probability(term, self.terms.share[term]).ln(),
        })
    }

    /// The sum over all terms, in their order. It begins with 0 since the sum of no floats is −0.
    fn sum(&self, value: impl Fn(usize, &QueryTerm) -> f64) -> f64 {
        self.query.terms.iter().enumerate().fold(0.0, |sum, (number, term)| sum + value(number, term))
    }

    /// The lowest position of any term; NaN if the document has none.
    pub(super) fn first_position(&self) -> f64 {
        self.document.positions.iter().min().map_or(f64::NAN, |&first| f64::from(first))
    }

    /// The number of words of the shortest piece that has all terms that the document has; NaN if it has none.
    pub(super) fn window(&self, scratch: &mut Scratch) -> f64 {
        let Scratch { starts, sorted, counts } = scratch;
        let mut missing = 0;
        sorted.clear();
        for (term, bounds) in starts.windows(2).enumerate() {
            let positions = &self.document.positions[bounds[0]..bounds[1]];
            missing += usize::from(!positions.is_empty());
            sorted.extend(positions.iter().map(|&position| u64::from(position) << 32 | term as u64));
        }
        sorted.sort_unstable();
        counts.clear();
        counts.resize(self.len(), 0);
        let (mut start, mut shortest) = (0, f64::NAN);
        let position = |entry: u64| entry >> 32;
        let term = |entry: u64| entry as u32 as usize;
        for &end in sorted.iter() {
            missing -= usize::from(counts[term(end)] == 0);
            counts[term(end)] += 1;
            while missing == 0 {
                let first = sorted[start];
                shortest = ((position(end) - position(first) + 1) as f64).min(shortest);
                counts[term(first)] -= 1;
                missing += usize::from(counts[term(first)] == 0);
                start += 1;
            }
        }
        shortest
    }

    /// How often the words of the query occur one after the other, with the same distances.
    pub(super) fn phrase(&self, scratch: &Scratch) -> f64 {
        let words = &self.query.words;
        let positions =
            |term: usize| &self.document.positions[scratch.starts[term]..scratch.starts[term + 1]];
        let Some(rarest) = words.iter().min_by_key(|word| self.document.frequencies[word.term]) else {
            return 0.0;
        };
        let starts_at = |&position: &u32| {
            words.iter().all(|word| {
                let wanted = i64::from(position) + i64::from(word.position) - i64::from(rarest.position);
                u32::try_from(wanted).is_ok_and(|wanted| positions(word.term).binary_search(&wanted).is_ok())
            })
        };
        positions(rarest.term).iter().filter(|position| starts_at(position)).count() as f64
    }
}
