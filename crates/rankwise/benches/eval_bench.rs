//! Times evaluation for `benches/eval.py`: `eval_bench FILE QUERIES DOCUMENTS MEASURES`.
//!
//! FILE holds, for QUERIES × DOCUMENTS documents, little-endian f64 scores and then f32 grades. Prints JSON: the least
//! seconds of several runs, and the mean of each measure under the `ranx` preset.

use rankwise::data::Dataset;
use rankwise::metrics::{evaluate, parse_list, preset};
use std::time::Instant;

/// As many as `eval.py` gives the others, after one to warm up: the least of more runs would flatter us.
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, queries, documents, measures] = arguments.as_slice() else {
        return Err("usage: eval_bench FILE QUERIES DOCUMENTS MEASURES".into());
    };
    let (queries, documents): (usize, usize) = (queries.parse()?, documents.parse()?);
    let bytes = std::fs::read(file)?;
    let (scores, labels) = bytes.split_at(queries * documents * size_of::<f64>());
    let scores: Vec<f64> = scores.as_chunks().0.iter().map(|b| f64::from_le_bytes(*b)).collect();
    let labels = labels.as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let data = Dataset::dense(Vec::new(), 0, labels, &vec![documents; queries])?;
    let metrics = parse_list(measures, &preset("ranx")?)?;
    let mut seconds = f64::INFINITY;
    let mut means = Vec::new();
    evaluate(&data, &scores, &metrics)?;
    for _ in 0..RUNS {
        let start = Instant::now();
        let evaluation = evaluate(&data, &scores, &metrics)?;
        means = (0..metrics.len()).filter_map(|m| evaluation.mean(m)).collect();
        seconds = seconds.min(start.elapsed().as_secs_f64());
    }
    let means: Vec<String> = means.iter().map(f64::to_string).collect();
    let result = format!("{{\"seconds\": {seconds}, \"means\": [{}]}}\n", means.join(", "));
    std::io::Write::write_all(&mut std::io::stdout(), result.as_bytes())?;
    Ok(())
}
