//! Threads that compute, apart from those that read and write connections.
//!
//! At most so many requests wait or run at once; others are refused at once. Requests wait in the order in which they came.

use crate::overload::{Overload, Waiting};
use crate::problem::{Answer, Problem};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The part of a new time in the average of all times.
const NEWEST: f64 = 1.0 / 16.0;

/// Threads, and what waits for them.
pub(crate) struct Pool {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
    in_flight: Arc<AtomicUsize>,
    most: usize,
    deadline: Duration,
}

struct Shared {
    queue: Mutex<Queue>,
    more: Condvar,
}

struct Queue {
    jobs: VecDeque<Job>,
    /// How many threads take jobs.
    threads: usize,
    /// The average time of a job, in seconds.
    service: f64,
    overload: Overload,
    closed: bool,
}

struct Job {
    since: Instant,
    run: Box<dyn FnOnce(Turn) + Send>,
}

/// What happens to a job that waited.
#[derive(Clone, Copy)]
enum Turn {
    Now,
    TooLate,
    Refused,
}

/// The right of a request to be read and answered.
pub(crate) struct Place {
    in_flight: Arc<AtomicUsize>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pool {
    /// Starts `threads` threads. `most` requests are read, wait or run at once, and none waits for longer than `deadline`.
    pub(crate) fn start(threads: usize, most: usize, deadline: Duration) -> std::io::Result<Pool> {
        let queue =
            Queue { jobs: VecDeque::new(), threads, service: 0.0, overload: Overload::new(), closed: false };
        let shared = Arc::new(Shared { queue: Mutex::new(queue), more: Condvar::new() });
        let start = |number| {
            let shared = Arc::clone(&shared);
            std::thread::Builder::new().name(format!("compute-{number}")).spawn(move || shared.work(deadline))
        };
        let threads = (0..threads).map(start).collect::<std::io::Result<_>>()?;
        Ok(Pool { shared, threads: Mutex::new(threads), in_flight: Arc::default(), most, deadline })
    }

    /// A place for a request, unless there are too many.
    pub(crate) fn enter(&self) -> Answer<Place> {
        let place = Place { in_flight: Arc::clone(&self.in_flight) };
        match self.in_flight.fetch_add(1, Ordering::Relaxed) < self.most {
            true => Ok(place),
            false => {
                Err(Problem::busy("the server is answering as many requests as it can; try again later"))
            }
        }
    }

    /// Refuses a request that would compute if the server is overloaded, before anything of it is read.
    pub(crate) fn check_load(&self) -> Answer<()> {
        match self.shared.lock().admits_more(Instant::now()) {
            true => Ok(()),
            false => Err(too_many()),
        }
    }

    /// How many requests have a place.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Runs `work` on one of the threads, in its turn.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Answer<T> + Send + 'static,
    ) -> Answer<T> {
        let (sender, receiver) = oneshot::channel();
        let late = Problem::busy(format!(
            "the request took more than {} ms; try again later, or ask for less",
            self.deadline.as_millis()
        ));
        let expired = late.clone();
        let run = move |turn: Turn| {
            // Nobody waits for the answer if the client has gone.
            if !sender.is_closed() {
                let _ = sender.send(match turn {
                    Turn::Now => work(),
                    Turn::TooLate => Err(expired),
                    Turn::Refused => Err(too_many()),
                });
            }
        };
        if !self.shared.push(Job { since: Instant::now(), run: Box::new(run) }) {
            return Err(too_many());
        }
        match tokio::time::timeout(self.deadline, receiver).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(Problem::internal("the request failed in a way that was not foreseen")),
            Err(_) => Err(late),
        }
    }

    /// Runs `work` if no request waits, without telling anybody. Returns whether it will run.
    pub(crate) fn run_idle(&self, work: impl FnOnce() + Send + 'static) -> bool {
        let mut queue = self.shared.lock();
        let idle = queue.jobs.is_empty() && !queue.closed;
        if idle {
            let run = move |turn: Turn| {
                if let Turn::Now = turn {
                    work()
                }
            };
            queue.jobs.push_back(Job { since: Instant::now(), run: Box::new(run) });
            self.shared.more.notify_one();
        }
        idle
    }

    /// Ends the threads when the queue is empty.
    pub(crate) fn close(&self) {
        self.shared.lock().closed = true;
        self.shared.more.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // A thread ends when there is nothing left to do, and does not panic: see `work`.
            let _ = thread.join();
        }
    }
}

