//! External systems, given by their score files.

use super::prepared::PreparedData;
use super::spec::ExternalSpec;
use super::values::PerQuery;
use crate::data::read_scores;
use crate::error::{Error, Result};
use crate::metrics::{Metric, evaluate};
use std::path::Path;

/// The values on the test queries of all folds of one data set.
pub(super) fn values(
    external: &ExternalSpec,
    data: &PreparedData,
    metrics: &[Box<dyn Metric>],
) -> Result<PerQuery> {
    let mut all = PerQuery::absent(metrics.len(), 0);
    for fold in 0..data.folds() {
        let path = filled_in(&external.scores, &data.name, fold);
        let test = data.test(fold)?;
        let scores = read_scores(Path::new(&path), test.len())?;
        all.append(&PerQuery::new(evaluate(&test, &scores, metrics)?.values));
    }
    Ok(all)
}

fn filled_in(pattern: &str, data: &str, fold: usize) -> String {
    pattern.replace("{data}", data).replace("{fold}", &(fold + 1).to_string())
}

/// Seconds of search and of training from the file of times, summed over the folds.
pub(super) fn seconds(external: &ExternalSpec, data: &str) -> Result<Option<(f64, f64)>> {
    let Some(pattern) = &external.times else { return Ok(None) };
    let path = filled_in(pattern, data, 0);
    let text = std::fs::read_to_string(&path).map_err(|e| Error::io("read", &path, e))?;
    let wrong = |line: usize| {
        Error::malformed(format!(
            "{path}:{line}:1: expected the columns system,fold,search_seconds,train_seconds, in that order and with this header"
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
