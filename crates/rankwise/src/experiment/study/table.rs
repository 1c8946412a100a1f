//! The numbers of a study: named columns of texts and numbers.

use super::super::export::Sheet;
use serde::Serialize;

/// Named columns, and rows with a cell for each.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StudyTable {
    /// What the cells of a row are.
    pub columns: Vec<Column>,
    /// The rows, in order.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    /// A short name, unique in its table.
    pub name: String,
    /// What it holds, in a few words.
    pub meaning: String,
}

/// A cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// A name.
    Text(String),
    /// A finite number.
    Number(f64),
    /// There is no value.
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        if number.is_finite() { Cell::Number(number) } else { Cell::Empty }
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Cell {
        number.map_or(Cell::Empty, Cell::from)
    }
}

impl Cell {
    /// The number in it.
    pub fn number(&self) -> Option<f64> {
        if let Cell::Number(number) = self { Some(*number) } else { None }
    }

    /// As text, with numbers rounded to four digits.
    pub fn shown(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(number) => brief(*number),
            Cell::Empty => "–".into(),
        }
    }
}

impl StudyTable {
    /// A table without rows; a column is its name and what it holds.
    pub fn new<N: Into<String>, M: Into<String>>(columns: impl IntoIterator<Item = (N, M)>) -> StudyTable {
        let column = |(name, meaning): (N, M)| Column { name: name.into(), meaning: meaning.into() };
        StudyTable { columns: columns.into_iter().map(column).collect(), rows: Vec::new() }
    }

    /// Where the column called `name` stands.
    ///
    /// # Panics
    /// Where there is none: a study knows its own columns.
    pub fn index(&self, name: &str) -> usize {
        let found = self.columns.iter().position(|c| c.name == name);
        found.unwrap_or_else(|| panic!("the table has no column {name}"))
    }

    /// As CSV, with numbers to the last digit.
    pub fn csv(&self) -> String {
        let mut sheet = Sheet::new(self.columns.iter().map(|c| c.name.as_str()));
        for row in &self.rows {
            for cell in row {
                match cell {
                    Cell::Text(text) => sheet.text(text),
                    other => sheet.number(other.number()),
                }
            }
            sheet.end_row();
        }
        sheet.finish()
    }

    /// About `most` rows that show the whole range: of every run of rows with the same first cell, the first, the
    /// last, and some evenly between.
    pub fn excerpt(&self, most: usize) -> Vec<&Vec<Cell>> {
        let groups: Vec<&[Vec<Cell>]> = self.rows.chunk_by(|a, b| a.first() == b.first()).collect();
        let each = (most / groups.len().max(1)).max(2);
        let thinned = |group: &&'_ [Vec<Cell>]| {
            let kept = group.len().min(each);
            let last = group.len() - 1;
            (0..kept).map(move |i| if kept == 1 { 0 } else { i * last / (kept - 1) }).collect::<Vec<_>>()
        };
        groups.iter().flat_map(|group| thinned(group).into_iter().map(|i| &group[i])).collect()
    }
}

/// A number rounded to four digits.
pub fn brief(number: f64) -> String {
    let size = number.abs();
    if number == number.round() && size < 1e6 {
        return format!("{number:.0}");
    }
    if !(1e-3..1e5).contains(&size) {
        return format!("{number:.3e}");
    }
    let decimals = (3 - size.log10().floor() as i32).max(0) as usize;
    format!("{number:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people_have_four_digits() {
        let shown = [0.0, 3.0, -2.5, 0.012344, 123.456, 54321.9, 1e-7, 1.5e9].map(brief);
        assert_eq!(shown, ["0", "3", "-2.500", "0.01234", "123.5", "54322", "1.000e-7", "1.500e9"]);
    }

    #[test]
    fn an_excerpt_keeps_both_ends_of_every_run() {
        let mut table = StudyTable::new([("name", "n"), ("x", "x")]);
        for (name, count) in [("a", 13), ("b", 1), ("c", 2)] {
            table.rows.extend((0..count).map(|i| vec![Cell::from(name), Cell::from(f64::from(i))]));
        }
        let shown: Vec<String> =
            table.excerpt(12).iter().map(|r| format!("{}{}", r[0].shown(), r[1].shown())).collect();
        assert_eq!(shown, ["a0", "a4", "a8", "a12", "b0", "c0", "c1"]);
    }

    #[test]
    fn csv_quotes_texts_and_leaves_absent_numbers_empty() {
        let mut table = StudyTable::new([("a,b", "text"), ("x", "number")]);
        table.rows.push(vec!["q\"".into(), 0.1.into()]);
        table.rows.push(vec!["".into(), f64::NAN.into()]);
        assert_eq!(table.csv(), "\"a,b\",x\n\"q\"\"\",0.1\n,\n");
    }
}
