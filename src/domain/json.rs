//! Size and depth of JSON before parsing: a value may take 36 times the memory of its bytes.
//!
//! Entry functions: [`json_values`], [`json_depth`].

/// Upper bound for the number of values in `json`, valid or not.
pub fn json_values(json: &[u8]) -> usize {
    1 + outside_strings(json).filter(|byte| matches!(byte, b',' | b'[' | b'{')).count()
}

/// Upper bound for the nesting of lists and objects in `json`, valid or not.
pub fn json_depth(json: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in outside_strings(json) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Bytes of `json` outside its strings, with the quotes that begin them.
fn outside_strings(json: &[u8]) -> impl Iterator<Item = u8> {
    let (mut in_string, mut is_escaped) = (false, false);
    json.iter().copied().filter(move |byte| {
        if !in_string {
            in_string = *byte == b'"';
            return true;
        }
        in_string = is_escaped || *byte != b'"';
        is_escaped = !is_escaped && *byte == b'\\';
        false
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum(),
            _ => 0,
        }
    }

    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or_default(),
            Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or_default(),
            _ => 0,
        }
    }

    #[test]
    fn separators_in_strings_are_no_values() {
        assert_eq!(json_values(br#"{"a,[": "\",{\\", "b": [1, []]}"#), 6);
        assert_eq!(json_values(b"7"), 1);
    }

    #[test]
    fn brackets_in_strings_do_not_nest() {
        assert_eq!(json_depth(br#"{"a[[": ["\"[", [1], {}]}"#), 3);
        assert_eq!(
            (json_depth(b"7"), json_depth(b"]]]["), json_depth(&[b'['; 1_000])),
            (0, 1, 1_000)
        );
    }

    proptest! {
        #[test]
        fn no_json_is_larger_than_counted(text in r#"[\[\]{}",:0-9a\\ ]{0,60}"#) {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                prop_assert!(json_values(text.as_bytes()) >= count(&value));
                prop_assert!(json_depth(text.as_bytes()) >= depth(&value));
            }
        }
    }
}
