//! Manifests: tools in YAML, or in PromptKit's JSON.

mod http;

#[cfg(test)]
mod tests;

use std::{path::Path, sync::Arc, time::Duration};

use super::{
    destinations::{Destination, variables_beside},
    keys,
    reading::{Folder, Notes, Reading},
    tools::declared,
    whitelist::MANIFEST,
};
use crate::{
    tools::{
        Declared, builtin,
        manifest::{self, Behaviour, Manifest, Mock},
    },
    yaml::{self, Fields, Kind, Node, Position, Problems, Value, quoted},
};

/// Default folder, beside `glyphoxa.yaml`.
pub const FOLDER: &str = "tools";
/// Default namespace.
const NAMESPACE: &str = "manifest";

/// Namespace shared with a built-in tool.
const SHARED: &str = "tools";

#[derive(Default)]
pub struct Manifests {
    /// Valid manifests.
    pub tools: Vec<Manifest>,
    /// Identities of all, so that naming a broken one is no further problem.
    pub identities: Vec<String>,
}

/// Adds the tools of the files in `dir`; `named_at` is its place in the configuration.
pub fn folder(
    reading: &mut Reading,
    Folder { path: dir, named_at }: Folder,
    manifests: &mut Manifests,
    notes: &mut Notes,
) {
    let paths = match reading.list(dir, &["yaml", "yml", "json"]) {
        Ok(paths) => paths,
        Err(error) => {
            let message = format!("manifests '{}': {}", dir.display(), error.message);
            return notes.problems.add(named_at.unwrap_or(Position::START), message, error.way_out);
        }
    };
    for path in paths {
        let Some((mut node, mut notes)) = reading.file_or_problem(&path, &Kind::Any) else {
            continue;
        };
        let bare = path.extension().is_some_and(|it| it == "json")
            && !node.entries().iter().any(|entry| entry.key == "apiVersion");
        let shape = if bare { &keys::manifest::SPEC } else { &keys::manifest::FILE };
        yaml::check(&mut node, "", &Kind::Shape(shape), &mut notes.problems);
        let file = File { path: &path, fields: Fields::new(&node, shape), bare };
        if matches!(node.value, Value::Map(_)) {
            file.add(reading, manifests, &mut notes);
        }
        reading.take(notes);
    }
}

struct Named {
    namespace: String,
    name: String,
}

struct Schemas {
    input: serde_json::Value,
    output: Option<serde_json::Value>,
}

struct File<'a> {
    path: &'a Path,
    fields: Fields<'a>,
    /// The whole file is a spec.
    bare: bool,
}

impl<'a> File<'a> {
    /// Adds its tool, as far as it is readable.
    fn add(&self, reading: &mut Reading, manifests: &mut Manifests, notes: &mut Notes) {
        let spec = if self.bare {
            Some(self.fields)
        } else {
            self.fields.map("spec", &keys::manifest::SPEC)
        };
        let Some(spec) = spec else { return };
        let Some(named) = self.names(&spec, notes) else { return };
        let identity = format!("{}.{}", named.namespace, named.name);
        if reading.tools.contains(&&*identity) {
            let message = format!("tool {} is built in", quoted(&identity));
            notes.problems.add(self.name_place(), message, "give it another name");
        }
        if manifests.identities.contains(&identity) {
            let message = format!("tool {} appears twice", quoted(&identity));
            notes.problems.add(self.name_place(), message, "give it another name");
        }
        if !manifests.identities.contains(&identity) {
            manifests.identities.push(identity);
        }
        manifests.tools.extend(self.manifest(&spec, named, reading, notes));
    }

    /// `None`: too much of the tool is invalid.
    fn manifest(
        &self,
        spec: &Fields<'a>,
        named: Named,
        reading: &mut Reading,
        notes: &mut Notes,
    ) -> Option<Manifest> {
        let input = schema(spec, "input_schema", manifest::input_problem, &mut notes.problems)?;
        let output = schema(spec, "output_schema", manifest::output_problem, &mut notes.problems);
        let schemas = Schemas { input, output };
        let behaviour = self.behaviour(spec, &schemas, reading, notes)?;
        if let (Behaviour::Live(_), Some(http)) = (&behaviour, spec.get("http")) {
            self.asks(&format!("{}.{}", named.namespace, named.name), http, reading);
        }
        Some(Manifest {
            namespace: named.namespace,
            name: named.name,
            description: spec.text("description")?.trim().to_owned(),
            input: schemas.input,
            output: schemas.output,
            declared: said(spec, &mut notes.warnings),
            behaviour,
        })
    }

