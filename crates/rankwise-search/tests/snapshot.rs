//! Queries in the full syntax, documents, and snippets.

mod common;

use common::{Built, Change, Texts, schema};
use rankwise_search::{
    Analyzer, Bm25, Document, Field, Index, Query, QueryContent, Schema, Snapshot, Snippet, Value,
};

fn texts(fields: &[(&str, &str)]) -> Texts {
    fields.iter().map(|(name, text)| (name.to_string(), text.to_string())).collect()
}

fn animals() -> Built {
    let put = |number, fields: &[(&str, &str)]| Change::Put(number, texts(fields));
    Built::by_changes(
        &schema(),
        &[
            put(1, &[("title", "The quick dog"), ("body", "dogs run"), ("tag", "A7")]),
            put(2, &[("title", "A quick cat"), ("body", "the cat sleeps")]),
            Change::Commit,
            put(3, &[("title", "Cat and dog"), ("body", "a cat that is quick, and a dog"), ("tag", "B2")]),
            put(4, &[("note", "nothing else")]),
        ],
    )
}

fn found(snapshot: &Snapshot, query: &str) -> Vec<String> {
    let query = Query::parse(query, snapshot.schema()).unwrap();
    let hits = snapshot.search(&query, &Bm25::default(), 10).unwrap();
    let mut ids: Vec<String> = hits.into_iter().map(|hit| hit.id).collect();
    ids.sort();
    ids
}

#[test]
fn the_full_syntax_decides_what_matches() {
    let snapshot = animals().snapshot();
    for (query, expected) in [
        ("dog", &["d1", "d3"][..]),
        ("dogs", &["d1", "d3"]),
        ("+quick +cat", &["d2", "d3"]),
        ("quick AND cat", &["d2", "d3"]),
        ("quick -cat", &["d1"]),
        ("title:dog", &["d1", "d3"]),
        ("body:dogs", &["d1"]),
        ("\"quick dog\"", &["d1"]),
        ("title:\"cat dog\"~1", &["d3"]),
        ("title:(cat OR sleeps) -body:sleeps", &["d3"]),
        ("tag:A7", &["d1"]),
        ("tag: IN [A7 B2]", &["d1", "d3"]),
        ("_id:d2", &["d2"]),
        ("*", &["d1", "d2", "d3", "d4"]),
        ("* -dog", &["d2", "d4"]),
        ("the", &["d2"]),
        ("title:the", &[]),
        ("", &[]),
        ("nowhere", &[]),
    ] {
        assert_eq!(found(&snapshot, query), expected, "{query}");
    }
}

/// What is ranked by are the words that are not negated, with their boosts.
#[test]
fn the_full_syntax_ranks_by_its_words() {
    let snapshot = animals().snapshot();
    let scores = |query: &Query| -> Vec<(String, f64)> {
        let hits = snapshot.search(query, &Bm25::default(), 10).unwrap();
        hits.into_iter().map(|hit| (hit.id, hit.score)).collect()
    };
    let parsed = |text: &str| scores(&Query::parse(text, snapshot.schema()).unwrap());
    let words = |text: &str| scores(&Query::words(text));
    assert_eq!(parsed("quick dog cat"), words("quick dog cat"));
    assert_eq!(parsed("quick^2 dog"), words("quick quick dog"));
    assert_eq!(parsed("(quick dog)^3 -sleeps").first(), words("quick quick quick dog dog dog").first());
    assert_eq!(
        parsed("\"quick dog\"")[0],
        words("quick dog").into_iter().find(|(id, _)| id == "d1").unwrap()
    );
    let by_id: Vec<(String, f64)> = ["d1", "d2", "d3", "d4"].map(|id| (id.to_owned(), 0.0)).into();
    assert_eq!(parsed("*"), by_id);

    let title = Bm25 { weights: vec![("title".into(), 1.0)], ..Bm25::default() };
    let hits = |query: &Query, bm25| snapshot.search(query, bm25, 10).unwrap();
    let only_title = Query::parse("title:dog", snapshot.schema()).unwrap();
    assert_eq!(
        hits(&Query::words("dog"), &title),
        hits(&Query::parse("dog", snapshot.schema()).unwrap(), &title)
    );
    // With equal lengths of titles, the statistics of the title alone decide.
    assert_eq!(hits(&only_title, &title), hits(&Query::words("dog"), &title));
}

