use crate::input::{Input, note_width};
use crate::{interrupt, output};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::data::{AtomicFile, Dataset};
use rankwise::models::Ranker;
use rankwise::models::interchange::{Exported, Format, Vectors, export, synthetic_rows};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// How many rows a file of test vectors has.
const VECTORS: usize = 48;

/// Write a model for another tool or a search engine, or another tool's for this one.
#[derive(Args)]
#[command(
    after_help = "MODEL may be ours, LightGBM's text or XGBoost's JSON or UBJSON, plain, .gz or .zst; score, eval, compare \
    and inspect take them as they are, too.\nWithout --format the ending of OUT says it: .txt lightgbm, .ubj xgboost-ubj, \
    .xml ranklib, .onnx onnx.\nelasticsearch (also OpenSearch) and solr are what their learning to rank takes; onnx takes \
    every model, they and the others those that they can score.\nTest vectors are rows with the scores that the other \
    side must give them; `rankwise verify-export` tries the file itself.\n\nExamples:\n  \
    rankwise export model.json -o model.txt\n  \
    rankwise export model.json -o booster.json --format xgboost\n  \
    rankwise export model.json -o model.onnx --data test.txt\n  \
    rankwise export model.json -o solr.json --format solr\n  \
    rankwise export lightgbm.txt -o model.json --format rankwise"
)]
pub(crate) struct Export {
    /// The model
    model: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// The format to write: lightgbm, xgboost, xgboost-ubj, ranklib, onnx, elasticsearch, elasticsearch-ranklib, solr
    /// or rankwise
    #[arg(long, value_name = "FORMAT", value_parser = Format::parse)]
    format: Option<Format>,

    /// Where test vectors go; OUT with `.vectors.json` behind it when not given
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,

    /// Write no test vectors
    #[arg(long, conflicts_with_all = ["vectors", "data"])]
    no_vectors: bool,

    /// Data whose documents become test vectors; made up around the model's thresholds when not given
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    #[command(flatten)]
    reading: Input,
}

impl Export {
    pub(crate) fn run(self) -> Result<()> {
        let format = match self.format {
            Some(format) => format,
            None => Format::of_path(&self.output)?,
        };
        for written in [Some(&self.output), self.vectors.as_ref()].into_iter().flatten() {
            output::keep_apart("the model", &self.model, written)?;
            self.data.iter().try_for_each(|data| output::keep_apart("the data", data, written))?;
        }
        let mut ranker = Ranker::load(&self.model)?;
        if let Some(first_id) = self.reading.first_id() {
            ensure!(
                ranker.columns.names.is_none(),
                "the model's features have names; --first-id counts those without"
            );
            ranker.columns.first_id = first_id;
        }
        let exported = export(&ranker, format)?;
        let vectors = self.vectors(&ranker, format, &exported)?;
        let mut files = vec![begun(&self.output, &exported.bytes)?];
        if let Some((path, bytes)) = &vectors {
            files.push(begun(path, bytes)?);
        }
        files.into_iter().try_for_each(AtomicFile::commit)?;
        output::notes(&exported.notes);
        if let Some((path, _)) = &vectors {
            output::note(format!("{} has rows with the scores they must get", path.display()));
        }
        Ok(())
    }

    /// Where the test vectors go, and their bytes.
    fn vectors(
        &self,
        ranker: &Ranker,
        format: Format,
        exported: &Exported,
    ) -> Result<Option<(PathBuf, Vec<u8>)>> {
        let unasked = format == Format::Rankwise || self.output == Path::new("-");
        if self.no_vectors || (unasked && self.vectors.is_none() && self.data.is_none()) {
            return Ok(None);
        }
        let beside = || {
            let mut name = OsString::from(&self.output);
            name.push(".vectors.json");
            PathBuf::from(name)
        };
        let path = self.vectors.clone().unwrap_or_else(beside);
        ensure!(path != self.output, "the model and its test vectors would both be {}", path.display());
        let rows = match &self.data {
            Some(file) => {
                let data = self.reading.counting_from(ranker.columns.first_id).read(file)?;
                note_width(ranker, &data);
                some_rows(&*ranker.prepare(&data)?, ranker.model.width(), VECTORS)
            }
            None => synthetic_rows(ranker, exported, VECTORS),
        };
        ensure!(
            !rows.is_empty(),
            "there is no row for test vectors, or none whose score single precision holds; name other --data, or --no-vectors"
        );
        let vectors = Vectors::new(ranker, exported, Vectors::seen_by(exported, rows))?;
        Ok(Some((path, vectors.to_json(ranker, format))))
    }
}

/// A file with all its bytes that is not in its place yet.
fn begun(path: &Path, bytes: &[u8]) -> Result<AtomicFile> {
    interrupt::will_write(path);
    let mut file = AtomicFile::create(path)?;
    file.put(bytes)?;
    Ok(file)
}

/// Up to `most` rows, spread evenly over the data; columns that it lacks are 0.
pub(super) fn some_rows(data: &Dataset, width: usize, most: usize) -> Vec<Vec<f32>> {
    let count = data.len().min(most);
    let row = |i: usize| {
        let row = data.row(i * data.len() / count);
        (0..width).map(|column| if column < data.width() { row.get(column) } else { 0.0 }).collect()
    };
    (0..count).map(row).collect()
}
