//! Imports go one way: data → metrics → labels → losses → solvers → clicks → trees → models → learners → recipe → distributed → experiment.
//!
//! The scanner reads tokens, not lines, so every way of naming a module of this crate is seen: `use` trees of any shape,
//! paths in expressions, chains of `super` that reach the root, and names that `lib.rs` re-exports.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Every module at the root of the crate. Each imports only from itself and from those before it.
const ORDER: [&str; 22] = [
    "error",
    "parallel",
    "sums",
    "rng",
    "watch",
    "card",
    "rank",
    "pieces",
    "exchange",
    "significance",
    "data",
    "metrics",
    "labels",
    "losses",
    "solvers",
    "clicks",
    "trees",
    "models",
    "learners",
    "recipe",
    "distributed",
    "experiment",
];

/// Modules that stand beside each other: neither imports from the other.
const BESIDE: [(&str, &str); 1] = [("solvers", "trees")];

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    /// `::`
    Path,
    Sign(char),
}

impl Token {
    fn is_word(&self, text: &str) -> bool {
        matches!(self, Token::Word(word) if word == text)
    }
}

/// Words and signs outside comments, strings and characters.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => {
                let mut depth = 0;
                while i < chars.len() {
                    match (at(i), at(i + 1)) {
                        ('/', '*') => (depth, i) = (depth + 1, i + 2),
                        ('*', '/') => (depth, i) = (depth - 1, i + 2),
                        _ => i += 1,
                    }
                    if depth == 0 {
                        break;
                    }
                }
            }
            '"' => i = after_string(&chars, i),
            // `'a'` and `'\n'` are characters, `'a` is a lifetime.
            '\'' if at(i + 1) == '\\' => {
                i += 3;
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            '\'' if at(i + 2) == '\'' => i += 3,
            c if is_word(c) => {
                let start = i;
                while is_word(at(i)) {
                    i += 1;
                }
                let word: String = chars[start..i].iter().collect();
                let hashes = (i..).take_while(|&j| at(j) == '#').count();
                if ["r", "br", "cr"].contains(&word.as_str()) && at(i + hashes) == '"' {
                    let end: Vec<char> = format!("\"{}", "#".repeat(hashes)).chars().collect();
                    i += hashes + 1;
                    while i < chars.len() && !chars[i..].starts_with(&end) {
                        i += 1;
                    }
                    i += end.len();
                } else {
                    found.push(Token::Word(word));
                }
            }
            ':' if at(i + 1) == ':' => {
                found.push(Token::Path);
                i += 2;
            }
            c => {
                if !c.is_whitespace() {
                    found.push(Token::Sign(c));
                }
                i += 1;
            }
        }
    }
    found
}

/// The place after the string that starts at `start`.
fn after_string(chars: &[char], start: usize) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

/// The paths of the tree that starts at `tokens[*at]`, each after `prefix`, with the name it is bound to:
/// `a::{b, c::D as E}` gives `a::b` as `b` and `a::c::D` as `E`.
fn tree(tokens: &[Token], at: &mut usize, prefix: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(*at) {
            Some(Token::Word(word)) => {
                path.push(word.clone());
                *at += 1;
            }
            Some(Token::Sign('*')) => {
                path.push("*".into());
                *at += 1;
            }
            Some(Token::Sign('{')) => {
                *at += 1;
                while tokens.get(*at).is_some_and(|t| *t != Token::Sign('}')) {
                    if tokens[*at] == Token::Sign(',') {
                        *at += 1;
                    } else {
                        let before = *at;
                        tree(tokens, at, &path, found);
                        // What is no tree is stepped over.
                        *at = (*at).max(before + 1);
                    }
                }
                *at += 1;
                return;
            }
            _ => break,
        }
        if tokens.get(*at) == Some(&Token::Path) {
            *at += 1;
        } else {
            break;
        }
    }
    let mut name = path.last().cloned().unwrap_or_default();
    if tokens.get(*at).is_some_and(|t| t.is_word("as"))
        && let Some(Token::Word(alias)) = tokens.get(*at + 1)
    {
        name.clone_from(alias);
        *at += 2;
    }
    if path.len() > prefix.len() {
        found.push((path, name));
    }
}

