//! Text with tags: SGML as TREC writes it, and HTML.

/// A piece of such text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Text with entities.
    Text(&'a str),
    /// Text in which nothing has a meaning.
    Literal(&'a str),
    /// The start of an element: its name and what follows in the tag.
    Open(&'a str, &'a str),
    /// The end of an element.
    Close(&'a str),
}

/// The pieces of a text, without comments. A `<` that starts no tag is text.
pub(super) struct Markup<'a> {
    rest: &'a str,
    /// Which of the ends of [`SPANS`] do not come any more; they are not searched for again.
    absent: [bool; 2],
}

/// Comments and literal text: how they start and end. They may contain tags.
const SPANS: [(&str, &str); 2] = [("<!--", "-->"), ("<![CDATA[", "]]>")];

impl<'a> Markup<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Markup { rest: text, absent: [false; 2] }
    }

    /// The span that `text` starts with: its number, its content and what follows.
    fn span(&mut self, text: &'a str) -> Option<(usize, &'a str, &'a str)> {
        let span = SPANS.iter().position(|(start, _)| text.starts_with(start))?;
        let (start, end) = SPANS[span];
        let found = if self.absent[span] { None } else { text[start.len()..].split_once(end) };
        self.absent[span] = found.is_none();
        found.map(|(content, after)| (span, content, after))
    }

    /// The text up to the next tag or span.
    fn text(&mut self) -> &'a str {
        let mut from = 0;
        while let Some(at) = self.rest[from..].find('<') {
            let at = from + at;
            if starts_tag(&self.rest[at + 1..]) || self.span(&self.rest[at..]).is_some() {
                return &self.rest[..at];
            }
            from = at + 1;
        }
        self.rest
    }
}

impl<'a> Iterator for Markup<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        loop {
            let text = self.text();
            if !text.is_empty() {
                self.rest = &self.rest[text.len()..];
                return Some(Piece::Text(text));
            }
            if self.rest.is_empty() {
                return None;
            }
            if let Some((span, content, after)) = self.span(self.rest) {
                self.rest = after;
                if span == 1 {
                    return Some(Piece::Literal(content));
                }
                continue;
            }
            let (tag, after) = self.rest[1..].split_once('>').unwrap_or_default();
            self.rest = after;
            if !tag.starts_with(['!', '?']) {
                return Some(piece(tag));
            }
        }
    }
}

fn piece(tag: &str) -> Piece<'_> {
    let (closes, tag) = tag.strip_prefix('/').map_or((false, tag), |tag| (true, tag));
    let end = tag.find(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).unwrap_or(tag.len());
    match closes {
        true => Piece::Close(&tag[..end]),
        false => Piece::Open(&tag[..end], &tag[end..]),
    }
}

/// Whether a tag starts with this text after its `<`: it has a name, and ends before the next tag.
fn starts_tag(text: &str) -> bool {
    let name = text.strip_prefix('/').unwrap_or(text);
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic()) || text.starts_with(['!', '?']);
    named && text.find(['<', '>']).is_some_and(|end| text.as_bytes()[end] == b'>')
}

/// The attributes of a tag, with names in lower case: `id="7" url=x`.
pub(super) fn attributes(mut text: &str) -> Vec<(String, &str)> {
    let mut found = Vec::new();
    while let Some((name, after)) = text.split_once('=') {
        let name = name.trim_end().rsplit(|c: char| c.is_whitespace()).next().unwrap_or_default();
        let after = after.trim_start();
        let quote = after.chars().next().filter(|c| ['"', '\''].contains(c));
        let (value, rest) = match quote.and_then(|quote| after[1..].split_once(quote)) {
            Some(split) => split,
            None => after.split_once(|c: char| c.is_whitespace()).unwrap_or((after, "")),
        };
        found.push((name.to_lowercase(), value));
        text = rest;
    }
    found.retain(|(name, _)| !name.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_comments_and_text_are_told_apart() {
        let text = "a < b<P class=x>c<!-- <d> -->e</P >f <3 g<![CDATA[<h>]]><?xml?><!DOCTYPE x>i<j k<l>m<";
        let expected = [
            Piece::Text("a < b"),
            Piece::Open("P", " class=x"),
            Piece::Text("c"),
            Piece::Text("e"),
            Piece::Close("P"),
            Piece::Text("f <3 g"),
            Piece::Literal("<h>"),
            Piece::Text("i<j k"),
            Piece::Open("l", ""),
            Piece::Text("m<"),
        ];
        assert_eq!(Markup::new(text).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_comment_that_is_not_closed_ends_with_its_tag() {
        let pieces: Vec<_> = Markup::new("a<!-- b>c<!-- d>e<!-- f").collect();
        assert_eq!(pieces, [Piece::Text("a"), Piece::Text("c"), Piece::Text("e<!-- f")]);
    }

    #[test]
    fn attributes_are_quoted_or_not() {
        let found = attributes(" ID=\"7 8\" url='x=y' plain=z empty=\"\" checked last");
        let expected = [("id", "7 8"), ("url", "x=y"), ("plain", "z"), ("empty", "")];
        assert_eq!(found, expected.map(|(name, value)| (name.to_owned(), value)));
    }
}
