//! What is written reads back the same, in every format.

use proptest::collection::vec;
use proptest::prelude::*;
use rankwise::data::{
    Columns, Dataset, Features, Format, Layout, Loaded, Parts, ReadOptions, read, read_all, write,
};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// A row: label, features, document id and position.
type Row = (f32, Vec<Option<f32>>, String, u32);

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        (-1000i32..1000).prop_map(|i| i as f32),
        (-4.0f32..4.0),
        any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |v| v.is_finite()),
        Just(0.0),
        Just(f32::MIN_POSITIVE),
    ]
}

fn queries(width: usize) -> impl Strategy<Value = Vec<(f32, Vec<Row>)>> {
    let feature = prop_oneof![4 => number().prop_map(Some), 1 => Just(None)];
    let document = "[a-z,\";\t\n\r #é]{0,6}";
    let row = (number(), vec(feature, width), document, 0u32..9);
    vec(((0.0f32..9.0), vec(row, 1..5)), 1..6)
}

/// A data set with everything a table can hold. Query ids end in their number, so that they differ.
fn dataset() -> impl Strategy<Value = Dataset> {
    let shape = (1usize..5).prop_flat_map(|width| (Just(width), queries(width)));
    let choices = (vec(any::<bool>(), 5), 0u32..3, "[a-zé,\"\t\n']{0,3}");
    (shape, choices).prop_map(|((width, queries), (has, first_id, odd))| {
        let rows: Vec<&Row> = queries.iter().flat_map(|(_, rows)| rows).collect();
        let values = rows.iter().flat_map(|r| r.1.iter().map(|v| v.unwrap_or(f32::NAN))).collect();
        let bounds = queries.iter().scan(0, |end, (_, rows)| {
            *end += rows.len();
            Some(*end)
        });
        let names = (0..width).map(|c| format!("n{odd}.{c}")).collect();
        let numbered = Columns { first_id, names: None, ..Columns::default() };
        Dataset::new(Parts {
            features: Features::Dense { width, values },
            labels: rows.iter().map(|r| r.0).collect(),
            bounds: std::iter::once(0).chain(bounds).collect(),
            query_ids: (0..queries.len()).map(|q| format!("{odd}{q}")).collect(),
            columns: if has[0] {
                Columns { first_id: 1, names: Some(names), ..Columns::default() }
            } else {
                numbered
            },
            comments: None,
            document_ids: has[1].then(|| rows.iter().map(|r| r.2.as_str()).collect()),
            query_weights: has[2].then(|| queries.iter().map(|(weight, _)| *weight).collect()),
            positions: has[3].then(|| rows.iter().map(|r| r.3).collect()),
            ..Parts::default()
        })
        .unwrap()
    })
}

/// Missing values become an unlikely number, because NaN does not equal itself.
fn comparable(data: &Dataset) -> Parts {
    let mut parts = data.clone().into_parts();
    for value in parts.features.values_mut() {
        if value.is_nan() {
            *value = 1.2345e-33;
        }
    }
    parts
}

fn written(data: &Dataset, name: &str, options: &ReadOptions) -> (Loaded, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let losses = write(data, &path, None).unwrap();
    (read(&path, options).unwrap(), losses)
}

fn sparse(data: &Dataset) -> Dataset {
    let mut parts = data.clone().into_parts();
    let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..data.len() {
        for (column, value) in data.row(row).iter().filter(|(_, value)| *value != 0.0) {
            columns.push(column as u32);
            values.push(value);
        }
        starts.push(values.len());
    }
    parts.features = Features::Sparse { width: data.width(), starts, columns, values };
    Dataset::new(parts).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn tables_read_back_as_they_were_written(data in dataset()) {
        let names: &[&str] = if cfg!(feature = "parquet") { &["a.csv", "a.tsv", "a.parquet"] } else { &["a.csv", "a.tsv"] };
        for name in names {
            let (loaded, losses) = written(&data, name, &ReadOptions::default());
            prop_assert_eq!(comparable(&loaded.data), comparable(&data), "{}", name);
            prop_assert!(losses.is_empty() && loaded.notes.is_empty());
            let data = sparse(&data);
            let options = ReadOptions { layout: Layout::Sparse, ..ReadOptions::default() };
            prop_assert_eq!(comparable(&written(&data, name, &options).0.data), comparable(&data), "{}", name);
        }
    }
}

