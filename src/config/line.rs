//! Lines of the scripted brain.

use regex::RegexBuilder;
use serde_json::{Map, Value as Json};

use super::{keys, whitelist};
use crate::{
    domain::{LineTool, LineWhen, ScriptedLine},
    logic::pattern::ParsedPattern,
    yaml::{Fields, Node, Problems, nearest, quoted},
};

/// Placeholders of every line.
const PLACEHOLDERS: [&str; 7] = ["speaker", "npc", "utterance", "dice", "odds", "last", "name"];
/// Largest compiled pattern, in bytes, among those that are compiled here.
const PATTERN_MAX: usize = 1 << 20;
/// Patterns estimated at most this large, in bytes, are not compiled here, since each would delay
/// the start by a millisecond. The scripted brain's own limit is twice this.
const ESTIMATE_MAX: u64 = 2 << 20;

/// Tools that a line may call.
#[derive(Clone, Copy, Debug)]
pub struct LineTools<'a> {
    /// Identities of all tools.
    pub known: &'a [&'a str],
    /// The NPC's own; `None`: they are invalid.
    pub allowed: Option<&'a [String]>,
}

pub fn line(node: &Node, tools: LineTools, problems: &mut Problems) -> ScriptedLine {
    let fields = Fields::new(node, &keys::npc::LINE);
    let (when, groups) = when(&fields, problems);
    let placeholders = Placeholders { groups, result: fields.get("tool").is_some() };
    for variant in fields.items("say") {
        placeholders.check(variant, problems);
    }
    let without_result = Placeholders { result: false, ..placeholders.clone() };
    for variant in fields.items("else") {
        without_result.check(variant, problems);
    }
    if fields.get("else").is_some() && fields.get("tool").is_none() {
        let way_out = "leave it out, or add the tool that may be missing";
        problems.add(
            fields.place("else"),
            "'else' has no effect in a line without 'tool'",
            way_out,
        );
    }
    ScriptedLine {
        when,
        language: fields.text("language").map(str::to_owned),
        say: fields.texts("say"),
        tool: fields
            .map("tool", &keys::npc::LINE_TOOL)
            .map(|fields| tool(&fields, tools, &placeholders, problems)),
        otherwise: fields.texts("else"),
        once: fields.flag("once").unwrap_or(false),
        weight: fields.whole("weight").unwrap_or(1),
    }
}

/// Condition of the line, and its groups' names; `None`: unknown.
fn when(fields: &Fields, problems: &mut Problems) -> (Option<LineWhen>, Option<Vec<String>>) {
    let items = fields.items("when");
    if fields.is_broken("when") {
        return (None, None);
    }
    if let [node] = items
        && let Some(pattern) = node.text().and_then(between_slashes)
    {
        let groups = match groups(pattern) {
            Ok(groups) => Some(groups),
            Err(error) => {
                let message =
                    format!("pattern {}: {}", quoted(&format!("/{pattern}/")), reason(&error));
                problems.add(node.at, message, "write a regular expression between slashes");
                None
            }
        };
        return (Some(LineWhen::Pattern(pattern.to_owned())), groups);
    }
    for node in items {
        let Some(text) = node.text() else { continue };
        if between_slashes(text).is_some() {
            let message = format!("pattern {} cannot be mixed with phrases", quoted(text));
            problems.add(node.at, message, "give it a line of its own");
        } else if !text.contains(char::is_alphanumeric) {
            let message = format!("phrase {} contains no word", quoted(text));
            problems.add(node.at, message, "write words as players say them");
        } else if text.starts_with('/') {
            let message = format!("pattern {} does not end with a slash", quoted(text));
            problems.add(node.at, message, "end it with a slash; case makes no difference");
        }
    }
    let phrases = fields.texts("when");
    let when = (!phrases.is_empty()).then_some(LineWhen::Phrases(phrases));
    if when.is_none() && fields.get("when").is_some() {
        let way_out = "list words, or remove the key if the line always fits";
        problems.add(fields.place("when"), "'when' is an empty list", way_out);
    }
    (when, Some(Vec::new()))
}

fn between_slashes(text: &str) -> Option<&str> {
    text.strip_prefix('/')?.strip_suffix('/').filter(|pattern| !pattern.is_empty())
}

