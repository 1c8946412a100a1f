//! What do we learn from? Judged documents in queries: reading, writing, preparing and making them.

pub mod clean;
mod concat;
mod dataset;
mod features;
pub mod files;
pub mod folds;
mod identical;
pub mod normalize;
mod query;
pub mod stats;
pub mod synthetic;
mod texts;

pub use clean::{CLEANING, CleanReport, Cleaner};
pub use dataset::{Columns, Dataset, Parts};
pub use features::{Features, Row};
pub use files::{
    AtomicFile, Format, Layout, Loaded, Peeked, ReadOptions, Topics, join, read, read_all, read_qrels,
    read_run, read_scores, temporary_path, trec, write, write_grades, write_qrels, write_run, write_scores,
};
pub(crate) use files::{Source, push_f64, push_field, quoted};
pub use folds::{Fold, Folds, Order, Rotation, rotation, split};
pub use normalize::{NORMALIZERS, Normalizer};
pub use query::Query;
pub use stats::{Stats, stats};
pub use synthetic::{SHAPES, Shape, Synth};
pub use texts::Texts;

/// The most feature columns a data set may have: a guard against ids that are really hashes or typing errors,
/// since a linear model holds one weight per column.
pub const MAX_FEATURES: usize = 1 << 24;
