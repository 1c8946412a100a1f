//! Readers are given damaged copies of valid files. They must not panic, errors must point to a place that exists, and
//! leaving out what is malformed must not lose what comes before it.
//!
//! `RANKWISE_FUZZ_CASES` sets the number of cases for each reader.

use super::{DocumentFormat, DocumentOptions, Documents, NamedQuery, OnError, QueryFormat, queries_from};
use super::{PlacedDocument, page};
use rand::RngExt;
use rankwise::data::Source;
use rankwise::{Error, Result, rng};

/// Pieces inserted into files.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"\"\"",
    b",",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b" ",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\xef\xbb\xbf",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"null",
    b"true",
    b"1e99",
    b"1e999",
    b"-",
    b"0",
    b"99999999999999999999",
    b"<",
    b">",
    b"</",
    b"<DOC>",
    b"</DOC>",
    b"<top>",
    b"<!--",
    b"-->",
    b"<![CDATA[",
    b"]]>",
    b"<DOCNO>",
    b"</docno>",
    b"&amp;",
    b"&#x110000;",
    b"&",
    b";",
    b"id",
    b"title",
    b"\"id\"",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
];

const JSON: &[&str] = &[
    "{\"id\": 7, \"title\": \"A\\u00e9 b\", \"year\": 1958, \"cites\": [\"1\", 2, null], \"ok\": true}\n\
     {\"id\": \"x y\", \"author\": {\"name\": \"B\", \"born\": 1.5e3}, \"parts\": [{\"n\": 1}, {\"n\": \"two\"}], \"z\": null}\r\n\n\
     {\"id\":\"3\",\"body\":\"\"}",
    "{\"_id\": 1, \"text\": \"a\"}\n{\"_id\": 2, \"text\": \"b\"}\n",
];
const TABLES: &[&str] =
    &["id,title,body\n7,\"A \"\"b\"\"\n c\",d\n8,,\r\n9,x,y\n", "title,docno\r\n\r\na,1\r\nb,\"2\"\r\n"];
const TREC: &[&str] = &[
    "<DOC>\n<DOCNO> FT-1 </DOCNO>\n<HEAD>A &amp; b</HEAD>\n<HEAD>c</HEAD>\n<TEXT>\n<P>d < e</P>\n<!-- x -->f\n</TEXT>\n</DOC>\n\
     <DOC>\n<DOCNO>FT-2</DOCNO><P>g<P>h\n</DOC>\n",
    "<doc id=\"1\" title='t'>bare</doc><doc id=2>\n<![CDATA[<x>]]></doc>\n<DOC><DOCNO>3<TEXT>unclosed\n<DOC><DOCNO>4</DOC>",
];
const QUERIES: &[&str] = &[
    "301\torganized crime\n302\tpolio \tnow\r\n\n303\tx\n",
    "time sharing\nparallel sorting\r\n",
    "{\"qid\": 1, \"query\": \"a b\"}\n{\"id\": \"x\", \"title\": \"c\", \"description\": \"d\"}\n",
    "<top>\n<num> Number: 051\n<title> Topic: Airbus\n<desc> Description:\nmore\n</top>\n<topic number=\"2\"><query>x</query></topic>",
];

/// The number of cases: what `RANKWISE_FUZZ_CASES` says, or `usual`.
fn cases(usual: u64) -> u64 {
    std::env::var("RANKWISE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// A copy of `seed` with a few bytes removed, repeated, flipped or replaced by a piece.
fn damaged(seed: &[u8], random: &mut impl RngExt) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..random.random_range(1..5) {
        let at = random.random_range(0..=bytes.len());
        let to = random.random_range(at..=bytes.len().min(at + 12));
        match random.random_range(0..6) {
            0 if random.random_range(0..4) == 0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..to)),
            2 => {
                let copy = bytes[at..to].to_vec();
                let place = random.random_range(0..=bytes.len());
                bytes.splice(place..place, copy);
            }
            3 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
            _ => drop(bytes.splice(at..to, PIECES[random.random_range(0..PIECES.len())].iter().copied())),
        }
    }
    bytes
}

