//! Exporting models and checking that the files give the same scores, from the command line. Needs no Python.

use crate::place::Place;
use serde_json::Value;
use std::fs;

const STORED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/interchange");

/// A place with `data.txt`, a model whose features have numbers, and one whose features have names.
fn place() -> Place {
    let place = Place::new();
    place.write("data.txt", "1 qid:1 1:0.5 2:1 3:0 4:nan 5:2\n0 qid:1 1:-0.5 2:0 3:2 4:1 5:0\n0 qid:2 1:2\n");
    // Its features get numbers, which engines know them by.
    let stored = format!("{STORED}/lightgbm-lambdarank.txt");
    place.ok(&format!("export {stored} -q --format rankwise --first-id 1 -o model.txt"));
    fs::copy(format!("{STORED}/lightgbm-names.txt"), place.path("named.txt")).unwrap();
    place
}

fn json_file(place: &Place, name: &str) -> Value {
    serde_json::from_slice(&place.bytes(name)).unwrap()
}

#[test]
fn exported_files_for_engines_give_the_same_scores() {
    let place = place();
    for format in
        ["solr", "elasticsearch", "elasticsearch-ranklib", "opensearch", "opensearch-ranklib", "ranklib"]
    {
        place.narrow(&format!("export model.txt -o out.file --format {format}"));
        let printed = place.narrow("verify-export model.txt out.file");
        assert!(printed.contains("own implementation") && printed.contains("synthetic rows"), "{printed}");
        assert!(printed.contains("largest difference") && printed.contains("within rounding"), "{printed}");
    }
    place.narrow("export model.txt -o solr.json --format solr");
    let json: Value =
        serde_json::from_str(&place.narrow("verify-export model.txt solr.json --data data.txt --json"))
            .unwrap();
    assert_eq!((&json["alike"], &json["format"]), (&Value::from(true), &Value::from("solr")));
    assert_eq!(json["compared"][1]["rows"], 3);
    assert_eq!(json["compared"][1]["different"], 0);
    // RankLib takes the missing value in the data as 0, which the model does not.
    place.narrow("export model.txt -o model.xml");
    let (code, out, _) = place.outcome("verify-export model.xml --model model.txt --data data.txt");
    assert!(
        code == 1 && out.replace("\n  ", " ").contains("DIFFERENT in 1; the first is row 1, "),
        "{code} {out}"
    );
}

#[test]
fn the_file_of_another_model_is_detected() {
    let place = place();
    place.narrow(&format!("export {STORED}/lightgbm-dart.txt -o other.json --format solr --first-id 1"));
    let (code, out, _) = place.outcome("verify-export other.json --model model.txt");
    assert!(code == 1 && out.contains("DIFFERENT"), "{code} {out}");
    assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
    let error = place.fails_with_report("verify-export data.txt --model model.txt");
    assert!(error.contains("is not in a format that `rankwise export` writes"), "{error}");
    let names =
        place.fails_with_report(&format!("verify-export other.json --model {STORED}/lightgbm-names.txt"));
    assert!(names.contains("cannot be scored") && names.contains("does not have"), "{names}");
    assert!(place.fails_with_report("verify-export none.onnx --model model.txt").contains("none.onnx"));
}

/// Solr refuses `"isNullSameAsZero":"false"`, since its setter takes a boolean.
#[test]
fn a_file_that_solr_refuses_is_detected() {
    let place = place();
    place.narrow("export named.txt -o solr.json --format solr");
    place.narrow("verify-export named.txt solr.json");
    let text = fs::read_to_string(place.path("solr.json")).unwrap();
    let broken = text.replace("\"isNullSameAsZero\":false", "\"isNullSameAsZero\":\"false\"");
    assert_ne!(text, broken);
    fs::write(place.path("broken.json"), broken).unwrap();
    let error = place.fails_with_report("verify-export named.txt broken.json");
    assert!(error.contains("isNullSameAsZero"), "{error}");
}

#[test]
fn the_upload_request_is_shown() {
    let place = place();
    let upload = |arguments: &str| place.outcome(arguments).2;
    let shown = upload("export named.txt -o s.json --format solr --name films-1");
    let wanted = "curl -X PUT \"$SOLR/solr/COLLECTION/schema/model-store\" -H 'Content-Type: application/json' \
                  --data-binary @s.json\n";
    assert!(shown.contains(wanted), "{shown}");
    assert_eq!(json_file(&place, "s.json")["name"], "films-1");
    let shown = upload("export named.txt -o o.json --format opensearch --name films-1");
    assert!(
        shown.contains("curl -X POST \"$OPENSEARCH/_ltr/_featureset/FEATURE_SET/_createmodel\" "),
        "{shown}"
    );
    assert!(shown.contains("note: upload the model to OpenSearch with:\n"), "{shown}");
    assert_eq!(json_file(&place, "o.json")["model"]["name"], "films-1");
    assert!(!upload("export named.txt -o m.onnx").contains("curl"));
    assert!(!upload("export named.txt -o - --format solr").contains("curl"));
    assert!(!upload("--quiet export named.txt -o q.json --format solr").contains("curl"));
    let error = place.fails_with_report("export named.txt -o m.xml --name films-1");
    assert!(error.contains("hold no name"), "{error}");
}

