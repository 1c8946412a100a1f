//! `demo search`: a small collection searched by BM25 and by a model.

use super::compare;
use crate::{output, table};
use anyhow::{Context, Result, ensure};
use rankwise::Recipe;
use rankwise::data::{Dataset, write};
use rankwise::rank::Ranking;
use rankwise::recipe::Start;
use rankwise::watch::Silent;
use rankwise_search::search::{Trial, against_bm25};
use rankwise_search::{Snapshot, demo};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// How many documents of a query are shown.
const TOP: usize = 5;

const FOLDS: usize = 5;

/// Indexes the collection, trains on its judgments and shows both rankings.
pub(super) fn run(directory: &Path, seed: u64, json: bool) -> Result<()> {
    let index = directory.join("docs.idx");
    ensure!(
        !index.exists(),
        "{} is there already; remove {} or name another directory with -o",
        index.display(),
        directory.display()
    );
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let snapshot = Arc::new(demo::index(&index)?.snapshot()?);
    let data = demo::extract(&snapshot)?;
    output::notes(&write(&data, &directory.join("train.csv"), None)?);
    let recipe = Recipe::new("lambda-mart").seed(seed);
    let bar = crate::progress::queries(FOLDS);
    let trial = against_bm25(&recipe.check()?, &data, "ndcg@10,map", FOLDS, seed, &|| bar.inc(1));
    bar.finish_and_clear();
    let trial = trial?;
    let ranker = recipe.fit(&data, None, Start::default(), &mut Silent::default())?;
    ranker.save(&directory.join("model.json"))?;
    if json {
        return output::print_json(&serde_json::json!({ "by_metric": trial.comparisons }));
    }
    let metrics = ["ndcg@10".to_owned(), "map".to_owned()];
    output::print(&format!(
        "{} and {}, of which {} folds were kept aside in turn:\n\n{}\n{}",
        output::count(snapshot.len() as usize, "page", "pages"),
        output::count(data.query_count(), "query", "queries"),
        FOLDS,
        compare::as_text(&trial.comparisons, &metrics, "preset default"),
        both_rankings(&snapshot, &data, &trial)?
    ))?;
    let (index, model) = (index.display(), directory.join("model.json"));
    let query = query_text(data.query(trial.typical).id())?;
    let command = format!("rankwise search {index} {query} --model {} --explain", model.display());
    output::next_command("search the collection with", &command);
    Ok(())
}

/// The first pages for a typical query, by BM25 and by a model that was trained without it.
fn both_rankings(snapshot: &Snapshot, data: &Dataset, trial: &Trial) -> Result<String> {
    let shown = data.query(trial.typical);
    let text = query_text(shown.id())?;
    let range = shown.range();
    let ranking = Ranking::by_scores(&trial.scores[range.clone()]);
    let mut rows = table::Columns::new(&["", ">grade", "BM25", ">grade", "learned"]);
    let cell = |at: usize| -> Result<[String; 2]> {
        let id = data.document_id(range.start + at).context("a page without an id")?;
        let address = snapshot.find(id)?.context("a page that is not in the index")?;
        let document = snapshot.document(address)?;
        let title = document.fields.iter().find(|(name, _)| name == "title");
        let title = title.map_or_else(|| id.to_owned(), |(_, title)| title.to_text());
        Ok([format!("{}", data.labels()[range.start + at]), title])
    };
    for place in 0..TOP.min(range.len()) {
        let [bm25_grade, bm25] = cell(place)?;
        let [grade, learned] = cell(ranking.order()[place] as usize)?;
        rows.row([(place + 1).to_string(), bm25_grade, bm25, grade, learned]);
    }
    let heading = format!(
        "\"{text}\", a query that gains as much as queries do on average, with the grades of the judgments (3 is best):"
    );
    Ok(format!("{}\n\n{}", table::wrap(&heading), rows.render()))
}

fn query_text(id: &str) -> Result<String> {
    let named = demo::queries()?.into_iter().find(|query| query.id == id);
    Ok(named.context("the demo lacks its query")?.text)
}
