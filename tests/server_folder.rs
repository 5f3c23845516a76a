//! Working folder of the programs of servers.

use std::process::{Command, Stdio};

use crate::support::{
    program::{Place, shipped},
    skipped::skipped,
};

#[test]
fn server_runs_in_the_folder_of_its_file() {
    let python = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if python.is_err() {
        return skipped("tests with MCP servers", "there is no python3");
    }
    for sandbox in ["off", "{}"] {
        let place = Place::new();
        place.write("campaign/server.py", shipped("tests/support/mcp/server.py"));
        let server =
            format!("{{ name: home, command: python3 ./server.py plain, sandbox: {sandbox} }}");
        let config = format!("npcs: [{{ name: Pip }}]\nmcp: {{ servers: [{server}] }}\n");
        place.write("campaign/glyphoxa.yaml", config);
        let asked = ["mcp", "servers", "--json", "--config", "campaign/glyphoxa.yaml"];
        let line = place.run(&asked).ends_with(0).line();
        assert_eq!(line["state"], "ready", "{line:#}");
    }
}
