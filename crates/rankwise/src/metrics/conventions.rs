//! Conventions: every choice that makes two tools disagree about the same ranking, by name.

use crate::card;
use crate::error::{Error, Result};
use crate::rank::{RankRule, ScoreBits, Ties};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a grade is worth. Grades of 0 and below, and unjudged documents, are worth nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gain {
    /// `2^r − 1`; grades above 960 count as 960, so that sums stay finite.
    #[default]
    Exp2,
    /// The grade itself.
    Linear,
    /// 1 from the threshold on, else 0.
    Binary,
}

/// What a place in the ranking is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Discount {
    /// `1 / log₂(1 + rank)`, ranks from 1.
    #[default]
    Log2,
    /// 1 at ranks 1 and 2, then `1 / log₂(rank)`.
    Letor,
}

/// What a query counts that has nothing relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Empty {
    /// 0.
    #[default]
    Zero,
    /// 1.
    One,
    /// It does not count at all.
    Skip,
}

/// What average precision at a cut is divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApDivisor {
    /// The number of relevant documents R.
    #[default]
    Relevant,
    /// `min(R, k)`: a perfect top k counts 1.
    Min,
}

/// What average precision makes of ties when they are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApTies {
    /// The expectation over all orders, as for every other metric.
    #[default]
    Order,
    /// Tied documents are seen all at once: each relevant one counts the precision at the end of its group,
    /// as in scikit-learn.
    Threshold,
}

/// What precision at `k` is divided by when fewer than `k` documents are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PDivisor {
    /// `k`.
    #[default]
    K,
    /// `min(k, n)`.
    Min,
}

/// With what probability a user of the cascade model (ERR) is satisfied by a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopProbability {
    /// `(2^r − 1) / 2^max-grade`.
    #[default]
    Exp2,
    /// The grade itself, within 0 and 1.
    Grade,
}

/// Every choice that is not the metric's own. The default is this library's; see [`PRESETS`](super::PRESETS)
/// for those of others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Conventions {
    /// What a grade is worth in DCG and NDCG.
    pub gain: Gain,
    /// What a place is worth in DCG and NDCG.
    pub discount: Discount,
    /// What a query without relevant documents counts.
    pub empty: Empty,
    /// Metrics that treat such a query otherwise, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub empty_except: BTreeMap<String, Empty>,
    /// What to do with equal scores.
    pub ties: Ties,
    /// When scores count as equal.
    pub scores: ScoreBits,
    /// What AP at a cut is divided by.
    pub ap_divisor: ApDivisor,
    /// What AP makes of averaged ties.
    pub ap_ties: ApTies,
    /// What P at `k` is divided by for short lists.
    pub p_divisor: PDivisor,
    /// The least grade that is relevant where relevance is yes or no; above 0.
    pub threshold: f32,
    /// The cut where a metric can have one and none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<usize>,
    /// The stopping probability of ERR.
    pub stop: StopProbability,
    /// The highest grade there is, for ERR; higher ones count as this.
    pub max_grade: f32,
    /// The probability of going on to the next document, for RBP; between 0 and 1.
    pub persistence: f64,
    /// What a grade is worth in RBP.
    pub rbp_gain: Gain,
}

impl Default for Conventions {
    fn default() -> Self {
        Conventions {
            gain: Gain::Exp2,
            discount: Discount::Log2,
            empty: Empty::Zero,
            empty_except: BTreeMap::new(),
            ties: Ties::Average,
            scores: ScoreBits::F64,
            ap_divisor: ApDivisor::Relevant,
            ap_ties: ApTies::Order,
            p_divisor: PDivisor::K,
            threshold: 1.0,
            cut: None,
            stop: StopProbability::Exp2,
            max_grade: 4.0,
            persistence: 0.8,
            rbp_gain: Gain::Binary,
        }
    }
}

impl Conventions {
    /// How scores become an order.
    pub fn rank_rule(&self) -> RankRule {
        RankRule { ties: self.ties, scores: self.scores }
    }

    /// What a query without relevant documents counts in the metric called `name`.
    pub fn empty_for(&self, name: &str) -> Empty {
        self.empty_except.get(name).copied().unwrap_or(self.empty)
    }

