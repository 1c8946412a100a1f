//! Times scoring for `benches/score.py`: `score_bench MODEL VALUES FORM BATCH:REQUESTS …`.
//!
//! MODEL is a model of trees, ours or another tool's, VALUES rows of little-endian f32 as wide as it, and FORM `compiled` or `plain`.
//! The rows, or as many as are asked for, are scored in requests of BATCH documents. Prints JSON: the least
//! microseconds per document of several runs for each size of request, those that compiling took, and the sum of the
//! scores of all rows.

use rankwise::data::Rows;
use rankwise::models::{Model, Ranker, RowScorer, TreeEnsemble};
use std::time::Instant;

/// As many as `score.py` gives the others at most.
const RUNS: usize = 6;

/// Scores requests by the compiled form of the trees, or by a plain walk through each.
enum Scorer<'a> {
    Compiled(RowScorer<'a>),
    Plain(&'a TreeEnsemble, Vec<f64>),
}

impl Scorer<'_> {
    fn score(&mut self, rows: Rows<'_>, out: &mut [f64]) -> Result<(), rankwise::Error> {
        match self {
            Scorer::Compiled(scorer) => scorer.score_into(rows, out)?,
            Scorer::Plain(ensemble, outputs) => {
                for (row, score) in rows.iter().zip(out) {
                    ensemble.outputs(row, outputs);
                    *score = ensemble.combine().score(outputs);
                }
            }
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, values, form, sizes @ ..] = arguments.as_slice() else {
        return Err("usage: score_bench MODEL VALUES FORM BATCH:REQUESTS …".into());
    };
    let ranker = Ranker::load(model.as_ref())?;
    let Model::Trees(ensemble) = &ranker.model else {
        return Err("the model has no trees".into());
    };
    let bytes = std::fs::read(values)?;
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let rows = Rows::dense(&values, ensemble.width())?;
    let start = Instant::now();
    let compiled = ranker.scorer();
    let mut result = serde_json::json!({ "compile_us": 1e6 * start.elapsed().as_secs_f64() });
    let mut scorer = match form.as_str() {
        "compiled" => Scorer::Compiled(compiled),
        "plain" => Scorer::Plain(ensemble, vec![0.0; ensemble.base().len()]),
        _ => return Err("the form is compiled or plain".into()),
    };
    for size in sizes {
        let (batch, requests) = size.split_once(':').ok_or("a size is BATCH:REQUESTS")?;
        let batch: usize = batch.parse()?;
        let wanted = batch * requests.parse::<usize>()?;
        result[format!("us{batch}")] =
            time(&mut scorer, rows.slice(0..wanted.min(rows.len())), batch)?.into();
    }
    let mut scores = vec![0.0; rows.len()];
    scorer.score(rows, &mut scores)?;
    result["sum"] = scores.iter().sum::<f64>().into();
    std::io::Write::write_all(&mut std::io::stdout(), format!("{result}\n").as_bytes())?;
    Ok(())
}

/// Microseconds per document, in requests of `batch` documents.
fn time(scorer: &mut Scorer<'_>, rows: Rows<'_>, batch: usize) -> Result<f64, rankwise::Error> {
    let mut scores = vec![0.0; rows.len()];
    let mut seconds = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        for (request, out) in scores.chunks_mut(batch).enumerate() {
            let first = request * batch;
            scorer.score(rows.slice(first..first + out.len()), out)?;
        }
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    Ok(1e6 * seconds / rows.len() as f64)
}
