//! Specifications as people write them, and damaged ones.

use super::*;
use crate::data::files::fuzz::{cases, damaged};
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
    let (mut accepted, mut refused) = (0_u64, 0_u64);
    for case in 0..cases(20_000) {
        let seed = seeds[case as usize % seeds.len()].as_bytes();
        let bytes = damaged(seed, pieces, &mut random);
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