#[test]
fn numbers_and_dates_have_ranges() {
    let directory = tempfile::tempdir().unwrap();
    let schema = Schema::new([
        Field::text("title", Analyzer::English),
        Field::number("price"),
        Field::date("published"),
    ]);
    let index = Index::create(directory.path().join("index"), &schema.unwrap()).unwrap();
    let mut writer = index.writer(Default::default()).unwrap();
    for (id, price, date) in
        [("a", Some(-1.5), "1999-12-31"), ("b", Some(10.0), "2024-05-17"), ("c", None, "2025")]
    {
        let mut fields = vec![
            ("title".to_owned(), Value::Text("a thing".into())),
            ("published".to_owned(), Value::Text(date.into())),
        ];
        fields.extend(price.map(|price| ("price".to_owned(), Value::Number(price))));
        writer.add(Document { id: id.into(), fields }).unwrap();
    }
    writer.commit().unwrap();
    let snapshot = index.snapshot().unwrap();
    for (query, expected) in [
        ("thing AND price:[-2 TO 9.5]", &["a"][..]),
        ("price:>=10", &["b"]),
        ("price:10", &["b"]),
        ("price:*", &["a", "b"]),
        ("thing -price:*", &["c"]),
        ("published:[2000 TO 2024-12-31]", &["b"]),
        ("published:<2024-05-17", &["a"]),
        ("published:[2024-05-17T00:00:00Z TO *]", &["b", "c"]),
        ("published:2025", &["c"]),
    ] {
        assert_eq!(found(&snapshot, query), expected, "{query}");
    }
    for (query, part) in [
        ("price:cheap", "`price` is compared with `cheap`"),
        ("price:[1 TO x}", "`price` is compared with `x`"),
        ("published:[yesterday TO *]", "`yesterday`"),
        ("title:*", "numbers and dates only"),
        ("-thing", "must not have"),
    ] {
        let error = Query::parse(query, snapshot.schema()).unwrap_err().to_string();
        assert!(error.contains(part), "{query}: {error}");
    }

    let values = |id: &str| snapshot.values(snapshot.find(id).unwrap().unwrap()).unwrap();
    assert_eq!(&values("a").fields[1..], [-1.5, 946_598_400.0]);
    assert!(values("a").fields[0].is_nan() && values("a").in_links.is_nan());
    assert!(values("c").fields[1].is_nan());
    assert_eq!(values("c").fields[2], 1_735_689_600.0);
}

#[test]
fn links_are_known_in_every_segment() {
    let directory = tempfile::tempdir().unwrap();
    let schema = Schema::new([Field::text("title", Analyzer::English), Field::links("cites")]).unwrap();
    let index = Index::create(directory.path().join("index"), &schema).unwrap();
    let mut writer = index.writer(Default::default()).unwrap();
    let targets: [(&str, &[&str]); 4] =
        [("d", &["a", "b"]), ("c", &["a"]), ("b", &["a", "nowhere"]), ("a", &[])];
    for (id, cites) in targets {
        let cites = Value::List(cites.iter().map(|id| id.to_string()).collect());
        writer.add(Document { id: id.into(), fields: vec![("cites".into(), cites)] }).unwrap();
        writer.commit().unwrap();
    }
    writer.delete("c").unwrap();
    writer.commit().unwrap();
    let snapshot = index.snapshot().unwrap();
    let mut sum = 0.0;
    for (id, in_links, out_links) in [("a", 2.0, 0.0), ("b", 1.0, 1.0), ("d", 0.0, 2.0)] {
        let values = snapshot.values(snapshot.find(id).unwrap().unwrap()).unwrap();
        assert_eq!((values.in_links, values.out_links), (in_links, out_links), "{id}");
        sum += values.page_rank;
    }
    assert!((sum - 1.0).abs() < 1e-9);
    assert_eq!(snapshot.find("c").unwrap(), None);
}

