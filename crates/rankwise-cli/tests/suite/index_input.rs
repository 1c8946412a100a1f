//! What `index` and `search` say about input that is not as it should be.

use crate::place::{Place, text};
use std::io::Write;
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

const TWO: &str = "{\"id\": 1, \"title\": \"wren\", \"day\": \"2024-05-17\"}\n{\"id\": 2, \"title\": \"owl\", \"year\": 2022}\n";

fn indexed() -> Place {
    let place = Place::new();
    place.write("two.jsonl", TWO);
    place.ok("index two.jsonl -o k.idx");
    place
}

#[test]
fn documents_that_do_not_fit_are_placed_and_can_be_skipped() {
    let place = indexed();
    place.write("more.jsonl", "{\"id\": 3, \"day\": \"soon\"}\n{\"id\": 4, \"title\": \"crow\"}\n");
    let error = place.fails("index more.jsonl --add -o k.idx");
    assert!(error.contains("more.jsonl:1:1: field `day` of document `3`"), "{error}");
    let (out, error) = place.both("index more.jsonl --add -o k.idx --on-error skip");
    assert!(out.contains("1 added"), "{out}");
    assert!(
        error.contains("1 malformed document was left out") && error.contains("more.jsonl:1:1:"),
        "{error}"
    );
    place.write("again.jsonl", format!("{TWO}\n{TWO}"));
    let error = place.fails("index again.jsonl -o a.idx");
    assert!(
        error.contains("again.jsonl:4:1: two documents have the id `1`, the first is at again.jsonl:1"),
        "{error}"
    );
    assert!(error.contains("hint: use --duplicates keep-first or --duplicates replace"), "{error}");
    assert!(!place.path("a.idx").exists());
}

#[test]
fn tables_of_pandas_are_indexed_as_they_are() {
    let place = Place::new();
    place.write("shop.csv", ",id,Product Name,Unit Price,note\n0,a,Red shoes,7.5,\n1,b,Blue shoes,,\n");
    let (out, notes) = place.both("index shop.csv -o shop.idx");
    assert!(notes.contains("`Product Name` is `Product_Name`, `Unit Price` is `Unit_Price`"), "{notes}");
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    for field in ["Product_Name text, english", "Unit_Price number", "note text, english"] {
        assert!(words.contains(field), "{out}");
    }
    assert!(place.ok("search shop.idx red shoes").contains("Red shoes"));
    place.ok("index shop.csv -o named.idx --fields Product_Name,note:text");
    let error = place.fails("index shop.csv --add -o shop.idx --analyzer german");
    assert!(error.contains("--analyzer are for new ones"), "{error}");
    place.write("gone.txt", "a\n");
    let run = place
        .command("index --delete - -o shop.idx")
        .stdin(std::fs::File::open(place.path("gone.txt")).unwrap())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&run.stdout).contains("1 deleted"), "{run:?}");
}

#[test]
fn the_flag_decides_how_large_a_document_may_be() {
    let place = Place::new();
    let line = |id: u32, mebibytes: usize| {
        format!(
            "{{\"id\": {id}, \"title\": \"{}\"}}\n",
            "word ".repeat(mebibytes << 20).get(..mebibytes << 20).unwrap()
        )
    };
    place.write("large.jsonl", line(1, 20));
    let error = place.fails("index large.jsonl -o k.idx");
    assert!(error.contains("large.jsonl:1:1: document `1` has 20.0 MiB of text"), "{error}");
    assert!(error.contains("hint: use --max-document MIB") && !error.contains("document_bytes"), "{error}");
    place.write("huge.jsonl", line(2, 70));
    let error = place.fails("index huge.jsonl -o k.idx");
    assert!(
        error.contains("huge.jsonl:1:1: the line is longer than 67108864 bytes; --max-document allows"),
        "{error}"
    );
    place.write("two.jsonl", TWO);
    let (out, error) = place.both("index huge.jsonl two.jsonl large.jsonl -o k.idx --on-error skip");
    assert!(
        out.contains("2 added") && error.contains("huge.jsonl has no document that can be read"),
        "{out}{error}"
    );
    assert!(error.contains("2 malformed documents were left out"), "{error}");
    assert!(place.fails("index huge.jsonl -o n.idx --on-error skip").contains("huge.jsonl has no document"));
    assert!(!place.path("n.idx").exists());
    place.ok("index huge.jsonl -o h.idx --max-document 80");
}

