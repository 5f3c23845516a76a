//! Collision-resistant hashes of tool definitions, independent of the order of keys.

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::domain::hex;

/// SHA-256 of a JSON value in hex, independent of the order of keys.
pub fn fingerprint(value: &Value) -> String {
    hex(&Sha256::digest(sorted(value.clone()).to_string()))
}

/// The value with sorted keys.
pub fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.into_iter().collect();
            members.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(members.into_iter().map(|(key, it)| (key, sorted(it))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn order_of_keys_is_no_change() {
        let one = json!({"a": [{"x": 1, "y": 2}], "b": null});
        let same: Value = serde_json::from_str(r#"{"b":null,"a":[{"y":2,"x":1}]}"#).unwrap();
        assert_eq!(fingerprint(&one), fingerprint(&same));
        assert_eq!(fingerprint(&one).len(), 64);
        assert_ne!(fingerprint(&one), fingerprint(&json!({"a": [{"x": 1, "y": 3}], "b": null})));
        assert_ne!(fingerprint(&json!([1, 2])), fingerprint(&json!([2, 1])));
    }
}
