//! Every way in which a file can be odd or broken.

mod folder;
mod formats;
mod queries;

use super::{Document, DocumentOptions, DocumentSummary, Documents, OnError, Value};
use rankwise::Result;
use rankwise::data::Source;
use std::io::{Cursor, Read};

fn source(name: &str, bytes: &[u8]) -> Source {
    Source::new(name, Cursor::new(bytes.to_vec())).unwrap()
}

fn open(name: &str, bytes: &[u8], options: &DocumentOptions) -> Result<Documents> {
    Documents::from_source(source(name, bytes), options)
}

/// The documents as one line each: `id name=value name=value`.
fn read(name: &str, bytes: &[u8]) -> Result<Vec<String>> {
    open(name, bytes, &DocumentOptions::default())?.map(|found| Ok(shown(&found?.document))).collect()
}

fn shown(document: &Document) -> String {
    let fields = document.fields.iter().map(|(name, value)| match value {
        Value::Text(text) => format!(" {name}={text:?}"),
        Value::Number(number) => format!(" {name}={number}"),
        Value::List(texts) => format!(" {name}={texts:?}"),
    });
    format!("{}{}", document.id, fields.collect::<String>())
}

fn refused(name: &str, bytes: &[u8]) -> String {
    match read(name, bytes) {
        Ok(documents) => panic!("{documents:?} were read"),
        Err(error) => error.to_string(),
    }
}

/// What is left when malformed documents are left out.
fn skipping(name: &str, bytes: &[u8]) -> (Result<Vec<String>>, DocumentSummary) {
    let options = DocumentOptions { on_error: OnError::Skip, ..DocumentOptions::default() };
    let mut documents = open(name, bytes, &options).unwrap();
    let read = documents.by_ref().map(|found| Ok(shown(&found?.document))).collect();
    (read, documents.summary().clone())
}

#[test]
fn json_values_of_every_kind() {
    let text = br#"{"id": 7, "title": "a\u00e9", "n": -1.5, "yes": true, "nothing": null, "blank": " ",
    "#;
    assert!(refused("x.jsonl", text).starts_with("x.jsonl:1:1: the object does not end on this line"));
    let text = "{\"id\": 7, \"title\": \"a\\u00e9\", \"n\": -1.5, \"yes\": true, \"nothing\": null, \"blank\": \" \"}\n\
        {\"cites\": [\"1\", 2, null, 2.5, false], \"id\": \"b\", \"none\": [], \"deep\": [[\"x\"], [\"y\", [\"z\"]]]}\n\
        {\"a\": {\"b\": {\"c\": 1}, \"d\": \"e\"}, \"id\": \"c\", \"of\": [{\"n\": \"p\"}, {\"n\": \"q\", \"m\": 0}], \"mix\": [1, {\"k\": 2}]}\n\
        {\"id\": 4, \"isbn\": 18446744073709551615, \"t\": \"1\", \"t\": \"2\"}\n";
    let expected = [
        "7 title=\"aé\" n=-1.5 yes=1",
        "b cites=[\"1\", \"2\", \"2.5\", \"false\"] none=[] deep=[\"x\", \"y\", \"z\"]",
        "c a.b.c=1 a.d=\"e\" of.n=\"p\" of.n=\"q\" of.m=0 mix.k=2 mix=[\"1\"]",
        "4 isbn=\"18446744073709551615\" t=\"1\" t=\"2\"",
    ];
    assert_eq!(read("x.jsonl", text.as_bytes()).unwrap(), expected);
}

#[test]
fn marks_line_ends_and_blank_lines_do_not_matter() {
    let text = b"\xef\xbb\xbf\r\n{\"id\": 1}\r\n\r\n  {\"id\": 2}  \n\n{\"id\": 3}";
    assert_eq!(read("x", text).unwrap(), ["1", "2", "3"]);
    let places: Vec<_> =
        open("x", text, &DocumentOptions::default()).unwrap().map(|d| d.unwrap().place).collect();
    assert_eq!(places.iter().map(|p| (p.line, p.column)).collect::<Vec<_>>(), [(2, 1), (4, 1), (6, 1)]);
}