#[test]
fn documents_come_back_as_they_were_added() {
    let built = animals();
    let snapshot = built.snapshot();
    for (id, texts) in &built.live {
        let address = snapshot.find(id).unwrap().unwrap();
        assert_eq!(snapshot.document(address).unwrap(), common::document(id, texts));
    }
    assert_eq!(snapshot.find("d9").unwrap(), None);
}

#[test]
fn a_snapshot_does_not_see_later_commits() {
    let built = animals();
    let before = built.snapshot();
    let mut writer = built.index.writer(Default::default()).unwrap();
    writer.delete("d1").unwrap();
    writer.commit().unwrap();
    assert_eq!(found(&before, "dog"), ["d1", "d3"]);
    assert_eq!(found(&built.snapshot(), "dog"), ["d3"]);
    assert_eq!(before.len(), 4);
}

#[test]
fn what_a_query_asks_for_is_known() {
    let snapshot = Built::by_changes(
        &Schema::new([Field::text("title", Analyzer::English), Field::number("year")]).unwrap(),
        &[],
    )
    .snapshot();
    let of_words = |text: &str| snapshot.content(&Query::words(text)).unwrap();
    assert_eq!(of_words("a cat"), QueryContent::Words);
    assert_eq!(of_words("the of"), QueryContent::OnlyStopWords);
    assert_eq!(of_words(" ?! "), QueryContent::Nothing);
    let parsed = |text: &str| snapshot.content(&Query::parse(text, snapshot.schema()).unwrap()).unwrap();
    assert_eq!(parsed("year:[1 TO 2] cat"), QueryContent::Words);
    assert_eq!(parsed("year:[1 TO 2] the"), QueryContent::Conditions);
    assert_eq!(parsed(""), QueryContent::Nothing);
    assert_eq!(snapshot.search(&Query::words("cat"), &Bm25::default(), 10).unwrap(), []);
}

#[test]
fn parameters_of_bm25_are_checked() {
    let snapshot = animals().snapshot();
    let message = |k1, b, weights: &[(&str, f64)]| {
        let weights = weights.iter().map(|(name, weight)| (name.to_string(), *weight)).collect();
        snapshot.search(&Query::words("dog"), &Bm25 { k1, b, weights }, 1).unwrap_err().to_string()
    };
    assert!(message(-1.0, 0.5, &[]).starts_with("k1 of BM25 is -1"));
    assert!(message(f64::NAN, 0.5, &[]).starts_with("k1 of BM25 is NaN"));
    assert!(message(1.0, 1.5, &[]).starts_with("b of BM25 is 1.5"));
    assert!(message(1.0, 0.5, &[("titel", 1.0)]).contains("no field called `titel`"));
    assert!(message(1.0, 0.5, &[("year", 1.0)]).contains("not text"));
    assert!(message(1.0, 0.5, &[("tag", 1.0)]).contains("not text"));
    assert!(message(1.0, 0.5, &[("title", 0.0)]).contains("must be above 0"));
    assert!(message(1.0, 0.5, &[("title", 1.0), ("title", 2.0)]).contains("two weights"));
}

/// 10,000 words, in both syntaxes.
#[test]
fn long_queries_are_answered() {
    let text = |number: u32| format!("w{} w{} w{}", number % 9973, number % 101, number % 7);
    let live = (0..2000).map(|number| (format!("{number}"), texts(&[("title", &text(number))]))).collect();
    let snapshot = Built::anew(&schema(), &live).snapshot();
    let words: Vec<String> = (0..10_000).map(|number| format!("w{number}")).collect();
    let hits = snapshot.search(&Query::words(words.join(" ")), &Bm25::default(), 3000).unwrap();
    assert_eq!(hits.len(), 2000);
    let parsed = Query::parse(&words.join(" "), snapshot.schema()).unwrap();
    assert_eq!(snapshot.search(&parsed, &Bm25::default(), 3000).unwrap(), hits);
}

