//! Workers that are processes of this machine.
//!
//! A worker reads messages from its standard input and writes replies to its standard output. Each is a frame: a mark, its
//! length and its bytes. At the end of its input, a worker ends.

use super::driver::{Delivery, Engine};
use super::worker::Worker;
use crate::error::{Error, Result};
use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The first bytes of every frame. What a program prints does not begin like this.
const MARK: [u8; 4] = [0x02, b'r', b'w', 0x03];

/// The most memory that a frame gets before its bytes have come.
const LARGE_FRAME: u64 = 64 << 20;

/// How many of the last bytes on a worker's standard error are kept, to be part of an error message.
const LAST_WORDS: usize = 2000;

/// How long a process may take to end once its output has ended.
const TO_END: Duration = Duration::from_secs(1);

/// Workers that are processes of this machine, each started by a command.
///
/// The command must call [`serve`] with its standard input and output. All processes end when this is dropped, and also when
/// the process that has started them is killed.
pub struct Processes {
    command: Box<dyn FnMut(usize) -> Command + Send>,
    processes: Vec<Process>,
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.processes.iter().map(|process| process.child.id())).finish()
    }
}

impl Processes {
    /// Starts `workers` processes; `command` gives the command of each.
    pub fn start(
        workers: usize,
        mut command: impl FnMut(usize) -> Command + Send + 'static,
    ) -> Result<Processes> {
        let processes =
            (0..workers).map(|worker| Process::start(worker, command(worker))).collect::<Result<_>>()?;
        Ok(Processes { command: Box::new(command), processes })
    }
}

impl Engine for Processes {
    fn workers(&self) -> usize {
        self.processes.len()
    }

    fn deliver(&mut self, messages: &[(usize, &[u8])], limit: Duration) -> Result<Vec<(usize, Delivery)>> {
        for (worker, message) in messages {
            // If the process is gone, its replies end, and that is noticed below.
            let _ = self.processes[*worker].messages.send(message.to_vec());
        }
        let deadline = Instant::now() + limit;
        let delivery = |&(worker, _): &(usize, &[u8])| {
            let left = deadline.saturating_duration_since(Instant::now());
            (worker, self.processes[worker].reply(left, limit))
        };
        Ok(messages.iter().map(delivery).collect())
    }

    fn restart(&mut self, worker: usize) -> Result<()> {
        self.processes[worker] = Process::start(worker, (self.command)(worker))?;
        Ok(())
    }
}

/// A process, and the threads that read and write its pipes, so that no wait is without a limit.
struct Process {
    child: Child,
    messages: Sender<Vec<u8>>,
    replies: Receiver<io::Result<Vec<u8>>>,
    last_words: Arc<Mutex<VecDeque<u8>>>,
    listener: JoinHandle<()>,
}

impl Process {
    fn start(worker: usize, mut command: Command) -> Result<Process> {
        apart(&mut command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().to_os_string();
        let failed = |doing: &str| format!("{doing} worker {worker} with");
        let mut child = command.spawn().map_err(|e| Error::io(&failed("start"), &program, e))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            unreachable!("all pipes were asked for")
        };
        let (messages, to_write) = channel();
        let (read, replies) = channel();
        let last_words = Arc::new(Mutex::new(VecDeque::new()));
        let words = last_words.clone();
        let spawn = |name: &str, work: Box<dyn FnOnce() + Send>| {
            thread::Builder::new()
                .name(format!("rankwise-{name}-{worker}"))
                .spawn(work)
                .map_err(|e| Error::io(&failed("start a thread for"), &program, e))
        };
        spawn("to", Box::new(move || write_messages(input, &to_write)))?;
        spawn("from", Box::new(move || read_replies(output, &read)))?;
        let listener = spawn("errors", Box::new(move || listen(errors, &words)))?;
        Ok(Process { child, messages, replies, last_words, listener })
    }

