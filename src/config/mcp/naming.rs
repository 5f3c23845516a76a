//! Names of servers, and the prefixes of their tools. Entry functions: [`name`], [`check`].

use std::{ffi::OsStr, path::Path};

use super::{
    super::{keys::mcp as keys, reading::Notes, whitelist::MCP},
    written::{Origin, Written},
};
use crate::{
    tools::{
        builtin,
        connection::{Reach, ServerOptions},
    },
    yaml::{Fields, Position, Problems, quoted},
};

/// Programs that run the package or file they are given.
const RUNNERS: &[&str] = &[
    "npx", "bunx", "pnpx", "pnpm", "yarn", "npm", "uvx", "uv", "pipx", "node", "bun", "deno",
    "tsx", "python", "python3", "sh", "bash", "docker", "podman", "env", "cmd", "java", "dotnet",
    "poetry", "cargo", "go",
];
/// Their subcommands.
const SUBCOMMANDS: &[&str] = &["run", "exec", "dlx", "tool", "x", "start", "/c"];
/// Their options that take a value.
const WITH_VALUE: &[&str] = &[
    "-e",
    "--env",
    "--env-file",
    "-v",
    "--volume",
    "--mount",
    "--name",
    "--network",
    "--directory",
    "--python",
    "--prefix",
    "--with",
    "--platform",
    "-w",
    "--user",
    "--project",
    "-C",
];
const LONGEST: usize = 64;

const EXTENSIONS: &[&str] =
    &["py", "js", "mjs", "cjs", "ts", "sh", "exe", "cmd", "bat", "rb", "pl", "jar"];

pub struct Name {
    /// Without surrounding blanks.
    pub text: String,
    /// Place of the name, or of the server if it has none.
    at: Position,
    /// The name as messages show it.
    shown: String,
    /// Derived from the address or the program.
    is_derived: bool,
}

/// The name of a server; `None` with a problem.
pub fn name(written: &Written, reach: &Reach, problems: &mut Problems) -> Option<Name> {
    let fields = &written.fields;
    if let Some(entry) = written.key {
        let (text, shown) = (mended(&entry.key), quoted(&entry.key));
        return Some(Name { text, at: entry.at, shown, is_derived: false });
    }
    if let Some(text) = fields.text("name") {
        let (at, shown) = (fields.place("name"), fields.shown("name"));
        return Some(Name { text: text.trim().to_owned(), at, shown, is_derived: false });
    }
    if fields.is_broken("name") || !std::ptr::eq(fields.shape(), &keys::LISTED_SERVER) {
        return None;
    }
    let derived = derived(reach);
    if derived.is_none() {
        problems.add(
            fields.at(),
            "the server has no name",
            "add name, of letters, digits, - and _",
        );
    }
    let text = derived?;
    let shown = quoted(&text);
    Some(Name { text, at: fields.at(), shown, is_derived: true })
}

/// Reports invalid or duplicate names. A server named like a built-in one gets another prefix.
pub fn check(
    name: &Name,
    fields: &Fields,
    (options, others): (&mut ServerOptions, &[ServerOptions]),
    from: &Origin,
    notes: &mut Notes,
) {
    let prefix = options.prefix.clone();
    let spelt = [("name", &name.text, name.shown.clone(), name.at)].into_iter();
    let prefixed =
        prefix.iter().map(|it| ("prefix", it, fields.shown("prefix"), fields.place("prefix")));
    for (key, text, shown, at) in spelt.chain(prefixed) {
        if text.is_empty() || text.len() > LONGEST || !text.chars().all(is_plain) {
            let message = format!("invalid '{key}' of a server: {shown}");
            notes.problems.add(
                at,
                message,
                format!("use letters, digits, - and _, at most {LONGEST}"),
            );
        }
    }
    if !name.is_derived && name.shown.trim_matches('\'') != name.text && !name.text.is_empty() {
        let message = format!("server {} is renamed to '{}'", name.shown, name.text);
        notes.warnings.add(
            name.at,
            message,
            format!("list its tools as {}.* in NPC files", name.text),
        );
    }
    let at = prefix.as_ref().map_or(name.at, |_| fields.place("prefix"));
    let of = |known: &str, server: &str| known.split_once('.').is_some_and(|it| it.0 == server);
    if builtin::SERVERS.contains(&options.identity()) {
        if prefix.is_none() && from.data_dir.is_some() {
            beside_built_in(name, options, notes);
        } else {
            let message =
                format!("{} is the name of a built-in server", quoted(options.identity()));
            notes.problems.add(at, message, "give this one another name, or a prefix");
        }
    }
    let identity = options.identity();
    if let Some(tool) = from.manifests.iter().find(|known| of(known, identity)) {
        let message = format!("{} is the namespace of the manifest of '{tool}'", quoted(identity));
        notes.problems.add(at, message, "give this one another name, or a prefix");
    }
    if others.iter().any(|other| other.name == options.name) {
        let message = format!("two servers are called {}", quoted(&options.name));
        let way_out =
            if name.is_derived { "give this one a name: name: …" } else { "rename one" };
        notes.problems.add(name.at, message, way_out);
    } else if others.iter().any(|other| other.identity() == identity) {
        let message = format!("two servers have tools called {}", quoted(&format!("{identity}.…")));
        notes.problems.add(at, message, "give one of them another prefix");
    }
}

