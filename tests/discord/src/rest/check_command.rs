//! Limits of a command's registration.
//!
//! Entry function: [`command`]. Never: storing it.

use super::refusal::Problems;
use serde_json::Value;
use std::collections::BTreeSet;

/// Languages commands can be translated to.
const LOCALES: [&str; 34] = [
    "id", "da", "de", "en-GB", "en-US", "es-ES", "es-419", "fr", "hr", "it", "lt", "hu", "nl",
    "no", "pl", "pt-BR", "ro", "fi", "sv-SE", "vi", "tr", "cs", "el", "bg", "ru", "uk", "hi", "th",
    "zh-CN", "ja", "zh-TW", "ko", "ar", "he",
];
/// All names, descriptions and choices of a command together.
const COMMAND_TEXT: usize = 8000;
/// Kinds of options: subcommand and group of subcommands.
const SUB: u64 = 1;
/// See [`SUB`].
const GROUP: u64 = 2;

/// True if a name of a slash command or an option is one.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c == '-' || c == '_' || c == '\'' || c.is_alphanumeric();
    (1..=32).contains(&name.chars().count())
        && name.chars().all(fits)
        && name == name.to_lowercase()
}

/// Checks a command whose complaints begin with `path`.
pub(crate) fn command(problems: &mut Problems, path: &str, command: &Value) {
    let kind = command["type"].as_u64().unwrap_or(1);
    if kind == 1 {
        named(problems, path, command);
    } else {
        problems.text(&join(path, "name"), &command["name"], 1, 32);
    }
    let bits = &command["default_member_permissions"];
    let number = |bits: &Value| bits.as_str().is_some_and(|text| text.parse::<u64>().is_ok());
    if !bits.is_null() && !number(bits) {
        problems.add(
            &join(path, "default_member_permissions"),
            "BITFIELD_INVALID",
            "not a set of permissions",
        );
    }
    if text_of(command) > COMMAND_TEXT {
        problems.add(path, "APPLICATION_COMMAND_TOO_LARGE", "Command exceeds maximum size (8000)");
    }
    options(problems, path, command, 0);
}

/// A path below another one, which may be empty.
fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}

/// All text of a command that counts.
fn text_of(one: &Value) -> usize {
    let length = |value: &Value| value.as_str().map_or(0, |text| text.chars().count());
    let below = |name: &str| one[name].as_array().into_iter().flatten().map(text_of).sum::<usize>();
    length(&one["name"])
        + length(&one["description"])
        + length(&one["value"])
        + below("options")
        + below("choices")
}

/// Checks name and description, also in other languages.
fn named(problems: &mut Problems, path: &str, one: &Value) {
    let names = one["name_localizations"].as_object();
    let names = names
        .into_iter()
        .flatten()
        .map(|(locale, name)| (format!("name_localizations.{locale}"), name));
    for (at, name) in names.chain([("name".to_owned(), &one["name"])]) {
        if !name.as_str().is_some_and(is_name) {
            let message = format!("Command name is invalid: {name}");
            problems.add(&join(path, &at), "APPLICATION_COMMAND_INVALID_NAME", &message);
        }
    }
    problems.text(&join(path, "description"), &one["description"], 1, 100);
    for (locale, text) in one["description_localizations"].as_object().into_iter().flatten() {
        problems.text(&join(path, &format!("description_localizations.{locale}")), text, 1, 100);
    }
    for list in ["name_localizations", "description_localizations"] {
        for locale in one[list].as_object().into_iter().flatten().map(|(locale, _)| locale) {
            if !LOCALES.contains(&locale.as_str()) {
                problems.add(
                    &join(path, list),
                    "ENUM_TYPE_COERCE",
                    &format!("no language \"{locale}\""),
                );
            }
        }
    }
}

/// Checks the options of a command (`depth` 0) or of one of its subcommands.
fn options(problems: &mut Problems, path: &str, parent: &Value, depth: usize) {
    let all = problems.list(&join(path, "options"), &parent["options"], 0, 25);
    let (mut names, mut optional) = (BTreeSet::new(), false);
    let nested = |option: &Value| matches!(option["type"].as_u64(), Some(SUB | GROUP));
    if all.iter().any(nested) && !all.iter().all(nested) {
        let message = "Sub-command and sub-command group option types are mutually exclusive to all other types";
        problems.add(&join(path, "options"), "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", message);
    }
    for (number, option) in all.iter().enumerate() {
        let path = join(path, &format!("options.{number}"));
        named(problems, &path, option);
        if !names.insert(option["name"].as_str()) {
            let message = "Option names must be unique";
            problems.add(&path, "APPLICATION_COMMAND_OPTIONS_NAME_DUPLICATE", message);
        }
        match (option["type"].as_u64(), depth) {
            (Some(GROUP), 0) => {
                let only_subs = option["options"]
                    .as_array()
                    .is_some_and(|subs| subs.iter().all(|sub| sub["type"] == SUB));
                if !only_subs {
                    problems.add(
                        &path,
                        "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
                        "a group holds subcommands only",
                    );
                }
                options(problems, &path, option, 1);
            }
            (Some(SUB), 0 | 1) => options(problems, &path, option, 2),
            (Some(3..=11), 0 | 2) => value(problems, &path, option),
            _ => problems.add(
                &join(&path, "type"),
                "BASE_TYPE_CHOICES",
                "no such kind of option here",
            ),
        }
        if option["required"] == true && optional {
            let message = "Required options must be placed before non-required options";
            problems.add(&path, "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID", message);
        }
        optional |= option["required"] != true;
    }
}

