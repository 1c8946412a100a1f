//! Reads a file several times; prints seconds, peak memory and the size of the arrays as JSON.
//!
//! `read_bench FILE [TIMES]`; threads as in `RAYON_NUM_THREADS`.

use rankwise::data::{Dataset, Features, ReadOptions, read};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("usage: read_bench FILE [TIMES]")?;
    let times: usize = arguments.next().map_or(Ok(1), |n| n.parse())?;
    // Threads are started and their stacks touched before anything is measured.
    rayon::broadcast(|_| ());
    let baseline = status_bytes("VmRSS")?;
    let mut seconds = Vec::new();
    let mut arrays = 0;
    let mut documents = 0;
    for _ in 0..times {
        let start = Instant::now();
        let loaded = read(Path::new(&file), &ReadOptions::default())?;
        seconds.push(start.elapsed().as_secs_f64());
        arrays = array_bytes(&loaded.data);
        documents = loaded.data.len();
    }
    let peak = status_bytes("VmHWM")?.saturating_sub(baseline);
    let result = serde_json::json!({
        "seconds": seconds.iter().copied().fold(f64::INFINITY, f64::min),
        "all_seconds": seconds, "peak_bytes": peak, "array_bytes": arrays, "documents": documents,
    });
    std::io::Write::write_all(&mut std::io::stdout(), format!("{result}\n").as_bytes())?;
    Ok(())
}

/// A field of Linux's account of this process, in bytes.
fn status_bytes(field: &str) -> Result<usize, Box<dyn std::error::Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(field)).ok_or("no such field")?;
    let kilobytes: usize = line.split_whitespace().nth(1).ok_or("no number")?.parse()?;
    Ok(kilobytes * 1024)
}

/// What the data set's arrays take.
fn array_bytes(data: &Dataset) -> usize {
    let features = match &data.parts().features {
        Features::Dense { values, .. } => 4 * values.len(),
        Features::Sparse { starts, columns, values, .. } => {
            8 * starts.len() + 4 * (columns.len() + values.len())
        }
    };
    features + 4 * data.len() + 8 * data.bounds().len()
}
