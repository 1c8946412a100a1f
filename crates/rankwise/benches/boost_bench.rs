//! The data and the contender of `benches/trees.py` and `benches/mlp.py`.
//!
//! `boost_bench make SHAPE:QUERIES DIR` writes a synthetic set as plain numbers that any tool reads: `values.f32` row by row with all
//! zeros, `labels.f32`, `sizes.u32` (documents of each query). `boost_bench train DIR QUERIES SCORES LEARNER [KEY=VALUE …]` trains on
//! the first queries and writes the scores of the others as f64; it prints seconds, those of binning alone, and peak
//! memory as JSON. Threads as in `RAYON_NUM_THREADS`.

use rankwise::data::{Dataset, Features, Parts, Synth, SyntheticShape};
use rankwise::learners::parse_setting;
use rankwise::recipe::{Recipe, Start};
use rankwise::trees::Binned;
use rankwise::watch::Silent;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["make", shape, directory] => make(shape, Path::new(directory)),
        ["train", directory, queries, scores, learner, ref settings @ ..] => {
            train(Path::new(directory), queries.parse()?, Path::new(scores), learner, settings)
        }
        _ => {
            Err("usage: boost_bench make SHAPE:QUERIES DIR | train DIR QUERIES SCORES LEARNER [KEY=VALUE …]"
                .into())
        }
    }
}

fn make(shape: &str, directory: &Path) -> Result<(), Box<dyn Error>> {
    let (name, queries) = shape.split_once(':').ok_or("SHAPE:QUERIES")?;
    let data =
        Synth { queries: Some(queries.parse()?), ..Synth::new(SyntheticShape::named(name)?) }.generate()?;
    std::fs::create_dir_all(directory)?;
    let write = |name: &str, bytes: Vec<u8>| std::fs::write(directory.join(name), bytes);
    write("values.f32", dense(&data).iter().flat_map(|x| x.to_le_bytes()).collect())?;
    write("labels.f32", data.labels().iter().flat_map(|x| x.to_le_bytes()).collect())?;
    write("sizes.u32", data.queries().flat_map(|q| (q.len() as u32).to_le_bytes()).collect())?;
    Ok(())
}

/// All values row by row, 0 where a sparse row stores none.
fn dense(data: &Dataset) -> Vec<f32> {
    let mut values = vec![0.0; data.len() * data.width()];
    for (row, out) in data.rows().iter().zip(values.chunks_exact_mut(data.width())) {
        for (column, x) in row.iter() {
            out[column] = x;
        }
    }
    values
}

fn train(
    directory: &Path,
    queries: usize,
    scores: &Path,
    learner: &str,
    settings: &[&str],
) -> Result<(), Box<dyn Error>> {
    let parameters = settings.iter().map(|text| parse_setting(text)).collect::<Result<toml::Table, _>>()?;
    let (train, test) = read(directory, queries)?;
    let trainer = Recipe::new(learner).set_all(parameters).check()?;
    rayon::broadcast(|_| ());
    std::fs::write("/proc/self/clear_refs", "5")?;
    let before = status_bytes("VmRSS")?;
    let start = Instant::now();
    let model = trainer.fit(&train, None, Start::default(), &mut Silent::default())?.model;
    let seconds = start.elapsed().as_secs_f64();
    let peak_bytes = status_bytes("VmHWM")?.saturating_sub(before);
    let start = Instant::now();
    std::hint::black_box(Binned::new(&train, 255).rows());
    let binning = start.elapsed().as_secs_f64();
    std::fs::write(scores, model.scores(&test)?.iter().flat_map(|s| s.to_le_bytes()).collect::<Vec<u8>>())?;
    let result = serde_json::json!({ "seconds": seconds, "binning": binning, "peak_bytes": peak_bytes });
    std::io::Write::write_all(&mut std::io::stdout(), format!("{result}\n").as_bytes())?;
    Ok(())
}

/// The first queries, and the others.
fn read(directory: &Path, queries: usize) -> Result<(Dataset, Dataset), Box<dyn Error>> {
    let mut values = words(&directory.join("values.f32"), f32::from_le_bytes)?;
    let mut labels = words(&directory.join("labels.f32"), f32::from_le_bytes)?;
    let sizes = words(&directory.join("sizes.u32"), u32::from_le_bytes)?;
    let width = values.len() / labels.len();
    let rows: usize = sizes[..queries].iter().map(|&n| n as usize).sum();
    let rest = (values.split_off(rows * width), labels.split_off(rows));
    // What is left behind would count as memory used.
    values.shrink_to_fit();
    let set = |values: Vec<f32>, labels, sizes: &[u32]| {
        let mut bounds = vec![0];
        sizes.iter().for_each(|&n| bounds.push(bounds[bounds.len() - 1] + n as usize));
        let query_ids = (0..sizes.len()).map(|q| q.to_string()).collect();
        let features = Features::dense(width, values);
        Dataset::new(Parts { features, labels, bounds, query_ids, ..Parts::default() })
    };
    Ok((set(values, labels, &sizes[..queries])?, set(rest.0, rest.1, &sizes[queries..])?))
}

fn words<T>(path: &Path, read: fn([u8; 4]) -> T) -> std::io::Result<Vec<T>> {
    Ok(std::fs::read(path)?.chunks_exact(4).map(|b| read([b[0], b[1], b[2], b[3]])).collect())
}

/// A field of Linux's account of this process, in bytes.
fn status_bytes(field: &str) -> Result<usize, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(field)).ok_or("no such field")?;
    let kilobytes: usize = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kilobytes * 1024)
}
