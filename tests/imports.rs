//! Uses between the files of `src`, read from the paths in the code.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use crate::house::{is_test_file, rust_files, without_comments};

/// A path in the code or of a module, from the crate down: `["session", "table"]`.
type Segments = Vec<String>;

/// The files of `src` that are no tests, by their modules.
pub struct Sources {
    files: BTreeMap<Segments, Source>,
}

struct Source {
    path: PathBuf,
    /// Paths the code names, a `pub use` left out.
    named: Vec<Segments>,
    /// Names that the file's own `use` brings in, and where they come from.
    brought: BTreeMap<String, Segments>,
    /// Modules all of whose names it brings in.
    globs: Vec<Segments>,
}

impl Sources {
    /// Reads every file under `root`.
    pub fn read(root: &Path) -> Self {
        let paths: BTreeMap<Segments, PathBuf> = rust_files(root)
            .into_iter()
            .filter(|path| !is_test_file(path))
            .map(|path| (module(root, &path), path))
            .collect();
        let modules: BTreeSet<Segments> = paths.keys().cloned().collect();
        let files = paths
            .into_iter()
            .map(|(module, path)| {
                let text = without_comments(&fs::read_to_string(&path).unwrap());
                let source = Source::read(&module, path, &text, &modules);
                (module, source)
            })
            .collect();
        Self { files }
    }

    /// For each file those that it uses, with one of the names it takes.
    pub fn uses(&self) -> BTreeMap<PathBuf, BTreeMap<PathBuf, String>> {
        let mut all = BTreeMap::new();
        for source in self.files.values() {
            let mut used = BTreeMap::new();
            for named in &source.named {
                let target = self.definer(named, 8).filter(|target| target.path != source.path);
                if let Some(target) = target {
                    used.insert(target.path.clone(), named.join("::"));
                }
            }
            all.insert(source.path.clone(), used);
        }
        all
    }

    /// The file that defines what `named` leads to, re-exports followed.
    fn definer(&self, named: &[String], hops: usize) -> Option<&Source> {
        let depth =
            (1..=named.len()).rev().find(|depth| self.files.contains_key(&named[..*depth]))?;
        let source = &self.files[&named[..depth]];
        let (Some(name), true) = (named.get(depth), hops > 0) else { return Some(source) };
        let further = &named[depth + 1..];
        let brought = source.brought.get(name).map(|from| [from, further].concat());
        let globs = source.globs.iter().map(|from| [from, &named[depth..]].concat());
        brought
            .and_then(|path| self.definer(&path, hops - 1))
            .or_else(|| {
                globs
                    .filter(|path| self.files.contains_key(&path[..path.len() - 1]))
                    .find_map(|path| self.definer(&path, hops - 1))
            })
            .or(Some(source))
    }
}

impl Source {
    fn read(module: &[String], path: PathBuf, text: &str, modules: &BTreeSet<Segments>) -> Self {
        let mut source =
            Self { path, named: Vec::new(), brought: BTreeMap::new(), globs: Vec::new() };
        let mut code = String::new();
        let mut rest = text;
        while let Some((before, statement, after, is_public, is_test)) = next_use(rest) {
            code.push_str(before);
            rest = after;
            if is_test {
                continue;
            }
            for (leaf, name) in leaves(statement) {
                let Some(whole) = absolute(module, &leaf, modules) else { continue };
                match name.as_str() {
                    "*" => source.globs.push(whole.clone()),
                    name => _ = source.brought.insert(name.to_owned(), whole.clone()),
                }
                if !is_public {
                    source.named.push(whole);
                }
            }
        }
        code.push_str(rest);
        for inline in paths_in(&code) {
            let first = &inline[0];
            if let Some(from) = source.brought.get(first) {
                let path = [from, &inline[1..]].concat();
                source.named.push(path);
            } else if let Some(whole) = absolute(module, &inline, modules) {
                source.named.push(whole);
            }
        }
        source
    }
}

