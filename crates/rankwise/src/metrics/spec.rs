//! Metrics by name: `ndcg@10`, `map`, `rbp:p=0.5`, `ndcg@1..10`, `p@5:t=2,err@10`.
//!
//! ```text
//! list  = spec { "," spec }
//! spec  = name [ "@" k [ ".." k ] | "@" recall ] { ":" key "=" value }
//! ```
//! Options override the conventions for that metric alone. The spellings of other tools are accepted too:
//!
//! ```text
//! ndcg_cut_10   ndcg_cut.5,10   P_10   iprec_at_recall_0.10     trec_eval
//! nDCG@10   AP(rel=2)@100   RBP(p=0.8)   ir-measures
//! NDCG:top=10;type=Exp   PrecisionAt:top=10   CatBoost
//! pre@10   ndcg@10-                      XGBoost (`-`: empty queries count 0)
//! ```
//! These are spellings only: the conventions stay those that were chosen, and the canonical name is printed.

#[cfg(test)]
mod tests;

use super::conventions::full_name;
use super::interpolated::ELEVEN_LEVELS;
use super::{Conventions, METRICS, Metric, MetricEntry, Request};
use crate::card;
use crate::error::{Error, Result};

/// The most metrics a range such as `ndcg@1..10` may stand for.
const MOST_CUTS: usize = 1000;
/// What `official` stands for: the metrics that trec_eval prints if none are named, without `gm_map`.
const OFFICIAL: &str =
    "num-q,num-ret,num-rel,num-rel-ret,map,r-precision,bpref,mrr,iprec,p@5,10,15,20,30,100,200,500,1000";
/// The conventions that every metric depends on.
const COMMON_OPTIONS: [&str; 3] = ["empty", "ties", "scores"];
/// Options of other tools that mean the cut `k`.
const CUT_OPTIONS: [&str; 3] = ["top", "cutoff", "k"];

/// The metric called `name`, which may be an alias and may have a cut.
pub fn find(name: &str) -> Result<&'static MetricEntry> {
    Head::parse(name).map(|head| head.entry)
}

/// One metric, such as `ndcg@10:gain=linear`.
///
/// ```
/// use rankwise::metrics::{Conventions, parse};
/// let conventions = Conventions::default();
/// assert_eq!(parse("ndcg@10:gain=linear", &conventions)?.name(), "ndcg@10:gain=linear");
/// assert_eq!(parse("recip_rank", &conventions)?.name(), "mrr");
/// # Ok::<(), rankwise::Error>(())
/// ```
pub fn parse(spec: &str, conventions: &Conventions) -> Result<Box<dyn Metric>> {
    let mut metrics = parse_list(spec, conventions)?;
    match metrics.len() {
        1 => Ok(metrics.remove(0)),
        n => Err(Error::parameter(format!("`{}` names {n} metrics; name one", shorten(spec)))),
    }
}

/// Metrics separated by commas, in the order named. A range of cuts stands for one metric per cut, and a number
/// alone repeats the metric before it at that cut: `ndcg@5,10` is `ndcg@5,ndcg@10`. `iprec` without a level of recall
/// stands for the eleven levels 0, 0.1, … and 1, and `official` for the metrics that trec_eval prints by default.
pub fn parse_list(specs: &str, conventions: &Conventions) -> Result<Vec<Box<dyn Metric>>> {
    conventions.check()?;
    let mut metrics = Vec::new();
    let mut repeatable: Option<Head<'_>> = None;
    for text in split_outside_parentheses(specs) {
        let text = text.trim();
        if text == "official" {
            metrics.extend(parse_list(OFFICIAL, conventions)?);
            repeatable = None;
            continue;
        }
        let spec = match &repeatable {
            Some(head) if is_number(text) || head.entry.levels && is_decimal(text) => {
                Spec { head: Head { cuts: Some(text), ..head.clone() }, options: Vec::new() }
            }
            _ => Spec::parse(text)?,
        };
        metrics.extend(spec.make(text, conventions)?);
        repeatable = (spec.head.cuts.is_some() && spec.options.is_empty()).then_some(spec.head);
    }
    Ok(metrics)
}