/// A document with this title, beside others.
fn titled(text: &str) -> (Snapshot, Document) {
    let put = |number, title| Change::Put(number, texts(&[("title", title)]));
    let built = Built::by_changes(
        &schema(),
        &[put(1, text), put(2, "common words of titles"), put(3, "common things")],
    );
    let snapshot = built.snapshot();
    let document = snapshot.document(snapshot.find("d1").unwrap().unwrap()).unwrap();
    (snapshot, document)
}

/// The snippet with its highlights in brackets, and … where text is cut off.
fn shown(query: &str, text: &str, width: usize) -> String {
    let (snapshot, document) = titled(text);
    let snippet = snapshot.snippets(&Query::words(query), "title", width).unwrap().of(&document);
    let Snippet { text, highlights, cut_before, cut_after } = snippet;
    assert!(text.chars().count() <= width, "{text}");
    let mut marked = text;
    for range in highlights.into_iter().rev() {
        marked.insert(range.end, ']');
        marked.insert(range.start, '[');
    }
    format!("{}{marked}{}", if cut_before { "…" } else { "" }, if cut_after { "…" } else { "" })
}

#[test]
fn snippets_show_the_rarest_words_together() {
    let text = "Common common common words come first. Later on, the naïve engineers' rankers were learning quickly; the \
                rest of this text is of no interest to anyone.";
    assert_eq!(
        shown("engineer learns", text, 60),
        "…naïve [engineers]' rankers were [learning] quickly; the rest of…"
    );
    assert_eq!(shown("common ranker", text, 20), "…[rankers] were…");
    assert_eq!(shown("nothing", text, 20), "Common common common…");
    assert_eq!(shown("common words", "Common words", 40), "[Common] [words]");
    assert_eq!(shown("the", "The end", 40), "The end");
    assert_eq!(shown("x", "", 40), "");
}

#[test]
fn a_snippet_is_of_the_field_that_shows_most() {
    let text = |name: &str| Field::text(name, Analyzer::English);
    let schema = Schema::new([text("authors"), text("Title"), text("abstract"), text("notes")]).unwrap();
    assert_eq!(schema.heading(), Some("Title"));
    assert_eq!(Schema::new([text("a"), text("b")]).unwrap().heading(), Some("a"));
    assert_eq!(Schema::new([text("title")]).unwrap().heading(), None);
    let fields = [
        ("authors", "A. Wren"),
        ("Title", "owl"),
        ("abstract", "how barn owls hear"),
        ("notes", "of no use"),
    ];
    let built = Built::by_changes(&schema, &[Change::Put(1, texts(&fields))]);
    let snapshot = built.snapshot();
    let document = snapshot.document(snapshot.find("d1").unwrap().unwrap()).unwrap();
    for (query, expected) in [
        ("owl", "how barn owls hear"),
        ("wren", "A. Wren"),
        ("owl wren", "A. Wren"),
        ("wren use", "of no use"),
        ("eagle", "how barn owls hear"),
    ] {
        let snippets = snapshot.snippets_of_all(&Query::words(query), 100).unwrap();
        assert_eq!(snippets.of(&document).text, expected, "{query}");
    }
}

#[test]
fn snippets_never_cut_words_or_characters() {
    let text = "日本語の文章。 Größe und Straße 😀 naïve coöperation e\u{301}tude the end";
    let (snapshot, document) = titled(text);
    for query in ["größe", "naïve end", "coöperation", "zzz", "文"] {
        for width in 0..80 {
            let snippets = snapshot.snippets(&Query::words(query), "title", width).unwrap();
            let Snippet { text: part, highlights, .. } = snippets.of(&document);
            assert!(text.contains(&part));
            let mut last = 0;
            for range in highlights {
                assert!(last <= range.start && part.get(range.clone()).is_some_and(|word| !word.is_empty()));
                last = range.end;
            }
        }
    }
}