#[test]
fn malformed_json_is_placed() {
    for (line, expected) in [
        (&b"{\"id\": 1,, }"[..], "x.jsonl:2:10: not a JSON object: key must be a string, at `, }`"),
        (b"7", "x.jsonl:2:1: not a JSON object: invalid type: integer `7`, expected an object"),
        (b"[{\"id\": 1}]", "x.jsonl:2:1: expected an object `{…}` on each line, found an array"),
        (
            b"{\"id\": 1} {\"id\": 2}",
            "x.jsonl:2:11: not a JSON object: trailing characters, at `{\"id\": 2}`",
        ),
        (b"{\"id\": 1", "x.jsonl:2:1: the object does not end on this line"),
        (b"{\"id\": \"\xff\"}", "x.jsonl:2:9: `\u{fffd}\"}\\n` is not UTF-8 text"),
        (b"{\"id\": 1, \"\": 2}", "x.jsonl:2:12: not a JSON object: a field has an empty name"),
        (b"{\"id\": 1, \"n\": 1e999}", "x.jsonl:2:20: not a JSON object: number out of range"),
        (b"{\"id\": 1, \"t\": \"\\ud800\"}", "x.jsonl:2:23: not a JSON object: "),
        (b"plain text", "x.jsonl:2:1: not a JSON object: expected value, at `plain text`"),
    ] {
        let text = [b"{\"id\": 0}\n", line, b"\n{\"id\": 9}\n"].concat();
        let found = refused("x.jsonl", &text);
        assert!(found.starts_with(expected), "expected {expected}\n   found {found}");
        let (read, summary) = skipping("x.jsonl", &text);
        assert_eq!(read.unwrap(), ["0", "9"]);
        assert_eq!((summary.documents, summary.skipped), (2, 1));
        assert_eq!(summary.messages, [found]);
    }
}

