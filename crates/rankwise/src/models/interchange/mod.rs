//! Model files of other tools: reading them, and writing models to score elsewhere.
//!
//! [`Ranker::load`] knows the files of LightGBM (text), XGBoost (JSON, UBJSON), CatBoost (JSON) and RankLib by their
//! content; [`export`] writes those of LightGBM, XGBoost, RankLib, ONNX, Elasticsearch, OpenSearch and Solr. What a file cannot hold is
//! an error or a note, and never dropped silently. [`Vectors`] hold the scores that an exported model must give, and
//! [`replay`] computes those that a file gives.

mod catboost;
mod document;
mod elastic;
mod foreign;
mod forest;
mod format;
#[cfg(test)]
mod fuzz;
mod lightgbm;
mod lightgbm_writer;
mod loose;
mod names;
mod nested;
mod onnx;
mod onnx_writer;
mod ranklib;
mod ranklib_linear;
mod ranklib_models;
mod ranklib_reader;
mod replay;
#[cfg(test)]
mod samples;
mod solr;
mod solr_reader;
mod solr_slack;
mod ubjson;
mod vectors;
mod xgboost;
mod xgboost_writer;

use super::{Model, NeuralNetwork, Numbering, Ranker, TreeEnsemble};
use crate::error::{Error, Result};
use crate::trees::{Child, Tree};

use elastic::Plugin;
pub(super) use foreign::plain;
pub use format::{Format, Upload};
use names::unique_names;
pub(super) use onnx_writer::OnnxGraph;
pub use replay::replay;
pub(super) use vectors::TrialValues;
pub use vectors::{Vectors, Verdict, synthetic_rows};

/// A model in the bytes of another tool's file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Exported {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// How the scores of the file may differ from those of the model, and what the file does not hold.
    pub notes: Vec<String>,
    /// The bias that the file has no place for, and that its scores lack.
    pub omitted_bias: f64,
    /// Whether the file treats missing values as 0 and the model does not.
    pub missing_as_zero: bool,
    /// Whether it scores in single precision.
    pub single_precision: bool,
    /// Values that the file sends another way than the model; the notes describe them.
    pub divergent: Vec<Divergence>,
}

/// Values `above < x ≤ up_to` of a feature.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Divergence {
    /// The feature's column; every column where it is not given.
    pub column: Option<usize>,
    /// Values are above this,
    pub above: f32,
    /// and at most this.
    pub up_to: f32,
}

/// Models of more features are not exported: files name features one by one, and test vectors have all of them.
const MOST_EXPORTED: usize = 1 << 20;

/// The model as a file of `format`, named after its learner where the file holds a name.
pub fn export(ranker: &Ranker, format: Format) -> Result<Exported> {
    write(ranker, format, &ranker.learner.name)
}

/// The model as a file of `format` that holds `name`: search engines store the model under it.
pub fn export_named(ranker: &Ranker, format: Format, name: &str) -> Result<Exported> {
    if !format.has_name() {
        return Err(Error::parameter(format!(
            "files in the format {} hold no name of the model",
            format.name()
        )));
    }
    if name.trim() != name || name.is_empty() || name.contains(char::is_control) {
        return Err(Error::parameter(format!(
            "{} cannot name a model: a name has at least one character, no control characters, and no blanks around it",
            foreign::quoted(name)
        )));
    }
    write(ranker, format, name)
}

fn write(ranker: &Ranker, format: Format, name: &str) -> Result<Exported> {
    let mut out = Exported {
        bytes: Vec::new(),
        notes: Vec::new(),
        omitted_bias: 0.0,
        missing_as_zero: false,
        single_precision: true,
        divergent: Vec::new(),
    };
    if format != Format::Rankwise {
        let width = ranker.model.width();
        if width > MOST_EXPORTED {
            return Err(Error::model(format!(
                "the model has {width} features, and models of more than {MOST_EXPORTED} cannot be exported"
            )));
        }
        out.notes = scaling_note(ranker);
    }
    if !matches!(format, Format::Rankwise | Format::LightGbm | Format::Onnx) {
        check_no_categories(ranker, format)?;
    }
    if ranker.numbering == Numbering::Undecided && !format.is_positional() {
        return Err(Error::model(format!(
            "{} knows features by number, and the model has columns without names, whose first may be feature 0 or \
             feature 1; state the number of the model's first feature",
            format.name()
        )));
    }
    out.bytes = match format {
        Format::Rankwise => {
            out.single_precision = false;
            ranker.to_bytes()
        }
        Format::LightGbm => lightgbm_writer::write(ranker, ranker.model.shape().sum_of_trees()?, &mut out)?,
        Format::XgBoost => {
            xgboost_writer::document(ranker, ranker.model.shape().sum_of_trees()?, &mut out.notes)?.to_json()
        }
        Format::XgBoostUbj => {
            xgboost_writer::document(ranker, ranker.model.shape().sum_of_trees()?, &mut out.notes)?
                .to_ubjson()
        }
        Format::RankLib => ranklib::write(ranker, &mut out)?,
        Format::Onnx => onnx_writer::write(ranker, name, &mut out)?,
        Format::Elasticsearch => elastic::write(ranker, name, Plugin::Elasticsearch, &mut out)?,
        Format::OpenSearch => elastic::write(ranker, name, Plugin::OpenSearch, &mut out)?,
        Format::ElasticsearchRankLib | Format::OpenSearchRankLib => {
            elastic::write_ranklib(ranker, name, &mut out)?
        }
        Format::Solr => solr::write(ranker, name, &mut out)?,
    };
    Ok(out)
}

