use crate::content::{Content, open_all};
use crate::{interrupt, output};
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use rankwise::data::fusion::{FusionMethod, ScoreNormalization, fuse};
use std::path::{Path, PathBuf};

/// Combine several TREC runs into one (rank fusion).
#[derive(Args)]
#[command(
    after_help = "rrf adds up 1/(k + rank), so it needs no normalisation. comb-sum adds up normalised scores; comb-mnz \
    multiplies that sum by the number of runs that retrieved the document. Scores are normalised topic by topic. \
    Documents with equal scores are ranked by descending id, as in trec_eval.\n\n\
    Examples:\n  rankwise fuse bm25.run dense.run -o fused.run\n  \
    rankwise fuse bm25.run dense.run --method comb-mnz --normalize z-score \\\n      -o fused.run --depth 1000\n  \
    rankwise fuse bm25.run dense.run | rankwise eval - qrels.txt"
)]
pub(crate) struct Fuse {
    /// Two or more TREC runs
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<PathBuf>,

    /// The file to write. Default: standard output
    #[arg(short, long, default_value = "-", hide_default_value = true, value_name = "OUT")]
    output: PathBuf,

    /// How to combine the runs
    #[arg(long, default_value = "rrf", value_name = "METHOD")]
    method: Method,

    /// Of rrf: lessens the weight of the first ranks. Default: 60
    #[arg(long, value_name = "K")]
    k: Option<f64>,

    /// Of comb-sum and comb-mnz: how to normalise scores. Default: min-max
    #[arg(long, value_name = "METHOD")]
    normalize: Option<Normalization>,

    /// Keep this many documents of each topic. Default: all
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,

    /// The name of the fused run
    #[arg(long, default_value = "rankwise", value_name = "TAG")]
    tag: String,
}

#[derive(ValueEnum, Clone, Copy, PartialEq)]
enum Method {
    Rrf,
    #[value(alias = "combsum")]
    CombSum,
    #[value(alias = "combmnz")]
    CombMnz,
}

#[derive(ValueEnum, Clone, Copy)]
enum Normalization {
    None,
    MinMax,
    Max,
    Sum,
    #[value(alias = "zmuv")]
    ZScore,
    Rank,
}

impl From<Normalization> for ScoreNormalization {
    fn from(normalization: Normalization) -> ScoreNormalization {
        match normalization {
            Normalization::None => ScoreNormalization::None,
            Normalization::MinMax => ScoreNormalization::MinMax,
            Normalization::Max => ScoreNormalization::Max,
            Normalization::Sum => ScoreNormalization::Sum,
            Normalization::ZScore => ScoreNormalization::ZScore,
            Normalization::Rank => ScoreNormalization::Rank,
        }
    }
}

impl Fuse {
    pub(crate) fn run(self) -> Result<()> {
        let method = self.method()?;
        for run in &self.runs {
            output::keep_apart("a run", run, &self.output)?;
        }
        let mut runs = Vec::new();
        for opened in open_all(&self.runs.iter().map(PathBuf::as_path).collect::<Vec<&Path>>())? {
            let (path, content) = (opened.path.display().to_string(), opened.content);
            // What is only unknown is left to its reader, which says where it goes wrong.
            let may_be_run = matches!(content, Content::Run | Content::Unknown | Content::Empty);
            ensure!(
                may_be_run,
                "{path} is {}, and only TREC runs can be fused; `rankwise score --format trec` writes one",
                content.in_words()
            );
            runs.push(opened.file.run()?);
        }
        let fused = fuse(&runs, method, self.depth.map(|depth| depth as usize), &self.tag)?;
        if fused.incomplete > 0 {
            let topics = output::count(fused.incomplete, "topic is", "topics are");
            output::note(format!("{topics} missing from some of the runs; the others decide there"));
        }
        interrupt::will_write(&self.output);
        Ok(fused.run.write(&self.output)?)
    }

    fn method(&self) -> Result<FusionMethod> {
        let normalization = self.normalize.unwrap_or(Normalization::MinMax).into();
        ensure!(
            self.method != Method::Rrf || self.normalize.is_none(),
            "--normalize is for comb-sum and comb-mnz; rrf uses ranks, not scores"
        );
        ensure!(self.method == Method::Rrf || self.k.is_none(), "--k is for rrf");
        Ok(match self.method {
            Method::Rrf => FusionMethod::Rrf { k: self.k.unwrap_or(60.0) },
            Method::CombSum => FusionMethod::CombSum(normalization),
            Method::CombMnz => FusionMethod::CombMnz(normalization),
        })
    }
}
