//! Faults of every kind at every moment; the result is that of a run without faults.

mod errors;
mod in_memory;
mod learners;
mod replayed;

use super::message::hash;
use super::worker::Program;
use super::{Delivery, Driver, Engine, Limits, Worker};
use crate::data::{Dataset, Shard};
use crate::error::{Error, Result};
use crate::exchange::{self, Exchange, from_bytes, to_bytes};
use crate::pieces;
use crate::watch::{Progress, Silent, Stop, Watch};
use in_memory::{FAULTS, Fault, InMemory};
use std::ops::Range;
use std::panic::Location;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Short waits. Nothing in these tests takes long, unless it is meant to.
const LIMITS: Limits = Limits {
    reply: Duration::from_secs(20),
    busy: Duration::from_secs(2),
    slow: Duration::from_secs(20),
    work: Duration::from_secs(20),
    losses: 3,
};

/// Rounds of the program, and how many of them are between two states.
pub(super) const ROUNDS: usize = 6;
const KEEP: usize = 2;

#[track_caller]
fn ask(exchange: &dyn Exchange, own: impl FnOnce(u64) -> u64, decide: impl FnOnce(Vec<u64>) -> u64) -> u64 {
    let worker = exchange.worker();
    exchange::ask(exchange, Location::caller(), || own(worker.expect("a worker") as u64), decide)
}

pub(super) fn mixed(numbers: &[u64]) -> u64 {
    hash(&format!("{numbers:?}"))
}

/// A program like boosting: questions, and then rounds of questions with a state. `first` is what the driver starts from.
pub(super) fn rounds(first: &[u64], exchange: &dyn Exchange, watch: &mut dyn Watch) -> Result<Vec<u64>> {
    let sum = ask(exchange, |worker| worker + 1, |all| all.iter().sum());
    let product = ask(exchange, |worker| worker + sum, |all| all.iter().fold(1, |a, b| a ^ b));
    let mut state: Vec<u64> = from_bytes(&exchange.saved(&mut || to_bytes(&first)));
    while state.len() < ROUNDS && !watch.stop().requested() {
        let before = state.last().copied().unwrap_or(product);
        let hashed = ask(exchange, |worker| mixed(&[worker, before]), |all| mixed(&all));
        let next = ask(exchange, |worker| hashed % (worker + 2), |all| mixed(&all));
        state.push(next);
        watch.step(Progress { done: state.len() as u64, total: Some(ROUNDS as u64), what: "", value: 0.0 });
        if state.len().is_multiple_of(KEEP) {
            exchange.keep(&mut || to_bytes(&state));
        }
    }
    let check = ask(exchange, |worker| mixed(&[worker, state.len() as u64]), |all| mixed(&all));
    state.push(check);
    Ok(state)
}

/// The same without an exchange.
pub(super) fn expected(workers: u64, rounds: usize) -> Vec<u64> {
    let all = |own: &dyn Fn(u64) -> u64| (0..workers).map(own).collect::<Vec<u64>>();
    let sum: u64 = all(&|worker| worker + 1).iter().sum();
    let product = all(&|worker| worker + sum).iter().fold(1, |a, b| a ^ b);
    let mut state: Vec<u64> = Vec::new();
    for _ in 0..rounds {
        let before = state.last().copied().unwrap_or(product);
        let hashed = mixed(&all(&|worker| mixed(&[worker, before])));
        state.push(mixed(&all(&|worker| hashed % (worker + 2))));
    }
    state.push(mixed(&all(&|worker| mixed(&[worker, rounds as u64]))));
    state
}

fn rounds_program() -> Program {
    Arc::new(|_, exchange, watch| Ok(mixed(&rounds(&[], &*exchange, watch)?).to_string()))
}

pub(super) fn drive_from(driver: &mut Driver, first: &[u64], watch: &mut dyn Watch) -> Result<Vec<u64>> {
    let program = |exchange: Arc<dyn Exchange>, watch: &mut dyn Watch| rounds(first, &*exchange, watch);
    driver.run(Vec::new(), Some(1), watch, program, |state| mixed(state).to_string())
}

fn drive(engine: InMemory) -> Result<Vec<u64>> {
    drive_from(&mut Driver::new(engine).with_limits(LIMITS), &[], &mut Silent::default())
}