/// Splits at commas that are not between parentheses.
fn split_outside_parentheses(specs: &str) -> Vec<&str> {
    let (mut depth, mut start, mut pieces) = (0usize, 0, Vec::new());
    for (at, c) in specs.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                pieces.push(&specs[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&specs[start..]);
    pieces
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn is_decimal(text: &str) -> bool {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    is_number(whole) && is_number(fraction)
}

/// What is written before the options: a metric and its cuts.
#[derive(Clone)]
struct Head<'a> {
    entry: &'static MetricEntry,
    /// What follows the `@`, or the number at the end of trec_eval's names; a level of recall for a metric that has
    /// levels.
    cuts: Option<&'a str>,
    /// The digits of ranx's `rbp.95`.
    persistence: Option<&'a str>,
}

impl<'a> Head<'a> {
    fn parse(text: &'a str) -> Result<Self> {
        let head = |entry, cuts| Head { entry, cuts, persistence: None };
        if let Some((name, cuts)) = text.split_once('@') {
            return lookup(name).map(|entry| head(entry, Some(cuts))).ok_or_else(|| unknown(name));
        }
        if let Some(entry) = lookup(text) {
            return Ok(head(entry, None));
        }
        let level_after = |&(at, _): &(usize, &str)| {
            is_decimal(&text[at + 1..]) && lookup(&text[..at]).is_some_and(|entry| entry.levels)
        };
        if let Some((at, _)) = text.match_indices(['_', '.']).find(level_after) {
            return Head::parse(&text[..at]).map(|found| head(found.entry, Some(&text[at + 1..])));
        }
        let number = text.rfind(['_', '.']).filter(|&at| is_number(&text[at + 1..]));
        let known = number.and_then(|at| Some((at, lookup(&text[..at])?)));
        let Some((at, entry)) = known else { return Err(unknown(text)) };
        let digits = &text[at + 1..];
        match text.as_bytes()[at] == b'.' && entry.options.contains(&"persistence") {
            true => Ok(Head { entry, cuts: None, persistence: Some(digits) }),
            false => Ok(head(entry, Some(digits))),
        }
    }
}

/// The metric with this name or alias; case, `-` and `_` make no difference.
fn lookup(name: &str) -> Option<&'static MetricEntry> {
    let wanted = plain(name);
    METRICS.iter().find(|e| e.names().any(|known| plain(known) == wanted))
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| !['-', '_'].contains(c)).flat_map(char::to_lowercase).collect()
}

fn unknown(name: &str) -> Error {
    let all: Vec<&str> = METRICS.iter().flat_map(MetricEntry::names).collect();
    let canonical: Vec<&str> = METRICS.iter().map(|e| e.card.name).collect();
    // `ndgc_cut_10` may be near `ndcg_cut` only without its number.
    let unnumbered = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_' || c == '.');
    match [name, unnumbered].into_iter().find(|n| card::nearest(n, &all).is_some()) {
        Some(similar) => card::unknown("metric", &shorten(similar), &all),
        None => card::unknown("metric", &shorten(name), &canonical),
    }
}

/// One metric as written: `name@k:key=value`, or the same in another tool's spelling.
struct Spec<'a> {
    head: Head<'a>,
    /// `key=value`, in the order written.
    options: Vec<&'a str>,
}

impl<'a> Spec<'a> {
    fn parse(spec: &'a str) -> Result<Self> {
        let nameless = || {
            let shown = shorten(spec);
            Error::parameter(format!("`{shown}` names no metric; write, for example, `ndcg@10,map`"))
        };
        let head_end = spec.find([':', '(']).unwrap_or(spec.len());
        let (mut head, mut rest) = spec.split_at(head_end);
        let mut options = Vec::new();
        let mut cut_after = None;
        if let Some(inside) = rest.strip_prefix('(') {
            let Some((arguments, after)) = inside.split_once(')') else {
                return Err(Error::parameter(format!("`{}` lacks a closing parenthesis", shorten(spec))));
            };
            options.extend(arguments.split(',').map(str::trim).filter(|o| !o.is_empty()));
            let cut_end = after.find(':').unwrap_or(after.len());
            cut_after = Some(&after[..cut_end]).filter(|cut| !cut.is_empty());
            rest = &after[cut_end..];
        }
        options.extend(rest.strip_prefix(':').into_iter().flat_map(|o| o.split([':', ';'])));
        // XGBoost: empty queries count 0.
        if let Some(shorter) = head.strip_suffix('-') {
            head = shorter;
            options.insert(0, "empty=zero");
        }
        if head.is_empty() || head.starts_with('@') {
            return Err(nameless());
        }
        let mut head = Head::parse(head)?;
        if let Some(cut) = cut_after {
            head.set_cut(cut.strip_prefix('@').ok_or_else(|| stray(cut, spec))?, spec)?;
        }
        Ok(Spec { head, options })
    }

