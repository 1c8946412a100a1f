//! Decimal text to f32, rounded to nearest as exactly as `str::parse` does it, only quicker.

/// `10^k`, all exact in f64.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];
const INTEGER_POWERS: [u64; 9] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];

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

/// Whether `text` is one of the ways to write a value that is missing: `NULL`, `NA`, `NaN`, in any case.
pub(super) fn is_missing(text: &[u8]) -> bool {
    let unsigned = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    unsigned.eq_ignore_ascii_case(b"nan")
        || text.eq_ignore_ascii_case(b"null")
        || text.eq_ignore_ascii_case(b"na")
}

/// The plain decimal number (`12`, `-0.25`) that `text` starts with, and its length in bytes. `None` only means
/// that [`parse`] must look at it: too many digits, a case of rounding that needs care, or fewer than 8 bytes
/// after one of its parts. What comes after it may still belong to the number: the caller must check.
///
/// With `m` the digits as an integer below 2⁵³ and `k ≤ 22` of them behind the point, `d = m / 10^k` is the
/// correctly rounded f64. Rounding is monotone and the midpoints between neighbouring f32 are f64s themselves, so
/// rounding `d` again to f32 goes wrong only where `d` is such a midpoint. (`d ≥ 10⁻¹⁶` or 0: never subnormal.)
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
    let value = mantissa as f64 / POWERS[decimals];
    if value.to_bits() & 0x1fff_ffff == 0x1000_0000 {
        return None;
    }
    let value = value as f32;
    Some((if negative { -value } else { value }, end))
}

/// The decimal digits that `text` starts with, at most 8 of them, as an integer, and how many they are. `None` when
/// there are not 8 bytes to look at.
#[inline(always)]
pub(super) fn leading_digits(text: &[u8]) -> Option<(u64, usize)> {
    let word = u64::from_le_bytes(*text.first_chunk::<8>()?);
    // Each byte minus '0'; where that is above 9 the high bit gets set. A carry reaches later bytes only.
    let values = word ^ 0x3030_3030_3030_3030;
    let others = (values.wrapping_add(0x7676_7676_7676_7676) | values) & 0x8080_8080_8080_8080;
    let count = (others.trailing_zeros() / 8) as usize;
    if count == 0 {
        return Some((0, 0));
    }
    // Shifting by the bytes that are no digits puts zeros before the first digit: always a number of 8 digits,
    // which is summed by pairs of digits, then of pairs.
    let aligned = values << (64 - 8 * count);
    let pairs = aligned.wrapping_mul(10).wrapping_add(aligned >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    Some((low.wrapping_add(high) >> 32, count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng;
    use proptest::prelude::*;
    use rand::RngExt;

    /// Both ways to read a number agree with the standard library, whatever comes after it.
    fn check(text: &str) {
        let expected: f32 = text.parse().unwrap();
        let found = parse(text.as_bytes()).unwrap_or_else(|| panic!("{text} is not read"));
        assert_eq!(found.to_bits(), expected.to_bits(), "{text}");
        let padded = format!("{text} 17:0.5 18:0.25");
        if let Some((value, length)) = leading(padded.as_bytes())
            && length == text.len()
        {
            assert_eq!(value.to_bits(), expected.to_bits(), "{padded}");
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
    fn a_plain_decimal_is_found_without_help() {
        let found = |text: &str| leading(text.as_bytes());
        assert_eq!(found("0.123456 2:1 3:000"), Some((0.123456, 8)));
        assert_eq!(found("-12 2:0.5 3:0"), Some((-12.0, 3)));
        assert_eq!(found("2.07944154 3:0.272727"), Some((2.079_441_5, 10)));
        assert_eq!(found("1.5"), None);
        assert_eq!(found("x1234567890"), None);
    }

    /// Values at and beside midpoints of neighbouring f32, where rounding twice would go wrong.
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
    fn missing_values_have_few_names() {
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
        fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = (parse(&bytes), leading(&bytes), is_missing(&bytes));
        }
    }
}
