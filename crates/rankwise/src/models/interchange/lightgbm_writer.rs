//! Writes an ensemble as LightGBM's text, version 4. The base goes into the first tree, as LightGBM itself does.

use super::lightgbm::{CATEGORICAL, DEFAULT_LEFT, PANDAS, ZERO};
use super::{Divergence, Exported, below, names, with_base_in_first};
use crate::error::{Error, Result};
use crate::models::{Ranker, TreeEnsemble};
use crate::trees::Tree;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// `decision_type` of a number's test where NaN is what is missing.
const MISSING_IS_NAN: u8 = 2 << 2;

/// Categories that are numbers are listed for pandas up to this one.
const MOST_LISTED: u32 = 100_000;

/// The model as LightGBM's text.
pub(super) fn write(ranker: &Ranker, ensemble: &TreeEnsemble, out: &mut Exported) -> Result<Vec<u8>> {
    out.single_precision = false;
    let trees = with_base_in_first(ensemble);
    check_missing_categories(ranker, &trees)?;
    let affected = trees.iter().flat_map(thresholds).filter(|t| near_zero(*t)).count();
    if affected > 0 {
        let beside = [((-ZERO).next_down(), -f32::from_bits(1)), (0.0, ZERO)];
        out.divergent = beside.map(|(above, up_to)| Divergence { column: None, above, up_to }).to_vec();
        out.notes.push(format!(
            "LightGBM takes values within 1e-35 of 0 as 0, and {affected} of the model's tests tell such values apart"
        ));
    }
    let blocks: Vec<String> = trees.iter().enumerate().map(|(i, tree)| block(i, tree)).collect();
    let known = known_categories(ranker, &trees);
    let sizes: Vec<usize> = blocks.iter().map(String::len).collect();
    let names = names_of(ranker, ensemble.width(), &mut out.notes);
    let mut text = format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={}\n\
         objective=lambdarank\nfeature_names={}\nfeature_infos={}\ntree_sizes={}\n\n",
        ensemble.width() - 1,
        names.join(" "),
        infos(ranker, &known, ensemble.width()).join(" "),
        joined(&sizes, usize::to_string),
    );
    text.extend(blocks);
    text.push_str("end of trees\n\nfeature_importances:\n");
    for (feature, count) in split_counts(&trees, ensemble.width()) {
        writeln!(text, "{}={count}", names[feature]).expect("a String takes all that is written");
    }
    text.push_str("\nparameters:\n[boosting: gbdt]\n[objective: lambdarank]\n\nend of parameters\n\n");
    let categories = pandas_categories(ranker, &known, &mut out.notes);
    writeln!(text, "{PANDAS}{categories}").expect("a String takes all that is written");
    Ok(text.into_bytes())
}

/// The thresholds of a tree, without those of tests of categories.
fn thresholds(tree: &Tree) -> impl Iterator<Item = f32> {
    let numbers = tree.thresholds.iter().enumerate();
    numbers.filter(|(node, _)| tree.category_set(*node).is_none()).map(|(_, &t)| t)
}

/// Rejects tests that send a missing category left: LightGBM sends it right.
fn check_missing_categories(ranker: &Ranker, trees: &[Tree]) -> Result<()> {
    for tree in trees {
        let to_left = |node: &usize| tree.category_set(*node).is_some() && tree.missing_left[*node];
        if let Some(node) = (0..tree.features.len()).find(to_left) {
            return Err(Error::model(format!(
                "LightGBM sends missing categories right, and a test of feature {} sends them left; export to ONNX instead",
                ranker.columns.name(tree.features[node] as usize)
            )));
        }
    }
    Ok(())
}

/// The categories that are known of each categorical feature: those that have texts, and those that trees test.
type KnownCategories = BTreeMap<usize, BTreeSet<u32>>;

