//! A directory for one test, and commands that run in it.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_rankwise");

/// A directory for one test. It goes with the test.
pub(crate) struct Place(TempDir);

/// The arguments of a command: a line that is split at blanks, or a list.
pub(crate) trait Arguments {
    fn list(&self) -> Vec<&str>;
}

impl Arguments for str {
    fn list(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Arguments for String {
    fn list(&self) -> Vec<&str> {
        self.split_whitespace().collect()
    }
}

impl Arguments for [&str] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Arguments for Vec<&str> {
    fn list(&self) -> Vec<&str> {
        self.clone()
    }
}

impl<const N: usize> Arguments for [&str; N] {
    fn list(&self) -> Vec<&str> {
        self.to_vec()
    }
}

impl Place {
    pub(crate) fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    /// A place with `data.txt`, 30 small queries.
    pub(crate) fn with_data() -> Self {
        let place = Place::new();
        place.ok("synth --shape ohsumed --queries 30 --documents 20 --features 8 -o data.txt");
        place
    }

    pub(crate) fn directory(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    pub(crate) fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names of all files in it.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.directory()).unwrap();
        let mut names: Vec<String> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, arguments: &(impl Arguments + ?Sized)) -> Command {
        let mut command = Command::new(BINARY);
        command.args(arguments.list()).current_dir(self.directory()).stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &(impl Arguments + ?Sized)) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The exit code, standard output and standard error.
    pub(crate) fn outcome(&self, arguments: &(impl Arguments + ?Sized)) -> (i32, String, String) {
        let output = self.run(arguments);
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    }

    /// Standard output and standard error of a command that must succeed.
    pub(crate) fn both(&self, arguments: &(impl Arguments + ?Sized)) -> (String, String) {
        let (code, out, error) = self.outcome(arguments);
        assert_eq!(code, 0, "rankwise {:?}: {out}{error}", arguments.list());
        (out, error)
    }

    /// Standard output of a command that must succeed.
    pub(crate) fn ok(&self, arguments: &(impl Arguments + ?Sized)) -> String {
        self.both(arguments).0
    }

    /// Standard output of a command that must succeed, and that fits a terminal.
    pub(crate) fn narrow(&self, arguments: &(impl Arguments + ?Sized)) -> String {
        let text = self.ok(arguments);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        text
    }

    /// Standard error of a command that must fail with exit code 2 and print no result.
    pub(crate) fn fails(&self, arguments: &(impl Arguments + ?Sized)) -> String {
        let (code, out, error) = self.outcome(arguments);
        assert_eq!(code, 2, "rankwise {:?}: {error}", arguments.list());
        assert!(out.is_empty(), "rankwise {:?} printed {out}", arguments.list());
        error
    }

    /// The same for a command that may print a result.
    pub(crate) fn fails_with_report(&self, arguments: &(impl Arguments + ?Sized)) -> String {
        let (code, _, error) = self.outcome(arguments);
        assert_eq!(code, 2, "rankwise {:?}: {error}", arguments.list());
        error
    }

    /// The JSON that a command prints.
    pub(crate) fn json(&self, arguments: &(impl Arguments + ?Sized)) -> Value {
        serde_json::from_str(&self.ok(arguments)).unwrap()
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}
