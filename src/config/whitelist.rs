//! Tool names as users write them -> identities. Any tool of a configured server (`server.*` among
//! the known) may be named, since the server need not be connected.

use super::{keys, reading::Notes};
use crate::{
    tools::{bare, canonical},
    yaml::{Fields, Node, Scalar, nearest, quoted},
};

/// Prefix of a configured server named like a built-in one.
pub const MCP: &str = "mcp-";
/// Prefix of a manifest's namespace named like a built-in server.
pub const MANIFEST: &str = "manifest-";

/// The identity or pattern meant by `entry`: `server.tool`, a bare name of only one server,
/// `server.*` or `server.prefix*`. The error is the problem and its fix.
pub fn resolve(entry: &str, known: &[&str]) -> Result<String, (String, String)> {
    let entry = canonical(entry);
    if let Some(prefix) = entry.strip_suffix('*') {
        if is_of_a_server(entry, known) {
            return Ok(entry.to_owned());
        }
        if prefix.contains('.') && known.iter().any(|identity| identity.starts_with(prefix)) {
            return Ok(entry.to_owned());
        }
        return Err(unknown(entry, known));
    }
    if known.contains(&entry) || is_of_a_server(entry, known) {
        return Ok(entry.to_owned());
    }
    let same_name = |identity: &&&str| bare(identity) == entry;
    match known.iter().filter(same_name).collect::<Vec<_>>().as_slice() {
        [only] => Ok((**only).to_owned()),
        [] => Err(unknown(entry, known)),
        several => {
            let several: Vec<_> = several.iter().map(|identity| **identity).collect();
            Err((format!("several servers have a tool {}", quoted(entry)), several.join(", ")))
        }
    }
}

/// Pattern for all tools of the server `entry`, if it is one.
pub fn whole_server(entry: &str, known: &[&str]) -> Option<String> {
    let prefix = format!("{entry}.");
    let is_server = !entry.contains('.') && known.iter().any(|it| it.starts_with(&prefix));
    is_server.then(|| format!("{prefix}*"))
}

/// True if `entry` may be a tool of an unlisted server: a bare name unlike any known one.
pub fn may_come(entry: &str, known: &[&str]) -> bool {
    let is_bare = !entry.trim().is_empty() && !entry.contains(['.', '*', ' ']);
    is_bare
        && known.iter().any(|known| known.ends_with(".*"))
        && nearest(entry, nameable(known)).is_none()
        && !is_of_files(entry)
}

/// Tools that depend on a configured service.
struct OfService {
    identities: &'static [&'static str],
    /// The key of their service under `providers`.
    key: &'static str,
    way_out: &'static str,
}

const WEB: OfService = OfService {
    identities: &["web-search.search", "web-search.fetch_page"],
    key: "search",
    way_out: "add providers: { search: { service: searxng, base_url: … } }",
};
const PICTURES: OfService = OfService {
    identities: &["image-gen.generate_image"],
    key: "image",
    way_out: "add providers: { image: { service: openai, … } }, as docs/pictures.md says",
};

/// True if `identity` needs no service, or `file` has an entry for it.
pub fn has_service(identity: &str, file: &Fields) -> bool {
    let of = [WEB, PICTURES].into_iter().find(|of| of.identities.contains(&identity));
    of.is_none_or(|of| is_described(file, of.key))
}

/// True if `file` has the entry `key` under `providers`, valid or not.
pub fn is_described(file: &Fields, key: &str) -> bool {
    let all = file.map("providers", &keys::providers::PROVIDERS);
    let has_key = |all: Fields| all.get(key).is_some() || all.is_broken(key);
    file.is_broken("providers") || all.is_some_and(has_key)
}

/// The identity meant by `entry` of a tool whose service is not configured, and the service.
fn without_service(entry: &str) -> Option<(String, OfService)> {
    let meant = |of: OfService| {
        let identity = resolve(entry, of.identities).ok();
        Some((identity.or_else(|| whole_server(entry, of.identities))?, of))
    };
    [WEB, PICTURES].into_iter().find_map(meant)
}

