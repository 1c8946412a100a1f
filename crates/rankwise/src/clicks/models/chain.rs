//! Models in which users go down the list, and whether they go on depends only on the document they look at.

use super::super::sessions::Shown;

/// One document of the list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// The probability of a click if it is examined.
    pub(super) attractiveness: f64,
    /// The probability of going on after a click.
    pub(super) after_click: f64,
    /// The probability of going on without a click.
    pub(super) after_skip: f64,
}

/// The probability of a click on each document.
pub(super) fn click_probabilities(steps: &[Step]) -> Vec<f64> {
    let mut examined = 1.0;
    let of = |step: &Step| {
        let click = examined * step.attractiveness;
        examined *= step.attractiveness * step.after_click + (1.0 - step.attractiveness) * step.after_skip;
        click
    };
    steps.iter().map(of).collect()
}

/// The probability of a click on each document, given the clicks above it. After clicks that the model rules out, nothing
/// is examined.
pub(super) fn conditional(steps: &[Step], shown: &[Shown]) -> Vec<f64> {
    let mut examined = 1.0;
    let of = |(step, shown): (&Step, &Shown)| {
        let click = examined * step.attractiveness;
        examined = match shown.clicked {
            true => step.after_click,
            false if click < 1.0 => examined * (1.0 - step.attractiveness) * step.after_skip / (1.0 - click),
            false => 0.0,
        };
        click
    };
    steps.iter().zip(shown).map(of).collect()
}
