//! Rankers served over HTTP: search, ranking, scoring, judgments and clicks.
//!
//! The rooms, each importing only from those before it:
//! `problem` → `settings` → `tokens` → `call` → `rows` → `overload` → `pool` → `store` → `catalogue` → `counters` → `journal` → `sessions` →
//! `traffic` → `judging` → `app` → one module for each kind of request → `routes` → `server`.
//!
//! The server has no ranking logic of its own: what it answers is what [`rankwise_search::Search`] and
//! [`rankwise::models::Ranker`] give to a program that calls them, bit for bit.

mod admin;
mod app;
mod call;
mod catalogue;
mod clicking;
mod counters;
mod found;
mod hosts;
mod journal;
mod judged;
mod judging;
mod leaderboard;
mod overload;
mod page;
mod pool;
mod problem;
mod ranking;
mod routes;
mod rows;
mod score;
mod searching;
mod server;
mod sessions;
mod settings;
mod status;
mod store;
mod tokens;
mod traffic;

pub use routes::requests;
pub use server::Server;
pub use settings::{Durability, Settings, Traffic};
pub use tokens::new_token;
