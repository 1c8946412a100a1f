//! Output: results go to standard output, notes and errors to standard error.

use crate::{interrupt, table};
use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result, ensure};
use rankwise::data::check_writable;
use std::borrow::Cow;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Turns notes and progress bars off or on.
pub(crate) fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether notes and progress bars are off.
pub(crate) fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints a result. Control characters, which may come from ids and names in the data, are escaped. If the reader has
/// closed the pipe (`| head`), the program ends without an error.
pub(crate) fn print(text: &str) -> Result<()> {
    print_as_it_is(&table::escaped(text))
}

/// Prints a result whose parts are escaped already and which has styles; these are left out where there is no terminal.
#[cfg(feature = "search")]
pub(crate) fn print_with_style(text: &str) -> Result<()> {
    print_as_it_is(text)
}

fn print_as_it_is(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        other => other.context("cannot write to standard output"),
    }
}

/// The version of the JSON output, raised when a field changes its meaning or goes away. `docs/json.md` lists them.
const SCHEMA: u64 = 1;

/// Prints a result as JSON. Objects get a field `schema`, the version of the output.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<()> {
    let versioned = value.as_object().map(|object| {
        let schema = ("schema".to_string(), SCHEMA.into());
        std::iter::once(schema).chain(object.clone()).collect::<serde_json::Value>()
    });
    let text = serde_json::to_string_pretty(versioned.as_ref().unwrap_or(value))?;
    print_as_it_is(&format!("{}\n", json_escaped(&text)))
}

/// JSON in which the control characters that JSON allows in strings are escaped, too.
fn json_escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(table::is_unprintable) {
        return text.into();
    }
    let escaped = |c: char| match table::is_unprintable(c) {
        true => format!("\\u{:04x}", u32::from(c)),
        false => c.to_string(),
    };
    text.chars().map(escaped).collect::<String>().into()
}

/// A path in JSON; bytes that are not UTF-8 are replaced.
pub(crate) fn json_path(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Prints what the user should know besides the result.
pub(crate) fn note(text: impl AsRef<str>) {
    if !is_quiet() {
        message(AnsiColor::Yellow, "note", text.as_ref());
    }
}

/// Prints all of `notes`.
pub(crate) fn notes(notes: &[String]) {
    notes.iter().for_each(note);
}

/// Prints a command to run next: on one line, however long, so that it can be copied.
pub(crate) fn next_command(what: &str, command: &str) {
    if !is_quiet() {
        note(format!("{what}:"));
        let _ = writeln!(anstream::stderr(), "  {command}");
    }
}

/// An argument as a POSIX shell reads it.
pub(crate) fn shell_quoted(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:@+%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// Prints what went wrong, and why.
pub(crate) fn error(error: &anyhow::Error) {
    let text = sentence(error);
    message(AnsiColor::Red, "error", &text);
    if let Some(hint) = hint(&text) {
        message(AnsiColor::Cyan, "hint", &hint);
    }
}

/// The flag that helps, since the library's errors know no flags.
fn hint(error: &str) -> Option<String> {
    let flag = if let Some((_, columns)) = error.split_once("not features can be ignored: ")
        && columns.ends_with('`')
        && !columns.contains('…')
    {
        let columns = columns.trim_matches('`').replace("`, `", ",");
        format!("--ignore {columns}, or --categorical for columns with categories")
    } else if error.contains("unless no column is named for the query weight") {
        "--weight '' to read the column as a feature".to_owned()
    } else if error.contains("with the option `group`") {
        "--group".to_owned()
    } else if let Some((_, id)) = error.split_once("read it with the first id ") {
        format!("--first-id {id}")
    } else if error.contains("state the number of the model's first feature") {
        return Some(
            "use --first-id 1 if the columns of the training matrix are features 1, 2, 3 …, and --first-id 0 if the \
             tool was trained on text and took the numbers of features for columns"
                .into(),
        );
    } else if error.contains("change the number of the model's first feature") {
        return Some("`rankwise export MODEL --first-id 0 --format rankwise -o OUT` counts from 0".into());
    } else if error.contains("or round the labels") {
        "--round".to_owned()
    } else if error.contains("raise the limit") {
        "--memory-limit GIB".to_owned()
    } else if error.contains("cannot be written to a TREC file") {
        "--format csv with `score`, --json with `search`, -o NAME.csv with `labels merge`".to_owned()
    } else if error.contains("two documents have the id") {
        "--duplicates keep-first or --duplicates replace".to_owned()
    } else if error.contains("allow larger documents") {
        "--max-document MIB".to_owned()
    } else if error.contains("there is already an index in") {
        "--add to add to it".to_owned()
    } else if error.contains("put text with special characters in quotes") {
        "--syntax words, which takes any text".to_owned()
    } else if error.contains("is not a parameter of") {
        let (_, scorers) = error.split_once("but with scorer ")?;
        format!("--scorer {}", scorers.split(' ').next()?)
    } else {
        return None;
    };
    Some(format!("use {flag}"))
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

fn message(colour: AnsiColor, word: &str, text: &str) {
    let style = Style::new().fg_color(Some(colour.into())).bold();
    let taken = word.len() + 2;
    let escaped = table::escaped(text);
    let text = &*table::shortened(&escaped);
    // In a pipe or a log file, a message stays on one line.
    let text = table::error_width().map_or(text.into(), |width| table::wrap_to(text, width, taken, taken));
    // If standard error is closed, the message is lost.
    let _ = writeln!(anstream::stderr(), "{style}{word}:{style:#} {text}");
}

/// Prepares to write `path`: fails at once if it cannot be written or is one of the files that are `read`, and has its
/// temporary file removed on Ctrl-C.
pub(crate) fn prepare_to_write(path: &Path, read: &[(&str, &Path)]) -> Result<()> {
    read.iter().try_for_each(|(what, used)| keep_apart(what, used, path))?;
    check_writable(path)?;
    interrupt::will_write(path);
    Ok(())
}

/// Returns an error if `written` is the file `used`, which is read.
pub(crate) fn keep_apart(what: &str, used: &Path, written: &Path) -> Result<()> {
    ensure!(
        !same_file(used, written),
        "{what} and the file to write are both {}; give them different names",
        used.display()
    );
    Ok(())
}

/// Whether two paths name the same file, which need not exist.
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
    fn digits_are_grouped_by_thousands() {
        assert_eq!([0, 999, 1000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(count(1, "query", "queries"), "1 query");
    }
}
