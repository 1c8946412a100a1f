//! Models of LightGBM, XGBoost and CatBoost, read and written, against the tools' own scores (`testdata/interchange/make.py`).

use rankwise::data::{AtomicFile, Columns, Dataset, Row};
use rankwise::models::interchange::{Format, export};
use rankwise::models::{Model, Numbering, Ranker, TreeEnsemble};
use rankwise::trees::{Child, Tree};
use serde::Deserialize;
use std::path::PathBuf;

/// A model's file, rows, and the tool's scores of them; numbers as the hexadecimal digits of their bytes.
#[derive(Deserialize)]
struct Answer {
    file: String,
    width: usize,
    rows: Vec<String>,
    scores: Vec<String>,
}

impl Answer {
    fn all() -> Vec<Answer> {
        let answers: Vec<Answer> =
            serde_json::from_slice(&std::fs::read(path("answers.json")).unwrap()).unwrap();
        assert!(answers.len() > 15);
        answers
    }

    fn ranker(&self) -> Ranker {
        Ranker::load(&path(&self.file)).unwrap()
    }

    /// The same, its first column called 1 where it has no name.
    fn numbered(&self) -> Ranker {
        let ranker = self.ranker();
        if ranker.columns.names.is_some() { ranker } else { ranker.with_first_id(1).unwrap() }
    }

    fn rows(&self) -> Vec<Vec<f32>> {
        let number = |digits: &[u8]| {
            let digits = std::str::from_utf8(digits).unwrap();
            f32::from_bits(u32::from_str_radix(digits, 16).unwrap())
        };
        let rows = self.rows.iter().map(|row| row.as_bytes().chunks(8).map(number).collect());
        let rows: Vec<Vec<f32>> = rows.collect();
        assert!(rows.iter().all(|row| row.len() == self.width) && rows.len() == self.scores.len());
        rows
    }

    fn scores(&self) -> Vec<f64> {
        self.scores.iter().map(|s| f64::from_bits(u64::from_str_radix(s, 16).unwrap())).collect()
    }

    /// How near a score must be: XGBoost sums in f32, the others in f64.
    fn tolerance(&self) -> f64 {
        if self.file.starts_with("xgboost") { 2e-6 } else { 1e-12 }
    }

    fn is_near(&self, scores: &[f64]) -> bool {
        let near =
            |(ours, theirs): (&f64, &f64)| (ours - theirs).abs() <= self.tolerance() * (1.0 + theirs.abs());
        scores.len() == self.scores.len() && scores.iter().zip(&self.scores()).all(near)
    }
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/interchange")).join(name)
}

fn ensemble(ranker: &Ranker) -> &TreeEnsemble {
    match &ranker.model {
        Model::Trees(ensemble) => ensemble,
        other => panic!("{other:?} is no ensemble"),
    }
}

fn scores(ensemble: &TreeEnsemble, rows: &[Vec<f32>]) -> Vec<f64> {
    let score = |row: &Vec<f32>| {
        let mut out = [0.0];
        ensemble.outputs(Row::Dense(row), &mut out);
        out[0]
    };
    rows.iter().map(score).collect()
}

fn dataset(rows: &[Vec<f32>], columns: Columns) -> Dataset {
    let data = Dataset::dense(rows.concat(), rows[0].len(), vec![0.0; rows.len()], &[rows.len()]).unwrap();
    data.with_columns(columns).unwrap()
}

#[test]
fn scores_are_those_of_the_tool() {
    for answer in Answer::all() {
        let ranker = answer.ranker();
        let scores = ranker.score(&dataset(&answer.rows(), ranker.columns.clone())).unwrap();
        assert!(answer.is_near(&scores), "{}: {scores:?} where {:?}", answer.file, answer.scores());
    }
}

/// The rows must tell a threshold from its neighbours, and each way of missing values from the other.
#[test]
fn the_rows_would_show_a_wrong_test() {
    let nudged = |answer: &Answer, nudge: fn(&mut Tree)| {
        let ranker = answer.ranker();
        let (width, base) = (ensemble(&ranker).width(), ensemble(&ranker).base()[0]);
        let mut trees = ensemble(&ranker).trees().to_vec();
        trees.iter_mut().for_each(nudge);
        answer.is_near(&scores(&TreeEnsemble::sum(width, base, trees).unwrap(), &answer.rows()))
    };
    for answer in Answer::all().iter().filter(|a| a.file != "lightgbm-constant.txt") {
        let up: fn(&mut Tree) = |tree| tree.thresholds.iter_mut().for_each(|t| *t = t.next_up());
        let down: fn(&mut Tree) = |tree| tree.thresholds.iter_mut().for_each(|t| *t = t.next_down());
        let missing: fn(&mut Tree) = |tree| tree.missing_left.iter_mut().for_each(|left| *left = !*left);
        for nudge in [up, down, missing] {
            assert!(!nudged(answer, nudge), "{}", answer.file);
        }
    }
}

