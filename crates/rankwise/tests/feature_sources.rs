//! How features were computed goes from data to files and models, and what does not fit is refused.

use rankwise::Recipe;
use rankwise::data::{
    Columns, Dataset, FeatureSource, Layout, ReadOptions, SplitOrder, read, read_all, split, write,
};
use rankwise::models::{Model, Ranker};
use rankwise::recipe::Start;
use rankwise::watch::Silent;
use std::path::{Path, PathBuf};

const NAMES: [&str; 3] = ["bm25.title", "length.body", "pagerank"];

fn source(k1: f64) -> FeatureSource {
    FeatureSource::parse(&format!(
        "version = 1\nname = 'mine'\nfeatures = [{{ name = 'bm25.title', k1 = {k1:?} }}, {{ name = 'length.body' }}, \
         {{ name = 'pagerank' }}]\nanalyzers = {{ title = 'english 1', body = 'english 1' }}"
    ))
    .unwrap()
}

/// Two queries. The last feature is 0 everywhere.
fn data() -> Dataset {
    let values = vec![0.5, 3.0, 0.0, 1.5, f32::NAN, 0.0, 0.25, 7.0, 0.0, 2.0, 1.0, 0.0];
    let data = Dataset::dense(values, 3, vec![0.0, 1.0, 0.0, 2.0], &[2, 2]).unwrap();
    data.with_feature_names(NAMES).unwrap()
}

fn described() -> Dataset {
    data().with_source(Some(source(1.2))).unwrap()
}

fn beside(path: &Path) -> PathBuf {
    format!("{}.features.toml", path.display()).into()
}

fn sparse() -> ReadOptions {
    ReadOptions { layout: Layout::Sparse, ..ReadOptions::default() }
}

fn train(data: &Dataset, valid: Option<&Dataset>) -> rankwise::Result<Ranker> {
    Recipe::new("list-net").check().unwrap().fit(data, valid, Start::default(), &mut Silent::default())
}

#[test]
fn every_format_keeps_it_in_a_file_beside_the_data() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["train.txt", "train.txt.zst", "train.csv", "train.tsv.gz"] {
        let path = folder.path().join(name);
        assert_eq!(write(&described(), &path, None).unwrap(), [""; 0], "{name}");
        let text = std::fs::read_to_string(beside(&path)).unwrap();
        assert_eq!(FeatureSource::parse(&text).unwrap(), source(1.2));
        let back = read(&path, &ReadOptions::default()).unwrap().data;
        assert_eq!(back.columns(), described().columns(), "{name}");
        assert_eq!(back.fingerprint(), data().fingerprint(), "{name}");
        // Zeros that are not stored do not make the data narrower.
        let (sparse, again) =
            (read(&path, &sparse()).unwrap().data, folder.path().join(format!("again-{name}")));
        assert_eq!(write(&sparse, &again, None).unwrap(), [""; 0], "{name}");
        assert_eq!(read(&again, &ReadOptions::default()).unwrap().data.columns(), back.columns(), "{name}");
    }
}

#[test]
fn the_file_beside_data_without_a_source_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("train.txt");
    write(&described(), &path, None).unwrap();
    // What cannot be written changes nothing.
    let broken = data().with_query_ids(["a b", "c"]).unwrap();
    write(&broken, &path, None).unwrap_err();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().data.columns(), described().columns());
    write(&data(), &path, None).unwrap();
    assert!(!beside(&path).exists());
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().data.columns().names, None);
}

#[test]
fn columns_that_are_chosen_or_added_keep_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let (table, text) = (folder.path().join("t.csv"), folder.path().join("t.txt"));
    write(&described(), &table, None).unwrap();
    let mut options = ReadOptions::default();
    options.columns.only = vec!["pagerank".into(), "bm25.title".into()];
    let chosen = read(&table, &options).unwrap().data;
    write(&chosen, &text, None).unwrap();
    let back = read(&text, &ReadOptions::default()).unwrap().data;
    assert_eq!(back.columns().names.as_deref().unwrap(), ["bm25.title", "pagerank"]);
    assert_eq!(back.columns().source.as_ref().unwrap().feature_names(), ["bm25.title", "pagerank"]);

    // A column that was added has no definition. A table keeps its name; LETOR text cannot.
    std::fs::write(&table, "label,qid,clicks,bm25.title\n1,a,5,0.5\n0,a,2,0.25\n").unwrap();
    let added = read(&table, &ReadOptions::default()).unwrap().data;
    assert_eq!(added.columns().source, Some(source(1.2)));
    write(&added, &table, None).unwrap();
    let back = read(&table, &ReadOptions::default()).unwrap().data;
    assert_eq!(back.columns().source.as_ref().unwrap().feature_names(), ["bm25.title"]);
    let losses = write(&added, &text, None).unwrap();
    assert_eq!(
        losses,
        ["LETOR text does not keep feature names", "how the features were computed is not kept"]
    );
    assert!(!beside(&text).exists());
}

