//! Decimal text to f32, with the exact rounding of `str::parse`, but faster.

/// `10⁻ᵏ`, each the f64 nearest to it.
const NEGATIVE_POWERS: [f64; 16] =
    [1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15];
const INTEGER_POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

/// `10ᵏ`, all exact in f32.
const SHORT_POWERS: [f32; 8] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;

/// Below this every integer is exact in f64.
const EXACT: u64 = 1 << 53;

/// A number that is all of `text`: decimal, with or without sign, point and exponent, or `inf`. Too large a number
/// becomes infinite, as in `str::parse`.
pub(super) fn parse(text: &[u8]) -> Option<f32> {
    match leading(text) {
        Some((value, length)) if length == text.len() => Some(value),
        _ => fast_float2::parse::<f32, _>(text).ok(),
    }
}

/// Whether `text` is a missing value: `NULL`, `NA` or `NaN`, in upper or lower case.
pub(super) fn is_missing(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    unsigned.eq_ignore_ascii_case(b"nan")
        || text.eq_ignore_ascii_case(b"null")
        || text.eq_ignore_ascii_case(b"na")
}

/// The plain decimal number (`12`, `-0.25`) that `text` starts with, and its length in bytes. `None` only means that
/// [`parse`] is needed: there are too many digits, rounding needs care, or fewer than 8 bytes follow. The caller must
/// check that the number ends there.
///
/// With `m` the digits as an integer below 2⁵³ and `k` of them behind the point, `d = m · 10⁻ᵏ` in f64 has an
/// error of less than two units in the last place (a division would be exact, but is the slowest step). Rounding it to
/// f32 is correct unless a midpoint between adjacent f32 lies in between: those are the f64 whose last 29 bits are
/// `0x1000_0000`. (`d ≥ 10⁻¹⁵` or 0: never subnormal.)
#[inline(always)]
pub(super) fn leading(text: &[u8]) -> Option<(f32, usize)> {
    let negative = *text.first()? == b'-';
    let start = usize::from(negative);
    let (whole, digits) = leading_digits(text.get(start..)?)?;
    if digits == 0 || digits == 8 {
        return None;
    }
    let mut end = start + digits;
    let (mut mantissa, mut decimals) = (whole, 0);
    if *text.get(end)? == b'.' {
        let (fraction, digits) = leading_digits(text.get(end + 1..)?)?;
        mantissa = mantissa * INTEGER_POWERS[digits] + fraction;
        decimals = digits;
        end += 1 + digits;
        if digits == 8 {
            let (fraction, digits) = leading_digits(text.get(end..)?)?;
            mantissa = mantissa.checked_mul(INTEGER_POWERS[digits])?.checked_add(fraction)?;
            decimals += digits;
            end += digits;
            if digits == 8 || mantissa >= EXACT {
                return None;
            }
        }
    }
    // As a signed integer, which the processor converts in one step.
    let value = mantissa as i64 as f64 * NEGATIVE_POWERS[decimals];
    let beyond_midpoint = (value.to_bits() as u32 & 0x1fff_ffff).wrapping_sub(0x1000_0000 - 2);
    if beyond_midpoint <= 4 {
        return None;
    }
    let value = value as f32;
    Some((if negative { -value } else { value }, end))
}

