//! Presets: the conventions of other tools, to reproduce their figures exactly.

use super::conventions::{ApDivisor, ApTies, Conventions, Discount, Empty, Gain, PDivisor, StopProbability};
use crate::card::{self, Card};
use crate::error::Result;
use crate::rank::{ScoreBits, Ties};
use serde::Serialize;

/// Named conventions.
#[derive(Serialize)]
pub struct Preset {
    /// Name, tool, and its conventions in words.
    #[serde(flatten)]
    pub card: Card,
    #[serde(skip)]
    make: fn() -> Conventions,
}

impl Preset {
    /// The conventions themselves.
    pub fn conventions(&self) -> Conventions {
        (self.make)()
    }
}

/// The conventions of the preset called `name`.
pub fn preset(name: &str) -> Result<Conventions> {
    card::find(PRESETS, |p| &p.card, "preset", name).map(Preset::conventions)
}

const fn card(
    name: &'static str,
    title: &'static str,
    summary: &'static str,
    source: &'static [&'static str],
) -> Card {
    Card { name, title, summary, citations: source }
}

/// Every preset.
pub static PRESETS: &[Preset] = &[
    Preset {
        card: card(
            "default",
            "Rankwise",
            "Gain 2^r−1, discount 1/log2(1+rank), exact expectation over ties. Queries without relevant documents \
                 (empty queries) count 0.",
            &[],
        ),
        make: Conventions::default,
    },
    Preset {
        card: card(
            "trec",
            "trec_eval",
            "Linear gain; scores in single precision; ties by descending document id; empty queries count 0.",
            &["buckley2004trec"],
        ),
        make: || Conventions {
            gain: Gain::Linear,
            ties: Ties::DocId,
            scores: ScoreBits::F32,
            ..Conventions::default()
        },
    },
    Preset {
        card: card(
            "letor",
            "LETOR 3.0 scripts",
            "Gain 2^r−1; no discount at rank 2; ties in input order; labels from 1 are relevant; empty queries \
                 count 0.",
            &["qin2010letor"],
        ),
        make: letor,
    },
    Preset {
        card: card("mslr", "MSLR scripts", "Like letor, but labels from 2 are relevant.", &["qin2013letor4"]),
        make: || Conventions { threshold: 2.0, ..letor() },
    },
    Preset {
        card: card(
            "lightgbm",
            "LightGBM",
            "Gain 2^r−1; ties in input order; AP@k divided by min(R, k); empty queries count 1.",
            &["ke2017lightgbm"],
        ),
        make: || Conventions {
            ties: Ties::Input,
            empty: Empty::One,
            ap_divisor: ApDivisor::Min,
            ..Conventions::default()
        },
    },
    Preset {
        card: card(
            "xgboost",
            "XGBoost",
            "Like lightgbm, but scores in single precision, cut 32 if none is given, P@k divided by min(k, n), and \
                 empty queries count 0 in P.",
            &["chen2016xgboost"],
        ),
        make: || Conventions {
            ties: Ties::Input,
            scores: ScoreBits::F32,
            empty: Empty::One,
            empty_except: [("p".to_owned(), Empty::Zero)].into(),
            ap_divisor: ApDivisor::Min,
            p_divisor: PDivisor::Min,
            cut: Some(32),
            ..Conventions::default()
        },
    },
    Preset {
        card: card(
            "catboost",
            "CatBoost",
            "Linear gain; least relevant first among ties; AP@k divided by min(R, k), P@k by min(k, n); labels are \
                 probabilities in ERR; empty queries count 1 in NDCG and recall, else 0.",
            &["prokhorenkova2018catboost"],
        ),
        make: || Conventions {
            gain: Gain::Linear,
            ties: Ties::Worst,
            empty_except: ["ndcg", "recall"].map(|name| (name.to_owned(), Empty::One)).into(),
            ap_divisor: ApDivisor::Min,
            p_divisor: PDivisor::Min,
            stop: StopProbability::Grade,
            ..Conventions::default()
        },
    },
    Preset {
        card: card(
            "sklearn",
            "scikit-learn",
            "Linear gain; ties averaged, except that AP treats tied documents as seen at once; empty queries count 0.",
            &["pedregosa2011scikit"],
        ),
        make: || Conventions { gain: Gain::Linear, ap_ties: ApTies::Threshold, ..Conventions::default() },
    },
    Preset {
        card: card(
            "ranx",
            "ranx",
            "Linear gain, also in RBP; ties in input order; empty queries count 0.",
            &["bassani2022ranx"],
        ),
        make: || Conventions {
            gain: Gain::Linear,
            rbp_gain: Gain::Linear,
            ties: Ties::Input,
            ..Conventions::default()
        },
    },
    Preset {
        card: card(
            "papers",
            "Papers on structured and conditional models",
            "Binary gain and no discount at rank 2, as in the papers on structured learning for nonsmooth losses and \
                 on conditional models.",
            &["chakrabarti2008structured", "dubey2009conditional"],
        ),
        make: || Conventions { gain: Gain::Binary, discount: Discount::Letor, ..Conventions::default() },
    },
];

fn letor() -> Conventions {
    Conventions { discount: Discount::Letor, ties: Ties::Input, ..Conventions::default() }
}
