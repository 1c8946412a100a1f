use super::*;
use std::fs;
use std::path::Path;

fn refusal(path: &Path) -> String {
    Index::open(path).map(drop).unwrap_err().to_string().replace(path.to_str().unwrap(), "PATH")
}

/// Changes the manifest of an index.
fn with_manifest(path: &Path, change: impl Fn(&mut serde_json::Value)) {
    let file = path.join("meta.json");
    let mut meta: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let mut manifest = serde_json::from_str(meta["payload"].as_str().unwrap()).unwrap();
    change(&mut manifest);
    meta["payload"] = serde_json::Value::String(manifest.to_string());
    fs::write(file, meta.to_string()).unwrap();
}

#[test]
fn what_is_no_index_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    assert_eq!(refusal(&path.join("no")), "cannot open the index PATH: there is no such directory");
    assert_eq!(refusal(path), "PATH is not an index: the directory is empty");
    fs::write(path.join("a.txt"), "x").unwrap();
    assert_eq!(refusal(path), "PATH is not an index: it has no meta.json");
    assert_eq!(refusal(&path.join("a.txt")), "cannot open the index PATH: it is not a directory");
    fs::write(path.join("meta.json"), "{}").unwrap();
    assert_eq!(refusal(path), "PATH is not an index: its meta.json is of another program");
}

#[test]
fn an_index_of_another_version_or_program_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    Index::create(path, &schema()).unwrap();
    let good = fs::read(path.join("meta.json")).unwrap();
    with_manifest(path, |manifest| {
        manifest["format"] = 7.into();
        manifest["version"] = "3.1.0".into();
    });
    let expected = "PATH is an index of format 7 by Rankwise 3.1.0, and this version reads format 1";
    assert!(refusal(path).starts_with(expected), "{}", refusal(path));
    fs::write(path.join("meta.json"), &good).unwrap();
    with_manifest(path, |manifest| manifest["analyzers"]["english"] = "0000000000000000".into());
    assert!(refusal(path).contains("another version of the analyzer `english`"), "{}", refusal(path));
    fs::write(path.join("meta.json"), &good).unwrap();
    with_manifest(path, |manifest| manifest["schema"]["fields"][0]["name"] = "headline".into());
    assert!(refusal(path).contains("its fields are not those of its schema"), "{}", refusal(path));
    let other = tempfile::tempdir().unwrap();
    tantivy::Index::create_in_dir(other.path(), tantivy::schema::Schema::builder().build()).unwrap();
    assert_eq!(refusal(other.path()), "PATH is an index of another program");
}

#[test]
fn a_damaged_index_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let index = Index::create(path, &schema()).unwrap();
    let mut writer = index.writer(small()).unwrap();
    writer.add(document("a", &[("title", text("wren")), ("cites", text("b"))])).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let good = fs::read(path.join("meta.json")).unwrap();
    for length in [0, 1, good.len() / 2, good.len() - 3] {
        fs::write(path.join("meta.json"), &good[..length]).unwrap();
        assert!(
            refusal(path).starts_with("the index PATH is damaged: meta.json is not JSON"),
            "{}",
            refusal(path)
        );
    }
    fs::write(path.join("meta.json"), b"\xff\xfe").unwrap();
    assert!(refusal(path).contains("meta.json is not text"));
    fs::write(path.join("meta.json"), &good).unwrap();
    fs::write(path.join(".managed.json"), "[").unwrap();
    assert!(refusal(path).starts_with("the index PATH is damaged: "), "{}", refusal(path));
    fs::remove_file(path.join(".managed.json")).unwrap();
    for ending in ["idx", "zst"] {
        let files = fs::read_dir(path).unwrap().map(|file| file.unwrap().path());
        let file = files.into_iter().find(|file| file.extension().is_some_and(|e| e == ending)).unwrap();
        let content = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        let error = Index::open(path).unwrap().view().map(drop).unwrap_err().to_string();
        assert!(error.contains(file.file_name().unwrap().to_str().unwrap()), "{error}");
        fs::write(&file, content).unwrap();
    }
}

#[test]
fn an_index_is_created_in_an_empty_directory_only() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep/er");
    Index::create(&path, &schema()).unwrap();
    let refused = |path: &Path| Index::create(path, &schema()).map(drop).unwrap_err().to_string();
    assert!(refused(&path).contains("there is already an index in"));
    assert!(refused(directory.path()).contains("because other files are there, such as deep"));
    fs::write(directory.path().join("file"), "").unwrap();
    assert!(refused(&directory.path().join("file")).starts_with("cannot create the directory"));
    let info = Index::open(&path).unwrap().info().unwrap();
    assert_eq!((info.format, info.documents, info.segments, info.schema), (1, 0, 0, schema()));
    assert_eq!(info.analyzers.keys().collect::<Vec<_>>(), ["english", "keyword", "plain"]);
    assert_eq!(info.analyzers["english"], Analyzer::English.fingerprint());
}
