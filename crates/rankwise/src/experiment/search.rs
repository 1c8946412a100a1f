//! Which settings to try: grids, random draws, and how successive halving thins them out.

use super::spec::{Method, Search};
use crate::error::{Error, Result};
use crate::rng::{self, Random};
use rand::RngExt;
use toml::{Table, Value};

/// What the random stream of a search is for.
const DRAWS: u64 = 0x6472_6177;

/// One round of a search: how many settings take part, and on what share of the training queries.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rung {
    /// Settings that take part: the best of the round before.
    pub settings: usize,
    /// Share of the training queries.
    pub share: f64,
}

/// The settings to try of the parameters in `grid`, each a table to lay over the fixed ones. One empty table when
/// there is nothing to vary.
pub fn settings(search: &Search, grid: &Table, seed: u64) -> Result<Vec<Table>> {
    let axes = grid.iter().map(|(name, values)| Axis::read(name, values)).collect::<Result<Vec<_>>>()?;
    if axes.is_empty() {
        return Ok(vec![Table::new()]);
    }
    match search.method {
        Method::Grid => combinations(&axes),
        Method::Random | Method::Halving => Ok(draws(&axes, search.draws, seed)),
    }
}

/// The rounds that a search of `settings` settings takes.
pub fn rungs(search: &Search, settings: usize) -> Vec<Rung> {
    if search.method != Method::Halving || settings < 2 {
        return vec![Rung { settings, share: 1.0 }];
    }
    let mut rungs = vec![Rung { settings, share: search.first_share }];
    while let Some(&Rung { settings, share }) = rungs.last()
        && share < 1.0
    {
        let keep = settings.div_ceil(search.keep_one_in);
        rungs.push(Rung { settings: keep, share: (share * search.keep_one_in as f64).min(1.0) });
    }
    rungs
}

/// The best `keep` of some settings by their values; equal ones in the order given, failed ones last.
pub fn best(values: &[Option<f64>], keep: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    let value = |i: usize| values[i].unwrap_or(f64::NEG_INFINITY);
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    order.truncate(keep);
    order
}

/// One parameter and the values it may take.
struct Axis {
    name: String,
    values: Values,
}

enum Values {
    List(Vec<Value>),
    Range { from: f64, to: f64, log: bool, integer: bool },
}

impl Axis {
    fn read(name: &str, values: &Value) -> Result<Axis> {
        let refuse = |why: &str| Err(Error::parameter(format!("the grid of `{name}` {why}")));
        let values = match values {
            Value::Array(list) if list.is_empty() => return refuse("is empty"),
            Value::Array(list) => Values::List(list.clone()),
            Value::Table(range) => return Axis::range(name, range),
            _ => return refuse("is neither a list nor a range { from = …, to = … }"),
        };
        Ok(Axis { name: name.to_owned(), values })
    }

    fn range(name: &str, range: &Table) -> Result<Axis> {
        let refuse = |why: String| Error::parameter(format!("the range of `{name}` {why}"));
        if let Some(key) = range.keys().find(|k| !["from", "to", "log"].contains(&k.as_str())) {
            return Err(refuse(format!("has an unknown key `{key}`; known: from, to, log")));
        }
        let number = |key: &str| match range.get(key) {
            Some(Value::Integer(i)) => Ok(*i as f64),
            Some(Value::Float(f)) if f.is_finite() => Ok(*f),
            _ => Err(refuse(format!("needs a number `{key}`"))),
        };
        let (from, to) = (number("from")?, number("to")?);
        let log = range.get("log").and_then(Value::as_bool).unwrap_or(false);
        if from >= to || (log && from <= 0.0) {
            return Err(refuse(format!("from {from} to {to} is empty, or not above 0 though logarithmic")));
        }
        let integer = range["from"].is_integer() && range["to"].is_integer();
        Ok(Axis { name: name.to_owned(), values: Values::Range { from, to, log, integer } })
    }

    fn draw(&self, random: &mut Random) -> Value {
        match &self.values {
            Values::List(list) => list[random.random_range(0..list.len())].clone(),
            &Values::Range { from, to, log, integer } => {
                let share: f64 = random.random();
                let value = if log { from * (to / from).powf(share) } else { from + (to - from) * share };
                if integer { Value::Integer(value.round() as i64) } else { Value::Float(value) }
            }
        }
    }
}

