//! Documents as users name them: by an id, or by a number in the data, counted from 1.

use crate::output;
use anyhow::{Result, bail, ensure};
use rankwise::data::Dataset;

/// Finds documents of one data set.
pub(crate) struct Finder<'a> {
    pub(crate) data: &'a Dataset,
    /// The name of the file, for messages.
    pub(crate) file: String,
    /// Only documents of this query are found.
    pub(crate) query: Option<usize>,
}

impl Finder<'_> {
    /// The one document called `name`.
    pub(crate) fn one(&self, name: &str) -> Result<usize> {
        match self.all(name)?[..] {
            [document] => Ok(document),
            ref several => bail!(self.ambiguous(&format!("the id `{name}`"), several)),
        }
    }

    /// Two documents of the same query.
    pub(crate) fn pair(&self, first: &str, second: &str) -> Result<(usize, usize)> {
        let (firsts, seconds) = (self.all(first)?, self.all(second)?);
        let query_of = |document: usize| self.data.query_of(document);
        let pairs: Vec<(usize, usize)> = firsts
            .iter()
            .flat_map(|&a| seconds.iter().map(move |&b| (a, b)))
            .filter(|&(a, b)| query_of(a) == query_of(b))
            .collect();
        match pairs[..] {
            [pair] => Ok(pair),
            [] => bail!(
                "documents `{first}` and `{second}` belong to different queries, {} and {}; scores are compared \
                 within a query",
                self.data.query(query_of(firsts[0])).id(),
                self.data.query(query_of(seconds[0])).id()
            ),
            _ => {
                let documents: Vec<usize> = pairs.iter().map(|(a, _)| *a).collect();
                bail!(self.ambiguous(&format!("the ids `{first}` and `{second}`"), &documents))
            }
        }
    }

    /// Every document with the id `name`; if there is none, the one with that number.
    fn all(&self, name: &str) -> Result<Vec<usize>> {
        let range = self.query.map_or(0..self.data.len(), |query| self.data.query(query).range());
        let with_id: Vec<usize> =
            range.clone().filter(|&document| self.data.document_id(document) == Some(name)).collect();
        if !with_id.is_empty() {
            return Ok(with_id);
        }
        let file = &self.file;
        let Ok(number) = name.parse::<usize>() else {
            let has_ids = range.clone().any(|document| self.data.document_id(document).is_some());
            ensure!(has_ids, "the documents of {file} have no ids; give a number, counted from 1");
            match self.query {
                Some(query) => {
                    bail!(
                        "query {} of {file} has no document with the id `{name}`",
                        self.data.query(query).id()
                    )
                }
                None => bail!("{file} has no document with the id `{name}`"),
            }
        };
        ensure!(
            (1..=self.data.len()).contains(&number),
            "there is no document {number}: {file} has {}, counted from 1",
            output::count(self.data.len(), "document", "documents")
        );
        match self.query {
            Some(query) if !range.contains(&(number - 1)) => {
                bail!("document {number} is not of query {}", self.data.query(query).id())
            }
            _ => Ok(vec![number - 1]),
        }
    }

    /// Several documents are meant by the same name: where they are.
    fn ambiguous(&self, name: &str, documents: &[usize]) -> String {
        /// The most queries named.
        const NAMED: usize = 5;
        let mut queries: Vec<&str> = Vec::new();
        for &document in documents {
            let id = self.data.query(self.data.query_of(document)).id();
            if !queries.contains(&id) {
                queries.push(id);
            }
        }
        if let [query] = queries[..] {
            return format!(
                "query {query} of {} has several documents with {name}; give a number, counted from 1",
                self.file
            );
        }
        let more = if queries.len() > NAMED { ", …" } else { "" };
        queries.truncate(NAMED);
        format!(
            "there are documents with {name} in several queries ({}{more}); choose one with --query",
            queries.join(", ")
        )
    }
}