/// Changes the tools' prefix, so that no whitelist of the built-in server of this name allows them.
fn beside_built_in(name: &Name, options: &mut ServerOptions, notes: &mut Notes) {
    let prefix = format!("{MCP}{}", options.name);
    let message = format!(
        "{} is the name of a built-in server, so this one's tools are '{prefix}.…'",
        quoted(&options.name)
    );
    let way_out = format!(
        "list them as {prefix}.* in NPC files, or give the server a prefix or another name"
    );
    notes.warnings.add(name.at, message, way_out);
    options.prefix = Some(prefix);
}

/// A name derived from a server's host, or from the last word of its package or file.
fn derived(reach: &Reach) -> Option<String> {
    let word = match reach {
        Reach::Http { url, .. } => host(url),
        Reach::Stdio { command, .. } => package(command),
    };
    Some(mended(word)).filter(|plain| !plain.is_empty())
}

/// `word` as a name: other characters become hyphens.
pub fn mended(word: &str) -> String {
    let word = word.trim();
    if word.chars().all(is_plain) {
        return word.to_owned();
    }
    let plain = word.chars().map(|c| if is_plain(c) { c } else { '-' }).collect::<String>();
    plain.trim_matches('-').to_owned()
}

fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let place = rest.split(['/', '?']).next().unwrap_or_default();
    match place.strip_prefix('[') {
        Some(literal) => literal.split(']').next().unwrap_or_default(),
        None => place.split(':').next().unwrap_or_default(),
    }
}

/// Last word of the package or file that a command runs, without version and extension.
fn package(command: &[String]) -> &str {
    let is_runner = |program: &str| {
        let stem = Path::new(program).file_stem().and_then(OsStr::to_str);
        stem.is_some_and(|stem| RUNNERS.contains(&stem))
    };
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    let program = words.first().copied().unwrap_or_default();
    let is_run = |at: &usize| {
        let word = words[*at];
        let is_value = WITH_VALUE.contains(&words[at - 1]);
        let is_other = word.starts_with('-') || word.contains('=') && !word.contains("==");
        !is_value && !is_other && !SUBCOMMANDS.contains(&word) && !is_runner(word)
    };
    let run = match is_runner(program) {
        true => (1..words.len()).find(is_run).map_or(program, |at| words[at]),
        false => program,
    };
    let last = run.trim_end_matches('/').rsplit(['/', '\\']).next().unwrap_or_default();
    let last = last.split(['@', '=', '[', ':']).find(|part| !part.is_empty()).unwrap_or_default();
    match last.rsplit_once('.') {
        Some((stem, extension)) if EXTENSIONS.contains(&extension) => stem,
        _ => last,
    }
}

/// True if `c` is allowed in a name.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '-' || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_host_or_package_is_plain() {
        let host = |url: &str| host(url).to_owned();
        assert_eq!(host("https://mcp.example.com:8443/mcp?x"), "mcp.example.com");
        assert_eq!(host("http://[::1]:80/mcp"), "::1");
        let of = |line: &str| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            package(&words).to_owned()
        };
        for (line, expected) in [
            ("npx -y @modelcontextprotocol/server-filesystem@1.2 /tmp", "server-filesystem"),
            ("uvx mcp-server-time==1.0 --local-timezone=UTC", "mcp-server-time"),
            ("/usr/bin/python3 servers/weather.py plain", "weather"),
            ("python -m my_weather", "my_weather"),
            ("uv run tool.py", "tool"),
            ("/opt/tools/dice --fast", "dice"),
            ("npx", "npx"),
            ("docker run -i --rm -e TOKEN mcp/github:1.2", "github"),
            ("uvx --python 3.12 mcp-server-git", "mcp-server-git"),
            ("uv --directory /srv/weather run server.py", "server"),
            ("npm --prefix /x/notes run start", "npm"),
            ("cmd /c npx -y zed", "zed"),
            ("env FOO=1 npx -y zed", "zed"),
            ("java -jar /opt/thing.jar", "thing"),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }
}
