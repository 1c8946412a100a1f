//! Plain tables for people: no frames, one space-separated column after another, numbers to the right.

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle};
use std::io::stdout;
use terminal_size::terminal_size_of;

/// The width of a terminal that everything must fit in, and of output that goes to no terminal.
pub(crate) const WIDTH: u16 = 80;

/// A table with `headers`; those that start with `>` head right-aligned columns.
pub(crate) struct Columns {
    table: Table,
    right: Vec<bool>,
    header: bool,
}

impl Columns {
    pub(crate) fn new(headers: &[&str]) -> Self {
        let right: Vec<bool> = headers.iter().map(|h| h.starts_with('>')).collect();
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction(' ')));
        table.set_width(terminal_size_of(stdout()).map_or(WIDTH, |(width, _)| width.0));
        table.set_content_arrangement(ContentArrangement::Dynamic);
        let cells = headers.iter().zip(&right).map(|(h, &r)| aligned(h.trim_start_matches('>'), r));
        table.set_header(cells);
        Columns { table, right, header: true }
    }

    /// Lets rows be as wide as they are, for tables that programs or spreadsheets will read.
    pub(crate) fn unbounded(mut self) -> Self {
        self.table.set_content_arrangement(ContentArrangement::Disabled);
        self
    }

    /// Puts columns closer together, for tables with many of them.
    pub(crate) fn close(mut self) -> Self {
        self.table.column_iter_mut().for_each(|column| {
            column.set_padding((0, 1));
        });
        self
    }

    /// Leaves the headers out.
    pub(crate) fn headless(mut self) -> Self {
        self.header = false;
        self
    }

    pub(crate) fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let row: Vec<Cell> =
            cells.into_iter().zip(&self.right).map(|(c, &r)| aligned(c.as_ref(), r)).collect();
        self.table.add_row(row);
    }

    /// The table, each line without trailing spaces.
    pub(crate) fn render(&self) -> String {
        let mut table = self.table.clone();
        for (i, _) in self.right.iter().enumerate().filter(|(_, right)| **right) {
            // Numbers are not to be broken over lines.
            if let Some(column) = table.column_mut(i) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        let skipped = if self.header { 0 } else { 2 };
        table.lines().skip(skipped).map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

fn aligned(text: &str, right: bool) -> Cell {
    let alignment = if right { CellAlignment::Right } else { CellAlignment::Left };
    Cell::new(text).set_alignment(alignment)
}

/// A measure's value as people compare them: four digits.
pub(crate) fn four(value: f64) -> String {
    format!("{value:.4}")
}

/// Six digits: decimals where they show them, else an exponent.
pub(crate) fn six(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-3..1e6).contains(&size) { format!("{value:.6}") } else { format!("{value:.5e}") }
}

/// A probability: never shown as 0 when it is not.
pub(crate) fn probability(p: f64) -> String {
    if p > 0.0 && p < 0.0001 { "<0.0001".into() } else { format!("{p:.4}") }
}

/// Breaks a long line at spaces, so that it fits a terminal.
pub(crate) fn wrap(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is always a line");
        if line.len() + word.len() + 3 > usize::from(WIDTH) {
            lines.push(word.to_string());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines.join("\n  ")
}
