//! Is it better, or luck? Folds, grids, jobs and tables: running experiments, comparing systems, and telling
//! differences from noise.

mod assemble;
pub mod compare;
pub mod directory;
pub mod export;
mod external;
pub mod findings;
mod job;
mod journal;
mod material;
pub mod report;
pub mod run;
pub mod search;
pub mod significance;
pub mod spec;
pub mod standing;
pub mod study;
pub mod tune;

pub use compare::{Comparison, Options, System};
pub use findings::{Findings, Times};
pub use run::{Experiment, JobDone, Manifest, Observer};
pub use spec::Spec;
pub use tune::{Tuned, Tuning};
