//! Workers that are threads, to prove that a program gives the same on any number of them.

use super::{Exchange, Failure, fail};
use crate::error::Error;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex};

/// Runs `work` in a driver and `workers` workers, each with its way to the others. Returns the result of the driver, and
/// those of the workers.
pub(crate) fn with_exchange<T: Send>(
    workers: usize,
    work: impl Fn(Arc<dyn Exchange>) -> T + Sync,
) -> (T, Vec<T>) {
    let table = Arc::new(Table::new(workers));
    let run = |worker: Option<usize>| {
        let exchange: Arc<dyn Exchange> = Arc::new(Seat { table: table.clone(), worker });
        let result = catch_unwind(AssertUnwindSafe(|| work(exchange)));
        if result.is_err() {
            table.abandon();
        }
        result
    };
    let results = std::thread::scope(|scope| {
        let run = &run;
        let threads: Vec<_> = (0..workers).map(|worker| scope.spawn(move || run(Some(worker)))).collect();
        let driver = run(None);
        let mut results = vec![driver];
        results.extend(threads.into_iter().map(|thread| thread.join().expect("panics are caught")));
        results
    });
    let (mut fine, mut panics) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(result) => fine.push(result),
            Err(panic) => panics.push(panic),
        }
    }
    // The others only say that they were left alone.
    panics.sort_by_key(|panic| panic.is::<Failure>());
    if let Some(panic) = panics.into_iter().next() {
        match panic.downcast::<Failure>() {
            Ok(failure) => panic!("{}", failure.0),
            Err(panic) => resume_unwind(panic),
        }
    }
    (fine.remove(0), fine)
}

/// Where contributions and answers are laid.
struct Table {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    contributions: Vec<Option<(String, Vec<u8>)>>,
    /// The number of questions answered, and the last answer.
    answered: usize,
    answer: Vec<u8>,
    abandoned: bool,
}

impl Table {
    fn new(workers: usize) -> Table {
        let state =
            State { contributions: vec![None; workers], answered: 0, answer: Vec::new(), abandoned: false };
        Table { state: Mutex::new(state), changed: Condvar::new() }
    }

    fn abandon(&self) {
        self.state.lock().unwrap().abandoned = true;
        self.changed.notify_all();
    }

    /// Waits until `ready` gives something.
    fn wait<T>(&self, mut ready: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut state = self.state.lock().unwrap();
        loop {
            if let Some(found) = ready(&mut state) {
                return found;
            }
            if state.abandoned {
                drop(state);
                fail(Error::data("another worker failed"));
            }
            state = self.changed.wait(state).unwrap();
        }
    }
}

/// The seat of a worker or of the driver at the table.
struct Seat {
    table: Arc<Table>,
    worker: Option<usize>,
}

impl Exchange for Seat {
    fn worker(&self) -> Option<usize> {
        self.worker
    }

    fn ask(
        &self,
        question: &'static Location<'static>,
        own: &mut dyn FnMut() -> Vec<u8>,
        decide: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Vec<u8> {
        let Some(worker) = self.worker else {
            let contributions = self.table.wait(|state| {
                let ready = state.contributions.iter().all(Option::is_some);
                ready.then(|| state.contributions.iter_mut().map(|c| c.take().unwrap()).collect::<Vec<_>>())
            });
            for (worker, (asked, _)) in contributions.iter().enumerate() {
                assert_eq!(*asked, question.to_string(), "worker {worker} is elsewhere in the program");
            }
            let answer = decide(contributions.into_iter().map(|(_, bytes)| bytes).collect());
            let mut state = self.table.state.lock().unwrap();
            state.answered += 1;
            state.answer = answer.clone();
            self.table.changed.notify_all();
            return answer;
        };
        let contribution = (question.to_string(), own());
        let mut state = self.table.state.lock().unwrap();
        state.contributions[worker] = Some(contribution);
        let before = state.answered;
        drop(state);
        self.table.changed.notify_all();
        self.table.wait(|state| (state.answered > before).then(|| state.answer.clone()))
    }

    fn saved(&self, first: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        self.ask(Location::caller(), &mut Vec::new, &mut |_| first())
    }

    fn keep(&self, _: &mut dyn FnMut() -> Vec<u8>) {}
}
