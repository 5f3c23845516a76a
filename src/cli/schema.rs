//! `glyphoxa schema config|npc|campaign|rules|tool|music|workflow`: JSON Schemas for editors.

use std::io::{self, Write};

use crate::config::{SchemaKind, schema};

/// Writes the indented schema of a kind of file.
pub fn write(kind: SchemaKind, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:#}", schema(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_one_json_object_for_each_kind() {
        use SchemaKind::{Campaign, Config, Music, Npc, Rules, Tool, Workflow};
        for kind in [Config, Npc, Campaign, Rules, Tool, Music, Workflow] {
            let mut out = Vec::new();
            write(kind, &mut out).unwrap();
            let schema: serde_json::Value = serde_json::from_slice(&out).unwrap();
            assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
            let forms = schema["anyOf"].as_array().cloned().unwrap_or_else(|| vec![schema]);
            assert!(forms.iter().all(|form| form["additionalProperties"] == false), "{forms:#?}");
        }
    }
}
