use super::export::some_rows;
use crate::content::load_model;
use crate::input::{Input, note_width};
use crate::{output, python, table};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use rankwise::models::interchange::{Exported, Format, Vectors, Verdict, export, replay, synthetic_rows};
use rankwise::models::{Ranker, read_bytes};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The exit code if scores differ.
const DIFFERENT: u8 = 1;

/// The maximum number of synthetic rows.
const SYNTHETIC_ROWS: usize = 4096;

/// Check that an exported file gives the same scores as the model.
#[derive(Args)]
#[command(
    override_usage = "rankwise verify-export [OPTIONS] <MODEL> <EXPORTED>",
    after_help = "ONNX, LightGBM and XGBoost files are scored by the real runtime in Python (onnxruntime, lightgbm, \
    xgboost), and the latter two by treelite where that is installed instead or --runtime treelite asks for it. Files \
    for Elasticsearch, OpenSearch, Solr and RankLib are scored by Rankwise's own implementation of those formats, not \
    by the engine itself; to test an engine, replay the exported test vectors there.\n\n\
    Python runs isolated: modules in the current folder and on PYTHONPATH are not loaded.\n\nThe exit code is 1 if scores differ by more \
    than rounding errors.\n\nExamples:\n  rankwise verify-export model.json model.onnx --data test.txt\n  \
    rankwise verify-export model.json solr.json\n  \
    rankwise verify-export model.json booster.txt --python .venv/bin/python --runtime treelite"
)]
pub(crate) struct VerifyExport {
    /// The model
    #[arg(value_name = "MODEL")]
    first: PathBuf,

    /// The file that was exported from it
    #[arg(value_name = "EXPORTED")]
    second: Option<PathBuf>,

    /// In place of MODEL: the model
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,

    /// Compare the scores of this data, too, not only of synthetic rows
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,

    /// Format of the exported file. Default: detected from its content
    #[arg(long, value_name = "FORMAT", value_parser = Format::parse)]
    format: Option<Format>,

    /// The Python interpreter that has the runtime. Default: python3
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,

    /// The Python package that scores the file: onnxruntime, lightgbm, xgboost or treelite. Default: the first that
    /// is installed, the format's own before treelite
    #[arg(long, value_name = "PACKAGE", value_parser = python::Runtime::parse)]
    runtime: Option<python::Runtime>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    reading: Input,
}

/// Rows of one origin, with the scores of the file and the verdict.
struct Compared {
    origin: String,
    vectors: Vectors,
    found: Vec<f64>,
    verdict: Verdict,
}

impl VerifyExport {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let (model, exported) = self.files()?;
        let bytes = read_bytes(exported)?;
        let format = self.format.or_else(|| Format::of_bytes(&bytes)).with_context(|| {
            format!("{} is not in a format that `rankwise export` writes", exported.display())
        })?;
        let mut ranker = load_model(model)?;
        if let (Some(first_id), None) = (self.reading.first_id(), &ranker.columns.names) {
            ranker = ranker.with_first_id(first_id)?;
        }
        if format != Format::Rankwise {
            ranker = ranker.narrowed(1);
        }
        let expected = export(&ranker, format).context("the model cannot be exported in this format")?;
        let sets = self.sets(&ranker, &expected)?;
        let rows: Vec<Vec<f32>> = sets.iter().flat_map(|(_, vectors)| vectors.rows.clone()).collect();
        let (runtime, mut scores) = self
            .score(&bytes, format, &ranker, &rows)
            .with_context(|| format!("{} cannot be scored", exported.display()))?;
        let mut compared = Vec::new();
        for (origin, vectors) in sets {
            let rest = scores.split_off(vectors.rows.len().min(scores.len()));
            let found = std::mem::replace(&mut scores, rest);
            let verdict = vectors.compare(&found)?;
            compared.push(Compared { origin, vectors, found, verdict });
        }
        if self.json {
            output::print_json(&summary(format, &runtime, &compared))?;
        } else {
            output::print(&as_text(exported, format, &runtime, &expected, &compared))?;
        }
        let alike = compared.iter().all(|c| c.verdict.off == 0);
        Ok(if alike { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT) })
    }

    /// The model and the exported file.
    fn files(&self) -> Result<(&Path, &Path)> {
        match (&self.model, &self.second) {
            (Some(model), None) => Ok((model, &self.first)),
            (None, Some(exported)) => Ok((&self.first, exported)),
            (None, None) => {
                bail!("give the model and the exported file: `rankwise verify-export MODEL EXPORTED`")
            }
            (Some(_), Some(_)) => bail!("with --model, the exported file is the only other argument"),
        }
    }

    /// The rows to compare, with the scores of the model.
    fn sets(&self, ranker: &Ranker, expected: &Exported) -> Result<Vec<(String, Vectors)>> {
        let rows = synthetic_rows(ranker, expected, SYNTHETIC_ROWS);
        let mut sets = Vec::new();
        if !rows.is_empty() {
            sets.push(("synthetic rows".to_string(), Vectors::new(ranker, expected, rows)?));
        }
        if let Some(file) = &self.data {
            let data = self.reading.for_model(ranker).read(file)?;
            note_width(ranker, &data);
            let rows = some_rows(&*ranker.prepare(&data)?, ranker.model.width(), usize::MAX);
            let origin = format!("documents of {}", file.display());
            sets.push((origin, Vectors::new(ranker, expected, rows)?));
        }
        ensure!(
            !sets.is_empty(),
            "the scores of all synthetic rows overflow single precision; give documents with --data"
        );
        Ok(sets)
    }

    /// The scores of the file, and the runtime that computed them.
    fn score(
        &self,
        bytes: &[u8],
        format: Format,
        ranker: &Ranker,
        rows: &[Vec<f32>],
    ) -> Result<(Option<String>, Vec<f64>)> {
        let runtimes = self.runtimes(format)?;
        if !runtimes.is_empty() {
            let python = self.python.as_deref().unwrap_or(Path::new("python3"));
            let named = self.python.is_some() || self.runtime.is_some();
            match python::scores(python, &runtimes, format, bytes, rows) {
                Ok(scored) => return Ok((Some(scored.runtime), scored.scores)),
                Err(error) if named || format == Format::Onnx => return Err(error),
                Err(error) => output::note(output::sentence(&error)),
            }
        }
        match replay(bytes, format, ranker, rows)? {
            Some(scores) => Ok((None, scores)),
            None => bail!("files in the format {} can be scored only by their runtime", format.name()),
        }
    }
}

