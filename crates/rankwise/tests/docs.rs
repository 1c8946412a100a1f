//! The documents are complete: every learner, metric, preset, command, experiment and key of the experiment file is
//! documented, and every link leads somewhere.

mod learner_reference;

use rankwise::experiment::Spec;
use rankwise::learners::LEARNERS;
use rankwise::metrics::{METRICS, PRESETS, option_names};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The names of the files in a directory that end in `ending`, sorted.
fn files(directory: &str, ending: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(directory)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(ending)).collect();
    names.sort();
    assert!(!names.is_empty(), "{directory} has no {ending}");
    names
}

/// The text from a heading to the next one of the same or a higher level.
fn section<'a>(document: &'a str, heading: &str) -> &'a str {
    let level = |line: &str| line.bytes().take_while(|b| *b == b'#').count();
    let start = document.find(&format!("{heading}\n")).unwrap_or_else(|| panic!("no heading {heading}"));
    let body = &document[start + heading.len() + 1..];
    let ends = |line: &str| (1..=level(heading)).contains(&level(line)) && line.contains("# ");
    let length = body.split_inclusive('\n').take_while(|line| !ends(line)).map(str::len).sum();
    &body[..length]
}

/// The words in backquotes in the table rows of a text.
fn quoted_in_tables(text: &str) -> Vec<&str> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// Names in one list and not in the other.
fn missing<'a>(wanted: impl IntoIterator<Item = &'a str>, found: &[&str]) -> Vec<&'a str> {
    wanted.into_iter().filter(|name| !found.contains(name)).collect()
}

#[test]
fn readme_is_short_and_its_output_fits_80_columns() {
    let readme = text("README.md");
    let lines = readme.lines().count();
    assert!(lines <= 130, "README has {lines} lines, 130 are allowed; move text to docs/");
    let blocks = readme.split("```console").skip(1).map(|rest| rest.split("```").next().unwrap());
    let wide: Vec<&str> = blocks.flat_map(str::lines).filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty(), "lines of more than 80 columns: {wide:#?}");
}

#[test]
fn readme_names_only_learners_that_exist() {
    let readme = text("README.md");
    let found = quoted_in_tables(section(&readme, "## Learners"));
    let names: Vec<&str> = LEARNERS.iter().map(|entry| entry.card.name).collect();
    assert!(found.len() > 20, "{found:?}");
    assert_eq!(missing(found, &names), [""; 0], "in README's table, but no learners");
}

#[test]
fn the_reference_of_learners_is_up_to_date() {
    let (path, current) = ("docs/learners.md", learner_reference::text());
    if std::env::var_os("RANKWISE_UPDATE_DOCS").is_some_and(|value| value == "1") {
        fs::write(root().join(path), current).unwrap_or_else(|e| panic!("{path}: {e}"));
        return;
    }
    let stored = fs::read_to_string(root().join(path)).unwrap_or_default();
    let mut lines = stored.lines().zip(current.lines());
    let first = lines.find(|(stored, current)| stored != current);
    assert!(
        stored == current,
        "{path} is not what the list of learners gives, first at {first:?}.\nRenew it with\n    \
         RANKWISE_UPDATE_DOCS=1 cargo test -p rankwise --test docs"
    );
}

/// The first block of Rust in a document.
fn rust_block(document: &str) -> &str {
    let (_, rest) = document.split_once("```rust").expect("a block of Rust");
    rest.split_once("```").expect("the block ends").0
}

#[test]
fn both_readmes_show_the_same_program() {
    // The one of the crate is compiled as a documentation test.
    let (root, of_crate) = (text("README.md"), text("crates/rankwise/README.md"));
    assert_eq!(rust_block(&root), rust_block(&of_crate));
    assert!(rust_block(&root).contains("Recipe::new("));
}

