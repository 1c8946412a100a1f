//! Tables, TREC files, and which format a file has.

use super::{open, read, refused, skipping};
use crate::document::{DocumentFormat, DocumentOptions, OnError};

#[test]
fn tables_with_quotes_and_line_ends() {
    let text = "id,\"the \"\"title\"\"\",body\r\n1,\"a, \"\"b\"\"\nc\",d\r\n\r\n 2 , e ,\n";
    let expected = ["1 the__title_=\"a, \\\"b\\\"\\nc\" body=\"d\"", "2 the__title_=\"e\""];
    assert_eq!(read("x.csv", text.as_bytes()).unwrap(), expected);
    let tabs = "title\tdocno\n5\" disk\t1\n\"a\tb\"\t2\n";
    assert_eq!(read("x.tsv", tabs.as_bytes()).unwrap(), ["1 title=\"5\\\" disk\"", "2 title=\"a\\tb\""]);
}

#[test]
fn malformed_rows_are_placed_and_can_be_left_out() {
    for (row, message) in [
        (&b"1,a"[..], "x.csv:2:3: the row has 2 fields, but the header has 3 columns"),
        (b"1,a,b,c,d", "x.csv:2:7: the row has 5 fields, but the header has 3 columns"),
        (b",a,b", "x.csv:2:1: the id, `id`, is empty"),
        (b"1,\"\n\xff\",b", "x.csv:2:3: `\u{fffd}` is not UTF-8 text"),
    ] {
        let text = [b"id,title,body\n", row, b"\n9,x,y\n"].concat();
        assert_eq!(refused("x.csv", &text), message);
        let (read, summary) = skipping("x.csv", &text);
        assert_eq!((read.unwrap(), summary.skipped), (vec!["9 title=\"x\" body=\"y\"".to_owned()], 1));
    }
}

#[test]
fn a_quote_that_is_not_closed_stops_even_when_skipping() {
    let text = b"id,title\n1,a\n2,\"b\n3,c\n";
    let options = DocumentOptions { on_error: OnError::Skip, ..DocumentOptions::default() };
    let error = open("x.csv", text, &options).err().unwrap().to_string();
    assert_eq!(error, "x.csv:3:3: the quote that opens here is not closed");
}

#[test]
fn row_numbers_of_pandas_are_left_out() {
    assert_eq!(read("x.csv", b",id,title\n0,a,wren\n1,b,\n").unwrap(), ["a title=\"wren\"", "b"]);
}

#[test]
fn headers_are_checked() {
    assert_eq!(refused("x.csv", b"id,,body\n1,2,3\n"), "column 2 of x.csv has no name in the header");
    assert!(refused("x.csv", b"id;title\n1;2\n").contains("separated by semicolons"));
    assert!(refused("x.csv", b"id,title,id\n1,2,3\n").contains("more than one `id`"));
}

#[test]
fn trec_documents_have_tags_as_fields() {
    let text = "<?xml version=\"1.0\"?>\n<root>\n<DOC>\n<DOCNO> FT911-3 </DOCNO>\n<HEADLINE>\nFT  14 MAY 91 / A &amp; B\n</HEADLINE>\n\
        <TEXT>\n<P>One <F P=102>two</F></P>\n\n<!-- no -->three < 4\n</TEXT>\n<TEXT>more</TEXT>\n<BYLINE></BYLINE>\n</DOC>\n</root>\n";
    let expected = "FT911-3 text=\"One\\ntwo\\n\\nthree < 4\\nmore\" headline=\"FT  14 MAY 91 / A & B\"";
    let read = read("x.sgml", text.as_bytes()).unwrap();
    assert_eq!(read.len(), 1);
    let fields = |text: &str| {
        let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        words.sort();
        words
    };
    assert_eq!(fields(&read[0].replace("\\n\\n", "\\n")), fields(&expected.replace("\\n\\n", "\\n")));
}

#[test]
fn odd_trec_documents_are_read() {
    for (text, expected) in [
        ("<doc><docno>1</docno><text>a</text></doc>", &["1 text=\"a\""][..]),
        ("<DOC><DOCNO>1</DOCNO>bare text</DOC>", &["1 text=\"bare text\""]),
        ("<DOC><DOCNO>1<TITLE>b<AUTHOR>c\n</DOC>", &["1 title=\"b\" author=\"c\""]),
        ("<DOC><DOCNO>1</DOCNO><P>a<P>b</DOC>", &["1 p=\"a\\nb\""]),
        (
            "<DOC><DOCNO>1</DOCNO><TEXT>a\n<DOC>\n<DOCNO>2</DOCNO><TEXT>b</TEXT></DOC>",
            &["1 text=\"a\"", "2 text=\"b\""],
        ),
        ("<DOC><DOCNO>1</DOCNO></DOC> <DOC><DOCNO>2</DOCNO></DOC>", &["1", "2"]),
        (
            "<doc id=\"12\" url=\"http://x/?a=1\" title=\"A &amp; B\">\ntext</doc>",
            &["12 url=\"http://x/?a=1\" title=\"A & B\" text=\"text\""],
        ),
        ("<DOC>\n<DOCNO>1</DOCNO><![CDATA[<b> & x]]></DOC>", &["1 text=\"<b> & x\""]),
        ("<DOC><DOCNO>1</DOCNO><TEXT>a</TEX>b</TEXT></DOC>", &["1 text=\"a\\nb\""]),
        (
            "<DOC><DOCNO>1</DOCNO><TEXT>&hyph;&blank;x &bogus; 1 < 2 <3></TEXT></DOC>",
            &["1 text=\"- x &bogus; 1 < 2 <3>\""],
        ),
        (
            "<DOCS>\n<DOCUMENT>\n<DOC>\n<DOCNO>1</DOCNO>\n<DOCTYPE>x</DOCTYPE></DOC>\n</DOCS>",
            &["1 doctype=\"x\""],
        ),
    ] {
        assert_eq!(read("x", text.as_bytes()).unwrap(), expected, "{text}");
    }
}

