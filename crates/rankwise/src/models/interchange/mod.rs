//! Tree ensembles of other tools: read as our own, and written for those who score elsewhere.
//!
//! [`Ranker::load`] knows the files of LightGBM (text) and XGBoost (JSON, UBJSON) by their first bytes;
//! [`export`] writes them, and RankLib's. What a file cannot say is refused or told in a note, never dropped.

mod document;
mod foreign;
#[cfg(test)]
mod fuzz;
mod lightgbm;
mod lightgbm_writer;
mod loose;
mod ranklib;
#[cfg(test)]
mod samples;
mod ubjson;
mod xgboost;
mod xgboost_writer;

use super::{Combine, Ensemble, Model, Ranker};
use crate::card;
use crate::error::{Error, Result};
use crate::trees::{Child, Tree};
use std::path::Path;

/// The file formats of ensembles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Our own, as [`Ranker::save`] writes it.
    Rankwise,
    /// LightGBM's text model, version 4.
    LightGbm,
    /// XGBoost's JSON model.
    XgBoost,
    /// XGBoost's UBJSON model.
    XgBoostUbj,
    /// RankLib's LambdaMART.
    RankLib,
}

/// A model in the bytes of another tool's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exported {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Where the file may score otherwise than the model, and what it could not take along.
    pub notes: Vec<String>,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] =
        [Format::Rankwise, Format::LightGbm, Format::XgBoost, Format::XgBoostUbj, Format::RankLib];

    /// Its name, as typed.
    pub fn name(self) -> &'static str {
        match self {
            Format::Rankwise => "rankwise",
            Format::LightGbm => "lightgbm",
            Format::XgBoost => "xgboost",
            Format::XgBoostUbj => "xgboost-ubj",
            Format::RankLib => "ranklib",
        }
    }

    /// The format called `name`.
    pub fn parse(name: &str) -> Result<Format> {
        let known = Format::ALL.map(Format::name);
        Format::ALL
            .into_iter()
            .find(|f| f.name() == name)
            .ok_or_else(|| card::unknown("model format", name, &known))
    }

    /// The format that the ending of `path` stands for: `.txt`, `.ubj` or `.xml`, and then maybe `.gz` or `.zst`.
    /// A `.json` may be ours or XGBoost's, so it has to be said which.
    pub fn of_path(path: &Path) -> Result<Format> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("txt") => Ok(Format::LightGbm),
            Some("ubj") => Ok(Format::XgBoostUbj),
            Some("xml") => Ok(Format::RankLib),
            Some("json") => Err(Error::parameter(format!(
                "{} may be a model of rankwise or of xgboost: say which format it is to have",
                path.display()
            ))),
            _ => Err(Error::parameter(format!(
                "the ending of {} does not say which format it is to have: {}",
                path.display(),
                Format::ALL.map(Format::name).join(", ")
            ))),
        }
    }
}

/// The model as a file of `format`.
pub fn export(ranker: &Ranker, format: Format) -> Result<Exported> {
    let mut notes = scaling_note(ranker);
    let bytes = match format {
        Format::Rankwise => return Ok(Exported { bytes: ranker.to_bytes(), notes: Vec::new() }),
        Format::LightGbm => lightgbm_writer::write(ranker, sum_of_trees(ranker)?, &mut notes)?,
        Format::XgBoost => xgboost_writer::document(ranker, sum_of_trees(ranker)?, &mut notes)?.to_json(),
        Format::XgBoostUbj => {
            xgboost_writer::document(ranker, sum_of_trees(ranker)?, &mut notes)?.to_ubjson()
        }
        Format::RankLib => ranklib::write(ranker, sum_of_trees(ranker)?, &mut notes)?,
    };
    Ok(Exported { bytes, notes })
}

