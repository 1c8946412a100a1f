use super::*;
use crate::data::{ColumnRoles, Parts, ReadOptions, read_all};
use crate::exchange::threads::with_exchange;
use crate::watch::Silent;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const WORKERS: [usize; 4] = [1, 2, 3, 7];

/// Queries of 1 to 9 documents; every fifth row has a missing value and no category.
fn rows(queries: usize) -> Vec<(usize, usize)> {
    (0..queries).flat_map(|query| (0..1 + query * 7 % 9).map(move |document| (query, document))).collect()
}

fn letor(rows: &[(usize, usize)]) -> String {
    let mut text = String::new();
    for &(query, document) in rows {
        let label = (query + document) % 3;
        write!(text, "{label} qid:{} 1:{} 3:{}", 3 + query * 5, query as f32 / 7.0, document).unwrap();
        if (query + document) % 11 == 5 {
            write!(text, " 6:{}", (query * document) as f32 * 0.3).unwrap();
        }
        text += if document == 0 { " # docid = first\n" } else { "\n" };
    }
    text
}

fn csv(rows: &[(usize, usize)]) -> String {
    let brands = ["zenith", "acme", "10", "9.5", "tulip"];
    let mut text = String::from("qid,label,weight,x,brand,number\n");
    for &(query, document) in rows {
        let i = query * 10 + document;
        let x = if i % 5 == 0 { String::new() } else { (i as f32 * 0.37).sin().to_string() };
        let brand = if i % 5 == 1 { "" } else { brands[(query / 5 + document) % 5] };
        let weight = 0.5 + (query % 4) as f32;
        writeln!(text, "q{},{},{weight},{x},{brand},{}", 3 + query * 5, i % 3, i % 12).unwrap();
    }
    text
}

/// Writes the rows, cut at odd places, to `count` files.
fn write_cut(
    folder: &Path,
    name: &str,
    rows: &[(usize, usize)],
    count: usize,
    text: impl Fn(&[(usize, usize)]) -> String,
) -> Vec<PathBuf> {
    let cut =
        |file: usize| (file * rows.len() / count + usize::from(file > 0 && file < count)).min(rows.len());
    let write = |file: usize| {
        let path = folder.join(format!("{count}-{file}-{name}"));
        std::fs::write(&path, text(&rows[cut(file)..cut(file + 1)])).unwrap();
        path
    };
    (0..count).map(write).collect()
}

fn grouped() -> ReadOptions {
    ReadOptions { group: true, ..ReadOptions::default() }
}

fn categorical(names: &[&str]) -> ReadOptions {
    let categorical = names.iter().map(|name| name.to_string()).collect();
    ReadOptions { columns: ColumnRoles { categorical, ..ColumnRoles::default() }, ..grouped() }
}

fn job(train: &[PathBuf], valid: Option<&[PathBuf]>, options: &ReadOptions) -> TrainJob {
    let source = |files: &[PathBuf]| Source { files: files.to_vec(), options: options.clone() };
    TrainJob::new(&Recipe::new("list-net"), source(train), valid.map(source), 1).unwrap()
}

/// The data as one machine trains on it.
fn alone(job: &TrainJob, trainer: &Trainer) -> Result<Vec<Dataset>> {
    let read = |source: &&Source| read_all(&source.files, &source.options).map(|loaded| loaded.data);
    let sets = job.sources().iter().map(read).collect::<Result<Vec<_>>>()?;
    let sets = Dataset::align_columns(sets)?.into_iter().map(|data| trainer.prepare(data));
    let sets = sets.collect::<Result<Vec<_>>>()?;
    let train = sets[0].with_own_categories()?.into_owned();
    let codes = train.columns().categories.clone();
    let valid = sets[1..].iter().map(|valid| Ok(valid.in_codes(&codes)?.into_owned()));
    let sets = std::iter::once(Ok(train)).chain(valid).collect::<Result<Vec<Dataset>>>()?;
    Ok(sets.iter().map(|data| data.by_query_id().into_owned()).collect())
}

