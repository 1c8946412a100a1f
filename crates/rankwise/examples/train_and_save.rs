//! Train a ranker, save it, and load it again.
//!
//! ```sh
//! cargo run --release -p rankwise --example train_and_save
//! ```
//!
//! The data is synthetic. To use your own, replace `synthetic_data` with `rankwise::data::read`.

#![allow(clippy::print_stdout)]

use rankwise::data::{Dataset, SplitOrder, Synth, SyntheticShape, split};
use rankwise::metrics::{Conventions, evaluate, parse_list};
use rankwise::models::Ranker;
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::Silent;

fn main() -> rankwise::Result<()> {
    // Queries are split, never the documents of a query.
    let subsets = split(&synthetic_data()?, &[0.6, 0.2, 0.2], SplitOrder::Shuffled(1))?;
    let [train, valid, test] = &subsets[..] else { unreachable!("three fractions give three subsets") };

    // A recipe names everything that decides the result. Parameters also go by the names of LightGBM, XGBoost,
    // CatBoost and RankLib: `eta` is `learning_rate`.
    let recipe = Recipe::new("lambda-mart").set("eta", 0.1).set("num_leaves", 15).metric("ndcg@10").seed(1);

    // Validation queries decide after how many trees training stops.
    let ranker = recipe.fit(train, Some(valid), Start::default(), &mut Silent::default())?;
    println!("{} iterations", ranker.record.rounds);

    // The file has everything that scoring needs, and the recipe that made it.
    let directory = tempfile::tempdir().map_err(|e| rankwise::Error::data(e.to_string()))?;
    let path = directory.path().join("model.json");
    ranker.save(&path)?;
    let loaded = Ranker::load(&path)?;
    assert_eq!(loaded.score(test)?, ranker.score(test)?);
    assert_eq!(loaded.parameters["learning_rate"].as_float(), Some(0.1));

    // Is it better than no ranking at all? Equal scores stand for the mean over all orders.
    let learned = mean_ndcg(test, &loaded.score(test)?)?;
    let unranked = mean_ndcg(test, &vec![0.0; test.len()])?;
    println!("ndcg@10 of {} test queries: {learned:.4}; unranked: {unranked:.4}", test.query_count());
    assert!(learned > unranked + 0.1);
    Ok(())
}

/// A hundred queries of about thirty documents with twenty features, in the shape of MSLR-WEB.
fn synthetic_data() -> rankwise::Result<Dataset> {
    let shape = SyntheticShape::named("mslr")?;
    Synth { queries: Some(100), documents: Some(30), features: Some(20), ..Synth::new(shape) }.generate()
}

/// Mean NDCG@10 over the queries of `data`.
fn mean_ndcg(data: &Dataset, scores: &[f64]) -> rankwise::Result<f64> {
    let metrics = parse_list("ndcg@10", &Conventions::default())?;
    Ok(evaluate(data, scores, &metrics)?.mean(0).unwrap_or(0.0))
}