    /// The reply to the last message, if it comes in time. `limit` is what the user is told.
    fn reply(&mut self, left: Duration, limit: Duration) -> Delivery {
        match self.replies.recv_timeout(left) {
            Ok(Ok(reply)) => Delivery::Reply(reply),
            Ok(Err(e)) if e.kind() == io::ErrorKind::InvalidData => Delivery::Lost(e.to_string()),
            Err(RecvTimeoutError::Timeout) => {
                Delivery::Lost(format!("it gave no sign of life for {} seconds", limit.as_secs_f64()))
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Delivery::Lost(self.end()),
        }
    }

    /// How a process whose output has ended came to its end.
    fn end(&mut self) -> String {
        let begun = Instant::now();
        let mut status = None;
        while begun.elapsed() < TO_END && (status.is_none() || !self.listener.is_finished()) {
            status = status.or(self.child.try_wait().ok().flatten());
            thread::sleep(Duration::from_millis(2));
        }
        let ended =
            status.map_or("its output ended".into(), |status| format!("its process ended with {status}"));
        let words: Vec<u8> = lock(&self.last_words).iter().copied().collect();
        let words = String::from_utf8_lossy(&words);
        let words = words.trim();
        if words.is_empty() { ended } else { format!("{ended}. It said: {words}") }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ctrl-C on the terminal is for the driver, not for its workers.
#[cfg(unix)]
fn apart(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(windows)]
fn apart(command: &mut Command) {
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x200;
    std::os::windows::process::CommandExt::creation_flags(command, CREATE_NEW_PROCESS_GROUP);
}

#[cfg(not(any(unix, windows)))]
fn apart(_: &mut Command) {}

fn write_messages(mut input: ChildStdin, messages: &Receiver<Vec<u8>>) {
    // An error means that the process is gone. Its replies end as well.
    while let Ok(message) = messages.recv()
        && write_frame(&mut input, &message).is_ok()
    {}
}

fn read_replies(mut output: ChildStdout, replies: &Sender<io::Result<Vec<u8>>>) {
    while let Some(reply) = read_frame(&mut output).transpose() {
        let ended = reply.is_err();
        if replies.send(reply).is_err() || ended {
            return;
        }
    }
}

/// Keeps the last words on standard error.
fn listen(mut errors: ChildStderr, words: &Mutex<VecDeque<u8>>) {
    let mut block = [0; 1024];
    while let Ok(size @ 1..) = errors.read(&mut block) {
        let mut words = lock(words);
        words.extend(&block[..size]);
        let surplus = words.len().saturating_sub(LAST_WORDS);
        words.drain(..surplus);
    }
}

/// Works for a driver that started this process: replies to messages on `input` until that ends.
///
/// Nothing else may be written to `output`.
pub fn serve(mut input: impl Read, mut output: impl Write, mut worker: Worker) -> Result<()> {
    while let Some(message) =
        read_frame(&mut input).map_err(|e| Error::io("read a message from", "the driver", e))?
    {
        let reply = worker.reply(&message);
        write_frame(&mut output, &reply).map_err(|e| Error::io("write a reply to", "the driver", e))?;
    }
    Ok(())
}

fn write_frame(output: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    let mut head = [0; 12];
    head[..4].copy_from_slice(&MARK);
    head[4..].copy_from_slice(&(bytes.len() as u64).to_le_bytes());
    output.write_all(&head)?;
    output.write_all(bytes)?;
    output.flush()
}

/// The next frame; `None` at the end of the input.
fn read_frame(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::with_capacity(12);
    input.take(12).read_to_end(&mut head)?;
    if head.is_empty() {
        return Ok(None);
    }
    if !head.starts_with(&MARK[..head.len().min(4)]) {
        let text = String::from_utf8_lossy(&head).into_owned();
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("it wrote something other than replies to its standard output: {text:?}…"),
        ));
    }
    let length = head[4.min(head.len())..].try_into().map(u64::from_le_bytes);
    let length = length.map_err(|_| io::ErrorKind::UnexpectedEof)?;
    let mut bytes = Vec::with_capacity(length.min(LARGE_FRAME) as usize);
    input.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(Some(bytes)) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(all(test, unix))]
mod tests;
