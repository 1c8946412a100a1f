//! Tab completion, as the shells do it.

use crate::place::BINARY;
use rankwise::learners::LEARNERS;
use rankwise::metrics::PRESETS;
use std::path::Path;
use std::process::Command;

fn script(shell: &str) -> String {
    let output = Command::new(BINARY).args(["completions", shell]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{shell}");
    String::from_utf8(output.stdout).unwrap()
}

/// Completes the last of its arguments with the script at `$0`.
const COMPLETE: &str = r#"
source "$0"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
_rankwise rankwise "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
"#;

/// What bash offers for the last of some words.
fn offered(script: &Path, words: &str) -> Vec<String> {
    let mut command = Command::new("bash");
    command.args(["--norc", "--noprofile", "-c", COMPLETE]).arg(script).args(words.split(' '));
    let output = command.output().unwrap();
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_learners_metrics_presets_and_formats() {
    if Command::new("bash").arg("--version").output().is_err() {
        eprintln!("skipped: there is no bash here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rankwise.bash");
    std::fs::write(&file, script("bash")).unwrap();
    for (words, expected) in [
        ("rankwise ev", "eval"),
        ("rankwise train lambda-m", "lambda-mart"),
        ("rankwise tune svm-n", "svm-ndcg"),
        ("rankwise learners coord", "coordinate-ascent"),
        ("rankwise metrics set-r", "set-relative-p"),
        ("rankwise study c-p", "c-path"),
        ("rankwise study c-path --learner svm-au", "svm-auc"),
        ("rankwise train list-net --metric mean-n", "mean-ndcg"),
        ("rankwise train list-net --scorer net", "network"),
        ("rankwise train list-net --normalize z-", "z-score"),
        ("rankwise eval m.json d.txt --metrics bpr", "bpref"),
        ("rankwise eval m.json d.txt --preset light", "lightgbm"),
        ("rankwise eval m.run q.txt --format tr", "trec"),
        ("rankwise compare a b c --metrics kend", "kendall"),
        ("rankwise importance m.json d.txt --preset xg", "xgboost"),
        ("rankwise export m.json --format sol", "solr"),
        ("rankwise verify-export m.json e --format ranklib", "ranklib"),
        ("rankwise stats d --input-format par", "parquet"),
        ("rankwise prepare d.txt --clean zero", "zero-rows"),
        ("rankwise synth --shape msl", "mslr"),
        ("rankwise fuse a b --method comb-m", "comb-mnz"),
    ] {
        assert_eq!(offered(&file, words), [expected], "{words}");
    }
    let presets = offered(&file, "rankwise eval m.json d.txt --preset ");
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.card.name).collect();
    assert_eq!(presets, names);
}

#[test]
fn every_shell_has_the_names() {
    for shell in ["bash", "zsh", "powershell", "elvish", "fish"] {
        let script = script(shell);
        assert!(script.contains("verify-export"), "{shell}");
        // Only these two complete the values of arguments.
        if shell == "bash" || shell == "zsh" {
            for entry in LEARNERS {
                assert!(script.contains(entry.card.name), "{shell}: {}", entry.card.name);
            }
        }
        let completes_values = shell != "powershell" && shell != "elvish";
        assert!(!completes_values || script.contains("catboost"), "{shell}");
    }
}
