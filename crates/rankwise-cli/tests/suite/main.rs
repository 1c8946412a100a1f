//! Whole commands as users run them: what they print, what they write and how they fail. One program, so that it is
//! linked once.

mod categories;
mod commands;
mod completions;
mod experiments;
mod exports;
mod faults;
mod insight;
mod json;
mod networks;
mod odd_input;
mod place;
mod trec;
mod trees;
