//! What do we learn from? Judged documents in queries: reading, writing, preparing and making them.

mod dataset;
mod decimal;
mod excerpt;
mod features;
mod grouping;
mod letor;
mod lines;
mod output;
mod query;
mod read;
mod scores;
mod source;
mod texts;
pub mod trec;

pub use dataset::{Columns, Dataset, Parts};
pub use features::{Features, Row};
pub use output::{AtomicFile, temporary_path};
pub use query::Query;
pub use read::{Format, Layout, Loaded, ReadOptions, read, read_all};
pub use scores::{read_scores, write_scores};
pub use texts::Texts;

/// The most feature columns a data set may have: a guard against ids that are really hashes or typing errors,
/// since a linear model holds one weight per column.
pub const MAX_FEATURES: usize = 1 << 24;