#[test]
fn driver_and_workers_come_to_the_same_end() {
    for workers in [1, 2, 3, 7] {
        let mut driver = Driver::new(InMemory::new(workers, rounds_program())).with_limits(LIMITS);
        // Twice: the workers leave the first training for the second.
        for _ in 0..2 {
            let state = drive_from(&mut driver, &[], &mut Silent::default()).unwrap();
            assert_eq!(state, expected(workers as u64, ROUNDS));
            let traffic = driver.traffic();
            assert_eq!((traffic.questions, traffic.losses), (4 + 2 * ROUNDS as u64, 0));
            assert!(traffic.sent > 0 && traffic.received > 0);
        }
    }
}

#[test]
fn any_fault_at_any_moment_changes_nothing() {
    let engine = InMemory::new(3, rounds_program());
    let deliveries = engine.deliveries.clone();
    drive(engine).unwrap();
    let deliveries = deliveries.load(Ordering::Relaxed);
    // Each question and the end go to each worker, and joining takes another message.
    assert_eq!(deliveries, 3 * (4 + 2 * ROUNDS + 1 + 1));
    for replaces in [true, false] {
        for fault in FAULTS {
            for moment in 0..deliveries {
                let engine = InMemory { replaces, ..InMemory::new(3, rounds_program()) };
                let engine = engine.with_faults(move |number, _| (number == moment).then_some(fault));
                let state = drive(engine).unwrap_or_else(|e| panic!("{fault:?} at {moment}: {e}"));
                assert_eq!(state, expected(3, ROUNDS), "{fault:?} at {moment}, replaced: {replaces}");
            }
        }
    }
}

#[test]
fn many_faults_change_nothing() {
    for seed in 0..60 {
        let mut since = [0; 3];
        let fault = move |number: usize, worker: usize| {
            let drawn = mixed(&[seed, number as u64]) as usize;
            // A worker may fail often, but gets through every question in the end.
            since[worker] += 1;
            let fails = drawn.is_multiple_of(3) && since[worker] > 4;
            fails.then(|| {
                since[worker] = 0;
                FAULTS[drawn / 3 % FAULTS.len()]
            })
        };
        let engine = InMemory { replaces: seed % 2 == 0, ..InMemory::new(3, rounds_program()) };
        assert_eq!(drive(engine.with_faults(fault)).unwrap(), expected(3, ROUNDS), "seed {seed}");
    }
}

#[test]
fn a_new_worker_starts_from_the_last_state_and_computes_no_known_contribution() {
    let contributed: Arc<Mutex<Vec<Vec<u64>>>> = Arc::default();
    let seen = contributed.clone();
    /// Notes which contributions are computed, and the state that the program starts from.
    struct Noting {
        inner: Arc<dyn Exchange>,
        seen: Arc<Mutex<Vec<Vec<u64>>>>,
    }
    impl Exchange for Noting {
        fn worker(&self) -> Option<usize> {
            self.inner.worker()
        }
        fn ask(
            &self,
            question: &'static Location<'static>,
            own: &mut dyn FnMut() -> Vec<u8>,
            decide: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
        ) -> Vec<u8> {
            let mut computed = || {
                self.seen.lock().unwrap().push(vec![u64::from(question.line())]);
                own()
            };
            self.inner.ask(question, &mut computed, decide)
        }
        fn saved(&self, first: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
            let state = self.inner.saved(first);
            self.seen.lock().unwrap().push(from_bytes(&state));
            state
        }
        fn keep(&self, state: &mut dyn FnMut() -> Vec<u8>) {
            self.inner.keep(state);
        }
    }
    let program: Program = Arc::new(move |_, exchange, watch| {
        let noting = Noting { inner: exchange, seen: seen.clone() };
        Ok(mixed(&rounds(&[], &noting, watch)?).to_string())
    });
    // One worker: the message to join, 3 questions, 5 rounds of 2 questions. It dies on its way to the 10th question of
    // rounds, after 4 rounds were kept.
    let engine =
        InMemory::new(1, program).with_faults(|number, _| (number == 13).then_some(Fault::DiesBefore));
    let state = drive(engine).unwrap();
    assert_eq!(state, expected(1, ROUNDS));
    let seen = contributed.lock().unwrap();
    let starts: Vec<usize> = (0..seen.len()).filter(|&i| seen[i].is_empty() || seen[i].len() > 1).collect();
    assert_eq!(starts.len(), 2, "{seen:?}");
    assert_eq!(seen[starts[1]], state[..4], "the state of the second start");
    // 2 before the first state and 9 after it; then one of the fifth round, two of the sixth, and the last.
    assert_eq!((starts[0], starts[1] - starts[0] - 1, seen.len() - starts[1] - 1), (2, 9, 4), "{seen:?}");
}