#[test]
fn malformed_trec_documents_are_placed_and_can_be_left_out() {
    let good = "<DOC><DOCNO>9</DOCNO></DOC>\n";
    for (text, message) in [
        (&b"<DOC>\n<TEXT>a</TEXT>\n</DOC>\n"[..], "x:1:1: the document has no id"),
        (
            b"<DOC>\n<DOCNO>1</DOCNO>\n<TEXT>a\xff</TEXT>\n</DOC>\n",
            "x:3:8: `\u{fffd}</TEXT>\\n` is not UTF-8 text",
        ),
        (b"  stray <DOC><DOCNO>8</DOCNO></DOC>\n", "x:1:3: text between the elements of the file: `stray `"),
    ] {
        let text = [text, good.as_bytes()].concat();
        let options = DocumentOptions { format: Some(DocumentFormat::Trec), ..DocumentOptions::default() };
        let error = open("x", &text, &options).unwrap().find_map(Result::err).unwrap().to_string();
        assert!(error.starts_with(message), "{error}");
        let options = DocumentOptions { on_error: OnError::Skip, ..options };
        let mut documents = open("x", &text, &options).unwrap();
        let ids: Vec<_> = documents.by_ref().map(|found| found.unwrap().document.id).collect();
        assert_eq!(ids.last().unwrap(), "9");
        assert_eq!(ids.len(), if message.contains("between") { 2 } else { 1 });
        assert_eq!(documents.summary().skipped, 1);
    }
}

#[test]
fn a_trec_document_that_is_too_long_is_left_out() {
    let text =
        format!("<DOC><DOCNO>1</DOCNO>\n{}</DOC>\n<DOC><DOCNO>2</DOCNO></DOC>\n", "word\n".repeat(100));
    let options = DocumentOptions { on_error: OnError::Skip, longest: 200, ..DocumentOptions::default() };
    let mut documents = open("x", text.as_bytes(), &options).unwrap();
    assert_eq!(documents.by_ref().map(|found| found.unwrap().document.id).collect::<Vec<_>>(), ["2"]);
    assert_eq!(
        documents.summary().messages,
        ["x:1:1: the element that starts here is longer than 200 bytes"]
    );
}

#[test]
fn a_trec_file_that_was_cut_short_is_refused() {
    let text = "<DOC><DOCNO>1</DOCNO></DOC>\n<DOC>\n<DOCNO>2</DOCNO><TEXT>The end is";
    let message = "x:2:1: the element that starts here is not closed; the file may have been cut short";
    assert_eq!(refused("x", text.as_bytes()), message);
    let (read, summary) = skipping("x", text.as_bytes());
    assert_eq!((read.unwrap(), summary.messages), (vec!["1".to_owned()], vec![message.to_owned()]));
}

/// A hundred thousand tags that are never closed take seconds if each is looked for up to the end.
#[test]
fn many_open_tags_take_linear_time() {
    let body = ["<p>", "<!--", "<![CDATA[", "<", "<a b", "&"].map(|piece| piece.repeat(200_000)).concat();
    let text = format!("<DOC><DOCNO>1</DOCNO>{body}</DOC>");
    assert_eq!(read("x", text.as_bytes()).unwrap().len(), 1);
    assert!(crate::document::page::html(&body).body.len() > 200_000);
}

#[test]
fn the_format_is_seen_from_the_content() {
    for (text, expected) in [
        ("  {\"id\": 1}", "1"),
        ("title\tID\na\t1\n", "1 title=\"a\""),
        ("\"docid\",title\n1,a\n", "1 title=\"a\""),
        ("<!-- x --><doc id=1>a</doc>", "1 text=\"a\""),
    ] {
        assert_eq!(read("<stdin>", text.as_bytes()).unwrap(), [expected], "{text}");
    }
    for text in ["once upon a time", "<html>", "name,title\n1,2\n"] {
        let message = refused("<stdin>", text.as_bytes());
        assert!(message.starts_with("the format of <stdin> is not clear"), "{message}");
        assert!(message.ends_with("`jsonl`, `csv`, `tsv` or `trec`"), "{message}");
    }
    let json_called_csv = refused("x.csv", b"{\"id\": 1, \"a\": 2}\n{\"id\": 2, \"a\": 3}\n");
    assert!(json_called_csv.starts_with("x.csv:2:"), "{json_called_csv}");
}
