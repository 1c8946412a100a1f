//! What driver and workers send each other, as bytes.

use super::arithmetic::Greeting;
use crate::exchange::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Duration;

/// A message of the driver.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Message<'a> {
    /// Which training it belongs to.
    pub(super) training: u64,
    /// The question to which the driver wants the worker's contribution. Questions are numbered from 0; the number after
    /// the last one stands for the end of the program.
    pub(super) number: u64,
    /// How long the worker may compute before it replies that it is busy.
    pub(super) patience: Duration,
    pub(super) task: Task<'a>,
}

/// What the worker is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Task<'a> {
    /// Go on with the answer to the question before; there is none before the first.
    Continue(Option<Cow<'a, Answer>>),
    /// Start the program, with the answers to all questions before `number`.
    Join(Join<'a>),
}

/// All that a worker without state needs to get to the driver's question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Join<'a> {
    /// The number of the worker.
    pub(super) worker: usize,
    /// The number of threads that it may use; as many as it has cores if `None`.
    pub(super) threads: Option<usize>,
    /// What the program is to do.
    pub(super) job: Cow<'a, Bytes>,
    pub(super) answers: Cow<'a, [Answer]>,
}

/// The driver's answer to a question.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Answer {
    /// The place of the question in the source, hashed.
    pub(super) place: u64,
    /// Whether the user has asked to stop.
    pub(super) stop: bool,
    /// If the answer is a state to start from: the number of the first question after it.
    pub(super) next: Option<u64>,
    pub(super) bytes: Bytes,
}

/// The reply of a worker.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Reply {
    /// What the worker knows of its own queries.
    Contribution { number: u64, place: String, bytes: Bytes },
    /// The program has ended. The checksum is that of its result.
    Finished { number: u64, checksum: String },
    /// The program has failed, with these words.
    Failed(String),
    /// The program is still computing.
    Busy,
    /// The worker has no state, or that of another question, and has to join.
    Behind(Greeting),
}

/// Where a program asks for the state to start from.
pub(super) const STATE: &str = "the state to start from";

/// The bytes of a message or a reply.
pub(super) fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("messages are plain data")
}

/// The message or reply with these bytes, if there is one.
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

/// The place of a question, short enough to go with every answer.
pub(super) fn hash(place: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(place.as_bytes())
}