    /// The metrics, one per cut.
    fn make(&self, spec: &str, conventions: &Conventions) -> Result<Vec<Box<dyn Metric>>> {
        let mut head = self.head.clone();
        let entry = head.entry;
        let mut own = conventions.clone();
        let mut suffix = String::new();
        if let Some(digits) = head.persistence {
            let value = format!("0.{digits}");
            own.set("persistence", &value)?;
            suffix += &format!(":persistence={value}");
        }
        for option in &self.options {
            let Some((key, value)) = option.split_once('=') else {
                let shown = shorten(option);
                return Err(Error::parameter(format!("`{shown}` is not an option; write `name=value`")));
            };
            if CUT_OPTIONS.contains(&key) {
                head.set_cut(value, spec)?;
                continue;
            }
            let (key, value) = set_option(entry, &mut own, key, value)?;
            suffix += &format!(":{key}={value}");
        }
        let request = |at: String, cut, level| {
            let name = format!("{}{at}{suffix}", entry.card.name);
            (entry.make)(Request { name, conventions: own.clone(), cut, level })
        };
        let make = |cut: Option<usize>| {
            let cut = cut.or(own.cut).filter(|_| entry.cut);
            request(cut.map_or_else(String::new, |k| format!("@{k}")), cut, 0.0)
        };
        if entry.levels {
            let levels = head.cuts.map_or(Ok(ELEVEN_LEVELS.to_vec()), |level| parse_level(level, spec));
            return Ok(levels?.into_iter().map(|level| request(format!("@{level}"), None, level)).collect());
        }
        match head.cuts {
            None => Ok(vec![make(None)]),
            Some(_) if !entry.cut => Err(Error::parameter(format!(
                "`{}` depends on the whole ranking and takes no `@k`",
                entry.card.name
            ))),
            Some(cuts) => Ok(parse_cuts(cuts, spec)?.map(|k| make(Some(k))).collect()),
        }
    }
}

impl<'a> Head<'a> {
    fn set_cut(&mut self, cut: &'a str, spec: &str) -> Result<()> {
        match self.cuts.replace(cut) {
            None => Ok(()),
            Some(_) => Err(Error::parameter(format!("`{}` has two cuts; give one", shorten(spec)))),
        }
    }
}

fn stray(text: &str, spec: &str) -> Error {
    Error::parameter(format!("`{}` in `{}` is not a cut; write `@k`", shorten(text), shorten(spec)))
}

fn set_option<'a>(
    entry: &MetricEntry,
    own: &mut Conventions,
    key: &'a str,
    value: &'a str,
) -> Result<(&'static str, &'a str)> {
    let known = [entry.options, &COMMON_OPTIONS].concat();
    let (key, value) = foreign_option(key, value.trim_matches(['\'', '"']));
    let Some(key) = known.iter().copied().find(|k| *k == full_name(key)) else {
        return Err(card::unknown(&format!("option of `{}`", entry.card.name), &shorten(key), &known));
    };
    own.set(key, value)?;
    Ok((key, value))
}

/// Options of ir-measures and CatBoost under the names they have here.
fn foreign_option<'a>(key: &'a str, value: &'a str) -> (&'a str, &'a str) {
    match (key, value) {
        ("rel", _) => ("threshold", value),
        ("dcg", "log2") | ("type", "Base") => ("gain", "linear"),
        ("dcg", "exp-log2") | ("type", "Exp") => ("gain", "exp2"),
        ("denominator", "LogPosition") => ("discount", "log2"),
        _ => (key, value),
    }
}

/// One level of recall.
fn parse_level(level: &str, spec: &str) -> Result<Vec<f64>> {
    match level.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(vec![number.abs()]),
        _ => Err(Error::parameter(format!(
            "`{}` in `{}` is not a level of recall; a level is a number from 0 to 1",
            shorten(level),
            shorten(spec)
        ))),
    }
}

fn parse_cuts(cuts: &str, spec: &str) -> Result<std::ops::RangeInclusive<usize>> {
    let number = |text: &str| match text.parse::<u32>() {
        Ok(k) if k > 0 => Ok(k as usize),
        _ => Err(Error::parameter(format!(
            "`{}` in `{}` is not a cut; a cut is a whole number from 1 to {}",
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
            "the cuts of `{}` must ascend, and there can be at most {MOST_CUTS}",
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
