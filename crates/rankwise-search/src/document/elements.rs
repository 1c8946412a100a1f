//! The elements of a TREC file, such as `<DOC>` and `<top>`, one at a time, and the fields in them.

use super::entities::push_decoded;
use super::markup::{Markup, Piece, attributes};
use rankwise::data::{Line, Lines, Source, quoted};
use rankwise::error::Place;
use rankwise::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// The elements of a file. One that is not closed ends where the next one starts; the last one must be closed, because the
/// file may have been cut short.
pub(super) struct Elements {
    lines: Lines,
    /// The tags that start them, in lower case.
    names: &'static [&'static str],
    longest: u64,
    open: Option<Element>,
    /// Elements that a line has ended, and errors on it.
    ready: VecDeque<Result<Element>>,
    /// Something was malformed: everything up to the next element is left out.
    lost: bool,
}

/// An element.
pub(super) struct Element {
    /// What its tag has after the name.
    attributes: String,
    text: String,
    /// Where it starts.
    pub(super) place: Place,
}

/// A tag of an element that is read.
struct Tag<'a> {
    start: usize,
    end: usize,
    attributes: &'a str,
    closes: bool,
}

impl Elements {
    pub(super) fn new(source: Source, names: &'static [&'static str], longest: u64) -> Self {
        let lines = Lines::new(source, longest);
        Elements { lines, names, longest, open: None, ready: VecDeque::new(), lost: false }
    }

    /// The next element. After an error with a place, the one after it can be read.
    pub(super) fn next(&mut self) -> Result<Option<Element>> {
        while self.ready.is_empty() {
            let mut element = Current { open: &mut self.open, lost: &mut self.lost, longest: self.longest };
            match self.lines.next_line() {
                Ok(None) => return self.open.take().map_or(Ok(None), |element| Err(element.unclosed())),
                Ok(Some(line)) => element.read(line, self.names, &mut self.ready),
                Err(error) => self.ready.push_back(Err(element.lose(error))),
            }
        }
        self.ready.pop_front().transpose()
    }
}

/// The element that is read, if one is open.
struct Current<'a> {
    open: &'a mut Option<Element>,
    lost: &'a mut bool,
    longest: u64,
}

impl Current<'_> {
    fn read(&mut self, line: Line<'_>, names: &[&str], ready: &mut VecDeque<Result<Element>>) {
        let mut at = 0;
        while let Some(tag) = next_tag(line.text, at, names) {
            ready.extend(self.put(line, at..tag.start).err().map(Err));
            ready.extend(self.open.take().map(Ok));
            if !tag.closes {
                let place = line.place(tag.start + 1);
                let attributes = tag.attributes.to_owned();
                *self.open = Some(Element { attributes, text: String::new(), place });
                *self.lost = false;
            }
            at = tag.end;
        }
        ready.extend(self.put(line, at..line.text.len()).err().map(Err));
    }

    /// Adds text to the open element. Outside elements there may be other tags, but no text.
    fn put(&mut self, line: Line<'_>, range: Range<usize>) -> Result<()> {
        let (start, text) = (range.start, &line.text[range]);
        let Some(element) = self.open else {
            let trimmed = text.trim_start();
            if *self.lost || trimmed.is_empty() || trimmed.starts_with('<') {
                return Ok(());
            }
            let at = start + text.len() - trimmed.len();
            let message = format!("text between the elements of the file: {}", quoted(trimmed.as_bytes()));
            return Err(self.lose(Error::parse(line.place(at + 1), message)));
        };
        if (element.text.len() + text.len()) as u64 > self.longest {
            let message = format!("the element that starts here is longer than {} bytes", self.longest);
            let place = element.place.clone();
            return Err(self.lose(Error::parse(place, message)));
        }
        element.text.push_str(text);
        element.text.push('\n');
        Ok(())
    }

    fn lose(&mut self, error: Error) -> Error {
        (*self.open, *self.lost) = (None, true);
        error
    }
}

/// The next tag with one of the names. It must end on its line.
fn next_tag<'a>(line: &'a str, mut from: usize, names: &[&str]) -> Option<Tag<'a>> {
    while let Some(at) = line[from..].find('<') {
        let start = from + at;
        from = start + 1;
        let (closes, inner) =
            line[from..].strip_prefix('/').map_or((false, &line[from..]), |inner| (true, inner));
        let name = inner.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        let rest = &inner[name.len()..];
        let ends = rest.starts_with(|c: char| c == '>' || c.is_whitespace());
        if !ends || !names.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)) {
            continue;
        }
        if let Some((attributes, after)) = rest.split_once('>').filter(|(inner, _)| !inner.contains('<')) {
            return Some(Tag { start, end: line.len() - after.len(), attributes, closes });
        }
    }
    None
}

/// Where text goes while an element is read.
#[derive(Default)]
struct Fields {
    values: Vec<(String, String)>,
    places: HashMap<String, usize>,
    current: usize,
}

impl Fields {
    /// Makes the field the current one.
    fn enter(&mut self, name: &str) {
        self.current = match self.places.get(name) {
            Some(&place) => place,
            None => {
                self.places.insert(name.to_owned(), self.values.len());
                self.values.push((name.to_owned(), String::new()));
                self.values.len() - 1
            }
        };
        self.separate();
    }

    fn text(&mut self) -> &mut String {
        &mut self.values[self.current].1
    }

    /// Ends a word or a paragraph: a tag was here.
    fn separate(&mut self) {
        let text = self.text();
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
}

impl Element {
    fn unclosed(self) -> Error {
        Error::parse(
            self.place,
            "the element that starts here is not closed; the file may have been cut short",
        )
    }

    /// The attributes and tags with their text, by name in lower case. Tags in a tag belong to its text. A tag that is
    /// never closed ends at the next. Tags of the same name are joined by line ends; text in no tag is called `text`.
    pub(super) fn fields(&self) -> Vec<(String, String)> {
        let mut fields = Fields::default();
        for (name, value) in attributes(&self.attributes) {
            fields.enter(&name);
            push_decoded(fields.text(), value);
        }
        fields.enter("text");
        let last_close = last_closes(&self.text);
        // The name of the open tag, and whether it is closed somewhere.
        let mut open: Option<(String, bool)> = None;
        for (number, piece) in Markup::new(&self.text).enumerate() {
            match piece {
                Piece::Text(text) => push_decoded(fields.text(), text),
                Piece::Literal(text) => fields.text().push_str(text),
                Piece::Open(..) if matches!(open, Some((_, true))) => fields.separate(),
                Piece::Open(name, _) => {
                    let name = name.to_lowercase();
                    fields.enter(&name);
                    let closes = last_close.get(&name).is_some_and(|&close| close > number);
                    open = Some((name, closes));
                }
                Piece::Close(name) => match &open {
                    Some((opened, _)) if opened.eq_ignore_ascii_case(name) => {
                        open = None;
                        fields.enter("text");
                    }
                    _ => fields.separate(),
                },
            }
        }
        let trimmed = fields.values.into_iter().map(|(name, text)| (name, text.trim().to_owned()));
        trimmed.filter(|(_, text)| !text.is_empty()).collect()
    }
}

/// For each tag, the number of the piece that closes it last.
fn last_closes(text: &str) -> HashMap<String, usize> {
    let mut last = HashMap::new();
    for (number, piece) in Markup::new(text).enumerate() {
        if let Piece::Close(name) = piece {
            last.insert(name.to_lowercase(), number);
        }
    }
    last
}
