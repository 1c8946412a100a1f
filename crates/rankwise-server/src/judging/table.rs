//! The table of judgments. Its last column has the checksum of each row; people may leave it blank in rows of their own.

use crate::journal::{Form, beside};
use rankwise::data::AtomicFile;
use rankwise::labels::{Judgment, JudgmentColumns, Judgments};
use rankwise::{Error, Result};
use std::io::ErrorKind;
use std::path::Path;
use xxhash_rust::xxh3::xxh3_64;

const HEADER: &str = "query,document,judge,grade,note,time,check";

/// A table of judgments as a journal. If it is replaced while judges are at work, what they have said is not in the new file.
pub(super) const FORM: Form = Form {
    name: "a table of judgments with checksums",
    begins: |line| line.trim_ascii_end() == HEADER.as_bytes(),
    is_whole: |line| match seal_of(line) {
        Seal::Intact => true,
        // Editors may leave out the end of the last line.
        Seal::Absent => columns(line) == columns(HEADER.as_bytes()),
        Seal::Broken => false,
    },
    rotates: false,
};

/// What the checksum of a row says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seal {
    /// It is right, or the row is the header.
    Intact,
    /// There is none: a person has written the row.
    Absent,
    /// It is wrong.
    Broken,
}

fn seal_of(row: &[u8]) -> Seal {
    let row = row.trim_ascii_end();
    let comma = row.iter().rposition(|byte| *byte == b',').unwrap_or(0);
    let (content, check) = row.split_at(comma);
    match check.strip_prefix(b",").unwrap_or_default() {
        b"" => Seal::Absent,
        check if check == digits(content).as_bytes() || row == HEADER.as_bytes() => Seal::Intact,
        _ => Seal::Broken,
    }
}

/// Number of columns of a row.
fn columns(row: &[u8]) -> usize {
    let mut is_quoted = false;
    let commas = row.iter().filter(|byte| {
        is_quoted ^= **byte == b'"';
        **byte == b',' && !is_quoted
    });
    1 + commas.count()
}

fn digits(content: &[u8]) -> String {
    format!("{:016x}", xxh3_64(content))
}

/// A judgment as a line with its checksum.
pub(super) fn sealed(judgment: &Judgment) -> Vec<u8> {
    let mut line = Vec::new();
    judgment.push_row(&mut line, b',');
    let check = format!(",{}\n", digits(&line));
    line.extend_from_slice(check.as_bytes());
    line
}

/// Makes the file, or writes one that has no checksums again with them.
pub(super) fn prepare(path: &Path) -> Result<Vec<String>> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Error::io("read", path, error)),
    };
    let header = text.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    if header == HEADER.as_bytes() && text.contains(&b'\n') {
        return Ok(Vec::new());
    }
    // A header that was not written completely.
    let is_new = HEADER.as_bytes().starts_with(&text);
    let judgments = match is_new {
        true => Judgments::default(),
        false => Judgments::read(path, &JudgmentColumns::default())?,
    };
    let mut notes = Vec::new();
    if !is_new {
        let before = beside(path, "before");
        std::fs::copy(path, &before).map_err(|error| Error::io("write", &before, error))?;
        notes.push(format!(
            "{} has no checksums; it was written again with them, and {} is what it was",
            path.display(),
            before.display()
        ));
    }
    let mut file = AtomicFile::create(path)?;
    file.put(format!("{HEADER}\n").as_bytes())?;
    judgments.all().iter().try_for_each(|judgment| file.put(&sealed(judgment)))?;
    file.commit()?;
    Ok(notes)
}

/// Rejects rows that were changed or damaged after they were written. Returns a note on rows of people, if there are any.
pub(super) fn check(path: &Path, table: &[u8]) -> Result<Option<String>> {
    let (mut of_people, mut broken) = (0, Vec::new());
    for (line, row) in rows(table).filter(|(_, row)| !row.trim_ascii().is_empty()) {
        match seal_of(row) {
            Seal::Intact => {}
            Seal::Absent => of_people += 1,
            Seal::Broken => broken.push(line),
        }
    }
    if let Some((first, others)) = broken.split_first() {
        return Err(broken_row(path, *first, others.len()));
    }
    let rows = match of_people {
        1 => "1 row without a checksum was",
        _ => &format!("{of_people} rows without a checksum were"),
    };
    Ok((of_people > 0).then(|| format!("{}: {rows} added by hand, and counted", path.display())))
}

fn broken_row(path: &Path, line: usize, others: usize) -> Error {
    let others = match others {
        0 => String::new(),
        1 => ", and neither does another one".to_owned(),
        _ => format!(", and neither do {others} others"),
    };
    Error::data(format!(
        "{}, line {line}: the row does not fit its checksum{others}; a person or a program has changed it, or the disk has \
         damaged it. If it is right, clear its cell in the column `check`; if the whole table is right, remove that column, and \
         it will be written again. If it is not right, correct the row and clear the cell, or remove the row",
        path.display()
    ))
}

/// The rows of a table with the numbers of their first lines. A row goes on in the next line within quotes.
fn rows(table: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let (mut rest, mut line) = (table, 1);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let mut is_quoted = false;
        let end = rest.iter().position(|byte| {
            is_quoted ^= *byte == b'"';
            *byte == b'\n' && !is_quoted
        });
        let (row, others) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
        let first = line;
        line += row.iter().filter(|byte| **byte == b'\n').count();
        rest = others;
        Some((first, row))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(table: &[u8]) -> Result<Option<String>> {
        check(Path::new("j.csv"), table)
    }

    #[test]
    fn a_last_row_without_its_end_is_whole_if_no_cell_is_missing() {
        let row = sealed(&Judgment { note: Some("a, b".to_owned()), ..Judgment::new("q", "d", "ann", 1.0) });
        let row = row.trim_ascii_end();
        let check = row.len() - 16;
        let whole: Vec<usize> = (1..=row.len()).filter(|end| (FORM.is_whole)(&row[..*end])).collect();
        assert_eq!(whole, [check, row.len()], "with all of its checksum, or with all but it");
    }

    #[test]
    fn rows_of_people_are_judgments_and_changed_rows_are_named() {
        let row =
            |grade: f64| String::from_utf8(sealed(&Judgment::new("q", "d, \"x\"", "ann", grade))).unwrap();
        let table = |rows: &[&str]| format!("{HEADER}\n{}", rows.concat()).into_bytes();
        assert_eq!(checked(&table(&[&row(1.0), &row(2.0)])).unwrap(), None);
        // Spreadsheets end lines in their own way.
        assert_eq!(checked(&table(&[&row(1.0).replace('\n', "\r\n")])).unwrap(), None);
        let by_hand = "q,e,bob,3,\"two\nlines, and\nmore\",,\n";
        let note = checked(&table(&[&row(1.0), by_hand, &row(2.0)])).unwrap().unwrap();
        assert!(note.contains("1 row without a checksum"), "{note}");
        let changed = row(1.0).replace(",1,", ",3,");
        let error = checked(&table(&[&row(1.0), by_hand, &changed, &row(2.0)])).unwrap_err().to_string();
        assert!(error.contains("j.csv, line 6: the row does not fit its checksum; a person"), "{error}");
        let error = checked(&table(&[&changed, &row(2.0), &changed])).unwrap_err().to_string();
        assert!(
            error.contains("line 2: ")
                && error.contains("neither does another one")
                && error.contains("column `check`"),
            "{error}"
        );
    }
}
