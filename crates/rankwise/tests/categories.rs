//! Categorical features from training to scores, against LightGBM's own answers (`testdata/categories/make.py`) and by
//! properties: codes, texts, threads and files must not matter.

use rankwise::data::{Categories, ColumnRoles, Columns, Dataset, ReadOptions, read};
use rankwise::models::insight::Explainer;
use rankwise::models::interchange::{Format, Vectors, export, replay, synthetic_rows};
use rankwise::models::{Model, Ranker, TreeEnsemble};
use rankwise::recipe::{Recipe, Start};
use rankwise::trees::Tree;
use rankwise::watch::Silent;
use serde::Deserialize;
use std::collections::HashMap;
use std::path::PathBuf;

const CATEGORICAL: [&str; 3] = ["brand", "shop", "colour"];

fn path(name: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/categories")).join(name)
}

fn table(name: &str) -> Dataset {
    let categorical = CATEGORICAL.map(String::from).to_vec();
    let columns = ColumnRoles { categorical, ..ColumnRoles::default() };
    read(&path(name), &ReadOptions { columns, ..ReadOptions::default() }).unwrap().data
}

#[derive(Deserialize)]
struct Answer {
    scores: Vec<f64>,
    #[serde(default)]
    contributions: Vec<Vec<f64>>,
}

fn answer(name: &str) -> Answer {
    let text = std::fs::read(path("answers.json")).unwrap();
    serde_json::from_slice::<HashMap<String, Answer>>(&text).unwrap().remove(name).unwrap()
}

fn ensemble(ranker: &Ranker) -> &TreeEnsemble {
    match &ranker.model {
        Model::Trees(ensemble) => ensemble,
        other => panic!("{other:?}"),
    }
}

fn assert_near(found: &[f64], expected: &[f64], allowed: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((a - b).abs() <= allowed * (1.0 + b.abs()), "row {i}: {a} where {b} is right");
    }
}

fn fit(recipe: &Recipe, train: &Dataset) -> Ranker {
    recipe.fit(train, None, Start::default(), &mut Silent::default()).unwrap()
}

