use super::*;
use crate::data::files::fuzz::{cases, damaged};

const SMALL: &str = "name = \"x\"\n[[data]]\nname = \"d\"\nsynth = { shape = \"mslr\" }\n[[learner]]\nname = \"regression\"\n";

fn refusal(text: &str) -> String {
    Spec::parse(text, "x.toml").unwrap_err().to_string()
}

#[test]
fn a_small_experiment_has_defaults() {
    let spec = Spec::parse(SMALL, "x.toml").unwrap();
    assert_eq!((spec.selection.as_str(), spec.seed, spec.repeats), ("ndcg@10", 1, 1));
    assert_eq!(spec.systems(), ["regression"]);
    assert_eq!(spec.search.method, SearchMethod::Grid);
}

#[test]
fn mistakes_are_rejected_with_their_place_and_the_nearest_name() {
    assert_eq!(
        refusal(&SMALL.replace("name = \"x\"\n", "name = \"x\"\nselecton = \"map\"\n")),
        "x.toml:2:1: unknown key `selecton`; did you mean `selection`?"
    );
    assert!(refusal(&SMALL.replace("regression", "regresion")).contains("did you mean `regression`?"));
    assert!(refusal(&SMALL.replace("synth =", "sinth =")).contains("did you mean `synth`?"));
    assert!(refusal(&format!("{SMALL}set = {{ rigde = 1 }}\n")).contains("did you mean `ridge`?"));
    assert!(refusal(&SMALL.replace("synth = { shape = \"mslr\" }\n", "")).contains("give one of `splits`"));
    assert!(refusal(&format!("repeats = 0\n{SMALL}")).contains("`repeats` must be 1 to 1000"));
    assert!(refusal(&format!("baseline = \"regres\"\n{SMALL}")).contains("did you mean `regression`?"));
    let twice = format!("{SMALL}[[learner]]\nname = \"regression\"\n");
    assert!(refusal(&twice).contains("two systems are called `regression`"));
    assert!(refusal("name = ").starts_with("x.toml:1:"));
    let expect = "[[expect]]\nsystem = \"y\"\nmetric = \"map\"\nvalue = 0.4\nwithin = 0.1\n";
    assert!(refusal(&format!("{SMALL}{expect}")).contains("unknown system in [[expect]] `y`"));
}

/// `results/NAME` must be a new directory within `results`.
#[test]
fn a_name_that_leads_out_of_its_directory_is_rejected() {
    let long = "x".repeat(201);
    for name in ["..", ".", "", "a/b", "../x", "a\\\\b", "a\\nb", "a\\u0000b", &long] {
        let name = format!("name = \"{name}\"\n");
        let message = refusal(&SMALL.replace("name = \"x\"\n", &name));
        assert!(message.starts_with("x.toml:1:1: `name` "), "{message}");
        let message = refusal(&SMALL.replace("name = \"d\"\n", &name));
        assert!(message.contains(": its `name` "), "{message}");
    }
    for name in ["...", ".x", "a b", "é", "a..b"] {
        Spec::parse(&SMALL.replace("name = \"x\"", &format!("name = \"{name}\"")), "x.toml").unwrap();
    }
}

#[test]
fn numbers_out_of_range_are_rejected_with_key_and_line() {
    assert_eq!(refusal(&format!("repeats = 0\n{SMALL}")), "x.toml:1:1: `repeats` must be 1 to 1000");
    let draws = SMALL.replace("[[data]]", "[search]\ndraws = 1000000000\n[[data]]");
    assert_eq!(refusal(&draws), "x.toml:3:1: `search.draws` must be 1 to 100000");
    let data = |line: &str| SMALL.replace("[[learner]]", &format!("{line}\n[[learner]]"));
    for k in ["0", "2", "1000000000", "9223372036854775807"] {
        assert_eq!(refusal(&data(&format!("k = {k}"))), "x.toml:5:1: data set `d`: `k` must be 3 to 10000");
    }
    assert!(refusal(&data("k = 18446744073709551615")).starts_with("x.toml:5:"));
    assert!(
        refusal(&data("memory_limit = 0")).starts_with("x.toml:5:1: data set `d`: `memory_limit` must be")
    );
}

#[test]
fn paths_are_relative_to_the_directory_of_the_file() {
    let mut spec = Spec::parse(
        "name = \"x\"\n[[data]]\nname = \"d\"\ntrain = [\"a.txt\"]\ntest = [\"/b.txt\"]\n[[external]]\nname = \"e\"\nscores = \"s/{fold}\"\n",
        "x.toml",
    )
    .unwrap();
    spec.resolve(Path::new("dir"));
    assert_eq!(spec.data[0].train, [PathBuf::from("dir/a.txt")]);
    assert_eq!(spec.data[0].test, [PathBuf::from("/b.txt")]);
    assert_eq!(spec.externals[0].scores, "dir/s/{fold}");
}

#[test]
fn data_sets_that_share_a_file_are_not_pooled() {
    let spec = |second: &str| {
        let data = |name: &str, file: &str| {
            format!(
                "[[data]]\nname = \"{name}\"\ntrain = [\"a.txt\"]\nvalid = [\"b.txt\"]\ntest = [\"{file}\"]\n"
            )
        };
        let second = data("two", second).replace("a.txt", "d.txt").replace("b.txt", "e.txt");
        let text =
            format!("name = \"x\"\n{}{second}[[learner]]\nname = \"regression\"\n", data("one", "c.txt"));
        Spec::parse(&text, "x.toml").unwrap()
    };
    assert!(spec("f.txt").can_pool());
    assert!(!spec("c.txt").can_pool());
}