/// Python loads no module from the current folder: `numpy.py` there would run with the user's rights.
#[test]
#[cfg(unix)]
fn python_runs_isolated() {
    use std::os::unix::fs::PermissionsExt;
    let place = place();
    place.narrow("export model.txt -o model.onnx");
    let marker = format!("import pathlib\npathlib.Path({:?}).touch()\n", place.path("executed"));
    for module in ["numpy", "onnxruntime", "lightgbm", "json", "struct", "site"] {
        fs::write(place.path(&format!("{module}.py")), &marker).unwrap();
    }
    // With or without the runtimes; the answer of a Python that lacks them is an error of its own.
    place.outcome("verify-export model.txt model.onnx");
    place.outcome("verify-export model.txt model.txt");
    assert!(!place.path("executed").exists(), "a module of the current folder was executed");
    // Whatever Python is installed, it is started isolated.
    let script = "#!/bin/sh\necho \"$1\" > arguments\nexit 1\n";
    fs::write(place.path("python"), script).unwrap();
    fs::set_permissions(place.path("python"), fs::Permissions::from_mode(0o755)).unwrap();
    place.fails_with_report("verify-export model.txt model.onnx --python ./python");
    assert_eq!(fs::read_to_string(place.path("arguments")).unwrap(), "-I\n");
}

#[test]
fn a_runtime_is_asked_only_for_its_formats() {
    let place = place();
    place.narrow("export model.txt -o model.onnx");
    let error = place.fails_with_report("verify-export model.txt model.onnx --runtime treelite");
    assert!(error.contains("treelite does not read files in the format onnx"), "{error}");
    let error = place.fails_with_report("verify-export model.txt model.onnx --runtime torch");
    assert!(error.contains("onnxruntime, lightgbm, xgboost, treelite"), "{error}");
}

#[test]
fn a_missing_runtime_is_named() {
    let place = place();
    place.narrow("export model.txt -o model.onnx");
    let error = place.fails_with_report("verify-export model.onnx --model model.txt --python no/such/python");
    assert!(error.contains("no/such/python") && error.contains("--python"), "{error}");
    place.narrow("export model.txt -o model.ubj");
    let error = place.fails_with_report("verify-export model.ubj --model model.txt --python no/such/python");
    assert!(error.contains("no/such/python"), "{error}");
}