fn known_categories(ranker: &Ranker, trees: &[Tree]) -> KnownCategories {
    let categories = &ranker.columns.categories;
    let mut known = KnownCategories::new();
    for column in categories.columns() {
        // At least one, because a feature without any would be taken for a number.
        let codes = 0..categories.texts(column).unwrap_or_default().len().max(1) as u32;
        known.entry(column).or_default().extend(codes);
    }
    for tree in trees {
        for (node, &feature) in tree.features.iter().enumerate() {
            if let Some(set) = tree.category_set(node) {
                known.entry(feature as usize).or_default().extend(set);
            }
        }
    }
    known
}

/// The categories of each feature by code, by which LightGBM finds the codes of a pandas table. Numbers are listed from
/// 0, so that each is its own code.
fn pandas_categories(ranker: &Ranker, known: &KnownCategories, notes: &mut Vec<String>) -> Value {
    let texts = |column: usize| ranker.columns.categories.texts(column).filter(|texts| !texts.is_empty());
    if !known.keys().any(|&column| texts(column).is_some()) {
        return Value::Null;
    }
    let last = |codes: &BTreeSet<u32>| codes.last().copied().unwrap_or_default();
    if known.iter().any(|(&column, codes)| texts(column).is_none() && last(codes) > MOST_LISTED) {
        notes.push(format!(
            "the file does not hold the texts of categories, because another feature has numbers above {MOST_LISTED} as \
             categories: give LightGBM the codes of categories, which are their places in the order of the texts"
        ));
        return Value::Null;
    }
    let list = |(&column, codes): (&usize, &BTreeSet<u32>)| match texts(column) {
        Some(texts) => json!(texts),
        None => json!((0..=last(codes)).collect::<Vec<u32>>()),
    };
    Value::Array(known.iter().map(list).collect())
}

/// Names that LightGBM takes: no spaces, which separate them, and none of the signs of JSON, which it refuses.
fn names_of(ranker: &Ranker, width: usize, notes: &mut Vec<String>) -> Vec<String> {
    let Some(names) = &ranker.columns.names else {
        return (0..width).map(|column| format!("Column_{column}")).collect();
    };
    let refused = |c: char| c.is_whitespace() || c.is_control() || "\",:[]{}".contains(c);
    names::without(refused, names, "LightGBM", notes)
}

/// The range of each feature, which we do not know; `none` for the first where features count from 0, as LightGBM has
/// it when it read text. Of a categorical feature, the categories that are known.
fn infos(ranker: &Ranker, known: &KnownCategories, width: usize) -> Vec<String> {
    let mut infos = vec!["[-inf:inf]".to_owned(); width];
    if ranker.columns.names.is_none() && ranker.columns.first_id == 0 {
        infos[0] = "none".into();
    }
    for (&column, codes) in known {
        infos[column] = codes.iter().map(u32::to_string).collect::<Vec<_>>().join(":");
    }
    infos
}

/// How often each feature is tested, those that are, most often first.
fn split_counts(trees: &[Tree], width: usize) -> Vec<(usize, usize)> {
    let mut counts = vec![0; width];
    trees.iter().flat_map(|tree| &tree.features).for_each(|&feature| counts[feature as usize] += 1);
    let mut used: Vec<(usize, usize)> =
        counts.into_iter().enumerate().filter(|(_, count)| *count > 0).collect();
    used.sort_by_key(|&(_, count)| std::cmp::Reverse(count));
    used
}

