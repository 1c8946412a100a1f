//! Agreement and merged labels against scikit-learn, statsmodels, krippendorff and crowd-kit (testdata/labels).

use rankwise::labels::{Coefficients, DawidSkene, DawidSkeneOptions, Judgment, Judgments};
use serde_json::Value;

fn answers() -> Value {
    serde_json::from_str(include_str!("../../../testdata/labels/answers.json")).unwrap()
}

fn judgments(rows: &Value) -> Judgments {
    let mut judgments = Judgments::default();
    for (d, row) in rows.as_array().unwrap().iter().enumerate() {
        for (j, grade) in row.as_array().unwrap().iter().enumerate() {
            let grade = grade.as_f64().unwrap();
            if grade >= 0.0 {
                judgments.push(Judgment::new("q", &format!("d{d:03}"), &format!("j{j:02}"), grade)).unwrap();
            }
        }
    }
    judgments
}

#[test]
fn coefficients_are_those_of_other_tools() {
    let mut compared = 0;
    for case in answers()["agreement"].as_array().unwrap() {
        let found = Coefficients::of(&judgments(&case["ratings"]));
        for (name, found) in [
            ("cohen", found.cohen),
            ("cohen_linear", found.cohen_linear),
            ("cohen_quadratic", found.cohen_quadratic),
            ("fleiss", found.fleiss),
            ("alpha_nominal", found.alpha_nominal),
            ("alpha_ordinal", found.alpha_ordinal),
            ("alpha_interval", found.alpha_interval),
        ] {
            let Some(expected) = case[name].as_f64() else { continue };
            assert!((found.unwrap() - expected).abs() < 1e-12, "{name}: {found:?}, not {expected}");
            compared += 1;
        }
    }
    assert_eq!(compared, 24);
}

/// crowd-kit counts the expectation after the start as an iteration.
#[test]
fn dawid_and_skene_give_the_probabilities_of_crowd_kit() {
    for case in answers()["dawid_skene"].as_array().unwrap() {
        let iterations = case["iterations"].as_u64().unwrap() as usize - 1;
        let options = DawidSkeneOptions { iterations, tolerance: -1.0 };
        let model = DawidSkene::fit(&judgments(&case["ratings"]), &options);
        assert_eq!(model.log_likelihood.len(), iterations + 1);
        let expected = case["probabilities"].as_array().unwrap();
        assert_eq!(model.probabilities.len(), expected.len());
        for (found, expected) in model.probabilities.iter().zip(expected) {
            for (found, expected) in found.iter().zip(expected.as_array().unwrap()) {
                assert!((found - expected.as_f64().unwrap()).abs() < 1e-6, "{found}, not {expected}");
            }
        }
    }
}
