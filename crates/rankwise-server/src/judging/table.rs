//! The table of judgments. Its last column has the checksum of each row; people may leave it blank in rows of their own.

use crate::journal::{Form, beside};
use rankwise::data::{AtomicFile, Records, Source};
use rankwise::labels::{Judgment, JudgmentColumns, Judgments};
use rankwise::{Error, Result};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

const HEADER: &str = "query,document,judge,grade,note,time,check";

/// What programs that save a table as UTF-8 may put before it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

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
    end_of_row,
    check: |path, table| check(path, table).map(|_| ()),
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
    let mut quotes = Quotes::default();
    1 + row.iter().filter(|byte| !quotes.holds(**byte) && **byte == b',').count()
}

/// Whether bytes of a row are within quotes. A quote opens at the beginning of a cell only, as in `5" disc`, where it does not.
struct Quotes {
    is_open: bool,
    may_open: bool,
}

impl Default for Quotes {
    fn default() -> Quotes {
        Quotes { is_open: false, may_open: true }
    }
}

impl Quotes {
    /// Takes the next byte. Returns whether a cell holds it that has quotes.
    fn holds(&mut self, byte: u8) -> bool {
        match byte {
            // Two quotes together stand for one.
            b'"' if self.is_open => (self.is_open, self.may_open) = (false, true),
            b'"' => self.is_open = self.may_open,
            _ => self.may_open = matches!(byte, b',' | b'\n' | b'\r'),
        }
        self.is_open
    }
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

/// Makes the file, or writes one that is not in our form again.
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
    if HEADER.as_bytes().starts_with(&text) {
        write(path, &Judgments::default())?;
        return Ok(Vec::new());
    }
    let (mut notes, why) = accepted(path, &text)?;
    let judgments = Judgments::read(path, &JudgmentColumns::default())?;
    let before = keep_before(path, &text).map_err(|error| Error::io("keep a copy of", path, error))?;
    write(path, &judgments)?;
    notes.push(format!("{} {why}, and {} is what it was", path.display(), before.display()));
    Ok(notes)
}

/// Checks a table that is not in our form. Returns notes, and why it is written again. It has checksums if it has their column;
/// they are those of rows as we write them, so only a table with our columns can be checked.
fn accepted(path: &Path, text: &[u8]) -> Result<(Vec<String>, String)> {
    let records = Records::new(Source::open(path)?, b',')?;
    let names = records.names();
    if names.join(",") == HEADER {
        let table = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let notes = check(path, table)?.into_iter().collect();
        return Ok((
            notes,
            "fits its checksums, but was saved in another form; it was written again in ours".to_owned(),
        ));
    }
    if names.iter().any(|name| name.eq_ignore_ascii_case("check")) {
        return Err(Error::data(format!(
            "{} has a column `check`, but its columns are not `{HEADER}`, so the checksums of its rows cannot be verified. \
             Give it these columns in this order; or, if the whole table is right, remove the column `check`, and it will be \
             written again",
            path.display()
        )));
    }
    let dropped: Vec<String> =
        names.iter().filter(|name| !is_usual(name)).map(|name| format!("`{name}`")).collect();
    let dropped = match dropped.is_empty() {
        true => String::new(),
        false => format!(" and without what is no part of a judgment ({})", dropped.join(", ")),
    };
    Ok((Vec::new(), format!("has no checksums; it was written again with them{dropped}")))
}

/// Whether a column of this name may be one of a judgment.
fn is_usual(name: &str) -> bool {
    let others = "qid query_id doc docid doc_id docno document_id assessor annotator worker label rating rel relevance timestamp";
    HEADER.split(',').chain(others.split(' ')).any(|usual| usual == name)
}

