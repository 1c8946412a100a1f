use anyhow::Result;
use clap::Args;
use rankwise::distributed::{self, serve};
use std::io;

/// Work for a `rankwise train --workers` that started this process.
#[derive(Args)]
pub(crate) struct Worker {}

impl Worker {
    pub(crate) fn run(self) -> Result<()> {
        Ok(serve(io::stdin().lock(), io::stdout().lock(), distributed::Worker::new())?)
    }
}
