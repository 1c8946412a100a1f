use super::serve::{guidelines, serve, temporary_token, tokens};
use anyhow::{Result, ensure};
use clap::Args;
use rankwise_server::Settings;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Open a page on which people judge documents, and collect their judgments.
#[derive(Args)]
#[command(
    after_help = "The documents are the first ones of TREC runs, or of BM25. `rankwise labels` merges the judgments into qrels.\n\n\
    Examples:\n  rankwise judge docs.idx --queries q.tsv -o judgments.csv\n  \
    rankwise judge docs.idx --queries q.tsv --pool a.run,b.run \\\n      --depth 20 --judges 3 -o judgments.csv\n  \
    rankwise judge docs.idx --queries q.tsv -o judgments.csv --listen 0.0.0.0:7700 \\\n      --token-file token --judge-token-file judges"
)]
pub(crate) struct Judge {
    /// The index that has the documents
    index: PathBuf,

    /// The queries: id and text separated by a tab, JSON lines or TREC topics
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,

    /// TREC runs whose first documents are judged, separated by commas
    #[arg(long, value_name = "RUN,…", value_delimiter = ',')]
    pool: Vec<PathBuf>,

    /// How many documents of every run are judged for a query
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    depth: u32,

    /// How many judges see the same document of a query
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    judges: u32,

    /// The file that judgments are added to
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// What judges are told, a text file
    #[arg(long, value_name = "FILE")]
    guidelines: Option<PathBuf>,

    /// The address to listen on. Beyond this machine, it needs --token-file
    #[arg(long, default_value = "127.0.0.1:7700", value_name = "ADDRESS")]
    listen: SocketAddr,

    /// The file with the token of administrators, who may judge, too. A file that does not exist is made
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The file with the tokens of judges, one per line
    #[arg(long, value_name = "FILE")]
    judge_token_file: Option<PathBuf>,
}

impl Judge {
    pub(crate) fn run(self) -> Result<()> {
        let mut settings = Settings {
            listen: self.listen,
            index: Some(self.index),
            judgments: Some(self.output),
            queries: Some(self.queries),
            judges: self.judges as usize,
            pool: self.depth as usize,
            runs: self.pool,
            guidelines: self.guidelines.as_deref().map(guidelines).transpose()?,
            admin_tokens: self.token_file.as_deref().map(tokens).transpose()?.unwrap_or_default(),
            judge_tokens: self.judge_token_file.as_deref().map(tokens).transpose()?.unwrap_or_default(),
            threads: rayon::current_num_threads(),
            ..Settings::default()
        };
        let token = temporary_token(&mut settings)?;
        ensure!(
            !settings.admin_tokens.is_empty() || !settings.judge_tokens.is_empty(),
            "nobody could judge without a token; name a file with --token-file, which is made if it does not exist"
        );
        serve(settings, token, "judge")
    }
}
