//! Conditions of steps. The language is JMESPath, which `tools` evaluates.

use std::fmt;

use serde_json::Value;

use super::template::Root;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConditionError(pub String);

/// A compiled condition.
pub trait Condition: fmt::Debug + Send + Sync {
    /// True if it holds for `values`, an object with the members `inputs` and `steps`.
    fn holds(&self, values: &Value) -> Result<bool, ConditionError>;
}

/// Inputs and steps that a condition names (`inputs.X`, `steps.NAME`), outside of literals.
pub fn mentioned(expression: &str) -> Vec<Root> {
    let (mut found, mut word, mut quote, mut is_escaped) = (Vec::new(), String::new(), None, false);
    for c in expression.chars().chain([' ']) {
        match quote {
            Some(end) => {
                if c == end && !is_escaped {
                    quote = None;
                }
                is_escaped = c == '\\' && !is_escaped;
            }
            None if c.is_ascii_alphanumeric() || c == '_' || c == '.' => word.push(c),
            None => {
                found.extend(root(&word));
                // A path may go on behind an index or a filter.
                word = if c == ']' { "]".to_owned() } else { String::new() };
                quote = Some(c).filter(|c| matches!(c, '\'' | '"' | '`'));
            }
        }
    }
    found
}

fn root(word: &str) -> Option<Root> {
    let mut members = word.split('.');
    let (root, name) = (members.next()?, members.next()?.to_owned());
    match root {
        _ if name.is_empty() => None,
        "inputs" => Some(Root::Input(name)),
        "steps" => Some(Root::Step(name)),
        _ => None,
    }
}
