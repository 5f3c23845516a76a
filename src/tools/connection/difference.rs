//! Differences between two definitions of a tool, as lines for a person, invisible characters
//! escaped.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::domain::revealed;

const LINES: usize = 12;
/// Characters shown of one change.
const LONGEST: usize = 240;
/// Characters shown before a change.
const BEFORE: usize = 40;

/// Each place that differs, with its old and new value.
pub fn differences(before: &Value, now: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    compare("", Some(before), Some(now), &mut lines);
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

fn compare(path: &str, before: Option<&Value>, now: Option<&Value>, lines: &mut Vec<String>) {
    let inside = |key: &str| match path.is_empty() {
        true => key.to_owned(),
        false => format!("{path}.{key}"),
    };
    match (before, now) {
        _ if before == now => {}
        (Some(Value::Object(before)), Some(Value::Object(now))) => {
            let keys: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
            for key in keys {
                compare(&inside(key), before.get(key), now.get(key), lines);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(now))) => {
            for at in 0..before.len().max(now.len()) {
                compare(&inside(&at.to_string()), before.get(at), now.get(at), lines);
            }
        }
        _ => {
            let (before, now) = (shown(before), shown(now));
            let same = before.chars().zip(now.chars()).take_while(|(a, b)| a == b).count();
            let path = revealed(&path.chars().take(LONGEST).collect::<String>());
            lines.push(format!("{path}: {} → {}", cut(&before, same), cut(&now, same)));
        }
    }
}

fn shown(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), |value| revealed(&value.to_string()))
}

/// `text` from shortly before its character `same` on.
fn cut(text: &str, same: usize) -> String {
    let from = same.saturating_sub(BEFORE);
    let mut rest = text.chars().skip(from);
    let start = if from > 0 { "…" } else { "" };
    let shown: String = rest.by_ref().take(BEFORE + LONGEST).collect();
    let end = if rest.next().is_some() { "…" } else { "" };
    format!("{start}{shown}{end}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_show_path_and_both_values() {
        let before = json!({"description": "Gets.", "input": {"a": [1, 2], "b": true}});
        let now = json!({"description": "Gets\u{202e}.", "input": {"a": [1], "c": null}});
        assert_eq!(
            differences(&before, &now),
            [
                "description: \"Gets.\" → \"Gets\\u202e.\"",
                "input.a.1: 2 → nothing",
                "input.b: true → nothing",
                "input.c: nothing → null",
            ]
        );
        assert!(differences(&now, &now).is_empty());
    }

    #[test]
    fn of_long_texts_the_change_is_shown() {
        let long = "x".repeat(5_000);
        let (before, now) = (json!(format!("{long}gentle")), json!(format!("{long}cruel")));
        let [line] = &differences(&before, &now)[..] else { panic!("one place") };
        assert!(line.contains("gentle\" → …x") && line.contains("cruel\""), "{line}");
        let many: Vec<u32> = (0..40).collect();
        let lines = differences(&json!([]), &json!(many));
        assert_eq!((lines.len(), lines.last().map(String::as_str)), (13, Some("and 28 more")));
    }
}
