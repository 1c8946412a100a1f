//! Data sets of queries with labelled documents: reading, writing, preparing and generating them.

mod align;
mod assembly;
mod categories;
pub mod clean;
mod click_labels;
mod concat;
mod dataset;
mod feature_source;
mod features;
pub mod files;
mod fingerprint;
pub mod folds;
pub mod fusion;
mod gather;
mod identical;
mod labels;
pub mod normalize;
mod query;
mod rows;
mod shard;
pub mod stats;
pub mod synthetic;
mod texts;

pub(crate) use assembly::Assembly;
pub(crate) use categories::code_of;
pub use categories::{Categories, MAX_CATEGORY};
pub use clean::{CLEANING, CleanReport, Cleaner};
pub use click_labels::ClickLabels;
pub(crate) use concat::is_padding;
pub(crate) use dataset::bounds_of;
pub use dataset::{Columns, Dataset, Parts};
pub use feature_source::FeatureSource;
pub use features::{Features, Row, StoredValues, Values};
pub use files::{
    AtomicFile, ColumnRoles, Format, Layout, Line, Lines, Loaded, Origin, Peeked, ReadOptions, Record,
    Records, Source, Topics, check_writable, join, quoted, read, read_all, read_qrels, read_run, read_scores,
    temporary_path, trec, write, write_grades, write_qrels, write_run, write_score_table, write_scores,
};
pub(crate) use files::{
    FilePart, FileSummary, Joined, TextColumn, Trouble, common_format, push_f64, push_field, read_part,
    read_text_table,
};
#[cfg(feature = "parquet")]
pub use files::{category_codes, read_frame};
pub use folds::{Fold, Folds, Rotation, SplitOrder, equal_folds, rotation, split, split_queries};
pub use gather::{Gathered, gather};
pub(crate) use identical::equal_rows;
pub use identical::shared_queries_note;
pub(crate) use labels::distribution;
pub use labels::{Grade, separating_threshold};
pub use normalize::{NORMALIZERS, Normalizer};
pub use query::Query;
pub use rows::Rows;
pub(crate) use rows::RowsLayout;
#[cfg(test)]
pub(crate) use shard::threads::with_workers;
pub(crate) use shard::{Shard, Whole};
pub use stats::{Stats, stats};
pub use synthetic::{SHAPES, Synth, SyntheticShape};
pub use texts::Texts;

/// The largest number of feature columns. It guards against ids that are hashes or typing errors, because a linear model
/// has one weight per column.
pub const MAX_FEATURES: usize = 1 << 24;