/// Like [`leading`], for numbers of at most 7 digits without a sign; `word` is the first 8 bytes of text.
///
/// The digits, as an integer below 10⁷ < 2²⁴, and the power of ten to divide by are exact in f32, so the quotient is
/// rounded only once.
#[inline(always)]
pub(super) fn short(word: u64) -> Option<(f32, usize)> {
    let (values, others) = digits_and_others(word);
    // The most common form, `0.123456`. With a constant length the processor can continue speculatively with the text
    // that follows.
    if others == 0x8000 && (word >> 8) as u8 == b'.' {
        let joined = (values & 0xff) | ((values >> 8) & !0xff);
        return Some((eight_digits(joined << 8) as f32 / 1e6, 8));
    }
    // The position, in bits, of the first byte that is not a digit.
    let first = others.trailing_zeros() & !7;
    if others == 0 {
        return None;
    }
    if (word >> first) as u8 != b'.' {
        return (first > 0).then(|| (eight_digits(values << (64 - first)) as f32, (first / 8) as usize));
    }
    let rest = others & (others - 1);
    let second = rest.trailing_zeros() & !7;
    let digits = second - 8;
    if digits == 0 {
        return None;
    }
    // Joins the digits after the point with those before it.
    let before = (1 << first) - 1;
    let joined = (values & before) | ((values >> 8) & !before);
    let mantissa = eight_digits(joined << (64 - digits));
    let decimals = ((digits - first) / 8) as usize;
    Some((mantissa as f32 / SHORT_POWERS[decimals & 7], (second / 8) as usize))
}

/// The at most 8 decimal digits that `text` starts with, as an integer, and their number. `None` if `text` has fewer
/// than 8 bytes.
#[inline(always)]
pub(super) fn leading_digits(text: &[u8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*text.first_chunk::<8>()?);
    let (values, others) = digits_and_others(word);
    let bits = others.trailing_zeros() & !7;
    match bits {
        0 => Some((0, 0)),
        _ => Some((u64::from(eight_digits(values << (64 - bits))), (bits / 8) as usize)),
    }
}

/// Each byte of `word` minus `'0'`, and a word whose lowest set bit is in the first byte that is not a digit. A
/// difference above 9 sets the high bit of its byte; a carry affects only later bytes.
#[inline(always)]
fn digits_and_others(word: u64) -> (u64, u64) {
    let values = word ^ 0x3030_3030_3030_3030;
    (values, (values.wrapping_add(0x7676_7676_7676_7676) | values) & HIGH_BITS)
}

