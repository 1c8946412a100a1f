//! What do we learn from? Judged documents in queries: reading, writing, preparing and making them.

mod dataset;
mod excerpt;
mod features;
mod grouping;
mod letor;
mod number;
mod query;
mod read;
mod source;
mod texts;

pub use dataset::{Columns, Dataset, Parts};
pub use features::{Features, Row};
pub use query::Query;
pub use read::{Format, Layout, Loaded, ReadOptions, read, read_all};
pub use texts::Texts;

/// The most feature columns a data set may have: a guard against ids that are really hashes or typing errors,
/// since a linear model holds one weight per column.
pub const MAX_FEATURES: usize = 1 << 24;
