//! A server's question as form fields, and the values filled in.
//!
//! Entry type: [`Question`]. Questions that do not fit a form are declined.

use serde_json::{Map, Value};

/// Fields of one page: Discord's limit for a form.
const PAGE: usize = 5;
/// Fields a server may ask for.
const FIELDS_MAX: usize = 20;
/// Longest label, in characters (Discord's limit).
pub const LABEL_MAX: usize = 45;
/// Longest hint, in characters (Discord's limit).
const HINT_MAX: usize = 100;
/// Longest text of a field, in characters (Discord's limit).
const TEXT_MAX: u16 = 4_000;

/// Longer texts, in characters, get a field of several lines.
const LINE_MAX: u16 = 300;

#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    name: String,
    /// At most 45 characters.
    pub label: String,
    /// Values it takes, at most 100 characters; empty: anything.
    pub hint: String,
    kind: Kind,
    pub default: String,
    pub is_required: bool,
    /// In characters.
    pub longest: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuestionError {
    #[error("its form has {0} fields, and I can show {FIELDS_MAX} at most")]
    TooLong(usize),
    /// A field has a type that forms do not support.
    #[error("its field '{0}' doesn't fit into a Discord form")]
    Shape(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    #[error("'{label}' is empty (fill it in)")]
    Empty { label: String },
    #[error("'{label}' is '{text}' (expected {expected})")]
    Wrong { label: String, text: String, expected: String },
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Text,
    Whole,
    Number,
    Flag,
    OneOf(Vec<String>),
    Several(Vec<String>),
}

impl Question {
    /// The question that `schema`, the JSON Schema of an object, asks.
    pub fn of(schema: &Value) -> Result<Self, QuestionError> {
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        if properties.len() > FIELDS_MAX {
            return Err(QuestionError::TooLong(properties.len()));
        }
        let required: Vec<&str> = schema
            .get("required")
            .and_then(Value::as_array)
            .map(|names| names.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        let fields = properties
            .iter()
            .map(|(name, schema)| Field::of(name, schema, required.contains(&name.as_str())));
        Ok(Self { fields: fields.collect::<Result<_, _>>()? })
    }

    pub fn pages(&self) -> usize {
        self.fields.len().div_ceil(PAGE)
    }

    pub fn page(&self, page: usize) -> impl Iterator<Item = &Field> {
        self.fields.iter().skip(page * PAGE).take(PAGE)
    }

    /// Reads the values filled in on one page, from 0. If one does not fit, none is taken.
    pub fn read(
        &self,
        page: usize,
        values: &[String],
        into: &mut Map<String, Value>,
    ) -> Result<(), FieldError> {
        let mut read = Vec::new();
        for (field, value) in self.page(page).zip(values) {
            if let Some(value) = field.read(value.trim())? {
                read.push((field.name.clone(), value));
            }
        }
        into.extend(read);
        Ok(())
    }
}

impl Field {
    /// True if it needs a field of several lines.
    pub fn is_long(&self) -> bool {
        matches!(self.kind, Kind::Text) && self.longest > LINE_MAX
    }

    fn of(name: &str, schema: &Value, is_required: bool) -> Result<Self, QuestionError> {
        let word = |key| schema.get(key).and_then(Value::as_str);
        let kind = kind(schema).ok_or_else(|| QuestionError::Shape(name.to_owned()))?;
        let default = match schema.get("default") {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(Value::Bool(flag)) => if *flag { "yes" } else { "no" }.to_owned(),
            Some(Value::Array(several)) => words(several).join(", "),
            Some(other) => other.to_string(),
        };
        let known = match &kind {
            Kind::Flag => "yes or no".to_owned(),
            Kind::Whole => "a whole number".to_owned(),
            Kind::Number => "a number".to_owned(),
            Kind::OneOf(known) => format!("one of: {}", known.join(", ")),
            Kind::Several(known) => format!("some of, with commas: {}", known.join(", ")),
            Kind::Text => String::new(),
        };
        let described = word("description").unwrap_or_default();
        let hint = if known.is_empty() { described.to_owned() } else { known };
        let longest = schema.get("maxLength").and_then(Value::as_u64);
        let longest = longest.and_then(|most| u16::try_from(most).ok()).unwrap_or(TEXT_MAX);
        Ok(Self {
            name: name.to_owned(),
            label: short(word("title").unwrap_or(name), LABEL_MAX),
            hint: short(&hint, HINT_MAX),
            kind,
            is_required,
            default,
            longest: longest.clamp(1, TEXT_MAX),
        })
    }

    /// `None`: left empty.
    fn read(&self, text: &str) -> Result<Option<Value>, FieldError> {
        if text.is_empty() {
            return match self.is_required {
                true => Err(FieldError::Empty { label: self.label.clone() }),
                false => Ok(None),
            };
        }
        let wrong = |expected: &str| FieldError::Wrong {
            label: self.label.clone(),
            text: text.to_owned(),
            expected: expected.to_owned(),
        };
        let known = |known: &[String], word: &str| {
            let found = known.iter().find(|it| it.eq_ignore_ascii_case(word)).cloned();
            found.ok_or_else(|| wrong(&known.join(", ")))
        };
        let value = match &self.kind {
            Kind::Text => Value::from(text),
            Kind::Whole => Value::from(text.parse::<i64>().map_err(|_| wrong("a whole number"))?),
            Kind::Number => {
                let number = text.parse::<f64>().ok().and_then(serde_json::Number::from_f64);
                Value::Number(number.ok_or_else(|| wrong("a number"))?)
            }
            Kind::Flag => match text.to_lowercase().as_str() {
                "yes" | "y" | "true" | "ja" => Value::Bool(true),
                "no" | "n" | "false" | "nein" => Value::Bool(false),
                _ => return Err(wrong("yes or no")),
            },
            Kind::OneOf(all) => Value::from(known(all, text)?),
            Kind::Several(all) => {
                let words = text.split(',').map(str::trim).filter(|word| !word.is_empty());
                Value::from(words.map(|word| known(all, word)).collect::<Result<Vec<_>, _>>()?)
            }
        };
        Ok(Some(value))
    }
}

/// Kind of a field with this schema; `None`: unsupported.
fn kind(schema: &Value) -> Option<Kind> {
    if let Some(known) = choices(schema) {
        return Some(Kind::OneOf(known));
    }
    match schema.get("type").and_then(Value::as_str).unwrap_or("string") {
        "string" => Some(Kind::Text),
        "integer" => Some(Kind::Whole),
        "number" => Some(Kind::Number),
        "boolean" => Some(Kind::Flag),
        "array" => schema.get("items").and_then(choices).map(Kind::Several),
        _ => None,
    }
}

fn choices(schema: &Value) -> Option<Vec<String>> {
    if let Some(known) = schema.get("enum").and_then(Value::as_array) {
        return Some(words(known));
    }
    let titled = schema.get("oneOf").or_else(|| schema.get("anyOf"))?.as_array()?;
    let words = titled.iter().filter_map(|it| it.get("const")?.as_str().map(str::to_owned));
    Some(words.collect())
}

fn words(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The first `most` characters of `text`.
pub fn short(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn question() -> Question {
        Question::of(&json!({"type": "object", "required": ["city"], "properties": {
            "city": {"type": "string", "title": "City"},
            "days": {"type": "integer", "default": 3},
            "warm": {"type": "boolean"},
            "unit": {"type": "string", "enum": ["celsius", "kelvin"]},
            "share": {"type": "number"},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        }}))
        .unwrap()
    }

    #[test]
    fn answers_are_parsed_by_field_kind() {
        let (question, mut answer) = (question(), Map::new());
        assert_eq!(question.pages(), 2);
        // Fields come in the order of the schema's map: city, days, share, tags, unit, warm.
        let order: Vec<&str> = question.fields.iter().map(|it| it.name.as_str()).collect();
        let write = |name: &str| match name {
            "city" => "Trondheim",
            "days" => "7",
            "warm" => "Yes",
            "unit" => "CELSIUS",
            "share" => "0.5",
            _ => "b, a",
        };
        let values: Vec<String> = order.iter().map(|name| write(name).to_owned()).collect();
        question.read(0, &values[..5], &mut answer).unwrap();
        question.read(1, &values[5..], &mut answer).unwrap();
        let expected = json!({"city": "Trondheim", "days": 7, "warm": true, "unit": "celsius",
            "share": 0.5, "tags": ["b", "a"]});
        assert_eq!(Value::Object(answer), expected);
    }

    #[test]
    fn invalid_values_give_error_naming_field() {
        let question = question();
        let field = |name: &str| question.fields.iter().find(|it| it.name == name).unwrap();
        assert_eq!(field("city").read("").unwrap_err().to_string(), "'City' is empty (fill it in)");
        assert!(field("days").read("seven").unwrap_err().to_string().contains("a whole number"));
        assert!(field("unit").read("rankine").unwrap_err().to_string().contains("celsius, kelvin"));
        assert_eq!(field("days").read(""), Ok(None));
        assert_eq!(field("days").default, "3");
    }

    #[test]
    fn too_much_and_unknown_shapes_are_declined() {
        let many: Map<String, Value> =
            (0..21).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
        assert!(
            Question::of(&json!({ "properties": many }))
                .unwrap_err()
                .to_string()
                .contains("21 fields")
        );
        let odd = json!({"properties": {"map": {"type": "object"}}});
        assert!(Question::of(&odd).unwrap_err().to_string().contains("'map'"));
        assert_eq!(Question::of(&json!({})).unwrap().pages(), 0);
    }
}
