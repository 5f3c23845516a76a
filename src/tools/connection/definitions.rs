//! Converts tools as a server lists them into the host's definitions. Under [`Trust::Review`] a
//! server's harmless-looking hints do not count.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::options::Trust;
use crate::{
    domain::{one_line, visible},
    tools::{Declared, tool::sorted},
};

/// Longer names are cut, in characters.
const LONGEST_NAME: usize = 128;

#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Name without invisible characters.
    pub name: String,
    pub wire: String,
    pub description: String,
    /// Schema of arguments, without `_metadata`.
    pub input: Arc<Value>,
    /// Schema of structured results.
    pub output: Option<Value>,
    /// Members of `_meta`.
    meta: Map<String, Value>,
    /// `_metadata` of the input schema.
    schema_meta: Map<String, Value>,
    /// Annotations: read-only, destructive, idempotent, open-world.
    hints: Declared,
}

impl From<rmcp::model::Tool> for Listed {
    fn from(tool: rmcp::model::Tool) -> Self {
        let mut input = Arc::unwrap_or_clone(tool.input_schema);
        let schema_meta = match input.shift_remove("_metadata") {
            Some(Value::Object(members)) => members,
            _ => Map::new(),
        };
        let title = tool.title.or_else(|| tool.annotations.as_ref()?.title.clone());
        let description = tool.description.filter(|text| !text.trim().is_empty());
        let hints = tool.annotations.map_or_else(Declared::default, |hints| Declared {
            // The idempotent hint implies a tool that writes.
            read_only: hints.read_only_hint.or(hints.idempotent_hint.map(|_| false)),
            destructive: hints.destructive_hint,
            idempotent: hints.idempotent_hint,
            open_world: hints.open_world_hint,
            ..Declared::default()
        });
        Self {
            description: visible(
                &description
                    .map_or_else(|| title.unwrap_or_else(|| tool.name.to_string()), |it| it.into()),
            ),
            name: one_line(&tool.name, LONGEST_NAME),
            wire: tool.name.into_owned(),
            input: Arc::new(Value::Object(input)),
            output: tool.output_schema.map(|schema| Value::Object(Arc::unwrap_or_clone(schema))),
            meta: tool.meta.map(|meta| meta.0).unwrap_or_default(),
            schema_meta,
            hints,
        }
    }
}

impl Listed {
    /// A tool known by name only.
    pub fn named(wire: &str) -> Self {
        rmcp::model::Tool::new(wire.to_owned(), "", Map::new()).into()
    }

    /// The part whose change requires approval, with sorted keys.
    pub fn pinned(&self) -> Value {
        sorted(json!({
            "description": self.description,
            "input": *self.input,
            "output": self.output,
            "meta": self.meta,
            "metadata": self.schema_meta,
            "read_only": self.hints.read_only,
            "destructive": self.hints.destructive,
            "idempotent": self.hints.idempotent,
        }))
    }

    /// The whole definition, with sorted keys, as stored from first sight.
    pub fn definition(&self) -> Value {
        let mut definition = self.pinned();
        definition["name"] = Value::from(self.name.as_str());
        definition["open_world"] = json!(self.hints.open_world);
        sorted(definition)
    }

    /// Reads a stored [`Self::definition`]; `None`: invalid.
    pub fn of_definition(definition: &Value) -> Option<Self> {
        let members = |key| definition.get(key).and_then(Value::as_object).cloned();
        let flag = |key| definition.get(key).and_then(Value::as_bool);
        let text = |key| definition.get(key).and_then(Value::as_str).map(str::to_owned);
        Some(Self {
            name: text("name")?,
            wire: text("name")?,
            description: text("description")?,
            input: Arc::new(definition.get("input")?.clone()),
            output: definition.get("output").filter(|it| !it.is_null()).cloned(),
            meta: members("meta").unwrap_or_default(),
            schema_meta: members("metadata").unwrap_or_default(),
            hints: Declared {
                read_only: flag("read_only"),
                destructive: flag("destructive"),
                idempotent: flag("idempotent"),
                open_world: flag("open_world"),
                ..Declared::default()
            },
        })
    }

    /// Declarations, the configuration's before the server's. Returns invalid members in words.
    pub fn declared(&self, here: Option<&Declared>, trust: Trust) -> (Declared, Vec<String>) {
        let (meta, mut wrong) = Declared::from_members(&self.meta);
        let (schema_meta, more) = Declared::from_members(&self.schema_meta);
        wrong.extend(more);
        let mut theirs = meta.over(schema_meta).over(self.hints.clone());
        if trust == Trust::Review {
            theirs.read_only = theirs.read_only.filter(|read_only| !read_only);
            theirs.idempotent = theirs.idempotent.filter(|idempotent| !idempotent);
            theirs.destructive = theirs.destructive.filter(|destructive| *destructive);
            theirs.open_world = theirs.open_world.filter(|open_world| *open_world);
        }
        (here.cloned().unwrap_or_default().over(theirs), wrong)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn listed(tool: Value) -> Listed {
        serde_json::from_value::<rmcp::model::Tool>(tool).expect("a tool").into()
    }

    fn weather() -> Listed {
        listed(json!({
            "name": "weather", "title": "The weather",
            "inputSchema": {"type": "object", "_metadata": {
                "max_duration_ms": 900, "estimated_duration_ms": 1, "category": "sky"}},
            "annotations": {"readOnlyHint": true, "destructiveHint": true},
            "_meta": {"glyphoxa/estimated_duration_ms": 50, "cacheable_seconds": -1},
        }))
    }

    #[test]
    fn stronger_place_wins_and_nonsense_is_named() {
        let here = Declared { categories: vec!["home".into()], ..Declared::default() };
        let (declared, wrong) = weather().declared(Some(&here), Trust::Auto);
        assert_eq!(declared.estimated, Some(Duration::from_millis(50)));
        assert_eq!(declared.max, Some(Duration::from_millis(900)));
        assert_eq!(declared.categories, ["home"]);
        assert_eq!((declared.read_only, declared.destructive), (Some(true), Some(true)));
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert_eq!(weather().description, "The weather");
        assert_eq!(*weather().input, json!({"type": "object"}));
    }

    #[test]
    fn server_under_review_is_not_believed() {
        let (declared, _) = weather().declared(None, Trust::Review);
        assert_eq!((declared.read_only, declared.destructive), (None, Some(true)));
    }

    #[test]
    fn kept_definition_is_the_tool() {
        let tool = weather();
        assert_eq!(Listed::of_definition(&tool.definition()), Some(tool));
        assert_eq!(Listed::of_definition(&json!({"name": "a"})), None);
    }

    #[test]
    fn order_of_keys_is_no_change() {
        let tool = |schema: Value| listed(json!({"name": "a", "inputSchema": schema})).pinned();
        assert_eq!(
            tool(json!({"type": "object", "required": []})).to_string(),
            tool(json!({"required": [], "type": "object"})).to_string()
        );
    }
}
