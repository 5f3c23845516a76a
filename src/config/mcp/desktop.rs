//! Translates `mcpServers` of desktop clients and editors to our notation.

use super::{
    super::{keys::mcp as keys, reading::Notes, whitelist::MCP},
    naming::mended,
};
use crate::tools::builtin;
use crate::yaml::{self, Entry, Kind, Node, Problems, Value, nearest, quoted};

const KEY: &str = "mcpServers";
const DISABLED: &str = "disabled";
/// Keys of the transport.
const TYPES: [&str; 2] = ["type", "transport"];
/// Their values, and our word for each.
const REACHES: [(&str, &str); 6] = [
    ("stdio", "stdio"),
    ("local", "stdio"),
    ("http", "streamable-http"),
    ("streamable-http", "streamable-http"),
    ("streamable_http", "streamable-http"),
    ("streamableHttp", "streamable-http"),
];
/// Other programs' keys that mean one of ours, and the fix.
const OURS: [(&str, &str); 5] = [
    ("enabled", "write disabled: true to switch it off"),
    ("isActive", "write disabled: true to switch it off"),
    ("httpUrl", "write url"),
    ("serverUrl", "write url"),
    ("environment", "write env"),
];
/// Unsupported keys, and the fix.
const REFUSED: [(&str, &str); 2] = [
    ("cwd", "servers run in the folder of this file: write absolute paths in command and args"),
    ("envFile", "list its variables under env: { NAME: ${NAME} }, and set them for Glyphoxa"),
];

/// Rewrites and checks servers. Removes disabled ones and returns their names.
pub fn translate(file: &mut Node, notes: &mut Notes) -> Vec<String> {
    let Value::Map(keys) = &mut file.value else { return Vec::new() };
    let Some(found) = keys.iter_mut().find(|entry| entry.key == KEY) else { return Vec::new() };
    let Value::Map(servers) = &mut found.node.value else { return Vec::new() };
    let is_whole = |server: &&Entry| {
        let inside = server.node.entries();
        let lists = |key: &str| server.key == key && inside.iter().all(|it| is_map(&it.node));
        !inside.is_empty() && (lists(KEY) || lists("servers"))
    };
    if let Some(whole) = servers.iter().find(is_whole) {
        let message = format!("{} is nested in '{KEY}'", quoted(&whole.key));
        notes.problems.add(whole.at, message, "paste only the content of its braces");
        servers.clear();
    }
    let is_comment = |server: &Entry| server.key.starts_with("//") || server.key.starts_with("/*");
    for comment in servers.iter().filter(|it| is_comment(it)) {
        let message = format!("{} is not a comment in YAML", quoted(&comment.key));
        notes.problems.add(comment.at, message, "begin comments with #");
    }
    servers.retain(|it| !is_comment(it));
    let mut disabled = Vec::new();
    servers.retain_mut(|server| {
        let is_on = !is_disabled(&server.node);
        match is_on {
            true => rewrite(server, notes),
            false => disabled.push(identity(server)),
        }
        is_on
    });
    disabled
}

fn is_map(node: &Node) -> bool {
    matches!(node.value, Value::Map(_))
}

/// First part of the identities of a server's tools.
fn identity(server: &Entry) -> String {
    let prefix = |entry: &&Entry| matches!(entry.key.as_str(), "prefix" | "toolPrefix");
    let prefix = server.node.entries().iter().find(prefix).and_then(|entry| entry.node.text());
    if let Some(prefix) = prefix {
        return prefix.trim().to_owned();
    }
    let name = mended(&server.key);
    if builtin::SERVERS.contains(&&*name) { format!("{MCP}{name}") } else { name }
}

fn is_disabled(server: &Node) -> bool {
    let flag = server.entries().iter().find(|entry| entry.key == DISABLED);
    flag.and_then(|entry| entry.node.scalar()?.flag()).unwrap_or(false)
}

fn rewrite(server: &mut Entry, notes: &mut Notes) {
    let name = format!("{KEY}.{}", server.key);
    let mut is_good = true;
    if let Value::Map(entries) = &mut server.node.value {
        entries.retain_mut(|entry| {
            if TYPES.contains(&entry.key.as_str()) {
                is_good &= reach(entry, &name, &mut notes.problems);
                return true;
            }
            is_good &= !is_refused(entry, &name, &mut notes.problems);
            if entry.key == DISABLED {
                yaml::check(&mut entry.node, DISABLED, &Kind::Flag, &mut notes.problems);
                return false;
            }
            if entry.key == "tools" && matches!(entry.node.value, Value::List(_)) {
                let message = format!("'tools' of {} is a list", quoted(&name));
                let way_out = "it has no effect here: list the tools under tools in NPC files";
                notes.warnings.add(entry.at, message, way_out);
                return false;
            }
            is_known(entry, &name, &mut notes.warnings)
        });
        let mut reaches = entries.iter().filter(|entry| entry.key == "transport");
        if let Some(second) = reaches.nth(1) {
            let message = format!("{} has both 'type' and 'transport'", quoted(&name));
            notes.problems.add(second.at, message, "keep one of them");
        }
    }
    if is_good {
        yaml::check(
            &mut server.node,
            &name,
            &Kind::Shape(&keys::NAMED_SERVER),
            &mut notes.problems,
        );
    } else {
        server.node.value = Value::Broken;
    }
}

/// Translates the transport; false if it is unknown.
fn reach(entry: &mut Entry, name: &str, problems: &mut Problems) -> bool {
    if entry.node.text().is_some_and(|it| it.eq_ignore_ascii_case("sse")) {
        let message = format!("{} uses 'sse'", quoted(name));
        problems.add(entry.node.at, message, keys::NO_SSE);
        return false;
    }
    if let Value::Scalar(scalar) = &mut entry.node.value
        && let Some((_, ours)) =
            REACHES.iter().find(|(theirs, _)| theirs.eq_ignore_ascii_case(&scalar.text))
    {
        scalar.text = (*ours).to_owned();
        entry.key = "transport".to_owned();
        return true;
    }
    let message = format!("unknown '{}' of {}", entry.key, quoted(name));
    problems.add(entry.node.at, message, "http or stdio");
    false
}

/// True if a key is unsupported; reports it.
fn is_refused(entry: &Entry, name: &str, problems: &mut Problems) -> bool {
    let refused = REFUSED.iter().find(|(key, _)| *key == entry.key);
    if let Some((key, way_out)) = refused {
        problems.add(entry.at, format!("'{key}' of {} is not supported", quoted(name)), *way_out);
    }
    refused.is_some()
}

/// True if a key is known; warns of one that is neither known nor unsupported.
fn is_known(entry: &Entry, name: &str, warnings: &mut Problems) -> bool {
    let shape = &keys::NAMED_SERVER;
    let is_known = shape.key(&entry.key).is_some();
    let is_refused = REFUSED.iter().any(|(key, _)| *key == entry.key);
    if !is_known && !is_refused {
        let known = shape.keys.iter().map(|key| key.name).chain([DISABLED, "type"]);
        let ours = OURS.iter().find(|(theirs, _)| *theirs == entry.key);
        let way_out = match (ours, nearest(&entry.key, known)) {
            (Some((_, ours)), _) => (*ours).to_owned(),
            (None, Some(near)) => format!("did you mean '{near}'?"),
            (None, None) => "it has no effect here".to_owned(),
        };
        let message = format!("unknown key {} in {}", quoted(&entry.key), quoted(name));
        warnings.add(entry.at, message, way_out);
    }
    is_known
}
