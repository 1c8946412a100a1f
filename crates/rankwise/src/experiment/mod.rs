//! Is it better, or luck? Running experiments over folds and settings, comparing systems, and testing whether
//! differences are significant.

#![warn(unreachable_pub)]

mod assemble;
pub mod compare;
pub mod cross_validate;
pub mod directory;
pub mod export;
mod external;
pub mod findings;
mod job;
mod journal;
mod kept_models;
mod plan;
mod prepared;
pub mod report;
mod results;
pub mod run;
pub mod search;
pub mod spec;
pub mod standing;
pub mod study;
pub mod tasks;
pub mod tune;
pub mod values;

pub use crate::significance;
pub use compare::{Comparison, ComparisonOptions, SystemValues};
pub use cross_validate::{CrossFold, CrossValidated, cross_validate};
pub use findings::{Findings, Times};
pub use kept_models::{ChosenModel, TrainCommand};
pub use run::{Experiment, JobDone, Manifest, Observer, RunOptions};
pub use spec::Spec;
pub use tasks::{TaskEnd, TaskEngine, run_task};
pub use tune::{Tuned, TunedIterations, TunedTrial, Tuning, Validation};
pub use values::{PerQuery, SystemMeans};
