//! Systems from elsewhere, by their score files.

use super::material::Material;
use super::spec::ExternalSpec;
use crate::data::read_scores;
use crate::error::{Error, Result};
use crate::metrics::{Metric, evaluate};
use std::path::Path;

/// `[metric][query]` over all folds of one data set.
pub(super) fn values(
    external: &ExternalSpec,
    material: &Material,
    metrics: &[Box<dyn Metric>],
) -> Result<Vec<Vec<Option<f64>>>> {
    let mut all: Vec<Vec<Option<f64>>> = vec![Vec::new(); metrics.len()];
    for fold in 0..material.folds() {
        let path = filled_in(&external.scores, &material.name, fold);
        let test = material.test(fold);
        let scores = read_scores(Path::new(&path), test.len())?;
        for (all, values) in all.iter_mut().zip(evaluate(test, &scores, metrics)?.values) {
            all.extend(values);
        }
    }
    Ok(all)
}

fn filled_in(pattern: &str, data: &str, fold: usize) -> String {
    pattern.replace("{data}", data).replace("{fold}", &(fold + 1).to_string())
}

/// Seconds of search and of training, summed over the folds, as its file of times has them.
pub(super) fn seconds(external: &ExternalSpec, data: &str) -> Result<Option<(f64, f64)>> {
    let Some(pattern) = &external.times else { return Ok(None) };
    let path = filled_in(pattern, data, 0);
    let text = std::fs::read_to_string(&path).map_err(|e| Error::io("read", &path, e))?;
    let wrong = |line: usize| {
        Error::malformed(format!(
            "{path}:{line}:1: expected system,fold,search_seconds,train_seconds, as its first line must say"
        ))
    };
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, "system,fold,search_seconds,train_seconds")) => {}
        _ => return Err(wrong(1)),
    }
    let mut sums = None;
    for (i, line) in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let [system, _, search, train] = cells[..] else { return Err(wrong(i + 1)) };
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| wrong(i + 1));
        if system.eq_ignore_ascii_case(&external.name) {
            let (s, t) = sums.unwrap_or((0.0, 0.0));
            sums = Some((s + number(search)?, t + number(train)?));
        }
    }
    Ok(sums)
}
