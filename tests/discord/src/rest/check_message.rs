//! Limits of a message.
//!
//! Entry functions: [`message`], [`modal`]. Never: who may write it.

use super::refusal::{Problems, Refusal};
use crate::world::message::components;
use serde_json::Value;
use std::collections::BTreeSet;

/// Flags a bot may set: no previews, ephemeral, silent.
const FLAGS: u64 = 1 << 2 | 1 << 6 | 1 << 12;
/// All texts of all embeds together.
const EMBED_TEXT: usize = 6000;

/// Checks the body of a message.
pub(crate) fn message(body: &Value) -> Result<(), Refusal> {
    let mut problems = Problems::default();
    if !body.is_object() {
        problems.add("_root", "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType");
        return problems.done();
    }
    problems.text("content", &body["content"], 0, 2000);
    if body["flags"].as_u64().is_some_and(|flags| flags & !FLAGS != 0) {
        problems.add("flags", "BITFIELD_INVALID", "flags this loopback does not know");
    }
    let mut total = 0;
    for (number, one) in problems.list("embeds", &body["embeds"], 0, 10).iter().enumerate() {
        total += embed(&mut problems, &format!("embeds.{number}"), one);
    }
    if total > EMBED_TEXT {
        problems.add(
            "embeds",
            "MAX_EMBED_SIZE_EXCEEDED",
            "Embed size exceeds maximum size of 6000",
        );
    }
    rows(&mut problems, body, &[2, 3, 5, 6, 7, 8]);
    problems.done()
}

/// Checks one embed; returns how much text it holds.
fn embed(problems: &mut Problems, path: &str, embed: &Value) -> usize {
    let mut total = 0;
    let mut text = |problems: &mut Problems, at: String, value: &Value, min, max| {
        problems.text(&at, value, min, max);
        total += value.as_str().map_or(0, |text| text.chars().count());
    };
    text(problems, format!("{path}.title"), &embed["title"], 0, 256);
    text(problems, format!("{path}.description"), &embed["description"], 0, 4096);
    text(problems, format!("{path}.footer.text"), &embed["footer"]["text"], 0, 2048);
    text(problems, format!("{path}.author.name"), &embed["author"]["name"], 0, 256);
    let fields = problems.list(&format!("{path}.fields"), &embed["fields"], 0, 25);
    for (number, field) in fields.iter().enumerate() {
        let path = format!("{path}.fields.{number}");
        text(problems, format!("{path}.name"), &field["name"], 1, 256);
        text(problems, format!("{path}.value"), &field["value"], 1, 1024);
    }
    problems.integer(&format!("{path}.color"), &embed["color"], 0, 0xFF_FFFF);
    let addresses = [
        ("url", &embed["url"]),
        ("image.url", &embed["image"]["url"]),
        ("thumbnail.url", &embed["thumbnail"]["url"]),
    ];
    for (name, value) in addresses {
        let known = |url: &str| {
            ["http://", "https://", "attachment://"].iter().any(|scheme| url.starts_with(scheme))
        };
        if value.as_str().is_some_and(|url| !known(url)) {
            let message = "Scheme must be one of ('http', 'https').";
            problems.add(&format!("{path}.{name}"), "URL_TYPE_INVALID_SCHEME", message);
        }
    }
    total
}

/// Checks rows of components of these kinds.
fn rows(problems: &mut Problems, body: &Value, kinds: &[u64]) {
    for (number, row) in problems.list("components", &body["components"], 0, 5).iter().enumerate() {
        let path = format!("components.{number}");
        if row["type"] != 1 {
            problems.add(
                &format!("{path}.type"),
                "BASE_TYPE_CHOICES",
                "Value must be one of (1,).",
            );
            continue;
        }
        let parts = problems.list(&format!("{path}.components"), &row["components"], 1, 5);
        let buttons = parts.iter().filter(|part| part["type"] == 2).count();
        if buttons < parts.len() && parts.len() > 1 {
            let message = "The specified component exceeds the maximum width";
            problems.add(&format!("{path}.components"), "COMPONENT_LAYOUT_WIDTH_EXCEEDED", message);
        }
        for (number, part) in parts.iter().enumerate() {
            let path = format!("{path}.components.{number}");
            match part["type"].as_u64().filter(|kind| kinds.contains(kind)) {
                Some(2) => button(problems, &path, part),
                Some(4) => input(problems, &path, part),
                Some(kind) => select(problems, &path, part, kind),
                None => {
                    let message = format!("Value must be one of {kinds:?}.");
                    problems.add(&format!("{path}.type"), "BASE_TYPE_CHOICES", &message);
                }
            }
        }
    }
    let mut seen = BTreeSet::new();
    for id in components(body).into_iter().filter_map(|part| part["custom_id"].as_str()) {
        if !seen.insert(id) {
            let message = format!("Component custom id cannot be duplicated: \"{id}\"");
            problems.add("components", "COMPONENT_CUSTOM_ID_DUPLICATED", &message);
        }
    }
}

