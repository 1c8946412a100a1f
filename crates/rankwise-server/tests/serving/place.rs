//! A server with the collection of the demo, for one test.

use crate::client::Client;
use rankwise::Recipe;
use rankwise::models::Ranker;
use rankwise::recipe::Start;
use rankwise::watch::{Silent, Stop};
use rankwise_search::{Index, Snapshot, demo};
use rankwise_server::{Server, Settings};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

pub(crate) const ADMIN: &str = "administrator-0123456789";
pub(crate) const JUDGE: &str = "judge-0123456789-judge";

/// The demo's index and two models, made once for all tests of a process.
pub(crate) struct Demo {
    directory: tempfile::TempDir,
    pub(crate) snapshot: Arc<Snapshot>,
}

pub(crate) fn demo() -> &'static Demo {
    static DEMO: OnceLock<Demo> = OnceLock::new();
    DEMO.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let index = demo::index(&directory.path().join("docs.idx")).unwrap();
        let snapshot = Arc::new(index.snapshot().unwrap());
        let data = demo::extract(&snapshot).unwrap();
        for (name, recipe) in [
            ("trees.json", Recipe::new("lambda-mart").set("iterations", 20).seed(1)),
            ("linear.json", Recipe::new("rank-net").scorer("linear").seed(1)),
        ] {
            let ranker = recipe.fit(&data, None, Start::default(), &mut Silent::default()).unwrap();
            ranker.save(&directory.path().join(name)).unwrap();
        }
        Demo { directory, snapshot }
    })
}

impl Demo {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn ranker(&self, name: &str) -> Ranker {
        Ranker::load(&self.path(name)).unwrap()
    }

    /// Settings with the index and both models.
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            index: Some(self.path("docs.idx")),
            models: vec![
                ("trees".to_owned(), self.path("trees.json")),
                ("linear".to_owned(), self.path("linear.json")),
            ],
            ..settings()
        }
    }
}

/// Settings of a server with tokens on any free port.
pub(crate) fn settings() -> Settings {
    Settings {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        admin_tokens: vec![ADMIN.to_owned()],
        judge_tokens: vec![JUDGE.to_owned()],
        threads: 2,
        ..Settings::default()
    }
}

/// A server that runs until it is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) notes: Vec<String>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(settings: Settings) -> Running {
        let server = Server::start(settings).unwrap();
        let (address, notes, stop) = (server.address(), server.notes().to_vec(), Stop::default());
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || server.run(&stopped, &|_| {}).unwrap());
        Running { address, notes, stop, thread: Some(thread) }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Asks the server to end, without waiting for it.
    pub(crate) fn begin_to_end(&self) {
        self.stop.request();
    }

    /// Waits for the end.
    pub(crate) fn end(mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.finish();
        }
    }
}

/// The header of a bearer.
pub(crate) fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

/// An index that exists.
pub(crate) fn reopened(path: &Path) -> Arc<Snapshot> {
    Arc::new(Index::open(path).unwrap().snapshot().unwrap())
}