/// What learning looks at. Missing values are not equal to each other, but their texts are.
fn shown(data: &Dataset) -> String {
    let Parts { features, labels, bounds, query_ids, columns, query_weights, .. } = data.parts();
    format!("{features:?} {labels:?} {bounds:?} {query_ids:?} {columns:?} {query_weights:?}")
}

/// Compares what workers load with the data of one machine.
fn assert_loads(job: &TrainJob, recipe: &Recipe, what: &str) {
    let trainer = recipe.check().unwrap();
    let alone = alone(job, &trainer).unwrap_or_else(|error| panic!("{what}: {error}"));
    for workers in WORKERS {
        let (driver, others) = with_exchange(workers, |exchange| {
            let (sets, _) = load(job, &trainer, &exchange).unwrap_or_else(|error| panic!("{what}: {error}"));
            let prints: Vec<String> = sets.iter().map(Dataset::fingerprint).collect();
            (sets, prints)
        });
        let what = format!("{what}, {workers} workers");
        for (number, one) in alone.iter().enumerate() {
            let own: Vec<&Dataset> = others.iter().map(|(sets, _)| &sets[number]).collect();
            assert_eq!(shown(&Dataset::concat(&own).unwrap()), shown(one), "{what}");
            let empty = &driver.0[number];
            assert_eq!((empty.query_count(), empty.width()), (0, one.width()), "{what}");
            assert_eq!(empty.columns(), one.columns(), "{what}");
            assert_eq!(empty.parts().query_weights.is_some(), one.parts().query_weights.is_some(), "{what}");
            for (sets, prints) in others.iter().chain([&driver]) {
                assert_eq!(prints[number], one.fingerprint(), "{what}");
                assert_eq!(sets[number].whole().queries, one.query_count(), "{what}");
            }
        }
    }
}

/// Rows in an order that scatters queries over the files and within them.
fn shuffled(rows: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut rows = rows.to_vec();
    rows.sort_by_key(|&(query, document)| (query * 31 + document / 3 * 17) % 13);
    rows
}

#[test]
fn letor_text_is_loaded_as_by_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let list_net = Recipe::new("list-net");
    let scaled = Recipe::new("list-net").normalizer(Some(crate::data::Normalizer::MinMax));
    let (some, all) = (rows(5), rows(40));
    for (name, rows) in [("sorted.txt", all.clone()), ("shuffled.txt", shuffled(&all)), ("few.txt", some)] {
        for count in [1, 2, 3, 5] {
            let files = write_cut(folder.path(), name, &rows, count, letor);
            let valid = write_cut(folder.path(), &format!("valid-{name}"), &rows[..9], 2, |rows| {
                letor(rows).replace(" 1:", " 0:1 9:1 1:")
            });
            for recipe in [&list_net, &scaled] {
                assert_loads(&job(&files, None, &grouped()), recipe, &format!("{count} {name}"));
                assert_loads(
                    &job(&files, Some(&valid), &grouped()),
                    recipe,
                    &format!("{count} {name}, valid"),
                );
            }
            assert_loads(
                &job(&files, None, &categorical(&["3"])),
                &list_net,
                &format!("{count} {name}, codes"),
            );
        }
    }
}

#[test]
fn wide_files_are_sparse_for_all_if_they_are_for_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let all = rows(30);
    let wide = |rows: &[(usize, usize)]| letor(rows).replace(" 6:", " 6000:");
    let files = write_cut(folder.path(), "wide.txt", &all, 3, wide);
    let narrow = write_cut(folder.path(), "narrow.txt", &all, 3, letor);
    let recipe = Recipe::new("list-net");
    assert_loads(&job(&files, None, &grouped()), &recipe, "wide");
    assert_loads(&job(&narrow, Some(&files), &grouped()), &recipe, "widened");
    for layout in [crate::data::Layout::Dense, crate::data::Layout::Sparse] {
        let options = ReadOptions { layout, ..grouped() };
        assert_loads(&job(&files, Some(&narrow), &options), &recipe, "a layout");
    }
}

