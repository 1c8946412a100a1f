//! Queries of every format.

use super::source;
use crate::document::{NamedQuery, queries_from, read_query_file};
use rankwise::Result;

fn queries(name: &str, text: &str) -> Result<Vec<NamedQuery>> {
    queries_from(source(name, text.as_bytes()), None)
}

fn pairs(name: &str, text: &str) -> Vec<(String, String)> {
    queries(name, text).unwrap().into_iter().map(|query| (query.id, query.text)).collect()
}

#[test]
fn queries_of_every_format() {
    let expected = [("7", "time sharing"), ("8 b", "parallel sorting")];
    let expected = expected.map(|(id, text)| (id.to_owned(), text.to_owned()));
    for (name, text) in [
        ("x", "7\ttime sharing\r\n\n8 b\t parallel sorting \n"),
        ("x.txt", "\u{feff}qid\tQuery\n7\ttime sharing\n8 b\tparallel sorting"),
        (
            "x",
            "{\"qid\": 7, \"query\": \"time sharing\"}\n{\"id\": \"8 b\", \"text\": \"parallel sorting\"}\n",
        ),
        (
            "x",
            "{\"_id\": \"7\", \"title\": \"time sharing\", \"metadata\": {}}\n{\"query_id\": \"8 b\", \"text\": \"parallel sorting\"}\n",
        ),
        (
            "x",
            "<top>\n<num> Number: 007\n<title> Topic: time\n  sharing\n</top>\n<top><num>8 b</num><title>parallel sorting</title></top>",
        ),
        (
            "x.xml",
            "<topics><topic number=\"7\" type=\"x\"><query>time sharing</query></topic>\n<topic number=\"8 b\">\n<query>parallel sorting</query>\n</topic></topics>",
        ),
    ] {
        assert_eq!(pairs(name, text), expected, "{text}");
    }
    let numbered = [("1".to_owned(), "time sharing".to_owned()), ("2".to_owned(), "sorting".to_owned())];
    assert_eq!(pairs("x", "time sharing\n\n sorting \n"), numbered);
}

#[test]
fn a_file_says_whether_its_queries_were_numbered() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("q.tsv");
    for (text, numbered) in [("just text\n", true), ("7\tjust text\n", false)] {
        std::fs::write(&path, text).unwrap();
        let file = read_query_file(&path, None).unwrap();
        assert_eq!((file.queries[0].text.as_str(), file.numbered), ("just text", numbered));
    }
}

#[test]
fn trec_topics_have_descriptions() {
    let text = "<top>\n<num> Number: 301\n<title> International Organized Crime\n\n<desc> Description:\nIdentify organizations\n\
        that participate.\n\n<narr> Narrative:\nA relevant document must\n</top>\n";
    let expected = NamedQuery {
        id: "301".into(),
        text: "International Organized Crime".into(),
        description: Some("Identify organizations that participate.".into()),
    };
    assert_eq!(queries("topics.301-350", text).unwrap(), [expected]);
}

#[test]
fn broken_queries_are_refused_with_their_place() {
    for (text, message) in [
        ("", "x has no queries"),
        ("qid\tquery\n", "x has no queries"),
        ("7\ta\n8 b\n", "x:2:1: expected an id, a tab and a query, found `8 b`"),
        ("a b\n8\tb\n", "x:2:1: there is a tab after an id, but the lines before have no ids"),
        ("7\ta\n8\tb\n7\tc\n", "x:3:1: the id `7` occurs twice, first on line 1"),
        ("7\t \n", "x:1:1: query `7` has no text"),
        ("\tx\n", "x:1:1: the query has no id"),
        (
            "{\"query\": \"a\"}",
            "x:1:1: the query has no id; it must be in a field called `id`, `qid`, `query_id`,",
        ),
        (
            "{\"id\": 1, \"q\": \"a\"}",
            "x:1:1: the query has no text; it must be in a field called `query`, `text` or `title`",
        ),
        ("{\"id\": 1, \"query\": [\"a\"]}", "x:1:1: the value of `query` must be a text"),
        ("{\"id\": 1.5, \"query\": \"a\"}", "x:1:1: the value of `id` must be a text"),
        ("{\"id\": 1, \"query\": \"a\"", "x:1:1: the object does not end on this line"),
        ("<top><title>a</top>", "x:1:1: the query has no id"),
        ("<top><num>1</top>", "x:1:1: query `1` has no text"),
        ("<top><num>1<title>a", "x:1:1: the element that starts here is not closed"),
    ] {
        let error = queries("x", text).unwrap_err().to_string();
        assert!(error.starts_with(message), "expected {message}\n   found {error}");
    }
}
