//! Bounds the memory of documents that wait to be written.

use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// How long a document waits for room. If the thread that writes has died, nothing lands any more; a document that goes
/// on anyway learns that from tantivy. If the thread only takes its time, one more document a second does no harm.
const PATIENCE: Duration = Duration::from_secs(1);

/// Documents in flight between the threads that analyse and the one that writes.
#[derive(Debug)]
pub(crate) struct Flight {
    bytes: Mutex<usize>,
    landed: Condvar,
    most: usize,
}

impl Flight {
    pub(crate) fn new(most: usize) -> Arc<Flight> {
        Arc::new(Flight { bytes: Mutex::new(0), landed: Condvar::new(), most })
    }

    /// Waits until there is room, or for a second. A document that is larger than the bound flies alone.
    pub(crate) fn board(self: &Arc<Self>, bytes: usize) -> Permit {
        let is_full = |flying: &mut usize| *flying > 0 && *flying + bytes > self.most;
        let waited = self.landed.wait_timeout_while(self.lock(), PATIENCE, is_full);
        let (mut flying, _) = waited.unwrap_or_else(|poisoned| poisoned.into_inner());
        *flying += bytes;
        Permit { flight: Arc::clone(self), bytes }
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.bytes.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// Room for a document, given back when the document is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    flight: Arc<Flight>,
    bytes: usize,
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.flight.lock() -= self.bytes;
        self.flight.landed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_document_waits_for_room_and_a_large_one_flies_alone() {
        let flight = Flight::new(100);
        let (small, other) = (flight.board(60), flight.board(40));
        let waiting = thread::spawn({
            let flight = Arc::clone(&flight);
            move || drop(flight.board(1000))
        });
        thread::sleep(Duration::from_millis(20));
        drop(small);
        thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished());
        drop(other);
        waiting.join().unwrap();
        assert_eq!(*flight.lock(), 0);
    }

    #[test]
    fn nothing_waits_for_ever() {
        let flight = Flight::new(100);
        let stuck = flight.board(100);
        drop(flight.board(1));
        drop(stuck);
        assert_eq!(*flight.lock(), 0);
    }
}
