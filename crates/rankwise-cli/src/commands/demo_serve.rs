//! What `serve --demo` serves: the small collection, with a model that was trained on its judgments.

use crate::output;
use anyhow::{Context, Result};
use rankwise::Recipe;
use rankwise::recipe::Start;
use rankwise::watch::Silent;
use rankwise_search::{Index, demo};
use rankwise_server::Settings;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The directory of the demo.
const DIRECTORY: &str = "rankwise-demo-serve";

/// Makes the collection, unless it is there, and names its files in the settings. Returns the token that is kept with it,
/// which counts if no other is given.
pub(super) fn prepare(settings: &mut Settings) -> Result<Option<String>> {
    let directory = Path::new(DIRECTORY);
    let [index, model, queries] = ["docs.idx", "model.json", "queries.tsv"].map(|name| directory.join(name));
    if !model.exists() {
        fs::create_dir_all(directory).with_context(|| {
            format!("cannot create {DIRECTORY} here; start the demo in a directory in which you may write")
        })?;
        let opened = if index.exists() { Index::open(&index)? } else { demo::index(&index)? };
        let data = demo::extract(&Arc::new(opened.snapshot()?))?;
        let mut text = String::new();
        for query in demo::queries()? {
            writeln!(text, "{}\t{}", query.id, query.text)?;
        }
        fs::write(&queries, text).with_context(|| format!("cannot write {}", queries.display()))?;
        let ranker =
            Recipe::new("lambda-mart").seed(1).fit(&data, None, Start::default(), &mut Silent::default())?;
        ranker.save(&model)?;
        output::note(format!("wrote the collection of the demo to {}", directory.display()));
    }
    settings.index = Some(index);
    settings.models = vec![("learned".to_owned(), model)];
    settings.queries = Some(queries);
    settings.log = Some(directory.join("clicks.jsonl"));
    settings.judgments = Some(directory.join("judgments.csv"));
    if !settings.admin_tokens.is_empty() {
        return Ok(None);
    }
    let token = directory.join("token");
    settings.admin_tokens = super::serve::tokens(&token)?;
    output::note(format!("judging and changing models needs the token in {}", token.display()));
    Ok(settings.admin_tokens.first().cloned())
}
