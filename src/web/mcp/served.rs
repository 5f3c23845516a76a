//! A tool as it is listed and called. Entry type: [`ServedTool`].

use std::{borrow::Cow, sync::Arc};

use futures::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::Value;

use super::incoming::{Incoming, ToolAnswer, ToolError};
use crate::{campaign::Holder, domain::AccessRole, web::McpOptions};

/// Holders that may call a tool, if their token names no tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    Everyone,
    Dm,
    /// Game masters, where listening is switched on.
    Listening,
}

impl Rights {
    /// True if tokens of `role` have them; `listens`: listening is switched on.
    pub fn are_of(self, role: AccessRole, listens: bool) -> bool {
        let is_dm = role == AccessRole::Dm;
        match self {
            Self::Everyone => true,
            Self::Dm => is_dm,
            Self::Listening => is_dm && listens,
        }
    }
}

/// Annotations; each is true of every call.
#[derive(Clone, Copy, Debug)]
pub struct Annotations {
    pub reads_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    /// It reaches services, people or servers.
    pub open_world: bool,
}

impl Annotations {
    /// It only looks at what is stored or running here.
    pub const LOOKS: Self =
        Self { reads_only: true, destructive: false, idempotent: true, open_world: false };
    /// It adds something each time.
    pub const ADDS: Self = Self { reads_only: false, idempotent: false, ..Self::LOOKS };
}

/// A tool.
pub struct ServedTool {
    /// With dots.
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    pub rights: Rights,
    pub annotations: Annotations,
    /// JSON Schema of its arguments.
    pub input: fn() -> Value,
    /// JSON Schema of its result.
    pub output: fn() -> Value,
    /// Dropping the future cancels the call.
    pub run: fn(Incoming) -> BoxFuture<'static, Result<ToolAnswer, ToolError>>,
}

impl ServedTool {
    /// True if this is its name, with dots or underscores.
    pub fn is_called(&self, name: &str) -> bool {
        let underscored = self.name.bytes().map(|byte| if byte == b'.' { b'_' } else { byte });
        self.name == name || name.bytes().eq(underscored)
    }

    /// True if `holder` may see and call it.
    pub fn is_for(&self, holder: &Holder, options: &McpOptions) -> bool {
        self.rights.are_of(holder.role, options.listen) && holder.has_tool(self.name)
    }

    /// True if the game master's panel shows its calls: those that change something, or listen.
    pub fn is_told_of(&self) -> bool {
        !self.annotations.reads_only || self.rights == Rights::Listening
    }

    /// Its name for clients.
    pub fn listed_name(&self, options: &McpOptions) -> Cow<'static, str> {
        match options.underscores {
            true => Cow::Owned(self.name.replace('.', "_")),
            false => Cow::Borrowed(self.name),
        }
    }

    /// Its description, named with dots. Builds both schemas, so `table.rs` stores the result.
    pub fn described(&self) -> Tool {
        let Annotations { reads_only, destructive, idempotent, open_world } = self.annotations;
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(reads_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open_world);
        Tool::new(self.name, self.description, members((self.input)()))
            .with_title(self.title)
            .with_raw_output_schema(members((self.output)()))
            .with_annotations(annotations)
    }
}

fn members(schema: Value) -> Arc<JsonObject> {
    Arc::new(match schema {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    })
}
