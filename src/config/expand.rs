//! Expands `${VAR}` and `${VAR:-default}` in every scalar; `$${` is a literal `${`.
//!
//! Placeholders filled in with each request stay: `${session.*}`, `${campaign.*}` and `${data.*}`
//! in headers and `resource_vars` of servers, `${data.*}` in an NPC's prompt texts.
//! `${global_data.*}` is an alias of `${data.*}`. Under `mcpServers`, `${env:VAR}` and
//! `${input:var}` are variables too, and disabled servers are not expanded.

use std::borrow::Cow;

use super::secrets::Secrets;
use crate::yaml::{Entry, Node, Position, Problems, Scalar, Value, quoted};

/// Expands every scalar of `node`. Failures become [`Value::Broken`]. Returns secret values.
pub fn expand(
    node: &mut Node,
    environment: &dyn Fn(&str) -> Option<String>,
    problems: &mut Problems,
) -> Secrets {
    let secrets = Secrets::default();
    let mut expansion = Expansion { environment, problems, secrets, path: Vec::new() };
    expansion.node(node, "");
    expansion.secrets
}

struct Expansion<'a> {
    environment: &'a dyn Fn(&str) -> Option<String>,
    problems: &'a mut Problems,
    /// Values that messages must not repeat.
    secrets: Secrets,
    /// Keys that lead to the current node; empty for a member of a list.
    path: Vec<String>,
}

impl Expansion<'_> {
    /// Expands `node`, the value of `name`.
    fn node(&mut self, node: &mut Node, name: &str) {
        match &mut node.value {
            Value::Map(entries) => {
                let is_off = |entry: &Entry| entry.key == "disabled" && is_true(&entry.node);
                if is_of_clients(&self.path) && entries.iter().any(is_off) {
                    return;
                }
                for entry in entries {
                    let dot = if name.is_empty() { "" } else { "." };
                    self.path.push(entry.key.clone());
                    self.node(&mut entry.node, &format!("{name}{dot}{}", entry.key));
                    self.path.pop();
                }
            }
            Value::List(items) => {
                self.path.push(String::new());
                for item in items {
                    self.node(item, name);
                }
                self.path.pop();
            }
            Value::Scalar(scalar) if scalar.text.contains("${") => {
                match self.text(&scalar.text, node.at, name) {
                    Some(text) => {
                        let written = Some(std::mem::take(&mut scalar.text));
                        *scalar = Scalar { text, written, quoted: scalar.quoted };
                    }
                    None => node.value = Value::Broken,
                }
            }
            Value::Scalar(scalar) => self.secrets.written(&scalar.text, name),
            Value::Broken => {}
        }
    }

    /// The expanded text; `None` with problems.
    fn text(&mut self, text: &str, at: Position, name: &str) -> Option<String> {
        let (mut whole, mut good, mut rest) = (String::new(), true, text);
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                whole.push_str(before);
                whole.push_str("${");
                rest = after;
                continue;
            }
            whole.push_str(before);
            let Some((inside, after)) = after.split_once('}') else {
                let message = format!("{} has '${{' without '}}'", quoted(name));
                self.problems.add(at, message, "close it, or write $${ for the characters ${");
                return None;
            };
            rest = after;
            if let Some(later) = for_later(inside, name, &self.path) {
                whole.push_str(&format!("${{{later}}}"));
                continue;
            }
            match self.variable(&of_clients(inside, name), at, name) {
                Some(value) => whole.push_str(&value),
                None => good = false,
            }
        }
        whole.push_str(rest);
        good.then_some(whole)
    }

    /// The value of the text between `${` and `}`.
    fn variable(&mut self, inside: &str, at: Position, name: &str) -> Option<String> {
        let (variable, default) = match inside.split_once(":-") {
            Some((variable, default)) => (variable, Some(default)),
            None => (inside, None),
        };
        if !is_name(variable) {
            let message =
                format!("{} has an invalid variable name in {}", quoted(name), quoted(inside));
            self.problems.add(at, message, "write ${NAME}, or $${ for the characters ${");
            return None;
        }
        let value = (self.environment)(variable);
        if let Some(value) = &value {
            self.secrets.filled(variable, value, name);
        }
        if let Some(default) = default {
            return Some(value.filter(|it| !it.is_empty()).unwrap_or_else(|| default.to_owned()));
        }
        if value.is_none() {
            let message =
                format!("{} needs the variable '{variable}', which is not set", quoted(name));
            let way_out = format!("set it, or give a default: ${{{variable}:-default}}");
            self.problems.add(at, message, way_out);
        }
        value
    }
}

/// The placeholder for `inside`, if it is filled in with each request; `None`: now.
fn for_later<'t>(inside: &'t str, name: &str, path: &[String]) -> Option<Cow<'t, str>> {
    let key = name.strip_prefix("npcs.").unwrap_or(name);
    let starts: &[&str] = match (is_of_a_server(path), IN_PROMPTS.contains(&key)) {
        (true, _) => &["session.", "campaign.", "data."],
        (false, true) => &["data."],
        (false, false) => return None,
    };
    if let Some(key) = inside.strip_prefix("global_data.") {
        return Some(Cow::Owned(format!("data.{key}")));
    }
    starts.iter().any(|start| inside.starts_with(start)).then_some(Cow::Borrowed(inside))
}

/// True if `path` leads to a server's header or resource variable.
fn is_of_a_server(path: &[String]) -> bool {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    match path.as_slice() {
        ["mcp", "servers", "", key, _] | ["mcp_servers" | DESKTOP, _, key, _] => {
            LATER.contains(key)
        }
        _ => false,
    }
}

/// Converts other programs' notation, which is valid under [`DESKTOP`] only.
fn of_clients<'t>(inside: &'t str, name: &str) -> Cow<'t, str> {
    if name.split_once('.').is_none_or(|(key, _)| key != DESKTOP) {
        return Cow::Borrowed(inside);
    }
    as_variable(inside)
}

/// The variable and default of `inside` in other programs' notation.
pub fn as_variable(inside: &str) -> Cow<'_, str> {
    if let Some(variable) = inside.strip_prefix("env:") {
        return Cow::Borrowed(variable);
    }
    let Some(input) = inside.strip_prefix("input:") else { return Cow::Borrowed(inside) };
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let (id, default) = input.split_at(input.find(":-").unwrap_or(input.len()));
    Cow::Owned(id.chars().map(plain).chain(default.chars()).collect())
}

fn is_of_clients(path: &[String]) -> bool {
    path.len() == 2 && path.first().is_some_and(|key| key == DESKTOP)
}

fn is_true(node: &Node) -> bool {
    node.scalar().and_then(Scalar::flag).unwrap_or(false)
}

/// Key of servers in desktop clients' and editors' notation.
const DESKTOP: &str = "mcpServers";
/// Keys of a server whose values are filled in with each request.
const LATER: [&str; 3] = ["headers", "resource_vars", "resourceVars"];
/// Keys of an NPC whose text a model reads.
const IN_PROMPTS: [&str; 4] =
    ["personality", "behavior_rules", "secret_knowledge", "knowledge_scope"];

fn is_name(text: &str) -> bool {
    let word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    !text.is_empty()
        && !text.starts_with(|char: char| char.is_ascii_digit())
        && text.chars().all(word)
}