#[test]
fn tables_with_categories_and_weights_are_loaded_as_by_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = Recipe::new("list-net");
    let all = rows(40);
    let unseen = |rows: &[(usize, usize)]| csv(rows).replace("acme", "unseen").replace("tulip", "Other");
    for (name, rows) in [("sorted.csv", all.clone()), ("shuffled.csv", shuffled(&all))] {
        for count in [1, 2, 3, 5] {
            let files = write_cut(folder.path(), name, &rows, count, csv);
            let valid = write_cut(folder.path(), &format!("valid-{name}"), &all[..30], 2, unseen);
            for options in [categorical(&["brand", "number"]), categorical(&["brand"])] {
                let what = format!("{count} {name}");
                assert_loads(&job(&files, None, &options), &recipe, &what);
                assert_loads(&job(&files, Some(&valid), &options), &recipe, &format!("{what}, valid"));
            }
        }
    }
    // Numbers in some files, text in others.
    let numbers = |rows: &[(usize, usize)]| match rows[0].0 {
        0 => ["zenith", "acme", "tulip", "9.5"]
            .iter()
            .fold(csv(rows), |text, brand| text.replace(brand, "7.0")),
        _ => csv(rows),
    };
    let mixed = write_cut(folder.path(), "mixed.csv", &all, 3, numbers);
    assert_loads(&job(&mixed, None, &categorical(&["brand"])), &recipe, "mixed");
    assert_loads(
        &job(&mixed[..1], Some(&mixed[1..]), &categorical(&["brand"])),
        &recipe,
        "numbers, then text",
    );
    // A table without rows among others.
    let empty = folder.path().join("empty.csv");
    std::fs::write(&empty, csv(&[])).unwrap();
    let with_empty = [&mixed[..1], &[empty], &mixed[1..]].concat();
    assert_loads(&job(&with_empty, None, &categorical(&["brand"])), &recipe, "a file without rows");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_is_loaded_as_by_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (recipe, all) = (Recipe::new("list-net"), rows(40));
    for count in [1, 2, 3, 5] {
        let tables = write_cut(folder.path(), "as.csv", &all, count, csv);
        let written = |table: &PathBuf| {
            let data = read_all(std::slice::from_ref(table), &categorical(&["brand"])).unwrap().data;
            let path = table.with_extension("parquet");
            crate::data::write(&data, &path, None).unwrap();
            path
        };
        let files: Vec<PathBuf> = tables.iter().map(written).collect();
        assert_loads(&job(&files, None, &grouped()), &recipe, &format!("{count} Parquet files"));
        assert_loads(&job(&files, Some(&files[..1]), &grouped()), &recipe, &format!("{count}, valid"));
    }
}

#[test]
fn compressed_files_and_more_workers_than_queries() {
    let folder = tempfile::tempdir().unwrap();
    let text = letor(&rows(3));
    let path = folder.path().join("few.txt.zst");
    std::fs::write(&path, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    assert_loads(&job(&[path], None, &grouped()), &Recipe::new("list-net"), "three queries");
}

/// A feature set of these features.
fn feature_set(names: &[&str]) -> String {
    let features: String = names.iter().map(|name| format!("{{ name = '{name}' }}, ")).collect();
    format!("name = 'set'\nfeatures = [{features}]\nanalyzers = {{ title = 'english' }}\n")
}

fn write_beside(file: &Path, text: &str) {
    std::fs::write(format!("{}.features.toml", file.display()), text).unwrap();
}

#[test]
fn feature_sets_are_loaded_as_by_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let (recipe, all) = (Recipe::new("list-net"), rows(40));
    let texts = write_cut(folder.path(), "set.txt", &all, 3, letor);
    let tables = write_cut(folder.path(), "set.csv", &all, 3, csv);
    let (six, two) = (feature_set(&["a", "b", "c", "d", "e", "f"]), feature_set(&["x", "number"]));
    texts.iter().for_each(|file| write_beside(file, &six));
    tables.iter().for_each(|file| write_beside(file, &two));
    let loaded = alone(&job(&texts, None, &grouped()), &recipe.check().unwrap()).unwrap();
    assert_eq!(loaded[0].columns().name(5), "f");
    assert_loads(&job(&texts, Some(&texts[1..2]), &grouped()), &recipe, "texts");
    assert_loads(&job(&tables, Some(&tables[..1]), &categorical(&["brand"])), &recipe, "tables");
    write_beside(&texts[2], &two);
    assert_refused(&job(&texts, None, &grouped()), "3-2-set.txt have different feature sets");
    texts.iter().for_each(|file| write_beside(file, &two));
    assert_refused(&job(&texts, None, &grouped()), "has 6 features, from number 1 on, and");
}