impl VerifyExport {
    /// The runtimes that may score a file of `format`, best first.
    fn runtimes(&self, format: Format) -> Result<Vec<python::Runtime>> {
        let known = python::Runtime::of(format);
        match self.runtime {
            None => Ok(known.to_vec()),
            Some(runtime) => {
                ensure!(
                    known.contains(&runtime),
                    "{} does not read files in the format {}",
                    runtime.package(),
                    format.name()
                );
                Ok(vec![runtime])
            }
        }
    }
}

fn as_text(
    exported: &Path,
    format: Format,
    runtime: &Option<String>,
    expected: &Exported,
    compared: &[Compared],
) -> String {
    let by = match runtime {
        Some(runtime) => format!("scored by {runtime}"),
        None => "scored by Rankwise's own implementation of the format, not by the engine".to_string(),
    };
    let mut text = line(&format!("{} ({}), {by}", exported.display(), format.name()));
    if expected.missing_as_zero {
        text += &line(
            "The other tool treats missing values as 0, unlike the model, so synthetic rows have no missing values.",
        );
    }
    if expected.omitted_bias != 0.0 {
        text += &line(&format!(
            "The file has no place for the model's bias of {}; this difference is accounted for.",
            expected.omitted_bias
        ));
    }
    for c in compared {
        let rows = output::thousands(c.vectors.rows.len());
        let greatest = format!("largest difference {}", difference(c.verdict.greatest));
        text += &line(&match c.verdict.first_off {
            None => format!("{rows} {}: {greatest}, within rounding", c.origin),
            Some(row) => format!(
                "{rows} {}: {greatest}, DIFFERENT in {}; the first is row {}, with score {} from the model and {} \
                 from the file",
                c.origin,
                output::thousands(c.verdict.off),
                row + 1,
                c.vectors.scores[row],
                c.found[row]
            ),
        });
    }
    text
}

fn difference(value: f64) -> String {
    if value == 0.0 { "0".into() } else { format!("{value:.1e}") }
}

fn line(text: &str) -> String {
    table::wrap(text) + "\n"
}

fn summary(format: Format, runtime: &Option<String>, compared: &[Compared]) -> Value {
    let set = |c: &Compared| {
        json!({
            "origin": c.origin,
            "rows": c.vectors.rows.len(),
            "greatest_difference": c.verdict.greatest,
            "different": c.verdict.off,
        })
    };
    json!({
        "format": format.name(),
        "runtime": runtime,
        "alike": compared.iter().all(|c| c.verdict.off == 0),
        "compared": compared.iter().map(set).collect::<Vec<_>>(),
    })
}
