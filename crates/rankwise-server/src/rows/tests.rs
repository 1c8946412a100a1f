//! The reader of rows against `serde_json`.

use super::*;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    rows: Vec<Vec<Option<f64>>>,
    model: Option<String>,
    sizes: Option<Vec<usize>>,
}

/// The same by the reader that everybody uses.
fn plain(bytes: &[u8]) -> Option<RowsBody> {
    let Plain { rows, model, sizes } = serde_json::from_slice(bytes).ok()?;
    let width = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != width || width == 0) {
        return None;
    }
    let values: Vec<f32> =
        rows.iter().flatten().map(|value| value.map_or(f32::NAN, |value| value as f32)).collect();
    if values.iter().any(|value| value.is_infinite()) {
        return None;
    }
    Some(RowsBody { values, width, model, sizes })
}

fn bits(body: &RowsBody) -> (Vec<u32>, usize, Option<String>, Option<Vec<usize>>) {
    let values = body.values.iter().map(|value| value.to_bits()).collect();
    (values, body.width, body.model.clone(), body.sizes.clone())
}

fn detail(text: &str) -> String {
    let problem = RowsBody::from_json(text.as_bytes(), 3).unwrap_err();
    format!("{} {}", problem.status.as_u16(), problem.detail)
}

#[test]
fn rows_are_read() {
    let text =
        br#" { "rows" : [ [ 1, -0.5e1 , null ], [0,2E-3,10] ], "sizes": [1, 1], "model": "pr\u006fd" } "#;
    let body = RowsBody::from_json(text, 2).unwrap();
    assert_eq!((body.len(), body.width, body.model.as_deref()), (2, 3, Some("prod")));
    assert!(body.values[2].is_nan());
    assert_eq!((&body.values[..2], &body.values[3..]), (&[1.0, -5.0][..], &[0.0, 0.002, 10.0][..]));
    assert_eq!(RowsBody::from_json(br#"{"rows":[]}"#, 2).unwrap().len(), 0);
}

#[test]
fn what_is_wrong_is_said() {
    for (text, part) in [
        ("", "400 the JSON in the body is cut short"),
        ("{\"rows\": [[1, 2]", "400 the JSON in the body is cut short"),
        ("[1]", "400 the body is not valid JSON: expected `{` at byte 1"),
        ("{}", "422 the body has no `rows`"),
        ("{\"row\": []}", "400 unknown field `row`"),
        ("{\"rows\": [[1], [1, 2]]}", "422 row 2 has 2 features, and the rows before it have 1"),
        ("{\"rows\": [[1],[1],[1],[1]]}", "413 the request has more than 3 rows"),
        ("{\"rows\": [[]]}", "422 rows with 0 features"),
        (
            "{\"rows\": [[-1e39]]}",
            "422 a feature value is above 3.4e38 in size, and so too large; use `null`",
        ),
        ("{\"rows\": [[\"1\"]]}", "400 the body is not valid JSON: expected a number or `null` at byte 12"),
        ("{\"rows\": [[01]]}", "400 the body is not valid JSON: expected `,` or `]` at byte 13"),
        ("{\"rows\": [[NaN]]}", "400 the body is not valid JSON: expected a number or `null`"),
        ("{\"rows\": [[1]], \"rows\": [[1]]}", "422 the body has `rows` twice"),
        (
            "{\"rows\": [[1]], \"model\": 3}",
            "422 the body does not have the form that is needed: invalid type",
        ),
        ("{\"rows\": [[1]]} x", "400 the body is not valid JSON: expected the end at byte 17"),
    ] {
        let found = detail(text);
        assert!(found.starts_with(part), "{text}: {found}");
    }
}

#[test]
fn bytes_are_rows() {
    let bytes: Vec<u8> =
        [1.5f32, -0.0, f32::NAN, 3.25].iter().flat_map(|value| value.to_le_bytes()).collect();
    let body = RowsBody::from_binary(&bytes, 2, 2).unwrap();
    assert_eq!((body.len(), body.width), (2, 2));
    assert_eq!((body.values[0], body.values[1].to_bits(), body.values[3]), (1.5, (-0.0f32).to_bits(), 3.25));
    let status =
        |width, most| RowsBody::from_binary(&bytes, width, most).map_err(|problem| problem.status.as_u16());
    assert_eq!((status(3, 9), status(0, 9), status(2, 1)), (Err(422), Err(422), Err(413)));
    assert!(RowsBody::from_binary(&bytes[..15], 1, 9).is_err());
}

/// Whatever is done to a body, both readers say the same of it.
#[test]
fn changed_bodies_are_read_as_serde_reads_them() {
    let cases =
        std::env::var("RANKWISE_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(20_000);
    let seeds: [&[u8]; 4] = [
        br#"{"rows":[[1,2.5,null],[-3e-2,0.001,1E+3]],"model":"a","sizes":[1,1]}"#,
        br#"{"model":null,"rows":[[0]],"sizes":null}"#,
        br#" {"sizes": [2] , "rows" : [ [ 0.1 , 12345678901234567890 ] , [ 4.9e-324 , 16777217 ] ] } "#,
        br#"{"rows":[]}"#,
    ];
    let alphabet = b"0123456789.-+eE,[]{}\":nul rowsmdizt\\\n\xff";
    let mut random = SmallRng::seed_from_u64(1);
    let mut accepted = 0;
    for case in 0..cases {
        let mut bytes = seeds[case % seeds.len()].to_vec();
        for _ in 0..random.random_range(0..4) {
            let at = random.random_range(0..bytes.len().max(1));
            match random.random_range(0..4) {
                0 if at < bytes.len() => bytes[at] = alphabet[random.random_range(0..alphabet.len())],
                2 if at < bytes.len() => drop(bytes.remove(at)),
                1 | 2 => bytes.insert(at, alphabet[random.random_range(0..alphabet.len())]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        let (ours, theirs) = (RowsBody::from_json(&bytes, 1000).ok(), plain(&bytes));
        let text = String::from_utf8_lossy(&bytes);
        // A number beyond the range of f64 is an error for them; for us it is infinite, which is refused later.
        if ours.as_ref().is_some_and(|body| body.values.iter().any(|value| value.is_infinite())) {
            continue;
        }
        accepted += usize::from(theirs.is_some());
        assert_eq!(ours.as_ref().map(bits), theirs.as_ref().map(bits), "{text}");
    }
    assert!(accepted > cases / 20, "only {accepted} of {cases} bodies were accepted");
}

/// Every number is the nearest f32, as the standard library reads it: random ones, and those near the middle of two.
#[test]
fn numbers_are_rounded_once() {
    let mut random = SmallRng::seed_from_u64(3);
    let mut texts: Vec<String> =
        ["0", "-0", "0.0", "-0.000", "1", "16777217", "16777219.0", "0.1", "999999999999999"]
            .map(str::to_owned)
            .to_vec();
    for _ in 0..100_000 {
        let length = random.random_range(1..16);
        let digits = random.random_range(0..10_u64.pow(length));
        let places = random.random_range(0..=15_usize);
        let whole = digits / 10_u64.pow(places as u32);
        texts.push(match places {
            0 => whole.to_string(),
            _ => format!("{whole}.{:0places$}", digits % 10_u64.pow(places as u32)),
        });
        let value = f32::from_bits(random.random_range(0x3000_0000..0x5000_0000));
        let middle = (f64::from(value) + f64::from(value.next_up())) / 2.0;
        texts.extend([
            format!("{middle}"),
            format!("{:.9}", middle),
            format!("{:.14}", middle),
            format!("{value}"),
        ]);
    }
    let mut short = 0;
    for text in texts {
        let body = RowsBody::from_json(format!("{{\"rows\":[[{text},-{text}]]}}").as_bytes(), 1);
        let body = if text.starts_with('-') { continue } else { body.unwrap() };
        let expected: f32 = text.parse().unwrap();
        assert_eq!([body.values[0], -body.values[1]].map(f32::to_bits), [expected.to_bits(); 2], "{text}");
        short += u32::from(short_number(text.as_bytes()).is_some());
    }
    assert!(short > 100_000, "{short}");
}
