use crate::content::load_model;
use crate::input::{Input, note_width};
use crate::{interrupt, output};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise::data::{AtomicFile, Dataset};
use rankwise::models::interchange::{Exported, Format, Vectors, export, export_named, synthetic_rows};
use rankwise::models::{Numbering, Ranker};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The number of rows in a file of test vectors.
const VECTORS: usize = 48;

/// The largest number of values in them, unless one row has more.
const MOST_VALUES: usize = 1 << 20;

/// Convert a model for another tool or a search engine, or a model of another tool for Rankwise.
#[derive(Args)]
#[command(
    after_help = "MODEL is a model of Rankwise, LightGBM (text), XGBoost (JSON, UBJSON), CatBoost (JSON) or RankLib, plain or compressed (.gz, .zst). \
    All commands read these files directly.\n\n\
    Without --format, the extension of OUT decides: .txt lightgbm, .ubj xgboost-ubj, .xml ranklib, .onnx onnx. \
    `elasticsearch` and `opensearch` are for the learning-to-rank plugins; Elastic's own learning to rank takes \
    `xgboost` files through eland. Every model can be written as onnx. solr takes linear models, sums of trees and neural \
    networks; ranklib, elasticsearch and opensearch take linear models and sums of trees; the others take sums of \
    trees. docs/exports.md has the steps for each.\n\n\
    For a search engine, the request that uploads the file is printed.\n\n\
    Test vectors are rows with the scores that the other tool must compute for them. `rankwise verify-export` checks \
    the exported file itself.\n\nExamples:\n  \
    rankwise export model.json -o model.txt\n  \
    rankwise export model.json -o booster.json --format xgboost\n  \
    rankwise export model.json -o model.onnx --data test.txt\n  \
    rankwise export model.json -o solr.json --format solr --name films-1\n  \
    rankwise export model.json -o upload.json --format opensearch\n  \
    rankwise export lightgbm.txt -o model.json --format rankwise"
)]
pub(crate) struct Export {
    /// The model to export
    model: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,

    /// Format of OUT: lightgbm, xgboost, xgboost-ubj, ranklib, onnx, elasticsearch, elasticsearch-ranklib, opensearch,
    /// opensearch-ranklib, solr or rankwise
    #[arg(long, value_name = "FORMAT", value_parser = Format::parse)]
    format: Option<Format>,

    /// The name under which the engine stores the model. Default: the learner's name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// File for the test vectors. Default: OUT.vectors.json
    #[arg(long, value_name = "FILE")]
    vectors: Option<PathBuf>,

    /// Write no test vectors
    #[arg(long, conflicts_with_all = ["vectors", "data"])]
    no_vectors: bool,

    /// Take the test vectors from this data. Default: synthetic rows around the model's thresholds
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
        let mut ranker = load_model(&self.model)?;
        if let Some(first_id) = self.reading.first_id() {
            ranker = ranker.with_first_id(first_id)?;
        }
        let data = self.data.as_ref().map(|file| self.reading.for_model(&ranker).read(file)).transpose()?;
        if let Some(data) = &data
            && ranker.numbering == Numbering::Undecided
        {
            ranker.check_first_id(data)?;
            ranker = ranker.with_first_id(data.columns().first_id)?;
        }
        if format != Format::Rankwise {
            let width = ranker.model.width();
            ranker = ranker.narrowed(data.as_ref().map_or(1, Dataset::width));
            note_narrowed(width, ranker.model.width());
        }
        let exported = match &self.name {
            Some(name) => export_named(&ranker, format, name)?,
            None => export(&ranker, format)?,
        };
        let vectors = self.vectors(&ranker, format, &exported, data)?;
        let mut files = vec![staged(&self.output, &exported.bytes)?];
        if let Some((path, bytes)) = &vectors {
            files.push(staged(path, bytes)?);
        }
        files.into_iter().try_for_each(AtomicFile::commit)?;
        output::notes(&exported.notes);
        if let Some((path, _)) = &vectors {
            output::note(format!("wrote test vectors to {}", path.display()));
        }
        self.show_upload(format);
        Ok(())
    }

    /// Shows the request that stores the file in its engine, if it is a plain file for one.
    fn show_upload(&self, format: Format) {
        let compressed = self.output.extension().is_some_and(|ending| ending == "gz" || ending == "zst");
        if let (Some(upload), false) = (format.upload(), compressed || self.output == Path::new("-")) {
            let file = output::shell_quoted(&format!("@{}", self.output.display()));
            let variable = upload.engine.to_uppercase();
            let command = format!(
                "curl -X {} \"${variable}/{}\" -H 'Content-Type: application/json' --data-binary {file}",
                upload.method, upload.path
            );
            output::next_command(&format!("upload the model to {} with", upload.engine), &command);
        }
    }

    /// The path of the test vectors and their bytes.
    fn vectors(
        &self,
        ranker: &Ranker,
        format: Format,
        exported: &Exported,
        data: Option<Dataset>,
    ) -> Result<Option<(PathBuf, Vec<u8>)>> {
        let optional = format == Format::Rankwise || self.output == Path::new("-");
        if self.no_vectors || (optional && self.vectors.is_none() && self.data.is_none()) {
            return Ok(None);
        }
        let beside = || {
            let mut name = OsString::from(&self.output);
            name.push(".vectors.json");
            PathBuf::from(name)
        };
        let path = self.vectors.clone().unwrap_or_else(beside);
        ensure!(
            path != self.output,
            "the model and its test vectors would both be written to {}",
            path.display()
        );
        let width = ranker.model.width();
        let most = VECTORS.min((MOST_VALUES / width).max(1));
        let rows = match &data {
            Some(data) => {
                note_width(ranker, data);
                some_rows(&*ranker.prepare(data)?, width, most)
            }
            None => synthetic_rows(ranker, exported, most),
        };
        ensure!(
            !rows.is_empty(),
            "there are no rows for test vectors whose scores fit single precision; give other rows with --data, or use --no-vectors"
        );
        let vectors = Vectors::new(ranker, exported, Vectors::seen_by(exported, rows))?;
        Ok(Some((path, vectors.to_json(ranker, format))))
    }
}

/// Prints a note if a model of `before` features was narrowed to `now`.
pub(super) fn note_narrowed(before: usize, now: usize) {
    if now < before {
        output::note(format!(
            "the model has {} features and uses none behind the first {}: only those are exported",
            output::thousands(before),
            output::thousands(now)
        ));
    }
}

/// A complete temporary file, which is still to be renamed to `path`.
fn staged(path: &Path, bytes: &[u8]) -> Result<AtomicFile> {
    interrupt::will_write(path);
    let mut file = AtomicFile::create(path)?;
    file.put(bytes)?;
    Ok(file)
}

/// Up to `most` rows, spread evenly over the data. Features that the data lacks are 0.
pub(super) fn some_rows(data: &Dataset, width: usize, most: usize) -> Vec<Vec<f32>> {
    let count = data.len().min(most);
    let row = |i: usize| {
        let row = data.row(i * data.len() / count);
        (0..width).map(|column| if column < data.width() { row.get(column) } else { 0.0 }).collect()
    };
    (0..count).map(row).collect()
}