#[test]
fn every_export_has_its_test_vectors() {
    let place = place();
    place.narrow("export model.txt -o model.onnx");
    let vectors = json_file(&place, "model.onnx.vectors.json");
    assert_eq!(vectors["rows"].as_array().unwrap().len(), 48);
    assert_eq!(vectors["features"].as_array().unwrap().len(), 5);
    place.narrow("export model.txt -o model.onnx --data data.txt --vectors v.json");
    let vectors = json_file(&place, "v.json");
    let scores: Vec<f64> =
        place.narrow("score model.txt data.txt").lines().map(|line| line.parse().unwrap()).collect();
    let rows = vectors["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for (row, score) in rows.iter().zip(scores) {
        assert!((row["score"].as_f64().unwrap() - score).abs() < 1e-12);
    }
    assert_eq!(rows[0]["features"][3], Value::Null);
    assert_eq!(rows[2]["features"], serde_json::json!([2.0, 0.0, 0.0, 0.0, 0.0]));
    place.narrow("export model.txt -o bare.onnx --no-vectors");
    place.narrow("export model.txt -o ours.json --format rankwise");
    assert!(!place.path("bare.onnx.vectors.json").exists() && !place.path("ours.json.vectors.json").exists());
    let error = place.fails_with_report("export model.txt -o x.onnx --vectors x.onnx");
    assert!(error.contains("would both be written to x.onnx"), "{error}");
    let error = place.fails_with_report("export model.txt -o x.onnx --vectors no/such/place.json");
    assert!(error.contains("no/such/place.json"), "{error}");
    assert!(!place.path("x.onnx").exists(), "a model was left without its vectors");
    let left: Vec<String> = fs::read_dir(place.directory())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("x.onnx") || name.contains("tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A first column that no test asks about must not move all features by one. Feature 5 is 0 everywhere.
#[test]
fn columns_without_names_are_asked_for_where_the_data_does_not_decide() {
    let place = place();
    let sparse = "1 qid:1 1:0.5 2:1 3:1 4:-0.5\n0 qid:1 1:-0.5 3:-2 4:1\n0 qid:2 2:2 4:3\n";
    fs::write(place.path("sparse.txt"), sparse).unwrap();
    fs::write(place.path("whole.txt"), sparse.replace('\n', " 5:0\n")).unwrap();
    for stored in ["xgboost-idle.json", "lightgbm-idle.txt", "catboost-yetirank.json"] {
        let model = format!("{STORED}/{stored}");
        let expected = place.narrow(&format!("score {model} whole.txt"));
        for command in ["score", "eval", "importance", "explain --query 1"] {
            let (name, options) = command.split_once(' ').unwrap_or((command, ""));
            let error = place.fails_with_report(&format!("{name} {model} sparse.txt {options}"));
            assert!(error.contains("fits both") && error.contains("--first-id 1"), "{command}: {error}");
            place.narrow(&format!("{name} {model} sparse.txt {options} --first-id 1"));
        }
        assert_eq!(place.narrow(&format!("score {model} sparse.txt --first-id 1")), expected, "{stored}");
        assert_ne!(place.narrow(&format!("score {model} sparse.txt --first-id 0")), expected, "{stored}");
        let error = place.fails_with_report(&format!("export {model} -o solr.json --format solr"));
        assert!(error.contains("knows features by number") && error.contains("--first-id 1"), "{error}");
        place.narrow(&format!("export {model} -o solr.json --format solr --data whole.txt"));
        place.narrow("export -q model.txt -o other.json --format rankwise");
        place.narrow(&format!("compare {model} model.txt whole.txt"));
        place.fails_with_report(&format!("compare {model} model.txt sparse.txt"));
        place.narrow(&format!("compare {model} model.txt sparse.txt --first-id 1"));
        place.narrow(&format!("export {model} -o numbered.json --format rankwise --first-id 1"));
        assert_eq!(place.narrow("score numbered.json sparse.txt"), expected, "{stored}");
    }
}

/// The number of features is a mere number in the file: what is written must not grow with it.
#[test]
fn a_model_that_claims_many_features_is_exported_by_those_it_uses() {
    let place = place();
    let stored = fs::read_to_string(format!("{STORED}/xgboost-ndcg.json")).unwrap();
    let wide = stored.replace("\"num_feature\":\"5\"", "\"num_feature\":\"16777216\"");
    assert_ne!(wide, stored);
    fs::write(place.path("wide.json"), wide).unwrap();
    assert!(place.narrow("inspect wide.json").contains("of 16777216"));
    place.narrow("importance wide.json data.txt --metric ndcg@10 --first-id 1");
    place.narrow("explain wide.json data.txt --document 1 --first-id 1");
    for format in ["lightgbm", "xgboost", "onnx", "solr", "elasticsearch", "ranklib"] {
        let (_, _, notes) = place.outcome(&format!("export wide.json --format {format} --first-id 1 -o out"));
        assert!(notes.contains("has 16,777,216 features and uses none behind the first 5"), "{notes}");
        let sizes = ["out", "out.vectors.json"].map(|name| fs::metadata(place.path(name)).unwrap().len());
        assert!(sizes.iter().all(|&size| size < 100_000), "{format}: {sizes:?}");
    }
    let huge = stored.replace("\"num_feature\":\"5\"", "\"num_feature\":\"9223372036854775807\"");
    fs::write(place.path("huge.json"), huge).unwrap();
    for command in [
        "inspect huge.json",
        "explain huge.json data.txt --document 1",
        "importance huge.json data.txt",
        "export huge.json -o out --format solr",
    ] {
        let error = place.fails_with_report(command);
        assert!(error.contains("9223372036854775807 features"), "{command}: {error}");
    }
}

/// Renumbering, and the way to do it, are named where a model counts from 1 and data from 0.
#[test]
fn data_with_a_feature_0_is_refused_with_the_way_out() {
    let place = place();
    fs::write(place.path("zero.txt"), "1 qid:1 0:0.5 1:1 4:2\n0 qid:1 0:1 4:0\n").unwrap();
    let error = place.fails_with_report("score model.txt zero.txt");
    assert!(error.contains("counts features from 1, and the data has a feature 0"), "{error}");
    assert!(error.contains("--first-id 0 --format rankwise"), "{error}");
    place.narrow("export model.txt --first-id 0 --format rankwise -q -o zero.json");
    place.narrow("score zero.json zero.txt");
}

/// Models of RankLib are read: the linear one gives 0.5·x₁ + 2·x₂.
#[test]
fn models_of_ranklib_are_scored() {
    let place = place();
    fs::write(place.path("ascent.txt"), "## Coordinate Ascent\n## Restart = 5\n1:0.5 2:2.0\n").unwrap();
    assert_eq!(place.narrow("score ascent.txt data.txt"), "2.25\n-0.25\n1\n");
    place.narrow("eval ascent.txt data.txt");
    place.narrow("export model.txt -q -o trees.xml");
    let [ours, theirs] = ["model.txt", "trees.xml"].map(|model| {
        let scores = place.narrow(&format!("score {model} data.txt"));
        scores.lines().map(|score| score.parse::<f64>().unwrap()).collect::<Vec<_>>()
    });
    // The document with a missing value, which RankLib takes as 0, may score otherwise.
    assert!(ours[1..].iter().zip(&theirs[1..]).all(|(a, b)| (a - b).abs() < 1e-6), "{ours:?} {theirs:?}");
    let error = place.fails_with_report("score data.txt data.txt");
    assert!(error.contains("is not a model of Rankwise, LightGBM, XGBoost, CatBoost or RankLib"), "{error}");
    place.narrow("export model.txt -q -o model.onnx");
    let error = place.fails_with_report("score model.onnx data.txt");
    assert!(error.contains("a model in the format onnx, which is written but not read"), "{error}");
}
