//! Points in time as other tools write them.

use serde_json::Value;

/// A time in milliseconds since 1970: a number, digits in a text, or `2022-06-22T11:21:39Z` with an optional fraction and
/// offset.
pub(super) fn milliseconds(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok().filter(|ms: &f64| ms.is_finite()).or_else(|| iso(text)),
        _ => None,
    }
}

fn iso(text: &str) -> Option<f64> {
    let (date, clock) = text.split_once(['T', ' '])?;
    let clock_end = clock.find(['Z', '+', '-']).unwrap_or(clock.len());
    let (clock, zone) = clock.split_at(clock_end);
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let mut clock = clock.splitn(3, ':');
    let (hour, minute) = (clock.next()?.parse::<f64>().ok()?, clock.next()?.parse::<f64>().ok()?);
    let second = clock.next().map_or(Some(0.0), |second| second.parse::<f64>().ok())?;
    let in_range = (1..=12).contains(&month) && (1..=31).contains(&day) && (0..=9999).contains(&year);
    let days = in_range.then(|| days_since_1970(year, month, day))?;
    let minutes = hour * 60.0 + minute - offset_minutes(zone)?;
    let milliseconds = (days as f64 * 1440.0 + minutes) * 60_000.0 + second * 1000.0;
    milliseconds.is_finite().then_some(milliseconds)
}

/// The minutes of `Z`, `+02:00` or nothing.
fn offset_minutes(zone: &str) -> Option<f64> {
    let sign = match zone.chars().next() {
        None | Some('Z') => return Some(0.0),
        Some('-') => -1.0,
        Some(_) => 1.0,
    };
    let digits: String = zone[1..].chars().filter(|c| *c != ':').collect();
    let number: u32 = digits.parse().ok()?;
    match digits.len() {
        2 => Some(sign * f64::from(number) * 60.0),
        4 => Some(sign * f64::from(number / 100 * 60 + number % 100)),
        _ => None,
    }
}

/// Days of the Gregorian calendar. Years are counted from March, so that a leap day is the last day of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days_before_month = (153 * month + 2) / 5;
    // 719,468 days from the first of March of the year 0 to 1970.
    year * 365 + leap_days + days_before_month + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values from `date -d … +%s%3N`.
    #[test]
    fn times_are_read_in_every_form() {
        let of = |text: &str| milliseconds(&Value::from(text));
        assert_eq!(of("1599391467000"), Some(1_599_391_467_000.0));
        assert_eq!(milliseconds(&Value::from(12)), Some(12.0));
        assert_eq!(of("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(of("2020-09-06T11:24:27Z"), Some(1_599_391_467_000.0));
        assert_eq!(of("2020-09-06T13:24:27.250+02:00"), Some(1_599_391_467_250.0));
        assert_eq!(of("2024-02-29T00:00:00"), Some(1_709_164_800_000.0));
        for wrong in ["", "yesterday", "2020-13-01T00:00:00Z", "2020-09-06", "2020-09-06T1:2:3+5", "inf"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
