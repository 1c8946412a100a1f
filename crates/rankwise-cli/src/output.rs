//! What people and programs see: results on standard output, everything else on standard error.

use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result, ensure};
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Whether notes and progress are to be left out.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether notes and progress are left out.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a result. A reader that has gone away (`| head`) ends the program without a word.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        other => other.context("cannot write to standard output"),
    }
}

/// Prints a result for machines.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    print(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Says something the user should know that is not the result.
pub(crate) fn note(text: impl AsRef<str>) {
    if !is_quiet() {
        say(AnsiColor::Yellow, "note", text.as_ref());
    }
}

/// All of `notes`, each once.
pub(crate) fn notes(notes: &[String]) {
    notes.iter().for_each(note);
}

/// Says what went wrong, and why.
pub(crate) fn error(error: &anyhow::Error) {
    say(AnsiColor::Red, "error", &sentence(error));
}

/// The messages of an error and its causes, without causes that the message before repeats.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut messages: Vec<String> = Vec::new();
    for message in error.chain().map(ToString::to_string) {
        if messages.last().is_none_or(|last| !last.ends_with(&message)) {
            messages.push(message);
        }
    }
    messages.join(": ")
}

fn say(colour: AnsiColor, word: &str, text: &str) {
    let style = Style::new().fg_color(Some(colour.into())).bold();
    // Nothing can be done about a standard error that is closed.
    let _ = writeln!(anstream::stderr(), "{style}{word}:{style:#} {text}");
}

/// Refuses to write a file over another one that is in use.
pub(crate) fn keep_apart(what: &str, used: &Path, written: &Path) -> Result<()> {
    ensure!(
        !same_file(used, written),
        "{what} and the file to write are both {}; give them different names",
        used.display()
    );
    Ok(())
}

/// Whether two paths lead to one file, whether it exists yet or not.
fn same_file(a: &Path, b: &Path) -> bool {
    let resolved = |path: &Path| {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let whole = path.canonicalize().ok();
        whole.or_else(|| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
    };
    a.as_os_str() != "-" && resolved(a).is_some_and(|a| resolved(b) == Some(a))
}

/// `1 query`, `12,345 queries`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", thousands(n), if n == 1 { one } else { many })
}

/// `12,345`.
pub(crate) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_that_the_message_contains_is_printed_once() {
        let cause = rankwise::Error::io("read", "x.txt", std::io::Error::other("no luck"));
        let error = anyhow::Error::new(cause).context("the experiment failed");
        assert_eq!(sentence(&error), "the experiment failed: cannot read x.txt: no luck");
    }

    #[test]
    fn numbers_are_grouped_by_threes() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(1, "query", "queries"), "1 query");
    }
}
