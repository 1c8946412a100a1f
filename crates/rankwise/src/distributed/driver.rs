//! The driver: runs the program without queries, asks the workers and decides.

use super::arithmetic::Greeting;
use super::message::{Answer, Join, Message, Reply, STATE, Task, decode, encode, hash};
use crate::error::{Error, Result};
use crate::exchange::{Bytes, Exchange, Failure, fail};
use crate::parallel;
use crate::watch::{Progress, Stop, Watch};
use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What carries messages between driver and workers: processes of this machine, actors of Ray or Dask.
///
/// On the other side, each message goes to the [`reply`](super::Worker::reply) of one [`Worker`](super::Worker), one after
/// the other. An engine may deliver a message twice.
pub trait Engine: Send {
    /// The number of workers. They are numbered from 0.
    fn workers(&self) -> usize;

    /// Delivers messages, at most one to each worker, and waits for the replies, for `limit` at most. Returns a reply for
    /// every message, in any order. An error ends the training.
    fn deliver(&mut self, messages: &[(usize, &[u8])], limit: Duration) -> Result<Vec<(usize, Delivery)>>;

    /// Replaces a worker that was lost by a new one. Does nothing if the engine does that on its own.
    fn restart(&mut self, worker: usize) -> Result<()>;
}

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delivery {
    /// The worker's reply.
    Reply(Vec<u8>),
    /// The worker did not reply, and what is known of the reason.
    Lost(String),
}

/// How long the driver waits, and how often it tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// A worker that gives no reply for so long is lost; 60 seconds by default.
    pub reply: Duration,
    /// A worker that computes for longer replies that it is busy; 5 seconds by default.
    pub busy: Duration,
    /// A worker that is busy with one question for longer gets a note, one in a training; one minute by default.
    pub slow: Duration,
    /// A worker that is busy with one question for longer ends the training; one day by default.
    pub work: Duration,
    /// A worker that is lost so often at one question ends the training; 3 by default.
    pub losses: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            reply: Duration::from_secs(60),
            busy: Duration::from_secs(5),
            slow: Duration::from_secs(60),
            work: Duration::from_secs(24 * 60 * 60),
            losses: 3,
        }
    }
}

/// What was exchanged so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Questions to all workers.
    pub questions: u64,
    /// Bytes that were sent to workers.
    pub sent: u64,
    /// Bytes that came from workers.
    pub received: u64,
    /// How often a worker was lost.
    pub losses: u64,
}

/// Trains on the workers of an engine.
pub struct Driver {
    engine: Arc<Mutex<Box<dyn Engine>>>,
    limits: Limits,
    pub(super) note: Note,
    traffic: Traffic,
}

/// Gets sentences about the data and about what happens to workers.
pub(super) type Note = Arc<dyn Fn(&str) + Send + Sync>;

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "driver of {} workers", self.workers())
    }
}

impl Driver {
    /// A driver of the workers of `engine`.
    pub fn new(engine: impl Engine + 'static) -> Driver {
        Driver {
            engine: Arc::new(Mutex::new(Box::new(engine))),
            limits: Limits::default(),
            note: Arc::new(|_| {}),
            traffic: Traffic::default(),
        }
    }

    /// The same with other limits.
    pub fn with_limits(self, limits: Limits) -> Driver {
        Driver { limits, ..self }
    }

    /// The same with a function that is called at once, with a sentence, when there is something to know about the data, and
    /// when a worker is slow, lost or replaced.
    pub fn with_notes(self, note: impl Fn(&str) + Send + Sync + 'static) -> Driver {
        Driver { note: Arc::new(note), ..self }
    }

    /// The number of workers.
    pub fn workers(&self) -> usize {
        lock(&self.engine).workers()
    }

    /// What the last training exchanged with the workers.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// The first question of a job.
    fn round(&self, job: Vec<u8>, threads: Option<usize>) -> Result<Round> {
        let workers = self.workers();
        if workers == 0 {
            return Err(Error::parameter("there are no workers; training needs at least one"));
        }
        Ok(Round {
            engine: self.engine.clone(),
            limits: self.limits,
            note: self.note.clone(),
            traffic: Traffic::default(),
            own: Greeting::own(),
            training: unique(),
            threads,
            job: Bytes(job),
            joined: vec![false; workers],
            noted_slow: false,
            number: 0,
            answers: Vec::new(),
            last: None,
        })
    }