    /// Records the destination of the tool's requests.
    fn asks(&self, identity: &str, http: &Node, reading: &mut Reading) {
        let place = format!("tool '{identity}'");
        let (gets, url) = ("what NPCs ask of it", http.inside(&["url"]));
        let headers = http.inside(&["headers_from_env"]);
        let named = headers.map(http::from_environment).unwrap_or_default();
        let asked = Destination { place, gets, url, sent: vec![http], ..Destination::default() };
        reading.demands.extend(asked.demands_with(named));
        // Other variables become part of NPCs' knowledge.
        let told = variables_beside(self.fields.node(), &[http]);
        reading.filled.insert(self.path.to_owned(), told);
    }

    fn name_place(&self) -> Position {
        if self.bare {
            return self.fields.place("name");
        }
        let metadata = self.fields.map("metadata", &keys::manifest::METADATA);
        metadata.map_or_else(|| self.fields.place("spec"), |metadata| metadata.place("name"))
    }

    fn names(&self, spec: &Fields<'a>, notes: &mut Notes) -> Option<Named> {
        let metadata =
            (!self.bare).then(|| self.fields.map("metadata", &keys::manifest::METADATA)).flatten();
        let of = |key: &str| metadata.and_then(|it| it.text(key)).or_else(|| spec.text(key));
        let Some(name) = of("name") else {
            if !spec.is_broken("name") && !metadata.is_some_and(|it| it.is_broken("name")) {
                let message = "the tool has no name";
                notes.problems.add(self.name_place(), message, "metadata: { name: … }");
            }
            return None;
        };
        if let Some(other) = spec.text("name").filter(|other| *other != name) {
            let message = format!("'spec.name' {} is not used", quoted(other));
            let way_out = format!("the tool is called {}, as in metadata", quoted(name));
            notes.warnings.add(spec.place("name"), message, way_out);
        }
        let (namespace, name) = match (of("namespace"), name.split_once("__")) {
            (Some(namespace), _) => (namespace, name),
            (None, Some((namespace, name))) => (namespace, name),
            (None, None) => (NAMESPACE, name),
        };
        if name.is_empty() || name.contains(parts) {
            let message = format!("invalid tool name {}", quoted(name));
            notes.problems.add(self.name_place(), message, "remove blanks, dots and asterisks");
        }
        let ours = namespace_of(namespace);
        if ours != namespace {
            let message =
                format!("namespace {} is renamed to {}", quoted(namespace), quoted(&ours));
            let identity = quoted(&format!("{ours}.{name}"));
            let way_out = format!("list the tool as {identity} in NPC files");
            let has = |it: &Fields| it.text("namespace").is_some();
            let at = metadata.filter(has).or_else(|| Some(*spec).filter(has));
            let at = at.map_or_else(|| self.name_place(), |it| it.place("namespace"));
            notes.warnings.add(at, message, way_out);
        }
        Some(Named { namespace: ours, name: name.to_owned() })
    }

