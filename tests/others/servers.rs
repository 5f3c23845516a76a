//! Servers as other programs describe them.

use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::{refused, taken};
use crate::support::{
    program::{Place, port_of, repository},
    skipped::skipped,
};

/// An NPC who may use nothing.
const TOM: &str = "npcs: [{ name: Tom, lines: [{ say: Tom is here. }] }]\n";

/// True if there is an interpreter; says so when there is none.
pub fn has_python() -> bool {
    let there = Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !there {
        skipped("tests with servers of others", "there is no python3");
    }
    there
}

/// A test server's file.
pub fn file(name: &str) -> String {
    repository(&format!("tests/support/mcp/{name}")).display().to_string()
}

/// Result of a tool that a person calls.
pub fn called(place: &Place, tool: &str, arguments: &Value) -> Value {
    let mut ran = place.run(&["tools", "call", tool, &arguments.to_string(), "--json"]);
    ran.stderr.clear();
    ran.line()["result"].clone()
}

/// Reply of an NPC.
fn answered(place: &Place, line: &str) -> Value {
    let mut ran = place.run(&["ask", "--json", "--text", line]);
    ran.stderr.clear();
    ran.line()["reply"].clone()
}

/// A server on loopback, and its address.
struct Http(Child, String);

impl Http {
    fn start() -> Self {
        let mut command = Command::new("python3");
        command.args([&file("server.py"), "http", "plain"]).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let url = format!("http://127.0.0.1:{}/mcp", port_of(&mut child));
        Self(child, url)
    }
}

