//! Categories in files: read by role or type, the same code for the same text, written back.

use rankwise::data::{ColumnRoles, Dataset, Layout, ReadOptions, read, read_all, write};
use std::fs;
use std::path::{Path, PathBuf};

fn categorical(names: &[&str]) -> ReadOptions {
    let categorical = names.iter().map(|name| name.to_string()).collect();
    ReadOptions { columns: ColumnRoles { categorical, ..ColumnRoles::default() }, ..ReadOptions::default() }
}

fn put(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

/// The categories of a column as text; `?` where one is missing.
fn shown(data: &Dataset, column: usize) -> Vec<String> {
    let categories = &data.columns().categories;
    let name = |x: f32| if x.is_nan() { "?".into() } else { categories.name(column, x as u32).into_owned() };
    (0..data.len()).map(|row| name(data.row(row).get(column))).collect()
}

const BRANDS: &str = "label,qid,bm25,brand,shop\n1,a,0.5,zenith,3\n0,a,0.1,\"acme, inc\",0\n2,b,NA,,12.0\n\
                      0,b,1,NULL,3\n1,b,2, zenith ,\n";

#[test]
fn text_gets_codes_in_its_order_and_numbers_are_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "a.csv", BRANDS);
    for layout in [Layout::Dense, Layout::Sparse] {
        let options = ReadOptions { layout, ..categorical(&["brand", "shop"]) };
        let data = read(&path, &options).unwrap().data;
        let categories = &data.columns().categories;
        assert_eq!(categories.texts(1).unwrap(), ["acme, inc", "zenith"]);
        assert_eq!(categories.texts(2), Some(&[][..]));
        assert_eq!(categories.texts(0), None);
        assert_eq!(shown(&data, 1), ["zenith", "acme, inc", "?", "?", "zenith"]);
        assert_eq!(shown(&data, 2), ["3", "0", "12", "3", "?"]);
        assert_eq!((data.row(0).get(1), data.row(0).get(2)), (1.0, 3.0));
    }
    let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "can be read as categorical, and columns that are not features can be ignored: `brand`"
        )
    );
}

#[test]
fn several_files_share_one_dictionary_and_blocks_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let first = put(folder.path(), "a.csv", "label,qid,x,brand\n1,a,0,m\n0,a,1,z\n");
    // More than one block of rows, in which texts come in another order.
    let rows: String =
        (0..60_000).map(|i| format!("{},q{},{i},t{}\n", i % 3, i / 10, (i * 7919) % 1000)).collect();
    let second = put(folder.path(), "b.csv", &format!("label,qid,x,brand\n{rows}1,last,0,a\n"));
    let data = read_all(&[first, second], &categorical(&["brand"])).unwrap().data;
    let texts = data.columns().categories.texts(1).unwrap();
    assert_eq!(texts.len(), 1003);
    assert!(texts.is_sorted());
    let shown = shown(&data, 1);
    assert_eq!((&*shown[0], &*shown[1], &*shown[60_002]), ("m", "z", "a"));
    for i in [0, 1, 4321, 59_999] {
        assert_eq!(shown[i + 2], format!("t{}", (i * 7919) % 1000));
    }
}

#[test]
fn numbers_that_are_no_codes_are_refused_with_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |name: &str, text: &str, column: &str| {
        let path = put(folder.path(), name, text);
        let error = read(&path, &categorical(&[column])).unwrap_err().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    let negative = refusal("a.csv", "label,qid,c\n1,a,3\n0,a,-1\n0,a,-2\n", "c");
    assert!(
        negative.starts_with("a.csv:3:5: `-1` is not a category: categories are text, or whole"),
        "{negative}"
    );
    assert!(negative.contains("leave the value empty"), "{negative}");
    let fraction = refusal("a.tsv", "label\tqid\tc\n1\ta\t2.5\n", "c");
    assert!(fraction.starts_with("a.tsv:2:5: `2.5` is not"), "{fraction}");
    let large = refusal("a.csv", "label,qid,c\n1,a,16777216\n", "c");
    assert!(large.contains("`16777216`") && large.contains("from 0 to 16777215"), "{large}");
    // Beside real text they are text.
    let path = put(folder.path(), "b.csv", "label,qid,c\n1,a,-1\n0,a,2.5\n0,a,x\n");
    assert_eq!(shown(&read(&path, &categorical(&["c"])).unwrap().data, 0), ["-1", "2.5", "x"]);
    let absent = refusal("a.csv", "label,qid,c\n1,a,1\n", "d");
    assert!(absent.contains("no column `d` for a categorical feature"), "{absent}");
}

