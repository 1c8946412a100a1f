//! The cleaning steps: names, options, and which documents each drops.

use crate::card;
use crate::data::identical::{identical_rows, is_zero};
use crate::data::{Dataset, Query, Row};
use crate::error::{Error, Result};
use crate::parallel;
use std::fmt;

/// One step with its options.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CleaningStep {
    ZeroRows,
    Conflicts { side: Side, grades: Grades, scope: Scope, zeros: Zeros, threshold: f32 },
    Near { side: Side, cosine: f64, threshold: f32 },
    EmptyQueries { lacking: Lacking, threshold: f32 },
}

/// Which of two conflicting documents is dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Side {
    Both,
    NonRelevant,
    Relevant,
}

/// When two labels are different.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Grades {
    Binary,
    Graded,
}

/// Where conflicts are searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scope {
    Query,
    Data,
}

/// Whether rows of zeros can conflict.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Zeros {
    Skip,
    Compare,
}

/// Which documents a query must lack to be dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lacking {
    Relevant,
    NonRelevant,
    Either,
}

/// Values by name; an alias follows the canonical name of its value.
type Names<T> = &'static [(&'static str, T)];
const SIDES: Names<Side> = &[
    ("both", Side::Both),
    ("non-relevant", Side::NonRelevant),
    ("relevant", Side::Relevant),
    ("bad", Side::NonRelevant),
    ("good", Side::Relevant),
];
const GRADES: Names<Grades> = &[("binary", Grades::Binary), ("graded", Grades::Graded)];
const SCOPES: Names<Scope> = &[("query", Scope::Query), ("data", Scope::Data)];
const ZEROS: Names<Zeros> = &[("skip", Zeros::Skip), ("compare", Zeros::Compare)];
const LACKING: Names<Lacking> = &[
    ("relevant", Lacking::Relevant),
    ("non-relevant", Lacking::NonRelevant),
    ("either", Lacking::Either),
    ("irrelevant", Lacking::NonRelevant),
];

/// The steps of `papers`, and the options of each.
const STEPS: &[(&str, &[&str])] = &[
    ("zero-rows", &[]),
    ("conflicts", &["side", "grades", "scope", "zeros", "threshold"]),
    ("near", &["side", "cosine", "threshold"]),
    ("empty-queries", &["lacking", "threshold"]),
];

/// The options of one step, as typed.
struct Options<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Options<'a> {
    /// The last value given for `key`.
    fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(k, _)| *k == key).map(|(_, value)| *value)
    }

    /// The value given for `key`, or the first of `names`.
    fn choice<T: Copy>(&self, key: &str, names: Names<T>) -> Result<T> {
        let Some(value) = self.get(key) else { return Ok(names[0].1) };
        let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
        let found = names.iter().find(|(name, _)| *name == value);
        found.map(|(_, v)| *v).ok_or_else(|| card::unknown(&format!("value for `{key}`"), value, &known))
    }

    fn number(&self, key: &str, otherwise: f64, low: f64, high: f64) -> Result<f64> {
        let Some(value) = self.get(key) else { return Ok(otherwise) };
        let number = value.parse().ok().filter(|x: &f64| *x >= low && *x <= high);
        number.ok_or_else(|| {
            Error::parameter(format!(
                "`{key}={value}` of a cleaning step is not a number from {low} to {high}"
            ))
        })
    }

    fn threshold(&self) -> Result<f32> {
        Ok(self.number("threshold", 1.0, -1e6, 1e6)? as f32)
    }
}

impl CleaningStep {
    /// The step called `name`, or the steps of the bundle of that name.
    pub(super) fn named(name: &str, options: &[(&str, &str)]) -> Result<Vec<CleaningStep>> {
        let chosen: Vec<_> = STEPS.iter().filter(|(step, _)| name == "papers" || name == *step).collect();
        let known: Vec<&str> = chosen.iter().flat_map(|(_, keys)| keys.iter().copied()).collect();
        if let Some((key, _)) = options.iter().find(|(key, _)| !known.contains(key)) {
            return Err(match known.is_empty() {
                true => Error::parameter(format!("the cleaning step `{name}` has no option `{key}`")),
                false => card::unknown(&format!("option of the cleaning step `{name}`"), key, &known),
            });
        }
        chosen
            .into_iter()
            .map(|(step, keys)| {
                Self::from_options(
                    step,
                    Options(options.iter().copied().filter(|(k, _)| keys.contains(k)).collect()),
                )
            })
            .collect()
    }

    fn from_options(name: &str, o: Options<'_>) -> Result<CleaningStep> {
        let threshold = o.threshold()?;
        Ok(match name {
            "zero-rows" => CleaningStep::ZeroRows,
            "conflicts" => CleaningStep::Conflicts {
                side: o.choice("side", SIDES)?,
                grades: o.choice("grades", GRADES)?,
                scope: o.choice("scope", SCOPES)?,
                zeros: o.choice("zeros", ZEROS)?,
                threshold,
            },
            "near" => CleaningStep::Near {
                side: o.choice("side", SIDES)?,
                cosine: o.number("cosine", 0.99, 0.0, 1.0)?,
                threshold,
            },
            "empty-queries" => {
                CleaningStep::EmptyQueries { lacking: o.choice("lacking", LACKING)?, threshold }
            }
            other => unreachable!("the step `{other}` is not in the list"),
        })
    }

