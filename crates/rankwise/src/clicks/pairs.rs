//! Pairs of a query and a document as numbers.

use std::collections::HashMap;

/// The pairs seen so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    queries: HashMap<Box<str>, u32>,
    /// The documents of each query.
    documents: Vec<HashMap<Box<str>, u32>>,
    count: u32,
}

impl Pairs {
    /// The number of a query.
    pub(super) fn query(&mut self, query: &str) -> usize {
        if let Some(&known) = self.queries.get(query) {
            return known as usize;
        }
        self.queries.insert(query.into(), self.documents.len() as u32);
        self.documents.push(HashMap::new());
        self.documents.len() - 1
    }

    /// The number of a document of a query, among all pairs.
    pub(super) fn pair(&mut self, query: usize, document: &str) -> u32 {
        let documents = &mut self.documents[query];
        if let Some(&known) = documents.get(document) {
            return known;
        }
        documents.insert(document.into(), self.count);
        self.count += 1;
        self.count - 1
    }

    /// The number of queries.
    pub(super) fn queries(&self) -> usize {
        self.documents.len()
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.count as usize
    }

    /// All pairs in the order of their texts: query, document and number.
    pub(super) fn sorted(&self) -> Vec<(&str, &str, u32)> {
        let mut queries: Vec<(&str, u32)> =
            self.queries.iter().map(|(id, &number)| (&**id, number)).collect();
        queries.sort_unstable();
        let mut sorted = Vec::with_capacity(self.len());
        for (query, number) in queries {
            let first = sorted.len();
            let documents = self.documents[number as usize].iter();
            sorted.extend(documents.map(|(document, &pair)| (query, &**document, pair)));
            sorted[first..].sort_unstable();
        }
        sorted
    }
}
