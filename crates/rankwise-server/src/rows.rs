//! Feature rows as they come in: JSON, read number by number without a tree of values, or little-endian f32.

use crate::call::not_json;
use crate::problem::{Answer, Problem};
use rankwise::data::MAX_FEATURES;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Rows to score.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RowsBody {
    /// All rows, one after the other; NaN for `null`.
    pub(crate) values: Vec<f32>,
    /// Features of a row.
    pub(crate) width: usize,
    /// The model to score with.
    pub(crate) model: Option<String>,
    /// How many rows each query has; all rows are of one query if it is not given.
    pub(crate) sizes: Option<Vec<usize>>,
}

impl RowsBody {
    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }

    /// Reads `{"rows": [[1, 0.5, null], …], "model": "prod", "sizes": [2, 1]}`; all but `rows` may be left out.
    pub(crate) fn from_json(bytes: &[u8], most: usize) -> Answer<RowsBody> {
        let mut reader = Reader { bytes, at: 0 };
        let mut body = RowsBody::default();
        let mut seen: Vec<String> = Vec::new();
        reader.expect(b'{')?;
        let mut more = !reader.skip(b'}');
        while more {
            let key: String = reader.value()?;
            reader.expect(b':')?;
            if seen.contains(&key) {
                return Err(Problem::unusable(format!("the body has `{key}` twice")));
            }
            match &*key {
                "rows" => reader.rows(&mut body, most)?,
                "model" => body.model = reader.value()?,
                "sizes" => body.sizes = reader.value()?,
                other => {
                    return Err(rankwise::card::unknown("field", other, &["rows", "model", "sizes"]).into());
                }
            }
            seen.push(key);
            more = reader.more(b'}')?;
        }
        reader.end()?;
        match seen.iter().any(|key| key == "rows") {
            true => Ok(body),
            false => Err(Problem::unusable("the body has no `rows`, which are lists of numbers")),
        }
    }

    /// Reads little-endian f32, `width` per row.
    pub(crate) fn from_binary(bytes: &[u8], width: usize, most: usize) -> Answer<RowsBody> {
        let row = check_width(width)? * 4;
        if !bytes.len().is_multiple_of(row) {
            return Err(Problem::unusable(format!(
                "the body has {} bytes, which are not rows of {width} features with 4 bytes each",
                bytes.len()
            )));
        }
        check_rows(bytes.len() / row, most)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        let values = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
        Ok(RowsBody { values, width, ..RowsBody::default() })
    }
}

fn check_width(width: usize) -> Answer<usize> {
    match (1..=MAX_FEATURES).contains(&width) {
        true => Ok(width),
        false => Err(Problem::unusable(format!(
            "rows with {width} features cannot be scored; they must have 1 to {MAX_FEATURES}"
        ))),
    }
}

/// Rejects more rows than a request may have.
pub(crate) fn check_rows(rows: usize, most: usize) -> Answer<()> {
    match rows <= most {
        true => Ok(()),
        false => Err(Problem::too_large(format!(
            "the request has more than {most} rows, which is the most that this server takes; send several requests"
        ))),
    }
}

/// A number in JSON is never meant to be infinite, but may be too large for a feature.
pub(crate) fn too_large_value() -> Problem {
    Problem::unusable(
        "a feature value is above 3.4e38 in size, and so too large; use `null` for a missing value",
    )
}

/// Reads JSON from its beginning to its end.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while let Some(byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Steps over a sign, if it is next.
    fn skip(&mut self, sign: u8) -> bool {
        let found = self.peek() == Some(sign);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, sign: u8) -> Answer<()> {
        match self.skip(sign) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("`{}`", char::from(sign)))),
        }
    }

    /// Steps over a comma or the end of a list. Returns whether it was a comma.
    fn more(&mut self, end: u8) -> Answer<bool> {
        if self.skip(b',') {
            return Ok(true);
        }
        match self.skip(end) {
            true => Ok(false),
            false => Err(self.unexpected(&format!("`,` or `{}`", char::from(end)))),
        }
    }

    fn end(&mut self) -> Answer<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.unexpected("the end")),
        }
    }

    fn unexpected(&self, wanted: &str) -> Problem {
        match self.bytes.get(self.at) {
            None => Problem::bad_request("the JSON in the body is cut short"),
            Some(_) => Problem::bad_request(format!(
                "the body is not valid JSON: expected {wanted} at byte {}",
                self.at + 1
            )),
        }
    }

    /// Any value that is not on the hot path.
    fn value<T: DeserializeOwned>(&mut self) -> Answer<T> {
        let mut values = serde_json::Deserializer::from_slice(&self.bytes[self.at..]).into_iter::<Value>();
        let value = match values.next() {
            Some(value) => value.map_err(|error| not_json(&error))?,
            None => return Err(Problem::bad_request("the JSON in the body is cut short")),
        };
        self.at += values.byte_offset();
        serde_json::from_value(value).map_err(|error| not_json(&error))
    }

    fn rows(&mut self, body: &mut RowsBody, most: usize) -> Answer<()> {
        self.expect(b'[')?;
        let (mut rows, mut more) = (0, !self.skip(b']'));
        while more {
            let before = body.values.len();
            self.row(&mut body.values)?;
            let width = body.values.len() - before;
            rows += 1;
            check_rows(rows, most)?;
            if rows == 1 {
                body.width = check_width(width)?;
                let guess = (self.bytes.len() / self.at.max(1) + 1).min(most);
                body.values.reserve(guess * width);
            } else if width != body.width {
                return Err(Problem::unusable(format!(
                    "row {rows} has {width} features, and the rows before it have {}",
                    body.width
                )));
            }
            more = self.more(b']')?;
        }
        Ok(())
    }

    fn row(&mut self, values: &mut Vec<f32>) -> Answer<()> {
        self.expect(b'[')?;
        let mut more = !self.skip(b']');
        while more {
            self.peek();
            let value = match short_number(&self.bytes[self.at..]) {
                Some((length, value)) => {
                    self.at += length;
                    value
                }
                None => self.number()?,
            };
            values.push(value);
            more = match self.bytes.get(self.at) {
                Some(b',') => {
                    self.at += 1;
                    true
                }
                _ => self.more(b']')?,
            };
        }
        Ok(())
    }

    /// A number of any length, or NaN for `null`.
    fn number(&mut self) -> Answer<f32> {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"null") {
            self.at += 4;
            return Ok(f32::NAN);
        }
        let number = number_length(rest).and_then(|length| {
            let value = fast_float2::parse::<f32, _>(&rest[..length]).ok()?;
            Some((length, value))
        });
        match number {
            Some((_, value)) if value.is_infinite() => Err(too_large_value()),
            Some((length, value)) => {
                self.at += length;
                Ok(value)
            }
            None => Err(self.unexpected("a number or `null`")),
        }
    }
}

