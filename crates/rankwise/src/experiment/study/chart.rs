//! Which columns of a study's table are drawn against each other, and how.

use super::table::StudyTable;
use serde::Serialize;

/// A chart of a table: one column against another, with a series for each value of a third.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// How points are drawn.
    pub mark: Mark,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The column whose values name the series; one series without a name where there is none.
    pub by: Option<String>,
}

/// How the points of a series are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// Joined by a line, in the order of the table.
    Line,
    /// Not joined.
    Point,
}

/// A column as an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// The column.
    pub column: String,
    /// What it is, with its unit.
    pub label: String,
    /// Whether it is logarithmic; values that are not above 0 are then left out.
    pub log: bool,
}

/// The points of one series.
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<(f64, f64)>,
    /// Points that an axis cannot show.
    pub(super) left_out: usize,
}

impl Chart {
    /// A chart of lines, one for each value of column `by`.
    pub fn lines(title: impl Into<String>, x: Axis, y: Axis, by: &str) -> Chart {
        Chart { title: title.into(), mark: Mark::Line, x, y, by: Some(by.to_owned()) }
    }

    /// A chart of points, with a look for each value of column `by`.
    pub fn points(title: impl Into<String>, x: Axis, y: Axis, by: &str) -> Chart {
        Chart { mark: Mark::Point, ..Chart::lines(title, x, y, by) }
    }

    /// The series in the order in which the table first names them.
    pub(super) fn series(&self, table: &StudyTable) -> Vec<Series> {
        let [x, y] = [&self.x, &self.y].map(|axis| table.index(&axis.column));
        let by = self.by.as_ref().map(|name| table.index(name));
        let mut all: Vec<Series> = Vec::new();
        for row in &table.rows {
            let name = by.map_or(String::new(), |by| row[by].shown());
            let place = all.iter().position(|s| s.name == name).unwrap_or_else(|| {
                all.push(Series { name, points: Vec::new(), left_out: 0 });
                all.len() - 1
            });
            let (Some(x), Some(y)) = (row[x].number(), row[y].number()) else { continue };
            if (self.x.log && x <= 0.0) || (self.y.log && y <= 0.0) {
                all[place].left_out += 1;
            } else {
                all[place].points.push((x, y));
            }
        }
        all
    }
}

impl Axis {
    /// Column `column`, with even steps.
    pub fn linear(column: impl Into<String>, label: impl Into<String>) -> Axis {
        Axis { column: column.into(), label: label.into(), log: false }
    }

    /// Column `column`, with a step for each factor.
    pub fn log(column: impl Into<String>, label: impl Into<String>) -> Axis {
        Axis { log: true, ..Axis::linear(column, label) }
    }
}