    /// Runs a program here and, with the bytes of a job, on all workers. `checksum` names the result, which is the same
    /// everywhere.
    pub(super) fn run<T>(
        &mut self,
        job: Vec<u8>,
        threads: Option<usize>,
        watch: &mut dyn Watch,
        program: impl FnOnce(Arc<dyn Exchange>, &mut dyn Watch) -> Result<T>,
        checksum: impl FnOnce(&T) -> String,
    ) -> Result<T> {
        let line = Arc::new(Line {
            round: Mutex::new(self.round(job, threads)?),
            asked: watch.stop().clone(),
            stop: Stop::default(),
        });
        let mut latched = Latched { watch, stop: line.stop.clone() };
        let exchange: Arc<dyn Exchange> = line.clone();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let result = program(exchange, &mut latched)?;
            lock(&line.round).finish(&checksum(&result))?;
            Ok(result)
        }));
        self.traffic = lock(&line.round).traffic;
        ended.unwrap_or_else(|panic| match panic.downcast::<Failure>() {
            Ok(failure) => Err(failure.0),
            Err(panic) => resume_unwind(panic),
        })
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes on progress. A request to stop reaches the program only at a question, so that all participants see it at the
/// same place.
struct Latched<'a> {
    watch: &'a mut dyn Watch,
    stop: Stop,
}

