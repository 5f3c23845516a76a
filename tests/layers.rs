//! A module imports only what its row in ARCHITECTURE.md names.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    house::{is_test_file, rust_files, without_comments},
    imports::Sources,
};

/// Module -> the modules it may import; `None`: everything.
fn table() -> BTreeMap<String, Option<Vec<String>>> {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| #"));
    let mut table = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [layer, modules, imports, ..] = cells.as_slice() else { continue };
        if layer.parse::<u8>().is_err() {
            continue;
        }
        for module in modules.split(',').map(str::trim) {
            let allowed = match *imports {
                "everything" => None,
                "–" => Some(Vec::new()),
                list => Some(list.split(',').map(|name| name.trim().to_owned()).collect()),
            };
            table.insert(module.to_owned(), allowed);
        }
    }
    table
}

fn module_of(path: &Path) -> String {
    let inside = path.strip_prefix("src").unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// Names of top-level modules that `text` mentions by a `crate::` path.
fn imports(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            None => names.push(rest),
            Some(group) => {
                // The names at depth one of `use crate::{a::{b, c}, d::e}`.
                let mut depth = 0usize;
                let mut start = true;
                for (index, c) in group.char_indices() {
                    match c {
                        '}' if depth == 0 => break,
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 0 => start = true,
                        c if start && depth == 0 && c.is_alphabetic() => {
                            names.push(&group[index..]);
                            start = false;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    let word = |name: &str| {
        name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
    };
    names.into_iter().map(word).filter(|name| !name.is_empty()).collect()
}

#[test]
fn imports_go_downwards() {
    let table = table();
    assert!(table.len() > 8, "the layer table of ARCHITECTURE.md was not read: {table:?}");
    let mut breaches = Vec::new();
    for path in rust_files(Path::new("src")) {
        let module = module_of(&path);
        if module == "lib" {
            continue;
        }
        let Some(allowed) = table.get(&module) else {
            breaches.push(format!("{}: module '{module}' has no row", path.display()));
            continue;
        };
        let Some(allowed) = allowed else { continue };
        for name in imports(&without_comments(&fs::read_to_string(&path).unwrap())) {
            if name != module && table.contains_key(&name) && !allowed.contains(&name) {
                breaches.push(format!("{}: imports '{name}'", path.display()));
            }
        }
    }
    assert!(breaches.is_empty(), "against the layer table:\n{}", breaches.join("\n"));
}

/// True if `text` names the crate, and not a longer name that ends so.
fn names_crate(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let path = format!("{name}::");
    let mut found = text.match_indices(&path).map(|(at, _)| at);
    found.any(|at| !text.get(..at).is_some_and(|before| before.ends_with(is_part)))
}

/// Crates that one module owns alone.
#[test]
fn crates_stay_with_their_owner() {
    let owners: &[(&str, &[&str])] = &[
        ("symphonia", &["audio"]),
        ("rten_tensor", &["provider"]),
        ("realfft", &["provider"]),
        ("rubato", &["audio"]),
        ("serde_yaml", &["yaml"]),
        ("async_openai", &["provider"]),
        ("reqwest", &["provider", "tools"]),
        ("cap_std", &["tools"]),
        ("jmespath", &["tools"]),
        ("minijinja", &["tools"]),
        ("rmcp", &["tools", "web"]),
        ("axum", &["web"]),
        ("landlock", &["launch"]),
        ("libloading", &["provider"]),
        ("image", &["provider"]),
        ("rten", &["provider"]),
        ("rten_tensor", &["provider"]),
        ("earshot", &["logic"]),
        ("bm25", &["tools"]),
        ("rust_stemmers", &["tools"]),
        ("candle_core", &["provider"]),
        ("candle_nn", &["provider"]),
        ("tokenizers", &["provider"]),
        ("zip", &["archives"]),
        ("tar", &["archives"]),
        ("flate2", &["archives", "provider"]),
        ("html5gum", &["markup"]),
        // In provider it is a module of image.
        ("png", &["import", "provider"]),
        ("encoding_rs", &["provider"]),
        ("rusqlite", &["memory"]),
        ("tokio_postgres", &["memory"]),
        ("deadpool_postgres", &["memory"]),
        ("metrics", &["figures"]),
        ("metrics_exporter_prometheus", &["figures"]),
        ("serenity", &["discord"]),
        ("songbird", &["discord"]),
        ("opus2", &["audio"]),
        ("ebur128", &["audio"]),
        ("discord_http", &["discord"]),
        ("opentelemetry_proto", &["traces"]),
        ("prost", &["traces"]),
        ("clap", &["cli", "main"]),
        ("indicatif", &["cli"]),
        ("tracing_subscriber", &["cli", "app", "main"]),
    ];
    let mut breaches = Vec::new();
    for path in rust_files(Path::new("src")) {
        let text = without_comments(&fs::read_to_string(&path).unwrap());
        for (name, modules) in owners {
            if names_crate(&text, name) && !modules.contains(&module_of(&path).as_str()) {
                breaches.push(format!("{}: uses '{name}', which {modules:?} own", path.display()));
            }
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

/// Pure layers do not wait, look at the clock, log or touch files.
#[test]
fn pure_layers_stay_pure() {
    let forbidden = ["async ", "tokio::", "tracing::", "std::fs", "Instant::now", "std::env"];
    let mut breaches = Vec::new();
    for path in rust_files(Path::new("src")) {
        let is_pure = ["domain", "audio", "yaml", "logic"].contains(&module_of(&path).as_str());
        if !is_pure || is_test_file(&path) {
            continue;
        }
        let text = without_comments(&fs::read_to_string(&path).unwrap());
        for word in forbidden.iter().filter(|word| text.contains(**word)) {
            breaches.push(format!("{}: '{word}'", path.display()));
        }
    }
    assert!(breaches.is_empty(), "{}", breaches.join("\n"));
}

/// Files of `uses` that use each other in a circle, each circle once.
fn circles(uses: &BTreeMap<PathBuf, BTreeMap<PathBuf, String>>) -> Vec<Vec<&PathBuf>> {
    let mut reached: BTreeMap<&PathBuf, BTreeSet<&PathBuf>> = BTreeMap::new();
    for from in uses.keys() {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(next) = open.pop() {
            open.extend(uses[next].keys().filter(|used| seen.insert(*used)));
        }
        reached.insert(from, seen);
    }
    let mut all: Vec<Vec<&PathBuf>> = reached
        .keys()
        .map(|file| {
            let back = reached[file].iter().filter(|other| reached[*other].contains(file));
            back.copied().collect::<Vec<_>>()
        })
        .filter(|circle| !circle.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}

/// Inside a room, too, files use each other in one direction.
#[test]
fn no_circle_inside_a_room() {
    let uses = Sources::read(Path::new("src")).uses();
    let arrows: usize = uses.values().map(BTreeMap::len).sum();
    assert!(arrows > 500, "only {arrows} arrows between files were read");
    let mut told = String::new();
    for circle in circles(&uses) {
        writeln!(told, "{} files use each other:", circle.len()).unwrap();
        for (from, to) in circle.iter().flat_map(|from| circle.iter().map(move |to| (from, to))) {
            if let Some(name) = uses[*from].get(*to) {
                writeln!(told, "  {} -> {}: {name}", from.display(), to.display()).unwrap();
            }
        }
    }
    assert!(told.is_empty(), "move what both need into a file below them:\n{told}");
}
