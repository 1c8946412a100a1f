//! Workers in this process, and what may happen to their messages.

use crate::distributed::message::{Message, decode, encode};
use crate::distributed::worker::Program;
use crate::distributed::{Delivery, Engine, Worker};
use crate::error::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// What happens to one delivery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Fault {
    MessageLost,
    ReplyLost,
    DiesBefore,
    DiesWhileComputing,
    DiesAfter,
    Twice,
    /// The message before comes again, after this one.
    Overtaken,
    /// The engine replaces the worker on its own, and the new one gets the message.
    ReplacedSilently,
}

pub(super) const FAULTS: [Fault; 8] = [
    Fault::MessageLost,
    Fault::ReplyLost,
    Fault::DiesBefore,
    Fault::DiesWhileComputing,
    Fault::DiesAfter,
    Fault::Twice,
    Fault::Overtaken,
    Fault::ReplacedSilently,
];

/// Workers in this process.
pub(super) struct InMemory {
    pub(super) new: Box<dyn Fn() -> Worker + Send>,
    pub(super) workers: Vec<Worker>,
    pub(super) before: Vec<Vec<u8>>,
    /// Counts deliveries, for whoever holds the other end.
    pub(super) deliveries: Arc<AtomicUsize>,
    /// Gives the fault of a delivery, by its number and the worker.
    pub(super) fault: Box<dyn FnMut(usize, usize) -> Option<Fault> + Send>,
    /// Whether a worker that was lost is replaced; else it was only unreachable.
    pub(super) replaces: bool,
}

impl InMemory {
    pub(super) fn new(workers: usize, program: Program) -> InMemory {
        InMemory::of_workers(workers, move || Worker::with_program(program.clone()))
    }

    pub(super) fn of_workers(workers: usize, new: impl Fn() -> Worker + Send + 'static) -> InMemory {
        InMemory {
            workers: (0..workers).map(|_| new()).collect(),
            new: Box::new(new),
            before: vec![Vec::new(); workers],
            deliveries: Arc::default(),
            fault: Box::new(|_, _| None),
            replaces: true,
        }
    }

    pub(super) fn with_faults(
        self,
        fault: impl FnMut(usize, usize) -> Option<Fault> + Send + 'static,
    ) -> InMemory {
        InMemory { fault: Box::new(fault), ..self }
    }

    fn renew(&mut self, worker: usize) {
        self.workers[worker] = (self.new)();
    }

    fn delivery(&mut self, worker: usize, message: &[u8]) -> Delivery {
        let number = self.deliveries.fetch_add(1, Ordering::Relaxed);
        let before = std::mem::replace(&mut self.before[worker], message.to_vec());
        let lost = || Delivery::Lost("the test lost it".into());
        match (self.fault)(number, worker) {
            None => return Delivery::Reply(self.workers[worker].reply(message)),
            Some(Fault::MessageLost) => {}
            Some(Fault::ReplyLost) => drop(self.workers[worker].reply(message)),
            Some(Fault::DiesBefore) => self.renew(worker),
            Some(Fault::DiesWhileComputing) => {
                let impatient = Message {
                    patience: Duration::ZERO,
                    ..decode::<Message<'_>>(message).expect("a message")
                };
                self.workers[worker].reply(&encode(&impatient));
                self.renew(worker);
            }
            Some(Fault::DiesAfter) => {
                self.workers[worker].reply(message);
                self.renew(worker);
            }
            Some(Fault::Twice) => {
                let first = self.workers[worker].reply(message);
                assert_eq!(first, self.workers[worker].reply(message));
                return Delivery::Reply(first);
            }
            Some(Fault::Overtaken) => {
                let reply = self.workers[worker].reply(message);
                self.workers[worker].reply(&before);
                return Delivery::Reply(reply);
            }
            Some(Fault::ReplacedSilently) => {
                self.renew(worker);
                return Delivery::Reply(self.workers[worker].reply(message));
            }
        }
        lost()
    }
}

impl Engine for InMemory {
    fn workers(&self) -> usize {
        self.workers.len()
    }

    fn deliver(&mut self, messages: &[(usize, &[u8])], _: Duration) -> Result<Vec<(usize, Delivery)>> {
        Ok(messages.iter().map(|&(worker, message)| (worker, self.delivery(worker, message))).collect())
    }

    fn restart(&mut self, worker: usize) -> Result<()> {
        if self.replaces {
            self.renew(worker);
        }
        Ok(())
    }
}
