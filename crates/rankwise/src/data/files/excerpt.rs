//! Text of a file, quoted in a message.

/// The largest number of characters quoted.
const SHOWN: usize = 40;

/// `text` in backquotes: long text is cut, control characters are escaped, and invalid UTF-8 is replaced.
pub fn quoted(text: &[u8]) -> String {
    let readable = String::from_utf8_lossy(&text[..text.len().min(4 * SHOWN)]);
    let mut shown = String::from("`");
    for c in readable.chars().take(SHOWN) {
        match c.is_control() {
            true => shown.extend(c.escape_default()),
            false => shown.push(c),
        }
    }
    if readable.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown.push('`');
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_and_made_printable() {
        assert_eq!(quoted(b"1:x"), "`1:x`");
        assert_eq!(quoted(b"a\tb\x1b["), "`a\\tb\\u{1b}[`");
        assert_eq!(quoted(b"\xff"), "`\u{fffd}`");
        assert_eq!(quoted(&[b'7'; 40]), format!("`{}`", "7".repeat(40)));
        assert_eq!(quoted("é".repeat(1000).as_bytes()), format!("`{}…`", "é".repeat(40)));
    }
}
