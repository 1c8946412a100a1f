//! Writes an ensemble as LightGBM's text, version 4. The base goes into the first tree, as LightGBM itself does.

use super::lightgbm::{DEFAULT_LEFT, ZERO};
use super::{Divergence, Exported, below, names, with_base_in_first};
use crate::error::Result;
use crate::models::{Ranker, TreeEnsemble};
use crate::trees::Tree;
use std::fmt::Write;

/// `decision_type` of a number's test where NaN is what is missing.
const MISSING_IS_NAN: u8 = 2 << 2;

/// The model as LightGBM's text.
pub(super) fn write(ranker: &Ranker, ensemble: &TreeEnsemble, out: &mut Exported) -> Result<Vec<u8>> {
    out.single_precision = false;
    let trees = with_base_in_first(ensemble);
    let affected = trees.iter().flat_map(|tree| &tree.thresholds).filter(|&&t| near_zero(t)).count();
    if affected > 0 {
        let beside = [((-ZERO).next_down(), -f32::from_bits(1)), (0.0, ZERO)];
        out.divergent = beside.map(|(above, up_to)| Divergence { column: None, above, up_to }).to_vec();
        out.notes.push(format!(
            "LightGBM takes values within 1e-35 of 0 as 0, and {affected} of the model's tests tell such values apart"
        ));
    }
    let blocks: Vec<String> = trees.iter().enumerate().map(|(i, tree)| block(i, tree)).collect();
    let sizes: Vec<usize> = blocks.iter().map(String::len).collect();
    let names = names_of(ranker, ensemble.width(), &mut out.notes);
    let mut text = format!(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx={}\n\
         objective=lambdarank\nfeature_names={}\nfeature_infos={}\ntree_sizes={}\n\n",
        ensemble.width() - 1,
        names.join(" "),
        infos(ranker, ensemble.width()).join(" "),
        joined(&sizes, usize::to_string),
    );
    text.extend(blocks);
    text.push_str("end of trees\n\nfeature_importances:\n");
    for (feature, count) in split_counts(&trees, ensemble.width()) {
        writeln!(text, "{}={count}", names[feature]).expect("a String takes all that is written");
    }
    text.push_str("\nparameters:\n[boosting: gbdt]\n[objective: lambdarank]\n\nend of parameters\n\npandas_categorical:null\n");
    Ok(text.into_bytes())
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
/// it when it read text.
fn infos(ranker: &Ranker, width: usize) -> Vec<&'static str> {
    let mut infos = vec!["[-inf:inf]"; width];
    if ranker.columns.names.is_none() && ranker.columns.first_id == 0 {
        infos[0] = "none";
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
    let kinds = tree.missing_left.iter().map(|&left| MISSING_IS_NAN | if left { DEFAULT_LEFT } else { 0 });
    let kinds: Vec<u8> = kinds.collect();
    let single = |x: &f32| shown(f64::from(*x));
    format!(
        "Tree={index}\nnum_leaves={}\nnum_cat=0\nsplit_feature={}\nsplit_gain={}\nthreshold={}\ndecision_type={}\n\
         left_child={}\nright_child={}\nleaf_value={}\nleaf_weight={}\nleaf_count={}\ninternal_value={}\n\
         internal_weight={}\ninternal_count={}\nis_linear=0\nshrinkage=1\n\n\n",
        tree.values.len(),
        joined(&tree.features, u32::to_string),
        joined(&tree.gains, single),
        joined(&tree.thresholds, |&t| shown(threshold(t))),
        joined(&kinds, u8::to_string),
        joined(&tree.left, i32::to_string),
        joined(&tree.right, i32::to_string),
        joined(&tree.values, |x| shown(*x)),
        joined(&tree.covers, single),
        joined(&counts, |x| count(f64::from(*x))),
        joined(&below, |b| shown(b.mean)),
        joined(&below, |b| shown(b.cover)),
        joined(&inner_counts, |b| count(b.cover)),
    )
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
    use crate::models::interchange::samples;

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
}
