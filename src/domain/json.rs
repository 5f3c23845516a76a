//! Size of JSON before parsing: a value may take 36 times the memory of its bytes.
//!
//! Entry function: [`json_values`].

/// Upper bound for the number of values in `json`, valid or not.
pub fn json_values(json: &[u8]) -> usize {
    let (mut values, mut in_string, mut is_escaped) = (1, false, false);
    for byte in json {
        if in_string {
            in_string = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
        } else {
            match byte {
                b'"' => in_string = true,
                b',' | b'[' | b'{' => values += 1,
                _ => {}
            }
        }
    }
    values
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

    #[test]
    fn separators_in_strings_are_no_values() {
        assert_eq!(json_values(br#"{"a,[": "\",{\\", "b": [1, []]}"#), 6);
        assert_eq!(json_values(b"7"), 1);
    }

    proptest! {
        #[test]
        fn no_json_has_more_values_than_counted(text in r#"[\[\]{}",:0-9a\\ ]{0,60}"#) {
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                prop_assert!(json_values(text.as_bytes()) >= count(&value));
            }
        }
    }
}
