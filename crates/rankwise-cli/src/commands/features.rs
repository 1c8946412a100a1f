use crate::search_args::{Bm25Args, Syntax, note_content, snapshot};
use crate::{output, table};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use rankwise::data::{read_qrels, read_run, write};
use rankwise_search::{
    Candidates, Extraction, FeatureRows, FeatureSet, Schema, SearchQuery, Snapshot, Unjudged,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Compute the features of queries and their candidates: training data from an index.
#[derive(Args)]
#[command(
    after_help = "The feature set is written beside OUT, as OUT.features.toml. A model that is trained on OUT remembers it, and \
    `rankwise search --model` computes the same features.\n\n\
    Examples:\n  rankwise features docs.idx --queries q.tsv --qrels qrels.txt -o train.txt\n  \
    rankwise features docs.idx --queries q.tsv --qrels qrels.txt \\\n      --candidates bm25.run --set small -o train.csv\n  \
    rankwise features docs.idx --print-set > my.toml\n  \
    rankwise features docs.idx --queries q.tsv --set my.toml --times"
)]
pub(crate) struct FeaturesCommand {
    /// The index
    index: PathBuf,

    /// The queries: id and text separated by a tab, JSON lines or TREC topics
    #[arg(long, value_name = "FILE", required_unless_present = "print_set")]
    queries: Option<PathBuf>,

    /// The judgments, as TREC qrels. Without them all labels are 0
    #[arg(long, value_name = "FILE")]
    qrels: Option<PathBuf>,

    /// The file to write: LETOR text, .csv, .tsv or .parquet
    #[arg(short, long, value_name = "OUT", required_unless_present_any = ["print_set", "times"])]
    output: Option<PathBuf>,

    /// The documents of each query: the first N by BM25 (bm25:N), the judged ones (judged), or those of a TREC run
    #[arg(long, default_value = "bm25:100", value_name = "WHAT")]
    candidates: String,

    /// The features: mslr (those of the MSLR data sets, for every field), small (about a dozen), or a TOML file
    #[arg(long, default_value = "mslr", value_name = "SET")]
    set: String,

    /// Only these features, by name; * stands for any text
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    pick: Vec<String>,

    /// All features but these
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    without: Vec<String>,

    /// What becomes of candidates without a judgment
    #[arg(long, default_value = "non-relevant", value_name = "WHAT")]
    unjudged: UnjudgedArg,

    /// Whether queries are plain words or in the full query syntax
    #[arg(long, default_value = "words", value_name = "SYNTAX")]
    syntax: Syntax,

    /// Print the feature set as a TOML file to edit, and compute nothing
    #[arg(long)]
    print_set: bool,

    /// Measure the time of every feature on the first queries
    #[arg(long)]
    times: bool,

    #[command(flatten)]
    bm25: Bm25Args,
}

#[derive(ValueEnum, Clone, Copy)]
enum UnjudgedArg {
    /// They get label 0
    NonRelevant,
    /// They are left out
    Drop,
}

impl FeaturesCommand {
    pub(crate) fn run(self) -> Result<()> {
        if let Some(out) = &self.output {
            let read = [&self.queries, &self.qrels].into_iter().flatten().map(|path| ("an input", &**path));
            output::prepare_to_write(out, &read.collect::<Vec<_>>())?;
        }
        let snapshot = snapshot(&self.index)?;
        let set = self.feature_set(snapshot.schema())?;
        if self.print_set {
            return output::print(&set.to_toml());
        }
        let queries = self.queries.as_deref().context("name the queries with --queries")?;
        let queries = self.syntax.queries(queries, snapshot.schema())?;
        note_content(&snapshot, &queries.iter().map(|query| &query.query).collect::<Vec<_>>())?;
        if self.times {
            self.show_times(&snapshot, &set, &queries)?;
        }
        match &self.output {
            Some(out) => self.extract(&snapshot, set, &queries, out),
            None => Ok(()),
        }
    }

    fn feature_set(&self, schema: &Schema) -> Result<FeatureSet> {
        Ok(FeatureSet::of_name(&self.set, schema)?.select(&self.pick, &self.without)?)
    }

    fn candidates(&self) -> Result<Candidates> {
        Ok(match Candidates::of_name(&self.candidates)? {
            Some(candidates) => candidates,
            None => Candidates::Run(read_run(self.candidates.as_ref())?),
        })
    }

    fn extract(
        &self,
        snapshot: &Arc<Snapshot>,
        set: FeatureSet,
        queries: &[SearchQuery],
        out: &Path,
    ) -> Result<()> {
        let extraction = Extraction {
            set,
            bm25: self.bm25.bm25()?,
            candidates: self.candidates()?,
            qrels: self.qrels.as_deref().map(read_qrels).transpose()?,
            unjudged: match self.unjudged {
                UnjudgedArg::NonRelevant => Unjudged::NonRelevant,
                UnjudgedArg::Drop => Unjudged::Drop,
            },
        };
        let bar = crate::progress::queries(queries.len());
        let extracted = extraction.run(snapshot, queries, &|done| bar.set_position(done as u64));
        bar.finish_and_clear();
        let extracted = extracted?;
        output::notes(&extracted.report.notes());
        if self.qrels.is_none() {
            output::note("there are no judgments, so all labels are 0; --qrels FILE names them");
        }
        let data = &extracted.data;
        output::notes(&write(data, out, None)?);
        output::print(&format!(
            "{}: {}, {}, {}\n",
            out.display(),
            output::count(data.query_count(), "query", "queries"),
            output::count(data.len(), "document", "documents"),
            output::count(data.width(), "feature", "features")
        ))
    }

    /// Prints what every feature costs per candidate, the costliest first.
    fn show_times(&self, snapshot: &Arc<Snapshot>, set: &FeatureSet, queries: &[SearchQuery]) -> Result<()> {
        let rows = FeatureRows::new(snapshot, set)?;
        let times = rows.times(queries, &self.bm25.bm25()?, 100)?;
        let mut order: Vec<usize> = (0..times.each.len()).collect();
        order.sort_by_key(|&column| std::cmp::Reverse(times.each[column]));
        let nanoseconds = |time: std::time::Duration| output::thousands(time.as_nanos() as usize);
        let mut lines = table::Columns::new(&["feature", ">ns per candidate"]);
        let names: Vec<&str> = set.names().collect();
        for column in order {
            lines.row([names[column], &nanoseconds(times.each[column])]);
        }
        lines.row(["all features together", &nanoseconds(times.all)]);
        lines.row(["reading words, numbers and links", &nanoseconds(times.lookup)]);
        output::print(&lines.render())
    }
}