#[test]
fn letor_text_has_categorical_features_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let path = put(folder.path(), "a.txt", "1 qid:7 1:0.5 3:4\n0 qid:7 1:-2 2:1\n2 qid:8 3:NaN\n");
    let data = read(&path, &categorical(&["3"])).unwrap().data;
    assert_eq!(data.columns().categories.columns().collect::<Vec<_>>(), [2]);
    assert_eq!(shown(&data, 2), ["4", "0", "?"]);
    let refusal = |number: &str| read(&path, &categorical(&[number])).unwrap_err().to_string();
    assert!(
        refusal("1").contains("feature 1 of document 1 (query 7): 0.5 is not a category"),
        "{}",
        refusal("1")
    );
    assert!(
        refusal("4").contains("no feature `4` to read as categorical")
            && refusal("4").contains("from 1 to 3")
    );
    assert!(refusal("0").contains("no feature `0`") && refusal("brand").contains("no feature `brand`"));
    // Numbered from 0, the same columns have other numbers.
    let options = ReadOptions { first_id: Some(0), ..categorical(&["3"]) };
    assert_eq!(read(&path, &options).unwrap().data.columns().categories.columns().collect::<Vec<_>>(), [3]);
}

#[test]
fn what_is_written_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = read(&put(folder.path(), "a.csv", BRANDS), &categorical(&["brand", "shop"])).unwrap().data;
    let csv = folder.path().join("b.csv");
    let notes = write(&data, &csv, None).unwrap();
    assert!(
        notes.iter().any(|note| note.ends_with("name them when it is read: `brand`, `shop`")),
        "{notes:?}"
    );
    assert!(fs::read_to_string(&csv).unwrap().contains("0,a,0.1,\"acme, inc\",0\n"));
    same(&read(&csv, &categorical(&["brand", "shop"])).unwrap().data, &data);
    let letor = folder.path().join("b.txt");
    let notes = write(&data, &letor, None).unwrap();
    assert!(notes.iter().any(|note| note.contains("categories as numbers")), "{notes:?}");
    assert!(fs::read_to_string(&letor).unwrap().starts_with("1 qid:a 1:0.5 2:1 3:3\n"));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_keeps_categories_and_knows_them_by_type() {
    let folder = tempfile::tempdir().unwrap();
    let data = read(&put(folder.path(), "a.csv", BRANDS), &categorical(&["brand", "shop"])).unwrap().data;
    let path = folder.path().join("a.parquet");
    assert_eq!(write(&data, &path, None).unwrap(), Vec::<String>::new());
    same(&read(&path, &ReadOptions::default()).unwrap().data, &data);
    // Left out, they are not features at all.
    let ignore = ColumnRoles { ignore: vec!["brand".into(), "shop".into()], ..ColumnRoles::default() };
    let rest = read(&path, &ReadOptions { columns: ignore, ..ReadOptions::default() }).unwrap().data;
    assert!(rest.width() == 1 && rest.columns().categories.is_empty());
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_of_other_tools_by_type_or_role() {
    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let put = |codes: Vec<i64>| {
        let pandas: DictionaryArray<Int8Type> = [Some("m"), None, Some("a")].into_iter().collect();
        let columns: Vec<(&str, ArrayRef)> = vec![
            ("label", Arc::new(Int64Array::from(vec![2, 0, 1]))),
            ("qid", Arc::new(Int64Array::from(vec![7, 7, 8]))),
            ("pandas", Arc::new(pandas)),
            ("text", Arc::new(StringArray::from(vec![Some("x"), Some("y"), None]))),
            ("number", Arc::new(Int64Array::from(codes))),
        ];
        let nullable = columns.into_iter().map(|(name, array)| (name, array, true));
        let batch = RecordBatch::try_from_iter_with_nullable(nullable).unwrap();
        let file = fs::File::create(&path).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    };
    put(vec![5, 0, 900]);
    let data = read(&path, &categorical(&["text", "number"])).unwrap().data;
    assert_eq!(shown(&data, 0), ["m", "?", "a"]);
    assert_eq!(shown(&data, 1), ["x", "y", "?"]);
    assert_eq!(shown(&data, 2), ["5", "0", "900"]);
    let error = read(&path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(
        error.contains("column `text`: expected a number, found `x`") && error.ends_with(": `text`"),
        "{error}"
    );
    put(vec![5, -1, 900]);
    let error = read(&path, &categorical(&["text", "number"])).unwrap_err().to_string();
    assert!(error.contains("a.parquet:2:5: `-1` is not a category"), "{error}");
}

fn same(found: &Dataset, expected: &Dataset) {
    assert_eq!(found.columns(), expected.columns());
    assert_eq!(found.labels(), expected.labels());
    let bits =
        |data: &Dataset| data.parts().features.values().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(found), bits(expected));
}
