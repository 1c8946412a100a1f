//! How text becomes terms.

use rankwise::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use tantivy::tokenizer::{
    Language, RawTokenizer, StopWordFilter, TextAnalyzer, Token, TokenFilter, TokenStream, Tokenizer,
};
use unicode_segmentation::{UnicodeSegmentation, UnicodeWordIndices};
use xxhash_rust::xxh3::xxh3_64;

/// Longer words are left out: they are encoded data, not language.
pub const LONGEST_TERM: usize = 255;

/// Counted up when an analyzer changes what it makes of a text.
const VERSION: u32 = 1;

/// Text that shows what an analyzer does; a part of its fingerprint.
const PROBE: &str = "The quick-thinking engineer's 3.5 GHz computers weren't optimised for naïve users of \
    Elasticsearch_8, e.g. U.S. universities. Die Häuser der Städte. Les élèves mangeaient. Los niños corrían.";

/// How the text of a field becomes terms.
///
/// All but `keyword` cut text into words by the rules of Unicode and make them lower case. The analyzer of a language
/// also leaves out its stop words and stems the others. `english` is Lucene's: possessives are cut, and the stemmer is
/// Porter's.
///
/// ```
/// use rankwise_search::Analyzer;
/// assert_eq!(Analyzer::English.terms("The engineer's computers"), ["engin", "comput"]);
/// assert_eq!(Analyzer::Plain.terms("The engineer's computers"), ["the", "engineer's", "computers"]);
/// ```
#[derive(Default, Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
#[expect(missing_docs, reason = "languages")]
pub enum Analyzer {
    /// The whole value is one term, unchanged.
    Keyword,
    /// Words in lower case.
    Plain,
    Arabic,
    Danish,
    Dutch,
    #[default]
    English,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

impl Analyzer {
    /// All analyzers.
    pub const ALL: [Analyzer; 20] = [
        Analyzer::Keyword,
        Analyzer::Plain,
        Analyzer::Arabic,
        Analyzer::Danish,
        Analyzer::Dutch,
        Analyzer::English,
        Analyzer::Finnish,
        Analyzer::French,
        Analyzer::German,
        Analyzer::Greek,
        Analyzer::Hungarian,
        Analyzer::Italian,
        Analyzer::Norwegian,
        Analyzer::Portuguese,
        Analyzer::Romanian,
        Analyzer::Russian,
        Analyzer::Spanish,
        Analyzer::Swedish,
        Analyzer::Tamil,
        Analyzer::Turkish,
    ];

    /// The analyzer of this name.
    pub fn of_name(name: &str) -> Result<Analyzer> {
        Analyzer::ALL.into_iter().find(|analyzer| analyzer.name() == name).ok_or_else(|| {
            let known: Vec<String> = Analyzer::ALL.iter().map(Analyzer::name).collect();
            Error::parameter(format!(
                "there is no analyzer called `{name}`; the analyzers are {}",
                known.join(", ")
            ))
        })
    }

    /// Its name in schemas and options.
    pub fn name(&self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The terms of a text.
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.tokenizer().token_stream(text).process(&mut |token| terms.push(token.text.clone()));
        terms
    }

    /// The tokenizer that does it, for tantivy.
    pub fn tokenizer(&self) -> TextAnalyzer {
        let Some(language) = self.language() else {
            return match self {
                Analyzer::Keyword => TextAnalyzer::builder(RawTokenizer::default()).build(),
                _ => TextAnalyzer::from(Words::default()),
            };
        };
        let possessive = *self == Analyzer::English;
        let words = TextAnalyzer::builder(Words { possessive, ..Words::default() }).dynamic();
        let kept = match StopWordFilter::new(language) {
            Some(stop_words) => words.filter_dynamic(stop_words),
            None => words,
        };
        kept.filter_dynamic(Stem { stemmer: self.stemmer(), is_porter: *self == Analyzer::English }).build()
    }

