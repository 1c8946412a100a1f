use crate::search_args::Bm25Args;
use crate::{interrupt, output};
use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};
use rankwise_server::{Durability, Server, Settings, Traffic};
use std::fs;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Serve searches, rankings and scores over HTTP, and collect judgments and clicks.
#[derive(Args)]
#[command(
    after_help = "Without INDEX, feature rows are scored and ranked. docs/serving.md describes the requests.\n\n\
    Examples:\n  rankwise serve --demo\n  \
    rankwise serve docs.idx --model prod=model.json --log clicks.jsonl\n  \
    rankwise serve docs.idx --model prod=a.json --model next=b.json --interleave prod,next \\\n      --log clicks.jsonl --token-file token\n  \
    rankwise serve --model prod=model.json --listen 127.0.0.1:8080\n  \
    curl 'http://127.0.0.1:7700/v1/search?q=time+sharing'"
)]
pub(crate) struct Serve {
    /// The index to search
    index: Option<PathBuf>,

    /// A model and its name, as in prod=model.json; may be given several times. The first one is the default
    #[arg(long = "model", value_name = "NAME=MODEL", value_parser = named)]
    models: Vec<(String, PathBuf)>,

    /// A directory that keeps models which are sent, so that they serve again after another start
    #[arg(long, value_name = "DIR")]
    model_store: Option<PathBuf>,

    /// The model that answers unless another is asked for, or `bm25`
    #[arg(long, value_name = "NAME")]
    default: Option<String>,

    /// How many documents of BM25 a model orders. Default: as many as in its training, or 100
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: Option<u32>,

    /// Serve a small collection with a model, judgments and clicks
    #[arg(long, conflicts_with_all = ["index", "models", "model_store", "log", "judgments", "queries"])]
    demo: bool,

    /// The address to listen on. Beyond this machine, it needs --token-file
    #[arg(long, default_value = "127.0.0.1:7700", value_name = "ADDRESS")]
    listen: SocketAddr,

    #[command(flatten)]
    experiment: Experiment,

    #[command(flatten)]
    judging: Judging,

    #[command(flatten)]
    safety: Safety,

    #[command(flatten)]
    bm25: Bm25Args,
}

/// What is shown to whom, and what is logged.
#[derive(Args)]
#[command(next_help_heading = "Clicks and comparisons")]
struct Experiment {
    /// The log of what was shown and clicked, which `rankwise clicks` reads
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,

    /// Log the features of the documents shown, too, so that a model can be trained on the log
    #[arg(long, requires = "log")]
    log_features: bool,

    /// Show lists made from the rankings of two models, so that clicks compare them
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', num_args = 1, requires = "log")]
    interleave: Option<Vec<String>>,

    /// Divide users among models, as in prod=90,next=10
    #[arg(long, value_name = "NAME=PERCENT,…", value_delimiter = ',', value_parser = portion, conflicts_with = "interleave")]
    split: Option<Vec<(String, f64)>>,

    /// A model that ranks the same queries for the log only
    #[arg(long, value_name = "NAME", requires = "log")]
    shadow: Option<String>,

    /// When clicks and judgments are acknowledged
    #[arg(long, default_value = "group", value_name = "WHEN")]
    fsync: Fsync,
}

/// Judgments of people.
#[derive(Args)]
#[command(next_help_heading = "Judgments")]
struct Judging {
    /// The file that judgments are added to
    #[arg(long, value_name = "FILE")]
    judgments: Option<PathBuf>,

    /// The queries to judge: id and text separated by a tab, JSON lines or TREC topics
    #[arg(long, value_name = "FILE", requires = "judgments", requires = "index")]
    queries: Option<PathBuf>,

    /// How many judges see the same document of a query
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    judges: u32,

    /// How many documents of every model are judged for a query
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pool: u32,

    /// What judges are told, a text file
    #[arg(long, value_name = "FILE", requires = "judgments")]
    guidelines: Option<PathBuf>,
}

/// Who may do what, and how much at once.
#[derive(Args)]
#[command(next_help_heading = "Tokens and limits")]
struct Safety {
    /// The file with the token of administrators, who may change models. A file that does not exist is made
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,

    /// The file with the tokens of judges, one per line
    #[arg(long, value_name = "FILE")]
    judge_token_file: Option<PathBuf>,

    /// The largest body of a request, in MiB
    #[arg(long, default_value_t = 8, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..=4096))]
    max_body: u32,

    /// The most rows or documents in a request
    #[arg(long, default_value_t = 10_000, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_rows: u32,

    /// How many requests are answered or wait at once; others get 503
    #[arg(long, default_value_t = 256, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_concurrent: u32,

    /// How long a request may take, in milliseconds
    #[arg(long, default_value_t = 2000, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..))]
    deadline_ms: u32,
}