/// What is wrong has the words of one machine, for everybody.
fn assert_refused(job: &TrainJob, sentence: &str) {
    let trainer = Recipe::new("list-net").check().unwrap();
    let alone = alone(job, &trainer).unwrap_err().to_string();
    assert!(alone.contains(sentence), "{alone}");
    for workers in WORKERS {
        let (driver, others) =
            with_exchange(workers, |exchange| load(job, &trainer, &exchange).unwrap_err().to_string());
        for refusal in others.iter().chain([&driver]) {
            assert_eq!(*refusal, alone, "{workers} workers");
        }
    }
}

#[test]
fn errors_are_those_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let all = rows(12);
    let good = write_cut(folder.path(), "good.txt", &all, 3, letor);
    let apart = [file("a.txt", &letor(&all[..20])), file("b.txt", &letor(&all[40..]))];
    let plain = ReadOptions::default();
    let with = |other: PathBuf| [&apart[..1], &[other], &apart[1..]].concat();
    let refused = |files: &[PathBuf], options: &ReadOptions, sentence: &str| {
        assert_refused(&job(files, None, options), sentence);
        assert_refused(&job(&apart, Some(files), options), sentence);
    };
    refused(&with(folder.path().join("none.txt")), &plain, "cannot open");
    refused(&with(folder.path().to_path_buf()), &plain, "it is a directory");
    refused(&with(file("label.txt", "1 qid:900 1:2\nbad qid:900 1:2\n")), &plain, "label.txt:2:1:");
    refused(&with(file("blank.txt", "\n# nothing\n")), &plain, "has no documents");
    refused(&with(file("nothing.txt", "")), &plain, "nothing.txt");
    refused(&good, &plain, "option `group`");
    refused(
        &with(file("twice.txt", "1 qid:900 1:2\n1 qid:901 1:2\n0 qid:900 1:1\n")),
        &plain,
        "on line 1 and again",
    );
    refused(&with(file("id.txt", "1 qid:900 16777216:1\n")), &plain, "memory limit");
    refused(&apart, &categorical(&["77"]), "no feature `77`");
    refused(&apart, &categorical(&["1"]), "is not a category");
    let tables = write_cut(folder.path(), "good.csv", &all, 3, csv);
    let csv_with = |name: &str, text: &str| [&tables[..2], &[file(name, text)], &tables[2..]].concat();
    let refused = |files: &[PathBuf], options: &ReadOptions, sentence: &str| {
        assert_refused(&job(files, None, options), sentence);
        assert_refused(&job(&tables[..1], Some(files), options), sentence);
    };
    let brand = categorical(&["brand"]);
    refused(&tables, &ReadOptions { group: false, ..brand.clone() }, "option `group`");
    refused(
        &csv_with("other.csv", "qid,label,weight,y,brand,number\nz,0,1,1,,\n"),
        &brand,
        "the same columns",
    );
    refused(&csv_with("bare.csv", "qid,label,x,brand,number\nz,0,1,,\n"), &brand, "the same columns");
    refused(
        &csv_with("text.csv", "qid,label,weight,x,brand,number\nz,high,1,1,,\n"),
        &brand,
        "text.csv:2:3:",
    );
    refused(
        &csv_with("weight.csv", "qid,label,weight,x,brand,number\nq3,0,9,1,,\n"),
        &brand,
        "has the weight 9 here",
    );
    refused(&tables, &categorical(&["missing"]), "there is no column `missing`");
    refused(
        &csv_with("half.csv", "qid,label,weight,x,brand,number\nz,0,1,1,,1.5\n"),
        &categorical(&["brand", "number"]),
        "is not a category",
    );
    refused(&[file("head.csv", &csv(&[]))], &brand, "no rows");
    refused(&csv_with("empty.csv", ""), &brand, "is empty");
}