/// A pattern's groups by name; those without one by number. Compiles only patterns that are wrong
/// or may be too large.
fn groups(pattern: &str) -> Result<Vec<String>, regex::Error> {
    let parsed = ParsedPattern::of(pattern);
    if parsed.as_ref().is_none_or(|it| it.bytes() > ESTIMATE_MAX) {
        #[cfg(test)]
        COMPILED.with(|compiled| compiled.set(compiled.get() + 1));
        RegexBuilder::new(pattern).size_limit(PATTERN_MAX).build()?;
    }
    Ok(parsed.map(|it| it.groups()).unwrap_or_default())
}

#[cfg(test)]
thread_local! {
    /// Number of patterns that this thread has compiled.
    static COMPILED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// The last line of the parser's drawing, which states the error.
fn reason(error: &regex::Error) -> String {
    let text = error.to_string();
    let last = text.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_lowercase()
}

fn tool(
    fields: &Fields,
    tools: LineTools,
    placeholders: &Placeholders,
    problems: &mut Problems,
) -> LineTool {
    let before = Placeholders { groups: placeholders.groups.clone(), result: false };
    let arguments = fields.get("arguments");
    if let Some(node) = arguments {
        before.check(node, problems);
    }
    let name = fields.text("name").unwrap_or_default();
    let name = match whitelist::resolve(name, tools.known) {
        _ if name.is_empty() => String::new(),
        Ok(identity) if identity.ends_with('*') => {
            let message = format!("{} is a group of tools", quoted(name));
            problems.add(fields.place("name"), message, "name one of them");
            identity
        }
        Ok(identity) => identity,
        Err((message, way_out)) => {
            let is_own = tools.allowed.is_some_and(|own| own.iter().any(|entry| entry == name));
            if !is_own || !whitelist::may_come(name, tools.known) {
                problems.add(fields.place("name"), message, way_out);
            }
            name.to_owned()
        }
    };
    let arguments = arguments.map_or_else(|| Json::Object(Map::new()), Node::to_json);
    LineTool { name, arguments }
}

/// Placeholders that a text may use in braces.
#[derive(Clone)]
struct Placeholders {
    /// Groups of the pattern; `None`: unknown.
    groups: Option<Vec<String>>,
    /// True if a tool has answered, so that its result may be named.
    result: bool,
}

impl Placeholders {
    /// Reports unknown placeholders in every text of `node`.
    fn check(&self, node: &Node, problems: &mut Problems) {
        for entry in node.entries() {
            self.check(&entry.node, problems);
        }
        for item in node.items() {
            self.check(item, problems);
        }
        let Some(groups) = &self.groups else { return };
        for name in placeholders(node.text().unwrap_or_default()) {
            let result = name == "result" || name.starts_with("result.");
            if PLACEHOLDERS.contains(&name) || groups.iter().any(|group| group == name) {
                continue;
            }
            if result && self.result {
                continue;
            }
            let own = groups.iter().map(String::as_str).filter(|own| !PLACEHOLDERS.contains(own));
            let known = PLACEHOLDERS.into_iter().chain(own);
            let way_out = if result {
                "a result exists only after a tool call; use it in 'say' of a line with 'tool'"
                    .to_owned()
            } else {
                match nearest(name, known.clone()) {
                    Some(near) => format!("did you mean '{{{near}}}'?"),
                    None => format!("known: {{{}}}", known.collect::<Vec<_>>().join("} {")),
                }
            };
            let message = format!("unknown placeholder {}", quoted(&format!("{{{name}}}")));
            problems.add(node.at, message, way_out);
        }
    }
}

fn placeholders(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name.trim())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{config, tools::builtin::IDENTITIES};

    #[test]
    fn shipped_cast_loads_without_compiling() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("glyphoxa.yaml");
        let before = COMPILED.get();
        let config = config::load(Some(&file), &|_| None, IDENTITIES).unwrap();
        let is_pattern = |line: &&ScriptedLine| matches!(line.when, Some(LineWhen::Pattern(_)));
        let lines = config.npcs.iter().flat_map(|npc| npc.lines.iter());
        assert!(lines.filter(is_pattern).count() > 50);
        assert_eq!(COMPILED.get(), before);
    }

    #[test]
    fn large_patterns_are_compiled_and_refused() {
        let before = COMPILED.get();
        let error = groups(r"(\w{3,1000} ){2,9}").unwrap_err().to_string();
        assert!(error.contains("size limit"), "{error}");
        assert_eq!(groups(r"bet (\w+) (?<coin>gold)").unwrap(), ["0", "1", "coin"]);
        assert_eq!(COMPILED.get(), before + 1);
    }
}
