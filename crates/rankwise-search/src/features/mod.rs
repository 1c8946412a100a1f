//! Features of query–document pairs: which there are, and how they are computed.
//!
//! A [`FeatureSet`] names features; a [`CompiledSet`] computes them. Training data and search use the same functions, so
//! their features are equal bit for bit.
//!
//! Features of text are computed for a *scope*: a text field, or all text fields together (`whole`). In the formulas of
//! [`KINDS`], for every different term of the query,
//!
//! ```text
//! tf   its occurrences in the document          w     its occurrences in the query, times boosts
//! n    documents that have it                   N     all documents
//! cf   its occurrences in all documents         C     words of all documents
//! dl   words of the document                    avdl  C/N
//! u    different words of the document          p     cf/C
//! idf  ln(1 + (N − n + ½)/(n + ½))
//! ```
//!
//! all counted in the scope, and Σ adds over the terms in the order of the query. Conventions where a formula has none:
//!
//! * A term that no document has contributes nothing: its idf is 0, and language models leave it out. It is still a term
//!   of the query, for `covered-ratio`, `boolean`, and the minimum, mean and variance of tf.
//! * In an empty text tf/dl is 0. `lm.absolute` takes u/dl for 1 there, so all that it discounts goes to the collection.
//! * Without terms in the query, everything that is computed from terms is 0.
//! * What is not known is NaN, not 0: a number that the document lacks, the place of words that it does not have.
//!
//! Dates are years since 1970, and not ages, so that features do not change from day to day.

mod compile;
mod compute;
mod formulas;
mod kind;
mod set;
mod source;
#[cfg(test)]
mod tests;
mod written;

pub use compile::{CompiledSet, Needs};
pub use compute::PreparedQuery;
pub use kind::{KINDS, Kind, KindEntry, Parameter, Parameters, Statistic};
pub use set::{Feature, FeatureSet, Target};
