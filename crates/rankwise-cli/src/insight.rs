//! What the commands that explain a model have in common.

use crate::content::load_model;
use crate::input::{Input, note_width};
use crate::table;
use anyhow::{Context, Result};
use rankwise::data::{Columns, Dataset};
use rankwise::models::Ranker;
use serde_json::Value;
use std::borrow::Cow;
use std::path::Path;

/// A model, and data prepared (scaled) for it.
pub(crate) fn open(model: &Path, file: &Path, reading: &Input) -> Result<(Ranker, Dataset)> {
    let ranker = reading.number(load_model(model)?)?;
    let data = reading.for_model(&ranker).read_in_order(file)?;
    note_width(&ranker, &data);
    let prepared = match ranker.prepare(&data)? {
        Cow::Owned(prepared) => Some(prepared),
        Cow::Borrowed(_) => None,
    };
    let data = prepared.unwrap_or(data);
    Ok((ranker.narrowed(data.width()), data))
}

/// The model's feature column called `name`.
pub(crate) fn column(ranker: &Ranker, name: &str) -> Result<usize> {
    let width = ranker.model.width();
    (0..width).find(|&column| ranker.columns.name(column) == name).with_context(|| {
        let (first, last) = (ranker.columns.name(0), ranker.columns.name(width - 1));
        format!(
            "the model has no feature `{name}`; it has {}, from `{first}` to `{last}`",
            crate::output::count(width, "feature", "features")
        )
    })
}

/// The indices of `values`, by descending absolute value.
pub(crate) fn by_size(values: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].abs().total_cmp(&values[a].abs()));
    order
}

/// How many of `all` rows `--top` shows; 0 stands for all.
pub(crate) fn shown(top: usize, all: usize) -> usize {
    if top == 0 { all } else { top.min(all) }
}

/// A number with its sign, also if positive.
pub(crate) fn signed(value: f64) -> String {
    // Minus zero is zero.
    let value = value + 0.0;
    let sign = if value < 0.0 { "" } else { "+" };
    format!("{sign}{}", table::six(value))
}

/// A feature value with all its digits, the text of a category, or `missing`.
pub(crate) fn feature_value(columns: &Columns, column: usize, x: f32) -> String {
    columns.categories.text(column, x).map_or_else(|| number(x), str::to_owned)
}

/// A number with all its digits, or `missing`.
pub(crate) fn number(x: f32) -> String {
    match x.abs() {
        size if size.is_nan() => "missing".into(),
        0.0 => "0".into(),
        1e-4..1e7 => x.to_string(),
        _ => format!("{x:e}"),
    }
}

/// A feature value in JSON, which has no NaN: missing values are `null`, and categories are text if they have it.
pub(crate) fn json_value(columns: &Columns, column: usize, x: f32) -> Value {
    match columns.categories.text(column, x) {
        Some(text) => Value::from(text),
        None => Value::from((!x.is_nan()).then_some(x)),
    }
}

/// The number of characters on either side of a chart's axis.
const HALF_WIDTH: usize = 8;

/// A bar to the right of an axis if `value` is above 0, to the left if it is below, as long as `largest` allows. A
/// character stands for two steps.
pub(crate) fn bar(value: f64, largest: f64) -> String {
    let steps =
        if largest > 0.0 { (value.abs() / largest * (2 * HALF_WIDTH) as f64).round() as usize } else { 0 };
    let (whole, half) = ("█".repeat(steps / 2), steps % 2 == 1);
    if value < 0.0 {
        let bar = format!("{}{whole}", if half { "▐" } else { "" });
        format!("{bar:>HALF_WIDTH$}│")
    } else {
        format!("{:HALF_WIDTH$}│{whole}{}", "", if half { "▌" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn bars_grow_from_the_axis_with_the_value() {
        assert_eq!(bar(2.0, 2.0), "        │████████");
        assert_eq!(bar(-2.0, 2.0), "████████│");
        assert_eq!(bar(0.625, 2.0), "        │██▌");
        assert_eq!(bar(-0.625, 2.0), "     ▐██│");
        assert_eq!(bar(0.01, 2.0), "        │");
        assert_eq!(bar(0.0, 0.0), "        │");
    }
}