fn too_many() -> Problem {
    Problem::busy("the server has more requests than it can answer; try again later")
}

fn refuse(jobs: Vec<Job>) {
    jobs.into_iter().for_each(|job| (job.run)(Turn::Refused));
}

impl Queue {
    fn waiting(&self) -> Waiting {
        let service = Duration::from_secs_f64(self.service);
        Waiting { jobs: self.jobs.len(), threads: self.threads, service }
    }

    /// Whether another job may wait, if one comes.
    fn admits_more(&mut self, now: Instant) -> bool {
        !self.closed && self.overload.admits(now, self.waiting())
    }

    /// Whether a job that has come may wait.
    fn takes_more(&mut self, now: Instant) -> bool {
        !self.closed && self.overload.takes(now, self.waiting())
    }

    /// The jobs that wait in vain, when an overload begins: all but the newest.
    fn late(&mut self, now: Instant) -> Vec<Job> {
        let waiting = self.waiting();
        match self.overload.notice(now, waiting) {
            true => self.jobs.drain(..waiting.jobs - Overload::keeps(waiting)).collect(),
            false => Vec::new(),
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a job wait, or drops it. Returns whether it waits.
    fn push(&self, job: Job) -> bool {
        let mut queue = self.lock();
        let late = queue.late(job.since);
        let takes = queue.takes_more(job.since);
        if takes {
            queue.jobs.push_back(job);
            self.more.notify_one();
        }
        drop(queue);
        refuse(late);
        takes
    }

    fn work(&self, deadline: Duration) {
        let mut took = None;
        while let Some(job) = self.next(took) {
            let start = Instant::now();
            let turn = if start - job.since <= deadline { Turn::Now } else { Turn::TooLate };
            // A panic is the failure of one request: its sender is dropped, and the thread goes on.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (job.run)(turn)));
            took = Some(start.elapsed());
        }
    }

    /// The next job, after one that took some time. Nothing if there will be none.
    fn next(&self, took: Option<Duration>) -> Option<Job> {
        let mut queue = self.lock();
        if let Some(took) = took {
            queue.service += NEWEST * (took.as_secs_f64() - queue.service);
            let late = queue.late(Instant::now());
            if !late.is_empty() {
                drop(queue);
                refuse(late);
                queue = self.lock();
            }
        }
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            if queue.closed {
                return None;
            }
            queue = self.more.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All that wait are answered before the threads end, and a failure of one is that of no other.
    #[test]
    fn jobs_run_in_their_turn() {
        let pool = Pool::start(1, 10, Duration::from_secs(60)).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let order = Arc::new(Mutex::new(Vec::new()));
            let job = |number: usize| {
                let order = Arc::clone(&order);
                pool.run(move || {
                    order.lock().unwrap().push(number);
                    if number == 2 { panic!("on purpose") } else { Ok(number) }
                })
            };
            let (first, second, third) = tokio::join!(job(1), job(2), job(3));
            assert_eq!((first, third), (Ok(1), Ok(3)));
            assert_eq!(second.unwrap_err().status, 500);
            assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
        });
        pool.close();
    }

    #[test]
    fn so_many_requests_have_a_place() {
        let pool = Pool::start(1, 2, Duration::from_secs(1)).unwrap();
        let places = [pool.enter(), pool.enter()];
        assert!(places.iter().all(Result::is_ok));
        assert_eq!(pool.enter().err().map(|problem| problem.status.as_u16()), Some(503));
        drop(places);
        assert!(pool.enter().is_ok() && pool.in_flight() == 0);
    }
}