impl Watch for Latched<'_> {
    fn step(&mut self, step: Progress<'_>) {
        self.watch.step(step);
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

/// The program's way to the workers.
struct Line {
    round: Mutex<Round>,
    /// What the user has asked for.
    asked: Stop,
    /// What the program knows of it.
    stop: Stop,
}

impl Line {
    fn answer(
        &self,
        place: &str,
        is_state: bool,
        decide: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Vec<u8> {
        let contributions = lock(&self.round).contributions(place).unwrap_or_else(|error| fail(error));
        let bytes = decide(contributions);
        if self.asked.requested() {
            self.stop.request();
        }
        lock(&self.round).answered(place, is_state, self.stop.requested(), bytes.clone());
        bytes
    }
}

impl Exchange for Line {
    fn worker(&self) -> Option<usize> {
        None
    }

    fn ask(
        &self,
        question: &'static Location<'static>,
        _: &mut dyn FnMut() -> Vec<u8>,
        decide: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Vec<u8> {
        self.answer(&question.to_string(), false, decide)
    }

    fn saved(&self, first: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        self.answer(STATE, true, &mut |_| first())
    }

    fn keep(&self, state: &mut dyn FnMut() -> Vec<u8>) {
        let state = state();
        lock(&self.round).keep(self.stop.requested(), state);
    }
}

/// The driver's side of the questions: all that a worker needs to join, and the question that is open.
struct Round {
    engine: Arc<Mutex<Box<dyn Engine>>>,
    limits: Limits,
    note: Note,
    traffic: Traffic,
    own: Greeting,
    training: u64,
    threads: Option<usize>,
    job: Bytes,
    /// Whether each worker has joined, and was not lost since.
    joined: Vec<bool>,
    /// Whether there was a note about a slow worker.
    noted_slow: bool,
    /// The number of the question that is open.
    number: u64,
    /// The answers that lead a new worker to that question.
    answers: Vec<Answer>,
    /// The answer to the question before, for workers that are there.
    last: Option<Answer>,
}

/// What the driver sends to a worker next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Continue,
    Join,
}

/// What becomes of a worker that is lost.
#[derive(Clone, Copy, PartialEq)]
enum Lost {
    Replaced,
    LeftOut,
}

/// How often a worker has failed at the open question.
#[derive(Clone, Default)]
struct Tries {
    losses: usize,
    joins: usize,
}

impl Tries {
    fn lost(&mut self, worker: usize, place: &str, words: &str, limits: &Limits) -> Result<()> {
        self.losses += 1;
        if self.losses < limits.losses {
            return Ok(());
        }
        let times = self.losses;
        Err(Error::data(format!(
            "worker {worker} was lost {times} times {}; the last time, {words}",
            doing(place)
        )))
    }

    /// An engine may replace a lost worker without a word; it then has to join again.
    fn joined(&mut self, worker: usize, place: &str, limits: &Limits) -> Result<()> {
        self.joins += 1;
        if self.joins <= limits.losses {
            return Ok(());
        }
        let times = self.joins;
        Err(Error::data(format!(
            "worker {worker} joined {times} times {} and was replaced every time; look for its last words in the logs of \
             the engine",
            doing(place)
        )))
    }
}

impl Round {
    /// What all workers contribute to the open question.
    fn contributions(&mut self, place: &str) -> Result<Vec<Vec<u8>>> {
        self.traffic.questions += 1;
        self.replies(place, Lost::Replaced)?
            .into_iter()
            .enumerate()
            .map(|(worker, reply)| match reply {
                Some(Reply::Contribution { place: there, bytes, .. }) if there == place => Ok(bytes.0),
                Some(Reply::Contribution { place: there, .. }) => Err(elsewhere(worker, &there, place)),
                _ => Err(elsewhere(worker, END, place)),
            })
            .collect()
    }

    /// Compares the result with those of the workers. Those that are lost now are no longer needed.
    fn finish(&mut self, checksum: &str) -> Result<()> {
        for (worker, reply) in self.replies(END, Lost::LeftOut)?.into_iter().enumerate() {
            match reply {
                None => {}
                Some(Reply::Finished { checksum: theirs, .. }) if theirs == checksum => {}
                Some(Reply::Contribution { place, .. }) => return Err(elsewhere(worker, &place, END)),
                Some(_) => {
                    return Err(Error::data(format!(
                        "worker {worker} ended with another model than the driver; please report this as a defect"
                    )));
                }
            }
        }
        Ok(())
    }

    /// Goes on to the next question.
    fn answered(&mut self, place: &str, is_state: bool, stop: bool, bytes: Vec<u8>) {
        self.number += 1;
        let next = is_state.then_some(self.number);
        let answer = Answer { place: hash(place), stop, next, bytes: Bytes(bytes) };
        self.answers.push(answer.clone());
        self.last = Some(answer);
    }

    /// Replaces the last state, and the answers after it, by a newer state.
    fn keep(&mut self, stop: bool, bytes: Vec<u8>) {
        if let Some(state) = self.answers.iter().rposition(|answer| answer.next.is_some()) {
            let kept = &mut self.answers[state];
            (kept.next, kept.stop, kept.bytes) = (Some(self.number), stop, Bytes(bytes));
            self.answers.truncate(state + 1);
        }
    }

    /// Gets the workers to the open question, which is at `place`, and returns what they say there.
    fn replies(&mut self, place: &str, lost: Lost) -> Result<Vec<Option<Reply>>> {
        let engine = self.engine.clone();
        let mut engine = lock(&engine);
        let workers = engine.workers();
        let mut replies: Vec<Option<Reply>> = vec![None; workers];
        let mut tries = vec![Tries::default(); workers];
        let mut next: Vec<(usize, Next)> = (0..workers).map(|worker| (worker, Next::Continue)).collect();
        let begun = Instant::now();
        while !next.is_empty() {
            let delivered = self.deliver(&mut **engine, &next)?;
            next.clear();
            // Reading megabytes of each worker takes longer than they took to arrive.
            let read = &*self;
            let received =
                parallel::map(delivered, |(worker, delivery)| (worker, read.received(worker, delivery)));
            for (worker, received) in received {
                match received? {
                    Received::Reply(reply) => replies[worker] = Some(reply),
                    Received::Busy => {
                        self.check_time(worker, begun, place)?;
                        next.push((worker, Next::Continue));
                    }
                    Received::Behind | Received::Lost(_) if lost == Lost::LeftOut => {}
                    Received::Behind => {
                        tries[worker].joined(worker, place, &self.limits)?;
                        self.note_new(worker);
                        next.push((worker, Next::Join));
                    }
                    Received::Lost(words) => {
                        self.traffic.losses += 1;
                        tries[worker].lost(worker, place, &words, &self.limits)?;
                        self.note_lost(worker, &words);
                        engine.restart(worker)?;
                        next.push((worker, Next::Continue));
                    }
                }
            }
        }
        Ok(replies)
    }

    fn note_lost(&mut self, worker: usize, words: &str) {
        self.joined[worker] = false;
        (self.note)(&format!("worker {worker} was lost, and another one takes its place: {words}"));
    }

    /// A worker that joins for a second time without a loss is another one.
    fn note_new(&mut self, worker: usize) {
        if std::mem::replace(&mut self.joined[worker], true) {
            (self.note)(&format!(
                "worker {worker} is a new one, which catches up: the engine has replaced the one before"
            ));
        }
    }

    /// Sends each worker its next message, and returns what became of it, in the order of the workers.
    fn deliver(&mut self, engine: &mut dyn Engine, next: &[(usize, Next)]) -> Result<Vec<(usize, Delivery)>> {
        let onward = self.message(Task::Continue(self.last.as_ref().map(Cow::Borrowed)));
        let joining: Vec<Vec<u8>> = next
            .iter()
            .map(|&(worker, next)| if next == Next::Join { self.joining(worker) } else { Vec::new() })
            .collect();
        let messages: Vec<(usize, &[u8])> = next
            .iter()
            .zip(&joining)
            .map(|(&(worker, next), joining)| (worker, if next == Next::Join { joining } else { &onward }))
            .map(|(worker, message)| (worker, &message[..]))
            .collect();
        let mut delivered = engine.deliver(&messages, self.limits.reply)?;
        delivered.sort_by_key(|(worker, _)| *worker);
        let received = |(_, delivery): &(usize, Delivery)| match delivery {
            Delivery::Reply(bytes) => bytes.len() as u64,
            Delivery::Lost(_) => 0,
        };
        self.traffic.sent += messages.iter().map(|(_, message)| message.len() as u64).sum::<u64>();
        self.traffic.received += delivered.iter().map(received).sum::<u64>();
        let mut delivered = delivered.into_iter().peekable();
        let mut of = |worker: usize| {
            while delivered.next_if(|(from, _)| *from < worker).is_some() {}
            let reply = delivered.next_if(|(from, _)| *from == worker);
            reply.map_or_else(|| Delivery::Lost("there was no reply".into()), |(_, delivery)| delivery)
        };
        Ok(next.iter().map(|&(worker, _)| (worker, of(worker))).collect())
    }

    fn joining(&self, worker: usize) -> Vec<u8> {
        self.message(Task::Join(Join {
            worker,
            threads: self.threads,
            job: Cow::Borrowed(&self.job),
            answers: Cow::Borrowed(&self.answers),
        }))
    }

    fn message(&self, task: Task<'_>) -> Vec<u8> {
        let patience = self.limits.busy.min(self.limits.reply / 2);
        encode(&Message { training: self.training, number: self.number, patience, task })
    }

    /// What a worker says to the open question.
    fn received(&self, worker: usize, delivery: Delivery) -> Result<Received> {
        let bytes = match delivery {
            Delivery::Reply(bytes) => bytes,
            Delivery::Lost(words) => return Ok(Received::Lost(words)),
        };
        let reply: Reply = decode(&bytes).ok_or_else(|| {
            Error::data(format!(
                "worker {worker} sent a reply that cannot be read; install the same version of rankwise on all machines"
            ))
        })?;
        Ok(match reply {
            Reply::Busy => Received::Busy,
            Reply::Failed(words) => return Err(Error::data(format!("worker {worker}: {words}"))),
            Reply::Behind(greeting) => match greeting.refusal(worker, &self.own) {
                Some(refusal) => return Err(Error::data(refusal)),
                None => Received::Behind,
            },
            Reply::Contribution { number, .. } | Reply::Finished { number, .. } if number != self.number => {
                Received::Lost("it replied to an earlier question".into())
            }
            reply => Received::Reply(reply),
        })
    }

    fn check_time(&mut self, worker: usize, begun: Instant, place: &str) -> Result<()> {
        let (spent, limit) = (begun.elapsed(), self.limits.work);
        let busy =
            || format!("worker {worker} has been busy for {} seconds {}", spent.as_secs(), doing(place));
        if spent >= self.limits.slow && !std::mem::replace(&mut self.noted_slow, true) {
            (self.note)(&busy());
        }
        if spent < limit {
            return Ok(());
        }
        Err(Error::data(format!(
            "{}, longer than the limit of {}; raise the limit or use more workers",
            busy(),
            limit.as_secs()
        )))
    }
}

/// What workers do on their way to a place in the program, in words.
fn doing(place: &str) -> &'static str {
    let is_in = |file: &str| place.replace('\\', "/").contains(file);
    match () {
        () if is_in("distributed/sources.rs") || is_in("distributed/train.rs") => {
            "while it was reading its files"
        }
        () if place == END => "while it was finishing",
        () => "while it was training",
    }
}

/// The place after the last question.
const END: &str = "its end";

/// What the driver makes of a reply.
enum Received {
    Reply(Reply),
    Busy,
    Behind,
    Lost(String),
}

fn elsewhere(worker: usize, there: &str, here: &str) -> Error {
    Error::data(format!(
        "worker {worker} has come to {there} of the program, and the driver to {here}; please report this as a defect"
    ))
}

/// A number that no other training has.
fn unique() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    hash(&format!("{} {}", std::process::id(), now.as_nanos()))
}