/// What LETOR text keeps of a data set, with ids and comments that it can hold.
fn for_letor(data: &Dataset, comments: Vec<String>) -> Dataset {
    let mut parts = data.clone().into_parts();
    parts.query_ids = (0..data.query_count()).map(|q| format!("é,{q}:")).collect();
    parts.columns.names = None;
    (parts.document_ids, parts.query_weights, parts.positions) = (None, None, None);
    let any = comments.iter().take(data.len()).any(|c| !c.is_empty());
    parts.comments = any.then(|| comments.into_iter().take(data.len()).collect());
    Dataset::new(parts).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn letor_text_reads_back_as_it_was_written(
        data in dataset(),
        comments in vec("([a-z=#,é]([a-z =#,é]{0,6}[a-z=#,é])?)?", 20),
    ) {
        let data = for_letor(&data, comments);
        let first_id = Some(data.columns().first_id);
        for (layout, data) in [(Layout::Dense, data.clone()), (Layout::Sparse, sparse(&data))] {
            let options = ReadOptions { layout, first_id, ..ReadOptions::default() };
            let (loaded, losses) = written(&data, "a.txt.gz", &options);
            let (mut found, mut expected) = (comparable(&loaded.data), comparable(&data));
            if let (Features::Sparse { width: found, .. }, Features::Sparse { width, columns, .. }) =
                (&mut found.features, &mut expected.features)
            {
                // Columns at the end without values are not in the text.
                prop_assert_eq!(losses.len(), usize::from(*found < *width));
                *width = columns.iter().max().map_or(0, |c| *c as usize + 1);
            }
            prop_assert_eq!(found, expected);
        }
    }
}

fn two_columns(names: Option<[&str; 2]>) -> Parts {
    Parts {
        features: Features::dense(2, vec![0.5, f32::NAN, 0.0, -1.0]),
        labels: vec![1.0, 0.0],
        bounds: vec![0, 1, 2],
        query_ids: ["a", "b"].into_iter().collect(),
        columns: Columns {
            first_id: 1,
            names: names.map(|n| n.map(String::from).to_vec()),
            ..Columns::default()
        },
        ..Parts::default()
    }
}

fn text_of(parts: Parts, name: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let losses = write(&Dataset::new(parts).unwrap(), &path, None).unwrap();
    (fs::read_to_string(&path).unwrap(), losses)
}

#[test]
fn a_table_looks_as_a_spreadsheet_expects() {
    let mut parts = two_columns(Some(["bm25", "page, rank"]));
    parts.document_ids = Some(["d \"1\"", "d2"].into_iter().collect());
    parts.query_weights = Some(vec![1.0, 0.25]);
    parts.positions = Some(vec![3, 0]);
    parts.comments = Some(["note", ""].into_iter().collect());
    let (text, losses) = text_of(parts, "a.csv");
    let expected = "label,qid,docid,weight,position,bm25,\"page, rank\"\n\
                    1,a,\"d \"\"1\"\"\",1,3,0.5,\n0,b,d2,0.25,,0,-1\n";
    assert_eq!(text, expected);
    assert_eq!(losses, ["tables keep only the document ids of the comments"]);
    assert_eq!(text_of(two_columns(None), "a.tsv").0, "label\tqid\tf1\tf2\n1\ta\t0.5\t\n0\tb\t0\t-1\n");
}

#[test]
fn letor_text_reports_what_it_cannot_keep() {
    let mut parts = two_columns(Some(["x", "y"]));
    parts.query_weights = Some(vec![1.0, 2.0]);
    parts.positions = Some(vec![1, 1]);
    parts.document_ids = Some(["d1", "d2"].into_iter().collect());
    parts.comments = Some(["docid = d1 inc = 1", "seen"].into_iter().collect());
    let (text, losses) = text_of(parts, "a.txt");
    assert_eq!(text, "1 qid:a 1:0.5 2:NaN #docid = d1 inc = 1\n0 qid:b 1:0 2:-1 #docid = d2 seen\n");
    let expected = ["feature names", "query weights", "positions"];
    assert_eq!(losses, expected.map(|what| format!("LETOR text does not keep {what}")));
    let mut parts = two_columns(None);
    parts.features =
        Features::Sparse { width: 9, starts: vec![0, 1, 1], columns: vec![3], values: vec![2.0] };
    let (text, losses) = text_of(parts, "a.txt");
    assert_eq!(text, "1 qid:a 4:2\n0 qid:b\n");
    assert_eq!(losses, ["the last 5 of 9 columns are all 0 and are not in the file"]);
}