    /// For every document, whether to drop it.
    pub(super) fn drops(&self, data: &Dataset) -> Vec<bool> {
        match *self {
            CleaningStep::ZeroRows => parallel::map(0..data.len(), |r| is_zero(data.row(r))),
            CleaningStep::Conflicts { side, grades, scope, zeros, threshold } => {
                let groups = match scope {
                    Scope::Query => parallel::flat_map(0..data.query_count(), |q| {
                        identical_rows(data, data.query(q).range())
                    }),
                    Scope::Data => identical_rows(data, 0..data.len()),
                };
                let class = |row: usize| match grades {
                    Grades::Binary => f32::from(u8::from(data.labels()[row] >= threshold)),
                    Grades::Graded => data.labels()[row],
                };
                let mut drop = vec![false; data.len()];
                for group in groups.iter().filter(|g| zeros == Zeros::Compare || !is_zero(data.row(g[0]))) {
                    drop_conflicting(group, class, side, &mut drop);
                }
                drop
            }
            CleaningStep::Near { side, cosine, threshold } => {
                per_query(data, |q| near(q, side, cosine, threshold))
            }
            CleaningStep::EmptyQueries { lacking, threshold } => per_query(data, |q| {
                let no_relevant = !q.labels().iter().any(|&l| l >= threshold);
                let no_other = !q.labels().iter().any(|&l| l < threshold);
                let drop = match lacking {
                    Lacking::Relevant => no_relevant,
                    Lacking::NonRelevant => no_other,
                    Lacking::Either => no_relevant || no_other,
                };
                vec![drop; q.len()]
            }),
        }
    }
}

fn per_query(data: &Dataset, drops: impl Fn(Query<'_>) -> Vec<bool> + Sync) -> Vec<bool> {
    parallel::flat_map(0..data.query_count(), |q| drops(data.query(q)))
}

/// Marks the rows to drop among equal rows of different classes: those below the best, above the worst, or all.
fn drop_conflicting(group: &[usize], class: impl Fn(usize) -> f32, side: Side, drop: &mut [bool]) {
    let best = group.iter().map(|&r| class(r)).fold(f32::NEG_INFINITY, f32::max);
    let worst = group.iter().map(|&r| class(r)).fold(f32::INFINITY, f32::min);
    for &r in group {
        drop[r] = match side {
            Side::Both => best > worst,
            Side::NonRelevant => class(r) < best,
            Side::Relevant => class(r) > worst,
        };
    }
}

/// Which documents of a query are nearly parallel to one of the other relevance.
fn near(q: Query<'_>, side: Side, cosine: f64, threshold: f32) -> Vec<bool> {
    let directions: Vec<Direction<'_>> = q.rows().map(Direction::of).collect();
    let relevant: Vec<bool> = q.labels().iter().map(|&l| l >= threshold).collect();
    parallel::map(0..q.len(), |i| {
        let may_drop = side == Side::Both || (side == Side::Relevant) == relevant[i];
        may_drop && {
            let own = directions[i].spread();
            (0..q.len())
                .any(|j| relevant[j] != relevant[i] && directions[i].cosine(&own, &directions[j]) > cosine)
        }
    })
}

/// A row and its Euclidean length; missing values count as 0.
struct Direction<'a> {
    row: Row<'a>,
    length: f64,
}

impl<'a> Direction<'a> {
    fn of(row: Row<'a>) -> Self {
        let squares: f64 = row.iter().filter(|(_, x)| !x.is_nan()).map(|(_, x)| f64::from(x).powi(2)).sum();
        Direction { row, length: squares.sqrt() }
    }

    /// The values of a dense row in double precision, for the fast product. A sparse row may be too wide to expand.
    fn spread(&self) -> Vec<f64> {
        match self.row {
            Row::Dense(values) => {
                values.iter().map(|&x| if x.is_nan() { 0.0 } else { f64::from(x) }).collect()
            }
            Row::Sparse(..) => Vec::new(),
        }
    }

    /// The cosine of the angle between two rows. For a row of zeros it is NaN, which is above no bound.
    fn cosine(&self, own: &[f64], other: &Direction<'_>) -> f64 {
        let dot = match (self.row, other.row) {
            (Row::Sparse(a, x), Row::Sparse(b, y)) => sparse_dot(a, x, b, y),
            _ => other.row.dot(own),
        };
        dot / (self.length * other.length)
    }
}

fn sparse_dot(a: &[u32], x: &[f32], b: &[u32], y: &[f32]) -> f64 {
    let (mut i, mut j, mut sum) = (0, 0, 0.0);
    while i < a.len() && j < b.len() {
        if a[i] == b[j] {
            let product = f64::from(x[i]) * f64::from(y[j]);
            sum += if product.is_nan() { 0.0 } else { product };
        }
        let (low, high) = (a[i], b[j]);
        i += usize::from(low <= high);
        j += usize::from(high <= low);
    }
    sum
}

fn name_of<T: PartialEq>(names: Names<T>, value: T) -> &'static str {
    names.iter().find(|(_, v)| *v == value).map_or("", |(name, _)| name)
}

impl fmt::Display for CleaningStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            CleaningStep::ZeroRows => f.write_str("zero-rows"),
            CleaningStep::Conflicts { side, grades, scope, zeros, threshold } => write!(
                f,
                "conflicts:side={}:grades={}:scope={}:zeros={}:threshold={threshold}",
                name_of(SIDES, side),
                name_of(GRADES, grades),
                name_of(SCOPES, scope),
                name_of(ZEROS, zeros),
            ),
            CleaningStep::Near { side, cosine, threshold } => {
                write!(f, "near:side={}:cosine={cosine}:threshold={threshold}", name_of(SIDES, side))
            }
            CleaningStep::EmptyQueries { lacking, threshold } => {
                write!(f, "empty-queries:lacking={}:threshold={threshold}", name_of(LACKING, lacking))
            }
        }
    }
}
