//! Search logs: what was shown, what was clicked, and what that says about documents and rankers.
//!
//! [`log`] reads sessions one by one; [`metarank`] imports those of another tool; [`simulate`] makes them from labelled
//! data. A log of any length is reduced to [`ClickCounts`] (per query, document and rank) or a [`SessionTable`] (distinct
//! sessions and how often each occurred). From these come click [`models`], [`propensity`] by rank, and [`counterfactual`]
//! estimates of a ranker that was never shown. [`ClickWeights`] makes training data of a log. [`preferences`] turns clicks into pairs of documents, and [`interleave`]
//! compares two rankers by the clicks on a mixture of their rankings.
//!
//! Ranks count from 1. Results depend neither on the order of the sessions in the log nor on the number of threads.

mod checks;
pub mod counterfactual;
mod counts;
pub mod events;
pub mod interleave;
pub mod log;
pub mod metarank;
pub mod models;
mod pairs;
pub mod preferences;
pub mod propensity;
mod report;
mod sessions;
pub mod simulate;
mod stats;
mod times;
mod training;
mod writer;

pub use checks::check_sessions;
pub use counts::{Cell, ClickCounts};
pub use log::{Click, Interleaved, LogReader, Session};
pub use report::{LogProblem, LogReport, ProblemCount};
pub use sessions::{SessionTable, SplitSessions};
pub use stats::{LogStats, Movement, RankStats};
pub use training::{ClickData, ClickWeights};
pub use writer::{LogWriter, write_log};
