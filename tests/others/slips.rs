//! Servers of other programs with what they have and we do not: each is taken, or refused with the way
//! out, and no secret of them is shown.

use serde_json::json;

use super::{
    refused,
    servers::{called, file, has_python},
    taken,
};
use crate::support::program::Place;

/// A table with `servers` under `mcpServers`, whose NPC may use `tools`.
fn table(tools: &str, servers: &str) -> Place {
    Place::with_config(&format!(
        "npcs: [{{ name: Tom, tools: [{tools}], lines: [{{ say: Hm. }}] }}]\nmcpServers:\n{servers}"
    ))
}

#[test]
fn client_server_names_are_cleaned_or_refused() {
    let place = table(
        "21st-dev-magic.*, Sequential-Thinking.think, github-com-x-y.*",
        "  \"@21st-dev/magic\": { command: python3 }\n  Sequential Thinking: { command: python3 }\n  \
         github.com/x/y: { command: python3, env: { K: \"${NOT_SET}\" }, disabled: true }\n",
    );
    let said = taken(&place);
    assert!(said.contains("'@21st-dev/magic' is renamed to '21st-dev-magic'"), "{said}");
    refused(&table("", "  \"☃\": { command: python3 }\n"), &["invalid 'name' of a server: '☃'"]);
    let long = "a".repeat(65);
    refused(&table("", &format!("  {long}: {{ command: python3 }}\n")), &["- and _, at most 64"]);
}

#[test]
fn disabled_client_server_keeps_its_whitelists() {
    let off = "command: python3, disabled: true";
    taken(&table("mcp-memory.add", &format!("  memory: {{ {off} }}\n")));
    taken(&table("house.echo", &format!("  home: {{ {off}, toolPrefix: house }}\n")));
    refused(&table("memory.typo", &format!("  memory: {{ {off} }}\n")), &["unknown tool"]);
}

#[test]
fn pasted_slips_name_the_fix() {
    for (servers, expected) in [
        ("  mcpServers: { a: { command: x } }\n", "paste only the content of its braces"),
        ("  servers: { a: { command: x } }\n", "paste only the content of its braces"),
        ("  \"// b\": { command: x }\n", "begin comments with #"),
        ("  a: { command: \"API_KEY=k-123 npx -y x\" }\n", "write it as env: { API_KEY: … }"),
        ("  a: { url: \"https://u:hush-1@a.test/mcp\" }\n", "write auth: { token: … }"),
        ("  a: { command: x, env: { K: \"${input:tok:-fall}\" }, disabeld: 1 }\n", ""),
        ("  a: { url: \"https://a.test\", headers: { X: \"${global_data.}\" } }\n", "'data.'"),
    ] {
        let place = table("", servers);
        match expected {
            "" => assert!(taken(&place).contains("did you mean 'disabled'?")),
            expected => refused(&place, &[expected]),
        }
        let ran = place.run(&["check"]);
        assert!(!ran.stderr.contains("k-123") && !ran.stderr.contains("hush-1"), "{ran:#?}");
    }
    let said = taken(&table(
        "",
        "  a: { type: Local, command: python3, tools: [\"*\"], enabled: false }\n",
    ));
    assert!(said.contains("'tools' of 'mcpServers.a' is a list"), "{said}");
    assert!(said.contains("write disabled: true"), "{said}");
    let said = taken(&table("", "  a: { command: \"nope --token=pl-4711\" }\n"));
    assert!(said.contains("program 'nope' not found") && !said.contains("pl-4711"), "{said}");
}

#[test]
fn bare_name_of_two_servers_names_both() {
    if !has_python() {
        return;
    }
    let server = format!("{{ command: python3, args: [\"{}\", plain] }}", file("server.py"));
    let place = table("", &format!("  a: {server}\n  b: {server}\n"));
    let ran = place.run(&["tools", "call", "echo", r#"{"text": "hi"}"#]).ends_with(1);
    assert!(ran.stderr.contains("'echo' (a.echo, b.echo)"), "{ran:#?}");
    assert_eq!(called(&place, "b.echo", &json!({ "text": "hi" })), "hi");
}

/// A program that is not there is quoted, and what a variable has filled in is not.
#[test]
fn variable_in_a_command_is_not_shown() {
    let place = table("", "  a: { command: \"${env:API_TOKEN}/bin/x\" }\n");
    let place = place.env("API_TOKEN", "tok-55aa77bb99");
    for form in [&["mcp", "servers"][..], &["mcp", "servers", "--json"]] {
        let ran = place.run(form);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(all.contains("${API_TOKEN}") && !all.contains("tok-55aa77bb99"), "{all}");
    }
}