/// Checks an option that has a value.
fn value(problems: &mut Problems, path: &str, option: &Value) {
    let kind = option["type"].as_u64().unwrap_or_default();
    let number = matches!(kind, 4 | 10);
    let chosen = choices(problems, path, option, kind);
    let mut only = |name: &str, allowed: bool| {
        let none = option[name].is_null() || option[name].as_array().is_some_and(Vec::is_empty);
        if !none && !allowed {
            problems.add(
                &format!("{path}.{name}"),
                "APPLICATION_COMMAND_OPTION_FIELD_INVALID",
                "not for this option",
            );
        }
    };
    only("min_value", number);
    only("max_value", number);
    only("min_length", kind == 3);
    only("max_length", kind == 3);
    only("channel_types", kind == 7);
    let completed = option["autocomplete"] == true;
    if completed && (chosen || !(number || kind == 3)) {
        let message = "autocomplete needs text or a number without choices";
        problems.add(
            &format!("{path}.autocomplete"),
            "APPLICATION_COMMAND_OPTION_AUTOCOMPLETE_INVALID",
            message,
        );
    }
    problems.integer(&format!("{path}.min_length"), &option["min_length"], 0, 6000);
    problems.integer(&format!("{path}.max_length"), &option["max_length"], 1, 6000);
}

/// Checks the choices of an option of this kind; whether there are any.
fn choices(problems: &mut Problems, path: &str, option: &Value, kind: u64) -> bool {
    let choices = problems.list(&format!("{path}.choices"), &option["choices"], 0, 25);
    let mut names = BTreeSet::new();
    for (number, choice) in choices.iter().enumerate() {
        let path = format!("{path}.choices.{number}");
        problems.text(&format!("{path}.name"), &choice["name"], 1, 100);
        let value = &choice["value"];
        let short = |text: &str| (1..=100).contains(&text.chars().count());
        let fits = match kind {
            3 => value.as_str().is_some_and(short),
            4 => value.is_i64(),
            10 => value.is_number(),
            _ => false,
        };
        if !fits {
            let message = "the value does not fit the option";
            problems.add(&format!("{path}.value"), "UNION_TYPE_CHOICES", message);
        }
        if !names.insert(choice["name"].as_str()) {
            let message = "Choice names must be unique";
            problems.add(&path, "APPLICATION_COMMAND_OPTION_CHOICE_NAME_DUPLICATE", message);
        }
    }
    !choices.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The codes of all complaints.
    fn complaints(command_: &Value) -> String {
        let mut problems = Problems::default();
        command(&mut problems, "", command_);
        problems.done().err().map_or(String::new(), |refusal| refusal.body()["errors"].to_string())
    }

    #[test]
    fn good_commands_pass() {
        let command = json!({"name": "npc", "description": "NPCs", "options": [
            {"type": 1, "name": "show", "description": "one NPC", "options": [
                {"type": 3, "name": "name", "description": "who", "required": true, "autocomplete": true},
                {"type": 4, "name": "lines", "description": "how many", "min_value": 1, "max_value": 9}]},
            {"type": 2, "name": "pin", "description": "pins", "options": [
                {"type": 1, "name": "setzen", "description": "x", "name_localizations": {"de": "größer"}}]}]});
        assert_eq!(complaints(&command), "");
    }

    #[test]
    fn bad_commands_are_refused() {
        let option = |option: Value| json!({"name": "x", "description": "y", "options": [option]});
        let cases = [
            (json!({"name": "Roll", "description": "x"}), "INVALID_NAME"),
            (json!({"name": "roll it", "description": "x"}), "INVALID_NAME"),
            (json!({"name": "roll", "description": ""}), "BAD_LENGTH"),
            (json!({"name": "roll", "description": "x".repeat(101)}), "BAD_LENGTH"),
            (
                option(json!({"type": 3, "name": "a", "description": "b", "min_value": 1})),
                "FIELD_INVALID",
            ),
            (option(json!({"type": 12, "name": "a", "description": "b"})), "BASE_TYPE_CHOICES"),
            (
                option(json!({"type": 3, "name": "a", "description": "b", "autocomplete": true,
                    "choices": [{"name": "a", "value": "b"}]})),
                "AUTOCOMPLETE_INVALID",
            ),
            (
                json!({"name": "x", "description": "y", "options": [
                    {"type": 3, "name": "a", "description": "b"},
                    {"type": 3, "name": "b", "description": "b", "required": true}]}),
                "REQUIRED_INVALID",
            ),
            (
                json!({"name": "x", "description": "y", "options": [
                    {"type": 3, "name": "a", "description": "b"}, {"type": 1, "name": "b", "description": "b"}]}),
                "TYPE_INVALID",
            ),
        ];
        for (command, code) in cases {
            assert!(
                complaints(&command).contains(code),
                "{command} gives {}",
                complaints(&command)
            );
        }
    }
}
