//! Progress bars: on a terminal only, on standard error only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rankwise::experiment::JobDone;
use rankwise::watch::{Step, Stop, Watch};
use std::sync::Mutex;
use std::time::Duration;

/// Shows a learner's steps and passes on a request to stop.
pub(crate) struct Progress {
    bar: ProgressBar,
    stop: Stop,
}

impl Progress {
    /// A display named `title`; silent unless standard error is a terminal and `--quiet` is not given.
    pub(crate) fn new(title: &str, stop: &Stop) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        bar.set_style(style("{spinner} {prefix}  {pos} steps  {msg}  {elapsed}"));
        bar.set_prefix(title.to_owned());
        Progress { bar, stop: stop.clone() }
    }
}

/// Shows the jobs of an experiment or a search: how many are done, the best so far, the time left.
pub(crate) struct Jobs {
    bar: ProgressBar,
    best: Mutex<Option<f64>>,
}

impl Jobs {
    /// A display that is silent unless standard error is a terminal and `--quiet` is not given.
    pub(crate) fn new() -> Self {
        let bar = ProgressBar::with_draw_target(None, target());
        bar.set_style(style("{bar:24} {pos}/{len} jobs  {msg}  {eta} left"));
        bar.enable_steady_tick(Duration::from_millis(120));
        Jobs { bar, best: Mutex::new(None) }
    }

    /// One more is done.
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

impl Watch for Progress {
    fn step(&mut self, step: Step<'_>) {
        if self.bar.position() == 0 {
            // Not before there is something to tell: a search may come first, with a display of its own.
            self.bar.set_draw_target(target());
            self.bar.enable_steady_tick(Duration::from_millis(120));
        }
        if let (Some(total), None) = (step.total, self.bar.length()) {
            self.bar.set_length(total);
            self.bar.set_style(style("{prefix}  {bar:24} {pos}/{len}  {msg}  {eta} left"));
        }
        self.bar.set_position(step.done);
        self.bar.set_message(format!("{} {:.4}", step.what, step.value));
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
