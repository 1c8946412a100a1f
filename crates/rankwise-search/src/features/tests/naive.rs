//! Features straight from lists of words. Nothing here is shared with the code that is tested.

use crate::features::{Feature, Target};
use crate::terms::{DocumentValues, QueryTerm, QueryWord, ScopeDocument, ScopeQuery};

/// Documents of three texts, and a query of words with boosts. A stop word has a position and is otherwise not there.
#[derive(Debug, Clone)]
pub(super) struct Collection {
    pub(super) documents: Vec<[Vec<u8>; 3]>,
    pub(super) query: Vec<(u8, f64)>,
}

const STOP_WORD: u8 = 0;
const FIELDS: [&str; 3] = ["title", "body", "authors"];

/// The numbers of the fields in scope `scope`; the last is all of them.
fn fields(scope: usize) -> Vec<usize> {
    if scope == 3 { vec![0, 1, 2] } else { vec![scope] }
}

fn kept(words: &[u8]) -> impl Iterator<Item = u8> + '_ {
    words.iter().copied().filter(|word| *word != STOP_WORD)
}

impl Collection {
    /// All words of a document in a scope.
    fn words(&self, document: usize, scope: usize) -> Vec<u8> {
        fields(scope).into_iter().flat_map(|field| kept(&self.documents[document][field])).collect()
    }

    /// The different words of the query, with their weights.
    fn terms(&self) -> Vec<(u8, f64)> {
        let mut terms: Vec<(u8, f64)> = Vec::new();
        for &(word, boost) in self.query.iter().filter(|(word, _)| *word != STOP_WORD) {
            match terms.iter_mut().find(|(known, _)| *known == word) {
                Some((_, weight)) => *weight += boost,
                None => terms.push((word, boost)),
            }
        }
        terms
    }

    /// What an index would say about the query.
    pub(super) fn scope_queries(&self) -> Vec<ScopeQuery> {
        let terms = self.terms();
        let place = |word: u8| terms.iter().position(|(term, _)| *term == word);
        let words = self.query.iter().enumerate();
        let words: Vec<QueryWord> = words
            .filter_map(|(position, (word, _))| {
                Some(QueryWord { term: place(*word)?, position: position as u32 })
            })
            .collect();
        let all = 0..self.documents.len();
        let scope_query = |scope: usize| ScopeQuery {
            terms: terms
                .iter()
                .map(|&(word, weight)| QueryTerm {
                    weight,
                    document_frequency: all.clone().filter(|&d| self.words(d, scope).contains(&word)).count()
                        as u64,
                    collection_frequency: all.clone().map(|d| count(&self.words(d, scope), word)).sum::<f64>()
                        as u64,
                })
                .collect(),
            words: words.clone(),
            documents: self.documents.len() as u64,
            tokens: all.clone().map(|d| self.words(d, scope).len() as u64).sum(),
        };
        (0..4).map(scope_query).collect()
    }

    /// What an index would say about a document.
    pub(super) fn scope_documents(&self, document: usize) -> Vec<ScopeDocument> {
        let positions_of = |word: u8, scope: usize| -> Vec<u32> {
            let in_field = |field: usize| {
                let words = self.documents[document][field].iter().enumerate();
                words.filter(move |(_, w)| **w == word).map(move |(at, _)| (1000 * field + at) as u32)
            };
            let positions: Vec<u32> = fields(scope).into_iter().flat_map(in_field).collect();
            if scope == 3 { positions } else { positions.iter().map(|at| at - 1000 * scope as u32).collect() }
        };
        let scope_document = |scope: usize| {
            let positions: Vec<Vec<u32>> =
                self.terms().iter().map(|(word, _)| positions_of(*word, scope)).collect();
            ScopeDocument {
                length: self.words(document, scope).len() as u32,
                distinct: distinct(&self.words(document, scope)),
                frequencies: positions.iter().map(|positions| positions.len() as u32).collect(),
                positions: positions.concat(),
            }
        };
        (0..4).map(scope_document).collect()
    }

