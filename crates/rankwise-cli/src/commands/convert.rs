use crate::input::Input;
use crate::{interrupt, output};
use anyhow::Result;
use clap::Args;
use rankwise::data::{write, write_qrels};
use std::path::PathBuf;

/// Convert data to another format; the extension of OUT decides which.
#[derive(Args)]
#[command(
    after_help = "Extensions of OUT: .txt (LETOR text), .csv, .tsv, .parquet (if built in) and .qrels, each optionally followed by .gz or .zst.\n\n\
    Examples:\n  rankwise convert train.txt train.csv\n  rankwise convert MSLR-WEB10K/Fold1/train.txt train.txt.zst\n  \
    rankwise convert judged.csv judged.qrels"
)]
pub(crate) struct Convert {
    /// The data to convert
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// The file to write
    #[arg(value_name = "OUT")]
    output: PathBuf,

    #[command(flatten)]
    reading: Input,
}

impl Convert {
    pub(crate) fn run(self) -> Result<()> {
        let data = self.reading.read(&self.input)?;
        interrupt::will_write(&self.output);
        let name = self.output.to_string_lossy();
        let unpacked = name.trim_end_matches(".gz").trim_end_matches(".zst");
        let notes = if unpacked.ends_with(".qrels") {
            write_qrels(&data, &self.output)?
        } else {
            write(&data, &self.output, None)?
        };
        output::notes(&notes);
        Ok(())
    }
}
