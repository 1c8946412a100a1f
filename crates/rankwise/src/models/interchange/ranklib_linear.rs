//! Linear models as RankLib's `Linear Regression`: one line of `id:weight`, where 0 is the bias. RankLib scores them in
//! double precision, and what is missing is 0.

use super::Exported;
use super::foreign::quoted;
use super::forest::Engine;
use crate::error::{Error, Result};

/// The first line, by which RankLib knows the kind of model.
pub(super) const HEADER: &str = "## Linear Regression";

/// The text of a model, its first column called `first_id`. Weights of 0 are left out: RankLib rejects data that lacks a
/// feature of the model.
pub(super) fn text(weights: &[f64], bias: f64, first_id: u32, out: &mut Exported) -> Vec<u8> {
    out.single_precision = false;
    let mut terms = vec![format!("0:{}", shown(bias))];
    let ids = weights.iter().zip(first_id..).filter(|(weight, _)| **weight != 0.0);
    terms.extend(ids.map(|(weight, id)| format!("{id}:{}", shown(*weight))));
    format!("{HEADER}\n## Written by Rankwise\n{}\n", terms.join(" ")).into_bytes()
}

/// The shortest decimal that Java's `Double.parseDouble` reads as the same number.
fn shown(x: f64) -> String {
    zmij::Buffer::new().format_finite(x).to_string()
}

/// Reads a model as RankLib does, to replay it: the first line that is neither empty nor a comment counts.
pub(super) fn read(text: &str, first_id: u32) -> Result<Engine> {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with("##"));
    let line = line.ok_or_else(|| Error::model("it has no weights"))?;
    let (mut bias, mut weights) = (0.0, Vec::new());
    for term in line.split_ascii_whitespace() {
        let refusal = || Error::model(format!("{} in it is not a feature with its weight", quoted(term)));
        let (id, weight) = term.split_once(':').ok_or_else(refusal)?;
        let weight: f64 = weight.parse().ok().filter(|w: &f64| w.is_finite()).ok_or_else(refusal)?;
        match id.parse::<u32>().map_err(|_| refusal())? {
            0 => bias = weight,
            id => weights.push((id.checked_sub(first_id).ok_or_else(refusal)? as usize, weight)),
        }
    }
    Ok(Engine::DoubleLinear(bias, weights))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::interchange::{Format, export, samples};
    use crate::models::{Model, Ranker};

    fn linear(names: Option<Vec<String>>, first_id: u32) -> Ranker {
        let mut columns = samples::ranker().columns;
        (columns.names, columns.first_id) = (names, first_id);
        Ranker::of_model(Model::linear(vec![0.5, 0.0, -1e-7], 0.25), columns).unwrap()
    }

    #[test]
    fn a_model_is_one_line() {
        let text =
            |ranker: &Ranker| String::from_utf8(export(ranker, Format::RankLib).unwrap().bytes).unwrap();
        let wanted = "## Linear Regression\n## Written by Rankwise\n0:0.25 1:0.5 3:-1e-7\n";
        assert_eq!(text(&linear(None, 1)), wanted);
        assert_eq!(text(&linear(Some(["a", "b", "c"].map(String::from).to_vec()), 1)), wanted);
        let refusal = export(&linear(None, 0), Format::RankLib).unwrap_err().to_string();
        assert!(refusal.contains("feature 0"), "{refusal}");
    }

    /// 0.5·2 − 1e-7·4 + 0.25, where what is missing adds nothing.
    #[test]
    fn it_is_read_as_ranklib_reads_it() {
        let engine =
            read("## Linear Regression\n\n## Lambda = 1.0E-10\n 1:0.5 0:0.25  3:-1e-7 \n9:9", 1).unwrap();
        assert_eq!(engine.score(&[2.0, f32::NAN, 4.0]), 0.25 + 0.5 * 2.0 + -1e-7 * 4.0);
        assert_eq!(engine.score(&[f32::NAN, 1.0, f32::NAN]), 0.25);
        for broken in ["## Linear Regression\n", "1:x", "1", "1:1e999", "-1:2", ":3", "1:2 x:3"] {
            assert!(read(broken, 1).is_err(), "{broken}");
        }
    }
}
