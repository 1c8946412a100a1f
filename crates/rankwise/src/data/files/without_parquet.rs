//! What stands in for Parquet where it was not built in.

use super::source::Source;
use super::{Dataset, Loaded, ReadOptions};
use crate::error::{Error, Result};
use std::path::Path;

/// Refuses to read.
pub(super) fn read(_: impl Iterator<Item = Result<Source>>, _: &ReadOptions) -> Result<Loaded> {
    Err(refusal("read"))
}

/// Refuses to write.
pub(super) fn write(_: &Dataset, _: &Path) -> Result<Vec<String>> {
    Err(refusal("write"))
}

fn refusal(doing: &str) -> Error {
    Error::parameter(format!("this build cannot {doing} Parquet files; build it with `--features parquet`"))
}