/// The first names after the root of the crate in every path of `text`, the source of a module `depth` levels below it.
fn names_used(text: &str, depth: usize) -> Vec<String> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    // Braces open now, and how many were open before each inline module.
    let (mut braces, mut inline) = (0_usize, Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            Token::Sign('{') => braces += 1,
            Token::Sign('}') => {
                braces = braces.saturating_sub(1);
                inline.pop_if(|open| *open == braces);
            }
            Token::Word(word) if word == "mod" => {
                if let [Token::Word(_), Token::Sign('{')] = tokens[at + 1..(at + 3).min(tokens.len())] {
                    inline.push(braces);
                }
            }
            Token::Word(word) if word == "crate" || word == "super" => {
                let starts = at == 0 || tokens[at - 1] != Token::Path;
                let mut after = at + 1;
                let mut climbed = usize::from(word == "super");
                while tokens.get(after) == Some(&Token::Path)
                    && tokens.get(after + 1).is_some_and(|t| t.is_word("super"))
                {
                    (climbed, after) = (climbed + 1, after + 2);
                }
                let at_root = word == "crate" || climbed >= depth + inline.len();
                if starts && at_root && tokens.get(after) == Some(&Token::Path) {
                    let mut paths = Vec::new();
                    let mut end = after + 1;
                    tree(&tokens, &mut end, &[], &mut paths);
                    found.extend(paths.into_iter().map(|(path, _)| path[0].clone()));
                }
                at = after - 1;
            }
            _ => {}
        }
        at += 1;
    }
    found.retain(|name| name != "self");
    found.sort();
    found.dedup();
    found
}

/// The names `lib.rs` re-exports, with the module each comes from.
fn reexports(lib: &str) -> HashMap<String, String> {
    let tokens = tokens(lib);
    let mut found = Vec::new();
    let uses = (0..tokens.len()).filter(|&i| tokens[i].is_word("use"));
    uses.for_each(|i| tree(&tokens, &mut (i + 1), &[], &mut found));
    let from_root = |mut path: Vec<String>| {
        path.retain(|word| word != "crate" && word != "self");
        path.first().cloned().unwrap_or_default()
    };
    found.into_iter().map(|(path, name)| (name, from_root(path))).collect()
}

/// What is wrong with a file of `module`, `depth` levels below the root: one sentence for each arrow backwards.
fn faults(module: &str, depth: usize, text: &str, reexports: &HashMap<String, String>) -> Vec<String> {
    let place = |name: &str| ORDER.iter().position(|m| *m == name);
    let own = place(module).expect("a module of ORDER");
    let fault = |name: &String| {
        let from = reexports.get(name).unwrap_or(name);
        match place(from) {
            None => Some(format!("names crate::{name}, which is neither in ORDER nor re-exported by lib.rs")),
            Some(other) if other > own => Some(format!("imports from {from}, which comes after {module}")),
            Some(_) if BESIDE.contains(&(from, module)) => {
                Some(format!("imports from {from}, which stands beside {module}"))
            }
            Some(_) => None,
        }
    };
    names_used(text, depth).iter().filter_map(fault).collect()
}

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of a module, each with its depth below the root of the crate.
fn files(module: &str) -> Vec<(PathBuf, usize)> {
    fn below(directory: &Path, depth: usize, found: &mut Vec<(PathBuf, usize)>) {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                below(&path, depth + 1, found);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let is_root = path.file_name().is_some_and(|name| name == "mod.rs");
                found.push((path, if is_root { depth } else { depth + 1 }));
            }
        }
    }
    let mut found = Vec::new();
    let (file, directory) = (source().join(format!("{module}.rs")), source().join(module));
    if file.is_file() {
        found.push((file, 1));
    }
    if directory.is_dir() {
        below(&directory, 1, &mut found);
    }
    found
}

