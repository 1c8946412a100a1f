//! The collection of the demo: a travel guide to islands that do not exist. `demo/README.md` says how it was made.

use crate::analyzer::Analyzer;
use crate::document::{DocumentOptions, Documents, NamedQuery, queries_from};
use crate::features::FeatureSet;
use crate::index::{Index, WriterOptions};
use crate::schema::{Field, Schema};
use crate::search::{Candidates, DEPTH, Extraction, SearchQuery, Unjudged};
use crate::snapshot::{Bm25, Query, Snapshot};
use rankwise::Result;
use rankwise::data::trec::{Qrels, qrels_from};
use rankwise::data::{Dataset, Source};
use rankwise::watch::Silent;
use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

const DOCUMENTS: &[u8] = include_bytes!("../demo/docs.jsonl");
const QUERIES: &[u8] = include_bytes!("../demo/queries.tsv");
const QRELS: &[u8] = include_bytes!("../demo/qrels.txt");

/// The documents, with `title`, `body`, `category`, `year` and links, `see_also`.
///
/// ```
/// let documents: Vec<_> = rankwise_search::demo::documents()?.collect::<rankwise::Result<_>>()?;
/// assert_eq!(documents[0].document.id, "skerrow");
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn documents() -> Result<Documents> {
    Documents::from_source(Source::new("docs.jsonl", Cursor::new(DOCUMENTS))?, &DocumentOptions::default())
}

/// The queries.
pub fn queries() -> Result<Vec<NamedQuery>> {
    queries_from(Source::new("queries.tsv", Cursor::new(QUERIES))?, None)
}

/// The judgments, with grades from 0 to 3.
pub fn qrels() -> Result<Qrels> {
    qrels_from(Source::new("qrels.txt", Cursor::new(QRELS))?)
}

/// The collection as an index in a new directory.
pub fn index(path: &Path) -> Result<Index> {
    let schema = Schema::new([
        Field::text("title", Analyzer::English),
        Field::text("body", Analyzer::English),
        Field::text("category", Analyzer::English),
        Field::date("year"),
        Field::links("see_also"),
    ])?;
    let index = Index::create(path, &schema)?;
    let mut writer = index.writer(WriterOptions::default())?;
    writer.add_all(documents()?.map(|found| found.map(|found| found.document)), &mut Silent::default())?;
    writer.commit()?;
    Ok(index)
}

/// Training data: the first hundred pages of BM25 for every query.
pub fn extract(snapshot: &Arc<Snapshot>) -> Result<Dataset> {
    let named = queries()?.into_iter();
    let queries: Vec<SearchQuery> =
        named.map(|named| SearchQuery { id: named.id, query: Query::words(named.text) }).collect();
    let extraction = Extraction {
        set: FeatureSet::small(snapshot.schema())?,
        bm25: Bm25::default(),
        candidates: Candidates::Bm25 { depth: DEPTH },
        qrels: Some(qrels()?),
        unjudged: Unjudged::NonRelevant,
    };
    Ok(extraction.run(snapshot, &queries, &|_| {})?.data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::schema::{FieldKind, guess_schema};
    use std::collections::HashSet;

    /// The collection of the demo is whole: what its links and judgments name exists.
    #[test]
    fn the_demo_has_documents_queries_and_judgments() {
        let documents: Vec<Document> = documents().unwrap().map(|found| found.unwrap().document).collect();
        let ids: HashSet<&str> = documents.iter().map(|document| document.id.as_str()).collect();
        assert_eq!(ids.len(), documents.len());
        assert!((300..=600).contains(&ids.len()), "{} documents", ids.len());
        for document in &documents {
            let links =
                document.fields.iter().filter(|(name, _)| name == "see_also").flat_map(|(_, v)| v.to_list());
            for link in links {
                assert!(
                    ids.contains(link.as_str()) && link != document.id,
                    "{} links to {link}",
                    document.id
                );
            }
        }
        let schema = guess_schema(&documents, Analyzer::English, &["see_also"]);
        let kinds: Vec<_> = schema.fields.iter().map(|field| (field.name.as_str(), &field.kind)).collect();
        let text = FieldKind::Text { analyzer: Analyzer::English };
        let expected = [
            ("title", &text),
            ("body", &text),
            ("category", &text),
            ("year", &FieldKind::Date),
            ("see_also", &FieldKind::Links),
        ];
        assert_eq!(kinds, expected);

        let queries = queries().unwrap();
        let qrels = qrels().unwrap();
        let asked: Vec<&str> = queries.iter().map(|query| query.id.as_str()).collect();
        let judged: Vec<&str> = qrels.topics.iter().map(|topic| topic.id.as_str()).collect();
        assert_eq!(asked, judged);
        for topic in &qrels.topics {
            assert!(topic.documents.iter().all(|id| ids.contains(id)), "of query {}", topic.id);
            assert!(topic.values.iter().all(|grade| (0..=3).contains(grade)));
            assert!(
                topic.values.iter().any(|grade| *grade > 0),
                "query {} has no relevant document",
                topic.id
            );
        }
    }
}