/// All combinations, the last parameter varying fastest.
fn combinations(axes: &[Axis]) -> Result<Vec<Table>> {
    let mut tables = vec![Table::new()];
    for axis in axes {
        let Values::List(values) = &axis.values else {
            return Err(Error::parameter(format!(
                "the grid of `{}` is a range; list its values, or search with method = \"random\"",
                axis.name
            )));
        };
        if tables.len() * values.len() > 100_000 {
            return Err(Error::parameter("the grid has more than 100,000 combinations; draw at random"));
        }
        let extended = |table: &Table| {
            let table = table.clone();
            values.iter().map(move |value| {
                let mut table = table.clone();
                table.insert(axis.name.clone(), value.clone());
                table
            })
        };
        tables = tables.iter().flat_map(extended).collect();
    }
    Ok(tables)
}

/// Random settings without repetitions; fewer than asked for where there are no more.
fn draws(axes: &[Axis], count: usize, seed: u64) -> Vec<Table> {
    let mut random = rng::stream(seed, &[DRAWS]);
    let mut tables: Vec<Table> = Vec::new();
    // A short list may be exhausted: after so many repetitions in a row it is taken to be.
    let mut repetitions = 0;
    while tables.len() < count && repetitions < 100 {
        let table: Table = axes.iter().map(|axis| (axis.name.clone(), axis.draw(&mut random))).collect();
        if tables.contains(&table) {
            repetitions += 1;
        } else {
            tables.push(table);
            repetitions = 0;
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Table {
        text.parse().unwrap()
    }

    fn search(method: Method) -> Search {
        Search { method, ..Search::default() }
    }

    #[test]
    fn a_grid_has_all_combinations_in_order() {
        let tables =
            settings(&search(Method::Grid), &grid("a = [1, 2]\nb = [\"x\", \"y\", \"z\"]"), 1).unwrap();
        let shown: Vec<String> =
            tables.iter().map(|t| format!("{}{}", t["a"], t["b"].as_str().unwrap())).collect();
        assert_eq!(shown, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert_eq!(settings(&search(Method::Grid), &Table::new(), 1).unwrap(), [Table::new()]);
    }

    #[test]
    fn draws_stay_in_their_ranges_and_repeat_with_the_seed() {
        let axes =
            grid("c = { from = 1e-3, to = 1e3, log = true }\nn = { from = 2, to = 9 }\nk = [true, false]");
        let search = Search { draws: 200, ..search(Method::Random) };
        let tables = settings(&search, &axes, 7).unwrap();
        assert_eq!(tables.len(), 200);
        assert_eq!(tables, settings(&search, &axes, 7).unwrap());
        assert_ne!(tables, settings(&search, &axes, 8).unwrap());
        let c: Vec<f64> = tables.iter().map(|t| t["c"].as_float().unwrap()).collect();
        assert!(c.iter().all(|c| (1e-3..=1e3).contains(c)));
        let small = c.iter().filter(|c| **c < 1.0).count();
        assert!(
            (60..140).contains(&small),
            "half of a logarithmic range lies below its middle, not {small} of 200"
        );
        assert!(tables.iter().all(|t| (2..=9).contains(&t["n"].as_integer().unwrap())));
    }

    #[test]
    fn a_short_list_is_drawn_only_once() {
        let tables = settings(&search(Method::Random), &grid("a = [1, 2, 3]"), 1).unwrap();
        assert_eq!(tables.len(), 3);
    }

    #[test]
    fn halving_ends_on_all_queries_with_few_settings() {
        let shown = |settings| {
            let rungs = rungs(&search(Method::Halving), settings);
            rungs.iter().map(|r| (r.settings, (r.share * 9.0).round() as usize)).collect::<Vec<_>>()
        };
        assert_eq!(shown(20), [(20, 1), (7, 3), (3, 9)]);
        assert_eq!(shown(1), [(1, 9)]);
        assert_eq!(rungs(&search(Method::Grid), 6), [Rung { settings: 6, share: 1.0 }]);
    }

    #[test]
    fn the_best_come_first_and_failures_last() {
        assert_eq!(best(&[Some(0.1), None, Some(0.3), Some(0.3)], 3), [2, 3, 0]);
        assert_eq!(best(&[None, Some(0.0)], 2), [1, 0]);
    }

    #[test]
    fn odd_grids_are_refused() {
        let refusal = |text| settings(&search(Method::Grid), &grid(text), 1).unwrap_err().to_string();
        assert!(refusal("a = []").contains("`a` is empty"));
        assert!(refusal("a = 1").contains("neither a list nor a range"));
        assert!(refusal("a = { from = 0, to = 1, log = true }").contains("not above 0"));
        assert!(refusal("a = { from = 0, to = 1, lgo = true }").contains("`lgo`"));
        assert!(refusal("a = { from = 1, to = 2 }").contains("method = \"random\""));
    }
}