    /// Refuses numbers that are out of range.
    pub fn check(&self) -> Result<()> {
        let refuse = |key: &str, value: &dyn std::fmt::Display, range: &str| {
            Err(Error::parameter(format!("`{key}={value}` is out of range: it must be {range}")))
        };
        if !(self.threshold > 0.0 && self.threshold.is_finite()) {
            return refuse(
                "threshold",
                &self.threshold,
                "finite and above 0, as unjudged documents count as 0",
            );
        }
        if !(self.max_grade > 0.0 && self.max_grade.is_finite()) {
            return refuse("max-grade", &self.max_grade, "finite and above 0");
        }
        if !(self.persistence > 0.0 && self.persistence < 1.0) {
            return refuse("persistence", &self.persistence, "between 0 and 1");
        }
        match self.cut {
            Some(cut) if cut == 0 || cut > u32::MAX as usize => refuse("cut", &cut, "from 1 to 4294967295"),
            _ => Ok(()),
        }
    }

    /// Changes one choice by its name, as in `ndcg@10:gain=linear`. `t` is short for `threshold`, `p` for
    /// `persistence`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let key = full_name(key);
        let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(&*self) else {
            unreachable!("conventions are written as a table");
        };
        let known = option_names();
        if !known.contains(&key) {
            return Err(card::unknown("option", key, &known));
        }
        // What reads as a number is one; everything else is a name.
        let parsed =
            value.parse::<serde_json::Number>().map_or_else(|_| value.into(), serde_json::Value::from);
        fields.insert(key.to_owned(), parsed);
        let changed = serde_json::from_value::<Conventions>(fields.into());
        *self = changed.map_err(|e| bad_value(key, value, &e.to_string()))?;
        if key == "empty" {
            self.empty_except.clear();
        }
        self.check()
    }

    /// The choices as `name=value`, in a fixed order: what to print beside a result.
    pub fn describe(&self) -> Vec<String> {
        let value = serde_json::to_value(self);
        let fields = value.as_ref().ok().and_then(|v| v.as_object());
        fields.into_iter().flatten().map(|(key, value)| format!("{key}={}", plain(value))).collect()
    }
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string().replace('"', ""),
    }
}

fn bad_value(key: &str, value: &str, reason: &str) -> Error {
    let shown: String = value.escape_debug().take(40).collect();
    // The sentence of serde ends with the names it would have taken.
    let hint = match reason.split_once("expected ") {
        Some((_, expected)) => format!("; expected {expected}"),
        None => String::new(),
    };
    Error::parameter(format!("`{shown}` is no value for `{key}`{hint}"))
}

/// An option's name, where a short one was typed.
pub(super) fn full_name(key: &str) -> &str {
    match key {
        "t" => "threshold",
        "p" => "persistence",
        other => other,
    }
}

/// Every choice that can be named in a metric's options.
pub fn option_names() -> [&'static str; 13] {
    [
        "gain",
        "discount",
        "empty",
        "ties",
        "scores",
        "ap-divisor",
        "ap-ties",
        "p-divisor",
        "threshold",
        "stop",
        "max-grade",
        "persistence",
        "rbp-gain",
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_set_by_name_and_refused_with_a_reason() {
        let mut c = Conventions::default();
        c.set("gain", "linear").unwrap();
        c.set("t", "2").unwrap();
        c.set("ties", "docid").unwrap();
        c.set("p-divisor", "min").unwrap();
        assert_eq!(
            (c.gain, c.threshold, c.ties, c.p_divisor),
            (Gain::Linear, 2.0, Ties::DocId, PDivisor::Min)
        );
        let refusal = |key, value| Conventions::default().set(key, value).unwrap_err().to_string();
        assert!(refusal("gian", "linear").contains("did you mean `gain`?"));
        assert!(refusal("gain", "square").contains("`exp2`, `linear`"), "{}", refusal("gain", "square"));
        assert!(refusal("t", "0").contains("above 0"));
        assert!(refusal("t", "x").contains("`threshold`"));
        assert!(refusal("p", "1").contains("between 0 and 1"));
    }

    #[test]
    fn every_option_name_is_a_field() {
        let fields = serde_json::to_value(Conventions::default()).unwrap();
        for name in option_names() {
            assert!(fields.get(name).is_some(), "{name}");
        }
        assert!(Conventions::default().describe().contains(&"gain=exp2".to_owned()));
    }
}
