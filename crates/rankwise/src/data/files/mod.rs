//! File formats: reading and writing data, plain or compressed.
//!
//! Readers share `source`, which opens and decompresses, `number`, an exact number parser, and `grouping`, which finds
//! the queries among rows. Everything is written through [`AtomicFile`].

mod categories;
mod cell;
mod decimal;
mod delimited;
mod excerpt;
#[cfg(feature = "parquet")]
mod frame;
#[cfg(test)]
pub(crate) mod fuzz;
mod grouping;
mod joined;
mod letor;
mod lines;
mod number;
mod output;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "without_parquet.rs"]
mod parquet;
mod part;
mod peek;
mod read;
mod roles;
mod scores;
mod sidecar;
mod source;
mod table;
mod text_table;
pub mod trec;
mod write;

use super::{Columns, Dataset, Features, MAX_FEATURES, Parts, Query, Row, Texts};

pub(crate) use decimal::push_f64;
pub use delimited::{Record, Records};
pub use excerpt::quoted;
#[cfg(feature = "parquet")]
pub use frame::{category_codes, read_frame};
pub(crate) use joined::{Joined, Trouble};
pub use lines::{Line, Lines};
pub use output::{AtomicFile, check_writable, temporary_path};
pub(crate) use part::{FilePart, FileSummary, read_part};
pub use peek::Peeked;
pub(crate) use read::common_format;
pub use read::{Format, Layout, Loaded, ReadOptions, read, read_all};
pub use roles::ColumnRoles;
pub use scores::{read_scores, write_grades, write_score_table, write_scores};
pub use source::{Origin, Source};
pub(crate) use text_table::{TextColumn, read_text_table};
pub use trec::{Topics, join, read_qrels, read_run, write_qrels, write_run};
pub(crate) use write::push_field;
pub use write::write;
