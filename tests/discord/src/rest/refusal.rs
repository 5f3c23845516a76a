//! Answers, and refusals in Discord's words.
//!
//! Entry types: [`Reply`], [`Refusal`]. Never: deciding.

use serde_json::{Value, json};

/// Answer of a handler.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// HTTP status.
    pub(crate) status: u16,
    /// JSON; none for 204.
    pub(crate) body: Option<Value>,
}

/// Refusal of a request by Discord.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    /// HTTP status.
    pub(crate) status: u16,
    /// Discord's error code.
    pub(crate) code: u64,
    /// Discord's words.
    pub(crate) message: String,
    /// Errors by field, for 50035.
    pub(crate) errors: Option<Value>,
    /// True if the client should have known better.
    pub(crate) violation: bool,
}

/// Result of a handler.
pub(crate) type Answered = Result<Reply, Refusal>;

impl Reply {
    /// 200 with a body.
    pub(crate) fn ok(body: Value) -> Answered {
        Ok(Self { status: 200, body: Some(body) })
    }

    /// 204.
    pub(crate) fn nothing() -> Answered {
        Ok(Self { status: 204, body: None })
    }
}

impl Refusal {
    /// A refusal that depends on the state of the world.
    pub(crate) fn new(status: u16, code: u64, message: &str) -> Self {
        Self { status, code, message: message.into(), errors: None, violation: false }
    }

    /// A refusal that the client has earned.
    pub(crate) fn fault(status: u16, code: u64, message: &str) -> Self {
        Self { violation: true, ..Self::new(status, code, message) }
    }

    /// 50001.
    pub(crate) fn access() -> Self {
        Self::new(403, 50_001, "Missing Access")
    }

    /// 50013.
    pub(crate) fn permissions() -> Self {
        Self::new(403, 50_013, "Missing Permissions")
    }

    /// 404 with the code of the kind of thing.
    pub(crate) fn unknown(code: u64, what: &str) -> Self {
        Self::new(404, code, &format!("Unknown {what}"))
    }

    /// The body Discord sends.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({"message": self.message, "code": self.code});
        if let Some(errors) = &self.errors {
            body["errors"] = errors.clone();
        }
        body
    }
}

/// Complaints about a body, collected before anything is answered.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<(String, String, String)>,
}

impl Problems {
    /// Complains of the value at `path` (`embeds.0.title`).
    pub(crate) fn add(&mut self, path: &str, code: &str, message: &str) {
        self.found.push((path.into(), code.into(), message.into()));
    }

    /// A value that must be there is not.
    pub(crate) fn required(&mut self, path: &str) {
        self.add(path, "BASE_TYPE_REQUIRED", "This field is required");
    }

    /// Checks a text's length in characters; `min` 0 also lets it be absent.
    pub(crate) fn text(&mut self, path: &str, value: &Value, min: usize, max: usize) {
        let Some(text) = value.as_str() else {
            match value {
                Value::Null if min == 0 => {}
                Value::Null => self.required(path),
                _ => self.add(path, "STRING_TYPE_CONVERT", "Could not interpret as string."),
            }
            return;
        };
        let length = text.chars().count();
        if min > 0 && !(min..=max).contains(&length) {
            let message = format!("Must be between {min} and {max} in length.");
            self.add(path, "BASE_TYPE_BAD_LENGTH", &message);
        } else if length > max {
            let message = format!("Must be {max} or fewer in length.");
            self.add(path, "BASE_TYPE_MAX_LENGTH", &message);
        }
    }

    /// Checks a list's length and gives its elements; `min` 0 also lets it be absent.
    pub(crate) fn list<'a>(
        &mut self,
        path: &str,
        value: &'a Value,
        min: usize,
        max: usize,
    ) -> &'a [Value] {
        let Some(list) = value.as_array() else {
            match value {
                Value::Null if min == 0 => {}
                Value::Null => self.required(path),
                _ => {
                    self.add(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
                }
            }
            return &[];
        };
        if !(min..=max).contains(&list.len()) {
            let message = format!("Must be between {min} and {max} in length.");
            self.add(path, "BASE_TYPE_BAD_LENGTH", &message);
        }
        list
    }

    /// Checks a whole number that may be absent.
    pub(crate) fn integer(&mut self, path: &str, value: &Value, min: i64, max: i64) {
        match value.as_i64() {
            Some(number) if (min..=max).contains(&number) => {}
            Some(_) => {
                let message = format!("int value should be between {min} and {max}.");
                self.add(path, "NUMBER_TYPE_RANGE", &message);
            }
            None if value.is_null() => {}
            None => self.add(path, "NUMBER_TYPE_COERCE", "Value is not int."),
        }
    }

    /// Nothing to complain of, or 50035 with the nested errors.
    pub(crate) fn done(self) -> Result<(), Refusal> {
        if self.found.is_empty() {
            return Ok(());
        }
        let mut tree = json!({});
        let mut words = Vec::new();
        for (path, code, message) in self.found {
            words.push(format!("{path}: {message}"));
            let mut at = &mut tree;
            for step in path.split('.') {
                if at.get(step).is_none() {
                    at[step] = json!({});
                }
                at = &mut at[step];
            }
            let error = json!({"code": code, "message": message});
            match at.get_mut("_errors").and_then(Value::as_array_mut) {
                Some(errors) => errors.push(error),
                None => at["_errors"] = json!([error]),
            }
        }
        tracing::debug!(problems = %words.join("; "), "invalid form body");
        let errors = Some(tree);
        Err(Self::refusal(errors))
    }

    /// 50035.
    fn refusal(errors: Option<Value>) -> Refusal {
        Refusal { errors, ..Refusal::fault(400, 50_035, "Invalid Form Body") }
    }

    /// Just this one complaint.
    pub(crate) fn only(path: &str, code: &str, message: &str) -> Refusal {
        let mut problems = Self::default();
        problems.add(path, code, message);
        problems.done().err().unwrap_or_else(|| Self::refusal(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_nest() {
        let mut problems = Problems::default();
        problems.text("embeds.0.title", &json!("x".repeat(257)), 0, 256);
        problems.text("embeds.0.fields.2.name", &Value::Null, 1, 256);
        problems.text("content", &json!("fine"), 0, 2000);
        let refusal = problems.done().unwrap_err();
        let errors = refusal.body()["errors"].clone();
        assert_eq!(errors["embeds"]["0"]["title"]["_errors"][0]["code"], "BASE_TYPE_MAX_LENGTH");
        assert_eq!(
            errors["embeds"]["0"]["fields"]["2"]["name"]["_errors"][0]["code"],
            "BASE_TYPE_REQUIRED"
        );
        assert!(errors["content"].is_null());
    }
}
