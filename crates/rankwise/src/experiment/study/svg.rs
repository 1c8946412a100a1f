//! Charts as one self-contained SVG without scripts, fonts or links, for light and dark backgrounds.

use super::axis::{Scale, Tick};
use super::chart::{Chart, Mark, Series};
use super::table::StudyTable;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 24.0;
const PANEL_HEIGHT: f64 = 310.0;
const SPACE: f64 = 36.0;
/// Lines of text.
const LINE: f64 = 17.0;
/// Colours in the style sheet; with more series, lines are dashed.
const COLOURS: usize = 7;
const DASHES: [&str; 3] = ["none", "6 4", "2 3"];

/// Colours after Okabe and Ito, moved a little towards enough contrast with either background.
const STYLE: &str = "\
text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;fill:var(--ink)}\
svg{--page:#fff;--line:#e0dcd5;--ink:#22211f;--soft:#66625b;\
--c0:#0072b2;--c1:#d55e00;--c2:#00876a;--c3:#b0558c;--c4:#b57f00;--c5:#3596d0;--c6:#5c5852}\
@media(prefers-color-scheme:dark){svg{--page:#1d1f22;--line:#383c42;--ink:#e9e7e3;--soft:#a8a59e;\
--c0:#4fa3e0;--c1:#f07f3c;--c2:#35c296;--c3:#e195c0;--c4:#ecb335;--c5:#93d2f7;--c6:#b9b5ae}}\
.page{fill:var(--page)}.grid{stroke:var(--line)}.base{stroke:var(--soft)}\
text.h1{font-size:18px;font-weight:600}text.h2{font-size:14px;font-weight:600}\
text.soft{fill:var(--soft)}text.tick{font-size:11px;fill:var(--soft)}\
.line{fill:none;stroke-width:2;stroke-linejoin:round}";

/// How a series looks.
#[derive(Clone, Copy)]
struct Look(usize);

/// The area of the page for one chart.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
}

/// All charts of a table under one title, with one legend.
pub fn svg(title: &str, table: &StudyTable, charts: &[Chart]) -> String {
    let drawn: Vec<(&Chart, Vec<Series>)> = charts.iter().map(|c| (c, c.series(table))).collect();
    let mut names: Vec<&str> = Vec::new();
    for series in drawn.iter().flat_map(|(_, all)| all) {
        if !series.name.is_empty() && !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    let mut body = String::new();
    let mut top = MARGIN;
    for line in wrapped(title, WIDTH - 2.0 * MARGIN, 18.0) {
        top += 1.4 * LINE;
        text(&mut body, MARGIN, top - 6.0, "h1", "start", &line);
    }
    top = legend(&mut body, &names, top) + 0.5 * SPACE;
    let columns = if charts.len() > 1 { 2 } else { 1 };
    let width = (WIDTH - 2.0 * MARGIN - SPACE * (columns - 1) as f64) / columns as f64;
    for (i, (chart, series)) in drawn.iter().enumerate() {
        let left = MARGIN + (i % columns) as f64 * (width + SPACE);
        let frame = Frame { left, top: top + (i / columns) as f64 * (PANEL_HEIGHT + SPACE), width };
        panel(&mut body, &frame, chart, series, &names);
    }
    let height = top + charts.len().div_ceil(columns) as f64 * (PANEL_HEIGHT + SPACE);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" \
         height=\"{height:.0}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n",
        escaped(title)
    )
}

/// Names with their looks, in as many rows as they need from `top` on; returns where they end.
fn legend(body: &mut String, names: &[&str], top: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, top + LINE);
    for (i, name) in names.iter().enumerate() {
        let width = 38.0 + text_width(name, 12.0) + 18.0;
        if x > MARGIN && x + width > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + LINE + 3.0);
        }
        let look = Look(i);
        look.line(body, &format!("M{x:.1} {:.1}h30", y - 4.0));
        look.marker(body, x + 15.0, y - 4.0, 4.0, 1.0);
        text(body, x + 38.0, y, "", "start", name);
        x += width;
    }
    if names.is_empty() { top } else { y }
}

