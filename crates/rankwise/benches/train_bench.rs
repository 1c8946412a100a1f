//! Trains a learner and prints seconds, peak memory, the objective and its bound as JSON.
//!
//! `train_bench DATA LEARNER [KEY=VALUE …]`; threads as in `RAYON_NUM_THREADS`. DATA is files with commas between, or
//! `SHAPE:QUERIES:DOCUMENTS:FEATURES` for a synthetic set. Reading or making the data is not counted.

use rankwise::data::{Dataset, ReadOptions, Synth, SyntheticShape, read_all};
use rankwise::learners::parse_setting;
use rankwise::recipe::{Recipe, Start};
use rankwise::watch::Silent;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [data, learner, settings @ ..] = &arguments[..] else {
        return Err("usage: train_bench DATA LEARNER [KEY=VALUE …]".into());
    };
    let parameters = settings.iter().map(|text| parse_setting(text)).collect::<Result<toml::Table, _>>()?;
    let train = data_of(data)?;
    let trainer = Recipe::new(learner).set_all(parameters).check()?;
    // Threads are started and their stacks touched before anything is measured.
    rayon::broadcast(|_| ());
    std::fs::write("/proc/self/clear_refs", "5")?;
    let baseline = status_bytes("VmRSS")?;
    let start = Instant::now();
    let record = trainer.fit(&train, None, Start::default(), &mut Silent::default())?.record;
    let seconds = start.elapsed().as_secs_f64();
    let figure = |name: &str| record.figures.iter().find(|(n, _)| n == name).map(|(_, value)| *value);
    let result = serde_json::json!({
        "seconds": seconds,
        "peak_bytes": status_bytes("VmHWM")?.saturating_sub(baseline),
        "objective": figure("primal objective"), "bound": figure("dual objective"), "rounds": record.rounds,
        "outcome": record.outcome,
    });
    std::io::Write::write_all(&mut std::io::stdout(), format!("{result}\n").as_bytes())?;
    Ok(())
}

fn data_of(text: &str) -> Result<Dataset, Box<dyn std::error::Error>> {
    if let [shape, queries, documents, features] = text.split(':').collect::<Vec<_>>()[..] {
        let synth = Synth {
            queries: Some(queries.parse()?),
            documents: Some(documents.parse()?),
            features: Some(features.parse()?),
            ..Synth::new(SyntheticShape::named(shape)?)
        };
        return Ok(synth.generate()?);
    }
    let files: Vec<PathBuf> = text.split(',').map(PathBuf::from).collect();
    Ok(read_all(&files, &ReadOptions::default())?.data)
}

/// A field of Linux's account of this process, in bytes.
fn status_bytes(field: &str) -> Result<usize, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(field)).ok_or("no such field")?;
    let kilobytes: usize = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kilobytes * 1024)
}
