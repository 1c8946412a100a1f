//! What those who own the pieces of a data set say to each other.
//!
//! A training on several machines is one program that every worker runs on its own queries. A driver without queries runs
//! it as well. Where the program needs something of all queries, it *asks*: each worker contributes what it knows of its
//! own, the driver decides by all contributions, and everybody goes on with its answer. Questions come in the same order
//! everywhere, so a number is enough to name one.

#[cfg(test)]
pub(crate) mod threads;

use crate::error::Error;
use crate::parallel;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::panic::{Location, resume_unwind};

/// The way to the others. The library knows none but this; how bytes travel is the business of those who implement it.
pub(crate) trait Exchange: Send + Sync {
    /// The number of this worker, from 0; `None` for the driver.
    fn worker(&self) -> Option<usize>;

    /// Asks a question, named by its place in the source. A worker calls `own` and gets the driver's answer; the driver
    /// calls `decide` with what the workers contributed, in their order, and gets what that returns.
    fn ask(
        &self,
        question: &'static Location<'static>,
        own: &mut dyn FnMut() -> Vec<u8>,
        decide: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Vec<u8>;

    /// The state to start from: the last one that was kept, or else `first` of the driver.
    #[track_caller]
    fn saved(&self, first: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8>;

    /// The driver keeps `state`, from which a worker that joins later continues; earlier answers after
    /// [`saved`](Exchange::saved) are no longer needed.
    fn keep(&self, state: &mut dyn FnMut() -> Vec<u8>);
}

/// Asks a question with typed contributions and a typed answer.
pub(crate) fn ask<L, R>(
    exchange: &dyn Exchange,
    question: &'static Location<'static>,
    own: impl FnOnce() -> L,
    decide: impl FnOnce(Vec<L>) -> R,
) -> R
where
    L: Serialize + DeserializeOwned + Send,
    R: Serialize + DeserializeOwned,
{
    let (mut own, mut decide, mut decided) = (Some(own), Some(decide), None);
    let answer = exchange.ask(
        question,
        &mut || to_bytes(&own.take().expect("a contribution is asked for once")()),
        &mut |contributions| {
            let contributions = parallel::map(contributions, |bytes| from_bytes(&bytes));
            let answer = decide.take().expect("a question is decided once")(contributions);
            to_bytes(decided.insert(answer))
        },
    );
    decided.unwrap_or_else(|| from_bytes(&answer))
}

/// The bytes of a message.
pub(crate) fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(value).expect("messages are plain data")
}

/// What these bytes of a message mean. Ends the training if they are not a message.
pub(crate) fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::from_bytes(bytes).unwrap_or_else(|_| fail(Error::data("a message between workers is damaged")))
}

/// Why a training on several machines ended before its time.
pub(crate) struct Failure(pub(crate) Error);

/// Leaves the training, through all solvers and loops, to whoever [`catches`](catch) it. They cannot fail on one machine,
/// so they return no errors; and without the others they cannot go on.
pub(crate) fn fail(error: Error) -> ! {
    resume_unwind(Box::new(Failure(error)))
}

/// Bytes that are copied as one block, not one by one.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct Block;
        impl Visitor<'_> for Block {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Block)
    }
}
