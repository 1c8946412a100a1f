//! Which files are logs of clicks.

use crate::journal::{Form, end_of_line};
use rankwise::clicks::events::{Event, Seal, seal_of};
use serde::de::IgnoredAny;

/// A log of clicks. A server also goes on where the sessions of another program end.
pub(super) const LOG: Form = Form {
    name: "a log of clicks: its first line is neither an event of a server nor a session that `rankwise clicks` reads",
    begins,
    is_whole: is_json,
    end_of_row: end_of_line,
    check: |_, _| Ok(()),
    rotates: true,
};

/// How events begin as they are written.
const BEGINNINGS: [&[u8]; 3] = [b"{\"id\":", b"{\"session\":", b"{\"shadow\":"];

/// Whether a log begins with this line: an event, a session, or an event that was not written completely.
fn begins(line: &[u8]) -> bool {
    let is_event = seal_of(line) != Seal::Absent || Event::read(line).is_ok();
    is_event || (!line.ends_with(b"\n") && !is_json(line) && is_torn(line))
}

fn is_torn(line: &[u8]) -> bool {
    let fits = |beginning: &&[u8]| line.iter().zip(*beginning).all(|(byte, expected)| byte == expected);
    BEGINNINGS.iter().any(fits) || line.iter().all(|byte| *byte == 0)
}

fn is_json(line: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(line).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwise::clicks::events::sealed;
    use serde_json::json;

    #[test]
    fn events_and_sessions_begin_a_log_and_other_files_do_not() {
        let event = sealed(&json!({ "shadow": "m", "ranking": ["a"] })).unwrap();
        let session = b"{\"id\":\"1\",\"query\":\"q\",\"shown\":[\"a\"],\"clicks\":[]}\n";
        for line in [&event, &event[..event.len() - 1], session, &session[..20], b"{\"se", b"{", b"\0\0\0"] {
            assert!(begins(line), "{}", String::from_utf8_lossy(line));
        }
        let damaged = String::from_utf8(event).unwrap().replace("\"a\"", "\"b\"");
        assert!(begins(damaged.as_bytes()), "a line of ours that was changed since");
        for line in [
            "{\"a\":1}\n",
            "{\"a\":1}",
            "{\"a",
            "{\n",
            "1 0 184 1\n",
            "{\"id\":\"1\"}",
            "\n",
            "query,document",
        ] {
            assert!(!begins(line.as_bytes()), "{line}");
        }
    }
}