#[test]
fn data_that_a_format_would_change_are_refused_and_no_file_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |name: &str, change: fn(&mut Parts)| {
        let mut parts = two_columns(Some(["x", "y"]));
        change(&mut parts);
        write(&Dataset::new(parts).unwrap(), &folder.path().join(name), None).unwrap_err().to_string()
    };
    let error = refusal("a.txt", |p| p.query_ids = ["a", "b c"].into_iter().collect());
    assert!(error.starts_with("the query id `b c` cannot be written to LETOR text"), "{error}");
    assert!(refusal("a.txt", |p| p.query_ids = ["", "b"].into_iter().collect()).contains("query id ``"));
    assert!(refusal("a.txt", |p| p.query_ids = ["a#", "b"].into_iter().collect()).contains("query id `a#`"));
    assert!(
        refusal("a.txt", |p| p.comments = Some(["x\ny", ""].into_iter().collect()))
            .contains("comment `x\\ny`")
    );
    let error = refusal("a.txt", |p| p.document_ids = Some(["x y", ""].into_iter().collect()));
    assert!(error.contains("document id `x y`"), "{error}");
    for bad in ["label", "", " y", "x"] {
        let data = Dataset::new(two_columns(Some(["x", bad]))).unwrap();
        let error = write(&data, &folder.path().join("a.csv"), None).unwrap_err();
        assert!(error.to_string().starts_with(&format!("the feature name `{bad}` cannot")), "{error}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // Readers can be told that this column is a feature, so it is written with a note.
    let data = Dataset::new(two_columns(Some(["x", "weight"]))).unwrap();
    let notes = write(&data, &folder.path().join("a.csv"), None).unwrap();
    assert!(notes[0].starts_with("the feature `weight` has the name of a column"), "{notes:?}");
}

fn files(texts: &[(&str, &str)]) -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let put = |(name, text): &(&str, &str)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let paths = texts.iter().map(put).collect();
    (folder, paths)
}

#[test]
fn missing_values_and_odd_spellings_are_read() {
    let text = "\u{feff} label ,qid,a,b\r\n 1 ,x,,NULL\r\n\r\n0,x,NaN, 2.5 \r\n+2,x,na,null";
    let (_folder, paths) = files(&[("a.csv", text)]);
    let data = read(&paths[0], &ReadOptions::default()).unwrap().data;
    assert_eq!((data.labels(), data.query_count()), (&[1.0, 0.0, 2.0][..], 1));
    let values: Vec<f32> = (0..3).flat_map(|r| [data.row(r).get(0), data.row(r).get(1)]).collect();
    assert_eq!(values.iter().map(|v| v.is_nan()).collect::<Vec<_>>(), [true, true, true, false, true, true]);
    assert_eq!(values[3], 2.5);
}

#[test]
fn tables_are_read_together_when_their_columns_agree() {
    let one = ("1.csv", "label,qid,a,weight\n1,x,1,2\n");
    let (_folder, paths) =
        files(&[one, ("2.csv", "qid,label,a,weight\ny,2,3,1\n"), ("3.csv", "label,qid,b,weight\n1,z,1,1\n")]);
    let data = read_all(&paths[..2], &ReadOptions::default()).unwrap().data;
    assert_eq!((data.labels(), data.query(1).weight()), (&[1.0, 2.0][..], 1.0));
    let error = read_all(&paths, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("3.csv does not have the same columns as "), "{error}");
    let error =
        read_all(&[paths[0].clone(), "x.txt".into()], &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.contains("different formats"), "{error}");
}

#[test]
fn scattered_rows_are_gathered_on_request() {
    let (_folder, paths) = files(&[("a.csv", "label,qid,docid,a\n0,x,d0,0\n1,y,d1,1\n2,x,d2,2\n")]);
    let options = ReadOptions { group: true, ..ReadOptions::default() };
    let loaded = read(&paths[0], &options).unwrap();
    assert_eq!(loaded.data.labels(), [0.0, 2.0, 1.0]);
    assert_eq!(loaded.data.document_id(1), Some("d2"));
    assert_eq!(loaded.notes, ["the rows of 1 query were not adjacent and have been gathered"]);
}

