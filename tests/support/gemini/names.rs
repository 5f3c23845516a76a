//! Names of fields: the service takes `realtimeInput` and `realtime_input` alike, even in one message, as
//! its vendor's client sends them.
//!
//! Entry function: [`camel`].

use serde_json::Value;

/// Fields in which the names are the caller's own.
const OPAQUE: [&str; 5] = ["args", "labels", "parameters", "parametersJsonSchema", "response"];

/// A message with all its fields in camel case.
pub fn camel(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let named = fields.iter().map(|(name, value)| {
                let name = camel_name(name);
                let is_opaque = OPAQUE.contains(&name.as_str());
                let value = if is_opaque { value.clone() } else { camel(value) };
                (name, value)
            });
            Value::Object(named.collect())
        }
        Value::Array(all) => all.iter().map(camel).collect(),
        other => other.clone(),
    }
}

fn camel_name(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut all, part| {
        let mut letters = part.chars();
        all.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        all + letters.as_str()
    })
}
