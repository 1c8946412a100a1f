use super::super::tests::{ROUNDS, drive_from, expected, mixed, rounds};
use super::super::{Driver, Limits};
use super::*;
use crate::exchange::Exchange;
use crate::watch::{Silent, Watch};
use std::fs::OpenOptions;

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(20);

/// Workers that run a line of shell.
fn shells(workers: usize, line: &'static str) -> Processes {
    let command = move |_| {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    };
    Processes::start(workers, command).unwrap()
}

fn one(processes: &mut Processes, message: &[u8], limit: Duration) -> Delivery {
    let mut all = processes.deliver(&[(0, message)], limit).unwrap();
    assert_eq!((all.len(), all[0].0), (1, 0));
    all.remove(0).1
}

fn words(delivery: Delivery) -> String {
    match delivery {
        Delivery::Lost(words) => words,
        Delivery::Reply(bytes) => panic!("a reply of {} bytes", bytes.len()),
    }
}

fn kill(signal: &str, process: &Process) {
    let killed = Command::new("kill").args([signal, &process.child.id().to_string()]).status().unwrap();
    assert!(killed.success());
}

#[test]
fn frames_come_back_as_they_were_sent() {
    // More than a pipe holds, in both directions.
    let large: Vec<u8> = (0..3_000_000).map(|i| (i % 251) as u8).collect();
    let mut processes = shells(3, "exec cat");
    for _ in 0..3 {
        let messages: Vec<(usize, &[u8])> = vec![(2, &large), (0, b"zero"), (1, b"")];
        let replies = processes.deliver(&messages, LONG).unwrap();
        let expected: Vec<(usize, Delivery)> =
            messages.iter().map(|(worker, bytes)| (*worker, Delivery::Reply(bytes.to_vec()))).collect();
        assert_eq!(replies, expected);
    }
}

#[test]
fn a_process_that_is_killed_is_lost_at_once_and_can_be_replaced() {
    let mut processes = shells(1, "echo first words >&2; exec cat");
    assert_eq!(one(&mut processes, b"a", LONG), Delivery::Reply(b"a".to_vec()));
    kill("-KILL", &processes.processes[0]);
    let begun = Instant::now();
    let said = words(one(&mut processes, b"b", LONG));
    assert!(said.contains("signal: 9") && said.ends_with("It said: first words"), "{said}");
    assert!(begun.elapsed() < LONG / 2);
    processes.restart(0).unwrap();
    assert_eq!(one(&mut processes, b"c", LONG), Delivery::Reply(b"c".to_vec()));
}

#[test]
fn a_process_that_fails_is_quoted() {
    let mut processes = shells(1, "echo no memory >&2; exit 3");
    let said = words(one(&mut processes, b"a", LONG));
    assert_eq!(said, "its process ended with exit status: 3. It said: no memory");
}

#[test]
fn a_process_that_stands_still_is_lost_after_the_limit() {
    let large = vec![7; 1_000_000];
    let mut processes = shells(1, "exec cat");
    assert_eq!(one(&mut processes, b"a", LONG), Delivery::Reply(b"a".to_vec()));
    kill("-STOP", &processes.processes[0]);
    let begun = Instant::now();
    assert_eq!(words(one(&mut processes, &large, SHORT)), "it gave no sign of life for 0.3 seconds");
    assert!(begun.elapsed() >= SHORT && begun.elapsed() < LONG);
    processes.restart(0).unwrap();
    assert_eq!(one(&mut processes, &large, LONG), Delivery::Reply(large));
}

#[test]
fn output_that_is_no_frame_is_quoted() {
    let mut processes = shells(1, "echo Hello from a library; exec cat");
    let said = words(one(&mut processes, b"a", LONG));
    assert!(said.contains("Hello from a"), "{said}");
}

#[test]
fn processes_end_with_the_engine() {
    let processes = shells(2, "exec cat");
    let ids: Vec<u32> = processes.processes.iter().map(|process| process.child.id()).collect();
    drop(processes);
    for id in ids {
        let alive =
            Command::new("kill").args(["-0", &id.to_string()]).stderr(Stdio::null()).status().unwrap();
        assert!(!alive.success());
    }
}

#[test]
fn a_command_that_does_not_exist_is_an_error() {
    let error = Processes::start(1, |_| Command::new("/no/such/program")).unwrap_err().to_string();
    assert!(error.starts_with("cannot start worker 0 with /no/such/program: "), "{error}");
}

#[test]
fn frames_that_are_cut_short_are_errors() {
    let mut whole = Vec::new();
    write_frame(&mut whole, b"some bytes").unwrap();
    for cut in 1..whole.len() {
        assert!(read_frame(&mut &whole[..cut]).is_err(), "{cut}");
    }
    assert_eq!(read_frame(&mut &whole[..]).unwrap().unwrap(), b"some bytes");
    assert!(read_frame(&mut &[][..]).unwrap().is_none());
}