/// The number with these eight digits, one per byte, the first in the lowest byte. Digits are summed in pairs, then
/// pairs of pairs. Fewer digits must be shifted up, which puts zeros before them.
#[inline(always)]
fn eight_digits(digits: u64) -> u32 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    (low.wrapping_add(high) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use proptest::prelude::*;
    use rand::RngExt;

    /// Both parsers agree with the standard library, whatever follows the number.
    fn check(text: &str) {
        let expected: f32 = text.parse().unwrap();
        let found = parse(text.as_bytes()).unwrap_or_else(|| panic!("{text} is not read"));
        assert_eq!(found.to_bits(), expected.to_bits(), "{text}");
        let padded = format!("{text} 17:0.5 18:0.25");
        let word = u64::from_le_bytes(*padded.as_bytes().first_chunk().unwrap());
        for (value, length) in [leading(padded.as_bytes()), short(word)].into_iter().flatten() {
            if length == text.len() {
                assert_eq!(value.to_bits(), expected.to_bits(), "{padded}");
            }
        }
    }

    #[test]
    fn numbers_of_every_shape_are_read_like_the_standard_library() {
        for text in [
            "0",
            "-0",
            "+1",
            "1",
            "-1",
            "1.",
            ".5",
            "-.5",
            "0.123456",
            "12345678",
            "123456789012",
            "1e5",
            "1E-5",
            "0.0001e-3",
            "00012",
            "0.000000000000000000001",
            "3.4028235e38",
            "1e-45",
            "1e39",
            "9007199254740993",
            "16777217",
            "16777219",
            "33554435.0",
            "0.30000001192092896",
            "8388608.50000000",
            "1234567.12345678",
            "1.00000005960464477539",
            "1.00000017881393432617",
            "1.000000059604644775390625",
            "inf",
            "-inf",
        ] {
            check(text);
        }
        for text in ["", "-", "+", ".", "e5", "1e", "1x", "0x1", "1,5", "--1", "1 ", "1_0"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_plain_decimal_takes_the_fast_path() {
        let found = |text: &str| leading(text.as_bytes());
        assert_eq!(found("0.123456 2:1 3:000"), Some((0.123456, 8)));
        assert_eq!(found("-12 2:0.5 3:0"), Some((-12.0, 3)));
        assert_eq!(found("2.07944154 3:0.272727"), Some((2.079_441_5, 10)));
        assert_eq!(found("1.5"), None);
        assert_eq!(found("x1234567890"), None);
    }

    /// Values at and beside midpoints of adjacent f32, where rounding twice would be wrong.
    #[test]
    fn midpoints_are_rounded_once() {
        let mut random = rng::stream(5, &[1]);
        for _ in 0..20_000 {
            let lower = f32::from_bits(random.random_range(0x2000_0000..0x4c00_0000));
            let upper = f32::from_bits(lower.to_bits() + 1);
            let middle = (f64::from(lower) + f64::from(upper)) / 2.0;
            for decimals in [6, 8, 12, 16, 30] {
                check(&format!("{middle:.decimals$}"));
            }
            for near in [middle, middle.next_up(), middle.next_down()] {
                check(&near.to_string());
            }
        }
    }

    #[test]
    fn random_numbers_are_read_like_the_standard_library() {
        let mut random = rng::stream(5, &[2]);
        for _ in 0..200_000 {
            let digits = random.random_range(1..20);
            let number = random.random_range(0..10u64.pow(digits));
            let point = random.random_range(0..=digits) as usize;
            let text = format!("{number:0width$}", width = digits as usize);
            let (whole, fraction) = text.split_at(point);
            let sign = ["", "-", "+"][random.random_range(0..3)];
            check(&format!("{sign}{whole}.{fraction}"));
            check(&format!("{sign}{number}e{}", random.random_range(-50..40)));
        }
    }

    #[test]
    fn short_numbers_take_the_fast_path() {
        let found = |text: &[u8; 8]| short(u64::from_le_bytes(*text));
        assert_eq!(found(b"0.123456"), Some((0.123456, 8)));
        assert_eq!(found(b"12 13:4."), Some((12.0, 2)));
        assert_eq!(found(b"1234567 "), Some((1_234_567.0, 7)));
        assert_eq!(found(b"1.\t....."), Some((1.0, 2)));
        assert_eq!(found(b".5 ....."), Some((0.5, 2)));
        for text in [b"12345678", b"-1.5 2:3", b". 123456", b"..123456", b"NULL 1:2", b":1234567"] {
            assert_eq!(found(text), None);
        }
    }

    #[test]
    fn digits_are_counted_and_summed() {
        assert_eq!(leading_digits(b"12345678"), Some((12_345_678, 8)));
        assert_eq!(leading_digits(b"907:1234"), Some((907, 3)));
        assert_eq!(leading_digits(b":1234567"), Some((0, 0)));
        assert_eq!(leading_digits(b"1234567"), None);
        for other in (0..=255u8).filter(|b| !b.is_ascii_digit()) {
            assert_eq!(leading_digits(&[b'4', b'2', other, b'9', b'9', 255, 0, other]), Some((42, 2)));
        }
    }

    #[test]
    fn missing_values_are_null_na_or_nan() {
        for text in ["NULL", "null", "NaN", "nan", "-nan", "NA"] {
            assert!(is_missing(text.as_bytes()), "{text}");
        }
        for text in ["", "-", "n", "none", "-null", "+na", "inf", "0"] {
            assert!(!is_missing(text.as_bytes()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_number_is_read_like_the_standard_library(text in "[-+]?([0-9]{1,24}\\.?[0-9]{0,24}|\\.[0-9]{1,24})([eE][-+]?[0-9]{1,2})?") {
            check(&text);
        }

        #[test]
        fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = (parse(&bytes), leading(&bytes), is_missing(&bytes));
        }
    }
}