#[test]
fn what_the_file_says_is_carried_over() {
    let names = Some(["bm25", "tf_idf", "page-rank", "längd", "clicks"].map(String::from).to_vec());
    for answer in Answer::all() {
        let ranker = answer.ranker();
        let tool = answer.file.split('-').next().unwrap();
        assert_eq!(ranker.learner.name, tool);
        assert!(ranker.record.notes[0].contains("read from a model file"));
        assert_eq!(ranker.columns.names, if answer.file.contains("names") { names.clone() } else { None });
        assert_eq!(ranker.record.rounds as usize, ensemble(&ranker).trees().len());
        for tree in ensemble(&ranker).trees().iter().filter(|tree| !tree.features.is_empty()) {
            // CatBoost's file has no gains, and its leaves may be empty.
            let least = if tool == "catboost" { -1.0 } else { 0.0 };
            assert!(tree.gains.iter().all(|&gain| gain > least), "{}: {:?}", answer.file, tree.gains);
            assert!(tree.covers.iter().all(|&cover| cover > least), "{}: {:?}", answer.file, tree.covers);
            assert!(tree.covers.iter().any(|&cover| cover > 0.0), "{}", answer.file);
        }
        let raw = ranker
            .record
            .notes
            .iter()
            .any(|note| note.contains("raw_score") || note.contains("output_margin"));
        let transformed =
            ["binary", "logistic", "poisson", "tweedie"].iter().any(|name| answer.file.contains(name));
        assert_eq!(raw, transformed, "{}: {:?}", answer.file, ranker.record.notes);
    }
    let ranker = Ranker::load(&path("lightgbm-lambdarank.txt")).unwrap();
    assert_eq!(ranker.learner.title, "LightGBM model (lambdarank)");
    // 300 documents fall into the leaves of every tree.
    assert!(ensemble(&ranker).trees().iter().all(|tree| tree.covers.iter().sum::<f32>() == 300.0));
}

#[test]
fn what_cannot_be_read_is_refused_with_its_reason() {
    for (file, reasons) in [
        ("lightgbm-linear.txt", &["Tree=0", "linear_tree=false"][..]),
        ("lightgbm-classes.txt", &["several outputs", "num_class=4"]),
        ("lightgbm-zero.txt", &["Tree=0", "Column_", "zero_as_missing"]),
        ("xgboost-linear.json", &["gblinear"]),
        ("xgboost-classes.json", &["several outputs", "num_class=4"]),
        ("xgboost-targets.json", &["several outputs", "num_target=2"]),
        ("xgboost-vectors.json", &["several outputs", "num_target=2"]),
        ("xgboost-categories.json", &["tree 0", "`tf_idf`", "categories"]),
        ("catboost-categories.json", &["tree 0", "`OneHotFeature`", "train without categorical"]),
        ("catboost-classes.json", &["several outputs"]),
    ] {
        let path = path(&format!("refused-{file}"));
        let told = Ranker::load(&path).unwrap_err().to_string();
        assert!(told.starts_with(&format!("{} cannot be used as a model: ", path.display())), "{told}");
        assert!(reasons.iter().all(|reason| told.contains(reason)), "{file}: {told}");
    }
    let text = std::fs::read_to_string(path("lightgbm-names.txt")).unwrap();
    let refusal = |text: String| Ranker::from_bytes(text.as_bytes()).unwrap_err().to_string();
    assert!(refusal(text.replace("version=v4", "version=v5")).contains("`v5`"));
    assert!(refusal(text[..text.len() / 2].into()).contains("cut short"));
    assert!(
        refusal(text.replace("bm25 tf_idf", "bm25 bm25")).contains("two of its features are called `bm25`")
    );
    assert!(refusal(text.replace("bm25 tf_idf", "bm25")).contains("names 4 features and says it has 5"));
    assert!(refusal(text.replacen("left_child=", "left=", 1)).contains("Tree=0 has no `left_child`"));
    assert!(refusal(text.replacen("leaf_value=", "leaf_value=1 ", 1)).contains("7 `leaf_value` where 6"));
    assert!(refusal(text.replacen("leaf_value=", "leaf_value=x", 1)).contains("among its `leaf_value`"));
}