#[test]
fn a_driver_that_starts_from_a_state_ends_like_one_that_did_all() {
    for done in 0..=ROUNDS {
        let first = &expected(3, ROUNDS)[..done];
        let mut driver = Driver::new(InMemory::new(3, rounds_program())).with_limits(LIMITS);
        assert_eq!(drive_from(&mut driver, first, &mut Silent::default()).unwrap(), expected(3, ROUNDS));
    }
}

#[test]
fn a_worker_that_is_lost_again_and_again_ends_the_training() {
    let engine = InMemory::new(3, rounds_program());
    let engine =
        engine.with_faults(|number, worker| (number > 20 && worker == 1).then_some(Fault::DiesBefore));
    let error = drive(engine).unwrap_err().to_string();
    assert!(error.starts_with("worker 1 was lost 3 times while it was training; the last time, "), "{error}");
    assert!(error.ends_with("the last time, the test lost it"), "{error}");
}

/// The notes of a training in which one delivery has a fault.
fn notes_after(fault: Fault, moment: usize) -> Vec<String> {
    let engine = InMemory::new(3, rounds_program());
    let engine = engine.with_faults(move |number, _| (number == moment).then_some(fault));
    let notes: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = notes.clone();
    let note = move |text: &str| noted.lock().unwrap().push(text.to_owned());
    let mut driver = Driver::new(engine).with_limits(LIMITS).with_notes(note);
    drive_from(&mut driver, &[], &mut Silent::default()).unwrap();
    notes.lock().unwrap().clone()
}

#[test]
fn every_loss_and_every_replacement_is_noted_once() {
    let lost = "worker 1 was lost, and another one takes its place: the test lost it";
    let replaced = "worker 1 is a new one, which catches up: the engine has replaced the one before";
    // The first six deliveries are greetings and what the workers need to join.
    for (fault, moment, expected) in [
        (Fault::DiesBefore, 1, Some(lost)),
        (Fault::DiesBefore, 4, Some(lost)),
        (Fault::DiesAfter, 13, Some(lost)),
        (Fault::ReplacedSilently, 1, None),
        (Fault::ReplacedSilently, 13, Some(replaced)),
        (Fault::Twice, 13, None),
    ] {
        assert_eq!(notes_after(fault, moment), Vec::from_iter(expected), "{fault:?} at {moment}");
    }
    // Every delivery of the last question goes to a worker that is no longer needed.
    assert!(notes_after(Fault::DiesBefore, 3 * (4 + 2 * ROUNDS + 1) + 1).is_empty());
}

#[test]
fn a_worker_that_the_engine_replaces_again_and_again_ends_the_training() {
    let engine = InMemory::new(2, slow(Duration::from_secs(3)));
    let engine = engine.with_faults(|_, worker| (worker == 1).then_some(Fault::ReplacedSilently));
    let limits = Limits { busy: Duration::from_millis(10), ..LIMITS };
    let mut driver = Driver::new(engine).with_limits(limits);
    let error = drive_from(&mut driver, &[], &mut Silent::default()).unwrap_err().to_string();
    assert!(
        error.starts_with("worker 1 joined 4 times while it was training and was replaced every time"),
        "{error}"
    );
}

#[test]
fn workers_lost_at_the_end_are_not_missed() {
    let engine = InMemory::new(3, rounds_program());
    let last = 3 * (4 + 2 * ROUNDS + 1);
    let engine = engine.with_faults(move |number, _| (number >= last).then_some(Fault::DiesBefore));
    assert_eq!(drive(engine).unwrap(), expected(3, ROUNDS));
}

/// A program in which worker 1 takes its time for a contribution.
fn slow(time: Duration) -> Program {
    Arc::new(move |_, exchange, watch| {
        if exchange.worker() == Some(1) {
            std::thread::sleep(time);
        }
        Ok(mixed(&rounds(&[], &*exchange, watch)?).to_string())
    })
}