#[test]
fn old_names_of_keys_are_accepted() {
    let text = "name = \"x\"\n[search]\nmethod = \"halving\"\nfirst_share = 0.5\n[[data]]\nname = \"d\"\n\
                parts = [\"a\", \"b\", \"c\"]\n[[learner]]\nname = \"regression\"\n";
    let spec = Spec::parse(text, "x.toml").unwrap();
    assert_eq!((spec.search.first_fraction, spec.data[0].splits.len()), (0.5, 3));
    let new = text.replace("first_share", "first_fraction").replace("parts", "splits");
    assert_eq!(Spec::parse(&new, "x.toml").unwrap(), spec);
}

#[test]
fn every_experiment_file_of_the_repository_loads() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let Ok(entries) = std::fs::read_dir(&directory) else {
        return; // Packaged without the repository.
    };
    let files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let files = files.iter().filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let specs: Vec<Spec> = files.map(|path| Spec::load(path).unwrap_or_else(|e| panic!("{e}"))).collect();
    assert!(specs.len() >= 9, "only {} experiment files were found", specs.len());
}

/// An experiment with every key.
const FULL: &str = r#"name = "x"
title = "A title"
about = "About it"
seed = 7
repeats = 2
selection = "ndcg@10"
metrics = "ndcg@1..10,map,p@5"
preset = "letor"
conventions = { threshold = 2, ties = "worst" }
baseline = "other"
time_limit = 2.5
one_at_a_time = true
[search]
method = "halving"
draws = 9
keep_one_in = 3
first_fraction = 0.25
[[data]]
name = "synthetic"
synth = { shape = "mslr", queries = 20, documents = 4, features = 4, seed = 3 }
k = 5
normalize = "log,z-score"
clean = "zero-rows,conflicts"
[[data]]
name = "table"
files = ["a.csv", "b.csv"]
group = false
source = "from somewhere"
columns = { label = "rel", query = "session", ignore = ["url"] }
first_id = 1
[[data]]
name = "folds"
[[data.folds]]
train = ["1.txt", "2.txt"]
valid = ["3.txt"]
test = ["4.txt"]
[[learner]]
name = "regression"
label = "ridge"
set = { ridge = 0.5 }
[[learner]]
name = "lambda-mart"
grid = { num_leaves = [7, 31], learning_rate = { from = 1e-3, to = 1.0, log = true } }
[[external]]
name = "other"
title = "Another tool"
scores = "{data}/{fold}.txt"
times = "{data}.csv"
[[expect]]
data = "table"
system = "ridge"
metric = "map"
value = 0.4
within = 0.01
source = "a paper"
"#;

const PIECES: &[&[u8]] = &[
    b"\n",
    b"\"",
    b"'",
    b"=",
    b"[",
    b"]",
    b"[[",
    b"]]",
    b"{",
    b"}",
    b",",
    b".",
    b"..",
    b"/",
    b"#",
    b"-",
    b"0",
    b"nan",
    b"inf",
    b"1e999",
    b"1e9",
    b"9223372036854775807",
    b"-1",
    b"true",
    b"\"\"",
    b"\\u0000",
    b"\xff",
    b"name",
    b"grid",
    b"@",
    b"ndcg@",
];

/// Whatever is in an experiment file, it is read or refused with its place; the settings to try are bounded.
#[test]
fn damaged_experiment_files_never_cause_a_panic() {
    Spec::parse(FULL, "x.toml").unwrap();
    let (mut random, mut accepted, mut refused) = (crate::rng::stream(30, &[1]), 0, 0);
    for _ in 0..cases(3_000) {
        let bytes = damaged(FULL.as_bytes(), PIECES, &mut random);
        let text = String::from_utf8_lossy(&bytes);
        let spec = match Spec::parse(&text, "x.toml") {
            Ok(spec) => spec,
            Err(error) => {
                refused += 1;
                let message = error.to_string();
                assert!(message.starts_with("x.toml:") && message.len() < 3_000, "{message:?}");
                if let Some(place) = error.place() {
                    let line = text.split('\n').nth(place.line as usize - 1).map_or(0, str::len) as u64;
                    assert!(place.column <= line + 1, "{message} in {text}");
                }
                continue;
            }
        };
        accepted += 1;
        for learner in &spec.learners {
            let settings = super::super::search::settings(&spec.search, &learner.grid, spec.seed);
            assert!(settings.is_ok_and(|s| s.len() <= 100_000) || !learner.grid.is_empty());
        }
    }
    assert!(accepted > 0 && refused > 0, "{accepted} accepted, {refused} refused");
}

#[test]
fn every_experiment_reads_back_from_the_text_that_tasks_get() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut count = 0;
    for file in files.filter(|file| file.extension().is_some_and(|e| e == "toml")) {
        let spec = Spec::load(&file).unwrap();
        let text = spec.self_contained().unwrap();
        // The paths are absolute already, because that of the file is.
        assert_eq!(Spec::parse(&text, "test").unwrap(), spec, "{}", file.display());
        count += 1;
    }
    assert!(count > 5);
}
