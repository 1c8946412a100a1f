//! Plain tables without frames: numbers are aligned to the right and never broken over lines.

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};
use std::borrow::Cow;
use std::io::{stderr, stdout};
use terminal_size::terminal_size_of;

/// The width that tables and text are made for where there is no terminal, and that no text exceeds.
pub(crate) const WIDTH: u16 = 80;

/// The fewest columns that a table is made for.
const NARROWEST: u16 = 20;

/// The longest word, in characters, that messages and cells show whole.
const LONGEST_WORD: usize = 300;

/// A table with `headers`; those that start with `>` head right-aligned columns.
pub(crate) struct Columns {
    table: Table,
    right: Vec<bool>,
    /// The longest cell of a right-aligned column, the longest word of another.
    unbreakable: Vec<usize>,
    header: bool,
    bounded: bool,
}

impl Columns {
    pub(crate) fn new(headers: &[&str]) -> Self {
        let right: Vec<bool> = headers.iter().map(|h| h.starts_with('>')).collect();
        let mut table = Table::new();
        table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction(' ')));
        table.set_width(terminal_size_of(stdout()).map_or(WIDTH, |(width, _)| usable(width.0)));
        table.set_content_arrangement(ContentArrangement::Dynamic);
        let cells = headers.iter().zip(&right).map(|(h, &r)| aligned(h.trim_start_matches('>'), r));
        table.set_header(cells);
        let headers = headers.iter().map(|h| h.trim_start_matches('>'));
        let unbreakable = headers.zip(&right).map(|(h, &r)| unbreakable(h, r)).collect();
        Columns { table, right, unbreakable, header: true, bounded: true }
    }

    /// Never breaks a row over several lines, for tables that programs read.
    pub(crate) fn unbounded(mut self) -> Self {
        self.table.set_content_arrangement(ContentArrangement::Disabled);
        self.bounded = false;
        self
    }

    /// Puts columns closer together, for tables with many columns.
    pub(crate) fn close(mut self) -> Self {
        self.table.column_iter_mut().for_each(|column| {
            column.set_padding((0, 1));
        });
        self
    }

    /// Omits the header.
    pub(crate) fn headless(mut self) -> Self {
        self.header = false;
        self
    }

    pub(crate) fn row<S: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = S>) {
        let mut row = Vec::new();
        for ((cell, &right), widest) in cells.into_iter().zip(&self.right).zip(&mut self.unbreakable) {
            let cell = escaped(cell.as_ref());
            let shown = if self.bounded { shortened(&cell) } else { Cow::Borrowed(&*cell) };
            *widest = unbreakable(&shown, right).max(*widest);
            row.push(aligned(&shown, right));
        }
        self.table.add_row(row);
    }

    /// The table, each line without trailing spaces.
    pub(crate) fn render(&self) -> String {
        let mut table = self.table.clone();
        // A space on either side of each column, and one between columns.
        let needed: usize = self.unbreakable.iter().map(|width| width + 3).sum();
        let words_fit = needed <= usize::from(table.width().unwrap_or(WIDTH));
        for ((i, &right), &width) in self.right.iter().enumerate().zip(&self.unbreakable) {
            let Some(column) = table.column_mut(i) else { continue };
            if right {
                column.set_constraint(ColumnConstraint::ContentWidth);
            } else if words_fit {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width as u16 + 2)));
            }
        }
        let skipped = if self.header { 0 } else { 2 };
        table.lines().skip(skipped).map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// How many characters of a cell must stay on one line.
fn unbreakable(text: &str, right: bool) -> usize {
    let count = |text: &str| text.chars().count();
    if right { count(text) } else { text.split_whitespace().map(count).max().unwrap_or(0) }
}

fn aligned(text: &str, right: bool) -> Cell {
    let alignment = if right { CellAlignment::Right } else { CellAlignment::Left };
    Cell::new(text).set_alignment(alignment)
}

/// A metric's value, with four decimals.
pub(crate) fn four(value: f64) -> String {
    format!("{value:.4}")
}

/// Six decimals, or six digits and an exponent for very large and very small numbers.
pub(crate) fn six(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-3..1e6).contains(&size) { format!("{value:.6}") } else { format!("{value:.5e}") }
}

/// Several citations, separated by semicolons.
pub(crate) fn citations<S: AsRef<str>>(keys: &[S]) -> String {
    keys.iter().map(|key| rankwise::card::citation(key.as_ref())).collect::<Vec<_>>().join("; ")
}

/// A probability: never shown as 0 when it is not.
pub(crate) fn probability(p: f64) -> String {
    if p > 0.0 && p < 0.0001 { "<0.0001".into() } else { format!("{p:.4}") }
}

