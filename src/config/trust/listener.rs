//! Demands of the web listener: a folder may hold a store with tokens of its maker.

use crate::{
    config::{
        checked::Config,
        demands::{Demand, Use},
    },
    web::WebOptions,
};

/// Doors that a listener opens beyond programs of this machine.
pub fn demands(config: &Config) -> Vec<Demand> {
    let Some(WebOptions { listen, hosts, mcp, .. }) = &config.web else { return Vec::new() };
    let mut lines = Vec::new();
    if config.web.as_ref().is_some_and(WebOptions::is_exposed) {
        lines.push(format!(
            "let programs with a token reach the table at {listen}, from other machines too \
             (web.listen)"
        ));
    }
    if !hosts.is_empty() {
        let names = hosts.join(", ");
        lines.push(format!(
            "let pages and programs with a token reach the table as {names} (web.hosts)"
        ));
    }
    if mcp.listen {
        lines.push("let programs with a token read what players say (web.mcp.listen)".to_owned());
    }
    lines.into_iter().map(|line| Demand::new(Use::Play, line)).collect()
}