#[test]
fn a_file_that_describes_other_data_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one.txt"), folder.path().join("two.txt"));
    let refusal = |path: &Path| read(path, &ReadOptions::default()).unwrap_err().to_string();
    write(&described(), &one, None).unwrap();
    std::fs::write(&one, "1 qid:1 1:0.5 4:1\n").unwrap();
    let error = refusal(&one);
    assert!(
        error.contains("has 4 features") && error.contains("describes 3") && error.contains("remove it"),
        "{error}"
    );
    std::fs::write(&one, "1 qid:1 0:0.5 2:1\n").unwrap();
    assert!(refusal(&one).contains("from number 0 on"));
    std::fs::write(beside(&one), "name = 'mine'\nfeatures = [").unwrap();
    let error = refusal(&one);
    assert!(error.contains("one.txt.features.toml: ") && error.contains("line 2"), "{error}");

    write(&described(), &one, None).unwrap();
    let other = data().with_query_ids(["3", "4"]).unwrap();
    write(&other.clone().with_source(Some(source(2.0))).unwrap(), &two, None).unwrap();
    let both = || read_all(&[one.clone(), two.clone()], &ReadOptions::default());
    assert!(both().unwrap_err().to_string().contains("one.txt and"), "other definitions");
    std::fs::remove_file(beside(&two)).unwrap();
    assert!(both().unwrap_err().to_string().contains("or only one has"), "no definitions");
    write(&other.with_source(Some(source(1.2))).unwrap(), &two, None).unwrap();
    let data = both().unwrap().data;
    assert_eq!((data.query_count(), data.columns()), (4, described().columns()));
}

#[test]
fn parts_of_data_keep_it() {
    let parts = split(&described(), &[0.5, 0.5], SplitOrder::InOrder).unwrap();
    assert_eq!(parts.len(), 2);
    assert!(parts.iter().all(|part| part.columns() == described().columns()));
    let joined = Dataset::concat(&[&parts[0], &parts[1]]).unwrap();
    assert_eq!(joined.columns(), described().columns());
}

#[test]
fn a_model_remembers_it_and_nothing_else_changes() {
    let (with, without) = (train(&described(), None).unwrap(), train(&data(), None).unwrap());
    assert_eq!(with.columns.source, Some(source(1.2)));
    let loaded = Ranker::from_bytes(&with.to_bytes()).unwrap();
    assert_eq!(loaded, with);
    assert_eq!(with.data, without.data);
    let text = String::from_utf8(without.to_bytes()).unwrap();
    assert!(text.contains(
        "\"columns\": {\"first_id\":1,\"names\":[\"bm25.title\",\"length.body\",\"pagerank\"]},\n"
    ));
    let mut forgotten = with;
    forgotten.columns.source = None;
    assert_eq!(forgotten.to_bytes(), without.to_bytes());
}

#[test]
fn data_that_was_computed_in_another_way_is_not_scored() {
    let model = Model::linear(vec![1.0, 2.0], 0.0);
    let names = |names: [&str; 2]| Some(names.map(String::from).to_vec());
    let ranker = |chosen: [&str; 2]| {
        let columns = Columns { names: names(chosen), source: Some(source(1.2)), ..Columns::default() };
        Ranker::of_model(model.clone(), columns).unwrap()
    };
    let other = data().with_source(Some(source(2.0))).unwrap();
    let error = ranker(["bm25.title", "length.body"]).score(&other).unwrap_err().to_string();
    assert!(error.contains("`bm25.title` was computed in different ways"), "{error}");
    // The feature that differs is not used, or nothing is known.
    assert_eq!(ranker(["pagerank", "length.body"]).score(&other).unwrap()[2], 14.0);
    assert_eq!(ranker(["bm25.title", "length.body"]).score(&data()).unwrap()[0], 6.5);
    assert_eq!(ranker(["bm25.title", "length.body"]).score(&described()).unwrap()[0], 6.5);
}

#[test]
fn validation_data_must_be_computed_in_the_same_way() {
    let valid = |source| data().with_query_ids(["3", "4"]).unwrap().with_source(source).unwrap();
    let error = train(&described(), Some(&valid(Some(source(2.0))))).unwrap_err().to_string();
    assert!(error.contains("computed in different ways"), "{error}");
    let known = train(&described(), Some(&valid(Some(source(1.2))))).unwrap();
    let unknown = train(&described(), Some(&valid(None))).unwrap();
    assert_eq!(known.to_bytes(), unknown.to_bytes());
    assert_eq!(unknown.columns.source, Some(source(1.2)));
    assert_eq!(train(&data(), Some(&valid(Some(source(1.2))))).unwrap().columns.source, None);
}