/// The identities meant by `nodes`; a server's name alone means all its tools. Reports problems.
pub fn resolve_all(nodes: &[Node], known: &[&str], notes: &mut Notes) -> Vec<String> {
    let problems = &mut notes.problems;
    let mut identities = Vec::new();
    for node in nodes {
        let Some(text) = node.text() else { continue };
        let meant = resolve(text, known);
        match meant.or_else(|why| whole_server(text, known).ok_or(why)) {
            Ok(identity) => identities.push(identity),
            // The error must not show the value of a variable.
            Err(_) if node.scalar().is_some_and(|it| it.written.is_some()) => {
                let shown = node.scalar().map(Scalar::shown).unwrap_or_default();
                problems.add(node.at, format!("unknown tool {shown}"), "write its name");
            }
            Err(_) if may_come(text, known) => {
                let message = format!("unknown tool {} so far", quoted(text));
                let way_out =
                    "a server may provide it; write SERVER.TOOL to accept it from that server only";
                notes.warnings.add(node.at, message, way_out);
                identities.push(text.to_owned());
            }
            Err((message, way_out)) => match without_service(text) {
                Some((identity, of)) => {
                    let message =
                        format!("{} has no effect without providers.{}", quoted(text), of.key);
                    notes.warnings.add(node.at, message, of.way_out);
                    identities.push(identity);
                }
                None => problems.add(node.at, message, way_out),
            },
        }
    }
    identities
}

/// True if a whitelist of resolved entries contains `identity`.
pub fn allows(whitelist: &[String], identity: &str) -> bool {
    whitelist.iter().any(|entry| match entry.strip_suffix('*') {
        Some(prefix) => identity.starts_with(prefix),
        None => entry == identity,
    })
}

fn is_of_a_server(entry: &str, known: &[&str]) -> bool {
    entry.split_once('.').is_some_and(|(server, tool)| {
        !tool.is_empty() && known.iter().any(|known| known.strip_suffix(".*") == Some(server))
    })
}

/// All names of known tools and servers.
fn names<'k>(known: &'k [&'k str]) -> impl Iterator<Item = &'k str> {
    known.iter().flat_map(|identity| [*identity, bare(identity)])
}

/// Names of the servers of known tools, one per tool.
fn servers<'k>(known: &'k [&'k str]) -> impl Iterator<Item = &'k str> {
    known.iter().filter_map(|identity| Some(identity.split_once('.')?.0))
}

/// All names that a whitelist may have.
fn nameable<'k>(known: &'k [&'k str]) -> impl Iterator<Item = &'k str> {
    names(known).chain(servers(known))
}

/// True if it names a tool that reads or writes files.
fn is_of_files(entry: &str) -> bool {
    entry == "file-io"
        || ["file-io.", "read_file", "write_file"].iter().any(|name| entry.starts_with(name))
}

/// New name of `entry`, a tool of a manifest or server named like a built-in server.
fn moved(entry: &str, known: &[&str]) -> Option<String> {
    let server = format!("{MCP}{entry}");
    if is_of_a_server(&server, known) {
        return Some(server);
    }
    let manifest = format!("{MANIFEST}{entry}");
    known.contains(&manifest.as_str()).then_some(manifest)
}

fn unknown(entry: &str, known: &[&str]) -> (String, String) {
    let groups: Vec<_> = servers(known).map(|server| format!("{server}.*")).collect();
    let near = if entry.ends_with('*') {
        nearest(entry, groups.iter().map(String::as_str))
    } else {
        nearest(entry, nameable(known).filter(|name| *name != entry))
    };
    if let Some(moved) = moved(entry, known) {
        let way_out = format!("did you mean '{moved}'?");
        return (format!("unknown tool {}", quoted(entry)), way_out);
    }
    if is_of_files(entry) {
        let way_out = match known.contains(&"file-io.read_file") {
            true => "file_io in glyphoxa.yaml is read_only; set read_only: false",
            false => "add file_io: { base_dir: … } to glyphoxa.yaml",
        };
        return (format!("unknown tool {}", quoted(entry)), way_out.to_owned());
    }
    let way_out = near.map_or_else(
        || format!("known tools: {}", known.join(", ")),
        |near| format!("did you mean '{near}'?"),
    );
    (format!("unknown tool {}", quoted(entry)), way_out)
}
