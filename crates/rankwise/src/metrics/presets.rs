//! Presets: the conventions of other tools, so that their figures can be had to the last digit.

use super::conventions::{ApDivisor, ApTies, Conventions, Discount, Empty, Gain, PDivisor, Stop};
use crate::card::{self, Card};
use crate::error::Result;
use crate::rank::{ScoreBits, Ties};
use serde::Serialize;

/// Named conventions.
#[derive(Serialize)]
pub struct Preset {
    /// Name, tool, what sets it apart.
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

/// Every preset there is.
pub static PRESETS: &[Preset] = &[
    Preset {
        card: card(
            "default",
            "Rankwise",
            "Gain 2^r−1, discount 1/log2(1+rank), exact expectation over ties, queries without relevant \
                 documents count 0.",
            &[],
        ),
        make: Conventions::default,
    },
    Preset {
        card: card(
            "trec",
            "trec_eval",
            "Linear gain; scores compared in single precision, ties by descending document id; empty \
                 queries count 0.",
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
            "Gain 2^r−1, no discount at rank 2, ties in input order; grade 1 is relevant; empty queries \
                 count 0.",
            &["qin2010letor"],
        ),
        make: letor,
    },
    Preset {
        card: card(
            "mslr",
            "MSLR scripts",
            "As letor, with grade 2 the least that is relevant.",
            &["qin2013letor4"],
        ),
        make: || Conventions { threshold: 2.0, ..letor() },
    },
    Preset {
        card: card(
            "lightgbm",
            "LightGBM",
            "Gain 2^r−1, ties in input order, AP@k divided by min(R,k); empty queries count 1.",
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
            "As lightgbm, with scores in single precision and a cut at 32 where none is given; P divides \
                 by min(k,n) and counts empty queries 0.",
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
            "Linear gain, least relevant first among ties, AP@k divided by min(R,k), P by min(k,n); ERR \
                 reads grades as probabilities; empty queries count 1 in NDCG and recall, else 0.",
            &["prokhorenkova2018catboost"],
        ),
        make: || Conventions {
            gain: Gain::Linear,
            ties: Ties::Worst,
            empty_except: ["ndcg", "recall"].map(|name| (name.to_owned(), Empty::One)).into(),
            ap_divisor: ApDivisor::Min,
            p_divisor: PDivisor::Min,
            stop: Stop::Grade,
            ..Conventions::default()
        },
    },
    Preset {
        card: card(
            "sklearn",
            "scikit-learn",
            "Linear gain; ties averaged, except that AP sees tied documents all at once; empty queries \
                 count 0.",
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
            "Structured and conditional learning papers",
            "Binary gain and no discount at rank 2, as in the papers on structured learning for nonsmooth \
                  losses and on conditional models.",
            &["chakrabarti2008structured", "dubey2009conditional"],
        ),
        make: || Conventions { gain: Gain::Binary, discount: Discount::Letor, ..Conventions::default() },
    },
];

fn letor() -> Conventions {
    Conventions { discount: Discount::Letor, ties: Ties::Input, ..Conventions::default() }
}
