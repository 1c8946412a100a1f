//! The formats that models are written in, by name, by ending and by what is in a file.

use super::{lightgbm, ranklib_models, ubjson};
use crate::card;
use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::path::Path;

/// The file formats of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Our own, as [`Ranker::save`](crate::models::Ranker::save) writes it.
    Rankwise,
    /// LightGBM's text model, version 4.
    LightGbm,
    /// XGBoost's JSON model.
    XgBoost,
    /// XGBoost's UBJSON model.
    XgBoostUbj,
    /// RankLib's LambdaMART, or its linear regression.
    RankLib,
    /// ONNX, for any runtime of it.
    Onnx,
    /// What `_createmodel` of Elasticsearch's learning-to-rank plugin takes: `model/linear`, or trees as
    /// `model/xgboost+json`.
    Elasticsearch,
    /// The same, with trees as `model/ranklib`.
    ElasticsearchRankLib,
    /// What `_createmodel` of OpenSearch's learning-to-rank plugin takes: the same files as Elasticsearch's.
    OpenSearch,
    /// The same, with trees as `model/ranklib`.
    OpenSearchRankLib,
    /// A model of Solr's learning to rank: `LinearModel`, `MultipleAdditiveTreesModel` or `NeuralNetworkModel`.
    Solr,
}

/// The request that stores an exported model in its search engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upload {
    /// The engine, whose address the path follows.
    pub engine: &'static str,
    /// The HTTP method.
    pub method: &'static str,
    /// The path, with what users have to fill in in capital letters.
    pub path: &'static str,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 11] = [
        Format::Rankwise,
        Format::LightGbm,
        Format::XgBoost,
        Format::XgBoostUbj,
        Format::RankLib,
        Format::Onnx,
        Format::Elasticsearch,
        Format::ElasticsearchRankLib,
        Format::OpenSearch,
        Format::OpenSearchRankLib,
        Format::Solr,
    ];

    /// Its name, as typed.
    pub fn name(self) -> &'static str {
        match self {
            Format::Rankwise => "rankwise",
            Format::LightGbm => "lightgbm",
            Format::XgBoost => "xgboost",
            Format::XgBoostUbj => "xgboost-ubj",
            Format::RankLib => "ranklib",
            Format::Onnx => "onnx",
            Format::Elasticsearch => "elasticsearch",
            Format::ElasticsearchRankLib => "elasticsearch-ranklib",
            Format::OpenSearch => "opensearch",
            Format::OpenSearchRankLib => "opensearch-ranklib",
            Format::Solr => "solr",
        }
    }

    /// The request that stores a file of this format in its search engine; `None` if it is not for one. The body is the
    /// file, as `application/json`.
    pub fn upload(self) -> Option<Upload> {
        const CREATE: &str = "_ltr/_featureset/FEATURE_SET/_createmodel";
        let (engine, method, path) = match self {
            Format::Elasticsearch | Format::ElasticsearchRankLib => ("Elasticsearch", "POST", CREATE),
            Format::OpenSearch | Format::OpenSearchRankLib => ("OpenSearch", "POST", CREATE),
            Format::Solr => ("Solr", "PUT", "solr/COLLECTION/schema/model-store"),
            _ => return None,
        };
        Some(Upload { engine, method, path })
    }

    /// Whether files of this format hold a name of the model.
    pub fn has_name(self) -> bool {
        self.upload().is_some() || self == Format::Onnx
    }

    /// Whether it knows features without names by their place, and not by a number.
    pub(super) fn is_positional(self) -> bool {
        use Format::{LightGbm, Onnx, Rankwise, XgBoost, XgBoostUbj};
        matches!(self, Rankwise | LightGbm | XgBoost | XgBoostUbj | Onnx)
    }

    /// The format called `name`.
    pub fn parse(name: &str) -> Result<Format> {
        let known = Format::ALL.map(Format::name);
        Format::ALL
            .into_iter()
            .find(|f| f.name() == name)
            .ok_or_else(|| card::unknown("model format", name, &known))
    }

    /// The format that the ending of `path` stands for: `.txt`, `.ubj`, `.xml` or `.onnx`, and then maybe `.gz` or
    /// `.zst`. A `.json` may be one of several, so it has to be said which.
    pub fn of_path(path: &Path) -> Result<Format> {
        let name = path.to_string_lossy().to_ascii_lowercase();
        let name = name.trim_end_matches(".gz").trim_end_matches(".zst");
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("txt") => Ok(Format::LightGbm),
            Some("ubj") => Ok(Format::XgBoostUbj),
            Some("xml") => Ok(Format::RankLib),
            Some("onnx") => Ok(Format::Onnx),
            Some("json") => Err(Error::parameter(format!(
                "{} may be a model of rankwise or of xgboost, or one for elasticsearch, opensearch or solr: name the \
                 format",
                path.display()
            ))),
            _ => Err(Error::parameter(format!(
                "the ending of {} does not tell its format; name one of {}",
                path.display(),
                Format::ALL.map(Format::name).join(", ")
            ))),
        }
    }

    /// The format that `bytes` look like; they may still be broken. Files for OpenSearch are those for Elasticsearch.
    pub fn of_bytes(bytes: &[u8]) -> Option<Format> {
        if lightgbm::looks_like(bytes) {
            Some(Format::LightGbm)
        } else if ubjson::looks_like(bytes) {
            Some(Format::XgBoostUbj)
        } else if ranklib_models::looks_like(bytes) {
            Some(Format::RankLib)
        } else if bytes.trim_ascii_start().starts_with(b"{") {
            of_json(bytes)
        } else {
            // The first field of an ONNX file is its version, a small number.
            matches!(bytes, [0x08, version, ..] if *version < 0x80).then_some(Format::Onnx)
        }
    }
}