#[test]
fn deeply_nested_json_is_refused() {
    let text = format!("{{\"id\": 1, \"a\": {}1{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    assert!(refused("x.jsonl", text.as_bytes()).contains("recursion limit exceeded"));
}

#[test]
fn ids_are_found_and_checked() {
    for (line, id) in [
        ("{\"docid\": \"a\", \"_id\": \"b\"}", "b docid=\"a\""),
        ("{\"DocNo\": \"a\"}", "a"),
        ("{\"id\": 7.0}", "7"),
        ("{\"id\": -7}", "-7"),
        ("{\"id\": 7.25}", "7.25"),
        ("{\"id\": 18446744073709551615}", "18446744073709551615"),
        ("{\"id\": \"two words\"}", "two words"),
    ] {
        assert_eq!(read("x.jsonl", line.as_bytes()).unwrap(), [id], "{line}");
    }
    for (line, message) in [
        (
            "{\"title\": \"a\"}",
            "the document has no id; it must be in a field called `id`, `_id`, `docid`, `docno` or",
        ),
        ("{\"id\": null}", "the document has no id"),
        ("{\"id\": \" \"}", "the id, `id`, is empty"),
        ("{\"id\": \"a\\tb\"}", "the id `a\\tb` has a control character"),
        ("{\"id\": true}", "the id, `id`, must be a text or a number, but it is `true` or `false`"),
        ("{\"id\": [1]}", "the id, `id`, must be a text or a number, but it is a list"),
        (
            "{\"_id\": {\"$oid\": \"5\"}}",
            "the id must be a text or a number, but it is an object; `_id.$oid` can be the id",
        ),
        ("{\"id\": 1e300}", "is too large for a number; write it as text"),
        ("{\"id\": 1, \"id\": 2}", "the document has more than one `id`"),
    ] {
        let found = refused("x.jsonl", line.as_bytes());
        assert!(found.starts_with("x.jsonl:1:1: ") && found.contains(message), "{found}");
    }
    let long = format!("{{\"id\": \"{}\"}}", "x".repeat(1001));
    assert!(refused("x.jsonl", long.as_bytes()).ends_with("is longer than 1000 bytes"));
}

#[test]
fn the_first_document_decides_which_field_is_the_id() {
    let found = refused("x.jsonl", b"{\"_id\": 1}\n{\"id\": 2}\n");
    assert_eq!(found, "x.jsonl:2:1: the document has no field `_id`, which holds its id");
    let options = DocumentOptions { id: Some("isbn".into()), ..DocumentOptions::default() };
    let read = |text: &[u8]| open("x.jsonl", text, &options).unwrap().next().unwrap();
    assert_eq!(shown(&read(b"{\"id\": 1, \"isbn\": 5}").unwrap().document), "5 id=1");
    let error = read(b"{\"id\": 1}").unwrap_err().to_string();
    assert_eq!(error, "x.jsonl:1:1: the document has no field `isbn`, which holds its id");
}

#[test]
fn only_wanted_fields_are_kept_and_absent_ones_are_named() {
    let fields = Some(vec!["b".to_owned(), "c.d".to_owned(), "titel".to_owned()]);
    let options = DocumentOptions { fields, ..DocumentOptions::default() };
    let text = b"{\"id\": 1, \"a\": 2, \"b\": 3}\n{\"id\": \"4 5\", \"c\": {\"d\": 6, \"e\": 7}}\n";
    let mut documents = open("x.jsonl", text, &options).unwrap();
    let read: Vec<_> = documents.by_ref().map(|found| shown(&found.unwrap().document)).collect();
    assert_eq!(read, ["1 b=3", "4 5 c.d=6"]);
    assert_eq!(documents.summary().absent_fields, ["titel"]);
    let notes = documents.summary().notes();
    assert!(notes[0].starts_with("1 id has white space"), "{notes:?}");
    assert_eq!(notes.len(), 1);
    let absence = documents.summary().absence().unwrap();
    assert_eq!(absence, "no document has a field `titel`; besides their ids, documents have a, b, c.d, c.e");
}

#[test]
fn names_that_fields_cannot_have_are_changed() {
    let text = b"{\"id\": 1, \"Unit Price\": 2}\n{\"id\": 2, \"Unit Price\": 3, \"whole\": 4}\n";
    let mut documents = open("x.jsonl", text, &DocumentOptions::default()).unwrap();
    let read: Vec<_> = documents.by_ref().map(|found| shown(&found.unwrap().document)).collect();
    assert_eq!(read, ["1 Unit_Price=2", "2 Unit_Price=3 field_whole=4"]);
    assert_eq!(
        documents.summary().notes(),
        [
            "names of fields have letters, digits, `_`, `-` and `.` only, so `Unit Price` is `Unit_Price`, `whole` is `field_whole`"
        ]
    );
    for (one, other) in
        [("Unit Price", "Unit_Price"), ("Unit Price", "Unit/Price"), ("Unit_Price", "Unit Price")]
    {
        let text = format!("{{\"id\": 1, \"{one}\": 2}}\n{{\"id\": 2, \"{other}\": 3}}\n");
        let mut documents = open("x.jsonl", text.as_bytes(), &DocumentOptions::default()).unwrap();
        documents.next().unwrap().unwrap();
        let error = documents.next().unwrap().unwrap_err().to_string();
        assert!(error.contains("would both be called `Unit_Price`"), "{error}");
    }
    let both = b"{\"id\": 1, \"a_b\": 1, \"a b\": 2}\n";
    assert!(refused("x.jsonl", both).contains("the fields `a b` and `a_b` would both be called `a_b`"));
}

#[test]
fn only_the_first_messages_are_kept() {
    let (read, summary) = skipping("x.jsonl", b"{\"id\": 0}\n");
    assert_eq!((read.unwrap().len(), summary.notes()), (1, vec![]));
    let text = "oops\n".repeat(100) + "{\"id\": 1}\n";
    let (read, summary) = skipping("x.jsonl", text.as_bytes());
    assert_eq!((read.unwrap().len(), summary.skipped, summary.messages.len()), (1, 100, 5));
    assert_eq!(summary.notes(), ["100 malformed documents were left out; the first 5:"]);
}

#[test]
fn files_without_documents_are_refused() {
    let refusals = [
        ("x.jsonl", &b""[..], "x.jsonl is empty; expected documents"),
        ("x.csv", b"\xef\xbb\xbf", "x.csv is empty; expected a header and rows"),
        ("x.jsonl", b" \n\r\n", "x.jsonl is empty; expected documents"),
        ("x.csv", b"id,title\n", "x.csv has no documents"),
        ("x.trec", b"<root>\n</root>\n", "x.trec has no documents"),
    ];
    for (name, bytes, message) in refusals {
        assert_eq!(refused(name, bytes), message);
    }
    let (read, _) = skipping("x.jsonl", b"a\n");
    let message = read.unwrap_err().to_string();
    assert!(message.starts_with("x.jsonl has no document that can be read: x.jsonl:1:1: not a"), "{message}");
    let (read, _) = skipping("x.jsonl", b"a\nb\n");
    let message = read.unwrap_err().to_string();
    assert!(
        message.starts_with("x.jsonl has no document that can be read; 2 are malformed, first x.jsonl:1:1: ")
    );
}

#[test]
fn a_line_of_100_megabytes_is_refused_or_left_out_or_read() {
    let long = |text: &[u8]| {
        let line =
            Cursor::new(b"{\"id\": 1, \"t\": \"".to_vec()).chain(std::io::repeat(b'x').take(100 << 20));
        Source::new("x", line.chain(Cursor::new([b"\"}\n", text].concat()))).unwrap()
    };
    let mut options = DocumentOptions { on_error: OnError::Skip, ..DocumentOptions::default() };
    let mut documents = Documents::from_source(long(b"{\"id\": 2}\n"), &options).unwrap();
    assert_eq!(documents.next().unwrap().unwrap().document.id, "2");
    assert!(documents.next().is_none());
    assert_eq!(documents.summary().messages, ["x:1:1: the line is longer than 67108864 bytes"]);
    options.longest = 1 << 30;
    let mut documents = Documents::from_source(long(b""), &options).unwrap();
    assert_eq!(documents.next().unwrap().unwrap().document.fields[0].1.to_text().len(), 100 << 20);
}

#[test]
fn a_file_without_documents_can_be_left_out_if_others_have_some() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let (bad, empty, good) =
        (file("bad.jsonl", "oops\n"), file("empty.jsonl", ""), file("good.jsonl", "{\"id\": 7}\n"));
    let options = DocumentOptions { on_error: OnError::Skip, ..DocumentOptions::default() };
    let mut documents = Documents::open(&[&bad, &empty, &good], &options).unwrap();
    assert_eq!(documents.by_ref().map(|found| found.unwrap().document.id).collect::<Vec<_>>(), ["7"]);
    let notes = documents.summary().notes();
    assert_eq!(notes[0], "1 malformed document was left out");
    assert!(notes[1].contains("bad.jsonl has no document that can be read: "), "{notes:?}");
    assert!(notes[2].ends_with("empty.jsonl is empty; expected documents"), "{notes:?}");
    let read = |paths: &[&std::path::PathBuf], options: &DocumentOptions| {
        Documents::open(paths, options)
            .unwrap()
            .collect::<Result<Vec<_>>>()
            .map(drop)
            .unwrap_err()
            .to_string()
    };
    let none = read(&[&empty, &bad, &empty], &options);
    assert!(none.ends_with("is empty; expected documents; the other 2 have none either"), "{none}");
    assert!(read(&[&empty, &good], &DocumentOptions::default()).ends_with("is empty; expected documents"));
}

#[test]
fn whole_numbers_in_json_have_no_decimal_point() {
    let json = |number: f64| Value::Number(number).to_json().to_string();
    assert_eq!([2022.0, -3.0, 2.5, f64::NAN, 1e17].map(json), ["2022", "-3", "2.5", "null", "1e+17"]);
}
