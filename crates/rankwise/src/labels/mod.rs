//! Judgments of people: reading them, how well judges agree, and one label per document from several judges.
//!
//! ```
//! use rankwise::labels::{Coefficients, Judgment, Judgments, MergeRule};
//! let mut judgments = Judgments::default();
//! for (document, judge, grade) in [("a", "ann", 2.0), ("a", "bob", 2.0), ("b", "ann", 0.0), ("b", "bob", 1.0)] {
//!     judgments.push(Judgment::new("q", document, judge, grade))?;
//! }
//! assert_eq!(Coefficients::of(&judgments).percentage, Some(0.5));
//! let merged = judgments.merge(MergeRule::Median);
//! assert_eq!(merged.labels[0].grade, 2.0);
//! # Ok::<(), rankwise::Error>(())
//! ```

mod agreement;
mod by_chance;
mod coefficients;
mod dawid_skene;
mod judgments;
mod merge;
#[cfg(test)]
mod tests;

pub use agreement::{
    Agreement, AgreementOptions, Estimate, Estimates, JudgeAgreement, PairAgreement, QueryAgreement,
};
pub use coefficients::Coefficients;
pub use dawid_skene::{DawidSkene, DawidSkeneOptions, JudgeErrors};
pub use judgments::{Judgment, JudgmentColumns, Judgments};
pub use merge::{MergeRule, Merged, MergedLabel};
