//! A line search for the strong Wolfe conditions: bracketing, then cubic interpolation (Moré and Thuente 1994;
//! Nocedal and Wright 2006, chapter 3).
//!
//! ```text
//! f(t) ≤ f(0) + α·t·f′(0)       sufficient decrease
//! |f′(t)| ≤ β·|f′(0)|           curvature condition
//! ```
//!
//! A step with an infinite or NaN value or slope is too long, and the search backtracks.

/// The acceptance criteria of a step, and how many steps may be tried.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineSearch {
    /// α: the fraction of the decrease predicted by the initial slope that a step must achieve.
    pub decrease: f64,
    /// β: the fraction of the initial slope that may remain, above α and below 1.
    pub flatness: f64,
    /// The maximum number of steps to try.
    pub evaluations: u64,
}

impl Default for LineSearch {
    fn default() -> Self {
        LineSearch { decrease: 1e-4, flatness: 0.9, evaluations: 40 }
    }
}

/// A trial step with the value and slope at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trial {
    pub step: f64,
    pub value: f64,
    pub slope: f64,
}

impl Trial {
    fn is_finite(&self) -> bool {
        self.value.is_finite() && self.slope.is_finite()
    }
}

impl LineSearch {
    /// Finds a step that meets both conditions, starting with `first`. The last step evaluated is the one returned.
    /// `None` if no step was found: the function does not decrease as its initial slope predicts, or the maximum
    /// number of steps was reached.
    ///
    /// `start` is the trial at step 0, with a negative slope.
    pub(super) fn search(&self, start: Trial, first: f64, mut at: impl FnMut(f64) -> Trial) -> Option<Trial> {
        // `low` is the best step with sufficient decrease; once there is an `end`, an acceptable step lies between
        // the two.
        let (mut low, mut end, mut step) = (start, None::<Trial>, first);
        for _ in 0..self.evaluations {
            let trial = at(step);
            if !trial.is_finite() || !self.decreases(start, trial) || trial.value > low.value {
                end = Some(trial);
            } else if trial.slope.abs() <= -self.flatness * start.slope {
                return Some(trial);
            } else {
                // If the slope at the trial points back to `low`, then `low` becomes the other end.
                let outwards = end.map_or(1.0, |end| end.step - trial.step) * trial.slope;
                if outwards >= 0.0 {
                    end = Some(low);
                }
                low = trial;
            }
            let next = match end {
                Some(end) => between(low, end),
                None => 4.0 * low.step,
            };
            // The interval is empty, or the function decreases forever.
            if next == low.step || end.is_some_and(|end| next == end.step) || !next.is_finite() {
                return None;
            }
            step = next;
        }
        None
    }

    /// Sufficient decrease up to rounding errors: near an optimum, values agree to the last digits, and only the
    /// slopes still show a direction.
    fn decreases(&self, start: Trial, trial: Trial) -> bool {
        let rounding = 4.0 * f64::EPSILON * start.value.abs();
        trial.value <= start.value + self.decrease * trial.step * start.slope + rounding
    }
}

/// The minimum of the cubic through both ends, kept away from the ends; their middle if there is no such cubic.
fn between(low: Trial, end: Trial) -> f64 {
    let width = end.step - low.step;
    let middle = low.step + 0.5 * width;
    if !end.is_finite() {
        // The first step may be far too long; after a successful step that is unlikely.
        return if low.step == 0.0 { 0.1 * width } else { middle };
    }
    let lean = low.slope + end.slope - 3.0 * (end.value - low.value) / width;
    let root = (lean * lean - low.slope * end.slope).sqrt();
    let root = root.copysign(width);
    let fraction = 1.0 - (end.slope + root - lean) / (end.slope - low.slope + 2.0 * root);
    if fraction.is_finite() { low.step + fraction.clamp(0.1, 0.9) * width } else { middle }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a search on `f` and `f′`. Checks the result, and that it was the last step evaluated.
    fn search(f: impl Fn(f64) -> (f64, f64), first: f64, flatness: f64) -> Option<f64> {
        let search = LineSearch { flatness, ..LineSearch::default() };
        let mut last = f64::NAN;
        let at = |step: f64| {
            let (value, slope) = f(step);
            Trial { step, value, slope }
        };
        let start = at(0.0);
        let found = search.search(start, first, |step| {
            last = step;
            at(step)
        })?;
        assert_eq!(found, at(last));
        assert!(found.value <= start.value + 1e-4 * found.step * start.slope);
        assert!(found.slope.abs() <= flatness * start.slope.abs());
        Some(found.step)
    }

    #[test]
    fn the_conditions_hold_from_any_first_step() {
        for exponent in -6..7 {
            let first = 10_f64.powi(exponent);
            for flatness in [0.9, 0.1, 0.001] {
                let quadratic = |t: f64| ((t - 3.0).powi(2), 2.0 * (t - 3.0));
                assert!(search(quadratic, first, flatness).is_some());
                // Two valleys; the first one is closer.
                let wavy =
                    |t: f64| (-t + (3.0 * t).sin() + t * t / 8.0, -1.0 + 3.0 * (3.0 * t).cos() + t / 4.0);
                let turned = |t: f64| wavy(t + 1.0);
                assert!(search(turned, first, flatness).is_some(), "{first} {flatness}");
                // A steep wall behind a slow descent.
                let wall = |t: f64| ((20.0 * (t - 2.0)).exp() - t, 20.0 * (20.0 * (t - 2.0)).exp() - 1.0);
                assert!(search(wall, first, flatness).is_some(), "{first} {flatness}");
            }
        }
    }

    #[test]
    fn steps_with_undefined_values_are_too_long() {
        let barrier = |t: f64| {
            if t < 1.0 { (-t - 0.01 * (1.0 - t).ln(), -1.0 + 0.01 / (1.0 - t)) } else { (f64::NAN, f64::NAN) }
        };
        for first in [0.5, 1.0, 1e6] {
            let step = search(barrier, first, 0.5).unwrap();
            assert!(step < 1.0);
        }
        let cliff = |t: f64| if t < 1e-3 { (-t, -1.0 + 900.0 * t) } else { (f64::INFINITY, f64::NAN) };
        assert!(search(cliff, 1.0, 0.9).unwrap() < 1e-3);
        let overflowing = |t: f64| (t * f64::NEG_INFINITY, -1.0);
        assert_eq!(search(|t| if t == 0.0 { (0.0, -1.0) } else { overflowing(t) }, 1.0, 0.9), None);
    }

    #[test]
    fn unbounded_functions_and_wrong_slopes_give_no_step() {
        assert_eq!(search(|t| (-t, -1.0), 1.0, 0.9), None);
        // The slope at 0 is wrong on purpose.
        assert_eq!(search(|t| (t, if t == 0.0 { -1.0 } else { 1.0 }), 1.0, 0.9), None);
    }
}
