//! Front matter of a note. If it is broken it is read line by line, so that marks of the game master
//! still count.
//!
//! Entry functions: [`split`], [`read`].

use crate::yaml::{self, Node, Problems, Value};

/// Largest front matter, in bytes.
const BYTES_MAX: usize = 64 << 10;
/// Most fields, and most values of each: as many as it has room for, since the last may mark the note.
const FIELDS_MAX: usize = BYTES_MAX / 2;

/// A note's text, its front matter apart.
#[derive(Debug, PartialEq, Eq)]
pub struct Split<'a> {
    /// Front matter without its lines of hyphens.
    pub yaml: Option<&'a str>,
    /// False if its last line of hyphens is missing.
    pub is_closed: bool,
    pub body: &'a str,
}

/// Front matter, read.
#[derive(Debug, Default)]
pub struct Front {
    pub fields: Vec<Field>,
    /// First fault found.
    pub fault: Option<String>,
    /// It is no YAML: fields may hold lines of others.
    pub is_broken: bool,
}

/// A field of the front matter.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    /// As written.
    pub key: String,
    /// Its values as text.
    pub values: Vec<String>,
    /// True if values have fields of their own.
    pub is_nested: bool,
}

impl Front {
    /// Values of all fields with one of these keys, which are in lower case without separators.
    pub fn values<'a>(&'a self, keys: &'a [&str]) -> impl Iterator<Item = &'a str> {
        let fields = self.fields.iter().filter(move |it| keys.contains(&bare(&it.key).as_str()));
        fields.flat_map(|it| it.values.iter().map(String::as_str))
    }
}

/// `key` in lower case without separators.
pub fn bare(key: &str) -> String {
    key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Front matter and text of a note whose lines end with `\n`.
pub fn split(text: &str) -> Split<'_> {
    let none = Split { yaml: None, is_closed: true, body: text };
    let Some((first, rest)) = text.split_once('\n') else { return none };
    if first.trim_end() != "---" {
        return none;
    }
    let (mut at, mut cut) = (0, None);
    for line in rest.split_inclusive('\n') {
        let bare = line.trim_end();
        if bare == "---" || bare == "..." {
            let (yaml, body) = rest.split_at(at);
            let body = body.get(line.len()..).unwrap_or_default();
            return Split { yaml: Some(yaml), is_closed: true, body };
        }
        if cut.is_none() && (bare.is_empty() || bare.starts_with("# ")) {
            cut = Some(at);
        }
        at += line.len();
    }
    let cut = cut.unwrap_or(rest.len());
    let (yaml, body) = rest.split_at(cut);
    let is_field = yaml.lines().next().is_some_and(|line| key_of(line).is_some());
    if is_field { Split { yaml: Some(yaml), is_closed: false, body } } else { none }
}

/// The fields of `yaml`; `None`: it is plain text between two rules.
pub fn read(yaml: &str, is_closed: bool) -> Option<Front> {
    if yaml.len() > BYTES_MAX {
        let cut = yaml.get(..yaml.floor_char_boundary(BYTES_MAX)).unwrap_or_default();
        return Some(broken(cut, "longer than 64 KiB".to_owned()));
    }
    if !is_closed {
        return Some(broken(yaml, "the line '---' at its end is missing".to_owned()));
    }
    let mut problems = Problems::new("");
    let parsed = yaml::parse(yaml, &mut problems);
    // The first line of the note is the one of hyphens.
    let fault = problems.into_vec().into_iter().next();
    let fault = fault.map(|it| format!("line {}: {}", it.at.line + 1, it.message));
    match (parsed, fault) {
        (Some(node), fault) => match &node.value {
            Value::Map(_) => Some(Front { fields: fields(&node), fault, is_broken: false }),
            _ if yaml.lines().any(|line| key_of(line).is_some()) => {
                Some(broken(yaml, "it is no list of fields".to_owned()))
            }
            _ => None,
        },
        (None, fault) => Some(broken(yaml, fault.unwrap_or_else(|| "not valid YAML".to_owned()))),
    }
}

fn fields(node: &Node) -> Vec<Field> {
    let entries = node.entries().iter().take(FIELDS_MAX);
    let field = |entry: &yaml::Entry| {
        let mut values = Vec::new();
        texts(&entry.node, &mut values);
        let is_nested = is_nested(&entry.node);
        Field { key: entry.key.clone(), values, is_nested }
    };
    entries.map(field).collect()
}

