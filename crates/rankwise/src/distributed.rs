//! Training on several machines, with the model of one machine, byte for byte.
//!
//! Every worker runs the same training program on its own queries, and a driver runs it without queries. Where the program
//! needs something of all queries, it asks a *question*: each worker contributes what it knows of its own queries, the
//! driver decides by all contributions, and everybody goes on with the driver's answer. Driver and workers exchange bytes
//! through an [`Engine`]: processes of this machine, or actors of Ray or Dask. The library opens no sockets.
//!
//! # Messages
//! The driver sends a worker a message, and the worker replies to it: [`Worker::reply`] gets bytes and returns bytes.
//! Questions are numbered, and every message names the question that the driver has come to, with the answer to the
//! question before. A worker that is
//!
//! * at the question before takes the answer and replies with its next contribution,
//! * at that question already, because a message came twice or a reply was lost, replies with the same contribution again,
//! * still computing says after a few seconds that it is *busy*, and the driver asks again,
//! * anywhere else, or new, says that it is *behind*. It is sent the job and all answers so far. It runs the program up
//!   to the open question by these answers, without computing contributions, and then replies.
//!
//! A program may offer a *state* from which the rest can be computed, as boosted trees do every few rounds. The driver then
//! forgets the answers before it, and a new worker starts from the state.
//!
//! # Faults
//! A worker that does not reply in time, or whose process has ended, is *lost*. The engine starts another one, which is
//! behind. Contributions depend only on the worker's queries and the answers before, so the model is the same. A worker
//! that is lost three times at one question, that panics or that has come to another place of the program ends the training
//! with an error that names it. All waits have [`Limits`].
//!
//! A worker whose machine computes `exp` or other functions differently from the driver's would make another model. It is
//! refused when it joins.
//!
//! A request to stop reaches the program of the driver only at a question, and the workers with the answer to it. So all
//! stop at the same place.
//!
//! # An engine
//! An engine delivers messages to workers and returns their replies, or says that a worker is lost. This one has its workers
//! in the same process:
//!
//! ```
//! use rankwise::distributed::{Delivery, Driver, Engine, Source, TrainJob, Worker};
//! use rankwise::watch::Silent;
//! use rankwise::{Recipe, Result};
//! use std::time::Duration;
//!
//! struct Here(Vec<Worker>);
//!
//! impl Engine for Here {
//!     fn workers(&self) -> usize {
//!         self.0.len()
//!     }
//!
//!     fn deliver(&mut self, messages: &[(usize, &[u8])], _limit: Duration) -> Result<Vec<(usize, Delivery)>> {
//!         let deliver = |&(worker, message): &(usize, &[u8])| {
//!             (worker, Delivery::Reply(self.0[worker].reply(message)))
//!         };
//!         Ok(messages.iter().map(deliver).collect())
//!     }
//!
//!     fn restart(&mut self, worker: usize) -> Result<()> {
//!         self.0[worker] = Worker::new();
//!         Ok(())
//!     }
//! }
//!
//! # let file = std::env::temp_dir().join(format!("rankwise-doc-{}.txt", std::process::id()));
//! # let text = (0..40).map(|i| format!("{} qid:{} 1:{} 2:{}\n", i % 3, i / 4, i % 5, i % 7)).collect::<String>();
//! # std::fs::write(&file, text).unwrap();
//! let recipe = Recipe::new("lambda-mart").set("iterations", 10).set("min_data_in_leaf", 2);
//! let job = TrainJob::new(&recipe, Source::new([&file]), None, 2)?;
//! let mut driver = Driver::new(Here(vec![Worker::new(), Worker::new()]));
//! let trained = driver.train(&job, None, &mut Silent::default())?;
//! assert_eq!(trained.ranker.record.rounds, 10);
//! # std::fs::remove_file(&file).unwrap();
//! # Ok::<(), rankwise::Error>(())
//! ```

mod arithmetic;
mod driver;
mod message;
mod plan;
mod processes;
mod sources;
mod train;
mod trained;
mod worker;

#[cfg(test)]
mod tests;

pub(crate) use arithmetic::Greeting;
pub use driver::{Delivery, Driver, Engine, Limits, Traffic};
pub use processes::{Processes, serve};
pub use sources::Source;
pub use train::TrainJob;
pub use trained::Trained;
pub use worker::Worker;
