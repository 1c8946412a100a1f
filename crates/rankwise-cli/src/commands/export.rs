use crate::{interrupt, output};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::data::AtomicFile;
use rankwise::models::Ranker;
use rankwise::models::interchange::{Format, export};
use std::path::PathBuf;

/// Write a model of trees for another tool, or another tool's for this one.
#[derive(Args)]
#[command(
    after_help = "MODEL may be ours, LightGBM's text or XGBoost's JSON or UBJSON, plain, .gz or .zst; score, eval, compare \
    and inspect take them as they are, too.\nWithout --format the ending of OUT says it: .txt lightgbm, .ubj xgboost-ubj, \
    .xml ranklib.\n\nExamples:\n  rankwise export model.json -o model.txt\n  \
    rankwise export model.json -o booster.json --format xgboost\n  \
    rankwise export lightgbm.txt -o lambdamart.xml\n  \
    rankwise export lightgbm.txt -o model.json --format rankwise"
)]
pub(crate) struct Export {
    /// The model
    model: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// The format to write: lightgbm, xgboost, xgboost-ubj, ranklib or rankwise
    #[arg(long, value_name = "FORMAT", value_parser = Format::parse)]
    format: Option<Format>,

    /// What the first feature of a model without names is called in text, 0 or 1; as the model says when not given
    #[arg(long, value_name = "ID", value_parser = clap::value_parser!(u32).range(0..=1))]
    first_id: Option<u32>,
}

impl Export {
    pub(crate) fn run(self) -> Result<()> {
        let format = match self.format {
            Some(format) => format,
            None => Format::of_path(&self.output)?,
        };
        let mut ranker = Ranker::load(&self.model)?;
        if let Some(first_id) = self.first_id {
            ensure!(
                ranker.columns.names.is_none(),
                "the model's features have names; --first-id counts those without"
            );
            ranker.columns.first_id = first_id;
        }
        let exported = export(&ranker, format)?;
        interrupt::will_write(&self.output);
        let mut file = AtomicFile::create(&self.output)?;
        file.put(&exported.bytes)?;
        file.commit()?;
        output::notes(&exported.notes);
        Ok(())
    }
}