#[test]
fn fields_that_no_document_has_are_refused() {
    let place = Place::new();
    place.write("two.jsonl", TWO);
    for flags in ["--fields title,nope", "--links nope"] {
        let error = place.fails(&format!("index two.jsonl -o k.idx {flags}"));
        let expected = "no document has a field `nope`; besides their ids, documents have title, day, year";
        assert!(error.contains(expected) && !error.contains("note:"), "{error}");
        assert!(!place.path("k.idx").exists());
    }
}

#[test]
fn a_process_that_was_killed_is_no_obstacle_and_one_that_runs_is() {
    let place = Place::new();
    place.write("two.jsonl", TWO);
    let mut first =
        place.command("index - -o k.idx").stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = first.stdin.take().unwrap();
    let started = Instant::now();
    // More than is looked at to find the fields, and no end.
    for number in 0..3000 {
        writeln!(input, "{{\"id\": {number}, \"title\": \"wren\"}}").unwrap();
    }
    while !place.path("k.idx/meta.json").exists() {
        assert!(started.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(10));
    }
    let error = place.fails("index two.jsonl -o k.idx");
    assert!(error.contains("is being written by another process"), "{error}");
    first.kill().unwrap();
    first.wait().unwrap();
    place.ok("index two.jsonl -o k.idx");
    let error = place.fails("index two.jsonl -o k.idx");
    assert!(
        error.contains("there is already an index in k.idx; add to it, or delete the directory first"),
        "{error}"
    );
    assert!(error.contains("hint: use --add to add to it"), "{error}");
}

#[test]
fn queries_that_cannot_be_read_have_a_hint() {
    let place = indexed();
    for query in ["O'Brien", "it's a lighthouse: why?"] {
        let error = place.fails(&["search", "k.idx", query]);
        assert!(error.contains("hint: use --syntax words, which takes any text"), "{error}");
        place.ok(&["search", "k.idx", query, "--syntax", "words"]);
    }
    let error = place.fails("search k.idx wren --k1 -1");
    assert!(error.contains("k1") && !error.contains("unexpected argument"), "{error}");
    assert!(place.fails("search k.idx wren --b -0.5").contains('b'));
}

#[test]
fn queries_without_ids_are_noted() {
    let place = indexed();
    place.write("q.tsv", "wren\n");
    let (run, error) = place.both("search k.idx --queries q.tsv");
    assert!(run.starts_with("1 Q0 1 1 "), "{run}");
    assert!(error.contains("q.tsv has no tabs: its lines are taken as texts, numbered from 1"), "{error}");
    place.write("q.tsv", "7\twren\n");
    assert!(!place.both("search k.idx --queries q.tsv").1.contains("numbered"));
}

#[test]
fn a_trec_file_that_was_cut_short_is_refused() {
    let place = Place::new();
    place.write("cut.sgml", "<DOC><DOCNO>1</DOCNO><TEXT>a</TEXT></DOC>\n<DOC><DOCNO>2</DOCNO><TEXT>The");
    let error = place.fails("index cut.sgml -o k.idx");
    assert!(error.contains("cut.sgml:2:1: the element that starts here is not closed"), "{error}");
    assert!(place.ok("index cut.sgml -o k.idx --on-error skip").contains("1 added"));
}

#[test]
fn documents_without_the_id_field_are_named() {
    let place = Place::new();
    place.write("noid.jsonl", "{\"id\": 1, \"a\": \"b\"}\n{\"a\": \"c\"}\n");
    let error = place.fails("index noid.jsonl -o k.idx");
    assert!(error.contains("noid.jsonl:2:1: the document has no field `id`, which holds its id"), "{error}");
}

#[test]
fn whole_numbers_stay_whole_in_json() {
    let place = indexed();
    let output = place.run("search k.idx owl --json");
    assert!(text(&output.stdout).contains("\"year\": 2022\n"), "{}", text(&output.stdout));
}