fn panel(body: &mut String, frame: &Frame, chart: &Chart, series: &[Series], names: &[&str]) {
    let mut top = frame.top;
    for line in wrapped(&chart.title, frame.width, 14.0) {
        top += LINE;
        text(body, frame.left, top - 4.0, "h2", "start", &line);
    }
    let left_out: usize = series.iter().map(|s| s.left_out).sum();
    if left_out > 0 {
        top += LINE;
        let are = if left_out == 1 { "point is" } else { "points are" };
        let note = format!("{left_out} {are} not above 0 and cannot be shown on a log axis");
        text(body, frame.left, top - 4.0, "tick", "start", &note);
    }
    top += LINE;
    text(body, frame.left, top - 4.0, "soft", "start", &chart.y.label);
    let bottom = frame.top + PANEL_HEIGHT - 40.0;
    let points = || series.iter().flat_map(|s| &s.points);
    let y = Scale::around(points().map(|p| p.1), chart.y.log, bottom, top + 6.0);
    let ticks = y.ticks(5);
    let widest = ticks.iter().map(|t| text_width(&t.text, 11.0)).fold(0.0, f64::max);
    let (left, right) = (frame.left + widest + 8.0, frame.left + frame.width);
    for tick in &ticks {
        let at = y.at(tick.value);
        let _ = writeln!(body, "<path class=\"grid\" d=\"M{left:.1} {at:.1}H{right:.1}\"/>");
        text(body, left - 6.0, at + 4.0, "tick", "end", &tick.text);
    }
    let x = Scale::around(points().map(|p| p.0), chart.x.log, left, right);
    let _ = writeln!(body, "<path class=\"base\" d=\"M{left:.1} {bottom:.1}H{right:.1}\"/>");
    for tick in apart(x.ticks(8), &x) {
        let at = x.at(tick.value);
        let _ = writeln!(body, "<path class=\"base\" d=\"M{at:.1} {bottom:.1}v5\"/>");
        text(body, at, bottom + LINE, "tick", "middle", &tick.text);
    }
    text(body, (left + right) / 2.0, bottom + 2.0 * LINE + 2.0, "soft", "middle", &chart.x.label);
    for one in series {
        let look = Look(names.iter().position(|n| *n == one.name).unwrap_or(0));
        let places: Vec<(f64, f64)> = one.points.iter().map(|p| (x.at(p.0), y.at(p.1))).collect();
        draw(body, chart.mark, look, &places);
    }
}

fn draw(body: &mut String, mark: Mark, look: Look, places: &[(f64, f64)]) {
    let (size, opacity) = match mark {
        Mark::Line => (3.4, 1.0),
        Mark::Point => (2.6, 0.6),
    };
    if mark == Mark::Line && places.len() > 1 {
        let steps = places.iter().enumerate();
        let path: String =
            steps.map(|(i, (x, y))| format!("{}{x:.1} {y:.1}", if i == 0 { 'M' } else { 'L' })).collect();
        look.line(body, &path);
    }
    places.iter().for_each(|&(x, y)| look.marker(body, x, y, size, opacity));
}

/// The ticks whose labels do not overlap.
fn apart(ticks: Vec<Tick>, scale: &Scale) -> Vec<Tick> {
    let mut end = f64::NEG_INFINITY;
    let fits = |tick: &Tick| {
        let half = text_width(&tick.text, 11.0) / 2.0;
        let fits = scale.at(tick.value) - half > end + 8.0;
        if fits {
            end = scale.at(tick.value) + half;
        }
        fits
    };
    ticks.into_iter().filter(fits).collect()
}

impl Look {
    fn colour(self) -> String {
        format!("var(--c{})", self.0 % COLOURS)
    }

    fn line(self, body: &mut String, path: &str) {
        let dash = DASHES[self.0 / COLOURS % DASHES.len()];
        let colour = self.colour();
        let _ = writeln!(
            body,
            "<path class=\"line\" style=\"stroke:{colour};stroke-dasharray:{dash}\" d=\"{path}\"/>"
        );
    }

    /// Shapes differ as well, for readers who cannot tell the colours apart.
    fn marker(self, body: &mut String, x: f64, y: f64, r: f64, opacity: f64) {
        let path = match self.0 % 4 {
            0 => format!("M{:.1} {y:.1}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0z", x - r, d = 2.0 * r),
            1 => format!("M{:.1} {:.1}h{d}v{d}h-{d}z", x - 0.9 * r, y - 0.9 * r, d = 1.8 * r),
            2 => format!("M{x:.1} {:.1}l{w} {h}h-{d}z", y - 1.2 * r, w = 1.2 * r, h = 2.1 * r, d = 2.4 * r),
            _ => format!("M{x:.1} {:.1}l{w} {w}l-{w} {w}l-{w} -{w}z", y - 1.3 * r, w = 1.3 * r),
        };
        let _ = writeln!(body, "<path style=\"fill:{};opacity:{opacity}\" d=\"{path}\"/>", self.colour());
    }
}

fn text(body: &mut String, x: f64, y: f64, class: &str, anchor: &str, shown: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let shown = escaped(shown);
    let _ = writeln!(body, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{shown}</text>");
}

/// An upper estimate of a text's width; fonts differ.
fn text_width(text: &str, size: f64) -> f64 {
    0.6 * size * text.chars().count() as f64
}

/// Lines that fit into `width`.
fn wrapped(text: &str, width: f64, size: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if !line.is_empty() && text_width(line, size) + text_width(word, size) + size > width {
            lines.push(word.to_owned());
        } else {
            line.push_str(if line.is_empty() { "" } else { " " });
            line.push_str(word);
        }
    }
    lines
}