fn block(index: usize, tree: &Tree) -> String {
    let (below, counts) = (below(tree), counts(tree));
    let inner_counts = super::below(&Tree { covers: counts.clone(), ..tree.clone() });
    let kind = |node: usize| match (tree.category_set(node), tree.missing_left[node]) {
        (Some(_), _) => MISSING_IS_NAN | CATEGORICAL,
        (None, true) => MISSING_IS_NAN | DEFAULT_LEFT,
        (None, false) => MISSING_IS_NAN,
    };
    let kinds: Vec<u8> = (0..tree.features.len()).map(kind).collect();
    let sets = CategorySets::of(tree);
    let single = |x: &f32| shown(f64::from(*x));
    format!(
        "Tree={index}\nnum_leaves={}\nnum_cat={}\nsplit_feature={}\nsplit_gain={}\nthreshold={}\ndecision_type={}\n\
         left_child={}\nright_child={}\nleaf_value={}\nleaf_weight={}\nleaf_count={}\ninternal_value={}\n\
         internal_weight={}\ninternal_count={}\n{}is_linear=0\nshrinkage=1\n\n\n",
        tree.values.len(),
        sets.starts.len() - 1,
        joined(&tree.features, u32::to_string),
        joined(&tree.gains, single),
        joined(&sets.thresholds, |t| shown(*t)),
        joined(&kinds, u8::to_string),
        joined(&tree.left, i32::to_string),
        joined(&tree.right, i32::to_string),
        joined(&tree.values, |x| shown(*x)),
        joined(&tree.covers, single),
        joined(&counts, |x| count(f64::from(*x))),
        joined(&below, |b| shown(b.mean)),
        joined(&below, |b| shown(b.cover)),
        joined(&inner_counts, |b| count(b.cover)),
        sets.lines(),
    )
}

/// The sets of categories of a tree, as bits, and the thresholds, which are numbers of sets where categories are tested.
struct CategorySets {
    thresholds: Vec<f64>,
    starts: Vec<usize>,
    words: Vec<u32>,
}

impl CategorySets {
    fn of(tree: &Tree) -> CategorySets {
        let mut sets = CategorySets { thresholds: Vec::new(), starts: vec![0], words: Vec::new() };
        for node in 0..tree.features.len() {
            let Some(set) = tree.category_set(node) else {
                sets.thresholds.push(threshold(tree.thresholds[node]));
                continue;
            };
            sets.thresholds.push((sets.starts.len() - 1) as f64);
            let begin = sets.words.len();
            for &code in set {
                let word = begin + code as usize / 32;
                sets.words.resize(sets.words.len().max(word + 1), 0);
                sets.words[word] |= 1 << (code % 32);
            }
            sets.starts.push(sets.words.len());
        }
        sets
    }

    /// Nothing if there are no sets.
    fn lines(&self) -> String {
        if self.words.is_empty() {
            return String::new();
        }
        let starts = joined(&self.starts, usize::to_string);
        format!("cat_boundaries={starts}\ncat_threshold={}\n", joined(&self.words, u32::to_string))
    }
}

fn joined<T>(items: &[T], show: impl Fn(&T) -> String) -> String {
    items.iter().map(show).collect::<Vec<_>>().join(" ")
}

/// Whether LightGBM takes a threshold for 0.
fn near_zero(t: f32) -> bool {
    (-ZERO..ZERO).contains(&t)
}

/// The largest 64-bit number that becomes at most `t` in 32 bits: values in 64 bits then go where those rounded to 32 bits
/// do. Halfway to the next 32-bit number, rounding goes to the one that is even. Around 0, where LightGBM takes all for
/// one, and at the end it stays.
fn threshold(t: f32) -> f64 {
    let next = t.next_up();
    if near_zero(t) || !next.is_finite() {
        return t.into();
    }
    let halfway = f64::midpoint(t.into(), next.into());
    if halfway as f32 == t { halfway } else { halfway.next_down() }
}

/// The shortest decimal that is read back as the same number.
fn shown(x: f64) -> String {
    if x.is_finite() { zmij::Buffer::new().format_finite(x).to_string() } else { x.to_string() }
}

/// The documents of each leaf. LightGBM wants whole numbers and divides by them, so covers that are weights become
/// shares of a million documents, none of them 0.
fn counts(tree: &Tree) -> Vec<f32> {
    if tree.covers.iter().all(|cover| cover.fract() == 0.0) {
        return tree.covers.clone();
    }
    let total: f64 = tree.covers.iter().map(|&cover| f64::from(cover)).sum();
    tree.covers.iter().map(|&cover| (f64::from(cover) / total * 1e6).ceil() as f32).collect()
}

