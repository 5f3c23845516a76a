//! Tools with canned answers.

use futures::future::{BoxFuture, FutureExt, ready};
use serde_json::{Map, Value};

use super::{
    error::MockError,
    template::{Rendered, Template, TemplateError},
};
use crate::tools::{CallContext, CallError, CallErrorKind, CallOutput, Handler};

#[derive(Clone)]
pub enum Mock {
    Fixed(Value),
    Template(Box<Template>),
}

impl Mock {
    pub fn template(text: &str) -> Result<Self, TemplateError> {
        Ok(Self::Template(Box::new(Template::parse(text)?)))
    }

    /// The answer to `arguments`. Fails if the template does, or does not yield the JSON it was
    /// meant to.
    pub fn answer(&self, arguments: &Map<String, Value>) -> Result<Value, MockError> {
        match self {
            Self::Fixed(value) => Ok(value.clone()),
            Self::Template(template) => match template.render(arguments)? {
                Rendered::Value(value) => Ok(value),
                Rendered::Text(text) => Ok(Value::String(text)),
                Rendered::Broken(text) => Err(MockError::NoJson(text.chars().take(60).collect())),
            },
        }
    }
}

impl Handler for Mock {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        arguments: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        let answer = self.answer(arguments).map(|value| match value {
            Value::String(text) => CallOutput::text(text),
            value => CallOutput::json(value),
        });
        let invalid =
            |error: MockError| CallError::new(CallErrorKind::InvalidResult, error.to_string());
        ready(answer.map_err(invalid)).boxed()
    }
}