/// Text and numbers are matched by what is written; unseen and missing categories are among the rows.
#[test]
fn lightgbm_models_with_categories_score_as_lightgbm_does() {
    let ranker = Ranker::load(&path("lightgbm-pandas.txt")).unwrap();
    let categories = &ranker.columns.categories;
    assert_eq!(categories.columns().collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(categories.texts(3).unwrap(), ["blue", "green", "red"]);
    assert_eq!(categories.texts(2).unwrap()[1], "4");
    let (rows, expected) = (table("rows.csv"), answer("lightgbm-pandas.txt"));
    assert_near(&ranker.score(&rows).unwrap(), &expected.scores, 1e-12);
    // LightGBM's contributions are followed by the mean.
    let explainer = Explainer::new(&ranker.model).unwrap();
    let prepared = ranker.prepare(&rows).unwrap();
    let found = explainer.contributions(&prepared, &(0..rows.len()).collect::<Vec<_>>()).unwrap();
    for (found, expected) in found.iter().zip(&expected.contributions) {
        assert_near(found, &expected[..4], 1e-6);
    }

    let ranker = Ranker::load(&path("lightgbm-numbers.txt")).unwrap().with_first_id(1).unwrap();
    assert_eq!(ranker.columns.categories.texts(1), Some(&[][..]));
    let shop = |row: usize| -> f32 {
        let code = rows.row(row).get(2);
        if code.is_nan() { code } else { rows.columns().categories.name(2, code as u32).parse().unwrap() }
    };
    let values =
        (0..rows.len()).flat_map(|row| [rows.row(row).get(0), 37.0 * shop(row), shop(row)]).collect();
    let numbers = Dataset::dense(values, 3, vec![0.0; rows.len()], &[rows.len()]).unwrap();
    assert_near(&ranker.score(&numbers).unwrap(), &answer("lightgbm-numbers.txt").scores, 1e-12);
}

#[test]
fn a_lightgbm_model_comes_back_from_our_files_and_its_own() {
    let rows = table("rows.csv");
    for name in ["lightgbm-pandas.txt", "lightgbm-tree-onehot.txt"] {
        let ranker = Ranker::load(&path(name)).unwrap();
        for format in [Format::Rankwise, Format::LightGbm] {
            let again = Ranker::from_bytes(&export(&ranker, format).unwrap().bytes).unwrap();
            assert_eq!(ensemble(&again).trees(), ensemble(&ranker).trees());
            assert_eq!(again.columns, ranker.columns);
            assert_eq!(again.score(&rows).unwrap(), ranker.score(&rows).unwrap());
        }
    }
}

/// Squared error has counts for curvatures, so both tools sum the same numbers.
#[test]
fn the_first_tree_is_that_of_lightgbm() {
    let whole = table("whole.csv");
    for (name, onehot) in [("lightgbm-tree-sets.txt", 1), ("lightgbm-tree-onehot.txt", 4)] {
        let recipe = Recipe::new("mart")
            .set("iterations", 1)
            .set("learning_rate", 1.0)
            .set("num_leaves", 12)
            .set("min_data_in_leaf", 15)
            .set("lambda_l2", 0.5)
            .set("min_data_per_group", 30)
            .set("cat_smooth", 1.0)
            .set("cat_l2", 7.0)
            .set("max_cat_to_onehot", onehot);
        let ours = fit(&recipe, &whole);
        let theirs = Ranker::load(&path(name)).unwrap();
        let (our_tree, their_tree) = (&ensemble(&ours).trees()[0], &ensemble(&theirs).trees()[0]);
        assert_eq!(our_tree.features, their_tree.features, "{name}");
        assert_eq!(sets(&ours, our_tree), sets(&theirs, their_tree), "{name}");
        assert_eq!(our_tree.covers, their_tree.covers);
        assert!(our_tree.categories.iter().filter(|set| !set.is_empty()).count() >= 4);
        assert_near(&ours.score(&whole).unwrap(), &answer(name).scores, 1e-6);
    }
}

/// The categories of each node by what they are called: pandas has places of numbers where we have the numbers.
fn sets(ranker: &Ranker, tree: &Tree) -> Vec<Vec<String>> {
    let names = |node: usize| {
        let (column, set) = (tree.features[node] as usize, tree.category_set(node).unwrap_or_default());
        set.iter().map(|&code| ranker.columns.categories.name(column, code).into_owned()).collect()
    };
    (0..tree.features.len()).map(names).collect()
}

/// Two numbers and a brand, on which grades depend; some brands are missing. With the texts of the brands.
fn brands(seed: u64) -> (Dataset, Vec<String>) {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u32 << 24) as f32
    };
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..1000 {
        let (a, b, brand, noise) = (random(), random(), (random() * 23.0).floor(), random());
        values.extend([a, b, if random() < 0.05 { f32::NAN } else { brand }]);
        labels.push((a + ((brand * 5.0) % 7.0) / 3.0 + noise).floor().min(3.0));
    }
    let texts = (0..23).map(|b| format!("brand {}", (b * 10) % 23)).collect();
    (Dataset::dense(values, 3, labels, &[25; 40]).unwrap(), texts)
}

fn named(data: &Dataset, texts: &[String], order: &[usize]) -> Dataset {
    // Code `c` of the data is text `c`, which has the place of `c` in `order`.
    let mut parts = data.clone().into_parts();
    for x in parts.features.values_mut().iter_mut().skip(2).step_by(3).filter(|x| !x.is_nan()) {
        *x = order.iter().position(|&o| o == *x as usize).unwrap() as f32;
    }
    let texts: Vec<String> = order.iter().map(|&o| texts[o].clone()).collect();
    let categories = Categories::default().with(2, texts).unwrap();
    let names = Some(["a", "b", "brand"].map(String::from).to_vec());
    parts.columns = Columns { names, categories, ..Columns::default() };
    Dataset::new(parts).unwrap()
}

fn learners() -> Vec<Recipe> {
    ["lambda-mart", "mart", "gb-rank", "mcrank"]
        .iter()
        .map(|name| {
            Recipe::new(name).set("iterations", 6).set("min_data_in_leaf", 5).set("min_data_per_group", 10)
        })
        .chain([Recipe::new("random-forest").set("num_trees", 4)])
        .chain([Recipe::new("lambda-mart")
            .set("iterations", 4)
            .set("growth_policy", "oblivious")
            .set("cat_smooth", 1.0)])
        .collect()
}

