//! Conventions: every choice on which tools disagree about the same ranking.

use crate::card;
use crate::error::{Error, Result};
use crate::rank::{RankRule, ScoreBits, Ties};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The gain of a label `r`. Labels of 0 and below, and unjudged documents, have gain 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gain {
    /// `2^r − 1`; labels above 960 count as 960, so that sums stay finite.
    #[default]
    Exp2,
    /// The label itself.
    Linear,
    /// 1 from the threshold on, below it 0.
    Binary,
}

/// The discount of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Discount {
    /// `1 / log₂(1 + rank)`, ranks from 1.
    #[default]
    Log2,
    /// 1 at ranks 1 and 2, then `1 / log₂(rank)`.
    Letor,
}

/// The value of a query without relevant documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Empty {
    /// 0.
    #[default]
    Zero,
    /// 1.
    One,
    /// None: the query is left out of the mean.
    Skip,
}

/// The divisor of average precision at a cut `k`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApDivisor {
    /// The number of relevant documents R.
    #[default]
    Relevant,
    /// `min(R, k)`, so that a perfect top k has the value 1.
    Min,
}

/// How average precision treats ties when they are averaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ApTies {
    /// The expectation over all orders, as for every other metric.
    #[default]
    Order,
    /// Tied documents are seen at once: each relevant one has the precision at the end of its group, as in
    /// scikit-learn.
    Threshold,
}

/// The divisor of precision at `k` if fewer than `k` documents are ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PDivisor {
    /// `k`.
    #[default]
    K,
    /// `min(k, n)` for `n` ranked documents.
    Min,
}

/// The probability that a document satisfies the user, in the cascade model of ERR.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopProbability {
    /// `(2^r − 1) / 2^max-grade` for the label `r`.
    #[default]
    Exp2,
    /// The label itself, limited to 0 to 1.
    Grade,
}

/// Every choice that is not part of the metric itself. See [`PRESETS`](super::PRESETS) for those of other tools.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Conventions {
    /// The gain in DCG and NDCG.
    pub gain: Gain,
    /// The discount in DCG and NDCG.
    pub discount: Discount,
    /// The value of a query without relevant documents.
    pub empty: Empty,
    /// Metrics for which that value differs, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub empty_except: BTreeMap<String, Empty>,
    /// How equal scores are ordered.
    pub ties: Ties,
    /// The precision in which scores are compared.
    pub scores: ScoreBits,
    /// The divisor of AP at a cut.
    pub ap_divisor: ApDivisor,
    /// How AP treats averaged ties.
    pub ap_ties: ApTies,
    /// The divisor of P at `k` for short lists.
    pub p_divisor: PDivisor,
    /// The least label that counts as relevant in binary metrics; above 0.
    pub threshold: f32,
    /// The cut of metrics that accept one, if none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<usize>,
    /// The stop probability of ERR.
    pub stop: StopProbability,
    /// The highest label, for ERR; higher ones count as this.
    pub max_grade: f32,
    /// The probability of continuing to the next document, for RBP; between 0 and 1.
    pub persistence: f64,
    /// The gain in RBP.
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
    /// How scores become a ranking.
    pub fn rank_rule(&self) -> RankRule {
        RankRule { ties: self.ties, scores: self.scores }
    }

    /// The value of a query without relevant documents in the metric called `name`.
    pub fn empty_for(&self, name: &str) -> Empty {
        self.empty_except.get(name).copied().unwrap_or(self.empty)
    }

    /// Fails if a number is out of range.
    pub fn check(&self) -> Result<()> {
        let refuse = |key: &str, value: &dyn std::fmt::Display, range: &str| {
            Err(Error::parameter(format!("`{key}={value}` is out of range: it must be {range}")))
        };
        if !(self.threshold > 0.0 && self.threshold.is_finite()) {
            return refuse(
                "threshold",
                &self.threshold,
                "finite and above 0, because unjudged documents count as 0",
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

    /// Sets one convention by name, as in `ndcg@10:gain=linear`. `t` is short for `threshold`, `p` for `persistence`.
    pub fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let key = full_name(key);
        let Ok(serde_json::Value::Object(mut fields)) = serde_json::to_value(&*self) else {
            unreachable!("conventions are written as a table");
        };
        let known = option_names();
        if !known.contains(&key) {
            return Err(card::unknown("option", key, &known));
        }
        // Numbers are parsed; everything else is a name.
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

    /// The conventions as `name=value`, in a fixed order, to print beside a result.
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
    // The message of serde ends with the names it accepts.
    let hint = match reason.split_once("expected ") {
        Some((_, expected)) => format!("; expected {expected}"),
        None => String::new(),
    };
    Error::parameter(format!("`{shown}` is not a value of `{key}`{hint}"))
}

/// The full name of an option.
pub(super) fn full_name(key: &str) -> &str {
    match key {
        "t" => "threshold",
        "p" => "persistence",
        other => other,
    }
}

/// Every convention that can be an option of a metric.
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
