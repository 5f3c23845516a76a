//! Demands of the web listener: a folder may hold a store with tokens of its maker.

use crate::config::{
    checked::Config,
    demands::{Demand, Use},
};

/// Doors that a listener opens beyond programs of this machine.
pub fn demands(config: &Config) -> Vec<Demand> {
    let Some(web) = &config.web else { return Vec::new() };
    let mut lines = Vec::new();
    if web.is_exposed() {
        lines.push(format!(
            "let programs with a token reach the table at {}, from other machines too (web.listen)",
            web.listen
        ));
    }
    if !web.hosts.is_empty() {
        let names = web.hosts.join(", ");
        lines.push(format!(
            "let pages and programs with a token reach the table as {names} (web.hosts)"
        ));
    }
    if web.mcp.listen {
        lines.push("let programs with a token read what players say (web.mcp.listen)".to_owned());
    }
    lines.into_iter().map(|line| Demand::new(Use::Play, line)).collect()
}
