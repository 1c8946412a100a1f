use super::model::known;
use super::*;
use crate::index::links::Graph;
use crate::index::{Duplicates, LinkStatistics};
use proptest::prelude::*;
use rankwise::watch::Silent;

#[test]
fn a_document_is_kept_as_it_came() {
    let directory = tempfile::tempdir().unwrap();
    let index = Index::create(directory.path(), &schema()).unwrap();
    let mut writer = index.writer(small()).unwrap();
    let fields = [
        ("title", text("The wrens of the marsh")),
        ("tag", Value::List(vec!["Bird".into(), "small bird".into()])),
        ("title", text("A wren")),
        ("price", Value::Number(3.0)),
        ("day", text("1970-01-02")),
        ("cites", text("x y")),
    ];
    writer.add(document("w", &fields)).unwrap();
    let committed = writer.commit().unwrap();
    assert_eq!((committed.documents, committed.added, committed.unknown_links), (1, 1, 2));
    let known = content(&index).remove("w").unwrap();
    assert_eq!(
        known.source,
        r#"{"title":["The wrens of the marsh","A wren"],"tag":["Bird","small bird"],"price":3,"day":"1970-01-02","cites":"x y"}"#
    );
    // The second title starts behind a position that nothing has: 1 and 4 are the first's, then 5, and 6 is "A".
    let title = Terms::from([("wren".into(), vec![1, 7]), ("marsh".into(), vec![4])]);
    let tags = Terms::from([("Bird".into(), vec![]), ("small bird".into(), vec![])]);
    assert_eq!(known.terms, BTreeMap::from([("title".into(), title), ("tag".into(), tags)]));
    assert_eq!(known.sizes, BTreeMap::from([("title".into(), (3, 2)), ("body".into(), (0, 0))]));
    assert_eq!(known.numbers, BTreeMap::from([("price".into(), 3.0), ("day".into(), 86_400.0)]));
    assert_eq!(known.distinct, 2);
}

/// One change of an index.
#[derive(Debug, Clone)]
enum Change {
    Add(Document),
    AddAll(Vec<Document>),
    Delete(String),
    DeleteAll,
    Commit,
    Merge,
    Rollback,
}

fn any_id() -> impl Strategy<Value = String> {
    "[a-eä]{1,2}"
}

fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        4 => "[a-c]{1,2}",
        2 => Just("the".to_owned()),
        1 => Just("Running's".to_owned()),
        1 => "\\PC{1,3}",
        1 => Just("\n".to_owned()),
    ];
    prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "))
}

fn any_document() -> impl Strategy<Value = Document> {
    let value = prop_oneof![
        any_text().prop_map(|value| ("title".to_owned(), Value::Text(value))),
        any_text().prop_map(|value| ("body".to_owned(), Value::Text(value))),
        prop::collection::vec(any_text(), 0..3).prop_map(|value| ("body".to_owned(), Value::List(value))),
        any_text().prop_map(|value| ("tag".to_owned(), Value::Text(value))),
        prop::collection::vec(any_id(), 0..3).prop_map(|value| ("cites".to_owned(), Value::List(value))),
    ];
    let price = prop::option::of(
        (-9i32..9).prop_map(|price| ("price".to_owned(), Value::Number(f64::from(price) / 4.0))),
    );
    (any_id(), prop::collection::vec(value, 0..5), price).prop_map(|(id, mut fields, price)| {
        fields.extend(price);
        Document { id, fields }
    })
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => any_document().prop_map(Change::Add),
        2 => prop::collection::vec(any_document(), 0..6).prop_map(Change::AddAll),
        3 => any_id().prop_map(Change::Delete),
        1 => Just(Change::DeleteAll),
        3 => Just(Change::Commit),
        1 => Just(Change::Merge),
        1 => Just(Change::Rollback),
    ]
}

