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
            for name in entry.names() {
                match entry.levels {
                    true => assert_eq!(names(&format!("{name}@0.25")), [format!("{}@0.25", entry.card.name)]),
                    false => assert_eq!(names(name), [entry.card.name]),
                }
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
        assert!(refusal("ndcg@1..9999999").contains("at most 1000"));
        assert!(refusal("f1@99999999999999999999").contains("whole number from 1"));
        assert!(refusal(&"x\n".repeat(1000)).len() < 400);
    }

    /// Each line: a tool, its spellings, and the names here.
    const FOREIGN: &[(&str, &[(&str, &str)])] = &[
        (
            "trec_eval",
            &[
                ("ndcg", "ndcg"),
                ("ndcg_cut_10", "ndcg@10"),
                ("ndcg_cut.5", "ndcg@5"),
                ("map", "map"),
                ("map_cut_100", "map@100"),
                ("recip_rank", "mrr"),
                ("P_10", "p@10"),
                ("P.10", "p@10"),
                ("recall_100", "recall@100"),
                ("Rprec", "r-precision"),
                ("bpref", "bpref"),
                ("success_5", "success@5"),
                ("set_P", "p"),
                ("set_recall", "recall"),
                ("set_F", "f1"),
                ("set_map", "set-map"),
                ("set_relative_P", "set-relative-p"),
                ("infAP", "inf-ap"),
                ("11pt_avg", "11pt-avg"),
                ("iprec_at_recall_0.10", "iprec@0.1"),
                ("iprec_at_recall.0.35", "iprec@0.35"),
                ("iprec_at_recall_1.00", "iprec@1"),
                ("num_q", "num-q"),
                ("num_ret", "num-ret"),
                ("num_rel", "num-rel"),
                ("num_rel_ret", "num-rel-ret"),
            ],
        ),
        (
            "ir-measures",
            &[
                ("nDCG@10", "ndcg@10"),
                ("nDCG(dcg='exp-log2')@10", "ndcg@10:gain=exp2"),
                ("AP", "map"),
                ("AP@100", "map@100"),
                ("AP(rel=2)@100", "map@100:threshold=2"),
                ("RR", "mrr"),
                ("RR@10", "mrr@10"),
                ("P@10", "p@10"),
                ("R@100", "recall@100"),
                ("Success@5", "success@5"),
                ("ERR@20", "err@20"),
                ("RBP(p=0.8)", "rbp:persistence=0.8"),
                ("RBP(rel=2,p=0.5)@10", "rbp@10:threshold=2:persistence=0.5"),
                ("Rprec", "r-precision"),
                ("Bpref", "bpref"),
                ("SetP", "p"),
                ("SetR", "recall"),
                ("SetF", "f1"),
                ("SetAP", "set-map"),
                ("infAP", "inf-ap"),
                ("IPrec@0.1", "iprec@0.1"),
                ("Judged@10", "judged@10"),
                ("NumQ", "num-q"),
                ("NumRet", "num-ret"),
                ("NumRel(rel=2)", "num-rel:threshold=2"),
            ],
        ),
        (
            "LightGBM",
            &[("ndcg", "ndcg"), ("lambdarank", "ndcg"), ("mean_average_precision", "map"), ("auc", "auc")],
        ),
        (
            "XGBoost",
            &[
                ("ndcg@10", "ndcg@10"),
                ("ndcg@10-", "ndcg@10:empty=zero"),
                ("map", "map"),
                ("map-", "map:empty=zero"),
                ("pre@10", "p@10"),
                ("pre", "p"),
            ],
        ),
        (
            "CatBoost",
            &[
                ("NDCG", "ndcg"),
                ("NDCG:top=10", "ndcg@10"),
                ("NDCG:top=10;type=Exp", "ndcg@10:gain=exp2"),
                ("DCG:type=Base", "dcg:gain=linear"),
                ("PrecisionAt:top=10", "p@10"),
                ("RecallAt:top=10", "recall@10"),
                ("MAP:top=10", "map@10"),
                ("MRR", "mrr"),
                ("MRR:top=5", "mrr@5"),
                ("ERR:top=10", "err@10"),
            ],
        ),
        (
            "RankLib",
            &[
                ("MAP", "map"),
                ("NDCG@10", "ndcg@10"),
                ("DCG@10", "dcg@10"),
                ("P@10", "p@10"),
                ("RR@10", "mrr@10"),
                ("ERR@10", "err@10"),
            ],
        ),
        (
            "ranx",
            &[
                ("hits@10", "success@10"),
                ("hit_rate@10", "success@10"),
                ("precision@10", "p@10"),
                ("recall@10", "recall@10"),
                ("f1@10", "f1@10"),
                ("r-precision", "r-precision"),
                ("mrr@10", "mrr@10"),
                ("rbp.95", "rbp:persistence=0.95"),
            ],
        ),
        (
            "scikit-learn and SciPy",
            &[
                ("ndcg_score", "ndcg"),
                ("dcg_score", "dcg"),
                ("average_precision_score", "map"),
                ("roc_auc_score", "auc"),
                ("kendalltau", "kendall"),
            ],
        ),
        ("the LETOR scripts", &[("MeanNDCG", "mean-ndcg")]),
    ];

    #[test]
    fn names_of_other_tools_are_accepted() {
        for (tool, spellings) in FOREIGN {
            for (theirs, ours) in *spellings {
                assert_eq!(names(theirs), [*ours], "{tool}");
                assert_eq!(names(ours), [*ours]);
            }
        }
    }

    #[test]
    fn every_metric_is_reachable_by_a_name_of_another_tool_and_no_name_is_shared() {
        for entry in METRICS {
            let of_others = FOREIGN.iter().flat_map(|(_, spellings)| spellings.iter());
            assert!(
                of_others.clone().any(|(theirs, _)| find(theirs.split([':', '(']).next().unwrap())
                    .is_ok_and(|e| e.card.name == entry.card.name)),
                "{}",
                entry.card.name
            );
        }
        let mut seen = std::collections::HashSet::new();
        for name in METRICS.iter().flat_map(MetricEntry::names) {
            assert!(seen.insert(plain(name)), "`{name}` is listed twice");
        }
    }

    /// Damaged specifications are refused in a sentence, or name metrics whose names are read back.
    #[test]
    fn damaged_specs_never_cause_a_panic() {
        let pieces: &[&[u8]] = &[
            b"@",
            b"_",
            b".",
            b"..",
            b",",
            b":",
            b"=",
            b"(",
            b")",
            b"0.5",
            b"10",
            b"-",
            b"NaN",
            b"1e9",
            "é".as_bytes(),
        ];
        let seeds = "ndcg@10:gain=linear|iprec_at_recall_0.10,0.5|RBP(rel=2,p=0.5)@10,AP|p@1..5:t=2|NDCG:top=10;type=Exp|rbp.95";
        let seeds: Vec<&str> = seeds.split('|').collect();
        let mut random = crate::rng::stream(12, &[]);
        let cases = std::env::var("RANKWISE_FUZZ_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
        let (mut accepted, mut refused) = (0_u64, 0_u64);
        for case in 0..cases {
            let seed = seeds[case % seeds.len()].as_bytes();
            let bytes = crate::data::files::fuzz::damaged(seed, pieces, &mut random);
            let spec = String::from_utf8_lossy(&bytes);
            match parse_list(&spec, &Conventions::default()) {
                Ok(metrics) => {
                    accepted += 1;
                    for name in metrics.iter().map(|m| m.name()) {
                        assert_eq!(names(&name), [&*name], "{spec}");
                    }
                }
                Err(error) => {
                    refused += 1;
                    let message = error.to_string();
                    assert!(message.len() < 800 && !message.contains(char::is_control), "{message:?}");
                }
            }
        }
        assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
    }

    #[test]
    fn a_list_of_cuts_repeats_the_metric() {
        assert_eq!(names("ndcg_cut.5,10,map"), ["ndcg@5", "ndcg@10", "map"]);
        assert_eq!(names("P@1,3,5"), ["p@1", "p@3", "p@5"]);
        assert_eq!(names("RBP(rel=1,p=0.5),AP"), ["rbp:threshold=1:persistence=0.5", "map"]);
        let refusal = |spec: &str| parse_list(spec, &Conventions::default()).err().expect(spec).to_string();
        assert!(refusal("map,10").contains("unknown metric `10`"), "{}", refusal("map,10"));
        assert!(refusal("ndcg@5:top=10").contains("two cuts"));
        assert!(refusal("RBP(p=0.8").contains("closing parenthesis"));
        assert!(refusal("RBP(p=0.8)10").contains("write `@k`"));
        assert!(refusal("bpref_10").contains("takes no `@k`"));
        assert_eq!(names("iprec@0.1,0.5,map"), ["iprec@0.1", "iprec@0.5", "map"]);
        let official = names("official,err");
        assert_eq!(
            (official.len(), &*official[5], &*official[27], &*official[28]),
            (29, "r-precision", "p@1000", "err")
        );
        assert_eq!((names("iprec_at_recall").len(), &*names("iprec")[3]), (11, "iprec@0.3"));
        for (level, found) in [("iprec@10", "`10`"), ("iprec@-0.5", "`-0.5`"), ("iprec@NaN", "`NaN`")] {
            let message = refusal(level);
            assert!(message.contains(found) && message.contains("from 0 to 1"), "{message}");
        }
        assert!(refusal("recip_rnk").contains("did you mean `recip_rank`?"), "{}", refusal("recip_rnk"));
        assert!(refusal("ndgc_cut_10").contains("did you mean `ndcg_cut`?"), "{}", refusal("ndgc_cut_10"));
    }
}