    /// Mock or request; `None` with problems.
    fn behaviour(
        &self,
        spec: &Fields<'a>,
        schemas: &Schemas,
        reading: &mut Reading,
        notes: &mut Notes,
    ) -> Option<Behaviour> {
        let mocks: Vec<&str> = MOCKS
            .into_iter()
            .filter(|key| spec.get(key).is_some() || spec.is_broken(key))
            .collect();
        let has_http = spec.get("http").is_some() || spec.is_broken("http");
        let live = match spec.text("mode") {
            None if spec.is_broken("mode") => return None,
            Some(mode) => mode == "live",
            None => mocks.is_empty() && has_http,
        };
        if live {
            let Some(fields) = spec.map("http", &keys::manifest::HTTP) else {
                if !has_http {
                    let message = "a live tool needs 'http'";
                    notes.problems.add(spec.place("mode"), message, "http: { url: … }");
                }
                return None;
            };
            let timeout = spec.whole("timeout_ms").map(Duration::from_millis);
            let live = http::Live { timeout, input: &schemas.input };
            let http = http::http(&fields, live, reading, notes)?;
            return Some(Behaviour::Live(Arc::new(http)));
        }
        let key = match mocks.as_slice() {
            [key] => *key,
            [] => {
                let way_out = "add mock_result, mock_result_file or mock_template";
                notes.problems.add(spec.at(), "a mock tool needs an answer", way_out);
                return None;
            }
            [_, second, ..] => {
                let message = "a mock tool has more than one answer";
                let way_out = format!("keep one of {}", mocks.join(", "));
                notes.problems.add(spec.place(second), message, way_out);
                return None;
            }
        };
        let mock = self.mock(spec, key, reading, &mut notes.problems)?;
        let tried = manifest::try_mock(&mock, &schemas.input, schemas.output.as_ref());
        if let Err(problem) = tried {
            let message = format!("'{key}': {}", problem.what);
            let list = if problem.is_uncertain { &mut notes.warnings } else { &mut notes.problems };
            list.add(spec.place(key), message, "checked with sample arguments for input_schema");
        }
        Some(Behaviour::Mock(mock))
    }

    fn mock(
        &self,
        spec: &Fields<'a>,
        key: &str,
        reading: &mut Reading,
        problems: &mut Problems,
    ) -> Option<Mock> {
        let node = spec.get(key)?;
        let text = if key.ends_with("_file") {
            let path = self.path.parent().unwrap_or(Path::new("")).join(node.text()?);
            match reading.text(&path) {
                Ok(text) => text,
                Err(error) => {
                    let message = format!("{key} '{}': {}", path.display(), error.message);
                    problems.add(node.at, message, error.way_out);
                    return None;
                }
            }
        } else if key == "mock_result" {
            return Some(Mock::Fixed(node.to_json()));
        } else {
            node.text()?.to_owned()
        };
        if key == "mock_result_file" {
            let value = serde_json::from_str(&text);
            return Some(Mock::Fixed(value.unwrap_or(serde_json::Value::String(text))));
        }
        let mock = Mock::template(&text);
        mock.map_err(|what| problems.add(node.at, format!("'{key}': {what}"), "fix the template"))
            .ok()
    }
}

/// True if `c` has a meaning in identities or lists of them, so no part may contain it.
fn parts(c: char) -> bool {
    c.is_whitespace() || ".*".contains(c)
}

/// First part of a namespace's identities; never a built-in server's, whose whitelists would match.
fn namespace_of(namespace: &str) -> String {
    let plain = match namespace.trim() {
        "" => NAMESPACE.to_owned(),
        namespace => namespace.replace(parts, "-"),
    };
    let is_built_in = builtin::SERVERS.contains(&&*plain) && plain != SHARED;
    if is_built_in { format!("{MANIFEST}{plain}") } else { plain }
}

/// Keys of a mock's answer.
const MOCKS: [&str; 4] = ["mock_result", "mock_result_file", "mock_template", "mock_template_file"];

fn schema<E: std::fmt::Display>(
    spec: &Fields,
    key: &str,
    problem: impl Fn(&serde_json::Value) -> Option<E>,
    problems: &mut Problems,
) -> Option<serde_json::Value> {
    let node: &Node = spec.get(key)?;
    let schema = node.to_json();
    if let Some(what) = problem(&schema) {
        let what = what.to_string();
        let what = what.lines().next().unwrap_or_default().to_owned();
        problems.add(node.at, format!("'{key}': {what}"), "write a valid JSON Schema");
        return None;
    }
    Some(schema)
}

fn said(spec: &Fields, warnings: &mut Problems) -> Declared {
    let http = spec.map("http", &keys::manifest::HTTP);
    let timeout = |fields: &Fields| fields.whole("timeout_ms").map(Duration::from_millis);
    let said = declared(spec, "floor", warnings);
    let max = said.max.or_else(|| timeout(spec)).or_else(|| timeout(&http?));
    Declared { max, ..said }
}