impl Drop for Http {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn server_list_without_names_connects() {
    if !has_python() {
        return;
    }
    let http = Http::start();
    let servers = format!(
        "{TOM}mcp_servers:\n  - url: {}\n    toolPrefix: far\n    connectTimeout: 9000\n    \
         autoReconnect: false\n  - command: python3 '{}' plain\n    reconnectInterval: 50\n",
        http.1,
        file("server.py")
    );
    let place = Place::with_config(&servers).env("RUST_LOG", "off");
    assert!(!taken(&place).contains("warning"), "{}", taken(&place));
    let lines = place.run(&["mcp", "servers", "--json"]).ends_with(0).lines();
    let names: Vec<_> = lines.iter().map(|line| (&line["name"], &line["prefix"])).collect();
    let expected = [(json!("127-0-0-1"), json!("far")), (json!("server"), json!("server"))];
    assert_eq!(names, expected.each_ref().map(|(name, prefix)| (name, prefix)));
    for tool in ["far.echo", "server.echo"] {
        assert_eq!(called(&place, tool, &json!({ "text": tool })), tool);
    }
}

#[test]
fn server_list_of_namesakes_asks_for_a_name() {
    let twins = "mcp_servers:\n  - command: npx -y @a/notes@1.2\n  - command: uvx notes\n";
    refused(
        &Place::with_config(&format!("{TOM}{twins}")),
        &["glyphoxa.yaml:4:5: two servers are called 'notes' (give this one a name: name: …)"],
    );
    let named =
        format!("{TOM}{}", twins.replace("command: uvx notes", "{ name: b, command: uvx notes }"));
    taken(&Place::with_config(&named));
    let misspelt = format!("{TOM}mcp_servers:\n  - comand: npx x\n");
    refused(&Place::with_config(&misspelt), &["glyphoxa.yaml:3:5:", "did you mean 'command'?"]);
}

#[test]
fn server_spelt_twice_is_refused() {
    let both = "mcp_servers:\n  a: { command: x, prefix: b, toolPrefix: c }\n";
    refused(
        &Place::with_config(&format!("{TOM}{both}")),
        &["glyphoxa.yaml:3:31: 'toolPrefix' is the same key as 'prefix' (keep one of them)"],
    );
}

/// JSON as a desktop client has it, its braces pasted behind the key.
fn pasted(servers: &str) -> Place {
    Place::with_config(&format!("{TOM}\"mcpServers\": {{\n{servers}\n}}\n"))
}

#[test]
fn client_servers_pasted_connect() {
    if !has_python() {
        return;
    }
    let http = Http::start();
    let json = json!({
        "near": {
            "type": "stdio", "command": "python3", "args": [file("server.py"), "plain"],
            "env": { "ONE": "${env:FIRST}", "TWO": "${input:second-value}" }, "disabled": false,
        },
        "far": { "type": "http", "url": http.1, "headers": { "X-One": "${FIRST}" } },
        "off": { "command": "${NOT_SET}", "disabled": true },
    });
    let json = serde_json::to_string_pretty(&json).expect("JSON");
    let inside = json.trim_start_matches('{').trim_end_matches('}');
    let place = pasted(inside).env("FIRST", "first").env("SECOND_VALUE", "second");
    let place = place.env("RUST_LOG", "off");
    assert!(!taken(&place).contains("warning"), "{}", taken(&place));
    let given = called(&place, "near.environment", &json!({}));
    assert_eq!((&given["ONE"], &given["TWO"]), (&json!("first"), &json!("second")), "{given}");
    let sent = called(&place, "far.headers", &json!({}));
    assert!(sent.as_str().is_some_and(|it| it.contains("\"x-one\": \"first\"")), "{sent}");
    let lines = place.run(&["mcp", "servers", "--json"]).lines();
    assert_eq!(lines.len(), 2, "{lines:#?}");
}

#[test]
fn client_servers_indented_by_tabs_are_read() {
    let tabbed = |key: &str| {
        format!(
            "\t\"a\": {{\r\n\t\t\"{key}\": \"python3\",\n\t\t\"args\": [\n\t\t\t\"-c\"\n\t\t]\n\t}}"
        )
    };
    assert!(!taken(&pasted(&tabbed("command"))).contains("warning"));
    refused(&pasted(&tabbed("comand")), &["glyphoxa.yaml:4:3: ", "'command'"]);
}

#[test]
fn client_server_keys_of_others_warn_or_say_why() {
    let warned = taken(&pasted("\"a\": { \"command\": \"python3\", \"autoApprove\": [] }"));
    assert!(
        warned.contains("glyphoxa.yaml:3:30: unknown key 'autoApprove' in 'mcpServers.a'"),
        "{warned}"
    );
    for (server, expected) in [
        (
            "\"type\": \"sse\", \"url\": \"https://a.test/sse\"",
            "glyphoxa.yaml:3:16: 'mcpServers.a' uses 'sse' (MCP deprecated sse in 2025: ",
        ),
        (
            "\"command\": \"x\", \"cwd\": \"/srv\"",
            "glyphoxa.yaml:3:24: 'cwd' of 'mcpServers.a' is not supported",
        ),
        ("\"command\": \"x\", \"envFile\": \".env\"", "env: { NAME: ${NAME} }"),
        ("\"comand\": \"x\"", "did you mean 'command'?"),
        ("\"type\": \"pigeon\", \"command\": \"x\"", "(http or stdio)"),
        ("\"command\": \"x\", \"disabled\": \"no\"", "'disabled' is 'no'"),
    ] {
        refused(&pasted(&format!("\"a\": {{ {server} }}")), &[expected]);
    }
    let list = Place::with_config(&format!("{TOM}mcpServers:\n  - command: x\n"));
    refused(&list, &["glyphoxa.yaml:3:3: 'mcpServers' is a list (expected a mapping"]);
}

/// A table of two NPCs who may use `tools` each, with a manifest of namespace `memory` and a server of
/// that name.
fn namesakes(tools: [&str; 2]) -> Place {
    let [first, second] = tools;
    let npc = |name: &str, tools: &str| {
        format!(
            "  - {{ name: {name}, budget_tier: deep, tools: [\"{tools}\"], lines: [{{ say: Hm. }}] }}\n"
        )
    };
    let server = format!(
        "mcp_servers:\n  memory: {{ command: \"python3 '{}' plain\" }}\n",
        file("server.py")
    );
    let npcs = format!("npcs:\n{}{}{server}", npc("Odo", first), npc("Mira", second));
    let place = Place::with_config(&npcs).env("RUST_LOG", "off");
    place.write("tools/secret.yaml", manifest("memory"));
    place
}

/// A manifest of the tool `secret`.
fn manifest(namespace: &str) -> String {
    format!(
        "apiVersion: promptkit.altairalabs.ai/v1alpha1\nkind: Tool\nmetadata: {{ name: secret, \
         namespace: {namespace} }}\nspec:\n  description: Tells a secret.\n  input_schema: {{ type: \
         object }}\n  mock_result: The key is under the mill.\n"
    )
}

/// Identities of what an NPC sees.
fn seen(place: &Place, npc: &str) -> Vec<String> {
    let lines = place.run(&["tools", "visible", "--npc", npc, "--tier", "deep", "--json"]).lines();
    lines.iter().map(|line| line["identity"].as_str().expect("an identity").to_owned()).collect()
}

#[test]
fn namesakes_of_a_built_in_server_stay_apart() {
    if !has_python() {
        return;
    }
    let place = namesakes(["memory.*", "mcp-memory.echo"]);
    let said = taken(&place);
    assert!(
        said.contains("glyphoxa.yaml:5:3: 'memory' is the name of a built-in server, so"),
        "{said}"
    );
    assert!(
        said.contains("secret.yaml:3:38: namespace 'memory' is renamed to 'manifest-memory'"),
        "{said}"
    );
    let odo = seen(&place, "Odo");
    assert!(!odo.is_empty() && odo.iter().all(|tool| tool.starts_with("memory.")), "{odo:?}");
    assert_eq!(seen(&place, "Mira"), ["mcp-memory.echo"]);
    let place = namesakes(["manifest-memory.*", "secret"]);
    for npc in ["Odo", "Mira"] {
        assert_eq!(seen(&place, npc), ["manifest-memory.secret"]);
    }
    assert_eq!(called(&place, "secret", &json!({})), "The key is under the mill.");
    assert_eq!(called(&place, "mcp-memory.echo", &json!({ "text": "hi" })), "hi");
}

#[test]
fn whitelist_that_means_namesakes_is_helped() {
    for (entry, meant) in [
        ("memory.echo", "did you mean 'mcp-memory.echo'?"),
        ("memory.secret", "did you mean 'mcp-memory.secret'?"),
    ] {
        let place = namesakes([entry, "roll"]);
        refused(&place, &["glyphoxa.yaml:2:", meant]);
    }
    let place = Place::with_config(&TOM.replace("Tom,", "Tom, tools: [memory.secret],"));
    place.write("tools/secret.yaml", manifest("memory"));
    refused(&place, &["did you mean 'manifest-memory.secret'?"]);
}

#[test]
fn manifest_of_any_namespace_is_answered() {
    for (namespace, identity) in [
        ("tools", "tools.secret"),
        ("com.example.world", "com-example-world.secret"),
        ("dice-roller", "manifest-dice-roller.secret"),
    ] {
        let npc = "npcs:\n  - name: Odo\n    tools: [secret]\n    lines:\n      \
                   - { tool: { name: secret }, say: \"{result}\" }\n";
        let place = Place::with_config(npc).env("RUST_LOG", "off");
        place.write("tools/secret.yaml", manifest(namespace));
        let answer = answered(&place, "Odo, tell me");
        assert_eq!(answer, "The key is under the mill.", "{namespace}");
        assert_eq!(seen(&place, "Odo"), [identity]);
        assert_eq!(called(&place, "secret", &json!({})), "The key is under the mill.");
    }
}

#[test]
fn manifest_like_a_built_in_tool_is_refused() {
    let place = Place::with_config(TOM);
    place.write("tools/x.yaml", manifest("tools").replace("name: secret", "name: discover_tools"));
    refused(&place, &["x.yaml:3:19: tool 'tools.discover_tools' is built in"]);
    let place = Place::with_config(&format!("{TOM}mcp_servers: {{ world: {{ command: x }} }}\n"));
    place.write("tools/x.yaml", manifest("world"));
    refused(&place, &["'world' is the namespace of the manifest of 'world.secret'"]);
}

#[test]
fn bare_name_of_server_tool_warns_and_is_called() {
    if !has_python() {
        return;
    }
    let npc = "npcs:\n  - name: Odo\n    budget_tier: deep\n    tools: [echo]\n    lines:\n      \
               - { tool: { name: echo, arguments: { text: hollow } }, say: \"{result}\" }\n";
    let server = format!(
        "mcp_servers: {{ home: {{ command: \"python3 '{}' plain\" }} }}\n",
        file("server.py")
    );
    let place = Place::with_config(&format!("{npc}{server}")).env("RUST_LOG", "off");
    let said = taken(&place);
    assert!(said.contains("warning: glyphoxa.yaml:4:13: unknown tool 'echo' so far"), "{said}");
    assert_eq!(answered(&place, "Odo, speak"), "Hollow");
    refused(&Place::with_config(npc), &["glyphoxa.yaml:4:13: unknown tool 'echo'"]);
    let near = npc.replace("[echo]", "[rol]");
    refused(&Place::with_config(&format!("{near}{server}")), &["unknown tool 'rol'", "'roll'"]);
}