/// The documents differ in the fields that they have at the top.
fn of_json(bytes: &[u8]) -> Option<Format> {
    #[derive(Deserialize)]
    struct Top {
        format: Option<IgnoredAny>,
        learner: Option<IgnoredAny>,
        class: Option<IgnoredAny>,
        model: Option<Named>,
    }
    #[derive(Deserialize)]
    struct Named {
        model: Typed,
    }
    #[derive(Deserialize)]
    struct Typed {
        r#type: String,
    }
    let top: Top = serde_json::from_slice(bytes).ok()?;
    if top.format.is_some() {
        Some(Format::Rankwise)
    } else if top.learner.is_some() {
        Some(Format::XgBoost)
    } else if top.class.is_some() {
        Some(Format::Solr)
    } else {
        let ranklib = top.model?.model.r#type == super::elastic::RANKLIB;
        Some(if ranklib { Format::ElasticsearchRankLib } else { Format::Elasticsearch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::interchange::{export, samples};

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
        assert_eq!(of("m.onnx").unwrap(), Format::Onnx);
        assert!(of("m.json").unwrap_err().to_string().contains("rankwise or of xgboost"));
        assert!(of("txt").unwrap_err().to_string().contains("does not tell"));
    }

    /// Requests as the documents of the plugins and of Solr give them.
    #[test]
    fn engines_have_a_request() {
        let upload = Format::Solr.upload().unwrap();
        assert_eq!((upload.method, upload.path), ("PUT", "solr/COLLECTION/schema/model-store"));
        let upload = Format::OpenSearch.upload().unwrap();
        assert_eq!((upload.engine, upload.method), ("OpenSearch", "POST"));
        assert_eq!(upload.path, "_ltr/_featureset/FEATURE_SET/_createmodel");
        assert!(Format::Onnx.upload().is_none() && Format::Onnx.has_name());
        assert!(Format::LightGbm.upload().is_none() && !Format::LightGbm.has_name());
    }

    #[test]
    fn formats_are_known_by_what_is_in_the_file() {
        for format in Format::ALL {
            let exported = export(&samples::ranker(), format).unwrap();
            let found = match format {
                Format::OpenSearch => Format::Elasticsearch,
                Format::OpenSearchRankLib => Format::ElasticsearchRankLib,
                other => other,
            };
            assert_eq!(Format::of_bytes(&exported.bytes), Some(found));
        }
        assert_eq!(Format::of_bytes(b"## Linear Regression\n0:1"), Some(Format::RankLib));
        for other in [&b""[..], b"{}", b"{\"model\": {\"model\": 3}}", b"<ensemble>", b"\x08", b"[1]"] {
            assert_eq!(Format::of_bytes(other), None, "{other:?}");
        }
    }
}
