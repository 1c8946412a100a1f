//! What a server is started with.

use rankwise_search::search::RetrievalOptions;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// When an event is safe enough to be acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// Clicks and judgments are on the disk before they are acknowledged; several that come together are written together.
    /// Lists that were shown are on the disk before any click on them.
    #[default]
    Group,
    /// The same, and lists are on the disk before they are shown.
    Always,
    /// The operating system has them: they survive the end of the process, but not that of the machine.
    None,
}

/// Which model answers requests that do not name one.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Traffic {
    /// The default model.
    #[default]
    Default,
    /// Several models, each for a fraction of the users. Users keep their model.
    Split(Vec<(String, f64)>),
    /// Searches show lists that are made from the rankings of two models, by team draft. `/rank` uses the default model.
    Interleave([String; 2]),
}

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address to listen on. Port 0 takes a free one.
    pub listen: SocketAddr,
    /// The directory of the index. Without it, only feature rows are scored and ranked.
    pub index: Option<PathBuf>,
    /// How BM25 finds candidates, and how many of them a model orders.
    pub retrieval: RetrievalOptions,
    /// Models by name, and their files.
    pub models: Vec<(String, PathBuf)>,
    /// The directory that keeps models which are sent, and what was promoted, for another start.
    pub model_store: Option<PathBuf>,
    /// The model that answers unless another is asked for; if none is given, the first of `models`, or BM25.
    pub default: Option<String>,
    /// Which model answers requests that do not name one.
    pub traffic: Traffic,
    /// A model that ranks the same queries for the log only.
    pub shadow: Option<String>,
    /// The log of what was shown and clicked.
    pub log: Option<PathBuf>,
    /// Whether the log has the features of the documents shown.
    pub log_features: bool,
    /// The file of judgments.
    pub judgments: Option<PathBuf>,
    /// The queries to judge.
    pub queries: Option<PathBuf>,
    /// How many judges a pair of a query and a document is given to.
    pub judges: usize,
    /// How many documents of every model are judged for a query.
    pub pool: usize,
    /// TREC runs whose first documents are judged instead of those of the models.
    pub runs: Vec<PathBuf>,
    /// What judges are told, instead of our own words.
    pub guidelines: Option<String>,
    /// When events are acknowledged.
    pub durability: Durability,
    /// The tokens of administrators.
    pub admin_tokens: Vec<String>,
    /// The tokens of judges.
    pub judge_tokens: Vec<String>,
    /// Number of threads that compute.
    pub threads: usize,
    /// The largest body of a request, in bytes. Models may have more.
    pub max_body: usize,
    /// The most rows or documents in a request.
    pub max_rows: usize,
    /// How many requests are answered or wait at once.
    pub max_concurrent: usize,
    /// How long a request may take.
    pub deadline: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            listen: SocketAddr::from(([127, 0, 0, 1], 7700)),
            index: None,
            retrieval: RetrievalOptions::default(),
            models: Vec::new(),
            model_store: None,
            default: None,
            traffic: Traffic::Default,
            shadow: None,
            log: None,
            log_features: false,
            judgments: None,
            queries: None,
            judges: 3,
            pool: 20,
            runs: Vec::new(),
            guidelines: None,
            durability: Durability::Group,
            admin_tokens: Vec::new(),
            judge_tokens: Vec::new(),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            max_body: 8 << 20,
            max_rows: 10_000,
            max_concurrent: 256,
            deadline: Duration::from_secs(2),
        }
    }
}