#[derive(ValueEnum, Clone, Copy)]
enum Fsync {
    /// When they are on the disk; several at once
    Group,
    /// The same, and lists are on the disk before they are shown
    Always,
    /// When the system has them: they survive the program, but not the machine
    None,
}

fn named(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("write a name and a file, as in prod=model.json")?;
    Ok((name.trim().to_owned(), path.into()))
}

fn portion(text: &str) -> Result<(String, f64), String> {
    let (name, percent) = text.split_once('=').ok_or("write a model and its percentage, as in next=10")?;
    let percent: f64 = percent.trim().parse().map_err(|_| format!("`{percent}` is not a number"))?;
    Ok((name.trim().to_owned(), percent))
}

impl Serve {
    pub(crate) fn run(self) -> Result<()> {
        let demo = self.demo;
        let mut settings = self.settings()?;
        let token = match demo {
            true => super::demo_serve::prepare(&mut settings)?.filter(|_| std::io::stderr().is_terminal()),
            false => temporary_token(&mut settings)?,
        };
        serve(settings, token, "search")
    }

    fn settings(self) -> Result<Settings> {
        let Serve { index, models, model_store, default, depth, listen, .. } = self;
        let Serve { experiment, judging, safety, bm25, .. } = self;
        let interleaved = experiment.interleave.map(<[String; 2]>::try_from).transpose();
        let interleaved = interleaved.ok().context("--interleave needs two names, as in prod,next")?;
        let traffic = match (interleaved, experiment.split) {
            (Some(models), _) => Traffic::Interleave(models),
            (None, Some(models)) => Traffic::Split(models),
            (None, None) => Traffic::Default,
        };
        Ok(Settings {
            listen,
            index,
            retrieval: bm25.retrieval(depth),
            models,
            model_store,
            default,
            traffic,
            shadow: experiment.shadow,
            log: experiment.log,
            log_features: experiment.log_features,
            judgments: judging.judgments,
            queries: judging.queries,
            judges: judging.judges as usize,
            pool: judging.pool as usize,
            runs: Vec::new(),
            guidelines: judging.guidelines.as_deref().map(guidelines).transpose()?,
            durability: match experiment.fsync {
                Fsync::Group => Durability::Group,
                Fsync::Always => Durability::Always,
                Fsync::None => Durability::None,
            },
            admin_tokens: safety.token_file.as_deref().map(tokens).transpose()?.unwrap_or_default(),
            judge_tokens: safety.judge_token_file.as_deref().map(tokens).transpose()?.unwrap_or_default(),
            threads: rayon::current_num_threads(),
            max_body: (safety.max_body as usize) << 20,
            max_rows: safety.max_rows as usize,
            max_concurrent: safety.max_concurrent as usize,
            deadline: Duration::from_millis(safety.deadline_ms.into()),
        })
    }
}

/// Serves until it is stopped. A `token` goes into the address that is printed, of this view of the page.
pub(super) fn serve(settings: Settings, token: Option<String>, view: &str) -> Result<()> {
    let server = Server::start(settings)?;
    server.notes().iter().for_each(output::note);
    let address = server.address();
    match token {
        Some(token) => output::note(format!("open http://{address}/#{view}?token={token}")),
        None => output::note(format!("listening on http://{address}")),
    }
    interrupt::stoppable(|stop| server.run(stop, &|note| output::note(note)))?;
    Ok(())
}

/// The tokens of a file, one per line. A file that does not exist is made, with a new token that only its owner can read.
pub(super) fn tokens(path: &Path) -> Result<Vec<String>> {
    if !path.exists() {
        let token = rankwise_server::new_token()?;
        write_secret(path, &token)
            .with_context(|| format!("cannot make the token file {}", path.display()))?;
        output::note(format!("made the token file {}", path.display()));
        return Ok(vec![token]);
    }
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read the tokens in {}", path.display()))?;
    let tokens: Vec<String> =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    ensure!(
        !tokens.is_empty(),
        "the token file {} is empty; remove it, and a token will be made",
        path.display()
    );
    Ok(tokens)
}

/// The text of a file that judges are shown.
pub(super) fn guidelines(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write_secret(path: &Path, token: &str) -> std::io::Result<()> {
    use std::io::Write;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(format!("{token}\n").as_bytes())
}

/// A person who starts the server in a terminal may write from this machine, with a token for this time only. It is not
/// printed where it would be kept.
pub(super) fn temporary_token(settings: &mut Settings) -> Result<Option<String>> {
    let has_tokens = !settings.admin_tokens.is_empty() || !settings.judge_tokens.is_empty();
    if has_tokens || !std::io::stderr().is_terminal() || output::is_quiet() {
        return Ok(None);
    }
    if !settings.listen.ip().is_loopback() {
        bail!("{} can be reached from other machines, so it needs --token-file", settings.listen);
    }
    let token = rankwise_server::new_token()?;
    settings.admin_tokens = vec![token.clone()];
    Ok(Some(token))
}
