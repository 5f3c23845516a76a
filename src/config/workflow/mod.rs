//! Workflows of the folder `workflows`. Their texts have references of their own, so nothing of the
//! environment is expanded in them.

mod kinds;
mod nameable;
mod references;
mod steps;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::Path};

pub use self::nameable::Nameable;
use self::{
    references::{Inputs, Named},
    steps::{Reader, names},
};
use super::{
    files::YAML,
    keys,
    reading::{Notes, Reading},
};
use crate::{
    logic::workflow::{Called, Outline, STEPS_MAX, Workflow, Workflows, check_calls},
    tools::{builtin::WORKFLOWS, manifest},
    yaml::{Fields, Kind, Node, Position, Value, quoted},
};

/// Beside `glyphoxa.yaml`.
pub const FOLDER: &str = "workflows";

/// Longest name; a model sees it as part of a tool's.
const NAME_MAX: usize = 48;

/// Files that were read, but not yet understood: NPCs may name their workflows.
#[derive(Default)]
pub struct Files(Vec<File>);

struct File {
    node: Node,
    notes: Notes,
}

impl Files {
    /// Reads the files in `dir`, if it exists.
    pub fn read(reading: &mut Reading, dir: &Path) -> Self {
        let mut files = Self::default();
        if !reading.has_dir(dir) {
            return files;
        }
        let paths = match reading.list(dir, YAML) {
            Ok(paths) => paths,
            Err(error) => {
                let mut notes = Notes::new(dir);
                notes.problems.add(Position::START, error.message, error.way_out);
                reading.take(notes);
                return files;
            }
        };
        for path in paths {
            let kind = Kind::Shape(&keys::workflow::FILE);
            if let Some((node, notes)) = reading.unexpanded(&path, &kind) {
                files.0.push(File { node, notes });
            }
        }
        files
    }

    /// Identities of the workflows that NPCs may call.
    pub fn offered(&self) -> Vec<String> {
        let is_offered = |file: &&File| file.fields().flag("offer") == Some(true);
        let names = self.0.iter().filter(is_offered).filter_map(File::name);
        names.map(|name| format!("{WORKFLOWS}.{name}")).collect()
    }

    /// The workflows; reports all problems.
    pub fn workflows(mut self, known: Nameable, reading: &mut Reading) -> Workflows {
        let called: Vec<String> = self.0.iter().filter_map(File::name).collect();
        let (mut all, mut outlines, mut owners) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for (index, File { node, notes }) in self.0.iter_mut().enumerate() {
            if !matches!(node.value, Value::Map(_)) {
                continue;
            }
            let fields = Fields::new(node, &keys::workflow::FILE);
            let read = workflow(&fields, known, &called, notes);
            let name = name(&fields, notes);
            if name.is_empty() {
                continue;
            }
            if let Some(first) = owners.get(&name) {
                let message = format!("workflow {} appears twice", quoted(&name));
                let way_out = format!("see {first}; choose another name");
                notes.problems.add(fields.place("name"), message, way_out);
                continue;
            }
            owners.insert(name.clone(), notes.problems.file().to_string());
            outlines.insert(name.clone(), read.outline(index));
            all.push(Workflow { name, ..read.workflow });
        }
        for (_, (index, at), misuse) in check_calls(&outlines) {
            if let Some(file) = self.0.get_mut(index) {
                let way_out = "remove this call, or put its steps here";
                file.notes.problems.add(at, misuse.to_string(), way_out);
            }
        }
        self.0.into_iter().for_each(|file| reading.take(file.notes));
        Workflows::new(all)
    }
}

impl File {
    fn fields(&self) -> Fields<'_> {
        Fields::new(&self.node, &keys::workflow::FILE)
    }

    /// A valid name.
    fn name(&self) -> Option<String> {
        let name = self.fields().text("name")?.trim();
        is_plain(name).then(|| name.to_owned())
    }
}

/// One file, as far as it can be read.
struct Read {
    /// Without its name.
    workflow: Workflow,
    count: usize,
    calls: Vec<Called<Position>>,
}

impl Read {
    fn outline(&self, file: usize) -> Outline<(usize, Position)> {
        let calls = self.calls.iter();
        let calls = calls.map(|it| Called { workflow: it.workflow.clone(), at: (file, it.at) });
        Outline { steps: self.count, calls: calls.collect() }
    }
}

/// Reads a file; `called` are the names of all workflows.
fn workflow(fields: &Fields, known: Nameable, called: &[String], notes: &mut Notes) -> Read {
    let inputs = inputs(fields, notes);
    let nodes = fields.items("steps");
    let is_broken = fields.is_broken("inputs") || fields.get("inputs").is_some();
    let of_inputs = match &inputs {
        None if is_broken => Inputs::unknown(),
        schema => Inputs::new(schema.as_ref()),
    };
    let named = Named { inputs: of_inputs, steps: names(nodes) };
    let mut reader = Reader::new(known, &named, called, notes);
    let steps = reader.steps(nodes, &keys::workflow::STEP);
    let Reader { count, calls, .. } = reader;
    let is_listed = matches!(fields.get("steps").map(|it| &it.value), Some(Value::List(_)));
    if is_listed && nodes.is_empty() {
        let way_out = "steps: [{ say: { npc: …, text: … } }]";
        notes.problems.add(fields.place("steps"), "the workflow has no steps", way_out);
    }
    if count > STEPS_MAX {
        let message = format!("the workflow has {count} steps");
        let way_out = format!("keep to {STEPS_MAX}, those of parallel included");
        notes.problems.add(fields.place("steps"), message, way_out);
    }
    let workflow = Workflow {
        name: String::new(),
        description: fields.text("description").unwrap_or_default().trim().to_owned(),
        inputs: inputs.unwrap_or_else(no_inputs),
        offer: fields.flag("offer").unwrap_or_default(),
        steps,
    };
    Read { workflow, count, calls }
}

/// The trimmed name; empty with a problem, as commands and tools cannot have every name.
fn name(fields: &Fields, notes: &mut Notes) -> String {
    let name = fields.text("name").unwrap_or_default().trim();
    if is_plain(name) {
        return name.to_owned();
    }
    let message = format!("invalid workflow name {}", quoted(name));
    let way_out = format!("use at most {NAME_MAX} letters, digits, - and _");
    notes.problems.add(fields.place("name"), message, way_out);
    String::new()
}

fn is_plain(name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    name.chars().all(is_part) && name.len() <= NAME_MAX
}

fn no_inputs() -> serde_json::Value {
    serde_json::json!({ "type": "object", "additionalProperties": false })
}

/// The schema of the inputs, with its type.
fn inputs(fields: &Fields, notes: &mut Notes) -> Option<serde_json::Value> {
    let node = fields.get("inputs")?;
    let mut schema = node.to_json();
    let is_object = schema.get("type").is_none_or(|it| it == "object");
    if let (true, Some(members)) = (is_object, schema.as_object_mut()) {
        members.insert("type".to_owned(), "object".into());
        if members.contains_key("properties") {
            // A misspelt input is refused.
            members.entry("additionalProperties").or_insert(false.into());
        }
    }
    let problem = match is_object {
        true => manifest::input_problem(&schema).map(|it| it.to_string()),
        false => Some("its type is not object".to_owned()),
    };
    if let Some(what) = problem {
        let what = what.lines().next().unwrap_or_default();
        let way_out = "inputs: { type: object, properties: { NAME: { type: string } } }";
        notes.problems.add(node.at, format!("'inputs': {what}"), way_out);
        return None;
    }
    Some(schema)
}
