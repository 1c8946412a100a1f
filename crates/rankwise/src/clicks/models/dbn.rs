//! Expectation maximisation for the dynamic Bayesian network.
//!
//! Users examine the first document. A document that is examined is clicked with probability `α`; a click satisfies with
//! probability `σ`; a user who is not satisfied examines the next document with probability `γ`. All documents up to the
//! last click, at place `m`, were examined, so only what comes after it is hidden:
//!
//! ```text
//! t_k = (1 − α_k)·u_{k+1} ,   u_k = 1 − γ + γ t_k ,   t_{n+1} = 1      no click from k on, if k is examined; if k − 1 did not satisfy
//! P(satisfied by m) = σ/(σ + (1 − σ)u_{m+1})                           otherwise, k = m + 1 is examined with probability γ t_k/u_k,
//! P(k + 1 examined | k examined) = γ t_{k+1}/u_{k+1}                   and so on below
//! ```

use super::super::sessions::{Pattern, SortedSessions};
use super::counting::Counted;
use super::fit::{self, Em, FitOptions};
use super::{Browsing, ByDocument};

struct DbnEm<'a> {
    sessions: &'a SortedSessions<'a>,
    parameters: Parameters,
    options: &'a FitOptions,
}

#[derive(Debug, Clone)]
pub(super) struct Parameters {
    pub(super) attractiveness: Vec<f64>,
    pub(super) satisfaction: Vec<f64>,
    pub(super) continuation: f64,
}

/// Expected successes and trials of every parameter.
#[derive(Debug, Clone)]
pub(super) struct Expected {
    pub(super) attractiveness: Vec<(f64, f64)>,
    pub(super) satisfaction: Vec<(f64, f64)>,
    pub(super) continuation: (f64, f64),
}

impl Expected {
    pub(super) fn new(pairs: usize) -> Expected {
        let none = vec![(0.0, 0.0); pairs];
        Expected { attractiveness: none.clone(), satisfaction: none, continuation: (0.0, 0.0) }
    }
}

/// What is hidden of a session.
struct Hidden {
    /// The probability that the last click satisfied.
    satisfied: f64,
    /// The probability that each document is examined.
    examined: Vec<f64>,
    log_likelihood: f64,
}

impl Parameters {
    fn hidden(&self, pattern: &Pattern) -> Hidden {
        let shown = &pattern.shown;
        let last = shown.iter().rposition(|shown| shown.clicked);
        let first_hidden = last.map_or(0, |last| last + 1);
        let attractiveness = |place: usize| self.attractiveness[shown[place].pair];
        let g = self.continuation;
        // The probability of no click from each place on: if it is examined, and if the one above did not satisfy.
        let mut none = vec![(1.0, 1.0); shown.len() + 1];
        for place in (first_hidden..shown.len()).rev() {
            let if_examined = (1.0 - attractiveness(place)) * none[place + 1].1;
            none[place] = (if_examined, 1.0 - g + g * if_examined);
        }
        let mut examined = vec![1.0; shown.len()];
        let mut hidden = Hidden { satisfied: 0.0, examined: Vec::new(), log_likelihood: none[0].0.ln() };
        if let Some(last) = last {
            let s = self.satisfaction[shown[last].pair];
            let stops = s + (1.0 - s) * none[last + 1].1;
            hidden.satisfied = s / stops;
            hidden.log_likelihood = attractiveness(last).ln() + stops.ln() + self.log_down_to(&shown[..last]);
        }
        for place in first_hidden.max(1)..shown.len() {
            let unsatisfied = match place == first_hidden {
                true => 1.0 - hidden.satisfied,
                false => examined[place - 1],
            };
            examined[place] = unsatisfied * g * none[place].0 / none[place].1;
        }
        hidden.examined = examined;
        hidden
    }

