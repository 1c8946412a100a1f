//! The title and the text of HTML, Markdown and plain text.

use super::entities::decoded;
use super::markup::{Markup, Piece};

/// A file of text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// Its title or first heading.
    pub(super) title: Option<String>,
    /// Its text.
    pub(super) body: String,
}

/// Tags inside words; all others end a word.
const INLINE: [&str; 24] = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "dfn", "em", "font", "i", "kbd", "mark", "q", "s",
    "small", "span", "strong", "sub", "sup", "u", "var", "wbr",
];

/// Elements whose content is no text of the page.
const HIDDEN: [&str; 5] = ["script", "style", "template", "svg", "noscript"];

const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

fn is_in(names: &[&str], name: &str) -> bool {
    names.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Text whose white space is joined: a line end where a block ends, else one space.
#[derive(Default)]
struct Flow {
    text: String,
    gap: Option<char>,
}

impl Flow {
    fn put(&mut self, text: &str) {
        for (number, word) in text.split(char::is_whitespace).enumerate() {
            if number > 0 {
                self.gap = self.gap.or(Some(' '));
            }
            if !word.is_empty() {
                let gap = self.gap.take().filter(|_| !self.text.is_empty());
                self.text.extend(gap);
                self.text.push_str(word);
            }
        }
    }

    fn end_line(&mut self) {
        self.gap = Some('\n');
    }
}

/// A page of HTML, without tags, scripts and styles. Its title is `<title>`, else its first heading.
pub(super) fn html(text: &str) -> Page {
    let (mut title, mut heading, mut body) = (None::<Flow>, None::<Flow>, Flow::default());
    let (mut hidden, mut in_title, mut in_heading) = (None::<&str>, false, false);
    for piece in Markup::new(text) {
        let content = match piece {
            Piece::Text(text) => decoded(text),
            Piece::Literal(text) => text.to_owned(),
            Piece::Close(name) if hidden.is_some_and(|open| open.eq_ignore_ascii_case(name)) => {
                hidden = None;
                continue;
            }
            Piece::Open(..) | Piece::Close(_) if hidden.is_some() => continue,
            Piece::Open(name, _) | Piece::Close(name) => {
                let opens = matches!(piece, Piece::Open(..));
                in_title = opens && title.is_none() && name.eq_ignore_ascii_case("title");
                if is_in(&HEADINGS, name) {
                    in_heading = opens && heading.is_none();
                }
                if opens && is_in(&HIDDEN, name) {
                    hidden = Some(name);
                }
                if !is_in(&INLINE, name) {
                    body.end_line();
                }
                continue;
            }
        };
        if hidden.is_some() {
            continue;
        }
        if in_title {
            title.get_or_insert_default().put(&content);
            continue;
        }
        if in_heading {
            heading.get_or_insert_default().put(&content);
        }
        body.put(&content);
    }
    let titles = [title, heading].into_iter().flatten().map(|flow| flow.text);
    Page { title: titles.into_iter().find(|text| !text.is_empty()), body: body.text }
}

/// A page of Markdown, as it is. Its title is the `title:` of its front matter, else its first heading.
pub(super) fn markdown(text: &str) -> Page {
    Page { title: markdown_title(text), body: text.trim().to_owned() }
}

fn markdown_title(text: &str) -> Option<String> {
    let mut lines = text.lines().peekable();
    if lines.next_if(|line| line.trim_end() == "---").is_some() {
        for line in lines.by_ref().take_while(|line| line.trim_end() != "---") {
            if let Some(title) = line.strip_prefix("title:") {
                let title = title.trim().trim_matches(['"', '\'']);
                return Some(title.to_owned()).filter(|title| !title.is_empty());
            }
        }
    }
    let (mut before, mut fence) = ("", None);
    for line in lines {
        let line = line.trim();
        let marks = ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark));
        if marks.is_some() && (fence.is_none() || fence == marks) {
            fence = if fence.is_none() { marks } else { None };
            before = "";
            continue;
        }
        if fence.is_some() {
            continue;
        }
        if let Some(title) = numbered_heading(line) {
            return Some(title);
        }
        let underlines = |c: char| !line.is_empty() && line.chars().all(|other| other == c);
        if !before.is_empty() && (underlines('=') || underlines('-')) {
            return Some(before.to_owned());
        }
        before = line;
    }
    None
}

/// The text of a heading such as `## Usage`.
fn numbered_heading(line: &str) -> Option<String> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    let title = text.trim().trim_end_matches('#').trim_end();
    let is_heading = (1..=6).contains(&level) && text.starts_with([' ', '\t']) && !title.is_empty();
    is_heading.then(|| title.to_owned())
}

/// Plain text.
pub(super) fn plain(text: &str) -> Page {
    Page { title: None, body: text.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_becomes_its_text() {
        let page = html(
            "<!DOCTYPE html><html><head><TITLE>\n A &amp; B </TITLE><style>p { x: y }</style>\
             <script>if (a<b) { c('<p>') }</script></head><body><!-- <p>no</p> --><h1>Head<em>ing</em></h1>\
             <p>One <b>t</b>wo\n three<br>four</p><ul><li>five<li>six</ul> a < b <svg><title>no</title></svg></body>",
        );
        assert_eq!(page.title.unwrap(), "A & B");
        assert_eq!(page.body, "Heading\nOne two three\nfour\nfive\nsix\na < b");
    }

    #[test]
    fn the_first_heading_is_the_title_of_html_without_one() {
        let page = html("<title> </title>intro<h2>First <i>one</i></h2>text<h1>Second</h1>");
        assert_eq!(page.title.unwrap(), "First one");
        assert_eq!(html("no tags at all"), Page { title: None, body: "no tags at all".into() });
    }

    #[test]
    fn markdown_titles() {
        for (text, title) in [
            ("text\n\n## The *title* ##\n# Later", Some("The *title*")),
            ("```\n# code\n```\nSet\n===\n", Some("Set")),
            ("a b\n---\nc", Some("a b")),
            ("\n---\n# x", Some("x")),
            ("---\ndate: 1\ntitle: \"Of the front\"\n---\n# x", Some("Of the front")),
            ("---\ndate: 1\n---\n# x", Some("x")),
            ("#hashtag\n####### seven\n#\nplain", None),
            ("", None),
        ] {
            assert_eq!(markdown_title(text).as_deref(), title, "{text}");
        }
    }
}