#[test]
fn a_worker_serves_until_its_input_ends() {
    let mut input = Vec::new();
    write_frame(&mut input, b"no message").unwrap();
    write_frame(&mut input, b"another").unwrap();
    let mut output = Vec::new();
    let program = Arc::new(|_: &[u8], _: Arc<dyn Exchange>, _: &mut dyn Watch| Ok(String::new()));
    serve(&input[..], &mut output, Worker::with_program(program)).unwrap();
    let mut output = &output[..];
    assert!(read_frame(&mut output).unwrap().is_some() && read_frame(&mut output).unwrap().is_some());
    assert!(read_frame(&mut output).unwrap().is_none());
}

/// Set for processes that are workers of the tests below.
const IS_WORKER: &str = "RANKWISE_TEST_WORKER";

/// Not a test, but a worker of the tests below. Its replies go to the third file, because the standard output of a test
/// belongs to the harness.
#[test]
fn worker_process() {
    if std::env::var_os(IS_WORKER).is_none() {
        return;
    }
    let program = |_: &[u8], exchange: Arc<dyn Exchange>, watch: &mut dyn Watch| {
        let slow = Slow(exchange);
        Ok(mixed(&rounds(&[], &slow, watch)?).to_string())
    };
    let output = OpenOptions::new().write(true).open("/dev/fd/3").unwrap();
    // An error means that the driver is gone.
    let _ = serve(io::stdin(), output, Worker::with_program(Arc::new(program)));
}

/// Takes a few milliseconds for every contribution.
struct Slow(Arc<dyn Exchange>);

impl Exchange for Slow {
    fn worker(&self) -> Option<usize> {
        self.0.worker()
    }

    fn ask(
        &self,
        question: &'static std::panic::Location<'static>,
        own: &mut dyn FnMut() -> Vec<u8>,
        decide: &mut dyn FnMut(Vec<Vec<u8>>) -> Vec<u8>,
    ) -> Vec<u8> {
        let mut slow = || {
            thread::sleep(Duration::from_millis(4));
            own()
        };
        self.0.ask(question, &mut slow, decide)
    }

    fn saved(&self, first: &mut dyn FnMut() -> Vec<u8>) -> Vec<u8> {
        self.0.saved(first)
    }

    fn keep(&self, state: &mut dyn FnMut() -> Vec<u8>) {
        self.0.keep(state);
    }
}

fn workers(workers: usize) -> Processes {
    let command = |_| {
        let mut command = Command::new("sh");
        let line = "exec \"$0\" --exact distributed::processes::tests::worker_process --nocapture 3>&1 >&2";
        command.arg("-c").arg(line).arg(std::env::current_exe().unwrap()).env(IS_WORKER, "1");
        command
    };
    Processes::start(workers, command).unwrap()
}

/// Processes of which one gets a signal a short time after a certain delivery.
struct Attacked {
    processes: Processes,
    signal: &'static str,
    deliveries: usize,
    moment: usize,
    victim: usize,
    delay: Duration,
}

impl Engine for Attacked {
    fn workers(&self) -> usize {
        self.processes.workers()
    }

    fn deliver(&mut self, messages: &[(usize, &[u8])], limit: Duration) -> Result<Vec<(usize, Delivery)>> {
        self.deliveries += 1;
        let due = self.deliveries == self.moment;
        let (signal, delay, id) = (self.signal, self.delay, self.processes.processes[self.victim].child.id());
        thread::scope(|scope| {
            if due {
                scope.spawn(move || {
                    thread::sleep(delay);
                    assert!(Command::new("kill").args([signal, &id.to_string()]).status().unwrap().success());
                });
            }
            self.processes.deliver(messages, limit)
        })
    }

    fn restart(&mut self, worker: usize) -> Result<()> {
        self.processes.restart(worker)
    }
}

/// The number of workers that were lost when one of two gets a signal in the middle of training.
fn losses_under(signal: &'static str, seed: u64, limits: Limits) -> u64 {
    let drawn = mixed(&[seed]);
    let engine = Attacked {
        processes: workers(2),
        signal,
        deliveries: 0,
        moment: 1 + drawn as usize % (2 * ROUNDS),
        victim: (drawn >> 20) as usize % 2,
        delay: Duration::from_micros((drawn >> 32) % 8000),
    };
    let mut driver = Driver::new(engine).with_limits(limits);
    let state = drive_from(&mut driver, &[], &mut Silent::default()).unwrap();
    assert_eq!(state, expected(2, ROUNDS), "seed {seed}");
    driver.traffic().losses
}

#[test]
fn killing_a_worker_changes_nothing() {
    let losses: Vec<u64> = (0..20).map(|seed| losses_under("-KILL", seed, Limits::default())).collect();
    assert_eq!(losses, [1; 20]);
}

#[test]
fn a_worker_that_stands_still_is_replaced_after_the_limit() {
    let limits = Limits { reply: Duration::from_secs(2), ..Limits::default() };
    let begun = Instant::now();
    assert_eq!(losses_under("-STOP", 3, limits), 1);
    assert!(begun.elapsed() >= limits.reply && begun.elapsed() < Duration::from_secs(20));
}
