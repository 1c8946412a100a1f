//! Trains hessboost's LambdaMART on the data of `benches/trees.py`: `hessboost-bench DIR QUERIES LEAVES ROUNDS THREADS SCORES`.

use hessboost::config::GrowPolicy;
use hessboost::objective::LambdaRank;
use hessboost::prelude::*;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn words<T>(path: &Path, read: fn([u8; 4]) -> T) -> std::io::Result<Vec<T>> {
    Ok(std::fs::read(path)?.chunks_exact(4).map(|b| read([b[0], b[1], b[2], b[3]])).collect())
}

fn kilobytes(field: &str) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|l| l.starts_with(field)).ok_or("no such field")?;
    Ok(line.split_whitespace().nth(1).ok_or("no number")?.parse()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let a: Vec<String> = std::env::args().collect();
    let directory = Path::new(&a[1]);
    let (queries, leaves, rounds, threads): (usize, usize, usize, usize) =
        (a[2].parse()?, a[3].parse()?, a[4].parse()?, a[5].parse()?);
    let sizes: Vec<usize> =
        words(&directory.join("sizes.u32"), u32::from_le_bytes)?.into_iter().map(|n| n as usize).collect();
    let labels = words(&directory.join("labels.f32"), f32::from_le_bytes)?;
    let values = words(&directory.join("values.f32"), f32::from_le_bytes)?;
    let width = values.len() / labels.len();
    let rows: usize = sizes[..queries].iter().sum();
    std::fs::write("/proc/self/clear_refs", "5")?;
    let before = kilobytes("VmRSS")?;

    let start = Instant::now();
    let train = DMatrix::from_dense(&values[..rows * width], rows, width)?
        .with_labels(&labels[..rows])?
        .with_group_sizes(&sizes[..queries])?;
    let parameters = TrainingParams::builder()
        .objective(Objective::RankNdcg(LambdaRank::new(30)?))
        .grow_policy(GrowPolicy::LossGuide)
        .unlimited_depth()
        .max_leaves(leaves)
        .max_bin(255)
        .eta(0.1)
        .lambda(0.0)
        .min_child_weight(1e-3)
        .nthread(threads)
        .build()?;
    let model = hessboost::training::train(&parameters, &train, rounds)?;
    let seconds = start.elapsed().as_secs_f64();
    let peak = (kilobytes("VmHWM")?.saturating_sub(before)) * 1024;

    let test = DMatrix::from_dense(&values[rows * width..], labels.len() - rows, width)?;
    let scores = model.predict(&test, Iterations::default())?;
    let score = |row| scores.row(row).map_or(f64::NAN, |outputs| f64::from(outputs[0]));
    let bytes: Vec<u8> = (0..scores.n_rows()).flat_map(|row| score(row).to_le_bytes()).collect();
    std::fs::write(&a[6], bytes)?;
    println!("{{\"seconds\": {seconds}, \"peak_bytes\": {peak}}}");
    Ok(())
}
