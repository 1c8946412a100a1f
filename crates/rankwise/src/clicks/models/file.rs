//! Click models as files.

use super::{Browsing, ByDocument, ClickModel};
use crate::data::{AtomicFile, Source};
use crate::error::{Error, Result};
use std::io::Read;
use std::path::Path;

impl ClickModel {
    /// Writes the model as JSON.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_vec_pretty(self).map_err(|e| Error::data(e.to_string()))?;
        let mut file = AtomicFile::create(path)?;
        file.put(&text)?;
        file.put(b"\n")?;
        file.commit()
    }

    /// Reads a model that was written.
    pub fn read(path: &Path) -> Result<ClickModel> {
        let mut source = Source::open(path)?;
        let mut text = Vec::new();
        source.read_to_end(&mut text).map_err(|e| source.origin().read_error(e))?;
        let no_model =
            |reason: String| Error::malformed(format!("{} holds no click model: {reason}", path.display()));
        let model: ClickModel = serde_json::from_slice(&text).map_err(|e| no_model(e.to_string()))?;
        match model.probabilities().into_iter().find(|p| !(0.0..=1.0).contains(p)) {
            Some(p) => Err(no_model(format!("{p} is no probability"))),
            None => Ok(model),
        }
    }

    /// All parameters.
    fn probabilities(&self) -> Vec<f64> {
        let mut all = self.attractiveness.probabilities();
        match &self.browsing {
            Browsing::Pbm { examination } => all.extend(examination),
            Browsing::Ubm { examination } => all.extend(examination.iter().flatten()),
            Browsing::Cascade => {}
            Browsing::Dcm { continuation } => all.extend(continuation),
            Browsing::Sdbn { satisfaction } => all.extend(satisfaction.probabilities()),
            Browsing::Dbn { satisfaction, continuation } => {
                all.extend(satisfaction.probabilities());
                all.push(*continuation);
            }
        }
        all
    }
}

impl ByDocument {
    fn probabilities(&self) -> Vec<f64> {
        let known = self.values.values().flat_map(|documents| documents.values());
        known.copied().chain([self.default]).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::clicks::models::{ClickModel, ClickModelKind, FitOptions};
    use crate::clicks::{Session, SessionTable};
    use std::fs;

    #[test]
    fn models_are_written_and_read_again_and_what_is_no_probability_is_refused() {
        let line = r#"{"id": 1, "query": "q", "shown": ["a", "b", "c"], "clicks": [{"doc": "b"}]}"#;
        let session: Session = serde_json::from_str(line).unwrap();
        let table: SessionTable = [&session].into_iter().collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        for kind in ClickModelKind::ALL {
            let model = ClickModel::fit(kind, &table, &FitOptions::default()).unwrap().model;
            model.write(file.path()).unwrap();
            assert_eq!(ClickModel::read(file.path()).unwrap(), model);
            let mut wrong = model.clone();
            wrong.attractiveness.default = 1.5;
            wrong.write(file.path()).unwrap();
            let error = ClickModel::read(file.path()).unwrap_err().to_string();
            assert!(error.contains("holds no click model: 1.5 is no probability"), "{error}");
        }
        fs::write(file.path(), "{\"model\": \"pbm\"").unwrap();
        assert!(ClickModel::read(file.path()).unwrap_err().to_string().contains("holds no click model"));
    }
}
