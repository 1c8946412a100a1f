//! Progress bars on standard error, shown only on a terminal.

use indicatif::{ProgressBar as Bar, ProgressDrawTarget, ProgressStyle};
use rankwise::experiment::JobDone;
use rankwise::watch::{Progress, Stop, Watch};
use std::sync::Mutex;
use std::time::Duration;

/// Shows the progress of one long computation and passes on a request to stop.
pub(crate) struct ProgressBar {
    bar: Bar,
    stop: Stop,
}

impl ProgressBar {
    /// A bar named `title`; hidden with `--quiet` and where standard error is no terminal.
    pub(crate) fn new(title: &str, stop: &Stop) -> Self {
        let bar = Bar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {prefix}  {pos} steps  {msg}  {elapsed}"));
        bar.set_prefix(title.to_owned());
        ProgressBar { bar, stop: stop.clone() }
    }

    /// Prints notes above the bar.
    pub(crate) fn notes(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |note| bar.suspend(|| crate::output::note(note))
    }
}

/// Shows the jobs of an experiment or a search: how many are done, the best value so far, the time left.
pub(crate) struct Jobs {
    bar: Bar,
    best: Mutex<Option<f64>>,
}

impl Jobs {
    /// A bar; hidden with `--quiet` and where standard error is no terminal.
    pub(crate) fn new() -> Self {
        let bar = Bar::with_draw_target(None, target());
        bar.set_style(style("{bar:24} {pos}/{len} jobs  {msg}  {eta} left"));
        bar.enable_steady_tick(Duration::from_millis(120));
        Jobs { bar, best: Mutex::new(None) }
    }

    /// Counts one more finished job.
    pub(crate) fn done(&self, job: JobDone<'_>) {
        let mut best = self.best.lock().unwrap_or_else(|e| e.into_inner());
        if job.value > *best {
            *best = job.value;
        }
        self.bar.set_length(job.total as u64);
        self.bar.set_position(job.done as u64);
        self.bar.set_message(best.map_or(String::new(), |b| format!("best {b:.4} (valid)")));
        if job.done == job.total {
            self.bar.finish_and_clear();
        }
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn target() -> ProgressDrawTarget {
    if crate::output::is_quiet() { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates here are well-formed")
}

/// Counts documents while they are indexed.
#[cfg(feature = "search")]
pub(crate) struct DocumentCount {
    bar: Bar,
    stop: Stop,
}

#[cfg(feature = "search")]
impl DocumentCount {
    /// A counter; hidden with `--quiet` and where standard error is no terminal.
    pub(crate) fn new(stop: &Stop) -> Self {
        let bar = Bar::with_draw_target(None, target());
        bar.set_style(style("{spinner} {human_pos} documents  {msg}  {elapsed}"));
        bar.enable_steady_tick(Duration::from_millis(120));
        DocumentCount { bar, stop: stop.clone() }
    }
}

#[cfg(feature = "search")]
impl Watch for DocumentCount {
    fn step(&mut self, step: Progress<'_>) {
        self.bar.set_position(step.done);
        self.bar.set_message(format!("{:.1} MiB of text", step.value / f64::from(1 << 20)));
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

#[cfg(feature = "search")]
impl Drop for DocumentCount {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Counts the sessions of a log.
pub(crate) struct SessionCount {
    bar: Bar,
    count: u64,
}

impl SessionCount {
    /// A counter; hidden with `--quiet` and where standard error is no terminal.
    pub(crate) fn new() -> Self {
        let bar = Bar::with_draw_target(None, target());
        bar.set_style(style("{spinner} {human_pos} sessions  {elapsed}"));
        bar.enable_steady_tick(Duration::from_millis(120));
        SessionCount { bar, count: 0 }
    }

    /// Counts one more.
    pub(crate) fn add(&mut self) {
        self.count += 1;
        if self.count.is_multiple_of(1024) {
            self.bar.set_position(self.count);
        }
    }

    /// How many there were.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

impl Drop for SessionCount {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar of queries; hidden with `--quiet` and where standard error is no terminal.
#[cfg(feature = "search")]
pub(crate) fn queries(total: usize) -> Bar {
    let bar = Bar::with_draw_target(Some(total as u64), target());
    bar.set_style(style("{bar:24} {pos}/{len} queries  {eta} left"));
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

impl Watch for ProgressBar {
    fn step(&mut self, step: Progress<'_>) {
        if self.bar.position() == 0 {
            // The bar appears with the first step: a search with a bar of its own may come before.
            self.bar.set_draw_target(target());
            self.bar.enable_steady_tick(Duration::from_millis(120));
        }
        if let (Some(total), None) = (step.total, self.bar.length()) {
            self.bar.set_length(total);
            self.bar.set_style(style("{prefix}  {bar:24} {pos}/{len}  {msg}  {eta} left"));
        }
        self.bar.set_position(step.done);
        if !step.what.is_empty() {
            self.bar.set_message(format!("{} {:.4}", step.what, step.value));
        }
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

impl Drop for ProgressBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
