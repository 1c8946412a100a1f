//! The server as its clients see it, over real sockets.

mod answers;
mod client;
mod events;
mod index;
mod judging;
mod limits;
mod models;
mod place;
