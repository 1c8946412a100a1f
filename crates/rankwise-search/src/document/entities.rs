//! Characters by name, as in `&eacute;` and `&#233;`.

/// HTML's names of the characters 160 to 255, in their order.
const LATIN_1: [&str; 96] = [
    "nbsp", "iexcl", "cent", "pound", "curren", "yen", "brvbar", "sect", "uml", "copy", "ordf", "laquo",
    "not", "shy", "reg", "macr", "deg", "plusmn", "sup2", "sup3", "acute", "micro", "para", "middot",
    "cedil", "sup1", "ordm", "raquo", "frac14", "frac12", "frac34", "iquest", "Agrave", "Aacute", "Acirc",
    "Atilde", "Auml", "Aring", "AElig", "Ccedil", "Egrave", "Eacute", "Ecirc", "Euml", "Igrave", "Iacute",
    "Icirc", "Iuml", "ETH", "Ntilde", "Ograve", "Oacute", "Ocirc", "Otilde", "Ouml", "times", "Oslash",
    "Ugrave", "Uacute", "Ucirc", "Uuml", "Yacute", "THORN", "szlig", "agrave", "aacute", "acirc", "atilde",
    "auml", "aring", "aelig", "ccedil", "egrave", "eacute", "ecirc", "euml", "igrave", "iacute", "icirc",
    "iuml", "eth", "ntilde", "ograve", "oacute", "ocirc", "otilde", "ouml", "divide", "oslash", "ugrave",
    "uacute", "ucirc", "uuml", "yacute", "thorn", "yuml",
];

/// Other names, those of TREC's collections last.
const OTHERS: [(&str, char); 32] = [
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("ndash", '–'),
    ("mdash", '—'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("sbquo", '‚'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bdquo", '„'),
    ("hellip", '…'),
    ("bull", '•'),
    ("euro", '€'),
    ("trade", '™'),
    ("dagger", '†'),
    ("permil", '‰'),
    ("lsaquo", '‹'),
    ("rsaquo", '›'),
    ("minus", '−'),
    ("rarr", '→'),
    ("larr", '←'),
    ("ensp", ' '),
    ("emsp", ' '),
    ("thinsp", ' '),
    ("OElig", 'Œ'),
    ("oelig", 'œ'),
    ("hyph", '-'),
    ("blank", ' '),
    ("cir", '○'),
];

/// The longest text between `&` and `;` that is looked at.
const LONGEST: usize = 10;

/// Appends `text` with its entities as characters. What is no known entity stays as it is.
pub(super) fn push_decoded(out: &mut String, mut text: &str) {
    while let Some(at) = text.find('&') {
        out.push_str(&text[..at]);
        text = &text[at + 1..];
        let end = text.bytes().take(LONGEST + 1).position(|b| b == b';');
        match end.and_then(|end| Some((character(&text[..end])?, end))) {
            Some((c, end)) => {
                out.push(c);
                text = &text[end + 1..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(text);
}

/// The text with its entities as characters.
pub(super) fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_decoded(&mut out, text);
    out
}

fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|c| !c.is_control() || c.is_whitespace());
    }
    if let Some(at) = LATIN_1.iter().position(|known| *known == name) {
        // A space that does not break is a space for search.
        return Some(if at == 0 { ' ' } else { char::from(160 + at as u8) });
    }
    let lower = |(known, _): &&(&str, char)| known.eq_ignore_ascii_case(name) && known.len() <= 5;
    let exact = OTHERS.iter().find(|(known, _)| *known == name);
    exact.or_else(|| OTHERS.iter().find(lower)).map(|(_, c)| *c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_become_characters() {
        let text =
            "R&amp;D &lt;b&gt; caf&eacute; &Eacute;t&#233; &#x2014; &AMP; &yuml;&nbsp;&hyph;x &frac14;";
        assert_eq!(decoded(text), "R&D <b> café Été — & ÿ -x ¼");
    }

    #[test]
    fn what_is_no_entity_stays() {
        for text in
            ["AT&T", "a & b;", "&unknown;", "&#0;", "&#xD800;", "&#99999999999;", "&;", "&#;", "&", "&é;"]
        {
            assert_eq!(decoded(text), text);
        }
    }
}
