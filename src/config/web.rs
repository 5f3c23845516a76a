//! The web listener's settings. Entry function: [`options`].

use std::net::SocketAddr;

use super::{keys, reading::Notes};
use crate::{
    web::{McpOptions, WebOptions},
    yaml::{Fields, Node, Scalar},
};

/// Longest name of a host (RFC 1035).
const LONGEST_NAME: usize = 253;

/// Reads `web`; `None`: nothing listens.
pub fn options(file: &Fields<'_>, notes: &mut Notes) -> Option<WebOptions> {
    let web = file.map("web", &keys::web::WEB)?;
    let hosts = web.items("hosts").iter().filter_map(|node| host(node, notes)).collect();
    let options = WebOptions {
        listen: address(web, notes)?,
        behind_tls: web.flag("behind_tls").unwrap_or_default(),
        hosts,
        mcp: web.map("mcp", &keys::web::MCP).map(mcp).unwrap_or_default(),
    };
    if options.is_exposed() && !options.behind_tls {
        let message = format!("other machines can reach {}", web.shown("listen"));
        let way_out = "listen on 127.0.0.1, or put TLS in front of it and set behind_tls: true";
        notes.problems.add(web.place("listen"), message, way_out);
    }
    Some(options)
}

fn mcp(mcp: Fields<'_>) -> McpOptions {
    McpOptions {
        listen: mcp.flag("listen").unwrap_or_default(),
        underscores: mcp.text("tool_names") == Some("underscore"),
    }
}

fn address(web: Fields<'_>, notes: &mut Notes) -> Option<SocketAddr> {
    let address = web.text("listen")?.trim().parse().ok();
    if address.is_none() {
        let message = format!("invalid address {}", web.shown("listen"));
        let way_out = "write an address and a port, such as 127.0.0.1:4100";
        notes.problems.add(web.place("listen"), message, way_out);
    }
    address
}

/// The name, in lower case and without the dot that ends a full one: no client sends it.
fn host(node: &Node, notes: &mut Notes) -> Option<String> {
    let full = node.text()?.trim().to_ascii_lowercase();
    let name = full.strip_suffix('.').unwrap_or(&full).to_owned();
    let is_named = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    let is_host = name.len() <= LONGEST_NAME
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_named);
    if !is_host {
        let shown = node.scalar().map(Scalar::shown).unwrap_or_default();
        let message = format!("invalid host {shown}");
        let way_out = "write the name alone, such as npc.example.org, without https:// and port";
        notes.problems.add(node.at, message, way_out);
    }
    is_host.then_some(name)
}
