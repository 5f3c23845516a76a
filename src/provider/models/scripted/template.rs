//! Templates of scripted lines: `{speaker}`, `{npc}`, `{utterance}`, `{dice}`, `{odds}`, `{last}`,
//! `{1}`, `{name}`, `{result.total}`, `{result}`. `{name}` is the name the speaker gave, now or
//! earlier.

use std::collections::BTreeMap;

use regex::Regex;
use serde_json::Value;

use crate::{
    domain::{TurnFacts, unframed},
    logic::words::capitalised,
};

/// Capture group for the speaker's name.
pub const NAME: &str = "name";

/// Most words of a value that ends a truncated line.
const CUT_OFF: usize = 3;

#[derive(Debug)]
pub struct Values {
    npc: String,
    speaker: String,
    pub utterance: String,
    dice: Option<String>,
    odds: Option<String>,
    last: Option<String>,
    pub dice_withheld: bool,
    /// A list in the result may replace a single value: "totals" for "total".
    pub takes_several: bool,
    pub captures: BTreeMap<String, String>,
    /// Name that the speaker gave earlier.
    pub introduced: Option<String>,
    pub result: Option<Value>,
}

impl Values {
    pub fn new(npc: &str, facts: &TurnFacts) -> Self {
        Self {
            npc: npc.to_owned(),
            speaker: facts.speaker.clone(),
            // Lines follow no instructions, so they are chosen by the words alone.
            utterance: unframed(&facts.utterance),
            dice: facts.dice.clone(),
            odds: facts.odds.clone(),
            last: facts.last.map(|back| back.to_string()),
            dice_withheld: facts.dice_withheld,
            takes_several: false,
            captures: BTreeMap::new(),
            introduced: None,
            result: None,
        }
    }

    /// Name of the NPC.
    pub fn npc(&self) -> &str {
        &self.npc
    }

    fn get(&self, key: &str) -> Option<String> {
        match key {
            "npc" => Some(self.npc.clone()),
            "speaker" => Some(self.speaker.clone()),
            "utterance" => Some(self.utterance.clone()),
            "dice" => self.dice.clone(),
            "odds" => self.odds.clone(),
            "last" => self.last.clone(),
            "result" => self.result.as_ref().and_then(spoken),
            _ => match key.strip_prefix("result.") {
                Some(path) => {
                    let pointer = format!("/{}", path.replace('.', "/"));
                    let result = self.result.as_ref()?;
                    let several = || {
                        let list = result.pointer(&format!("{pointer}s"));
                        list.filter(|it| self.takes_several && it.is_array())
                    };
                    result.pointer(&pointer).or_else(several).and_then(spoken)
                }
                None if key == NAME => {
                    let name = self.captures.get(key).or(self.introduced.as_ref())?;
                    Some(as_opening(name))
                }
                None => self.captures.get(key).cloned(),
            },
        }
    }
}

/// Fills `template`; `None`: a value is missing.
pub fn fill(template: &str, values: &Values) -> Option<String> {
    fill_by(template, values, |_, value| value)
}

/// Like [`fill`], with a capital letter for values that begin a sentence.
pub fn fill_spoken(template: &str, values: &Values) -> Option<String> {
    fill_by(template, values, |before, value| {
        let before = before.trim_end_matches(|c: char| c.is_whitespace() || "\"'“„»«(".contains(c));
        let begins = before.is_empty() || before.ends_with(['.', '!', '?', '…']);
        if begins { as_opening(&value) } else { value }
    })
}

/// Fills `template`; `write` formats each value after the preceding text.
fn fill_by(
    template: &str,
    values: &Values,
    write: impl Fn(&str, String) -> String,
) -> Option<String> {
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((key, after)) = after.split_once('}') else { break };
        text.push_str(before);
        let value = write(&text, values.get(key.trim())?);
        text.push_str(&value);
        rest = after;
    }
    text.push_str(rest);
    Some(text)
}

/// Capitalises the first letter, unless it belongs to no word ("customer://7").
fn as_opening(text: &str) -> String {
    let first = text.split(char::is_whitespace).next().unwrap_or_default();
    let word = first.trim_end_matches([',', '.', '!', '?', ';', ':', '…']);
    if !word.chars().all(|c| c.is_alphabetic() || "'’-".contains(c)) {
        return text.to_owned();
    }
    capitalised(text)
}

/// True if `said`, perhaps truncated, matches `template` with any values.
pub fn is_of(said: &str, template: &str) -> bool {
    let fixed = template
        .split('{')
        .map(|part| part.split_once('}').map_or(part, |(_, fixed)| fixed))
        .filter(|part| part.contains(char::is_alphanumeric));
    let (mut rest, mut found) = (said, false);
    for part in fixed.map(str::trim) {
        if let Some((_, behind)) = rest.split_once(part) {
            (rest, found) = (behind, true);
            continue;
        }
        let is_other = |c: char| !c.is_alphanumeric();
        let last = rest.trim_matches(is_other);
        return match found {
            // The value, and perhaps the first words after it.
            true => last.split_whitespace().count() <= CUT_OFF,
            false => !last.is_empty() && part.trim_start_matches(is_other).starts_with(last),
        };
    }
    found
}

pub fn fill_json(template: &Value, values: &Values) -> Option<Value> {
    Some(match template {
        Value::String(text) => Value::String(fill(text, values)?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| fill_json(item, values)).collect::<Option<_>>()?)
        }
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(key, value)| Some((key.clone(), fill_json(value, values)?)))
                .collect::<Option<_>>()?,
        ),
        other => other.clone(),
    })
}

pub fn captures(pattern: &Regex, text: &str) -> BTreeMap<String, String> {
    let Some(found) = pattern.captures(text) else { return BTreeMap::new() };
    pattern
        .capture_names()
        .enumerate()
        .filter_map(|(index, name)| {
            let value = found.get(index)?.as_str().to_owned();
            Some((name.map_or_else(|| index.to_string(), str::to_owned), value))
        })
        .collect()
}

/// The longest part of a template between placeholders.
pub fn longest_fixed_part(template: &str) -> &str {
    template
        .split('{')
        .map(|part| part.split_once('}').map_or(part, |(_, fixed)| fixed))
        .max_by_key(|part| part.len())
        .unwrap_or(template)
}

fn spoken(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let items: Option<Vec<String>> = items.iter().map(spoken).collect();
            Some(items?.join(", "))
        }
        other => Some(other.to_string()),
    }
}