/// A number of documents: LightGBM's fit 32 bits.
fn count(cover: f64) -> String {
    (cover.round() as i32).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::Model;
    use crate::models::interchange::{Format, export, samples};

    /// 16777219 lies halfway between 16777218 and 16777220, and becomes the latter, whose last bit is 0.
    #[test]
    fn values_in_double_precision_go_where_rounded_ones_do() {
        let tiny = f32::MIN_POSITIVE;
        let mut thresholds =
            vec![16_777_216.0, 16_777_218.0, 16_777_220.0, 0.1, -0.1, 1.0, -1.0, tiny, f32::MIN];
        thresholds.extend((0..64).map(|i| 1.0 + i as f32 * f32::EPSILON));
        for t in thresholds.into_iter().flat_map(|t| [t, t.next_up(), t.next_down(), -t]) {
            if near_zero(t) || !t.is_finite() || !t.next_up().is_finite() {
                continue;
            }
            let halfway = f64::midpoint(t.into(), t.next_up().into());
            for x in [t.into(), halfway.next_down(), halfway, halfway.next_up(), t.next_up().into()] {
                assert_eq!(x <= threshold(t), x as f32 <= t, "{x:e} against {t:e}");
            }
        }
        assert!(16_777_219.0 > threshold(16_777_218.0));
    }

    #[test]
    fn covers_become_whole_numbers_of_documents() {
        assert_eq!(counts(&samples::tree()), [5.0, 3.0, 2.0]);
        let weighted = Tree { covers: vec![0.25, 0.75, 1e-9], ..samples::tree() };
        assert_eq!(counts(&weighted), [250_000.0, 750_000.0, 1.0]);
        let text = block(0, &weighted);
        assert!(text.contains("\nleaf_count=250000 750000 1\n"), "{text}");
        assert!(text.contains("\ninternal_count=1000001 750001\n"), "{text}");
        assert!(text.contains("\nleaf_value=10.0 20.0 30.0\n"), "{text}");
    }

    #[test]
    fn categories_are_sets_of_bits_and_lists_for_pandas() {
        let ranker = samples::ranker_of_categories();
        let mut out = export(&ranker, Format::LightGbm).unwrap();
        let text = String::from_utf8(std::mem::take(&mut out.bytes)).unwrap();
        // Codes 0 and 2 are one word, 5 and up to 200,000 are words 1 to 6,251.
        assert!(text.contains("\nnum_cat=2\n") && text.contains("\ncat_boundaries=0 1 6252\n"), "{text}");
        assert!(text.contains("\ncat_threshold=5 32 2 0 0 "), "{text}");
        assert!(text.contains("\nthreshold=0.0 1.0\n") && text.contains("\ndecision_type=9 9\n"), "{text}");
        assert!(text.contains("feature_infos=0:1:2 [-inf:inf] 0:5:33:200000\n"), "{text}");
        // The numbers are too large to list.
        assert!(text.ends_with("pandas_categorical:null\n"));
        assert!(
            out.notes.iter().any(|note| note.contains("does not hold the texts of categories")),
            "{:?}",
            out.notes
        );
        let mut few = ranker.clone();
        let Model::Trees(ensemble) = &few.model else { panic!() };
        let mut trees = ensemble.trees().to_vec();
        trees[0].categories[1] = vec![1, 3];
        few.model = Model::Trees(TreeEnsemble::sum(3, 0.5, trees.clone()).unwrap());
        let text = few_text(&few);
        assert!(text.ends_with("pandas_categorical:[[\"a\",\"b\",\"é \\\"\"],[0,1,2,3]]\n"), "{text}");
        trees[0].missing_left[1] = true;
        few.model = Model::Trees(TreeEnsemble::sum(3, 0.5, trees).unwrap());
        let format = Format::LightGbm;
        let refusal = export(&few, format).unwrap_err().to_string();
        assert!(refusal.contains("a test of feature shop sends them left"), "{refusal}");
    }

    fn few_text(ranker: &Ranker) -> String {
        let format = Format::LightGbm;
        String::from_utf8(export(ranker, format).unwrap().bytes).unwrap()
    }
}