#[test]
fn every_tree_learner_splits_by_categories_and_codes_do_not_matter() {
    let (data, texts) = brands(1);
    let straight: Vec<usize> = (0..23).collect();
    let turned: Vec<usize> = (0..23).map(|i| (i * 5 + 3) % 23).collect();
    let numbered = data.clone().with_categories(Categories::default().with_numbers([2])).unwrap();
    for recipe in learners() {
        let first = fit(&recipe, &named(&data, &texts, &straight));
        assert!(ensemble(&first).trees().iter().any(Tree::has_categories), "{recipe:?}");
        // The order of texts decides the codes of a model, whatever they were in the data.
        let second = fit(&recipe, &named(&data, &texts, &turned));
        assert_eq!(second.model, first.model);
        assert_eq!(second.columns, first.columns);
        assert_eq!(second.to_bytes(), first.to_bytes());
        let scores = first.score(&data_named(&data, &texts)).unwrap();
        assert_eq!(second.score(&named(&data, &texts, &turned)).unwrap(), scores);
        // Numbers have other codes, and the same splits.
        let by_number = fit(&recipe, &numbered);
        assert_eq!(by_number.score(&numbered).unwrap(), scores, "{recipe:?}");
        let in_threads = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| fit(&recipe, &numbered)).to_bytes()
        };
        assert_eq!(in_threads(1), in_threads(5));
    }
}

fn data_named(data: &Dataset, texts: &[String]) -> Dataset {
    named(data, texts, &(0..23).collect::<Vec<_>>())
}

#[test]
fn unseen_and_missing_categories_go_right_everywhere() {
    let (data, texts) = brands(2);
    let train = data_named(&data, &texts);
    let ranker = fit(&Recipe::new("lambda-mart").set("iterations", 10).set("min_data_per_group", 10), &train);
    let row = |brand: f32| vec![0.3, 0.4, brand];
    let texts_of = |brand: &str| {
        let categories = Categories::default().with(2, [brand]).unwrap();
        let names = Some(["a", "b", "brand"].map(String::from).to_vec());
        let data = Dataset::dense(row(0.0), 3, vec![0.0], &[1]).unwrap();
        data.with_columns(Columns { names, categories, ..Columns::default() }).unwrap()
    };
    let right_everywhere: f64 = {
        let base = ensemble(&ranker).base()[0];
        ensemble(&ranker).trees().iter().fold(base, |sum, tree| {
            let mut plain = tree.clone();
            // As if no category were in any set.
            for node in (0..plain.features.len()).filter(|&node| tree.category_set(node).is_some()) {
                plain.thresholds[node] = -1.0;
            }
            plain.categories.clear();
            sum + plain.values[plain.leaf(rankwise::data::Row::Dense(&row(0.0)))]
        })
    };
    let unseen = ranker.score(&texts_of("never seen")).unwrap()[0];
    assert_eq!(unseen, right_everywhere);
    let mut scorer = ranker.scorer();
    assert_eq!(scorer.score(&row(f32::NAN)).unwrap(), unseen);
    assert_eq!(scorer.score(&row(1e6)).unwrap(), unseen);
    let known = ranker.columns.categories.code(2, &texts[4]).unwrap();
    assert_eq!(scorer.score(&row(known as f32)).unwrap(), ranker.score(&texts_of(&texts[4])).unwrap()[0]);
    assert!((0..23).any(|code| scorer.score(&row(code as f32)).unwrap() != unseen));
}

/// A test file with other categories must not change the model, nor the order of files.
#[test]
fn validation_data_has_other_categories() {
    let (data, texts) = brands(3);
    let all = data_named(&data, &texts);
    let (train, valid) =
        (all.select_queries(&(0..30).collect::<Vec<_>>()), all.select_queries(&(30..40).collect::<Vec<_>>()));
    let mut other = valid.clone().into_parts();
    let own = other
        .columns
        .categories
        .texts(2)
        .unwrap()
        .iter()
        .map(|t| if t == "brand 3" { "new".into() } else { t.clone() });
    other.columns.categories = Categories::default().with(2, own.rev().collect::<Vec<String>>()).unwrap();
    other.features.values_mut().iter_mut().skip(2).step_by(3).for_each(|x| *x = 22.0 - *x);
    let other = Dataset::new(other).unwrap();
    let recipe = Recipe::new("lambda-mart").set("iterations", 5).set("early_stopping_rounds", 0);
    let fit =
        |valid: &Dataset| recipe.fit(&train, Some(valid), Start::default(), &mut Silent::default()).unwrap();
    let (first, second) = (fit(&valid), fit(&other));
    assert_eq!(first.columns, second.columns);
    // Only documents of the renamed brand have other scores.
    let (mine, theirs) = (first.score(&valid).unwrap(), first.score(&other).unwrap());
    let renamed = valid.columns().categories.code(2, "brand 3").unwrap() as f32;
    for row in 0..valid.len() {
        assert!(valid.row(row).get(2) == renamed || mine[row] == theirs[row]);
    }
    assert!((0..valid.len()).any(|row| mine[row] != theirs[row]));
}

