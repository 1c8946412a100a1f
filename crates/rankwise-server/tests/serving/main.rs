//! The server as its clients see it, over real sockets.

mod answers;
mod client;
mod events;
mod judging;
mod limits;
mod models;
mod place;
