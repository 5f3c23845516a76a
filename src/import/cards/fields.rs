//! Fields of one object of a card, read leniently and with their place.
//!
//! Entry type: [`Fields`].

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{fault::Fault, reading::Reading};

/// Longest text of a field, in characters; real ones have less than 30,000.
const TEXT_MAX: usize = 100_000;
/// Most texts of a list; more are left out.
const TEXTS_MAX: usize = 200;

pub struct Fields<'a> {
    pub map: &'a Map<String, Value>,
    place: String,
}

pub struct Field<'a> {
    /// "personality", "char_persona".
    pub name: &'static str,
    /// As written; of a number its digits.
    pub text: Cow<'a, str>,
}

impl<'a> Fields<'a> {
    pub fn new(map: &'a Map<String, Value>, place: impl Into<String>) -> Self {
        Self { map, place: place.into() }
    }

    pub fn place(&self, name: &str) -> String {
        if self.place.is_empty() { name.to_owned() } else { format!("{}/{name}", self.place) }
    }

    /// The first of these members that is there and not null.
    pub fn value(&self, names: &[&'static str]) -> Option<(&'static str, &'a Value)> {
        let mut there = names.iter().filter_map(|&name| Some((name, self.map.get(name)?)));
        there.find(|(_, value)| !value.is_null())
    }

    /// The first text of these members that is not blank. One that is no text is left out.
    pub fn text(&self, names: &[&'static str], reading: &mut Reading<'_>) -> Option<Field<'a>> {
        names.iter().find_map(|&name| {
            let text = text(self.map.get(name)?, self.place(name), reading)?;
            Some(Field { name, text })
        })
    }

    /// Like [`texts`](Self::texts), of short ones: one text has them separated by commas.
    pub fn words(&self, name: &'static str, reading: &mut Reading<'_>) -> Vec<Cow<'a, str>> {
        let is_line = self.map.get(name).is_some_and(Value::is_string);
        let texts = self.texts(name, reading);
        if !is_line {
            return texts;
        }
        let parts = texts.iter().flat_map(|line| line.split(',')).map(str::trim);
        let parts = parts.filter(|part| !part.is_empty()).take(TEXTS_MAX);
        parts.map(|part| Cow::Owned(part.to_owned())).collect()
    }

    /// Texts of a list that are not blank; where `name` holds a text or a number instead, this one.
    pub fn texts(&self, name: &'static str, reading: &mut Reading<'_>) -> Vec<Cow<'a, str>> {
        let place = self.place(name);
        let items = match self.map.get(name) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(items)) => items.as_slice(),
            Some(line @ (Value::String(_) | Value::Number(_))) => std::slice::from_ref(line),
            Some(_) => {
                reading.odd(&place, "it is not a list of texts");
                return Vec::new();
            }
        };
        if items.len() > TEXTS_MAX {
            let more = items.len() - TEXTS_MAX;
            reading.left_out(format!("{more} more of {place}"), format!("{TEXTS_MAX} are read"));
        }
        let mut texts = Vec::new();
        for (at, item) in items.iter().take(TEXTS_MAX).enumerate() {
            texts.extend(text(item, format!("{place}/{at}"), reading));
        }
        texts
    }

    /// The first of these members that is true or false; writers also use 0 and 1, and words for them.
    pub fn flag(&self, names: &[&'static str]) -> Option<bool> {
        names.iter().find_map(|&name| match self.map.get(name)? {
            Value::Bool(flag) => Some(*flag),
            Value::Number(number) => number.as_i64().map(|number| number != 0),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "true" | "1" => Some(true),
                "false" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        })
    }

    /// The object `name`; `None` also for an empty list, which some writers put in its place.
    pub fn object(&self, name: &'static str, reading: &mut Reading<'_>) -> Option<Fields<'a>> {
        match self.map.get(name)? {
            Value::Object(map) => Some(Fields::new(map, self.place(name))),
            Value::Null => None,
            Value::Array(items) if items.is_empty() => None,
            Value::String(text) if text.trim().is_empty() => None,
            _ => {
                reading.odd(&self.place(name), "it is not an object");
                None
            }
        }
    }
}

/// A text of bounded length at `place` that is not blank, or a number as one; false, which some writers put
/// for an empty one, is blank.
fn text<'a>(value: &'a Value, place: String, reading: &mut Reading<'_>) -> Option<Cow<'a, str>> {
    match value {
        Value::String(text) if text.len() > TEXT_MAX && text.chars().count() > TEXT_MAX => {
            let message = format!("longer than {TEXT_MAX} characters");
            reading.mistake(Fault::new(&place, message, "shorten this text"));
            None
        }
        Value::String(text) if text.trim().is_empty() => None,
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Null | Value::Bool(false) => None,
        _ => {
            reading.odd(&place, "it is not a text");
            None
        }
    }
}
