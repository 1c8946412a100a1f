//! Dates as seconds since 1970.

use crate::document::Value;
use tantivy::time::{Date, Month};

/// The date that a value says: text as [`parse_date`] reads it, or a number, which is a year or seconds.
pub fn date_of(value: &Value) -> Option<i64> {
    match value {
        Value::Text(text) => parse_date(text),
        Value::Number(number) => of_number(*number),
        Value::List(_) => None,
    }
}

/// Reads a date: `2024-05-17`, `2024-05`, `2024`, a time such as `2024-05-17T08:30:00+02:00` (RFC 3339; a space may stand
/// for the `T`; seconds, and the offset from UTC, may be left out), or seconds since 1970. Whole numbers from 1 to 9999
/// are years. The date must lie in the years 1 to 9999; fractions of seconds are cut.
///
/// ```
/// use rankwise_search::schema::parse_date;
/// assert_eq!(parse_date("1970-01-02"), Some(86_400));
/// assert_eq!(parse_date("2024-05-17T08:30:00+02:00"), Some(1_715_927_400));
/// assert_eq!(parse_date("2024"), parse_date("2024-01-01"));
/// assert_eq!(parse_date("2023-02-29"), None);
/// ```
pub fn parse_date(text: &str) -> Option<i64> {
    let text = text.trim();
    if text.bytes().all(|b| b.is_ascii_digit() || b"+-.".contains(&b))
        && let Ok(number) = text.parse()
    {
        return of_number(number);
    }
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut parts = date.split('-');
    let (year, month) = (digits(parts.next()?, 4)?, digits(parts.next()?, 2)?);
    let day = match parts.next() {
        Some(day) => digits(day, 2)?,
        None if time.is_none() => 1,
        None => return None,
    };
    if parts.next().is_some() {
        return None;
    }
    let seconds = midnight(year, month, day)? + time.map_or(Some(0), time_of_day)?;
    in_range(seconds)
}

fn of_number(number: f64) -> Option<i64> {
    if number.fract() == 0.0 && (1.0..=9999.0).contains(&number) {
        return midnight(number as u32, 1, 1);
    }
    // What is out of range for i64 becomes its limits, which are out of range here.
    number.is_finite().then_some(number.floor() as i64).and_then(in_range)
}

fn in_range(seconds: i64) -> Option<i64> {
    let (first, last) = (midnight(1, 1, 1)?, midnight(9999, 12, 31)? + 86_399);
    (first..=last).contains(&seconds).then_some(seconds)
}

fn midnight(year: u32, month: u32, day: u32) -> Option<i64> {
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(i32::try_from(year).ok()?, month, u8::try_from(day).ok()?).ok()?;
    (year > 0).then(|| date.midnight().assume_utc().unix_timestamp())
}

