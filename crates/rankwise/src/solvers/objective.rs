//! What solvers minimise: functions of weights, in particular the mean of a loss over queries.

use super::units::FeatureUnits;
use crate::data::{Dataset, Query};
use crate::losses::{HessianProduct, QueryLoss, ScoredQuery, SecondOrder};
use crate::parallel;
use crate::rng;
use crate::sums::dot;
use std::borrow::Cow;
use std::ops::Range;

/// The maximum number of terms, each of which gets cutting planes of its own.
const MOST_TERMS: usize = 16;

/// A function of weights with a (sub)gradient.
///
/// # Example
///
/// ```
/// use rankwise::solvers::{Lbfgs, Objective};
/// use rankwise::watch::Silent;
///
/// /// `(w₀ − 3)² + 10·(w₁ + 1)²`
/// struct Bowl;
///
/// impl Objective for Bowl {
///     fn dim(&self) -> usize {
///         2
///     }
///
///     fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
///         gradient.copy_from_slice(&[2.0 * (w[0] - 3.0), 20.0 * (w[1] + 1.0)]);
///         (w[0] - 3.0).powi(2) + 10.0 * (w[1] + 1.0).powi(2)
///     }
/// }
///
/// let fit = Lbfgs::default().minimize(&Bowl, vec![0.0; 2], &mut Silent::default());
/// assert!((fit.weights[0] - 3.0).abs() < 1e-4 && (fit.weights[1] + 1.0).abs() < 1e-4);
/// ```
pub trait Objective: Sync {
    /// The number of weights.
    fn dim(&self) -> usize;

    /// Returns the value at `w` and overwrites `gradient` with the (sub)gradient.
    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64;

    /// The number of terms that this function is the sum of.
    fn terms(&self) -> usize {
        1
    }

    /// The value and a (sub)gradient of each term at `w`.
    fn by_term(&self, w: &[f64]) -> Vec<(f64, Vec<f64>)> {
        let mut gradient = vec![0.0; self.dim()];
        let value = self.value_and_gradient(w, &mut gradient);
        vec![(value, gradient)]
    }
}

/// A function of weights with a (generalised) second derivative.
pub trait Curvature: Objective {
    /// The second derivative at `w`, as its product with a vector. The setup happens here once; products are then
    /// cheap.
    fn hessian(&self, w: &[f64]) -> HessianProduct<'_>;
}

/// A risk with L2 regularisation: `½‖w‖² + C·R(w)`.
#[derive(Debug, Clone, Copy)]
pub struct Regularized<'a, R> {
    /// The risk R.
    pub risk: &'a R,
    /// Its weight C.
    pub c: f64,
}

impl<R: Objective> Objective for Regularized<'_, R> {
    fn dim(&self) -> usize {
        self.risk.dim()
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let value = self.risk.value_and_gradient(w, gradient);
        gradient.iter_mut().zip(w).for_each(|(g, w)| *g = w + self.c * *g);
        0.5 * dot(w, w) + self.c * value
    }
}

impl<R: Curvature> Curvature for Regularized<'_, R> {
    fn hessian(&self, w: &[f64]) -> HessianProduct<'_> {
        let risk = self.risk.hessian(w);
        Box::new(move |v, out| {
            risk(v, out);
            out.iter_mut().zip(v).for_each(|(o, v)| *o = v + self.c * *o);
        })
    }
}

/// The weighted mean of a loss over queries, as a function of a linear model's weights:
///
/// ```text
/// R(w) = Σ_q v_q L(X_q·(w/u)) / Σ_q v_q        u: the units of the features, 1 unless scaled
/// ```
///
/// Queries without signal for the loss are skipped.
///
/// # Example
///
/// ```
/// use rankwise::data::{Dataset, Features, Parts};
/// use rankwise::losses::SquaredPairHinge;
/// use rankwise::solvers::{LinearRisk, NewtonCg};
/// use rankwise::watch::Silent;
///
/// // One query with three documents and one feature, which increases with the label.
/// let data = Dataset::new(Parts {
///     features: Features::dense(1, vec![0.5, 1.0, 2.0]),
///     labels: vec![0.0, 1.0, 2.0],
///     bounds: vec![0, 3],
///     query_ids: ["query"].into_iter().collect(),
///     ..Parts::default()
/// })?;
/// let risk = LinearRisk::new(&data, SquaredPairHinge::default(), 1);
/// let fit = NewtonCg { c: 10.0, gap: 1e-6, rounds: 100 }.minimize(&risk, &mut Silent::default());
/// assert!(fit.converged && fit.weights[0] > 0.0);
/// # Ok::<(), rankwise::Error>(())
/// ```
pub struct LinearRisk<'a, L> {
    data: &'a Dataset,
    /// The indices of the queries that are not skipped, of those of this data set.
    queries: Vec<usize>,
    /// The number of queries that are not skipped, of all queries.
    used: usize,
    /// Σ v_q, or 1 if that is 0, so that the mean over no queries is 0.
    total: f64,
    units: FeatureUnits,
    loss: L,
    seed: u64,
}

impl<'a, L: QueryLoss> LinearRisk<'a, L> {
    /// The risk over the queries of `data` that have a signal for the loss. `seed` is for losses that draw random
    /// numbers.
    pub fn new(data: &'a Dataset, loss: L, seed: u64) -> Self {
        let has_signal = |query: &Query<'_>| loss.has_signal(query.labels());
        let queries: Vec<usize> = data.queries().filter(has_signal).map(|q| q.index()).collect();
        let (total, used) = data.total(|range| {
            let queries = &queries[places(&queries, range)];
            (queries.iter().map(|&q| data.query(q).weight()).sum::<f64>(), queries.len())
        });
        let total = if total > 0.0 { total } else { 1.0 };
        LinearRisk { data, queries, used, total, units: FeatureUnits::default(), loss, seed }
    }

