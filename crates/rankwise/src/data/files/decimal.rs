//! Numbers as text, with the fewest digits that read back as the same number.

/// Appends `number`, which is finite: `1`, `0.25`, `1e-7`.
pub(super) fn push_f32(text: &mut Vec<u8>, number: f32) {
    push_whole(text, zmij::Buffer::new().format_finite(number));
}

/// Appends `number`, which is finite.
pub(crate) fn push_f64(text: &mut Vec<u8>, number: f64) {
    push_whole(text, zmij::Buffer::new().format_finite(number));
}

/// Removes the `.0` of whole numbers.
fn push_whole(text: &mut Vec<u8>, digits: &str) {
    text.extend_from_slice(digits.strip_suffix(".0").unwrap_or(digits).as_bytes());
}

/// Appends `number`.
pub(super) fn push_integer(text: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be_and_read_back() {
        let text = |push: &dyn Fn(&mut Vec<u8>)| {
            let mut text = Vec::new();
            push(&mut text);
            String::from_utf8(text).unwrap()
        };
        for (number, expected) in
            [(1.0, "1"), (0.0, "0"), (-2.5, "-2.5"), (0.1, "0.1"), (16_777_216.0, "16777216")]
        {
            assert_eq!(text(&|t| push_f32(t, number)), expected);
        }
        for integer in [0, 7, 10, 4_294_967_295, u64::MAX] {
            assert_eq!(text(&|t| push_integer(t, integer)), integer.to_string());
        }
        let mut bits = 1u32;
        for _ in 0..20_000 {
            bits = bits.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = f32::from_bits(bits);
            if number.is_finite() {
                assert_eq!(text(&|t| push_f32(t, number)).parse::<f32>().unwrap().to_bits(), bits);
                let wide = f64::from(number) * 1.1;
                assert_eq!(text(&|t| push_f64(t, wide)).parse::<f64>().unwrap().to_bits(), wide.to_bits());
            }
        }
    }
}
