//! Whole commands as users run them: what they print, what they write and how they fail. One program, so that it is
//! linked once.

mod categories;
mod click_notes;
mod clicks;
mod commands;
mod completions;
mod experiments;
mod exports;
mod faults;
mod from_clicks;
mod index_input;
mod insight;
mod json;
mod labels;
mod networks;
mod odd_input;
mod place;
mod search;
mod serve;
mod trec;
mod trees;
mod workers;