    /// A fingerprint of what it makes of texts. Models and indexes with other fingerprints do not fit.
    pub fn fingerprint(&self) -> String {
        let seen = format!("{VERSION} {} {}", self.name(), self.terms(PROBE).join(" "));
        format!("{:016x}", xxh3_64(seen.as_bytes()))
    }

    fn stemmer(&self) -> frostem::Stemmer {
        let name = if *self == Analyzer::English { "porter".to_owned() } else { self.name() };
        frostem::Stemmer::try_from_name(&name).expect("every language here has a stemmer")
    }

    fn language(&self) -> Option<Language> {
        Some(match self {
            Analyzer::Keyword | Analyzer::Plain => return None,
            Analyzer::Arabic => Language::Arabic,
            Analyzer::Danish => Language::Danish,
            Analyzer::Dutch => Language::Dutch,
            Analyzer::English => Language::English,
            Analyzer::Finnish => Language::Finnish,
            Analyzer::French => Language::French,
            Analyzer::German => Language::German,
            Analyzer::Greek => Language::Greek,
            Analyzer::Hungarian => Language::Hungarian,
            Analyzer::Italian => Language::Italian,
            Analyzer::Norwegian => Language::Norwegian,
            Analyzer::Portuguese => Language::Portuguese,
            Analyzer::Romanian => Language::Romanian,
            Analyzer::Russian => Language::Russian,
            Analyzer::Spanish => Language::Spanish,
            Analyzer::Swedish => Language::Swedish,
            Analyzer::Tamil => Language::Tamil,
            Analyzer::Turkish => Language::Turkish,
        })
    }
}

impl fmt::Display for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// Words by the rules of Unicode, in lower case, and without the English possessive if asked.
#[derive(Clone, Default)]
struct Words {
    possessive: bool,
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { words: text.unicode_word_indices(), possessive: self.possessive, token: &mut self.token }
    }
}

struct WordStream<'a> {
    words: UnicodeWordIndices<'a>,
    possessive: bool,
    token: &'a mut Token,
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        for (start, word) in self.words.by_ref() {
            self.token.position = self.token.position.wrapping_add(1);
            let kept = if self.possessive { without_possessive(word) } else { word };
            if kept.len() > LONGEST_TERM {
                continue;
            }
            self.token.offset_from = start;
            self.token.offset_to = start + word.len();
            self.token.text.clear();
            if kept.is_ascii() {
                self.token.text.push_str(kept);
                self.token.text.make_ascii_lowercase();
            } else {
                self.token.text.push_str(&kept.to_lowercase());
            }
            return true;
        }
        false
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

