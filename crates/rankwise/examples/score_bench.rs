//! Times scoring for `benches/score.py`: `score_bench MODEL VALUES FORM BATCH:REQUESTS …`.
//!
//! MODEL is a model of trees, ours or another tool's, VALUES rows of little-endian f32 as wide as it, and FORM `compiled` or `plain`.
//! The rows, or as many as are asked for, are scored in requests of BATCH documents. Prints JSON: the least
//! microseconds per document of several runs for each size of request, those that compiling took, and the sum of the
//! scores of all rows.

use rankwise::data::{Dataset, Features, Parts, Query};
use rankwise::models::{Model, Ranker, TreeEnsemble};
use std::time::Instant;

/// As many as `score.py` gives the others, after one to warm up.
const RUNS: usize = 5;

type Score = fn(&TreeEnsemble, Query<'_>, &mut [f64]);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, values, form, sizes @ ..] = arguments.as_slice() else {
        return Err("usage: score_bench MODEL VALUES FORM BATCH:REQUESTS …".into());
    };
    let Model::Trees(ensemble) = Ranker::load(model.as_ref())?.model else {
        return Err("the model has no trees".into());
    };
    let bytes = std::fs::read(values)?;
    let values: Vec<f32> = bytes.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let start = Instant::now();
    ensemble.compile();
    let mut result = serde_json::json!({ "compile_us": 1e6 * start.elapsed().as_secs_f64() });
    let score: Score = match form.as_str() {
        "compiled" => TreeEnsemble::score,
        "plain" => score_plainly,
        _ => return Err("the form is compiled or plain".into()),
    };
    for size in sizes {
        let (batch, requests) = size.split_once(':').ok_or("a size is BATCH:REQUESTS")?;
        let batch: usize = batch.parse()?;
        let wanted = batch * requests.parse::<usize>()? * ensemble.width();
        let data = in_requests(&values[..wanted.min(values.len())], ensemble.width(), batch)?;
        result[format!("us{batch}")] = time(score, &ensemble, &data).into();
    }
    let all = in_requests(&values, ensemble.width(), values.len())?;
    let mut scores = vec![0.0; all.len()];
    score(&ensemble, all.query(0), &mut scores);
    result["sum"] = scores.iter().sum::<f64>().into();
    std::io::Write::write_all(&mut std::io::stdout(), format!("{result}\n").as_bytes())?;
    Ok(())
}

/// Microseconds per document.
fn time(score: Score, ensemble: &TreeEnsemble, data: &Dataset) -> f64 {
    let mut scores = vec![0.0; data.len()];
    let mut seconds = f64::INFINITY;
    for _ in 0..=RUNS {
        let start = Instant::now();
        for query in data.queries() {
            score(ensemble, query, &mut scores[query.range()]);
        }
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    1e6 * seconds / data.len() as f64
}

/// The documents, `batch` to a query.
fn in_requests(values: &[f32], width: usize, batch: usize) -> Result<Dataset, Box<dyn std::error::Error>> {
    let documents = values.len() / width;
    let bounds: Vec<usize> = (0..documents).step_by(batch).chain([documents]).collect();
    Ok(Dataset::new(Parts {
        features: Features::Dense { width, values: values.to_vec() },
        labels: vec![0.0; documents],
        query_ids: (1..bounds.len()).map(|q| format!("q{q}")).collect(),
        bounds,
        ..Parts::default()
    })?)
}

fn score_plainly(ensemble: &TreeEnsemble, query: Query<'_>, out: &mut [f64]) {
    let mut outputs = vec![0.0; ensemble.base().len()];
    for (row, score) in query.rows().zip(out) {
        ensemble.outputs(row, &mut outputs);
        *score = ensemble.combine().score(&outputs);
    }
}
