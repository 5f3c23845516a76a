mod running;
mod texts;

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};

use super::{
    Condition, ConditionError, JsonTemplate, OnError, Step, StepKind, Template, Workflow,
    values::Given,
};

/// Holds if there is something at this JSON pointer that is not false.
#[derive(Debug)]
struct Has(&'static str);

impl Condition for Has {
    fn holds(&self, values: &Value) -> Result<bool, ConditionError> {
        match values.pointer(self.0) {
            Some(Value::String(_)) => Err(ConditionError("a text is no condition".to_owned())),
            found => Ok(found.is_some_and(|it| *it != json!(false))),
        }
    }
}

fn text(text: &str) -> Template {
    Template::parse(text).unwrap()
}

fn arguments(value: &Value) -> JsonTemplate {
    JsonTemplate::parse(value).unwrap()
}

fn step(kind: StepKind) -> Step {
    Step { name: None, when: None, on_error: OnError::Stop, kind }
}

fn named(name: &str, kind: StepKind) -> Step {
    Step { name: Some(name.to_owned()), ..step(kind) }
}

fn only_if(pointer: &'static str, step: Step) -> Step {
    Step { when: Some(Arc::new(Has(pointer))), ..step }
}

fn roll() -> StepKind {
    StepKind::Roll(text("1d6"))
}

fn say(words: &str) -> StepKind {
    StepKind::Say { npc: text("Bartok"), text: text(words) }
}

const fn wait(seconds: u64) -> StepKind {
    StepKind::Wait(Duration::from_secs(seconds))
}

fn call(name: &str, inputs: &Value) -> StepKind {
    StepKind::Workflow { name: name.to_owned(), inputs: arguments(inputs) }
}

fn workflow(name: &str, steps: Vec<Step>) -> Workflow {
    Workflow {
        name: name.to_owned(),
        description: String::new(),
        inputs: json!({ "type": "object", "properties": { "who": { "default": "Mira" } } }),
        offer: false,
        steps,
    }
}

const fn inside(value: Value) -> Given {
    Given { value, outside: false }
}