#[test]
fn what_needs_no_data_is_refused_before_any_is_read() {
    let refusal = |job: &TrainJob| job.check().map(drop).unwrap_err().to_string();
    let of = |learner: &str, files: &[&str]| {
        TrainJob::new(&Recipe::new(learner), Source::new(files.iter().copied()), None, 2).unwrap()
    };
    assert!(refusal(&of("prank", &["a.txt"])).starts_with("`prank` cannot be trained on several workers"));
    assert!(refusal(&of("no-such", &["a.txt"])).contains("no-such"));
    let source =
        |files: &[&str]| Source::new(files.iter().copied()).format().map(drop).unwrap_err().to_string();
    assert!(source(&["-"]).contains("standard input"));
    assert!(source(&["a.txt", "b.csv"]).contains("different formats"));
    assert!(source(&[]).contains("no files"));
}

/// Answers as they were given, and no contributions: a worker in the place of one that was lost.
struct Replayed {
    worker: usize,
    answers: Mutex<std::vec::IntoIter<Vec<u8>>>,
}

impl Exchange for Replayed {
    fn worker(&self) -> Option<usize> {
        Some(self.worker)
    }

    fn ask(
        &self,
        _: &'static Location<'static>,
        _: &mut dyn FnMut() -> Vec<u8>,
        _: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Vec<u8> {
        self.answers.lock().unwrap().next().expect("an answer to every question")
    }

    fn saved(&self, _: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        unreachable!("loading keeps no state")
    }

    fn keep(&self, _: &mut dyn FnMut() -> Vec<u8>) {}
}

/// Passes questions on, and keeps the answers.
struct Recorded {
    inner: Arc<dyn Exchange>,
    answers: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Exchange for Recorded {
    fn worker(&self) -> Option<usize> {
        self.inner.worker()
    }

    fn ask(
        &self,
        question: &'static Location<'static>,
        own: &mut dyn FnMut() -> Vec<u8>,
        decide: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Vec<u8> {
        let answer = self.inner.ask(question, own, decide);
        self.answers.lock().unwrap().push(answer.clone());
        answer
    }

    fn saved(&self, first: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        self.inner.saved(first)
    }

    fn keep(&self, state: &mut dyn FnMut() -> Vec<u8>) {
        self.inner.keep(state);
    }
}

#[test]
fn a_worker_in_the_place_of_another_loads_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let files = write_cut(folder.path(), "some.csv", &rows(40), 3, csv);
    let job = job(&files, Some(&files[..1]), &categorical(&["brand"]));
    let trainer = Recipe::new("list-net").check().unwrap();
    let (_, others) = with_exchange(3, |inner| {
        let answers = Arc::new(Mutex::new(Vec::new()));
        let recorded: Arc<dyn Exchange> = Arc::new(Recorded { inner, answers: answers.clone() });
        let (sets, _) = load(&job, &trainer, &recorded).unwrap();
        let answers = answers.lock().unwrap().clone();
        (sets, answers)
    });
    for (worker, (sets, answers)) in others.into_iter().enumerate() {
        let again: Arc<dyn Exchange> =
            Arc::new(Replayed { worker, answers: Mutex::new(answers.into_iter()) });
        let (loaded, _) = load(&job, &trainer, &again).unwrap();
        let texts = |sets: &[Dataset]| sets.iter().map(shown).collect::<Vec<_>>();
        assert_eq!(texts(&loaded), texts(&sets));
        assert!(loaded.iter().zip(&sets).all(|(a, b)| a.whole() == b.whole()));
    }
}

/// Trains on 1 machine and on several workers, and compares the files of the models, or the errors. Returns whether there
/// is a model.
fn trains(recipe: &Recipe, train: &[PathBuf], valid: Option<&[PathBuf]>, options: &ReadOptions) -> bool {
    let source = |files: &[PathBuf]| Source { files: files.to_vec(), options: options.clone() };
    let job = TrainJob::new(recipe, source(train), valid.map(source), 3).unwrap();
    let job = TrainJob::from_json(&job.to_json()).unwrap();
    let read = |files: &[PathBuf]| read_all(files, options).unwrap().data;
    let (one, other) = (read(train), valid.map(read));
    let text = |result: Result<crate::models::Ranker>| match result {
        Ok(ranker) => String::from_utf8(ranker.to_bytes()).unwrap(),
        Err(error) => error.to_string(),
    };
    let alone = text(recipe.fit(&one, other.as_ref(), Start::default(), &mut Silent::default()));
    for workers in WORKERS {
        let (driver, others) = with_exchange(workers, |exchange| {
            text(
                super::train(&job, None, exchange, &mut Silent::default(), &|_| {})
                    .map(|trained| trained.ranker),
            )
        });
        for divided in others.iter().chain([&driver]) {
            assert_eq!(*divided, alone, "{recipe:?} on {workers} workers");
        }
    }
    alone.starts_with('{')
}

#[test]
fn recipes_give_the_ranker_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let all = rows(40);
    let (files, valid) = (
        write_cut(folder.path(), "train.txt", &shuffled(&all), 3, letor),
        write_cut(folder.path(), "valid.txt", &all[20..90], 2, letor),
    );
    let small = write_cut(folder.path(), "small.txt", &all, 2, |rows| {
        letor(rows).lines().map(|line| format!("0.{}\n", line)).collect()
    });
    let tables = write_cut(folder.path(), "train.csv", &all, 3, csv);
    let trees = |learner: &str| Recipe::new(learner).set("iterations", 4).set("min_data_in_leaf", 3);
    let scaled = Some(crate::data::Normalizer::MinMax);
    for recipe in [
        Recipe::new("regression"),
        Recipe::new("list-net").normalizer(scaled.clone()),
        Recipe::new("rank-svm").metric("map"),
        Recipe::new("svm-map").metric("map"),
        trees("lambda-mart").normalizer(scaled),
        trees("list-net").scorer("trees").set("early_stopping_rounds", 2).set("subsample", 0.7),
        // No split is possible, so the note says why.
        trees("lambda-mart").set("min_data_in_leaf", 1_000),
    ] {
        assert!(trains(&recipe, &files, None, &grouped()), "{recipe:?}");
        assert!(trains(&recipe, &files, Some(&valid), &grouped()), "{recipe:?}");
        trains(&recipe, &small, Some(&valid), &grouped());
    }
    for options in [categorical(&["brand", "number"]), categorical(&["brand"])] {
        assert!(trains(&trees("lambda-mart"), &tables, Some(&tables[..1]), &options));
        assert!(!trains(&Recipe::new("regression"), &tables, None, &options));
        let normalized = trees("lambda-mart").normalizer(Some(crate::data::Normalizer::Log));
        assert!(!trains(&normalized, &tables, None, &options));
    }
}

#[test]
fn too_few_files_for_the_workers_are_told() {
    let job = |files: &[&str], workers: usize| {
        TrainJob::new(&Recipe::new("regression"), Source::new(files), None, workers).unwrap()
    };
    assert_eq!(job(&["a"], 1).forecast(), None);
    assert_eq!(job(&["a", "b", "c"], 3).forecast(), None);
    let one = "the training data is 1 file for 2 workers, and a worker holds a whole file in memory while it reads it; \
               divide large data into at least 2 files";
    assert_eq!(job(&["a"], 2).forecast().unwrap(), one);
    assert!(
        job(&["a", "b"], 3).forecast().unwrap().starts_with("the training data is 2 files for 3 workers")
    );
}

#[test]
fn a_long_training_is_forecast_by_the_worker_that_has_most_to_do() {
    let trainer = Recipe::new("lambda-rank").check().unwrap();
    let data = |documents: usize| {
        let labels: Vec<f32> = (0..documents).map(|i| (i % 3) as f32).collect();
        Dataset::dense(vec![1.0; documents], 1, labels, &[documents]).unwrap()
    };
    let (short, long) = (data(10), data(100_000));
    let (driver, workers) = with_exchange(2, |exchange| {
        let own = if exchange.worker() == Some(1) { &long } else { &short };
        forecast(&trainer, own, &*exchange)
    });
    assert!(driver.as_ref().unwrap().contains("the longest query has 100000"), "{driver:?}");
    assert_eq!(workers, [driver.clone(), driver]);
    let (driver, _) = with_exchange(2, |exchange| forecast(&trainer, &short, &*exchange));
    assert_eq!(driver, None);
}
