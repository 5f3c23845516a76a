//! A program that a server is, as its user reads it before it is started, and the files of the folder that
//! it runs.
//!
//! Entry function: [`started`]. **Never**: starts it, or says the value of a variable.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{
    demands::{Demand, Use},
    destinations::variables,
};
use crate::yaml::{Entry, Node, Scalar};

/// The demand of the server `name`, which `node` describes: it starts `command` in `folder`.
pub fn started(name: &str, node: &Node, command: &[String], folder: Option<&Path>) -> Demand {
    let env = node.inside(&["env"]).map(Node::entries).unwrap_or_default();
    let mut line = format!("start the program `{}`", shown(node));
    if !env.is_empty() {
        let each = |entry: &Entry| format!("{}={}", entry.key, quoted(written(&entry.node)));
        line.push_str(&format!(" with {}", env.iter().map(each).collect::<Vec<_>>().join(" ")));
    }
    let said = ["command", "args", "env"].into_iter().filter_map(|key| node.inside(&[key]));
    let said: BTreeSet<String> = said.flat_map(variables).collect();
    let others: Vec<String> = variables(node).difference(&said).cloned().collect();
    if !others.is_empty() {
        line.push_str(&format!(" and the variables {}", others.join(", ")));
    }
    line.push_str(&format!(" (server '{name}')"));
    let values = env.iter().filter_map(|entry| entry.node.text());
    let words = command.iter().map(String::as_str).chain(values);
    let files = folder.map(|folder| named(words, folder)).unwrap_or_default();
    Demand::new(Use::Play, line).about(files)
}

/// Its command line as written.
fn shown(node: &Node) -> String {
    let command = node.inside(&["command"]).map(written).unwrap_or_default().trim();
    let Some(args) = node.inside(&["args"]).filter(|it| !it.is_null()) else {
        return command.to_owned();
    };
    let args = if args.scalar().is_some() { std::slice::from_ref(args) } else { args.items() };
    let words = std::iter::once(command).chain(args.iter().map(written));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// The text of `node` without the values of variables.
fn written(node: &Node) -> &str {
    let before = node.scalar().and_then(|scalar: &Scalar| scalar.written.as_deref());
    before.or_else(|| node.text()).unwrap_or_default()
}

/// `word`, in quotes where it would not be read as one.
fn quoted(word: &str) -> Cow<'_, str> {
    if !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "'\"`".contains(c)) {
        return Cow::Borrowed(word);
    }
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}

/// Files of `folder` that `words` name: as a path, behind an equals sign, in a line for a shell, or as a
/// module of Python; each once.
fn named<'w>(words: impl Iterator<Item = &'w str>, folder: &Path) -> Vec<PathBuf> {
    let mut found = BTreeSet::new();
    let mut before = String::new();
    for word in words {
        let mut parts = shlex::split(word).unwrap_or_default();
        parts.push(word.to_owned());
        if before == "-m" {
            let module = word.replace('.', "/");
            let ends = [".py", "/__main__.py", "/__init__.py"];
            parts.extend(ends.map(|end| format!("{module}{end}")));
        }
        for part in &parts {
            let value = part.split_once('=').map(|(_, value)| value);
            let paths = std::iter::once(part.as_str()).chain(value);
            found.extend(paths.filter_map(|path| own_file(path, folder)));
        }
        word.clone_into(&mut before);
    }
    found.into_iter().collect()
}

/// The file of `folder` at `path`, links not followed in its name.
fn own_file(path: &str, folder: &Path) -> Option<PathBuf> {
    let file = folder.join(path);
    if path.is_empty() || !file.is_file() {
        return None;
    }
    let is_below = |file: &Path, folder: &Path| file.starts_with(folder);
    let is_real = || Some(is_below(&file.canonicalize().ok()?, &folder.canonicalize().ok()?));
    (is_below(&file, folder) || is_real().unwrap_or_default()).then_some(file)
}