#[test]
fn training_goes_on_from_a_model_with_its_codes() {
    let (data, texts) = brands(4);
    let train = data_named(&data, &texts);
    let recipe = |n: i64| Recipe::new("lambda-mart").set("iterations", n).set("min_data_per_group", 10);
    let first = fit(&recipe(3), &train);
    let start = Start { ranker: Some(&first), ..Start::default() };
    let turned: Vec<usize> = (0..23).rev().collect();
    let more = recipe(2).fit(&named(&data, &texts, &turned), None, start, &mut Silent::default()).unwrap();
    assert_eq!(ensemble(&more).trees().len(), 5);
    assert_eq!(ensemble(&more).trees()[..3], ensemble(&first).trees()[..]);
    assert_eq!(more.columns, first.columns);
    let whole = fit(&recipe(5), &train);
    assert_eq!(more.score(&train).unwrap(), whole.score(&train).unwrap());
}

#[test]
fn what_cannot_learn_from_categories_says_so() {
    let (data, texts) = brands(5);
    let train = data_named(&data, &texts);
    let refusal = |recipe: Recipe| {
        recipe.fit(&train, None, Start::default(), &mut Silent::default()).unwrap_err().to_string()
    };
    for recipe in [
        Recipe::new("rank-svm"),
        Recipe::new("coordinate-ascent"),
        Recipe::new("rank-boost"),
        Recipe::new("rank-net").scorer("network"),
        Recipe::new("lambda-mart").scorer("linear"),
    ] {
        let told = refusal(recipe);
        assert!(told.contains("does not learn from categorical features, and the data has brand"), "{told}");
    }
    let monotone = refusal(Recipe::new("lambda-mart").set("monotone", "brand:up"));
    assert!(monotone.contains("`brand`, which is categorical"), "{monotone}");
    let scaled = rankwise::data::Normalizer::parse("min-max").unwrap();
    let scaled = refusal(Recipe::new("lambda-mart").normalizer(Some(scaled)));
    assert!(scaled.contains("feature brand is categorical, and scaling"), "{scaled}");
    // A model that took the column for a number cannot take text.
    let numbers = Columns { categories: Categories::default(), ..train.columns().clone() };
    let plain = fit(&Recipe::new("mart").set("iterations", 1), &train.clone().with_columns(numbers).unwrap());
    let told = plain.score(&train).unwrap_err().to_string();
    assert!(told.contains("feature brand has categories as text in the data"), "{told}");
}

#[test]
fn formats_without_sets_refuse_and_the_others_agree() {
    let (data, texts) = brands(6);
    let ranker = fit(
        &Recipe::new("lambda-mart").set("iterations", 6).set("min_data_per_group", 10),
        &data_named(&data, &texts),
    );
    for format in Format::ALL {
        let exported = export(&ranker, format);
        if [Format::Rankwise, Format::LightGbm].contains(&format) {
            let exported = exported.unwrap();
            let rows = synthetic_rows(&ranker, &exported, 5000);
            let vectors = Vectors::new(&ranker, &exported, rows.clone()).unwrap();
            let found = replay(&exported.bytes, format, &ranker, &rows).unwrap().unwrap();
            assert_eq!(vectors.compare(&found).unwrap().off, 0);
            let tried = |code: u32| rows.iter().any(|row| row[2] == code as f32);
            let sets = || ensemble(&ranker).trees().iter().flat_map(|tree| &tree.categories).flatten();
            assert!(sets().all(|&code| tried(code)));
            assert!(tried(sets().max().unwrap() + 1));
            assert!(rows.iter().any(|row| row[2].is_nan()));
            assert!(rows.iter().all(|row| row[2].is_nan() || row[2] >= 0.0 && row[2].fract() == 0.0));
        } else if format != Format::Onnx {
            let told = exported.unwrap_err().to_string();
            assert!(
                told.contains("categories of feature brand") && told.contains("LightGBM or ONNX"),
                "{told}"
            );
        }
    }
}