/// Writes a table beside itself, to a file that was not there. It is on the disk then.
fn keep_before(path: &Path, text: &[u8]) -> io::Result<PathBuf> {
    let (mut before, mut number) = (beside(path, "before"), 1);
    let mut file = loop {
        match File::create_new(&before) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
            created => break created?,
        }
        before = beside(path, &format!("before.{number}"));
    };
    file.set_permissions(std::fs::metadata(path)?.permissions())?;
    file.write_all(text)?;
    file.sync_all()?;
    // Some systems cannot put the name on the disk by itself.
    if let Some(Ok(directory)) = before.canonicalize()?.parent().map(File::open) {
        let _ = directory.sync_all();
    }
    Ok(before)
}

/// Puts a table of judgments in the place of the file.
fn write(path: &Path, judgments: &Judgments) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.put(format!("{HEADER}\n").as_bytes())?;
    judgments.all().iter().try_for_each(|judgment| file.put(&sealed(judgment)))?;
    file.commit()
}

/// Rejects rows that were changed or damaged after they were written. Returns a note on rows of people, if there are any.
pub(super) fn check(path: &Path, table: &[u8]) -> Result<Option<String>> {
    let (mut of_people, mut broken) = (0, Vec::new());
    for (line, row) in rows(table).filter(|(_, row)| !row.trim_ascii().is_empty()).skip(1) {
        match (columns(row.trim_ascii_end()), seal_of(row)) {
            (_, Seal::Intact) => {}
            (cells, _) if cells != columns(HEADER.as_bytes()) => return Err(wrong_width(path, line, cells)),
            (_, Seal::Absent) => of_people += 1,
            (_, Seal::Broken) => broken.push(line),
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

fn wrong_width(path: &Path, line: usize, cells: usize) -> Error {
    Error::data(format!(
        "{}, line {line}: the row has {cells} of the {} cells `{HEADER}`. Write a comma between each two cells, also empty ones; \
         leave the column `check` of a row of your own empty, and put cells with commas, quotes or ends of lines in quotes",
        path.display(),
        columns(HEADER.as_bytes())
    ))
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

/// The rows of a table with the numbers of their first lines.
fn rows(table: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let (mut rest, mut line) = (table, 1);
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (row, others) = rest.split_at(end_of_row(rest));
        let first = line;
        line += row.iter().filter(|byte| **byte == b'\n').count();
        rest = others;
        Some((first, row))
    })
}

/// Where the first row ends. It goes on in the next line within quotes, unless the quote was left open: then there would be a
/// hole or a whole row of ours within it.
fn end_of_row(table: &[u8]) -> usize {
    let mut quotes = Quotes::default();
    let end = table.iter().position(|byte| !quotes.holds(*byte) && *byte == b'\n');
    let row = &table[..end.map_or(table.len(), |end| end + 1)];
    let mut lines = row.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let is_left_open =
        !std::ptr::eq(first, row) && (row.contains(&0) || lines.any(|line| seal_of(line) == Seal::Intact));
    if is_left_open { first.len() } else { row.len() }
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

    fn ours(judge: &str) -> Vec<u8> {
        let note = Some("two\nlines, \"quoted\"".to_owned());
        sealed(&Judgment { note, ..Judgment::new("q", "d", judge, 1.0) })
    }

    /// Opens a table as a server does. Returns the notes.
    fn taken_up(path: &Path) -> Result<Vec<String>> {
        let mut notes = prepare(path)?;
        let opened = crate::journal::Journal::open(path, u64::MAX, FORM)?;
        notes.extend(opened.notes);
        Ok(notes)
    }

    #[test]
    fn a_table_that_is_written_again_twice_is_kept_twice() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("j.csv");
        let tables = ["query,document,judge,grade,team\nq,d,ann,1,red\n", "qid,doc,judge,grade\nq,d,ann,1\n"];
        let notes = tables.map(|table| {
            std::fs::write(&path, table).unwrap();
            prepare(&path).unwrap().concat()
        });
        let kept = ["before", "before.2"].map(|name| std::fs::read_to_string(beside(&path, name)).unwrap());
        assert_eq!(kept, tables);
        assert!(notes[0].contains("no part of a judgment (`team`), and"), "{notes:?}");
        assert!(!notes[1].contains("no part of") && notes[1].contains("j.csv.before.2 is what"), "{notes:?}");
    }

    #[test]
    fn checksums_are_verified_in_whatever_form_a_table_was_saved() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("j.csv");
        let quoted = format!("\"{}\"", HEADER.replace(',', "\",\""));
        let row = String::from_utf8(sealed(&Judgment::new("q", "d", "ann", 1.0))).unwrap();
        let forms = [format!("\u{feff}{HEADER}\n"), format!("\u{feff}{quoted}\r\n"), format!("{quoted}\n")];
        for header in forms {
            std::fs::write(&path, format!("{header}{row}")).unwrap();
            let notes = taken_up(&path).unwrap();
            assert!(notes[0].contains("fits its checksums, but was saved in another form"), "{notes:?}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{HEADER}\n{row}"));
            let changed = format!("{header}{}", row.replace(",1,", ",3,"));
            std::fs::write(&path, &changed).unwrap();
            let error = taken_up(&path).unwrap_err().to_string();
            assert!(error.contains("line 2: the row does not fit its checksum"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), changed);
        }
        std::fs::write(&path, format!("{},team\n{}", HEADER, row.replace('\n', ",red\n"))).unwrap();
        let error = taken_up(&path).unwrap_err().to_string();
        assert!(error.contains("cannot be verified. Give it these columns"), "{error}");
    }

    /// Whatever the last row of a file is, all of it is kept, all of it is cut off, or the file is refused as it is.
    #[test]
    fn a_row_of_several_lines_is_not_torn_apart() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("j.csv");
        let (header, row) = (format!("{HEADER}\n").into_bytes(), ours("ann"));
        let by_hand = b"q,e,bob,3,\"two\nlines\",,".to_vec();
        std::fs::write(&path, [&header[..], &row, &by_hand].concat()).unwrap();
        assert_eq!(taken_up(&path).unwrap(), [""; 0]);
        assert_eq!(std::fs::read(&path).unwrap(), [&header[..], &row, &by_hand, b"\n"].concat());
        for end in 1..row.len() - 18 {
            let text = [&header[..], &row, &row[..end]].concat();
            std::fs::write(&path, &text).unwrap();
            if row[..end].ends_with(b"\n") {
                assert!(taken_up(&path).is_err() && std::fs::read(&path).unwrap() == text, "{end}");
                continue;
            }
            let notes = taken_up(&path).unwrap();
            assert!(notes[0].contains("complete it and add it again"), "{notes:?}");
            assert_eq!(std::fs::read(&path).unwrap(), [&header[..], &row].concat(), "{end}");
        }
    }

    #[test]
    fn nothing_is_cut_off_a_table_that_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("j.csv");
        let row = ours("ann");
        let left_open: &[u8] = b"q,e,bob,3,\"left open,,\n";
        let text = [format!("{HEADER}\n").as_bytes(), left_open, &row, &row[..5]].concat();
        std::fs::write(&path, &text).unwrap();
        let error = taken_up(&path).unwrap_err().to_string();
        assert!(error.contains("line 2: the row has 5 of the 7 cells"), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), text);
        assert!(!beside(&path, "cut").exists());
    }

    #[test]
    fn a_row_with_too_few_cells_is_told_how_many_there_are() {
        let error = checked(format!("{HEADER}\n212,77,bob,3\n").as_bytes()).unwrap_err().to_string();
        assert!(error.contains("line 2: the row has 4 of the 7 cells") && !error.contains("fit"), "{error}");
        let disc = format!("{HEADER}\nq,5\" disc,bob,3,,,\nq,e,bob,3,,,\n");
        assert!(
            checked(disc.as_bytes()).unwrap().unwrap().contains("2 rows"),
            "a quote within a cell opens nothing"
        );
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