/// The most digits of a number that is read the short way.
const SHORT: usize = 15;

/// Powers of ten, which are exact in f64, too.
const POWERS: [i64; SHORT + 1] = {
    let mut powers = [1; SHORT + 1];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = 10 * powers[at - 1];
        at += 1;
    }
    powers
};

/// Room for a sign, a point, sixteen digits before it and after it, and whatever comes behind.
const WINDOW: usize = 40;

type Window = [u8; WINDOW];

/// A number of few digits without an exponent, and its length.
#[inline(always)]
fn short_number(bytes: &[u8]) -> Option<(usize, f32)> {
    match bytes.first_chunk() {
        Some(window) => number_in(window),
        None => {
            let mut window = [0; WINDOW];
            window[..bytes.len()].copy_from_slice(bytes);
            number_in(&window)
        }
    }
}

/// Its digits and the power of ten are exact in f64, so their quotient is rounded once. Rounding it again to f32 gives the
/// nearest f32, unless it is halfway between two.
#[inline(always)]
fn number_in(window: &Window) -> Option<(usize, f32)> {
    let start = usize::from(window[0] == b'-');
    let (whole, mut digits) = whole_digits(window, start);
    if whole == 0 || whole > SHORT || (whole > 1 && window[start] == b'0') {
        return None;
    }
    let (mut at, mut fraction) = (start + whole, 0);
    if window[at] == b'.' {
        let (count, behind_point) = sixteen_digits(window, at + 1);
        if count == 0 || whole + count > SHORT {
            return None;
        }
        (at, fraction) = (at + 1 + count, count);
        digits = digits * POWERS[count] + behind_point;
    }
    if matches!(window[at], b'e' | b'E' | b'0'..=b'9') {
        return None;
    }
    let value = digits as f64 / POWERS[fraction] as f64;
    let is_halfway = value.to_bits() & 0x1fff_ffff == 0x1000_0000;
    // Numbers below the smallest normal f32 are halfway elsewhere; so few digits have none but 0.
    (!is_halfway).then_some((at, if start == 1 { -(value as f32) } else { value as f32 }))
}

/// How many digits are before the point, and their value. Often there is one.
#[inline]
fn whole_digits(window: &Window, at: usize) -> (usize, i64) {
    if window[at].is_ascii_digit() && !window[at + 1].is_ascii_digit() {
        return (1, (window[at] - b'0').into());
    }
    sixteen_digits(window, at)
}

/// How many digits are here, up to sixteen, and their value.
#[inline]
fn sixteen_digits(window: &Window, at: usize) -> (usize, i64) {
    let (count, digits) = eight_digits(&window[at..]);
    if count < 8 {
        return (count, digits);
    }
    let (more, last) = eight_digits(&window[at + 8..]);
    (8 + more, digits * POWERS[more] + last)
}

/// How many digits are at the beginning, up to eight, and their value. All are read at once: a word has eight bytes, and
/// each step makes one number of two neighbours, in all its lanes.
#[inline]
fn eight_digits(bytes: &[u8]) -> (usize, i64) {
    let word = bytes.first_chunk().copied().unwrap_or_default();
    let values = u64::from_le_bytes(word) ^ 0x3030_3030_3030_3030;
    // The high bit of a lane is set if its value is above nine. What that carries into later lanes does not matter.
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() / 8;
    // The last digit comes last; the lanes before the first one become zeros.
    let digits = values.checked_shl(64 - 8 * count).unwrap_or(0);
    let pairs = (digits * 10 + (digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let eight = (fours * 10_000 + (fours >> 32)) & 0xffff_ffff;
    (count as usize, eight as i64)
}

/// How many bytes at the beginning are a number by JSON's grammar.
fn number_length(bytes: &[u8]) -> Option<usize> {
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let at_least_one = |from: usize| Some(digits(from)).filter(|count| *count > 0).map(|count| from + count);
    let start = usize::from(bytes.first() == Some(&b'-'));
    let mut end = match bytes.get(start)? {
        b'0' => start + 1,
        _ => at_least_one(start)?,
    };
    if bytes.get(end) == Some(&b'.') {
        end = at_least_one(end + 1)?;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        end = at_least_one(end + 1 + sign)?;
    }
    Some(end)
}

#[cfg(test)]
mod tests;
