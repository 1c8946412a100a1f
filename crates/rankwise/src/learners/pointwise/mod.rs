//! Learners that predict the label of each document on its own.

pub mod regression;
