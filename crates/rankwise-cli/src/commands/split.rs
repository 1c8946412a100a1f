use crate::input::Input;
use crate::output;
use anyhow::{Context, Result, bail};
use clap::Args;
use rankwise::data::{Dataset, Folds, Format, SplitOrder, split, write};
use std::path::{Path, PathBuf};

/// Split data by query: by fractions, into equal parts, or into cross-validation folds.
#[derive(Args)]
#[command(
    after_help = "The documents of a query stay together. Queries are shuffled unless --in-order is given.\n\n\
    Examples:\n  rankwise split all.txt -o data --fractions 0.6,0.2,0.2\n      \
    writes data/train.txt, data/valid.txt and data/test.txt\n  \
    rankwise split all.txt -o data --parts 5\n      \
    writes data/S1.txt to data/S5.txt\n  \
    rankwise split all.txt -o data --folds 5\n      \
    writes data/Fold1/{train,valid,test}.txt to data/Fold5/…"
)]
pub(crate) struct Split {
    /// The data to split
    #[arg(value_name = "FILE")]
    input: PathBuf,

    /// The directory to write to
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,

    /// Fractions of the queries: two (train, test), three (train, valid, test) or more
    #[arg(long, alias = "shares", value_delimiter = ',', num_args = 1.., value_name = "LIST", group = "way")]
    fractions: Vec<f64>,

    /// K parts of equal size
    #[arg(long, value_name = "K", group = "way")]
    parts: Option<usize>,

    /// K folds for cross-validation. In each, one part of K is for testing, one for validation, the rest for training
    #[arg(long, value_name = "K", group = "way")]
    folds: Option<usize>,

    /// Keep the order of the queries instead of shuffling them
    #[arg(long)]
    in_order: bool,

    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,

    /// Extension of the files, which decides their format: txt, csv, txt.zst, …
    #[arg(long, default_value = "txt", value_name = "EXTENSION")]
    extension: String,

    #[command(flatten)]
    reading: Input,
}

impl Split {
    pub(crate) fn run(self) -> Result<()> {
        Format::to_write(&self.file(&self.output, "train"))?;
        let data = self.reading.read(&self.input)?;
        let order = if self.in_order { SplitOrder::InOrder } else { SplitOrder::Shuffled(self.seed) };
        match (self.fractions.as_slice(), self.parts, self.folds) {
            (fractions @ [_, _, ..], None, None) => {
                self.write_all(&self.output, &names(fractions.len()), split(&data, fractions, order)?)
            }
            (_, Some(k), None) => {
                if !(2..=data.query_count()).contains(&k) {
                    bail!(
                        "--parts {k} is out of range; it must be at least 2 and at most the number of queries, {}",
                        data.query_count()
                    );
                }
                let names = (1..=k).map(|i| format!("S{i}")).collect::<Vec<_>>();
                self.write_all(&self.output, &names, split(&data, &vec![1.0; k], order)?)
            }
            (_, None, Some(k)) => self.write_folds(&data, k, order),
            _ => bail!("choose how to split: --fractions 0.6,0.2,0.2, --parts 5 or --folds 5"),
        }
    }

    fn write_folds(&self, data: &Dataset, k: usize, order: SplitOrder) -> Result<()> {
        let folds = Folds::new(data.query_count(), k, order)?;
        for f in 0..k {
            let directory = self.output.join(format!("Fold{}", f + 1));
            names(3).iter().try_for_each(|name| {
                output::keep_apart("the data", &self.input, &self.file(&directory, name))
            })?;
        }
        for f in 0..k {
            let fold = folds.fold(data, f)?;
            let directory = self.output.join(format!("Fold{}", f + 1));
            self.write_all(&directory, &names(3), vec![fold.train, fold.valid, fold.test])?;
        }
        Ok(())
    }

    /// The file of the part `name`.
    fn file(&self, directory: &Path, name: &str) -> PathBuf {
        directory.join(format!("{name}.{}", self.extension))
    }

    fn write_all(&self, directory: &Path, names: &[String], parts: Vec<Dataset>) -> Result<()> {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot create the directory {}", directory.display()))?;
        let paths: Vec<PathBuf> = names.iter().map(|name| self.file(directory, name)).collect();
        paths.iter().try_for_each(|path| output::prepare_to_write(path, &[("the data", &self.input)]))?;
        for (path, part) in paths.iter().zip(parts) {
            output::notes(&write(&part, path, None)?);
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
