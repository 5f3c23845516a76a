//! Values that one server gives and another names.

use serde_json::json;

use super::{
    refused,
    servers::{called, file, has_python},
    taken,
};
use crate::support::program::{Live, Place};

/// A server that gives `customer_id`, and one that names it, in the shape of a list.
fn customers(place: &Place, template: &str) -> String {
    place.write("customer", "7");
    let (program, given) = (file("customers.py"), place.path("customer").display().to_string());
    format!(
        "npcs:\n  - name: Odo\n    budget_tier: deep\n    tools: [\"crm.*\"]\n    lines:\n      \
         - {{ tool: {{ name: crm.read_addresses }}, say: \"{{result}}\" }}\nmcp_servers:\n  \
         - {{ name: session, command: \"python3 '{program}' gives '{given}'\", resources: true }}\n  \
         - name: crm\n    command: \"python3 '{program}' takes\"\n    resources: true\n    \
         resourceVars: {{ customer_id: \"{template}\" }}\n"
    )
}

/// Reply of Odo.
fn reply(live: &mut Live) -> String {
    live.types("Odo, who is it?");
    let line: serde_json::Value =
        serde_json::from_str(&live.says("\"outcome\"")).expect("a line of JSON");
    line["reply"].as_str().expect("a reply").to_owned()
}

#[test]
fn resource_variable_that_changes_is_read_again() {
    if !has_python() {
        return;
    }
    let place = Place::new().env("RUST_LOG", "glyphoxa=info");
    place.write("glyphoxa.yaml", customers(&place, "${global_data.customer_id}"));
    assert!(!taken(&place).contains("warning"), "{}", taken(&place));
    let mut live = place.start(&["ask", "--json"]);
    live.says("server ready server=\"crm\"");
    // The address keeps the variable that has no value; what is spoken has no braces.
    assert_eq!(reply(&mut live), "customer://7/other");
    place.write("customer", "8");
    live.says("resources were read again");
    assert_eq!(reply(&mut live), "customer://7/other customer://8/other");
}

#[test]
fn global_data_fills_resource_variables() {
    if !has_python() {
        return;
    }
    let place = Place::new().env("RUST_LOG", "off");
    let servers = customers(&place, "${global_data.crm.id}");
    place.write("glyphoxa.yaml", format!("{servers}global_data: {{ crm: {{ id: 31 }} }}\n"));
    assert_eq!(called(&place, "read_addresses", &json!({})), "customer://31/{other}");
}

#[test]
fn resource_variable_without_value_is_awaited() {
    if !has_python() {
        return;
    }
    let place = Place::new().env("RUST_LOG", "off");
    place.write("glyphoxa.yaml", customers(&place, "${data.nobody}"));
    let lines = place.run(&["mcp", "servers", "--json", "--wait", "3"]).ends_with(1).lines();
    let crm = lines.iter().find(|line| line["name"] == "crm").expect("the server");
    assert_eq!(crm["state"], "waiting for data.nobody", "{crm:#}");
}

#[test]
fn resource_variables_name_session_and_campaign() {
    if !has_python() {
        return;
    }
    let place = Place::new().env("RUST_LOG", "off");
    let servers = customers(&place, "a${campaign.system}z");
    place.write("glyphoxa.yaml", servers);
    assert_eq!(called(&place, "read_addresses", &json!({})), "customer://az/{other}");
}

#[test]
fn variable_only_own_server_gives_is_refused() {
    let npc = "npcs: [{ name: Odo, lines: [{ say: Hm. }] }]\n";
    let alone = |servers: &str, at: &str| {
        let place = Place::with_config(&format!("{npc}{servers}"));
        refused(&place, &[at, "names 'data.x'"]);
    };
    alone(
        "mcp_servers:\n  - command: a\n    resources: true\n    resource_vars: { y: \"${data.x}\" }\n",
        "glyphoxa.yaml:5:25:",
    );
    alone(
        "mcpServers:\n  a: { url: \"http://127.0.0.1:1/\", headers: { Y: \"${global_data.x}\" } }\n",
        "glyphoxa.yaml:3:50:",
    );
    let misspelt = "mcp_servers: { a: { command: b, resource_vars: { y: \"${session.ix}\" } } }\n";
    refused(
        &Place::with_config(&format!("{npc}{misspelt}")),
        &["glyphoxa.yaml:2:53: 'resource_vars.y' names 'session.ix'", "'session.id'"],
    );
}
