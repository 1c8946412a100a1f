//! Training by a job, on the workers of an engine.

use super::driver::Driver;
use super::train::{TrainJob, train};
use super::worker::{Program, Worker};
use crate::error::{Error, Result};
use crate::exchange::Exchange;
use crate::learners::boosting::Checkpoint;
use crate::models::{Ranker, Record, checksum};
use crate::watch::Watch;
use std::sync::Arc;

/// A ranker that was trained on several workers, and how good it is on their data.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The ranker: the one that a single machine trains, byte for byte.
    pub ranker: Ranker,
    /// The mean of the recipe's metric over the training queries; `None` if it is undefined for all of them.
    pub train: Option<f64>,
    /// The mean over the validation queries, if there are any.
    pub valid: Option<f64>,
}

impl Driver {
    /// Trains on all workers. The file of a checkpoint is the driver's own: after a crash, a driver with the same job and
    /// any number of workers resumes from it. `watch` receives progress and can ask to stop.
    pub fn train(
        &mut self,
        job: &TrainJob,
        checkpoint: Option<&Checkpoint>,
        watch: &mut dyn Watch,
    ) -> Result<Trained> {
        if job.workers != self.workers() {
            return Err(Error::parameter(format!(
                "the job is for {} workers, and the engine has {}",
                job.workers,
                self.workers()
            )));
        }
        job.check()?;
        let note = self.note.clone();
        let program = |exchange: Arc<dyn Exchange>, watch: &mut dyn Watch| {
            train(job, checkpoint, exchange, watch, &*note)
        };
        self.run(job.to_json().into_bytes(), job.threads, watch, program, name)
    }
}

impl Worker {
    /// A worker that waits for a job.
    pub fn new() -> Worker {
        let program = |job: &[u8], exchange: Arc<dyn Exchange>, watch: &mut dyn Watch| {
            let job = TrainJob::from_json(&String::from_utf8_lossy(job))?;
            Ok(name(&train(&job, None, exchange, watch, &|_| {})?))
        };
        Worker::with_program(Arc::new(program) as Program)
    }
}

impl Default for Worker {
    fn default() -> Worker {
        Worker::new()
    }
}

/// What the results of driver and workers have in common. Notes are left out: only the driver has a checkpoint, and a note if
/// it could not be written.
fn name(trained: &Trained) -> String {
    let model = serde_json::to_vec(&trained.ranker.model).expect("a model is plain data");
    let record = Record { notes: Vec::new(), ..trained.ranker.record.clone() };
    checksum(format!("{} {record:?} {:?} {:?}", checksum(&model), trained.train, trained.valid).as_bytes())
}
