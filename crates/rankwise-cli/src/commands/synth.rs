use crate::{interrupt, output};
use anyhow::Result;
use clap::Args;
use rankwise::data::{Synth as Generator, SyntheticShape, write};
use std::path::PathBuf;

/// Generate synthetic data that resembles a public data set: ohsumed, letor-gov, mslr or yahoo.
#[derive(Args)]
#[command(
    after_help = "The same seed gives the same data. With more queries, the first ones stay the same.\n\n\
    Examples:\n  rankwise synth --shape mslr -o mslr.txt\n  \
    rankwise synth --shape letor-gov --queries 7500 --seed 3 -o gov.txt.zst"
)]
pub(crate) struct Synth {
    /// The data set to resemble: ohsumed, letor-gov, mslr or yahoo
    #[arg(long, value_name = "NAME")]
    shape: String,

    /// Number of queries. Default: as in that data set
    #[arg(long, value_name = "N")]
    queries: Option<usize>,

    /// Mean number of documents per query
    #[arg(long, value_name = "N")]
    documents: Option<usize>,

    /// Number of features
    #[arg(long, value_name = "N")]
    features: Option<usize>,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

impl Synth {
    pub(crate) fn run(self) -> Result<()> {
        let mut generator = Generator::new(SyntheticShape::named(&self.shape)?);
        generator.queries = self.queries;
        generator.documents = self.documents;
        generator.features = self.features;
        generator.seed = self.seed;
        let data = generator.generate()?;
        interrupt::will_write(&self.output);
        output::notes(&write(&data, &self.output, None)?);
        output::note(format!(
            "{}, {}, {}",
            output::count(data.query_count(), "query", "queries"),
            output::count(data.len(), "document", "documents"),
            output::count(data.width(), "feature", "features")
        ));
        Ok(())
    }
}