#[test]
fn no_module_imports_from_a_later_one() {
    let reexports = reexports(&fs::read_to_string(source().join("lib.rs")).unwrap());
    let (mut all, mut imports) = (Vec::new(), 0);
    for module in ORDER {
        let files = files(module);
        assert!(!files.is_empty(), "{module} is in ORDER, but not in src/");
        for (file, depth) in files {
            let text = fs::read_to_string(&file).unwrap();
            imports += names_used(&text, depth).len();
            let faults = faults(module, depth, &text, &reexports);
            all.extend(faults.iter().map(|fault| format!("{} {fault}", file.display())));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
    assert!(imports > 300, "only {imports} imports were found: the scanner no longer sees them");
}

#[test]
fn every_module_at_the_root_has_its_place() {
    for entry in fs::read_dir(source()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_string();
        assert!(name == "lib" || ORDER.contains(&name.as_str()), "{name} is in src/, but not in ORDER");
    }
}

#[test]
fn every_form_of_import_is_seen() {
    let forms = [
        "use crate::learners;",
        "use crate::learners::Task;",
        "use crate::learners as l;",
        "pub(crate) use crate::learners::*;",
        "use crate::{learners};",
        "use crate::{learners::Task};",
        "use crate::{card::Card, learners};",
        "use crate::{\n    card::{Card, self},\n    learners::{\n        Task,\n    },\n};",
        "use crate::{{card::Card, learners::{self, Task}}};",
        "use crate :: learners ;",
        "use crate::/* here */learners;",
        "use ::std::fmt; use crate::learners;",
        "fn f() -> crate::learners::Task { todo!() }",
        "let x = crate::learners::find(name);",
        "let x: Vec<crate::learners::Task> = Vec::new();",
        "#[serde(with = \"x\")] struct S(crate::learners::Task);",
        "macro_rules! m { () => { $crate::learners::find() } }",
        "let s = \"// no comment\"; crate::learners::find();",
        "let c = '\"'; crate::learners::find(); let d = '\"';",
        "let c = '\\''; crate::learners::find(); let d = '\\'';",
        "fn f<'a>(x: &'a str) { crate::learners::find(x) }",
        "let s = r#\"a \" b\"#; crate::learners::find();",
    ];
    for text in forms {
        assert!(names_used(text, 2).contains(&"learners".to_string()), "{text}");
        assert_ne!(faults("data", 2, text, &HashMap::new()), [""; 0], "{text}");
        let own: Vec<String> = faults("experiment", 2, text, &HashMap::new());
        assert_eq!(own, [""; 0], "{text}");
    }
}

#[test]
fn chains_of_super_are_followed_to_the_root() {
    // In `src/data/split.rs`, two levels below the root.
    assert_eq!(names_used("use super::super::learners;", 2), ["learners"]);
    assert_eq!(names_used("use super::super::{card, learners::Task};", 2), ["card", "learners"]);
    assert_eq!(names_used("use super::learners;", 2), [""; 0]);
    assert_eq!(names_used("mod tests { use super::super::learners; }", 2), [""; 0]);
    assert_eq!(names_used("mod tests { use super::super::super::learners; }", 2), ["learners"]);
    assert_eq!(names_used("mod tests { fn f() {} } use super::super::learners;", 2), ["learners"]);
    assert_eq!(names_used("pub(in super::super) const X: u8 = 1;", 2), [""; 0]);
    // In `src/card.rs`.
    assert_eq!(names_used("use super::learners;", 1), ["learners"]);
}

#[test]
fn what_is_no_import_is_not_taken_for_one() {
    let none = [
        "// use crate::learners;",
        "/// See [`crate::learners::Task`].",
        "/* use crate::learners; /* nested */ use crate::learners; */",
        "let s = \"crate::learners::find\";",
        "let s = \"a \\\" crate::learners::find\";",
        "let s = r#\"crate::learners\" crate::learners\"#;",
        "use other::crate_of::learners;",
        "pub(crate) fn learners() {}",
        "use rankwise::learners;",
    ];
    for text in none {
        assert_eq!(names_used(text, 2), [""; 0], "{text}");
    }
    assert_eq!(names_used("use crate::learners_of::X;", 2), ["learners_of"]);
}

#[test]
fn arrows_between_root_modules_and_siblings_are_seen() {
    let none = HashMap::new();
    let wrong = |module, text| !faults(module, 1, text, &none).is_empty();
    assert!(wrong("watch", "use crate::card::Card;"));
    assert!(wrong("rank", "use crate::data::Dataset;"));
    assert!(wrong("card", "use crate::{error::Error, learners};"));
    assert!(wrong("learners", "use crate::recipe::Recipe;"));
    assert!(wrong("recipe", "use crate::experiment::Spec;"));
    assert!(wrong("trees", "use crate::solvers::bundle;"));
    assert!(wrong("data", "use crate::unheard_of;"));
    assert!(wrong("data", "use crate::*;"));
    assert!(!wrong("recipe", "use crate::{learners::Learner, models::Ranker};"));
    assert!(!wrong("experiment", "use crate::recipe::Recipe;"));
}

#[test]
fn a_name_that_the_root_exports_counts_as_its_module() {
    let lib = "pub mod error;\npub use error::{Error, Result};\npub use crate::models::Ranker as Model;";
    let names = reexports(lib);
    assert_eq!(names["Result"], "error");
    assert_eq!(names["Model"], "models");
    assert_eq!(faults("data", 2, "fn f() -> crate::Result<()> { Ok(()) }", &names), [""; 0]);
    let fault = faults("data", 2, "use crate::Model;", &names);
    assert_eq!(fault, ["imports from models, which comes after data"]);
}