#[test]
fn a_written_model_is_read_back_as_it_was() {
    for answer in Answer::all() {
        let ranker = answer.numbered();
        let back = |format| Ranker::from_bytes(&export(&ranker, format).unwrap().bytes).unwrap();
        if answer.file.starts_with("lightgbm") {
            let back = back(Format::LightGbm);
            assert_eq!((&back.model, &back.columns), (&ranker.model, &ranker.columns), "{}", answer.file);
        }
        for format in [Format::XgBoost, Format::XgBoostUbj] {
            let back = back(format);
            assert_eq!(back.columns, ranker.columns, "{}", answer.file);
            assert_same_trees(ensemble(&back), ensemble(&ranker));
            let again = Ranker::from_bytes(&export(&back, format).unwrap().bytes).unwrap();
            assert_eq!(again.model, back.model, "{}", answer.file);
        }
        assert_lightgbm_scores_alike(&ranker, &answer.rows());
        assert_eq!(back(Format::Rankwise), ranker);
        let mut from_zero = ranker.clone();
        from_zero.columns.first_id = 0;
        assert_eq!(from_zero.numbering, Numbering::Known);
        for format in [Format::LightGbm, Format::XgBoost, Format::XgBoostUbj] {
            let back = Ranker::from_bytes(&export(&from_zero, format).unwrap().bytes).unwrap();
            assert!(back.columns.names.is_some() || back.columns.first_id == 0, "{} {format:?}", answer.file);
        }
    }
}

/// Written for LightGBM, only values that are as good as 0 to it may score otherwise, and that is told.
fn assert_lightgbm_scores_alike(ranker: &Ranker, rows: &[Vec<f32>]) {
    let exported = export(ranker, Format::LightGbm).unwrap();
    let back = Ranker::from_bytes(&exported.bytes).unwrap();
    let (ours, theirs) = (scores(ensemble(ranker), rows), scores(ensemble(&back), rows));
    let noted = exported.notes.iter().any(|note| note.contains("within 1e-35 of 0"));
    for ((row, ours), theirs) in rows.iter().zip(ours).zip(theirs) {
        let tiny = row.iter().any(|x| *x != 0.0 && x.abs() <= 1e-35);
        assert!(ours == theirs || (tiny && noted), "{ours} and {theirs} for {row:?}");
    }
}

/// The same trees, with values in single precision, their nodes in whatever order.
fn assert_same_trees(found: &TreeEnsemble, expected: &TreeEnsemble) {
    fn assert_same(found: (&Tree, Child), expected: (&Tree, Child)) {
        let ((a, at_a), (b, at_b)) = (found, expected);
        match (at_a, at_b) {
            (Child::Leaf(x), Child::Leaf(y)) => {
                assert_eq!((a.values[x], a.covers[x]), (f64::from(b.values[y] as f32), b.covers[y]));
            }
            (Child::Node(x), Child::Node(y)) => {
                let parts =
                    |t: &Tree, n: usize| (t.features[n], t.thresholds[n], t.missing_left[n], t.gains[n]);
                assert_eq!(parts(a, x), parts(b, y));
                assert_same((a, Child::of(a.left[x])), (b, Child::of(b.left[y])));
                assert_same((a, Child::of(a.right[x])), (b, Child::of(b.right[y])));
            }
            _ => panic!("a leaf where there was a node"),
        }
    }
    assert_eq!((found.width(), found.base()[0]), (expected.width(), f64::from(expected.base()[0] as f32)));
    assert_eq!(found.trees().len(), expected.trees().len());
    found.trees().iter().zip(expected.trees()).for_each(|(a, b)| assert_same((a, a.root()), (b, b.root())));
}

#[test]
fn compressed_models_are_known_by_their_content() {
    let place = tempfile::tempdir().unwrap();
    for (file, ending) in
        [("lightgbm-names.txt", "gz"), ("xgboost-names.json", "zst"), ("xgboost-names.ubj", "gz")]
    {
        let packed = place.path().join(format!("model.{ending}"));
        let mut out = AtomicFile::create(&packed).unwrap();
        out.put(&std::fs::read(path(file)).unwrap()).unwrap();
        out.commit().unwrap();
        assert_eq!(Ranker::load(&packed).unwrap(), Ranker::load(&path(file)).unwrap());
    }
}

