//! Learners that fit each document's grade on its own.

pub mod regression;