/// A p-value for a sentence: `= 0.0123`, or `< 0.0001`.
pub(crate) fn p_value(p: f64) -> String {
    match probability(p).strip_prefix('<') {
        Some(limit) => format!("< {limit}"),
        None => format!("= {}", probability(p)),
    }
}

/// Breaks long lines between words for a terminal of 80 columns; later lines are indented by two.
pub(crate) fn wrap(text: &str) -> String {
    wrap_to(text, usize::from(WIDTH), 0, 2)
}

/// An item of a list, wrapped.
pub(crate) fn bullet(text: &str) -> String {
    format!("- {}\n", wrap_to(text, usize::from(WIDTH), 2, 2))
}

/// Breaks long lines between words, so that none has more than `width` characters where words allow it. `taken`
/// characters of the first line are in use already; every new line starts with `indent` spaces.
pub(crate) fn wrap_to(text: &str, width: usize, taken: usize, indent: usize) -> String {
    let mut wrapped = String::new();
    let mut used = taken;
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            wrapped.push('\n');
            used = 0;
        }
        if used + line.chars().count() <= width {
            wrapped.push_str(line);
            continue;
        }
        for (place, word) in line.split(' ').enumerate() {
            let length = word.chars().count();
            if place > 0 && used + 1 + length > width {
                wrapped.push('\n');
                wrapped.push_str(&" ".repeat(indent));
                used = indent;
            } else if place > 0 {
                wrapped.push(' ');
                used += 1;
            }
            wrapped.push_str(word);
            used += length;
        }
    }
    wrapped
}

/// The width of the terminal at standard error, 80 at most; `None` where that is no terminal.
pub(crate) fn error_width() -> Option<usize> {
    terminal_size_of(stderr()).map(|(width, _)| usize::from(usable(width.0).min(WIDTH)))
}

/// The width to use on a terminal of `columns`; some report none, and with too few no line would be readable.
fn usable(columns: u16) -> u16 {
    if columns == 0 { WIDTH } else { columns.max(NARROWEST) }
}

/// Whether a terminal would obey a character instead of showing it: control characters, and those that change the
/// direction of text.
pub(crate) fn is_unprintable(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with unprintable characters as escapes, such as `\u{1b}`.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match is_unprintable(c) {
            true => escaped.extend(c.escape_default()),
            false => escaped.push(c),
        }
    }
    escaped.into()
}

/// The text with every word cut to a length that fits some lines.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    if text.split_whitespace().all(|word| word.len() <= LONGEST_WORD) {
        return text.into();
    }
    let cut = |word: &str| match word.char_indices().nth(LONGEST_WORD) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    };
    let lines = text.split('\n').map(|line| line.split(' ').map(cut).collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n").into()
}

#[cfg(test)]
mod tests {
    use super::{Columns, escaped, p_value, shortened, usable, wrap_to};

    #[test]
    fn a_small_p_is_no_equation() {
        assert_eq!((p_value(0.00001), p_value(0.25)), ("< 0.0001".to_owned(), "= 0.2500".to_owned()));
    }

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_long_words_are_cut() {
        assert_eq!(escaped("a\u{1b}]0;x\u{7}\u{9b}2J\r\tb\n"), "a\\u{1b}]0;x\\u{7}\\u{9b}2J\\r\tb\n");
        assert_eq!(escaped("\u{202e}é"), "\\u{202e}é");
        let name = "é".repeat(1_000_000);
        assert_eq!(shortened(&format!("no {name} here")), format!("no {}… here", "é".repeat(300)));
        let mut table = Columns::new(&["name", ">n"]);
        table.row([&*name, "1"]);
        table.row(["\u{1b}[31mred", "2"]);
        let text = table.render();
        assert!(text.len() < 2000 && text.contains("\\u{1b}[31mred"), "{text}");
    }

    #[test]
    fn a_terminal_without_columns_is_one_of_80() {
        assert_eq!([0, 1, 40, 200].map(usable), [80, 20, 40, 200]);
    }

    #[test]
    fn words_in_cells_are_not_broken() {
        let mut table = Columns::new(&["step", ">a rather long heading of 35 characters", "options"]);
        table.row([
            "empty-queries",
            "1",
            "lacking=relevant threshold=1 and more words that need several lines",
        ]);
        let text = table.render();
        assert!(text.contains("empty-queries") && text.contains("lacking=relevant"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn lines_break_between_words_only() {
        assert_eq!(wrap_to("one two three", 9, 0, 2), "one two\n  three");
        assert_eq!(wrap_to("one two three", 9, 4, 2), "one\n  two\n  three");
        assert_eq!(wrap_to("é é é", 5, 0, 2), "é é é");
        assert_eq!(wrap_to("extraordinarily long", 8, 0, 2), "extraordinarily\n  long");
        assert_eq!(wrap_to("  a table\n  of rows\n", 20, 6, 2), "  a table\n  of rows\n");
    }
}