#[test]
fn every_learner_has_a_paragraph_in_methods() {
    let methods = text("docs/methods.md");
    let headings: Vec<&str> = methods.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let names: Vec<&str> = LEARNERS.iter().map(|entry| entry.card.name).collect();
    assert_eq!(missing(names.clone(), &headings), [""; 0], "without a paragraph in docs/methods.md");
    assert_eq!(missing(headings, &names), [""; 0], "in docs/methods.md, but no learners");
    for name in names {
        let body = section(&methods, &format!("### {name}"));
        let prose = body.lines().filter(|line| !line.starts_with("*Measured:*"));
        assert!(prose.map(str::len).sum::<usize>() > 60, "the paragraph of {name} is empty");
    }
}

#[test]
fn every_metric_preset_and_convention_is_documented() {
    let document = text("docs/metrics.md");
    let metrics = quoted_in_tables(section(&document, "## Metrics"));
    let metrics: Vec<&str> =
        metrics.into_iter().map(|name| name.trim_end_matches("[@k]").trim_end_matches("[@r]")).collect();
    let listed = METRICS.iter().map(|entry| entry.card.name);
    assert_eq!(missing(listed, &metrics), [""; 0], "metrics that docs/metrics.md lacks");
    let presets = quoted_in_tables(section(&document, "## Presets"));
    let listed = PRESETS.iter().map(|preset| preset.card.name);
    assert_eq!(missing(listed, &presets), [""; 0], "presets that docs/metrics.md lacks");
    let conventions = quoted_in_tables(section(&document, "## Conventions"));
    assert_eq!(missing(option_names(), &conventions), [""; 0], "conventions that docs/metrics.md lacks");
}

/// The keys that a table of the experiment file accepts: its reader lists them when it meets an unknown one.
fn keys(table: &str) -> Vec<String> {
    let error = Spec::parse(&format!("{table}\nqqqqqqqq = 1\n"), "test").unwrap_err().to_string();
    let (_, list) = error.rsplit_once(": ").expect("the message ends with the known keys");
    assert!(error.contains("qqqqqqqq"), "{error}");
    list.split(", ").map(|key| key.trim_matches(['`', '.', ' ']).to_owned()).collect()
}

#[test]
fn every_key_of_the_experiment_file_is_documented() {
    let document = text("docs/experiments.md");
    let tables = [
        ("", "## The experiment"),
        ("[search]", "## `[search]`: how settings are searched"),
        ("[[data]]", "## `[[data]]`: data sets"),
        ("[[data]]\n[[data.folds]]", "## `[[data]]`: data sets"),
        ("[[data]]\n[data.synth]", "## `[[data]]`: data sets"),
        ("[[learner]]", "## `[[learner]]`: learners and their settings"),
        ("[[external]]", "## `[[external]]`: scores of other tools"),
        ("[[expect]]", "## `[[expect]]`: figures to check"),
    ];
    for (table, heading) in tables {
        let quoted: Vec<&str> = section(&document, heading).split('`').skip(1).step_by(2).collect();
        let keys = keys(table);
        assert!(keys.len() >= 3, "{table}: {keys:?}");
        let keys = keys.iter().map(String::as_str);
        assert_eq!(missing(keys, &quoted), [""; 0], "keys of {table} that docs/experiments.md lacks");
    }
}

#[test]
fn every_experiment_loads_is_documented_and_says_where_its_data_is_expected() {
    let document = text("docs/experiments.md");
    for name in files("experiments", "") {
        assert!(document.contains(&name), "docs/experiments.md does not mention experiments/{name}");
    }
    for name in files("experiments", ".toml") {
        let path = format!("experiments/{name}");
        Spec::load(&root().join(&path)).unwrap_or_else(|e| panic!("{e}"));
        let file = text(&path);
        let reads_files = file.contains("S1.txt");
        assert!(!reads_files || file.contains("docs/data.md"), "{path} does not say how to get its data");
        let paths = file.split('"').skip(1).step_by(2).filter(|path| path.contains(".txt.zst"));
        for path in paths {
            let expected = path.strip_prefix("../").and_then(|p| p.rsplit_once('/'));
            let (directory, _) = expected.unwrap_or_else(|| panic!("{path} is not under data/"));
            assert!(document.contains(&format!("`{directory}`")), "docs/experiments.md lacks {directory}");
        }
    }
}

