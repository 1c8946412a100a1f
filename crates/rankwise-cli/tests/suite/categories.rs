//! Categorical features from the command line, from a table as pandas writes it to an exported model.

use crate::place::Place;
use serde_json::Value;

/// `train.csv` with row numbers, a number, a brand as text and a shop as a number with `.0`; `test.csv` has a brand
/// that is not in it.
fn place() -> Place {
    let place = Place::new();
    let brands = ["acme", "b&o", "\"c, d\"", "zenith", "ünder", "x", "y"];
    let row = |i: usize, brands: &[&str]| {
        let brand = (i * 5 + i / 7) % 7;
        let shop = if i.is_multiple_of(9) { String::new() } else { format!("{}.0", (i * 11) % 13) };
        let price = (i * 37 % 100) as f64 / 10.0;
        let label = (brand * 3 % 4 + usize::from(price > 5.0)).min(3);
        let named = if i % 13 == 5 { "" } else { brands[brand] };
        format!("{i},{label},q{},{price},{named},{shop}\n", i / 10)
    };
    let header = ",label,qid,price,brand,shop\n";
    let train: String = (0..600).map(|i| row(i, &brands)).collect();
    place.write("train.csv", format!("{header}{train}"));
    let others = ["acme", "never seen", "\"c, d\"", "zenith", "ünder", "x", "y"];
    let test: String = (600..700).map(|i| row(i, &others)).collect();
    place.write("test.csv", format!("{header}{test}"));
    place
}

const TRAIN: &str = "train lambda-mart --train train.csv --categorical brand,shop --set iterations=20 \
                     --set min_data_per_group=10 --set cat_smooth=1 -o m.json";

#[test]
fn from_a_table_of_pandas_to_scores_explanations_and_exports() {
    let place = place();
    // Without the role, the text is an error, and the hint names the flag.
    let (code, _, told) = place.outcome("train lambda-mart --train train.csv -o m.json");
    assert!(code != 0 && told.contains("use --ignore brand, or --categorical for columns"), "{told}");
    place.ok(TRAIN);
    let inspected = place.ok("inspect m.json");
    assert!(inspected.contains("brand (7 categories), shop"), "{inspected}");
    assert!(place.ok("inspect m.json --tree 1").contains(" in {"));
    // The model knows which columns are categorical.
    let scores = place.ok("score m.json test.csv");
    assert_eq!(scores.lines().count(), 100);
    assert!(place.ok("eval m.json test.csv").contains("ndcg@10"));
    let explained = place.ok("explain m.json test.csv --query q60 --depth 0");
    assert!(explained.contains("never seen") && explained.contains("zenith"), "{explained}");
    let json: Value = serde_json::from_str(&place.ok("explain m.json test.csv --document 2 --json")).unwrap();
    let features = json["documents"][0]["contributions"].as_array().unwrap();
    assert!(features.iter().any(|f| f["feature"] == "brand" && f["value"].is_string()), "{json}");
    let dependence = place.ok("dependence m.json test.csv --feature brand");
    assert!(dependence.contains("c, d") && dependence.contains("missing"), "{dependence}");
    place.ok("dependence m.json test.csv --feature brand -o pd.csv");
    assert!(place.read("pd.csv").contains("\"c, d\","));
    // LightGBM's file is read back with the same scores, texts included.
    place.ok("export m.json --format lightgbm -o m.txt");
    assert_eq!(place.ok("score m.txt test.csv"), scores);
    place.ok(
        "train lambda-mart --train train.csv --categorical brand --ignore shop --set iterations=5 -o b.json",
    );
    place.ok("export b.json --format lightgbm -o b.txt");
    assert!(place.read("b.txt").contains("pandas_categorical:[[\"acme\",\"b&o\",\"c, d\",\"x\""));
    let ours = place.ok("score b.json test.csv --ignore shop");
    assert_eq!(place.ok("score b.txt test.csv --ignore shop"), ours);
    let (code, _, told) = place.outcome("export m.json --format ranklib -o m.xml");
    assert!(code != 0 && told.replace("\n  ", " ").contains("categories of feature"), "{told}");
    let (code, _, told) =
        place.outcome("train rank-svm --train train.csv --categorical brand,shop -o l.json");
    assert!(code != 0 && told.replace("\n  ", " ").contains("the data has brand, shop"), "{told}");
}

#[test]
fn tables_are_converted_with_their_categories_and_threads_do_not_matter() {
    let place = place();
    place.ok(&format!("{TRAIN} --threads 1"));
    let one = place.bytes("m.json");
    place.ok(&format!("{TRAIN} --threads 3"));
    assert!(place.bytes("m.json") == one);
    let scores = place.ok("score m.json test.csv");
    place.ok("convert test.csv again.csv --categorical brand,shop");
    assert!(place.read("again.csv").contains(",\"c, d\","));
    assert_eq!(place.ok("score m.json again.csv"), scores);
    if cfg!(feature = "parquet") {
        // Parquet says itself which columns are categorical.
        place.ok("convert train.csv train.parquet --categorical brand,shop");
        place.ok("convert test.csv test.parquet --categorical brand,shop");
        place.ok(&TRAIN.replace("train.csv --categorical brand,shop", "train.parquet"));
        assert!(place.bytes("m.json") == one);
        assert_eq!(place.ok("score m.json test.parquet"), scores);
    }
}

#[test]
fn letor_text_has_categories_by_number_and_experiments_by_role() {
    let place = place();
    place.ok("convert train.csv train.txt --categorical brand,shop");
    place.ok("train mart --train train.txt --categorical 2,3 --set iterations=3 -o l.json");
    assert!(place.ok("inspect l.json").contains("categorical"));
    place.ok("score l.json train.txt");
    place.write(
        "e.toml",
        "name = \"e\"\n[[data]]\nname = \"d\"\nfiles = [\"train.csv\"]\nk = 3\n\
         columns = { categorical = [\"brand\", \"shop\"] }\n\
         [[learner]]\nname = \"mart\"\nset = { iterations = 3 }\n",
    );
    let (code, out, told) = place.outcome("run e.toml -o out");
    assert!(code == 0, "{out}{told}");
}
