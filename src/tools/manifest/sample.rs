//! Plausible arguments for a schema, to try a template with. They may be invalid.

use serde_json::{Map, Value, json};

/// Deepest objects filled.
const DEPTH: usize = 8;

/// One value for every property of `schema`.
pub fn arguments(schema: &Value) -> Map<String, Value> {
    object(schema, DEPTH)
}

fn object(schema: &Value, depth: usize) -> Map<String, Value> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let members = properties.into_iter().flatten();
    members.map(|(name, schema)| (name.clone(), value(schema, depth))).collect()
}

fn value(schema: &Value, depth: usize) -> Value {
    let first = |key| schema.get(key).and_then(Value::as_array).and_then(|all| all.first());
    let given = ["default", "const"].iter().find_map(|key| schema.get(*key));
    if let Some(given) = given.or_else(|| first("enum")).or_else(|| first("examples")) {
        return given.clone();
    }
    let kind = schema.get("type").and_then(|kind| match kind {
        Value::Array(several) => several.iter().find_map(Value::as_str),
        kind => kind.as_str(),
    });
    match kind {
        _ if depth == 0 => Value::Null,
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some("boolean") => json!(true),
        Some("array") => {
            json!([value(schema.get("items").unwrap_or(&Value::Null), depth - 1)])
        }
        Some("object") => Value::Object(object(schema, depth - 1)),
        _ => json!("sample"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_has_a_value_of_its_kind() {
        let schema = json!({"type": "object", "properties": {
            "city": {"type": "string"}, "days": {"type": "integer", "minimum": 3},
            "unit": {"enum": ["C", "F"]}, "sure": {"type": ["boolean", "null"]},
            "list": {"type": "array", "items": {"type": "number"}},
            "at": {"type": "object", "properties": {"x": {"default": 4}}},
        }});
        let expected = json!({"city": "sample", "days": 3, "unit": "C", "sure": true, "list": [1],
            "at": {"x": 4}});
        assert_eq!(Value::Object(arguments(&schema)), expected);
        assert!(arguments(&json!(true)).is_empty());
    }
}
