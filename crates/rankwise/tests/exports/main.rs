//! Models written for runtimes and search engines: against the answers of ONNX Runtime (`testdata/onnx/make.py`), and
//! against the formats' own way to score, replayed.

mod engines;
mod files;
mod limits;
mod models;
mod onnx;
mod solr;