fn without_possessive(word: &str) -> &str {
    ["'s", "'S", "’s", "’S"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

/// Replaces words by their stems.
#[derive(Clone, Copy)]
struct Stem {
    stemmer: frostem::Stemmer,
    is_porter: bool,
}

impl TokenFilter for Stem {
    type Tokenizer<T: Tokenizer> = Stemmed<T>;

    fn transform<T: Tokenizer>(self, words: T) -> Stemmed<T> {
        Stemmed { stem: self, words }
    }
}

#[derive(Clone)]
struct Stemmed<T> {
    stem: Stem,
    words: T,
}

impl<T: Tokenizer> Tokenizer for Stemmed<T> {
    type TokenStream<'a> = StemmedStream<T::TokenStream<'a>>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Self::TokenStream<'a> {
        StemmedStream { stem: self.stem, words: self.words.token_stream(text) }
    }
}

struct StemmedStream<S> {
    stem: Stem,
    words: S,
}

impl<S: TokenStream> TokenStream for StemmedStream<S> {
    fn advance(&mut self) -> bool {
        if !self.words.advance() {
            return false;
        }
        let token = self.words.token_mut();
        if self.stem.is_porter {
            if token.text.len() <= 2 {
                return true;
            }
            adapt_to_porter(&mut token.text);
        }
        let stem = self.stem.stemmer.stem(&token.text);
        if stem != token.text && !stem.is_empty() {
            token.text = stem.into_owned();
        }
        true
    }

    fn token(&self) -> &Token {
        self.words.token()
    }

    fn token_mut(&mut self) -> &mut Token {
        self.words.token_mut()
    }
}

/// Endings that Porter's own program, and so Lucene, treats otherwise than his paper, which the stemmer follows. What is
/// made of them here becomes the same stem.
const PORTERS_ENDINGS: [(&str, &str); 5] =
    [("bly", "ble"), ("blies", "ble"), ("logy", "log"), ("logi", "log"), ("logies", "log")];

fn adapt_to_porter(word: &mut String) {
    for (ending, other) in PORTERS_ENDINGS {
        if let Some(before) = word.strip_suffix(ending)
            && has_vowel_before_consonant(before)
        {
            word.truncate(before.len());
            word.push_str(other);
            return;
        }
    }
}

/// Porter's condition m > 0. A `y` is a vowel after a consonant.
fn has_vowel_before_consonant(text: &str) -> bool {
    let mut vowel = false;
    for (at, letter) in text.bytes().enumerate() {
        let was_vowel = vowel;
        vowel =
            matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u') || (letter == b'y' && at > 0 && !was_vowel);
        if was_vowel && !vowel {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_is_lucenes() {
        let terms =
            Analyzer::English.terms("The Reader's flying ponies aren't in U.S. labs, at 3.5 and 1,000 km/h!");
        assert_eq!(terms, ["reader", "fly", "poni", "aren't", "u.", "lab", "3.5", "1,000", "km", "h"]);
    }

    /// By hand with the rules of Porter's program.
    #[test]
    fn english_stems_are_those_of_porters_program() {
        for (word, stem) in [
            ("us", "us"),
            ("s", "s"),
            ("use", "us"),
            ("possibly", "possibl"),
            ("possible", "possibl"),
            ("assemblies", "assembl"),
            ("technology", "technolog"),
            ("technologies", "technolog"),
            ("technological", "technolog"),
            ("theology", "theologi"),
            ("bly", "bly"),
            ("sky", "sky"),
            ("happy", "happi"),
        ] {
            assert_eq!(Analyzer::English.terms(word), [stem], "{word}");
        }
    }

    #[test]
    fn no_term_is_empty() {
        let text: String =
            ('a'..='z').flat_map(|a| ('a'..='z').map(move |b| format!("{a} {a}{b} "))).collect();
        for analyzer in Analyzer::ALL {
            assert!(analyzer.terms(&text).iter().all(|term| !term.is_empty()), "{analyzer}");
        }
    }

    #[test]
    fn positions_count_stop_words() {
        let mut analyzer = Analyzer::English.tokenizer();
        let mut stream = analyzer.token_stream("the cat and the dog");
        let mut seen = Vec::new();
        stream.process(&mut |token| seen.push((token.text.clone(), token.position, token.offset_from)));
        assert_eq!(seen, [("cat".into(), 1, 4), ("dog".into(), 4, 16)]);
    }

    #[test]
    fn every_analyzer_has_a_name_and_a_fingerprint_of_its_own() {
        let mut fingerprints: Vec<String> = Analyzer::ALL.iter().map(Analyzer::fingerprint).collect();
        for analyzer in Analyzer::ALL {
            assert_eq!(Analyzer::of_name(&analyzer.name()).unwrap(), analyzer);
            assert_eq!(serde_json::to_value(analyzer).unwrap(), analyzer.name());
        }
        fingerprints.sort_unstable();
        fingerprints.dedup();
        assert_eq!(fingerprints.len(), Analyzer::ALL.len());
        assert!(Analyzer::of_name("klingon").unwrap_err().to_string().contains("keyword, plain, arabic"));
    }

    #[test]
    fn very_long_words_are_left_out() {
        let text = format!("short {} end", "x".repeat(LONGEST_TERM + 1));
        assert_eq!(Analyzer::Plain.terms(&text), ["short", "end"]);
    }
}
