//! Axes: from values to positions on a page, and round values for ticks.

/// A range of values, and the range of positions it maps to.
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    start: f64,
    end: f64,
}

/// A tick: a value and its label.
#[derive(Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) text: String,
}

/// The fraction of an axis left free beyond the outermost values.
const AIR: f64 = 0.04;

impl Scale {
    /// From all of `values`, with some air, to the places from `start` to `end`. On a log scale, values are above 0.
    pub(super) fn around(values: impl Iterator<Item = f64>, log: bool, start: f64, end: f64) -> Scale {
        let place = |v: f64| if log { v.log10() } else { v };
        let (mut low, mut high) = values
            .map(place)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        let span = high - low;
        // One value alone, or values that differ by rounding only, get the middle of the axis.
        let tiny = 1e-9 * low.abs().max(high.abs()).max(f64::MIN_POSITIVE);
        let air = match (span > tiny, log) {
            (true, _) => AIR * span,
            (false, true) => 0.5,
            (false, false) if low == 0.0 => 0.5,
            (false, false) => 0.05 * low.abs(),
        };
        Scale { low: low - air, high: high + air, log, start, end }
    }

    /// The place of `value`.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = if self.log { value.log10() } else { value };
        self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// About `most` round values in the range.
    pub(super) fn ticks(&self, most: usize) -> Vec<Tick> {
        if self.log { self.log_ticks(most) } else { even_ticks(self.low, self.high, most) }
    }

    fn log_ticks(&self, most: usize) -> Vec<Tick> {
        let inside = |value: &f64| (self.low..=self.high).contains(&value.log10());
        let decades = self.low.floor() as i32..=self.high.ceil() as i32;
        let powers: Vec<i32> = decades.clone().filter(|&p| inside(&10f64.powi(p))).collect();
        if powers.len() >= 3 {
            let step = powers.len().div_ceil(most) as i32;
            let kept = powers.into_iter().filter(|p| p % step == 0);
            return kept.map(|p| Tick { value: 10f64.powi(p), text: power_of_ten(p) }).collect();
        }
        let round = decades.flat_map(|p| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(p)));
        let round: Vec<f64> = round.filter(inside).collect();
        if round.len() < 2 {
            return even_ticks(10f64.powf(self.low), 10f64.powf(self.high), most);
        }
        round.into_iter().map(|value| Tick { value, text: written(value, decimals(value)) }).collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn even_ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let rough = (high - low) / most as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= 0.7 * rough);
    let step = step.unwrap_or(10.0 * power);
    let decimals = decimals(step);
    let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
    let tick = |i: i64| {
        let value = i as f64 * step;
        Tick { value, text: written(value, decimals) }
    };
    (first..=last).map(tick).collect()
}

/// `0.05`, `20`, `3.5e7`.
fn written(value: f64, decimals: usize) -> String {
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        let digits = format!("{value:.3e}");
        let (digits, power) = digits.split_once('e').unwrap_or((&digits, "0"));
        return format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'));
    }
    format!("{value:.decimals$}")
}

/// The decimals that one digit of something of this size needs.
fn decimals(size: f64) -> usize {
    (-size.log10().floor()).max(0.0) as usize
}

/// `0.01`, `100`, `10⁵`.
fn power_of_ten(power: i32) -> String {
    if (-3..=4).contains(&power) {
        return written(10f64.powi(power), power.min(0).unsigned_abs() as usize);
    }
    let raised = |c: char| match c {
        '-' => '⁻',
        c => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c.to_digit(10).unwrap_or(0) as usize],
    };
    format!("10{}", power.to_string().chars().map(raised).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[f64], log: bool) -> Vec<String> {
        let scale = Scale::around(values.iter().copied(), log, 0.0, 100.0);
        scale.ticks(5).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(texts(&[0.0, 1.0], false), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(&[-40.0, 60.0], false), ["-40", "-20", "0", "20", "40", "60"]);
        assert_eq!(texts(&[0.01, 10.0], true), ["0.01", "0.1", "1", "10"]);
        assert_eq!(texts(&[1e-6, 1e6], true), ["10⁻⁶", "0.001", "1", "1000", "10⁶"]);
        assert_eq!(texts(&[3.0, 30.0], true), ["5", "10", "20"]);
    }

    #[test]
    fn odd_ranges_have_a_scale_too() {
        for (values, log) in [(vec![], false), (vec![], true), (vec![0.0], false), (vec![7.0; 3], true)] {
            let scale = Scale::around(values.iter().copied(), log, 0.0, 100.0);
            let places = values.iter().map(|v| scale.at(*v));
            assert!(places.into_iter().all(|p| (0.0..=100.0).contains(&p)), "{values:?}");
            assert!(!scale.ticks(5).is_empty(), "{values:?}");
        }
        assert!(texts(&[1e9, 1.0000001e9], false).len() >= 2);
        assert!(texts(&[2.1e-8, 2.2e-8], true).len() >= 2);
    }
}
