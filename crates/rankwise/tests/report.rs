//! The report of an experiment: complete, safe with any name, and without network. `browser-tests/` uses it.

#[path = "browser/sample.rs"]
mod sample;

use rankwise::experiment::findings::{Findings, Times};
use rankwise::experiment::report;
use sample::Sample;
use serde_json::{Value, json};

fn page_of(sample: &Sample) -> String {
    report::html(&sample.findings(), &sample.times())
}

/// The page before, in and after its JSON.
fn parts(page: &str) -> [&str; 3] {
    let (before, rest) = page.split_once(r#"<script type="application/json" id="findings">"#).unwrap();
    let (json, after) = rest.split_once("</script>").unwrap();
    [before, json, after]
}

fn assert_alike(found: &Value, expected: &Value, path: &str) {
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{path}");
            a.iter().for_each(|(key, value)| assert_alike(value, &b[key], &format!("{path}.{key}")));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{path}");
            a.iter().zip(b).enumerate().for_each(|(i, (a, b))| assert_alike(a, b, &format!("{path}[{i}]")));
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 5e-8 * b.abs(), "{path}: {a} is not {b}");
        }
        _ => assert_eq!(found, expected, "{path}"),
    }
}

#[test]
fn what_the_page_holds_is_what_was_found() {
    for sample in [Sample::usual(), Sample::hostile(), Sample::failed(), Sample::empty()] {
        let (mut findings, times) = (sample.findings(), sample.times());
        let page = report::html(&findings, &times);
        let found: Value = serde_json::from_str(parts(&page)[1]).unwrap();
        for system in findings.data.iter_mut().flat_map(|data| &mut data.systems) {
            system.values = system.values.only(Some(0));
            for curve in &mut system.curves {
                // 600 points are thinned to every third, 0 to 597, and the last one, 599.
                assert_eq!(curve.points.len(), 600);
                curve.points.retain(|(step, _)| step % 3 == 0 || *step == 599);
            }
        }
        let seed = findings.seed.to_string();
        assert_alike(&found, &json!({ "findings": findings, "times": times, "seed": seed }), "");
        serde_json::from_value::<Findings>(found["findings"].clone()).unwrap();
        serde_json::from_value::<Times>(found["times"].clone()).unwrap();
    }
}

#[test]
fn names_cannot_become_markup() {
    let (usual, hostile) = (page_of(&Sample::usual()), page_of(&Sample::hostile()));
    for tag in ["<script", "</script", "<!--", "<", "alert("] {
        let [before, json, after] = parts(&hostile);
        let [usual_before, _, usual_after] = parts(&usual);
        let expected = if tag == "alert(" { 1 } else { 0 };
        assert_eq!(before.matches(tag).count(), usual_before.matches(tag).count() + expected, "{tag}");
        assert_eq!(after.matches(tag).count(), usual_after.matches(tag).count(), "{tag}");
        assert!(tag == "alert(" || !json.contains(tag), "{tag}");
    }
    let escaped = "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;!-- &amp; &quot;quoted&quot; &#39;single&#39;";
    assert!(hostile.contains(&format!("<title>Structured and boosted rankers side by side{escaped}")));
    assert!(!parts(&hostile)[1].contains('\u{2028}'));
}

#[test]
fn markers_of_the_template_are_filled_once_even_where_names_look_like_them() {
    let mut findings = Sample::usual().findings();
    findings.title = "{{style}} {{findings}} {{scripts}}".into();
    let page = report::html(&findings, &Times::default());
    assert!(page.contains("<title>{{style}} {{findings}} {{scripts}}</title>"));
    assert_eq!(page.matches(":root {").count(), page_of(&Sample::usual()).matches(":root {").count());
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    for sample in [Sample::usual(), Sample::large()] {
        let page = page_of(&sample);
        let [before, _, after] = parts(&page);
        let fixed = format!("{before}{after}").replace("http://www.w3.org/2000/svg", "");
        for wanted in ["://", "@import", "url(", "src=", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!fixed.contains(wanted), "{wanted}");
        }
        let links = fixed.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap());
        for link in links {
            assert!(link.starts_with('#') || link == "data:,", "{link}");
        }
        assert!(fixed.contains("default-src 'none'"));
    }
}

#[test]
fn many_queries_make_a_page_of_a_few_megabytes() {
    let (systems, queries) = (40, 10_000);
    let bytes = page_of(&Sample::large()).len();
    // A rounded value and its comma take at most 12 bytes; the values of other metrics are left out.
    assert!(bytes < systems * queries * 12 + 3_000_000, "{bytes}");
}