#[test]
fn a_slow_worker_is_waited_for_and_asked_again() {
    let engine = InMemory::new(2, slow(Duration::from_millis(150)));
    let deliveries = engine.deliveries.clone();
    let limits = Limits { busy: Duration::from_millis(10), slow: Duration::from_millis(30), ..LIMITS };
    let notes: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = notes.clone();
    let note = move |text: &str| noted.lock().unwrap().push(text.to_owned());
    let mut driver = Driver::new(engine).with_limits(limits).with_notes(note);
    assert_eq!(drive_from(&mut driver, &[], &mut Silent::default()).unwrap(), expected(2, ROUNDS));
    assert_eq!(driver.traffic().losses, 0);
    // Once, although the driver has asked more often since.
    assert_eq!(*notes.lock().unwrap(), ["worker 1 has been busy for 0 seconds while it was training"]);
    assert!(deliveries.load(Ordering::Relaxed) > 2 * (4 + 2 * ROUNDS + 2) + 3);
}

#[test]
fn a_worker_that_is_busy_for_ever_ends_the_training() {
    let engine = InMemory::new(2, slow(Duration::from_secs(30)));
    let limits = Limits { busy: Duration::from_millis(10), work: Duration::from_millis(100), ..LIMITS };
    let begun = Instant::now();
    let error =
        drive_from(&mut Driver::new(engine).with_limits(limits), &[], &mut Silent::default()).unwrap_err();
    assert!(
        error.to_string().starts_with(
            "worker 1 has been busy for 0 seconds while it was training, longer than the limit of 0"
        ),
        "{error}"
    );
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// Asks to stop after some rounds.
struct StopsAfter {
    rounds: u64,
    stop: Stop,
}

impl Watch for StopsAfter {
    fn step(&mut self, step: Progress<'_>) {
        if step.done == self.rounds {
            self.stop.request();
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[test]
fn a_request_to_stop_reaches_all_at_the_same_question() {
    for rounds in 1..ROUNDS as u64 {
        for moment in (0..48).step_by(5) {
            let engine = InMemory::new(3, rounds_program());
            let engine = engine.with_faults(move |number, _| (number == moment).then_some(Fault::DiesAfter));
            let mut driver = Driver::new(engine).with_limits(LIMITS);
            let mut watch = StopsAfter { rounds, stop: Stop::default() };
            // The request is seen at the next question, so the round after it is the last. Checksums are compared.
            let state = drive_from(&mut driver, &[], &mut watch).unwrap();
            assert_eq!(state, expected(3, rounds as usize + 1));
        }
    }
}

#[test]
fn a_thousand_workers_with_a_piece_each() {
    const WORKERS: usize = 1024;
    let sizes = vec![64; WORKERS];
    let documents = 64 * WORKERS;
    let values: Vec<f32> = (0..documents).map(|i| (i as f32 * 0.37).sin()).collect();
    let data = Arc::new(Dataset::dense(values, 1, vec![0.0; documents], &sizes).unwrap());
    assert_eq!(pieces::cut(data.bounds(), data.width()).len(), WORKERS + 1);
    let sums = |data: &Dataset| {
        let of = |queries: Range<usize>| {
            let rows = queries.flat_map(|q| data.query(q).rows());
            rows.map(|row| f64::from(row.get(0)).exp()).sum::<f64>()
        };
        let sums: Vec<f64> = (0..3).map(|_| data.total(of)).collect();
        Ok::<_, Error>((sums, data.totals_of_groups(16, of)))
    };
    let name = |sums: &(Vec<f64>, Vec<f64>)| format!("{sums:?}");
    let shared = data.clone();
    let program: Program = Arc::new(move |_, exchange, _| {
        let worker = exchange.worker().expect("a worker");
        Ok(name(&sums(&Shard::cut_from(&shared, worker..worker + 1, exchange))?))
    });
    let mut engine = InMemory::new(WORKERS, program);
    engine.workers.iter_mut().for_each(|worker| worker.stack = Some(128 << 10));
    // Some of them die.
    let engine = engine.with_faults(|number, _| number.is_multiple_of(97).then_some(Fault::DiesBefore));
    let mut driver = Driver::new(engine).with_limits(LIMITS);
    let drive =
        |exchange: Arc<dyn Exchange>, _: &mut dyn Watch| sums(&Shard::cut_from(&data, 0..0, exchange));
    let found = driver.run(Vec::new(), Some(1), &mut Silent::default(), drive, name).unwrap();
    assert_eq!(found, sums(&data).unwrap());
    assert!(driver.traffic().losses > 40, "{:?}", driver.traffic());
}