    /// The same risk with every feature divided by its standard deviation; constant features are ignored.
    pub fn scaled(self) -> Self {
        LinearRisk { units: FeatureUnits::deviations(self.data), ..self }
    }

    /// The number of skipped queries.
    pub fn skipped(&self) -> usize {
        self.data.whole().queries - self.used
    }

    /// Converts `w` to weights of the unscaled features.
    pub fn in_data_units<'w>(&self, w: &'w [f64]) -> Cow<'w, [f64]> {
        self.units.in_data_units(w)
    }

    /// The number of weights.
    pub(super) fn width(&self) -> usize {
        self.data.width()
    }

    /// The number of queries that are not skipped.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    /// Whether the queries are divided among workers.
    pub(crate) fn is_divided(&self) -> bool {
        self.data.exchange().is_some()
    }

    /// One of these queries.
    pub(super) fn query(&self, place: usize) -> Query<'a> {
        self.data.query(self.queries[place])
    }

    /// Its weight in the mean, `v_q / Σ v`.
    pub(super) fn share(&self, place: usize) -> f64 {
        self.query(place).weight() / self.total
    }

    /// Its loss at these scores, and the slope by them.
    pub(super) fn loss_of(&self, place: usize, scores: &[f64], slope: &mut [f64]) -> f64 {
        let query = self.query(place);
        let scored = ScoredQuery { labels: query.labels(), scores, seed: self.seed(query) };
        self.loss.value_and_gradient(scored, slope)
    }

    /// `Σ_q v_q·f_q(X_q·w) / Σ_q v_q` and `Σ_q v_q·X_qᵀ·g_q / Σ_q v_q` over each of up to `groups` groups of adjacent
    /// queries. `each` is called with an index into `self.queries`, the query and its scores `X_q·w`; it sets its last
    /// argument to `g_q` and returns `f_q`.
    pub(super) fn over_queries(
        &self,
        groups: usize,
        w: &[f64],
        each: impl Fn(usize, Query<'_>, &[f64], &mut [f64]) -> f64 + Sync,
    ) -> Vec<(f64, Vec<f64>)> {
        let w = self.in_data_units(w);
        let mut sums = self.data.totals_of_groups(groups, |range| {
            let (mut value, mut gradient) = (0.0, vec![0.0; w.len()]);
            let (mut scores, mut slopes) = (Vec::new(), Vec::new());
            for place in places(&self.queries, range) {
                let query = self.query(place);
                scores.resize(query.len(), 0.0);
                slopes.resize(query.len(), 0.0);
                query.dot(&w, &mut scores);
                let share = self.share(place);
                value += share * each(place, query, &scores, &mut slopes);
                slopes.iter_mut().for_each(|s| *s *= share);
                query.add_transposed_dot(&slopes, &mut gradient);
            }
            (value, gradient)
        });
        for (_, gradient) in &mut sums {
            if let Cow::Owned(scaled) = self.in_data_units(gradient) {
                *gradient = scaled;
            }
        }
        sums
    }

    /// The same over all queries: overwrites `gradient` and returns the value.
    pub(super) fn over_all_queries(
        &self,
        w: &[f64],
        gradient: &mut [f64],
        each: impl Fn(usize, Query<'_>, &[f64], &mut [f64]) -> f64 + Sync,
    ) -> f64 {
        let (value, sum) = self.over_queries(1, w, each).pop().expect("one group");
        gradient.copy_from_slice(&sum);
        value
    }

    /// The loss of one query.
    pub(super) fn loss(&self) -> &L {
        &self.loss
    }

    pub(super) fn seed(&self, query: Query<'_>) -> u64 {
        rng::derive(self.seed, &[query.number()])
    }
}

impl<L: QueryLoss> Objective for LinearRisk<'_, L> {
    fn dim(&self) -> usize {
        self.data.width()
    }

    fn value_and_gradient(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        self.over_all_queries(w, gradient, |place, _, scores, slopes| self.loss_of(place, scores, slopes))
    }

    fn terms(&self) -> usize {
        self.data.groups(MOST_TERMS)
    }

    fn by_term(&self, w: &[f64]) -> Vec<(f64, Vec<f64>)> {
        self.over_queries(MOST_TERMS, w, |place, _, scores, slopes| self.loss_of(place, scores, slopes))
    }
}

impl<L: SecondOrder> Curvature for LinearRisk<'_, L> {
    /// Stores the second derivative of every query by its scores; a product then passes over the rows twice.
    fn hessian(&self, w: &[f64]) -> HessianProduct<'_> {
        let w = self.in_data_units(w);
        let at = |&q: &usize| {
            let query = self.data.query(q);
            let mut scores = vec![0.0; query.len()];
            query.dot(&w, &mut scores);
            self.loss.hessian(ScoredQuery { labels: query.labels(), scores: &scores, seed: self.seed(query) })
        };
        let products: Vec<HessianProduct<'_>> = parallel::map(&self.queries, at);
        Box::new(move |v, out| {
            self.over_all_queries(v, out, |place, _, along, bent| {
                products[place](along, bent);
                0.0
            });
        })
    }
}

/// The places in `queries`, which are ascending, of those in `range`.
pub(super) fn places(queries: &[usize], range: Range<usize>) -> Range<usize> {
    let place = |bound: usize| queries.partition_point(|&query| query < bound);
    place(range.start)..place(range.end)
}