/// Checks a button.
fn button(problems: &mut Problems, path: &str, button: &Value) {
    problems.text(&format!("{path}.label"), &button["label"], 0, 80);
    if button["label"].as_str().is_none_or(str::is_empty) && button["emoji"].is_null() {
        problems.add(
            path,
            "BUTTON_COMPONENT_LABEL_OR_EMOJI_REQUIRED",
            "A button needs a label or an emoji",
        );
    }
    match button["style"].as_u64() {
        Some(1..=4) => problems.text(&format!("{path}.custom_id"), &button["custom_id"], 1, 100),
        Some(5) => problems.text(&format!("{path}.url"), &button["url"], 1, 512),
        _ => problems.add(
            &format!("{path}.style"),
            "BASE_TYPE_CHOICES",
            "Value must be one of (1, 2, 3, 4, 5).",
        ),
    }
}

/// Checks a select menu.
fn select(problems: &mut Problems, path: &str, menu: &Value, kind: u64) {
    problems.text(&format!("{path}.custom_id"), &menu["custom_id"], 1, 100);
    problems.text(&format!("{path}.placeholder"), &menu["placeholder"], 0, 150);
    problems.integer(&format!("{path}.min_values"), &menu["min_values"], 0, 25);
    problems.integer(&format!("{path}.max_values"), &menu["max_values"], 1, 25);
    if kind != 3 {
        return;
    }
    let options = problems.list(&format!("{path}.options"), &menu["options"], 1, 25);
    let most = i64::try_from(options.len()).unwrap_or(i64::MAX);
    if menu["max_values"].as_i64().is_some_and(|max| max > most) {
        problems.add(
            &format!("{path}.max_values"),
            "NUMBER_TYPE_MAX",
            "more than there are options",
        );
    }
    let mut values = BTreeSet::new();
    for (number, option) in options.iter().enumerate() {
        let path = format!("{path}.options.{number}");
        problems.text(&format!("{path}.label"), &option["label"], 1, 100);
        problems.text(&format!("{path}.value"), &option["value"], 1, 100);
        problems.text(&format!("{path}.description"), &option["description"], 0, 100);
        if !values.insert(option["value"].as_str()) {
            problems.add(
                &path,
                "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
                "The specified option value is already used",
            );
        }
    }
}

/// Checks a text input of a modal.
fn input(problems: &mut Problems, path: &str, input: &Value) {
    problems.text(&format!("{path}.custom_id"), &input["custom_id"], 1, 100);
    problems.text(&format!("{path}.label"), &input["label"], 1, 45);
    problems.text(&format!("{path}.placeholder"), &input["placeholder"], 0, 100);
    problems.text(&format!("{path}.value"), &input["value"], 0, 4000);
    problems.integer(&format!("{path}.min_length"), &input["min_length"], 0, 4000);
    problems.integer(&format!("{path}.max_length"), &input["max_length"], 1, 4000);
    if !matches!(input["style"].as_u64(), Some(1 | 2)) {
        problems.add(&format!("{path}.style"), "BASE_TYPE_CHOICES", "Value must be one of (1, 2).");
    }
}

/// Checks a modal.
pub(crate) fn modal(data: &Value) -> Result<(), Refusal> {
    let mut problems = Problems::default();
    problems.text("title", &data["title"], 1, 45);
    problems.text("custom_id", &data["custom_id"], 1, 100);
    problems.list("components", &data["components"], 1, 5);
    rows(&mut problems, data, &[4]);
    problems.done()
}

/// Checks the choices that answer an autocomplete.
pub(crate) fn choices(data: &Value) -> Result<(), Refusal> {
    let mut problems = Problems::default();
    if !data["choices"].is_array() {
        problems.required("choices");
    }
    for (number, choice) in problems.list("choices", &data["choices"], 0, 25).iter().enumerate() {
        let path = format!("choices.{number}");
        problems.text(&format!("{path}.name"), &choice["name"], 1, 100);
        match &choice["value"] {
            Value::Number(_) => {}
            value => problems.text(&format!("{path}.value"), value, 1, 100),
        }
    }
    problems.done()
}
