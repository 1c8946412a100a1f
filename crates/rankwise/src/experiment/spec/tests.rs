use super::*;

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