fn module(root: &Path, path: &Path) -> Segments {
    let inside = path.strip_prefix(root).unwrap().with_extension("");
    let mut names: Segments =
        inside.components().map(|part| part.as_os_str().to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|name| name == "mod" || name == "lib") {
        names.pop();
    }
    names
}

/// The next `use` of `text`: what is before it, the statement, what is after it, whether it hands
/// names on, and whether only tests see it.
fn next_use(text: &str) -> Option<(&str, &str, &str, bool, bool)> {
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let words = start.strip_prefix("pub ").or_else(|| {
            start.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map(|(_, rest)| rest)
        });
        if let Some(statement) = words.unwrap_or(start).strip_prefix("use ") {
            let begin = offset + (line.len() - statement.len());
            let end = begin + text[begin..].find(';')?;
            let is_test = text[..offset].trim_end().ends_with("#[cfg(test)]");
            return Some((
                &text[..offset],
                &text[begin..end],
                &text[end + 1..],
                words.is_some(),
                is_test,
            ));
        }
        offset += line.len();
    }
    None
}

/// The paths of a `use`, with the name that each brings in.
fn leaves(statement: &str) -> Vec<(Segments, String)> {
    fn segments(path: &str) -> impl Iterator<Item = String> {
        path.split("::").map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
    }
    fn walk(prefix: &[String], tree: &str, all: &mut Vec<(Segments, String)>) {
        let tree = tree.trim();
        if let Some((head, group)) = tree.split_once('{') {
            let mut prefix = prefix.to_vec();
            prefix.extend(segments(head));
            let inner = group.rsplit_once('}').map_or(group, |(inner, _)| inner);
            let (mut depth, mut start) = (0_usize, 0);
            for (at, c) in inner.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        walk(&prefix, &inner[start..at], all);
                        start = at + 1;
                    }
                    _ => {}
                }
            }
            walk(&prefix, &inner[start..], all);
        } else if !tree.is_empty() {
            let (path, alias) = match tree.split_once(" as ") {
                Some((path, alias)) => (path, Some(alias.trim().to_owned())),
                None => (tree, None),
            };
            let mut whole = prefix.to_vec();
            whole.extend(segments(path));
            if whole.last().is_some_and(|last| last == "self") {
                whole.pop();
            }
            let name = alias.or_else(|| whole.last().cloned()).unwrap_or_default();
            if name == "*" {
                whole.pop();
            }
            all.push((whole, name));
        }
    }
    let mut all = Vec::new();
    walk(&[], statement, &mut all);
    all
}

/// `path`, as named inside `module`, from the crate down; `None`: it leads out of the crate, or to
/// something of the file itself.
fn absolute(module: &[String], path: &[String], modules: &BTreeSet<Segments>) -> Option<Segments> {
    match path.first()?.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module, &path[1..]].concat()),
        "super" => {
            let ups = path.iter().take_while(|name| *name == "super").count();
            let up = module.len().checked_sub(ups)?;
            Some([&module[..up], &path[ups..]].concat())
        }
        first => {
            let mut child = module.to_vec();
            child.push(first.to_owned());
            modules.contains(&child).then(|| [module, path].concat())
        }
    }
}

/// Paths of two names and more in the code.
fn paths_in(code: &str) -> Vec<Segments> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut all = Vec::new();
    let mut path: Segments = Vec::new();
    let mut chars = code.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if !is_name(c) {
            continue;
        }
        let mut end = at + c.len_utf8();
        while let Some((next, c)) = chars.next_if(|(_, c)| is_name(*c)) {
            end = next + c.len_utf8();
        }
        path.push(code[at..end].to_owned());
        if code[end..].starts_with("::") && code[end + 2..].starts_with(is_name) {
            chars.next();
            chars.next();
            continue;
        }
        let whole = std::mem::take(&mut path);
        if whole.len() > 1 {
            all.push(whole);
        }
    }
    all
}
