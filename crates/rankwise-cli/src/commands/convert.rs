use crate::input::Input;
use crate::output;
use anyhow::Result;
use clap::Args;
use rankwise::data::{Format, write, write_qrels};
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
        let name = self.output.to_string_lossy();
        let unpacked = name.trim_end_matches(".gz").trim_end_matches(".zst");
        let is_qrels = unpacked.ends_with(".qrels");
        if !is_qrels {
            Format::to_write(&self.output)?;
        }
        output::prepare_to_write(&self.output, &[("the data", &self.input)])?;
        let data = self.reading.read(&self.input)?;
        let notes =
            if is_qrels { write_qrels(&data, &self.output)? } else { write(&data, &self.output, None)? };
        output::notes(&notes);
        Ok(())
    }
}
