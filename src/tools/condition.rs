//! Conditions of workflows' steps, in JMESPath.

use std::fmt;

use serde_json::Value;

use super::manifest::{Mapping, MappingError};
use crate::logic::workflow::{Condition, ConditionError};

/// A compiled condition, with the bounds of other expressions.
pub struct When {
    text: String,
    mapping: Mapping,
}

impl When {
    /// Fails on a syntax error or above a bound.
    pub fn parse(text: &str) -> Result<Self, MappingError> {
        Ok(Self { text: text.to_owned(), mapping: Mapping::parse(text)? })
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("When").field(&self.text).finish()
    }
}

impl Condition for When {
    fn holds(&self, values: &Value) -> Result<bool, ConditionError> {
        let found = self.mapping.apply(values);
        found.map(|found| is_true(&found)).map_err(|error| ConditionError(error.to_string()))
    }
}

/// As JMESPath has it: empty values are false, numbers are true.
fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_read_inputs_and_results() {
        let values = json!({ "inputs": { "loud": true }, "steps": { "luck": { "total": 12, "rolls": [] } } });
        for (text, expected) in [
            ("inputs.loud", true),
            ("inputs.quiet", false),
            ("steps.luck.total >= `10`", true),
            ("steps.luck.total > `12` && inputs.loud", false),
            ("steps.luck.rolls", false),
            ("!(steps.missing)", true),
            ("steps.luck.total == '12'", false),
        ] {
            assert_eq!(When::parse(text).unwrap().holds(&values), Ok(expected), "{text}");
        }
        assert!(When::parse("steps.").is_err());
        assert!(When::parse("length(inputs.loud)").unwrap().holds(&values).is_err());
    }
}
