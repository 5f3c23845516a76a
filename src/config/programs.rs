//! A server's program, shown to the user before it starts. Entry function: [`started`].
//! **Never**: starts it, or shows the value of a variable.

use std::{borrow::Cow, collections::BTreeSet};

use super::{
    demands::{Demand, Use},
    destinations::variables,
};
use crate::yaml::{Entry, Node, Scalar};

/// The demand of the server `name`: it starts a program.
pub fn started(name: &str, node: &Node) -> Demand {
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
    Demand::new(Use::Play, line)
}

/// Command line as written.
fn shown(node: &Node) -> String {
    let command = node.inside(&["command"]).map(written).unwrap_or_default().trim();
    let Some(args) = node.inside(&["args"]).filter(|it| !it.is_null()) else {
        return command.to_owned();
    };
    let args = if args.scalar().is_some() { std::slice::from_ref(args) } else { args.items() };
    let words = std::iter::once(command).chain(args.iter().map(written));
    words.map(quoted).collect::<Vec<_>>().join(" ")
}

/// The text of `node` without values of variables.
fn written(node: &Node) -> &str {
    let before = node.scalar().and_then(|scalar: &Scalar| scalar.written.as_deref());
    before.or_else(|| node.text()).unwrap_or_default()
}

/// `word`, quoted if needed.
fn quoted(word: &str) -> Cow<'_, str> {
    if !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || "'\"`".contains(c)) {
        return Cow::Borrowed(word);
    }
    shlex::try_quote(word).unwrap_or(Cow::Borrowed(word))
}
