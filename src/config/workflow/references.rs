//! Names that references and conditions of a workflow may use.

use serde_json::Value;

use crate::{
    config::reading::Notes,
    logic::workflow::{Root, is_name},
    yaml::{Position, nearest, quoted},
};

/// Inputs of a workflow.
pub struct Inputs {
    /// `None`: unreadable, so no name counts as unknown.
    all: Option<Vec<Input>>,
}

struct Input {
    name: String,
    /// Required, or with a default.
    is_given: bool,
}

impl Inputs {
    pub const fn unknown() -> Self {
        Self { all: None }
    }

    /// Those of a checked schema.
    pub fn new(schema: Option<&Value>) -> Self {
        let properties = schema.and_then(|it| it.get("properties")).and_then(Value::as_object);
        let required = schema.and_then(|it| it.get("required")).and_then(Value::as_array);
        let is_required =
            |name: &String| required.is_some_and(|all| all.iter().any(|it| it == name.as_str()));
        // References can name no others.
        let inputs = properties.into_iter().flatten().filter(|(name, _)| is_name(name));
        let inputs = inputs.map(|(name, property)| Input {
            name: name.clone(),
            is_given: is_required(name) || property.get("default").is_some(),
        });
        Self { all: Some(inputs.collect()) }
    }
}

/// Everything in a file that a reference may name.
pub struct Named {
    pub inputs: Inputs,
    /// Names of all steps with results.
    pub steps: Vec<String>,
}

/// A place that names an input or a step.
pub struct Mention<'a> {
    pub root: &'a Root,
    pub at: Position,
    /// It may have no value: the place can do without.
    pub is_optional: bool,
}

impl Named {
    /// Reports a name without a value; `so_far` are the steps that have ended.
    pub fn check(&self, mention: &Mention, so_far: &[String], notes: &mut Notes) {
        match mention.root {
            Root::Input(name) => self.check_input(name, mention, notes),
            Root::Step(name) if so_far.contains(name) => {}
            Root::Step(name) if self.steps.contains(name) => {
                let message = format!("the result of step {} is not there yet", quoted(name));
                let way_out = "name a step before this one; steps of one parallel begin together";
                notes.problems.add(mention.at, message, way_out);
            }
            Root::Step(name) => {
                let known = self.steps.iter().map(String::as_str);
                let way_out = match nearest(name, known.clone()) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None if self.steps.is_empty() => {
                        "give the step whose result you want a name".to_owned()
                    }
                    None => format!("steps with a name: {}", known.collect::<Vec<_>>().join(", ")),
                };
                notes.problems.add(mention.at, format!("unknown step {}", quoted(name)), way_out);
            }
        }
    }

    fn check_input(&self, name: &str, mention: &Mention, notes: &mut Notes) {
        let Some(inputs) = &self.inputs.all else { return };
        let Some(input) = inputs.iter().find(|input| input.name == name) else {
            let way_out = match nearest(name, inputs.iter().map(|input| input.name.as_str())) {
                Some(near) => format!("did you mean '{near}'?"),
                None => {
                    format!("add it: inputs: {{ properties: {{ {name}: {{ type: string }} }} }}")
                }
            };
            let message = format!("unknown input {}", quoted(name));
            return notes.problems.add(mention.at, message, way_out);
        };
        if !input.is_given && !mention.is_optional {
            let message = format!("the step fails when the input {} is left out", quoted(name));
            let way_out =
                format!("add it to required, or give it a default: {name}: {{ default: … }}");
            notes.warnings.add(mention.at, message, way_out);
        }
    }
}