/// Names that only count are columns; the first may be feature 0 or feature 1, unless they say which.
#[test]
fn numbered_features_count_from_where_the_file_says() {
    let undecided =
        |first_id| (Columns { first_id, names: None, ..Columns::default() }, Numbering::Undecided);
    let of = |ranker: Ranker| (ranker.columns, ranker.numbering);
    let load = |file: &str| Ranker::load(&path(file)).unwrap();
    assert_eq!(of(load("lightgbm-lambdarank.txt")), undecided(1));
    assert_eq!(of(load("lightgbm-idle.txt")), undecided(0));
    assert_eq!(of(load("lightgbm-text.txt")), undecided(0));
    assert_eq!(of(load("xgboost-idle.json")), undecided(0));
    assert_eq!(of(load("catboost-yetirank.json")), undecided(1));
    assert!(load("xgboost-idle.json").record.notes[1].contains("feature 0 or feature 1"));
    let json = std::fs::read_to_string(path("xgboost-ndcg.json")).unwrap();
    let named = |names: &str| {
        let json = json.replace("\"feature_names\":[]", &format!("\"feature_names\":{names}"));
        of(Ranker::from_bytes(json.as_bytes()).unwrap())
    };
    assert_eq!(named("[]"), undecided(1));
    assert_eq!(named(r#"["f0","f1","f2","f3","f4"]"#), undecided(1));
    let known = (Columns { first_id: 1, names: None, ..Columns::default() }, Numbering::Known);
    assert_eq!(named(r#"["f1","f2","f3","f4","f5"]"#), known);
    assert_eq!(named(r#"["f1","f2","f3","f4","g"]"#).0.names.unwrap()[4], "g");
}

/// The same documents as text that counts from `first_id`, without the columns behind `width`.
fn cut(answer: &Answer, first_id: u32, skip: usize, width: usize) -> (Dataset, Vec<Vec<f32>>) {
    let mut rows = answer.rows();
    rows.iter_mut().for_each(|row| row[skip + width..].fill(0.0));
    let kept: Vec<Vec<f32>> = rows.iter().map(|row| row[skip..skip + width].to_vec()).collect();
    (dataset(&kept, Columns { first_id, names: None, ..Columns::default() }), rows)
}

/// A first column that no test asks about used to move all features by one, without a word.
#[test]
fn columns_without_names_are_numbered_by_the_data_or_asked_for() {
    for answer in Answer::all().iter().filter(|a| a.file.contains("idle") || a.file.contains("yetirank")) {
        let ranker = answer.ranker();
        for first_id in [0, 1] {
            let (whole, _) = cut(answer, first_id, 0, 5);
            assert!(answer.is_near(&ranker.score(&whole).unwrap()), "{} from {first_id}", answer.file);
        }
        // Without the last feature, text that counts from 1 could also be text that lacks feature 0.
        let (narrow, rows) = cut(answer, 1, 0, 4);
        let error = ranker.score(&narrow).unwrap_err().to_string();
        assert!(error.contains("has 5 columns") && error.contains("up to 4"), "{error}");
        assert!(error.contains("state the number of the model's first feature"), "{error}");
        let expected = scores(ensemble(&ranker), &rows);
        let numbered = ranker.clone().with_first_id(1).unwrap();
        assert_eq!(numbered.score(&narrow).unwrap(), expected, "{}", answer.file);
        assert_eq!(ranker.score(&cut(answer, 0, 0, 4).0).unwrap(), expected);
        let wide = dataset(&[vec![0.0; 6]], Columns { first_id: 1, names: None, ..Columns::default() });
        let error = ranker.score(&wide).unwrap_err().to_string();
        assert!(error.contains("has 6 features, up to number 6, and the model has 5"), "{error}");
        // What is not decided stays so in our own file, and the number that is given is kept.
        assert_eq!(Ranker::from_bytes(&ranker.to_bytes()).unwrap(), ranker);
        assert_eq!(Ranker::from_bytes(&numbered.to_bytes()).unwrap(), numbered);
    }
    // The tool read text whose ids start at 1: its column 0 is a feature that text never has.
    let answer = &Answer::all().into_iter().find(|a| a.file == "lightgbm-text.txt").unwrap();
    let (text, _) = cut(answer, 1, 1, 5);
    assert!(answer.ranker().score(&text).unwrap_err().to_string().contains("state the number"));
    let numbered = answer.ranker().with_first_id(0).unwrap();
    assert!(answer.is_near(&numbered.score(&cut(answer, 0, 0, 6).0).unwrap()));
}

#[test]
fn files_that_know_features_by_number_need_to_know_the_first() {
    let ranker = Ranker::load(&path("xgboost-idle.json")).unwrap();
    for format in Format::ALL {
        let positional = ["rankwise", "lightgbm", "xgboost", "xgboost-ubj", "onnx"].contains(&format.name());
        let written = export(&ranker, format);
        assert_eq!(written.is_ok(), positional, "{}", format.name());
        if let Err(error) = written {
            assert!(error.to_string().contains("state the number of the model's first feature"));
        }
    }
    let again = export(&ranker, Format::XgBoost).unwrap().bytes;
    assert_eq!(Ranker::from_bytes(&again).unwrap().numbering, Numbering::Undecided);
    let numbered = export(&ranker.with_first_id(0).unwrap(), Format::XgBoost).unwrap().bytes;
    let again = Ranker::from_bytes(&numbered).unwrap();
    assert_eq!((again.numbering, again.columns.first_id), (Numbering::Known, 0));
}

/// RankLib's way to read: elements by their place, one a line. Returns the score of `row`, in f32 as RankLib sums.
fn ranklib_score(text: &str, row: &[f32]) -> f32 {
    fn inner<'a>(line: &'a str, name: &str) -> &'a str {
        let open = line.strip_prefix(&format!("<{name}>")).unwrap_or_else(|| panic!("{line} is no {name}"));
        open.strip_suffix(&format!("</{name}>")).unwrap().trim()
    }
    fn split<'a>(lines: &mut impl Iterator<Item = &'a str>, place: &str, row: &[f32]) -> f32 {
        assert_eq!(lines.next().unwrap(), format!("<split{place}>"));
        let first = lines.next().unwrap();
        let value = if first.starts_with("<output>") {
            inner(first, "output").parse().unwrap()
        } else {
            let feature: usize = inner(first, "feature").parse().unwrap();
            let threshold: f32 = inner(lines.next().unwrap(), "threshold").parse().unwrap();
            let left = split(lines, " pos=\"left\"", row);
            let right = split(lines, " pos=\"right\"", row);
            let x = row[feature - 1];
            if (if x.is_nan() { 0.0 } else { x }) <= threshold { left } else { right }
        };
        assert_eq!(lines.next().unwrap(), "</split>");
        value
    }
    assert_eq!(text.lines().next().unwrap(), "## LambdaMART");
    let mut lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with("##"));
    assert_eq!(lines.next().unwrap(), "<ensemble>");
    let mut sum = 0.0f32;
    for id in 1.. {
        match lines.next().unwrap() {
            "</ensemble>" => break,
            line => assert_eq!(line, format!("<tree id=\"{id}\" weight=\"1.0\">")),
        }
        sum += split(&mut lines, "", row);
        assert_eq!(lines.next().unwrap(), "</tree>");
    }
    assert_eq!(lines.next(), None);
    sum
}

#[test]
fn ranklib_scores_what_is_written_for_it() {
    for answer in Answer::all() {
        let ranker = answer.numbered();
        let exported = export(&ranker, Format::RankLib).unwrap();
        let text = String::from_utf8(exported.bytes).unwrap();
        let rows = answer.rows();
        let ours = scores(ensemble(&ranker), &rows);
        let near = |ours: f64, theirs: f32| (ours - f64::from(theirs)).abs() <= 1e-5 * (1.0 + ours.abs());
        let (mut with_missing, mut differ) = (0, 0);
        for (row, &ours) in rows.iter().zip(&ours) {
            let theirs = ranklib_score(&text, row);
            if row.iter().any(|x| x.is_nan()) {
                with_missing += 1;
                differ += usize::from(!near(ours, theirs));
            } else {
                assert!(near(ours, theirs), "{}: {ours} and {theirs} for {row:?}", answer.file);
            }
        }
        // The note says when missing values may score otherwise; without it they do not.
        let noted = exported.notes.iter().any(|note| note.contains("missing values as 0"));
        assert!(with_missing > 0 && (noted || differ == 0), "{}: {differ} differ", answer.file);
        let none_matters =
            ["lightgbm-no-missing.txt", "lightgbm-constant.txt"].contains(&answer.file.as_str());
        assert!(!(noted && none_matters), "{}", answer.file);
        let named = exported.notes.iter().any(|note| note.contains("`bm25` is 1"));
        assert_eq!(named, ranker.columns.names.is_some());
    }
}

#[test]
fn ids_of_ranklib_are_those_of_the_text() {
    let ranker = Ranker::load(&path("lightgbm-lambdarank.txt")).unwrap().with_first_id(0).unwrap();
    assert!(export(&ranker, Format::RankLib).unwrap_err().to_string().contains("feature 0"));
}
