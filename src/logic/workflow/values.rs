//! Inputs and results of a run: looked up by references, marked if they came from outside.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::template::{JsonTemplate, Part, Reference, Root, Template};

/// Longest text of a step, in bytes: more than anyone listens to or reads in a notice.
const TEXT_MAX: usize = 16 * 1024;
/// Largest result, and largest arguments, in bytes of JSON; a model's arguments have a multiple.
const JSON_MAX: usize = 64 * 1024;

/// Largest sum of the results of one workflow, in bytes of JSON.
const RESULTS_MAX: usize = 512 * 1024;

/// A value; `outside`: some of it came from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    pub value: Value,
    pub outside: bool,
}

impl Given {
    /// True if it is larger than a run keeps.
    pub fn is_too_large(&self) -> bool {
        self.size() > JSON_MAX
    }

    /// In bytes of JSON.
    fn size(&self) -> usize {
        self.value.to_string().len()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    /// Words from outside: data, never instructions.
    pub outside: bool,
}

/// A filled text, in pieces, so that those from outside can be framed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(pub Vec<Piece>);

impl Words {
    pub fn text(&self) -> String {
        self.0.iter().map(|piece| piece.text.as_str()).collect()
    }

    pub fn is_outside(&self) -> bool {
        self.0.iter().any(|piece| piece.outside)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FillError {
    #[error("{0} has no value")]
    Missing(Reference),
    #[error("the text is longer than {TEXT_MAX} bytes")]
    TextTooLong,
    #[error("the arguments are larger than {JSON_MAX} bytes")]
    JsonTooLarge,
}

/// Inputs and results that the steps of one workflow may refer to.
#[derive(Clone, Debug)]
pub struct Values {
    inputs: Given,
    steps: BTreeMap<String, Given>,
    /// Size of all results.
    size: usize,
}

impl Values {
    /// `inputs` is an object.
    pub const fn new(inputs: Given) -> Self {
        Self { inputs, steps: BTreeMap::new(), size: 0 }
    }

    /// Keeps the result of a step; false if the workflow has no room for it.
    pub fn keep(&mut self, step: &str, result: Given) -> bool {
        let size = self.size.saturating_add(result.size());
        if size > RESULTS_MAX {
            return false;
        }
        self.size = size;
        self.steps.insert(step.to_owned(), result);
        true
    }

    /// An object with the members `inputs` and `steps`.
    pub fn for_conditions(&self) -> Value {
        json!({ "inputs": self.inputs.value, "steps": self.results().value })
    }

    /// Results by the names of their steps.
    pub fn results(&self) -> Given {
        let pairs = self.steps.iter().map(|(name, it)| (name.clone(), it.value.clone()));
        let value = Value::Object(pairs.collect::<Map<_, _>>());
        Given { value, outside: self.steps.values().any(|it| it.outside) }
    }

    /// `template` with its references resolved; the values in it are not read again.
    pub fn words(&self, template: &Template) -> Result<Words, FillError> {
        let (mut words, mut length) = (Words::default(), 0_usize);
        for part in &template.0 {
            let piece = match part {
                Part::Text(text) => Piece { text: text.clone(), outside: false },
                Part::Value(reference) => {
                    let (value, outside) = self.find(reference)?;
                    let text = text(value).ok_or_else(|| FillError::Missing(reference.clone()))?;
                    Piece { text, outside }
                }
            };
            length = length.saturating_add(piece.text.len());
            if length > TEXT_MAX {
                return Err(FillError::TextTooLong);
            }
            words.0.push(piece);
        }
        Ok(words)
    }

    pub fn json(&self, template: &JsonTemplate) -> Result<Given, FillError> {
        let mut outside = false;
        let value = self.filled(template, &mut outside)?;
        let given = Given { value, outside };
        if given.is_too_large() { Err(FillError::JsonTooLarge) } else { Ok(given) }
    }

    fn filled(&self, template: &JsonTemplate, outside: &mut bool) -> Result<Value, FillError> {
        Ok(match template {
            JsonTemplate::Fixed(value) => value.clone(),
            JsonTemplate::Text(template) => match template.only_reference() {
                Some(reference) => {
                    let (value, is_outside) = self.find(reference)?;
                    *outside |= is_outside;
                    value.clone()
                }
                None => {
                    let words = self.words(template)?;
                    *outside |= words.is_outside();
                    Value::String(words.text())
                }
            },
            JsonTemplate::List(items) => {
                let items = items.iter().map(|item| self.filled(item, outside));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            JsonTemplate::Object(members) => {
                let pairs =
                    members.iter().map(|(key, it)| Ok((key.clone(), self.filled(it, outside)?)));
                Value::Object(pairs.collect::<Result<Map<_, _>, FillError>>()?)
            }
        })
    }

    fn find(&self, reference: &Reference) -> Result<(&Value, bool), FillError> {
        let missing = || FillError::Missing(reference.clone());
        let (start, outside) = match &reference.root {
            Root::Input(name) => (self.inputs.value.get(name), self.inputs.outside),
            Root::Step(name) => {
                let result = self.steps.get(name).ok_or_else(missing)?;
                (Some(&result.value), result.outside)
            }
        };
        let found =
            reference.path.iter().try_fold(
                start.ok_or_else(missing)?,
                |value, member| match value {
                    Value::Array(items) => items.get(member.parse::<usize>().ok()?),
                    value => value.get(member),
                },
            );
        Ok((found.ok_or_else(missing)?, outside))
    }
}

/// The value as part of a text; `None`: nothing to read.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}