/// Several blocks with line ends in fields, for any number of threads.
#[test]
fn long_tables_read_back_with_any_number_of_threads() {
    let rows = 40_000;
    let data = Dataset::new(Parts {
        features: Features::Dense {
            width: 3,
            values: (0..3 * rows).map(|i| (i % 977) as f32 / 7.0).collect(),
        },
        labels: (0..rows).map(|i| (i % 5) as f32).collect(),
        bounds: (0..=rows).step_by(40).collect(),
        query_ids: (0..rows / 40).map(|q| format!("q\n\"{q}\"")).collect(),
        document_ids: Some((0..rows).map(|i| format!("{}\n,\"{i}", "x".repeat(i % 30))).collect()),
        ..Parts::default()
    })
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv.gz");
    let mut texts = Vec::new();
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            write(&data, &path, None).unwrap();
            texts.push(fs::read(&path).unwrap());
            assert!(read(&path, &ReadOptions::default()).unwrap().data == data, "{threads} threads");
        });
    }
    assert!(texts.windows(2).all(|t| t[0] == t[1]));
}

/// `testdata/tables` has a table as pandas writes it, with its script.
#[test]
fn a_table_of_pandas_is_read_from_csv_and_parquet() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/tables"));
    let names: &[&str] =
        if cfg!(feature = "parquet") { &["pandas.csv", "pandas.parquet"] } else { &["pandas.csv"] };
    for name in names {
        let path = folder.join(name);
        let refused = read(&path, &ReadOptions::default()).unwrap_err().to_string();
        assert!(refused.ends_with("not features can be ignored: `date`, `url`"), "{refused}");
        let mut options = ReadOptions::default();
        options.columns.ignore = vec!["date".into()];
        options.columns.document = Some("url".into());
        let weight = read(&path, &options).unwrap_err().to_string();
        assert!(weight.contains("query `shoes` has the weight 0.5 here but 2.5"), "{weight}");
        options.columns.weight = Some(String::new());
        let loaded = read(&path, &options).unwrap();
        assert!(loaded.notes.len() == 1 && loaded.notes[0].contains("row numbers"), "{:?}", loaded.notes);
        let parts = comparable(&loaded.data);
        let absent = 1.2345e-33;
        let values = vec![1.0, 2.5, 13.25, 0.0, 0.5, absent, 1.0, 1.0, 4.0, 0.0, 1.0, 0.125];
        assert_eq!(parts.features, Features::dense(3, values));
        assert_eq!(parts.columns.names.unwrap(), ["in_title", "weight", "bm25"]);
        assert_eq!(parts.labels, [1.0, 0.0, 2.0, 0.0]);
        assert_eq!(parts.query_ids.iter().collect::<Vec<_>>(), ["shoes", "red hat"]);
        assert_eq!(parts.document_ids.unwrap().get(2), "https://a.example/3");
        options.columns.only = vec!["bm25".into()];
        assert_eq!(read(&path, &options).unwrap().data.width(), 1);
    }
}

#[test]
fn spaces_around_a_query_id_are_not_part_of_it_except_in_quotes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.csv");
    fs::write(&path, "label,qid,a\n1,1,0.5\n0, 1,0.25\n1,1 ,0.5\n").unwrap();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().data.query_count(), 1);
    fs::write(&path, "label,qid,a\n1,1,0.5\n0,\" 1\",0.25\n").unwrap();
    let loaded = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(loaded.data.query_count(), 2);
    assert!(loaded.notes[0].contains("`1` and ` 1` differ only in spaces"), "{:?}", loaded.notes);
}

#[test]
fn a_given_format_overrides_the_extension() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table");
    write(&Dataset::new(two_columns(None)).unwrap(), &path, Some(Format::Tsv)).unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("label\tqid"));
    let options = ReadOptions { format: Some(Format::Tsv), ..ReadOptions::default() };
    assert_eq!(read(&path, &options).unwrap().data.len(), 2);
    assert!(read(Path::new("no/such.csv"), &options).unwrap_err().to_string().contains("no/such.csv"));
}

#[test]
fn public_data_read_back_the_same_in_every_format() {
    let part = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/clueweb09/S1.txt.zst"));
    if !part.exists() {
        let _ = writeln!(std::io::stderr(), "skipped: {} is not there", part.display());
        return;
    }
    let options = ReadOptions { layout: Layout::Dense, ..ReadOptions::default() };
    let data = read(part, &options).unwrap().data;
    assert!(written(&data, "a.txt.zst", &options).0.data == data);
    for name in ["a.csv.zst", "a.tsv.gz"] {
        let (table, losses) = written(&data, name, &options);
        assert_eq!(losses, ["tables keep only the document ids of the comments"]);
        let back = written(&table.data, "a.txt", &options).0.data;
        assert!((0..data.len()).all(|i| back.document_id(i) == data.document_id(i)));
        let without_comments = |data: Dataset| Parts { comments: None, ..data.into_parts() };
        assert!(without_comments(back) == without_comments(data.clone()), "{name}");
    }
}