/// Reads the model of another tool; `None` where the bytes do not look like one.
pub(super) fn read(bytes: &[u8]) -> Option<Result<Ranker>> {
    if lightgbm::looks_like(bytes) {
        Some(lightgbm::read(bytes))
    } else if ubjson::looks_like(bytes) {
        Some(xgboost::read_ubjson(bytes))
    } else if ranklib_models::looks_like(bytes) {
        Some(ranklib_models::read(bytes))
    } else if first_key_is_format(bytes) {
        None
    } else if xgboost::looks_like_json(bytes) {
        Some(xgboost::read_json(bytes))
    } else if catboost::looks_like(bytes) {
        Some(catboost::read(bytes))
    } else {
        None
    }
}

/// Our own files begin so, and are not parsed to find out what they are.
fn first_key_is_format(bytes: &[u8]) -> bool {
    let key = bytes.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    key.is_some_and(|rest| rest.starts_with(b"\"format\""))
}

/// Rejects tests of categories, for formats that hold only tests of numbers.
fn check_no_categories(ranker: &Ranker, format: Format) -> Result<()> {
    let Model::Trees(ensemble) = &ranker.model else { return Ok(()) };
    let tested = |tree: &Tree| {
        let node = (0..tree.features.len()).find(|&node| tree.category_set(node).is_some())?;
        Some(tree.features[node] as usize)
    };
    match ensemble.trees().iter().find_map(tested) {
        Some(column) => Err(Error::model(format!(
            "the model tests categories of feature {}, and {} is written with tests of numbers only: export to LightGBM or \
             ONNX, or train on a feature of 0 and 1 for each category",
            ranker.columns.name(column),
            format.name()
        ))),
        None => Ok(()),
    }
}

fn scaling_note(ranker: &Ranker) -> Vec<String> {
    let note = |scaling: &crate::data::Normalizer| {
        format!(
            "the model scales the features of each query by {scaling} before it scores them, and that scaling is not \
             in the file: give the other tool data that is scaled alike"
        )
    };
    ranker.normalizer.iter().map(note).collect()
}

