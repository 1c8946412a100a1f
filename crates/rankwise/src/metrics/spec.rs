//! Metrics by name: `ndcg@10`, `map`, `rbp:p=0.5`, `ndcg@1..10`, `p@5:t=2,err@10`.
//!
//! ```text
//! list  = spec { "," spec }
//! spec  = name [ "@" k [ ".." k ] ] { ":" key "=" value }
//! ```
//! Options override the conventions for that metric alone.

use super::conventions::full_name;
use super::{Conventions, METRICS, Metric, MetricEntry, Request};
use crate::card;
use crate::error::{Error, Result};

/// The most metrics a range such as `ndcg@1..10` may stand for.
const MOST_CUTS: usize = 1000;
/// The conventions that every metric looks at.
const COMMON_OPTIONS: [&str; 3] = ["empty", "ties", "scores"];

/// The metric called `name`, which may be an alias.
pub fn find(name: &str) -> Result<&'static MetricEntry> {
    let wanted = name.to_lowercase().replace('_', "-");
    let is_called = |e: &&MetricEntry| e.card.name == wanted || e.aliases.contains(&wanted.as_str());
    METRICS.iter().find(is_called).ok_or_else(|| {
        let names: Vec<&str> = METRICS.iter().flat_map(|e| [&[e.card.name], e.aliases].concat()).collect();
        card::unknown("metric", &shorten(name), &names)
    })
}

/// One metric, such as `ndcg@10:gain=linear`.
pub fn parse(spec: &str, conventions: &Conventions) -> Result<Box<dyn Metric>> {
    let mut metrics = parse_list(spec, conventions)?;
    match metrics.len() {
        1 => Ok(metrics.remove(0)),
        n => Err(Error::parameter(format!("`{}` names {n} metrics where one is wanted", shorten(spec)))),
    }
}

/// Metrics separated by commas, in the order named; a range of cuts stands for one metric each.
pub fn parse_list(specs: &str, conventions: &Conventions) -> Result<Vec<Box<dyn Metric>>> {
    conventions.check()?;
    let mut metrics = Vec::new();
    for spec in specs.split(',') {
        metrics.extend(parse_spec(spec.trim(), conventions)?);
    }
    Ok(metrics)
}

fn parse_spec(spec: &str, conventions: &Conventions) -> Result<Vec<Box<dyn Metric>>> {
    let mut parts = spec.split(':');
    let head = parts.next().unwrap_or_default();
    let (name, cuts) = match head.split_once('@') {
        Some((name, cuts)) => (name, Some(cuts)),
        None => (head, None),
    };
    if name.is_empty() {
        return Err(Error::parameter(format!(
            "`{}` names no metric; write, for example, `ndcg@10,map`",
            shorten(spec)
        )));
    }
    let entry = find(name)?;
    let mut own = conventions.clone();
    let mut suffix = String::new();
    for option in parts {
        let (key, value) = set_option(entry, &mut own, option)?;
        suffix += &format!(":{key}={value}");
    }
    let make = |cut: Option<usize>| {
        let cut = cut.or(own.cut).filter(|_| entry.cut);
        let at = cut.map_or_else(String::new, |k| format!("@{k}"));
        let name = format!("{}{at}{suffix}", entry.card.name);
        (entry.make)(Request { name, conventions: own.clone(), cut })
    };
    match cuts {
        None => Ok(vec![make(None)]),
        Some(_) if !entry.cut => Err(Error::parameter(format!(
            "`{}` looks at the whole ranking and takes no `@k`",
            entry.card.name
        ))),
        Some(cuts) => Ok(parse_cuts(cuts, spec)?.map(|k| make(Some(k))).collect()),
    }
}

fn set_option<'a>(
    entry: &MetricEntry,
    own: &mut Conventions,
    option: &'a str,
) -> Result<(&'static str, &'a str)> {
    let Some((key, value)) = option.split_once('=') else {
        return Err(Error::parameter(format!("`{}` is no option; write `name=value`", shorten(option))));
    };
    let known = [entry.options, &COMMON_OPTIONS].concat();
    let Some(key) = known.iter().copied().find(|k| *k == full_name(key)) else {
        return Err(card::unknown(&format!("option of `{}`", entry.card.name), &shorten(key), &known));
    };
    own.set(key, value)?;
    Ok((key, value))
}

