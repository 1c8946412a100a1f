//! Progress bars: on a terminal only, on standard error only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rankwise::watch::{Step, Stop, Watch};
use std::time::Duration;

/// Shows a learner's steps and passes on a request to stop.
pub(crate) struct Progress {
    bar: ProgressBar,
    stop: Stop,
}

impl Progress {
    /// A display named `title`; silent unless standard error is a terminal and `--quiet` is not given.
    pub(crate) fn new(title: &str, stop: &Stop) -> Self {
        let target = if crate::output::is_quiet() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(style("{spinner} {prefix}  {pos} steps  {msg}  {elapsed}"));
        bar.set_prefix(title.to_owned());
        bar.enable_steady_tick(Duration::from_millis(120));
        Progress { bar, stop: stop.clone() }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the templates here are well-formed")
}

impl Watch for Progress {
    fn step(&mut self, step: Step<'_>) {
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
