//! A worker: runs the program on its own queries, and exchanges bytes with the driver.

use super::arithmetic::Greeting;
use super::message::{Answer, Join, Message, Reply, STATE, Task, decode, encode, hash};
use crate::error::{Error, Result};
use crate::exchange::{Bytes, Exchange, Failure, fail};
use crate::watch::{Silent, Stop, Watch};
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// What every participant runs: gets the bytes of a job, and returns a checksum of its result.
pub(super) type Program =
    Arc<dyn Fn(&[u8], Arc<dyn Exchange>, &mut dyn Watch) -> Result<String> + Send + Sync>;

/// A worker of a training on several machines.
///
/// It knows nothing of the engine that carries its messages: [`reply`](Worker::reply) gets bytes of the driver and returns
/// bytes for it. The training itself runs on threads of its own, which end when the worker is dropped.
pub struct Worker {
    program: Program,
    running: Option<Running>,
    /// The stack of each thread, in bytes; the default of the system if `None`.
    pub(super) stack: Option<usize>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.running {
            Some(running) => {
                write!(f, "worker at question {} of training {}", running.number, running.training)
            }
            None => f.write_str("worker without work"),
        }
    }
}

/// A program on its threads.
struct Running {
    training: u64,
    /// The question to which the driver waits for a contribution.
    number: u64,
    /// What comes from the program, and the newest of it, as bytes.
    replies: Receiver<Reply>,
    newest: Option<Vec<u8>>,
    answers: Sender<Answer>,
}

impl Worker {
    pub(super) fn with_program(program: Program) -> Worker {
        Worker { program, running: None, stack: None }
    }

    /// The reply to a message of the driver. Returns within a few seconds, also if the training takes longer.
    pub fn reply(&mut self, message: &[u8]) -> Vec<u8> {
        let Some(Message { training, number, patience, task }) = decode(message) else {
            return encode(&Reply::Behind(Greeting::own()));
        };
        let known = self.running.as_mut().filter(|running| running.training == training);
        match (known, task) {
            // The message was delivered before, or the worker was busy.
            (Some(running), _) if running.number == number => running.wait(patience),
            (Some(running), Task::Continue(Some(answer))) if running.waits_before(number) => {
                running.go_on(number, answer.into_owned());
                running.wait(patience)
            }
            // A message that was overtaken by later ones must not set the worker back.
            (Some(running), Task::Join(_)) if number < running.number => encode(&Reply::Busy),
            (_, Task::Join(join)) => match self.start(training, number, join) {
                Ok(running) => self.running.insert(running).wait(patience),
                Err(error) => encode(&Reply::Failed(error.to_string())),
            },
            (_, Task::Continue(_)) => encode(&Reply::Behind(Greeting::own())),
        }
    }

    /// Starts the program on threads of its own.
    fn start(&mut self, training: u64, number: u64, join: Join<'_>) -> Result<Running> {
        // The former program ends at its next question.
        self.running = None;
        let (reply_sender, replies) = channel();
        let (answers, answer_receiver) = channel();
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let threads = join.threads.unwrap_or_else(cores);
        let mut pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|thread| format!("rankwise-worker-{thread}"));
        if let Some(stack) = self.stack {
            pool = pool.stack_size(stack);
        }
        let pool = pool.build().map_err(|e| Error::data(format!("cannot start {threads} threads: {e}")))?;
        let link = Link {
            worker: join.worker,
            number: AtomicU64::new(0),
            known: Mutex::new(join.answers.into_owned().into()),
            replies: reply_sender.clone(),
            answers: Mutex::new(answer_receiver),
            stop: Stop::default(),
        };
        let (program, job) = (self.program.clone(), join.job.into_owned());
        // The pool lives until its work is done.
        pool.spawn(move || {
            let reply = run(&program, &job.0, Arc::new(link));
            // If nobody listens, the worker is gone.
            let _ = reply_sender.send(reply);
        });
        Ok(Running { training, number, replies, newest: None, answers })
    }
}

