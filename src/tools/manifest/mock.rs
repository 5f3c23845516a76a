//! Tools with canned answers, and plausible arguments to try them with.

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value, json};

use super::{
    error::MockError,
    template::{Rendered, Template, TemplateError},
};
use crate::tools::{CallContext, CallError, CallErrorKind, CallOutput, Handler};

#[derive(Clone)]
pub enum Mock {
    Fixed(Value),
    Template(Box<Template>),
}

impl Mock {
    pub fn template(text: &str) -> Result<Self, TemplateError> {
        Ok(Self::Template(Box::new(Template::parse(text)?)))
    }

    /// The answer to `arguments`. Fails if the template does, or does not yield the JSON it was
    /// meant to.
    pub fn answer(&self, arguments: &Map<String, Value>) -> Result<Value, MockError> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Template(template) => match template.render(arguments)? {
                Rendered::Value(value) => Ok(value),
                Rendered::Text(text) => Ok(Value::String(text)),
                Rendered::Broken(text) => Err(MockError::NoJson(text.chars().take(60).collect())),
            },
        }
    }
}

impl Handler for Mock {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        let answer = self.answer(arguments).map(|value| match value {
            Value::String(text) => CallOutput::text(text),
            value => CallOutput::json(value),
        });
        let invalid =
            |error: MockError| CallError::new(CallErrorKind::InvalidResult, error.to_string());
        ready(answer.map_err(invalid)).boxed()
    }
}

/// Deepest objects filled.
const DEPTH: usize = 8;

/// One value for every property of `schema`; the result may be invalid.
pub fn sample_arguments(schema: &Value) -> Map<String, Value> {
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
        assert_eq!(Value::Object(sample_arguments(&schema)), expected);
        assert!(sample_arguments(&json!(true)).is_empty());
    }
}