    /// The log-likelihood of going down past these documents, all of which were examined.
    fn log_down_to(&self, above: &[super::Shown]) -> f64 {
        let past = |shown: &super::Shown| {
            let (a, s) = (self.attractiveness[shown.pair], self.satisfaction[shown.pair]);
            let on = if shown.clicked { a * (1.0 - s) } else { 1.0 - a };
            (on * self.continuation).ln()
        };
        above.iter().map(past).sum()
    }

    /// Adds what is expected of one pattern. Returns the log-likelihood of a session.
    pub(super) fn expect(&self, pattern: &Pattern, expected: &mut Expected) -> f64 {
        let hidden = self.hidden(pattern);
        if hidden.log_likelihood == f64::NEG_INFINITY {
            return f64::NEG_INFINITY;
        }
        let last = pattern.shown.iter().rposition(|shown| shown.clicked);
        let count = pattern.count as f64;
        let add = |(successes, trials): &mut (f64, f64), success: f64, trial: f64| {
            *successes += count * success;
            *trials += count * trial;
        };
        for (place, shown) in pattern.shown.iter().enumerate() {
            let examined = hidden.examined[place];
            let unexamined = (1.0 - examined) * self.attractiveness[shown.pair];
            let attractive = if shown.clicked { 1.0 } else { unexamined };
            add(&mut expected.attractiveness[shown.pair], attractive, 1.0);
            let satisfied = if last == Some(place) { hidden.satisfied } else { 0.0 };
            if shown.clicked {
                add(&mut expected.satisfaction[shown.pair], satisfied, 1.0);
            }
            if let Some(&next) = hidden.examined.get(place + 1) {
                add(&mut expected.continuation, next, examined - satisfied);
            }
        }
        hidden.log_likelihood
    }
}

impl DbnEm<'_> {
    fn prior(&self) -> f64 {
        let (prior, parameters) = (self.options.prior, &self.parameters);
        prior.log_density(&parameters.attractiveness)
            + prior.log_density(&parameters.satisfaction)
            + prior.log_density(&[parameters.continuation])
    }
}

impl Em for DbnEm<'_> {
    fn step(&mut self) -> f64 {
        let mut expected = Expected::new(self.sessions.pairs.len());
        let mut log_likelihood = 0.0;
        for pattern in &self.sessions.patterns {
            log_likelihood += pattern.count as f64 * self.parameters.expect(pattern, &mut expected);
        }
        let objective = log_likelihood + self.prior();
        let prior = self.options.prior;
        let update = |parameter: &mut f64, (successes, trials): (f64, f64)| {
            *parameter = prior.estimate(successes, trials, *parameter);
        };
        let Parameters { attractiveness, satisfaction, continuation } = &mut self.parameters;
        attractiveness.iter_mut().zip(expected.attractiveness).for_each(|(p, e)| update(p, e));
        satisfaction.iter_mut().zip(expected.satisfaction).for_each(|(p, e)| update(p, e));
        update(continuation, expected.continuation);
        objective
    }

    fn objective(&self) -> f64 {
        let of_pattern =
            |pattern: &Pattern| pattern.count as f64 * self.parameters.hidden(pattern).log_likelihood;
        self.sessions.patterns.iter().map(of_pattern).sum::<f64>() + self.prior()
    }
}

pub(super) fn fit(sessions: &SortedSessions<'_>, options: &FitOptions) -> Counted {
    let start = || vec![options.start; sessions.pairs.len()];
    let parameters =
        Parameters { attractiveness: start(), satisfaction: start(), continuation: options.start };
    let mut em = DbnEm { sessions, parameters, options };
    let run = fit::run(&mut em, options);
    let Parameters { attractiveness, satisfaction, continuation } = em.parameters;
    let default = options.prior.estimate(0.0, 0.0, options.start);
    let satisfaction = ByDocument::new(default, &sessions.pairs, &satisfaction);
    (Browsing::Dbn { satisfaction, continuation }, attractiveness, run)
}
