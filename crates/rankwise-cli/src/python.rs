//! Scores by the real runtimes, where a Python has them: ONNX Runtime, LightGBM, XGBoost and treelite.

use anyhow::{Context, Result, bail, ensure};
use rankwise::models::interchange::Format;
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Python flags: isolated, so that neither a module in the current folder nor the environment decides what code runs.
const ISOLATED: &str = "-I";

/// Reads the length of a model, the model and rows of f32 from standard input; prints the runtime's version and the
/// scores as the hexadecimal digits of f64. The first runtime that is installed scores.
const SCRIPT: &str = r#"
import importlib, json, os, site, struct, sys
# Isolated mode leaves out the user's own packages, where `pip install` puts them.
if os.path.isabs(site.getusersitepackages()):
    site.addsitedir(site.getusersitepackages())
tools, format, width = sys.argv[1].split(","), sys.argv[2], int(sys.argv[3])
lacking = None
for tool in tools:
    try:
        import numpy
        runtime = importlib.import_module(tool)
        break
    except ImportError as lack:
        lacking = lacking or lack.name or str(lack)
else:
    print(json.dumps({"lacks": lacking}))
    sys.exit()
received = sys.stdin.buffer.read()
(length,) = struct.unpack_from("<Q", received)
model = received[8:8 + length]
rows = numpy.frombuffer(received, dtype="<f4", offset=8 + length).reshape(-1, width)
if tool == "onnxruntime":
    session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])
    scores = session.run(None, {session.get_inputs()[0].name: rows})[0]
elif tool == "lightgbm":
    scores = runtime.Booster(model_str=model.decode()).predict(rows, raw_score=True)
elif tool == "xgboost":
    booster = runtime.Booster(model_file=bytearray(model))
    rows = runtime.DMatrix(rows, feature_names=booster.feature_names)
    scores = booster.predict(rows, output_margin=True)
else:
    frontend = importlib.import_module("treelite.frontend")
    if format == "lightgbm":
        import tempfile
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.txt")
            with open(path, "wb") as file:
                file.write(model)
            forest = frontend.load_lightgbm_model(path)
        # treelite compares in the precision of the rows; LightGBM's thresholds are doubles.
        rows = rows.astype("f8")
    elif format == "xgboost":
        forest = frontend.from_xgboost_json(model)
    else:
        forest = frontend.from_xgboost_ubjson(model)
    scores = importlib.import_module("treelite.gtil").predict(forest, rows, pred_margin=True)
scores = numpy.asarray(scores, dtype="<f8").ravel().tobytes().hex()
print(json.dumps({"runtime": f"{tool} {runtime.__version__}", "scores": scores}))
"#;

/// A Python package that scores model files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Runtime {
    Onnx,
    LightGbm,
    XgBoost,
    Treelite,
}

impl Runtime {
    const ALL: [Runtime; 4] = [Runtime::Onnx, Runtime::LightGbm, Runtime::XgBoost, Runtime::Treelite];

    /// The name of the package.
    pub(crate) fn package(self) -> &'static str {
        match self {
            Runtime::Onnx => "onnxruntime",
            Runtime::LightGbm => "lightgbm",
            Runtime::XgBoost => "xgboost",
            Runtime::Treelite => "treelite",
        }
    }

    /// The runtime of the package called `name`.
    pub(crate) fn parse(name: &str) -> Result<Runtime> {
        Runtime::ALL
            .into_iter()
            .find(|runtime| runtime.package() == name)
            .with_context(|| format!("the runtimes are {}", Runtime::ALL.map(Runtime::package).join(", ")))
    }

    /// The runtimes that read files of `format`, its own first.
    pub(crate) fn of(format: Format) -> &'static [Runtime] {
        match format {
            Format::Onnx => &[Runtime::Onnx],
            Format::LightGbm => &[Runtime::LightGbm, Runtime::Treelite],
            Format::XgBoost | Format::XgBoostUbj => &[Runtime::XgBoost, Runtime::Treelite],
            _ => &[],
        }
    }
}

/// Scores, and the runtime that computed them.
pub(crate) struct Scored {
    pub(crate) runtime: String,
    pub(crate) scores: Vec<f64>,
}

/// The scores of `rows` that the first installed package of `runtimes` computes with a model.
pub(crate) fn scores(
    python: &Path,
    runtimes: &[Runtime],
    format: Format,
    model: &[u8],
    rows: &[Vec<f32>],
) -> Result<Scored> {
    let width = rows.first().map_or(1, Vec::len);
    let mut sent = (model.len() as u64).to_le_bytes().to_vec();
    sent.extend_from_slice(model);
    sent.extend(rows.iter().flatten().flat_map(|x| x.to_le_bytes()));
    let packages: Vec<&str> = runtimes.iter().map(|runtime| runtime.package()).collect();
    let output = run(python, &[&packages.join(","), format.name(), &width.to_string()], &sent)?;
    if !output.status.success() {
        let printed = String::from_utf8_lossy(&output.stderr);
        // The message is the last line before a stack trace.
        let lines = printed.lines().map(str::trim);
        let mut words =
            lines.filter(|l| !l.is_empty() && !l.starts_with("[bt]") && !l.starts_with("Stack trace"));
        bail!("Python could not score the file: {}", words.next_back().unwrap_or("no error message"));
    }
    let answer: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("{} printed something unexpected", python.display()))?;
    if let Some(lacking) = answer["lacks"].as_str() {
        bail!(
            "{} has no {lacking}; run `pip install numpy {}`, or choose another Python with --python",
            python.display(),
            packages[0]
        );
    }
    let (Some(runtime), Some(digits)) = (answer["runtime"].as_str(), answer["scores"].as_str()) else {
        bail!("{} printed something unexpected", python.display());
    };
    Ok(Scored { runtime: runtime.into(), scores: doubles(digits)? })
}

fn run(python: &Path, arguments: &[&str], sent: &[u8]) -> Result<Output> {
    let mut child = Command::new(python)
        .args([ISOLATED, "-c", SCRIPT])
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| {
            format!("cannot start {} to score the file; choose a Python with --python", python.display())
        })?;
    let mut pipe = child.stdin.take().context("cannot write to Python")?;
    std::thread::scope(|scope| {
        // If Python ended early, its error message has the reason.
        scope.spawn(move || pipe.write_all(sent).ok());
        child.wait_with_output().context("cannot read the output of Python")
    })
}

fn doubles(digits: &str) -> Result<Vec<f64>> {
    let bytes = digits.as_bytes();
    ensure!(bytes.len().is_multiple_of(16), "Python printed an incomplete number");
    let byte = |pair: &[u8]| -> Result<u8> { Ok(u8::from_str_radix(std::str::from_utf8(pair)?, 16)?) };
    let number = |chunk: &[u8]| {
        let mut eight = [0; 8];
        for (place, pair) in eight.iter_mut().zip(chunk.chunks(2)) {
            *place = byte(pair)?;
        }
        Ok(f64::from_le_bytes(eight))
    };
    bytes.chunks(16).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_the_round_trip() {
        assert_eq!(doubles("000000000000f03f000000000000f87f").unwrap()[0], 1.0);
        assert!(doubles("000000000000f87f").unwrap()[0].is_nan());
        assert!(doubles("0000").is_err() && doubles("00000000000000zz").is_err());
    }

    #[test]
    fn a_missing_python_is_named() {
        let python = Path::new("no/such/python");
        let error = scores(python, Runtime::of(Format::Onnx), Format::Onnx, b"", &[]).err().unwrap();
        assert!(format!("{error:#}").contains("no/such/python"), "{error:#}");
    }
}
