//! The replacement for Parquet in builds without it.

use super::source::Source;
use super::table::Table;
use super::{Dataset, Loaded, ReadOptions};
use crate::error::{Error, Result};
use std::path::Path;

/// Fails: Parquet is not built in.
pub(super) fn read(_: impl Iterator<Item = Result<Source>>, _: &ReadOptions) -> Result<Loaded> {
    Err(refusal("read"))
}

/// Fails: Parquet is not built in.
pub(super) fn read_table(_: impl Iterator<Item = Result<Source>>, _: &ReadOptions) -> Result<Table> {
    Err(refusal("read"))
}

/// Fails: Parquet is not built in.
pub(super) fn write(_: &Dataset, _: &Path) -> Result<Vec<String>> {
    Err(refusal("write"))
}

fn refusal(doing: &str) -> Error {
    Error::parameter(format!(
        "this build cannot {doing} Parquet files; build it with the Cargo feature `parquet`"
    ))
}