/// Reads the model of another tool; `None` where the bytes do not look like one.
pub(super) fn read(bytes: &[u8]) -> Option<Result<Ranker>> {
    if lightgbm::looks_like(bytes) {
        Some(lightgbm::read(bytes))
    } else if ubjson::looks_like(bytes) {
        Some(xgboost::read_ubjson(bytes))
    } else if xgboost::looks_like_json(bytes) {
        Some(xgboost::read_json(bytes))
    } else {
        None
    }
}

fn scaling_note(ranker: &Ranker) -> Vec<String> {
    let told = |scaling: &crate::data::Normalizer| {
        format!(
            "the model scales the features of each query by {scaling} before it scores them, and that scaling is not \
             in the file: give the other tool data that is scaled alike"
        )
    };
    ranker.normalizer.iter().map(told).collect()
}

/// The one shape that the other tools have, too.
fn sum_of_trees(ranker: &Ranker) -> Result<&Ensemble> {
    match &ranker.model {
        Model::Ensemble(ensemble) if *ensemble.combine() == Combine::Sum => Ok(ensemble),
        Model::Ensemble(_) => Err(Error::model(
            "the model combines several outputs into a score, and the other tools' files hold sums of trees alone",
        )),
        _ => Err(Error::model("the model has no trees, and the other tools' files hold sums of trees alone")),
    }
}

/// The trees with the base added to the values of the first, for files that have no place for it. The sum of a
/// document is the same to the last bit, since it begins with base + first value either way.
fn with_base_in_first(ensemble: &Ensemble) -> Vec<Tree> {
    let (base, mut trees) = (ensemble.base()[0], ensemble.trees().to_vec());
    match trees.first_mut() {
        Some(first) => first.values.iter_mut().for_each(|value| *value += base),
        None => trees.push(Tree::constant(base, 0.0)),
    }
    trees
}

/// What the leaves below each inner node have together.
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

    #[test]
    fn formats_are_known_by_name_and_ending() {
        for format in Format::ALL {
            assert_eq!(Format::parse(format.name()).unwrap(), format);
        }
        assert!(Format::parse("lightgmb").unwrap_err().to_string().contains("`lightgbm`"));
        let of = |name: &str| Format::of_path(Path::new(name));
        assert_eq!(of("a/m.txt").unwrap(), Format::LightGbm);
        assert_eq!(of("m.UBJ.zst").unwrap(), Format::XgBoostUbj);
        assert_eq!(of("m.xml.gz").unwrap(), Format::RankLib);
        assert!(of("m.json").unwrap_err().to_string().contains("rankwise or of xgboost"));
        assert!(of("txt").unwrap_err().to_string().contains("does not say"));
    }

    #[test]
    fn what_no_file_can_say_is_refused_or_told() {
        let mut linear = ranker();
        linear.model = Model::Linear { weights: vec![1.0; 3], bias: 0.0 };
        let mut several = ranker();
        let ordinal = Combine::Ordinal { grades: vec![0.0, 1.0] };
        several.model = Model::Ensemble(Ensemble::new(3, vec![0.0], ordinal, vec![]).unwrap());
        let mut scaled = ranker();
        scaled.normalizer = Some(crate::data::Normalizer::parse("min-max").unwrap());
        for format in Format::ALL.into_iter().filter(|f| *f != Format::Rankwise) {
            let refusal = |ranker| export(ranker, format).unwrap_err().to_string();
            assert!(refusal(&linear).contains("no trees"));
            assert!(refusal(&several).contains("several outputs"));
            assert!(export(&scaled, format).unwrap().notes[0].contains("min-max"));
        }
        assert_eq!(export(&scaled, Format::Rankwise).unwrap().bytes, scaled.to_bytes());
    }

    /// Leaves 10, 20, 30 with covers 5, 3, 2; the right child of the root holds the last two.
    #[test]
    fn inner_nodes_sum_up_what_is_below() {
        let sums = below(&samples::tree());
        assert_eq!((sums[0].cover, sums[0].mean), (10.0, 17.0));
        assert_eq!((sums[1].cover, sums[1].mean), (5.0, 24.0));
    }
}