/// Runs `read` on damaged copies of `seeds`. Some must be accepted and some refused.
fn fuzz<T>(stream: u64, seeds: &[&str], read: impl Fn(&[u8]) -> Result<T>) {
    let mut random = rng::stream(17, &[stream]);
    let (mut accepted, mut refused) = (0u64, 0u64);
    for case in 0..cases(20_000) {
        let bytes = damaged(seeds[case as usize % seeds.len()].as_bytes(), &mut random);
        match read(&bytes) {
            Ok(_) => accepted += 1,
            Err(error) => {
                refused += 1;
                check(&error, &bytes);
            }
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}

fn check(error: &Error, bytes: &[u8]) {
    let message = error.to_string();
    assert!(message.len() < 1000 && !message.contains(char::is_control), "{message:?}");
    let Some(place) = error.place() else { return };
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let line = text.split(|b| *b == b'\n').nth(place.line as usize - 1);
    let exists = line.is_some_and(|line| (1..=line.len() as u64 + 1).contains(&place.column));
    assert!(exists, "{error} in {:?}", String::from_utf8_lossy(bytes));
}

fn documents(bytes: &[u8], format: DocumentFormat, on_error: OnError) -> Result<Documents> {
    let source = Source::new("x", std::io::Cursor::new(bytes.to_vec()))?;
    Documents::from_source(
        source,
        &DocumentOptions { format: Some(format), on_error, ..DocumentOptions::default() },
    )
}

/// All documents, after the same file was read without what is malformed.
fn read_documents(bytes: &[u8], format: DocumentFormat) -> Result<Vec<PlacedDocument>> {
    let mut stopping = documents(bytes, format, OnError::Stop)?;
    let mut until_error = Vec::new();
    let mut end = Ok(());
    for found in stopping.by_ref() {
        match found {
            Ok(found) => until_error.push(found),
            Err(error) => end = Err(error),
        }
    }
    let mut skipping = documents(bytes, format, OnError::Skip)?;
    let skipped: Vec<PlacedDocument> = skipping.by_ref().map_while(Result::ok).collect();
    assert_eq!(skipped[..until_error.len()], until_error);
    for found in &skipped {
        assert!(!found.document.id.trim().is_empty() && !found.document.id.contains(char::is_control));
        check(&Error::parse(found.place.clone(), "the document"), bytes);
    }
    let summary = skipping.summary();
    assert_eq!(summary.documents, skipped.len() as u64);
    match &end {
        Err(error) if summary.skipped > 0 => assert_eq!(summary.messages[0], error.to_string()),
        Err(_) => {}
        Ok(()) => assert_eq!((summary.skipped, skipped.len()), (0, until_error.len())),
    }
    end.map(|()| until_error)
}

#[test]
fn damaged_json_lines_never_cause_a_panic() {
    fuzz(1, JSON, |bytes| read_documents(bytes, DocumentFormat::JsonLines));
}

#[test]
fn damaged_tables_never_cause_a_panic() {
    fuzz(2, TABLES, |bytes| read_documents(bytes, DocumentFormat::Csv));
    let tabs: Vec<String> = TABLES.iter().map(|seed| seed.replace(',', "\t")).collect();
    let tabs: Vec<&str> = tabs.iter().map(String::as_str).collect();
    fuzz(3, &tabs, |bytes| read_documents(bytes, DocumentFormat::Tsv));
}

#[test]
fn damaged_trec_files_never_cause_a_panic() {
    fuzz(4, TREC, |bytes| read_documents(bytes, DocumentFormat::Trec));
}

#[test]
fn damaged_queries_never_cause_a_panic() {
    for (stream, seed) in QUERIES.iter().enumerate() {
        fuzz(10 + stream as u64, &[seed], |bytes| -> Result<Vec<NamedQuery>> {
            queries_from(Source::new("x", std::io::Cursor::new(bytes.to_vec()))?, None)
        });
    }
    let mixed: Vec<&str> = QUERIES.to_vec();
    fuzz(20, &mixed, |bytes| {
        queries_from(Source::new("x", std::io::Cursor::new(bytes.to_vec()))?, Some(QueryFormat::Trec))
    });
}

#[test]
fn damaged_files_of_unknown_format_never_cause_a_panic() {
    let seeds = [JSON, TABLES, TREC].concat();
    fuzz(5, &seeds, |bytes| {
        let source = Source::new("x", std::io::Cursor::new(bytes.to_vec()))?;
        Documents::from_source(source, &DocumentOptions::default())?.collect::<Result<Vec<_>>>()
    });
}

#[test]
fn damaged_pages_never_cause_a_panic() {
    let seed = "<html><head><title>A &amp; b</title><script>x < y</script></head><h1>c</h1><!-- d --><p>e&nbsp;f<br>g</p>\n\
                # h\n```\ni\n```\nj\n===\n";
    let mut random = rng::stream(17, &[6]);
    for _ in 0..cases(20_000) {
        let bytes = damaged(seed.as_bytes(), &mut random);
        let text = String::from_utf8_lossy(&bytes);
        let page = page::html(&text);
        assert!(!page.body.contains("  ") && page.body.trim() == page.body, "{:?}", page.body);
        assert!(page::markdown(&text).title.is_none_or(|title| !title.is_empty()));
    }
}