fn is_nested(node: &Node) -> bool {
    matches!(node.value, Value::Map(_)) || node.items().iter().any(is_nested)
}

/// All texts of a value. A link without quotes is a list in a list to YAML.
fn texts(node: &Node, found: &mut Vec<String>) {
    if found.len() >= FIELDS_MAX {
        return;
    }
    if let Some(text) = node.text() {
        found.push(text.trim().to_owned());
    } else if let Some(link) = unquoted_link(node) {
        found.push(link);
    } else {
        node.items().iter().for_each(|item| texts(item, found));
        for entry in node.entries() {
            let mut inner = Vec::new();
            texts(&entry.node, &mut inner);
            found.push(format!("{}: {}", entry.key, inner.join(", ")));
        }
    }
}

fn unquoted_link(node: &Node) -> Option<String> {
    let [Node { value: Value::List(inner), .. }] = node.items() else { return None };
    let parts: Option<Vec<&str>> = inner.iter().map(Node::text).collect();
    parts.filter(|parts| !parts.is_empty()).map(|parts| format!("[[{}]]", parts.join(", ")))
}

/// The key of a line such as "type: npc".
fn key_of(line: &str) -> Option<&str> {
    let (key, value) = line.split_once(':')?;
    let is_key = key.chars().next().is_some_and(char::is_alphabetic)
        && key.chars().all(|c| c.is_alphanumeric() || " _-".contains(c))
        && key.len() <= 60;
    (is_key && (value.is_empty() || value.starts_with([' ', '\t']))).then_some(key)
}

/// Front matter that is no YAML, line by line.
fn broken(yaml: &str, fault: String) -> Front {
    let mut fields: Vec<Field> = Vec::new();
    for line in yaml.lines() {
        let (key, value) = match key_of(line) {
            Some(key) if fields.len() < FIELDS_MAX => {
                let values = Vec::new();
                fields.push(Field { key: key.trim().to_owned(), values, is_nested: false });
                (true, line.get(key.len() + 1..).unwrap_or_default())
            }
            _ => (false, line),
        };
        let Some(field) = fields.last_mut() else { continue };
        let value = value.trim();
        let value = if key { value } else { value.trim_start_matches(['-', ' ']) };
        let values = match value.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            Some(list) if !list.starts_with('[') => list.split(',').collect(),
            _ => vec![value],
        };
        let values = values.into_iter().map(|it| it.trim().trim_matches(['"', '\'']).to_owned());
        let room = FIELDS_MAX.saturating_sub(field.values.len());
        field.values.extend(values.filter(|it| !it.is_empty()).take(room));
    }
    Front { fields, fault: Some(fault), is_broken: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(yaml: &str, key: &str) -> Vec<String> {
        let front = read(yaml, true).unwrap();
        front.values(&[key]).map(str::to_owned).collect()
    }

    #[test]
    fn values_are_texts_whatever_their_kind() {
        assert_eq!(values("tags:\n- npc\n- ally/x\n", "tags"), ["npc", "ally/x"]);
        assert_eq!(values("home: [[Inn]]\n", "home"), ["[[Inn]]"]);
        assert_eq!(
            values("homes:\n  - [[Inn]]\n  - \"[[Mill]]\"\n", "homes"),
            ["[[Inn]]", "[[Mill]]"]
        );
        assert_eq!(values("DM_Notes: true\n", "dmnotes"), ["true"]);
    }

    #[test]
    fn broken_front_matter_keeps_its_fields() {
        let yaml = "type: npc\nname: Holya: the Tall\n\tx: 1\ntags: [a, b]\naliases:\n- Hol\n";
        let front = read(yaml, true).unwrap();
        assert!(front.fault.is_some());
        assert_eq!(front.values(&["type"]).collect::<Vec<_>>(), ["npc"]);
        assert_eq!(front.values(&["tags"]).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(front.values(&["aliases"]).collect::<Vec<_>>(), ["Hol"]);
    }

    #[test]
    fn rules_around_text_are_no_front_matter() {
        assert!(read("An old inn.\n", true).is_none());
        let open = split("---\ntype: npc\n\nShe bakes.\n");
        assert_eq!((open.yaml, open.is_closed), (Some("type: npc\n"), false));
        assert_eq!(split("---\n\nShe bakes.\n").yaml, None);
    }
}