/// `VerifyExport` as it is typed: `verify-export`.
fn kebab(variant: &str) -> String {
    let mut name = String::new();
    for (place, letter) in variant.chars().enumerate() {
        if letter.is_uppercase() && place > 0 {
            name.push('-');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

/// The commands of the program that help shows, read from its source: this crate does not depend on it.
fn commands() -> Vec<String> {
    let source = text("crates/rankwise-cli/src/commands/mod.rs");
    let (_, list) = source.split_once("enum Command {").expect("the list of commands");
    let list = list.split_once('}').unwrap().0;
    let (mut names, mut hidden) = (Vec::new(), false);
    for line in list.lines().map(str::trim) {
        if line.starts_with("#[") {
            hidden |= line.contains("hide = true");
        } else if let Some((variant, _)) = line.split_once('(') {
            names.extend((!hidden).then(|| kebab(variant)));
            hidden = false;
        }
    }
    assert!(names.len() > 15 && names.contains(&"verify-export".to_owned()), "{names:?}");
    names
}

#[test]
fn every_command_is_documented() {
    let document = text("docs/README.md");
    let rows = section(&document, "## Commands").lines().filter_map(|line| line.strip_prefix("| "));
    let cells = rows.filter_map(|row| row.split('|').next());
    let found: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    let names = commands();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert_eq!(missing(names.clone(), &found), [""; 0], "commands that docs/README.md lacks");
    assert_eq!(missing(found, &names), [""; 0], "in docs/README.md, but no commands");
}

#[test]
fn the_json_output_of_every_command_is_documented() {
    let document = text("docs/json.md");
    let headings: Vec<&str> = document.lines().filter(|line| line.starts_with("### ")).collect();
    let mut checked = 0;
    for name in commands() {
        let source = text(&format!("crates/rankwise-cli/src/commands/{}.rs", name.replace('-', "_")));
        if source.contains("print_json") {
            let documented = headings.iter().any(|line| line.contains(&format!("`{name} ")));
            assert!(documented, "docs/json.md has no heading for `{name} --json`");
            checked += 1;
        }
    }
    assert!(checked >= 10, "only {checked} commands seem to print JSON");
}

/// A heading as its link: lower case, spaces as hyphens, without punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

/// The targets of the links and images of a document that are not addresses.
fn links(document: &str) -> Vec<&str> {
    let targets = document.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|target| !target.contains("://")).collect()
}

#[test]
fn every_link_leads_somewhere_and_every_page_is_linked() {
    let mut pages: Vec<String> = files("docs", ".md").iter().map(|name| format!("docs/{name}")).collect();
    pages.extend(["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(String::from));
    for page in &pages {
        let document = text(page);
        for link in links(&document) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let directory = Path::new(page).parent().unwrap();
            let target = if file.is_empty() { PathBuf::from(page) } else { directory.join(file) };
            assert!(root().join(&target).exists(), "{page} links to {link}, which does not exist");
            if !place.is_empty() {
                let target = text(&target.display().to_string());
                let headings = target.lines().filter(|line| line.starts_with('#'));
                let found =
                    headings.map(|line| anchor(line.trim_start_matches('#').trim())).any(|a| a == place);
                assert!(found, "{page} links to {link}, which is no heading there");
            }
        }
    }
    let (readme, index) = (text("README.md"), text("docs/README.md"));
    for name in files("docs", ".md").iter().filter(|name| *name != "README.md") {
        let linked = links(&readme).contains(&format!("docs/{name}").as_str())
            || links(&index).contains(&name.as_str());
        assert!(linked, "docs/{name} is linked neither from README.md nor from docs/README.md");
    }
}