/// The documents that an index should have: committed, and pending.
#[derive(Debug, Clone, Default)]
struct Expected {
    committed: BTreeMap<String, Document>,
    pending: BTreeMap<String, Document>,
}

impl Expected {
    fn check(&self, index: &Index) {
        let view = index.view().unwrap();
        let expected: BTreeMap<String, Known> =
            self.committed.values().map(|document| (document.id.clone(), known(document))).collect();
        assert_eq!(content_of(index, &view), expected);
        assert_eq!(view.searcher.num_docs(), expected.len() as u64);
        let mut graph = Graph::default();
        for document in self.committed.values() {
            graph.insert(&document.id, &model::links(document));
        }
        if let Some(links) = view.links {
            assert_eq!(links.load().unwrap().0, graph.statistics().0);
        } else {
            assert!(expected.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_changes_leave_what_documents_say(changes in prop::collection::vec(any_change(), 1..25)) {
        let directory = tempfile::tempdir().unwrap();
        let index = Index::create(directory.path(), &schema()).unwrap();
        let mut writer = index.writer(WriterOptions { duplicates: Duplicates::Replace, ..small() }).unwrap();
        let mut expected = Expected::default();
        for change in changes {
            match change {
                Change::Add(document) => {
                    writer.add(document.clone()).unwrap();
                    expected.pending.insert(document.id.clone(), document);
                }
                Change::AddAll(documents) => {
                    let added = writer.add_all(documents.clone().into_iter().map(Ok), &mut Silent::default()).unwrap();
                    prop_assert_eq!(added.documents, documents.len() as u64);
                    expected.pending.extend(documents.into_iter().map(|document| (document.id.clone(), document)));
                }
                Change::Delete(id) => {
                    prop_assert_eq!(writer.delete(&id).unwrap(), expected.pending.remove(&id).is_some());
                }
                Change::DeleteAll => {
                    writer.delete_all().unwrap();
                    expected.pending.clear();
                }
                Change::Commit | Change::Merge => {
                    let merge = matches!(change, Change::Merge);
                    let committed = if merge { writer.commit_and_merge() } else { writer.commit() }.unwrap();
                    prop_assert_eq!(committed.documents, expected.pending.len() as u64);
                    expected.committed = expected.pending.clone();
                    expected.check(&index);
                    if merge {
                        prop_assert!(index.info().unwrap().segments <= 1);
                    }
                }
                Change::Rollback => {
                    writer.rollback().unwrap();
                    expected.pending = expected.committed.clone();
                }
            }
        }
        expected.check(&index);
        drop(writer);
        expected.check(&Index::open(directory.path()).unwrap());
    }
}

#[test]
fn links_are_counted_with_the_commit_that_has_their_documents() {
    let directory = tempfile::tempdir().unwrap();
    let index = Index::create(directory.path(), &schema()).unwrap();
    assert!(index.view().unwrap().links.is_none());
    let mut writer = index.writer(small()).unwrap();
    let cites = |id: &str, ids: &[&str]| {
        document(id, &[("cites", Value::List(ids.iter().map(|&id| id.to_owned()).collect()))])
    };
    writer.add(cites("a", &["b"])).unwrap();
    assert_eq!(writer.commit().unwrap().unknown_links, 1);
    drop(writer);
    // A writer of another time still knows that a links to b.
    let mut writer = index.writer(small()).unwrap();
    writer.add(cites("b", &[])).unwrap();
    let before = index.view().unwrap();
    assert_eq!(writer.commit().unwrap().unknown_links, 0);
    let get = |view: View, id: &str| view.links.unwrap().load().unwrap().0.get(id);
    let alone = LinkStatistics { in_links: 0, out_links: 0, page_rank: 1.0 };
    assert_eq!((get(before, "a"), get(index.view().unwrap(), "b").unwrap().in_links), (Some(alone), 1));
    let files = std::fs::read_dir(directory.path()).unwrap();
    let links =
        files.filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().starts_with("links-"));
    assert_eq!(links.count(), 1);
}
