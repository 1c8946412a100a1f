//! What do we learn from? Judged documents in queries: reading, writing, preparing and making them.

mod cell;
pub mod clean;
mod dataset;
mod decimal;
mod delimited;
mod excerpt;
mod features;
pub mod folds;
#[cfg(test)]
mod formats_fuzz;
mod grouping;
mod identical;
mod letor;
mod lines;
pub mod normalize;
mod number;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet;
mod query;
mod read;
mod scores;
mod source;
pub mod stats;
pub mod synthetic;
mod table;
mod texts;
pub mod trec;
mod write;

pub use clean::{CLEANING, CleanReport, Cleaner};
pub use dataset::{Columns, Dataset, Parts};
pub use features::{Features, Row};
pub use folds::{Fold, Folds, Order, Rotation, rotation, split};
pub use normalize::{NORMALIZERS, Normalizer};
pub use output::{AtomicFile, temporary_path};
pub use query::Query;
pub use read::{Format, Layout, Loaded, ReadOptions, read, read_all};
pub use scores::{read_scores, write_scores};
pub(crate) use source::Source;
pub use stats::{Stats, stats};
pub use synthetic::{SHAPES, Shape, Synth};
pub use texts::Texts;
pub use trec::{Topics, join, read_qrels, read_run, write_qrels, write_run};
pub use write::write;

/// The most feature columns a data set may have: a guard against ids that are really hashes or typing errors,
/// since a linear model holds one weight per column.
pub const MAX_FEATURES: usize = 1 << 24;
