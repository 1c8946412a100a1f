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
    assert_eq!(spec.search.method, Method::Grid);
}

#[test]
fn mistakes_are_refused_with_the_place_and_the_nearest_name() {
    assert_eq!(
        refusal(&SMALL.replace("name = \"x\"\n", "name = \"x\"\nselecton = \"map\"\n")),
        "x.toml:2:1: unknown key `selecton`; did you mean `selection`?"
    );
    assert!(refusal(&SMALL.replace("regression", "regresion")).contains("did you mean `regression`?"));
    assert!(refusal(&SMALL.replace("synth =", "sinth =")).contains("did you mean `synth`?"));
    assert!(refusal(&format!("{SMALL}set = {{ rigde = 1 }}\n")).contains("did you mean `ridge`?"));
    assert!(refusal(&SMALL.replace("synth = { shape = \"mslr\" }\n", "")).contains("give one of `parts`"));
    assert!(refusal(&format!("repeats = 0\n{SMALL}")).contains("`repeats` must be 1 to 1000"));
    assert!(refusal(&format!("baseline = \"regres\"\n{SMALL}")).contains("did you mean `regression`?"));
    let twice = format!("{SMALL}[[learner]]\nname = \"regression\"\n");
    assert!(refusal(&twice).contains("two systems are called `regression`"));
    assert!(refusal("name = ").starts_with("x.toml:1:"));
    let expect = "[[expect]]\nsystem = \"y\"\nmetric = \"map\"\nvalue = 0.4\nwithin = 0.1\n";
    assert!(refusal(&format!("{SMALL}{expect}")).contains("unknown system in [[expect]] `y`"));
}

#[test]
fn paths_are_taken_from_the_directory_of_the_file() {
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
fn readings_of_one_file_are_not_taken_together() {
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