/// Runs the program to its end, however it ends.
fn run(program: &Program, job: &[u8], link: Arc<Link>) -> Reply {
    let mut watch = Silent(link.stop.clone());
    let exchange: Arc<dyn Exchange> = link.clone();
    match catch_unwind(AssertUnwindSafe(|| program(job, exchange, &mut watch))) {
        Ok(Ok(checksum)) => Reply::Finished { number: link.number(), checksum },
        Ok(Err(error)) => Reply::Failed(error.to_string()),
        Err(panic) => Reply::Failed(words(panic)),
    }
}

/// The message of a panic.
fn words(panic: Box<dyn Any + Send>) -> String {
    let panic = match panic.downcast::<Failure>() {
        Ok(failure) => return failure.0.to_string(),
        Err(panic) => panic,
    };
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("the training failed in a way that it never should ({text}); please report this as a defect")
}

impl Running {
    /// Whether the program waits for the answer to the question before `number`.
    fn waits_before(&self, number: u64) -> bool {
        self.number + 1 == number && self.newest.is_some()
    }

    fn go_on(&mut self, number: u64, answer: Answer) {
        self.number = number;
        // If nobody listens, the program has failed, and the last reply says why.
        if self.answers.send(answer).is_ok() {
            self.newest = None;
        }
    }

    /// What the program says next, or that it is busy.
    fn wait(&mut self, patience: Duration) -> Vec<u8> {
        if self.newest.is_none() {
            let reply = match self.replies.recv_timeout(patience) {
                Ok(reply) => reply,
                Err(RecvTimeoutError::Timeout) => return encode(&Reply::Busy),
                Err(RecvTimeoutError::Disconnected) => Reply::Failed("its threads are gone".into()),
            };
            self.newest = Some(encode(&self.checked(reply)));
        }
        self.newest.clone().expect("there is a reply")
    }

    /// A program that has come to another question than the driver did not run as it did there.
    fn checked(&self, reply: Reply) -> Reply {
        match &reply {
            Reply::Contribution { number, place, .. } if *number != self.number => {
                self.elsewhere(*number, place)
            }
            Reply::Finished { number, .. } if *number != self.number => self.elsewhere(*number, "its end"),
            _ => reply,
        }
    }

    fn elsewhere(&self, number: u64, place: &str) -> Reply {
        let expected = self.number;
        Reply::Failed(format!(
            "it has come to question {number} of the program at {place}, and the driver to question {expected}; please \
             report this as a defect"
        ))
    }
}

/// The program's way to the driver.
struct Link {
    worker: usize,
    /// The number of the next question.
    number: AtomicU64,
    /// Answers to the next questions that are known already.
    known: Mutex<VecDeque<Answer>>,
    replies: Sender<Reply>,
    answers: Mutex<Receiver<Answer>>,
    stop: Stop,
}

impl Link {
    fn number(&self) -> u64 {
        self.number.load(Ordering::Relaxed)
    }

    /// The answer to the next question. It calls `own` only if the answer is not known yet.
    fn answer(&self, place: String, own: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let answer = known.unwrap_or_else(|| self.contribute(place.clone(), own()));
        if answer.place != hash(&place) {
            fail(Error::data(format!(
                "it has come to {place} at question {}, where the driver is elsewhere in the program",
                self.number()
            )));
        }
        self.number.store(answer.next.unwrap_or(self.number() + 1), Ordering::Relaxed);
        if answer.stop {
            self.stop.request();
        }
        answer.bytes.0
    }

    /// Hands over a contribution and waits for the answer to it. The wait ends with the worker.
    fn contribute(&self, place: String, own: Vec<u8>) -> Answer {
        let contribution = Reply::Contribution { number: self.number(), place, bytes: Bytes(own) };
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = self.replies.send(contribution).ok().and_then(|()| answers.recv().ok());
        drop(answers);
        answer.unwrap_or_else(|| fail(Error::data("the driver has given up this training")))
    }
}

impl Exchange for Link {
    fn worker(&self) -> Option<usize> {
        Some(self.worker)
    }

    fn ask(
        &self,
        question: &'static Location<'static>,
        own: &mut dyn FnMut() -> Vec<u8>,
        _: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Vec<u8> {
        self.answer(question.to_string(), own)
    }

    fn saved(&self, _: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        self.answer(STATE.into(), &mut Vec::new)
    }

    fn keep(&self, _: &mut dyn FnMut() -> Vec<u8>) {}
}
