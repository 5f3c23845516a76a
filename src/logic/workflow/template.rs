//! Texts with references to inputs and results.

use std::fmt;

use serde_json::Value;

/// Longest excerpt in an error, in characters.
const EXCERPT_MAX: usize = 40;

/// Beginning of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    Input(String),
    Step(String),
}

/// `${inputs.X}` or `${steps.NAME}`, with members of the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub root: Root,
    /// Members and indices.
    pub path: Vec<String>,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::Input(name) => write!(f, "${{inputs.{name}")?,
            Root::Step(name) => write!(f, "${{steps.{name}")?,
        }
        self.path.iter().try_for_each(|member| write!(f, ".{member}"))?;
        f.write_str("}")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("'${{' has no '}}'")]
    Open,
    /// The beginning of what is between the braces.
    #[error("'${{{0}}}' is no reference")]
    NoReference(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Value(Reference),
}

/// A text with references; no two texts are neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template(pub(super) Vec<Part>);

impl Template {
    /// Reads `text`; `$${` is a literal `${`.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let (mut parts, mut plain, mut rest) = (Vec::new(), String::new(), text);
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(before) = before.strip_suffix('$') {
                plain.push_str(before);
                plain.push_str("${");
                rest = after;
                continue;
            }
            plain.push_str(before);
            let (inside, after) = after.split_once('}').ok_or(TemplateError::Open)?;
            let reference =
                reference(inside).ok_or_else(|| TemplateError::NoReference(excerpt(inside)))?;
            if !plain.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut plain)));
            }
            parts.push(Part::Value(reference));
            rest = after;
        }
        plain.push_str(rest);
        if !plain.is_empty() {
            parts.push(Part::Text(plain));
        }
        Ok(Self(parts))
    }

    /// The text, if it has no references.
    pub fn plain(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.0.iter().filter_map(|part| match part {
            Part::Value(reference) => Some(reference),
            Part::Text(_) => None,
        })
    }

    /// The reference, if the whole text is one.
    pub(super) fn only_reference(&self) -> Option<&Reference> {
        if let [Part::Value(reference)] = self.0.as_slice() { Some(reference) } else { None }
    }
}

/// JSON whose texts are templates; keys of objects are not.
#[derive(Clone, Debug, PartialEq)]
pub enum JsonTemplate {
    /// No text, list or object.
    Fixed(Value),
    /// A single reference keeps the type of its value.
    Text(Template),
    List(Vec<JsonTemplate>),
    Object(Vec<(String, JsonTemplate)>),
}

impl JsonTemplate {
    pub fn parse(value: &Value) -> Result<Self, TemplateError> {
        Ok(match value {
            Value::String(text) => Self::Text(Template::parse(text)?),
            Value::Array(items) => {
                Self::List(items.iter().map(Self::parse).collect::<Result<_, _>>()?)
            }
            Value::Object(members) => {
                let pair = |(key, value): (&String, &Value)| Ok((key.clone(), Self::parse(value)?));
                Self::Object(members.iter().map(pair).collect::<Result<_, TemplateError>>()?)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => Self::Fixed(value.clone()),
        })
    }

    pub fn references(&self) -> Vec<&Reference> {
        match self {
            Self::Fixed(_) => Vec::new(),
            Self::Text(template) => template.references().collect(),
            Self::List(items) => items.iter().flat_map(Self::references).collect(),
            Self::Object(members) => members.iter().flat_map(|(_, it)| it.references()).collect(),
        }
    }
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(EXCERPT_MAX).map(plain).collect()
}

fn reference(inside: &str) -> Option<Reference> {
    let mut members = inside.split('.');
    let (root, name) = (members.next()?, members.next()?);
    if !is_name(name) {
        return None;
    }
    let root = match root {
        "inputs" => Root::Input(name.to_owned()),
        "steps" => Root::Step(name.to_owned()),
        _ => return None,
    };
    let path: Vec<String> = members.map(str::to_owned).collect();
    let is_member = |member: &String| !member.is_empty() && !member.contains(['{', '$', ' ']);
    path.iter().all(is_member).then_some(Reference { root, path })
}

/// True for the name of a step or an input: letters, digits and `_`, and no digit first, so that
/// `when` can have it without quotes.
pub fn is_name(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.starts_with(|c: char| !c.is_ascii_digit()) && text.chars().all(is_part)
}