/// A model as search engines have it.
pub(super) enum EngineModel<'a> {
    Linear { weights: &'a [f64], bias: f64 },
    Trees(&'a TreeEnsemble),
    Network(&'a NeuralNetwork),
}

fn no_place_for_networks() -> Error {
    Error::model(
        "the model is a neural network, and this format holds weights or sums of trees; export it to ONNX or for Solr \
         instead",
    )
}

/// The trees with the base added to the values of the first, for files that have no place for it. The sum of a
/// document is the same to the last bit, since it begins with base + first value either way.
fn with_base_in_first(ensemble: &TreeEnsemble) -> Vec<Tree> {
    let (base, mut trees) = (ensemble.base()[0], ensemble.trees().to_vec());
    match trees.first_mut() {
        Some(first) => first.values.iter_mut().for_each(|value| *value += base),
        None => trees.push(Tree::constant(base, 0.0)),
    }
    trees
}

/// Rejects values that single precision cannot hold, and notes that `tool` computes in it.
fn in_single<'a>(
    tool: &str,
    values: impl IntoIterator<Item = &'a f64>,
    notes: &mut Vec<String>,
) -> Result<()> {
    if let Some(large) = values.into_iter().find(|value| !(**value as f32).is_finite()) {
        return Err(Error::model(format!(
            "{tool} keeps values in single precision, and {large} is too large"
        )));
    }
    notes.push(format!("{tool} computes in single precision: scores agree to about six digits"));
    Ok(())
}

/// Leaves out a bias that a file has no place for, and notes it.
fn leave_out_bias(tool: &str, bias: f64, out: &mut Exported) {
    if bias != 0.0 {
        out.omitted_bias = bias;
        out.notes.push(format!(
            "{tool} has no place for the model's bias of {bias}: scores lack it, and keep their order"
        ));
    }
}

/// How many tests send missing values another way than 0.
fn missing_unlike_zero(trees: &[Tree]) -> usize {
    let unlike = |tree: &Tree| {
        tree.thresholds.iter().zip(&tree.missing_left).filter(|(t, left)| (0.0 <= **t) != **left).count()
    };
    trees.iter().map(unlike).sum()
}

/// What the leaves below an inner node have in total.
struct Below {
    cover: f64,
    /// The mean of the leaf values, weighted by cover; of equal weights where no cover is known.
    mean: f64,
}

/// For each inner node of a tree, what is below it.
fn below(tree: &Tree) -> Vec<Below> {
    let known = tree.covers.iter().any(|&cover| cover > 0.0);
    let weight = |leaf: usize| if known { f64::from(tree.covers[leaf]) } else { 1.0 };
    // Children come after their parents, so the way back meets them first.
    let mut sums = vec![(0.0, 0.0); tree.features.len()];
    for node in (0..sums.len()).rev() {
        for code in [tree.left[node], tree.right[node]] {
            let (cover, total) = match Child::of(code) {
                Child::Node(child) => sums[child],
                Child::Leaf(leaf) => (weight(leaf), weight(leaf) * tree.values[leaf]),
            };
            sums[node] = (sums[node].0 + cover, sums[node].1 + total);
        }
    }
    let summed = |(cover, total): (f64, f64)| Below {
        cover: if known { cover } else { 0.0 },
        mean: if cover > 0.0 { total / cover } else { 0.0 },
    };
    sums.into_iter().map(summed).collect()
}

#[cfg(test)]
mod tests {
    use super::samples::ranker;
    use super::*;
    use crate::models::{Combine, Model};

    #[test]
    fn what_a_file_cannot_hold_is_an_error_or_a_note() {
        let mut linear = ranker();
        linear.model = Model::linear(vec![1.0; 3], 0.0);
        let mut several = ranker();
        let ordinal = Combine::Ordinal { grades: vec![0.0, 1.0] };
        several.model = Model::Trees(TreeEnsemble::new(3, vec![0.0], ordinal, vec![]).unwrap());
        let mut scaled = ranker();
        scaled.normalizer = Some(crate::data::Normalizer::parse("min-max").unwrap());
        for format in Format::ALL.into_iter().filter(|f| *f != Format::Rankwise) {
            let answer = |ranker| export(ranker, format).map_or_else(|e| e.to_string(), |_| "done".into());
            let only_trees = [
                Format::LightGbm,
                Format::XgBoost,
                Format::XgBoostUbj,
                Format::ElasticsearchRankLib,
                Format::OpenSearchRankLib,
            ];
            let wanted = if only_trees.contains(&format) { "no trees" } else { "done" };
            assert!(answer(&linear).contains(wanted), "{format:?}");
            assert!(answer(&several).contains(if format == Format::Onnx {
                "done"
            } else {
                "several outputs"
            }));
            assert!(export(&scaled, format).unwrap().notes[0].contains("min-max"));
        }
        assert_eq!(export(&scaled, Format::Rankwise).unwrap().bytes, scaled.to_bytes());
    }

    #[test]
    fn a_name_is_stored_where_the_file_has_one() {
        for format in Format::ALL {
            match export_named(&ranker(), format, "films \"2\"") {
                Ok(named) if format.has_name() => {
                    let text = String::from_utf8_lossy(&named.bytes).into_owned();
                    assert!(
                        text.contains("films \"2\"") || text.contains("films \\\"2\\\""),
                        "{format:?}: {text}"
                    );
                }
                Err(error) if !format.has_name() => assert!(error.to_string().contains("hold no name")),
                other => panic!("{format:?}: {other:?}"),
            }
        }
        for name in ["", " a", "a\n"] {
            let refusal = export_named(&ranker(), Format::Solr, name).unwrap_err().to_string();
            assert!(refusal.contains("cannot name a model") && !refusal.contains('\n'), "{refusal}");
        }
    }

    /// Leaves 10, 20, 30 with covers 5, 3, 2; the right child of the root holds the last two.
    #[test]
    fn inner_nodes_sum_up_what_is_below() {
        let sums = below(&samples::tree());
        assert_eq!((sums[0].cover, sums[0].mean), (10.0, 17.0));
        assert_eq!((sums[1].cover, sums[1].mean), (5.0, 24.0));
    }
}