/// The seconds of a time such as `08:30:00.5Z` after midnight UTC.
fn time_of_day(text: &str) -> Option<i64> {
    let (clock, offset) = match text.strip_suffix(['Z', 'z']) {
        Some(clock) => (clock, 0),
        None => match text.rfind(['+', '-']) {
            Some(at) => (&text[..at], offset(&text[at..])?),
            None => (text, 0),
        },
    };
    let mut parts = clock.split(':');
    let (hours, minutes) = (up_to(parts.next()?, 23)?, up_to(parts.next()?, 59)?);
    let seconds = match parts.next() {
        Some(seconds) => {
            let (whole, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
            let is_fraction = !fraction.is_empty() && fraction.bytes().all(|b| b.is_ascii_digit());
            // Leap seconds are the 60th.
            is_fraction.then(|| up_to(whole, 60)).flatten()?
        }
        None => 0,
    };
    parts.next().is_none().then_some(hours * 3600 + minutes * 60 + seconds - offset)
}

/// The seconds of an offset from UTC such as `+02:00`, `-0530` or `+02`.
fn offset(text: &str) -> Option<i64> {
    let (sign, text) = (if text.starts_with('-') { -1 } else { 1 }, &text[1..]);
    let (hours, minutes) = text.split_once(':').or_else(|| text.split_at_checked(2))?;
    let minutes = if text.len() == 2 { 0 } else { up_to(minutes, 59)? };
    Some(sign * (up_to(hours, 23)? * 3600 + minutes * 60))
}

fn up_to(text: &str, largest: u32) -> Option<i64> {
    digits(text, 2).filter(|number| *number <= largest).map(i64::from)
}

fn digits(text: &str, count: usize) -> Option<u32> {
    (text.len() == count && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tantivy::time::format_description::well_known::Rfc3339;
    use tantivy::time::{OffsetDateTime, UtcOffset};

    proptest! {
        #[test]
        fn times_are_those_of_the_time_crate(seconds in -60_000_000_000i64..250_000_000_000, minutes in -1439i32..1440) {
            let utc = OffsetDateTime::from_unix_timestamp(seconds).unwrap();
            let there = utc.to_offset(UtcOffset::from_whole_seconds(minutes * 60).unwrap());
            let text = there.format(&Rfc3339).unwrap();
            prop_assert_eq!(parse_date(&text), Some(seconds), "{}", text);
            prop_assert_eq!(parse_date(&text.replace('T', " ").replace('Z', "z")), Some(seconds));
        }

        #[test]
        fn any_text_is_a_date_or_not(text in "[0-9TZ :.+-]{0,24}|\\PC{0,12}") {
            let seconds = parse_date(&text);
            prop_assert!(seconds.is_none_or(|s| (-62_135_596_800..=253_402_300_799).contains(&s)), "{:?}", seconds);
        }
    }

    /// Days counted one by one, by the rule of leap years.
    #[test]
    fn every_day_of_four_centuries_is_a_day_after_the_one_before() {
        let leap = |y: u32| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
        let mut expected = parse_date("1970-01-01").unwrap();
        assert_eq!(expected, 0);
        for year in 1970..2370 {
            for month in 1..=12 {
                let days = match month {
                    2 => 28 + u32::from(leap(year)),
                    4 | 6 | 9 | 11 => 30,
                    _ => 31,
                };
                for day in 1..=days {
                    assert_eq!(parse_date(&format!("{year}-{month:02}-{day:02}")), Some(expected));
                    expected += 86_400;
                }
                assert_eq!(parse_date(&format!("{year}-{month:02}-{:02}", days + 1)), None);
            }
        }
    }

    #[test]
    fn other_forms() {
        let day = parse_date("2024-05-17").unwrap();
        assert_eq!(parse_date(" 2024-05-17T08:30 "), Some(day + 8 * 3600 + 30 * 60));
        assert_eq!(parse_date("2024-05-17t08:30:01.99-0130"), Some(day + 10 * 3600 + 1));
        assert_eq!(parse_date("2024-05-17T08:30+02"), Some(day + 6 * 3600 + 30 * 60));
        assert_eq!(parse_date("2016-12-31T23:59:60Z"), parse_date("2017-01-01"));
        assert_eq!(parse_date("2024-05"), parse_date("2024-05-01"));
        assert_eq!(parse_date("1958"), parse_date("1958-01-01"));
        assert_eq!(date_of(&Value::Number(1958.0)), parse_date("1958-01-01"));
        assert_eq!(parse_date("1715934600"), Some(1_715_934_600));
        assert_eq!(date_of(&Value::Number(-0.5)), Some(-1));
        assert_eq!(parse_date("0"), Some(0));
        for text in [
            "",
            "-",
            "May 17",
            "2024-13-01",
            "2024-00-01",
            "2024-5-17",
            "0000-01-01",
            "24-05-17",
            "2024-05-17T24:00",
            "2024-05-17T08",
            "2024-05-17T08:30:",
            "2024-05-17T08:30:00.",
            "2024-05-17T08:30+2",
            "2024-05T08:30",
            "2024-05-17-01",
            "1715934600000",
            "nan",
            "inf",
            "١٩٧٠-01-01",
            "2024-05-17T08:30+é2",
        ] {
            assert_eq!(parse_date(text), None, "{text}");
        }
    }
}
