use crate::input::Input;
use crate::{interrupt, output};
use anyhow::{Context, Result, bail};
use clap::Args;
use rankwise::data::{Dataset, Folds, SplitOrder, split, write};
use std::path::{Path, PathBuf};

/// Split data by query: into shares, parts, or train/valid/test folds.
#[derive(Args)]
#[command(
    after_help = "A query is never split. Queries are shuffled with the seed unless --in-order is given.\n\n\
    Examples:\n  rankwise split all.txt -o data --shares 0.6,0.2,0.2    data/train.txt, valid.txt, test.txt\n  \
    rankwise split all.txt -o data --parts 5               data/S1.txt … data/S5.txt\n  \
    rankwise split all.txt -o data --folds 5               data/Fold1/{train,valid,test}.txt …"
)]
pub(crate) struct Split {
    /// The data to read
    input: PathBuf,

    /// The directory to write to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Shares of the queries: two (train, test), three (train, valid, test) or more
    #[arg(long, value_delimiter = ',', num_args = 1.., value_name = "SHARES", group = "way")]
    shares: Vec<f64>,

    /// Equal parts
    #[arg(long, value_name = "K", group = "way")]
    parts: Option<usize>,

    /// Folds in which each part is the test part once: K − 2 parts train, one validates, one tests
    #[arg(long, value_name = "K", group = "way")]
    folds: Option<usize>,

    /// Keep queries in their order instead of shuffling them
    #[arg(long)]
    in_order: bool,

    /// The seed of the shuffle
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// The ending of the files, which says their format: txt, csv, txt.zst …
    #[arg(long, default_value = "txt", value_name = "EXTENSION")]
    extension: String,

    #[command(flatten)]
    reading: Input,
}

impl Split {
    pub(crate) fn run(self) -> Result<()> {
        let data = self.reading.read(&self.input)?;
        let order = if self.in_order { SplitOrder::InOrder } else { SplitOrder::Shuffled(self.seed) };
        match (self.shares.as_slice(), self.parts, self.folds) {
            (shares @ [_, _, ..], None, None) => {
                self.write_all(&self.output, &names(shares.len()), split(&data, shares, order)?)
            }
            (_, Some(k), None) => {
                if !(2..=data.query_count()).contains(&k) {
                    bail!(
                        "--parts {k} cannot be: there are {} queries, and 2 parts at least",
                        data.query_count()
                    );
                }
                let names = (1..=k).map(|i| format!("S{i}")).collect::<Vec<_>>();
                self.write_all(&self.output, &names, split(&data, &vec![1.0; k], order)?)
            }
            (_, None, Some(k)) => self.write_folds(&data, k, order),
            _ => bail!("say how to split: --shares 0.6,0.2,0.2, --parts 5 or --folds 5"),
        }
    }

    fn write_folds(&self, data: &Dataset, k: usize, order: SplitOrder) -> Result<()> {
        let folds = Folds::new(data.query_count(), k, order)?;
        for f in 0..k {
            let fold = folds.fold(data, f)?;
            let directory = self.output.join(format!("Fold{}", f + 1));
            self.write_all(&directory, &names(3), vec![fold.train, fold.valid, fold.test])?;
        }
        Ok(())
    }

    fn write_all(&self, directory: &Path, names: &[String], parts: Vec<Dataset>) -> Result<()> {
        std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
        for (name, part) in names.iter().zip(parts) {
            let path = directory.join(format!("{name}.{}", self.extension));
            interrupt::will_write(&path);
            output::notes(&write(&part, &path, None)?);
            output::print(&format!(
                "{}: {}, {}\n",
                path.display(),
                output::count(part.query_count(), "query", "queries"),
                output::count(part.len(), "document", "documents")
            ))?;
        }
        Ok(())
    }
}

fn names(parts: usize) -> Vec<String> {
    match parts {
        2 => ["train", "test"].map(String::from).to_vec(),
        3 => ["train", "valid", "test"].map(String::from).to_vec(),
        n => (1..=n).map(|i| format!("part{i}")).collect(),
    }
}