    /// A feature of a text.
    pub(super) fn feature(&self, feature: &Feature, target: &Target, document: usize) -> f64 {
        let scope = match target {
            Target::Field(name) => FIELDS.iter().position(|field| field == name).unwrap(),
            _ => 3,
        };
        let (words, terms, p) = (self.words(document, scope), self.terms(), &feature.parameters);
        let (length, u) = (words.len() as f64, f64::from(distinct(&words)));
        let all: Vec<Vec<u8>> = (0..self.documents.len()).map(|d| self.words(d, scope)).collect();
        let n = all.len() as f64;
        let total: f64 = all.iter().map(|words| words.len() as f64).sum();
        let tf = |word: u8| count(&words, word);
        let idf = |word: u8| {
            let having = all.iter().filter(|words| words.contains(&word)).count() as f64;
            if having == 0.0 { 0.0 } else { (1.0 + (n - having + 0.5) / (having + 0.5)).ln() }
        };
        let share = |word: u8| all.iter().map(|words| count(words, word)).sum::<f64>() / total;
        let frequency = |word: u8| if length == 0.0 { 0.0 } else { tf(word) / length };
        let found = terms.iter().filter(|(word, _)| words.contains(word)).count() as f64;
        let every = |f: &dyn Fn(u8) -> f64| terms.iter().map(|(word, _)| f(*word)).collect::<Vec<f64>>();
        let weighted = |f: &dyn Fn(u8) -> f64| terms.iter().map(|(word, w)| w * f(*word)).sum::<f64>() + 0.0;
        // A language model knows only words that are somewhere in the collection.
        let model = |f: &dyn Fn(u8) -> f64| {
            let known = terms.iter().filter(|(word, _)| share(*word) > 0.0);
            known.map(|(word, w)| w * f(*word).ln()).sum::<f64>() + 0.0
        };
        match feature.kind.entry().name {
            "covered" => found,
            "covered-ratio" if terms.is_empty() => 0.0,
            "covered-ratio" => found / terms.len() as f64,
            "length" => length,
            "query-length" => self.query.iter().filter(|(word, _)| *word != STOP_WORD).count() as f64,
            "idf" => every(&idf).iter().sum::<f64>(),
            "boolean" => f64::from(u8::from(!terms.is_empty() && found == terms.len() as f64)),
            "cosine" => {
                let query_norm = terms.iter().map(|(word, w)| (w * idf(*word)).powi(2)).sum::<f64>().sqrt();
                let document_norm = (0..=9).map(&tf).sum::<f64>().sqrt();
                let product = weighted(&|word| idf(word) * tf(word).sqrt());
                if query_norm * document_norm == 0.0 { 0.0 } else { product / query_norm / document_norm }
            }
            "bm25" => weighted(&|word| {
                let k = p.k1 * ((1.0 - p.b) + p.b * length / (total / n));
                if tf(word) == 0.0 { 0.0 } else { idf(word) * tf(word) / (tf(word) + k) }
            }),
            "lm.jm" => model(&|word| (1.0 - p.lambda) * frequency(word) + p.lambda * share(word)),
            "lm.dirichlet" => model(&|word| (tf(word) + p.mu * share(word)) / (length + p.mu)),
            "lm.absolute" if length == 0.0 => model(&|word| p.delta * share(word)),
            "lm.absolute" => {
                model(&|word| (tf(word) - p.delta).max(0.0) / length + p.delta * u / length * share(word))
            }
            "first-position" => self.first_position(&self.documents[document][scope]),
            "window" => self.window(&self.documents[document][scope]),
            "phrase" => {
                fields(scope).iter().map(|field| self.phrases(&self.documents[document][*field])).sum()
            }
            name => {
                let (of, statistic) = name.split_once('.').unwrap();
                let values = match of {
                    "tf" => every(&tf),
                    "tf-norm" => every(&frequency),
                    "tf-idf" => every(&|word| tf(word) * idf(word)),
                    _ => panic!("no such kind: {name}"),
                };
                summary(statistic, &values)
            }
        }
    }

    /// A feature that has no field.
    pub(super) fn value_feature(&self, kind: &str, values: &DocumentValues, _document: usize) -> f64 {
        match kind {
            "in-links" => values.in_links,
            "out-links" => values.out_links,
            "pagerank" => values.page_rank,
            "retrieval-score" => values.retrieval_score,
            "retrieval-rank" => values.retrieval_rank,
            _ => panic!("no such kind: {kind}"),
        }
    }

    fn asks_for(&self, word: u8) -> bool {
        word != STOP_WORD && self.query.iter().any(|(asked, _)| *asked == word)
    }

    fn first_position(&self, text: &[u8]) -> f64 {
        text.iter().position(|word| self.asks_for(*word)).map_or(f64::NAN, |at| at as f64)
    }

    /// Tries every piece of the text.
    fn window(&self, text: &[u8]) -> f64 {
        let wanted: Vec<u8> = text.iter().copied().filter(|word| self.asks_for(*word)).collect();
        let pieces =
            (0..text.len()).flat_map(|start| (start + 1..=text.len()).map(move |end| &text[start..end]));
        let fitting = pieces.filter(|piece| wanted.iter().all(|word| piece.contains(word)));
        let shortest = fitting.map(<[u8]>::len).min().filter(|_| !wanted.is_empty());
        shortest.map_or(f64::NAN, |length| length as f64)
    }

    /// Lays the query over every place of the text. Its stop words fit any word.
    fn phrases(&self, text: &[u8]) -> f64 {
        let query: Vec<u8> = self.query.iter().map(|(word, _)| *word).collect();
        let query: Vec<u8> = query.into_iter().skip_while(|word| *word == STOP_WORD).collect();
        if query.is_empty() {
            return 0.0;
        }
        let fits = |start: usize| {
            let at = |i: usize| text.get(start + i).copied();
            query.iter().enumerate().all(|(i, word)| *word == STOP_WORD || at(i) == Some(*word))
        };
        (0..text.len()).filter(|start| fits(*start)).count() as f64
    }
}

fn count(words: &[u8], word: u8) -> f64 {
    words.iter().filter(|w| **w == word).count() as f64
}

fn distinct(words: &[u8]) -> u32 {
    (0..=9).filter(|word| words.contains(word)).count() as u32
}

fn summary(statistic: &str, values: &[f64]) -> f64 {
    let (sum, count) = (values.iter().sum::<f64>(), values.len() as f64);
    match statistic {
        _ if values.is_empty() => 0.0,
        "sum" => sum,
        "min" => values.iter().copied().fold(f64::MAX, f64::min),
        "max" => values.iter().copied().fold(f64::MIN, f64::max),
        "mean" => sum / count,
        "variance" => values.iter().map(|x| x * x).sum::<f64>() / count - (sum / count).powi(2),
        _ => panic!("no such statistic: {statistic}"),
    }
}