fn parse_cuts(cuts: &str, spec: &str) -> Result<std::ops::RangeInclusive<usize>> {
    let number = |text: &str| match text.parse::<u32>() {
        Ok(k) if k > 0 => Ok(k as usize),
        _ => Err(Error::parameter(format!(
            "`{}` in `{}` is no cut; a cut is a whole number from 1 to {}",
            shorten(text),
            shorten(spec),
            u32::MAX
        ))),
    };
    let Some((first, last)) = cuts.split_once("..") else {
        return number(cuts).map(|k| k..=k);
    };
    let (first, last) = (number(first)?, number(last)?);
    if first > last || last - first >= MOST_CUTS {
        return Err(Error::parameter(format!(
            "the cuts of `{}` must ascend, and be {MOST_CUTS} at most",
            shorten(spec)
        )));
    }
    Ok(first..=last)
}

fn shorten(text: &str) -> String {
    let mut shown: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Empty, Gain, preset};

    fn names(specs: &str) -> Vec<String> {
        parse_list(specs, &Conventions::default()).unwrap().iter().map(|m| m.name()).collect()
    }

    #[test]
    fn names_are_canonical_and_ranges_expand() {
        assert_eq!(names("NDCG@10, ap,rr@5"), ["ndcg@10", "map", "mrr@5"]);
        assert_eq!(names("p@1..3:t=2"), ["p@1:threshold=2", "p@2:threshold=2", "p@3:threshold=2"]);
        assert_eq!(names("rbp:p=0.5:empty=skip,tau"), ["rbp:persistence=0.5:empty=skip", "kendall"]);
        let xgboost = preset("xgboost").unwrap();
        assert_eq!(parse("ndcg", &xgboost).unwrap().name(), "ndcg@32");
        assert_eq!(parse("auc", &xgboost).unwrap().name(), "auc");
    }

    #[test]
    fn every_name_parses_to_itself() {
        for entry in METRICS {
            for name in [&[entry.card.name], entry.aliases].concat() {
                assert_eq!(names(name), [entry.card.name]);
            }
        }
    }

    #[test]
    fn options_override_conventions_for_one_metric() {
        let catboost = preset("catboost").unwrap();
        let metrics = parse_list("ndcg:gain=exp2,ndcg,ndcg:empty=skip,map", &catboost).unwrap();
        assert_eq!(metrics[0].conventions().gain, Gain::Exp2);
        assert_eq!(metrics[1].conventions().gain, Gain::Linear);
        let empty: Vec<_> = metrics.iter().map(|m| m.empty()).collect();
        assert_eq!(empty, [Empty::One, Empty::One, Empty::Skip, Empty::Zero]);
    }

    #[test]
    fn mistakes_are_refused_with_a_hint() {
        let refusal = |spec: &str| parse(spec, &Conventions::default()).err().expect(spec).to_string();
        assert!(refusal("ndgc@10").contains("did you mean `ndcg`?"), "{}", refusal("ndgc@10"));
        assert!(refusal("").contains("names no metric"));
        assert!(refusal("@10").contains("names no metric"));
        assert!(refusal("auc@10").contains("takes no `@k`"));
        assert!(refusal("map:gain=linear").contains("unknown option of `map` `gain`"));
        assert!(refusal("ndcg:gain").contains("name=value"));
        assert!(refusal("ndcg@0").contains("whole number from 1"));
        assert!(refusal("ndcg@1..10").contains("10 metrics"));
        assert!(refusal("ndcg@9..1").contains("ascend"));
        assert!(refusal("ndcg@1..9999999").contains("1000 at most"));
        assert!(refusal("f1@99999999999999999999").contains("whole number from 1"));
        assert!(refusal(&"x\n".repeat(1000)).len() < 400);
    }
}