fn escaped(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::chart::Axis;
    use super::*;

    fn table(rows: &[(&str, f64, f64)]) -> StudyTable {
        let mut table = StudyTable::new([("name", ""), ("x", ""), ("y", "")]);
        table.rows.extend(rows.iter().map(|&(name, x, y)| vec![name.into(), x.into(), y.into()]));
        table
    }

    /// The points of the first line that is not a sample in the legend.
    fn places(picture: &str) -> Vec<(f64, f64)> {
        let path = picture.split("d=\"").find(|d| d.starts_with('M') && d.contains('L')).unwrap();
        let path = path.split('"').next().unwrap().trim_start_matches('M');
        let pair =
            |p: &str| p.split_once(' ').map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap())).unwrap();
        path.split('L').map(pair).collect()
    }

    #[test]
    fn equal_factors_are_equal_steps_on_a_log_axis_and_more_is_higher() {
        let table = table(&[("a", 1.0, 0.0), ("a", 10.0, 1.0), ("a", 100.0, 4.0)]);
        let chart = Chart::lines("t", Axis::log("x", "x"), Axis::linear("y", "y"), "name");
        let at = places(&svg("t", &table, &[chart]));
        assert!(((at[1].0 - at[0].0) - (at[2].0 - at[1].0)).abs() < 0.2, "{at:?}");
        assert!(((at[0].1 - at[1].1) * 3.0 - (at[1].1 - at[2].1)).abs() < 0.5 && at[2].1 < at[1].1, "{at:?}");
    }

    #[test]
    fn what_a_log_axis_cannot_show_is_told_and_markup_is_harmless() {
        let table = table(&[("<a&b>", 1.0, 0.0), ("<a&b>", 2.0, 3.0), ("c", 2.0, f64::NAN)]);
        let chart = Chart::points("t", Axis::linear("x", "x"), Axis::log("y", "y"), "name");
        let picture = svg("<script>", &table, &[chart]);
        assert!(picture.contains("1 point is not above 0"), "{picture}");
        assert!(picture.contains("&lt;a&amp;b&gt;") && !picture.contains("<script>"));
        assert!(!picture.contains("NaN") && !picture.contains("inf"));
    }

    fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
        element.split(&format!(" {name}=\"")).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("")
    }

    /// Left, right, top and bottom of every text.
    fn boxes<'a>(picture: &'a str) -> Vec<([f64; 4], &'a str)> {
        let sized = |element: &str| match attribute(element, "class") {
            "h1" => 18.0,
            "h2" => 14.0,
            "tick" => 11.0,
            _ => 12.0,
        };
        let one = |element: &'a str| {
            let shown = element.split('>').nth(1).unwrap_or("").trim_end_matches("</text");
            let (size, width) = (sized(element), text_width(shown, sized(element)));
            let [x, y] = ["x", "y"].map(|name| attribute(element, name).parse::<f64>().unwrap());
            let left = match attribute(element, "text-anchor") {
                "start" => x,
                "middle" => x - width / 2.0,
                _ => x - width,
            };
            ([left, left + width, y - 0.8 * size, y + 0.2 * size], shown)
        };
        picture.lines().filter(|l| l.starts_with("<text")).map(one).collect()
    }

    #[test]
    fn texts_neither_overlap_nor_leave_the_page() {
        let mut rows = Vec::new();
        let names: Vec<String> = (0..17).map(|i| format!("a-learner-with-a-long-name-{i}")).collect();
        for name in &names {
            rows.extend((-9..9).map(|i| (name.as_str(), 10f64.powi(i), f64::from(i) * 123_456.0)));
        }
        let table = table(&rows);
        let title =
            "A title that is rather long and will not do with one line of the narrow half of the page";
        let axes = [Axis::log("x", "x"), Axis::linear("y", "y"), Axis::log("y", "y")];
        let charts: Vec<Chart> =
            (0..5).map(|i| Chart::lines(title, axes[0].clone(), axes[1 + i % 2].clone(), "name")).collect();
        for count in [1, 2, 5] {
            let picture = svg(&format!("{title}, twice: {title}"), &table, &charts[..count]);
            let boxes = boxes(&picture);
            assert!(boxes.len() > 17 + 10 * count);
            for (i, ([left, right, top, bottom], text)) in boxes.iter().enumerate() {
                assert!(*left >= 0.0 && *right <= WIDTH && *top >= 0.0, "{text} leaves the page");
                for (other, text_there) in &boxes[..i] {
                    let apart =
                        *right <= other[0] || other[1] <= *left || *bottom <= other[2] || other[3] <= *top;
                    assert!(apart, "{text} overlaps {text_there}");
                }
            }
        }
    }
}
