//! What the commands on indexes have in common.

use crate::output;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use rankwise_search::document::{QueryFile, read_query_file};
use rankwise_search::search::RetrievalOptions;
use rankwise_search::{Bm25, Index, Query, Schema, SearchQuery, Snapshot};
use std::path::Path;
use std::sync::Arc;

/// How documents are scored by BM25.
#[derive(Args)]
#[command(next_help_heading = "BM25")]
pub(crate) struct Bm25Args {
    /// How slowly more occurrences of a word stop to count. Default: as the model remembers, or 1.2
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    k1: Option<f64>,

    /// How much the length of a document counts, from 0 to 1. Default: as the model remembers, or 0.75
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    b: Option<f64>,

    /// Text fields and how much a word in them counts, as in title=2,body=1. Default: as the model remembers, or all, each 1
    #[arg(long, value_name = "FIELD=X,…", value_delimiter = ',', value_parser = weight)]
    weights: Option<Vec<(String, f64)>>,
}

fn weight(text: &str) -> Result<(String, f64), String> {
    let (field, weight) = text.split_once('=').ok_or("write a field and its weight, as in title=2")?;
    let weight = weight.trim().parse().map_err(|_| format!("`{weight}` is not a number"))?;
    Ok((field.trim().to_owned(), weight))
}

impl Bm25Args {
    /// How documents are scored without a model.
    pub(crate) fn bm25(&self) -> Result<Bm25> {
        Ok(self.retrieval(None).complete(None)?.bm25)
    }

    /// What is said of the retrieval of candidates.
    pub(crate) fn retrieval(&self, depth: Option<u32>) -> RetrievalOptions {
        let depth = depth.map(|depth| depth as usize);
        RetrievalOptions { depth, k1: self.k1, b: self.b, weights: self.weights.clone() }
    }
}

/// How the text of a query is read.
#[derive(ValueEnum, Clone, Copy, PartialEq)]
pub(crate) enum Syntax {
    /// Everything is just words
    Words,
    /// Fields, phrases, +must, -not, AND, OR, ranges and boosts
    Full,
}

impl Syntax {
    pub(crate) fn query(self, text: &str, schema: &Schema) -> rankwise::Result<Query> {
        match self {
            Syntax::Words => Ok(Query::words(text)),
            Syntax::Full => Query::parse(text, schema),
        }
    }

    /// The queries of a file.
    pub(crate) fn queries(self, file: &Path, schema: &Schema) -> Result<Vec<SearchQuery>> {
        let QueryFile { queries, numbered } = read_query_file(file, None)?;
        if numbered {
            let file = file.display();
            output::note(format!("{file} has no tabs: its lines are taken as texts, numbered from 1"));
        }
        let query = |named: rankwise_search::document::NamedQuery| {
            let query = self.query(&named.text, schema).with_context(|| format!("query `{}`", named.id))?;
            Ok(SearchQuery { id: named.id, query })
        };
        queries.into_iter().map(query).collect()
    }
}

/// The index in a directory, as the last commit left it.
pub(crate) fn snapshot(path: &Path) -> Result<Arc<Snapshot>> {
    let snapshot = Index::open(path)?.snapshot()?;
    if snapshot.is_empty() {
        bail!("the index {} has no documents; `rankwise index FILE --add -o {0}` adds some", path.display());
    }
    Ok(Arc::new(snapshot))
}

/// Notes on queries that cannot find anything.
pub(crate) fn note_content(snapshot: &Snapshot, queries: &[&Query]) -> Result<()> {
    use rankwise_search::QueryContent::{Nothing, OnlyStopWords};
    let (mut empty, mut stop_words) = (0, 0);
    for query in queries {
        match snapshot.content(query)? {
            Nothing => empty += 1,
            OnlyStopWords => stop_words += 1,
            _ => {}
        }
    }
    if empty > 0 {
        output::note(format!("{} no words", output::count(empty, "query has", "queries have")));
    }
    if stop_words > 0 {
        let queries = output::count(stop_words, "query has", "queries have");
        output::note(format!("{queries} only words that the analyzer leaves out, such as `the`"));
    }
    Ok(())
}
