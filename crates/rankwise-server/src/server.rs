//! Connections: accepting them, limits on slow ones, and the orderly end.

use crate::app::App;
use crate::counters::count;
use crate::routes;
use crate::settings::Settings;
use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rankwise::watch::Stop;
use rankwise::{Error, Result};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio_io_timeout::TimeoutStream;

/// How long a client may take to send the head of its next request, and how long it may take nothing of an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most headers of a request.
const MAX_HEADERS: usize = 64;

/// The most bytes of the head of a request.
const MAX_HEAD: usize = 64 << 10;

/// The most connections; others wait until one ends.
const MAX_CONNECTIONS: usize = 4096;

/// How long requests that are being answered are waited for at the end, beyond the time that a request may take.
const DRAIN_TIME: Duration = Duration::from_secs(5);

/// How often the request to stop is looked at.
const STOP_CHECK: Duration = Duration::from_millis(50);

/// How often the index is looked at for a new commit.
const INDEX_CHECK: Duration = Duration::from_secs(1);

/// A server that is ready to answer.
///
/// ```no_run
/// use rankwise::watch::Stop;
/// use rankwise_server::{Server, Settings};
/// let server = Server::start(Settings { models: vec![("prod".into(), "model.json".into())], ..Settings::default() })?;
/// println!("listening on {}", server.address());
/// server.run(&Stop::default(), &|note| eprintln!("{note}"))?;
/// # Ok::<(), rankwise::Error>(())
/// ```
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
}

impl Server {
    /// Reads models, index and logs, checks them, and listens. Requests wait until [`run`](Server::run).
    pub fn start(settings: Settings) -> Result<Server> {
        let (threads, listen) = (settings.threads, settings.listen);
        let app = Arc::new(App::start(settings, routes::requests())?);
        app.collect();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(threads.div_ceil(2))
            .enable_all()
            .build()
            .map_err(|error| Error::parameter(format!("cannot start the threads of connections: {error}")))?;
        let listener = runtime
            .block_on(TcpListener::bind(listen))
            .and_then(|listener| Ok((listener.local_addr()?, listener)));
        let (address, listener) =
            listener.map_err(|error| Error::parameter(format!("cannot listen on {listen}: {error}")))?;
        Ok(Server { runtime, listener, address, app })
    }

    /// What was noticed at the start, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.app.notes
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until `stop` is requested or the process gets SIGTERM. Then it takes no more connections, answers
    /// the requests that it has, and ends. `note` is called with what an operator should know.
    pub fn run(self, stop: &Stop, note: &(dyn Fn(&str) + Sync)) -> Result<()> {
        let Server { runtime, listener, app, .. } = self;
        runtime.block_on(serve(listener, Arc::clone(&app), stop, note));
        runtime.shutdown_timeout(Duration::from_secs(1));
        app.close();
        Ok(())
    }
}

async fn serve(listener: TcpListener, app: Arc<App>, stop: &Stop, note: &(dyn Fn(&str) + Sync)) {
    let router = routes::router(&app);
    let (ending, end) = watch::channel(false);
    // Every connection has a sender; when all are dropped, no connection is left.
    let (alive, mut all_gone) = mpsc::channel::<()>(1);
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut stopped = pin!(stopped(stop));
    let mut refreshing = pin!(refresh_forever(&app, note));
    loop {
        let accepted = tokio::select! {
            () = &mut stopped => break,
            never = &mut refreshing => match never {},
            accepted = accept(&listener, &room) => accepted,
        };
        let (router, end, alive, app) = (router.clone(), end.clone(), alive.clone(), Arc::clone(&app));
        tokio::spawn(async move {
            let (stream, _room) = accepted;
            count(&app.counters.connections);
            converse(stream, router, end).await;
            app.counters.connections.fetch_sub(1, Ordering::Relaxed);
            drop(alive);
        });
    }
    drop((listener, alive));
    app.draining.store(true, Ordering::Relaxed);
    // Connections that ended meanwhile do not listen.
    let _ = ending.send(true);
    let patience = app.settings.deadline + DRAIN_TIME;
    match tokio::time::timeout(patience, all_gone.recv()).await {
        Ok(_) => note("the server has ended: all requests were answered"),
        Err(_) => {
            note(&format!("the server has ended: some requests took more than {} s", patience.as_secs()))
        }
    }
}

/// Searches the newest commit of the index, and tells the operator when there is another one.
async fn refresh_forever(app: &Arc<App>, note: &(dyn Fn(&str) + Sync)) -> Infallible {
    let mut told = None;
    loop {
        tokio::time::sleep(INDEX_CHECK).await;
        let app = Arc::clone(app);
        // A commit that cannot be used is tried again and told once.
        let change = tokio::task::spawn_blocking(move || app.refresh()).await.ok().flatten();
        if let Some(text) = &change
            && change != told
        {
            note(text);
        }
        told = change;
    }
}

/// The next connection, with its permit to exist.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, tokio::sync::OwnedSemaphorePermit) {
    loop {
        let permit = Arc::clone(room).acquire_owned().await;
        match (permit, listener.accept().await) {
            (Ok(permit), Ok((stream, _))) => return (stream, permit),
            // Too many open files, or a connection that went away: others may come.
            _ => tokio::time::sleep(STOP_CHECK).await,
        }
    }
}

/// Answers the requests of one connection.
async fn converse(stream: TcpStream, router: Router, mut end: watch::Receiver<bool>) {
    // Without it, small answers would be slow; with an error the connection still works.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(PATIENCE));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(PATIENCE)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD)
        .serve_connection(TokioIo::new(Box::pin(stream)), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    tokio::select! {
        // A client that breaks off is no failure of the server.
        _ = &mut connection => return,
        _ = end.wait_for(|ending| *ending) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Returns when the server is to end.
async fn stopped(stop: &Stop) {
    let mut terminated = pin!(terminated());
    loop {
        tokio::select! {
            () = &mut terminated => return,
            () = tokio::time::sleep(STOP_CHECK) => if stop.requested() { return },
        }
    }
}

#[cfg(unix)]
async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
