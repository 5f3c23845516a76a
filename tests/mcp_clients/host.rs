//! Glyphoxa's own host, with a second Glyphoxa as its server.

use super::{ROLL, Served, TOOLS, WRONG, has_roll};
use crate::support::program::Place;

/// A folder whose NPC may use all tools of the server at `url`.
fn beside(url: &str, token: &str) -> Place {
    let config = format!(
        "npcs:\n  - name: Wanda\n    budget_tier: deep\n    tools: [\"table.*\"]\n    lines:\n      \
         - {{ when: [there], tool: {{ name: table.npc.list }}, say: I see them. }}\n      \
         - say: I see nothing.\n\
         mcp:\n  servers:\n    - {{ name: table, url: \"{url}\", required: true, \
         auth: {{ token: \"${{TABLE_TOKEN}}\" }} }}\n"
    );
    Place::with_config(&config).brief().env("TABLE_TOKEN", token)
}

#[test]
fn own_host_calls_tools_of_a_second_glyphoxa() {
    let served = Served::start();
    let token = served.token("dm");
    let place = beside(&served.url(), &token);
    let listed = place.run(&["tools", "list", "--json"]).ends_with(0).lines();
    for tool in TOOLS {
        let identity = format!("table.{tool}");
        let its = listed.iter().find(|it| it["identity"] == identity.as_str());
        let name = its.and_then(|it| it["name"].as_str()).unwrap_or_default();
        // Models take no dots.
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        assert!(!name.is_empty() && name.chars().all(fits), "{identity}: {listed:#?}");
    }
    let call = ["tools", "call", "table.dice.roll", ROLL, "--json"];
    let rolled = place.run(&call).ends_with(0).line();
    assert!(has_roll(&rolled["result"]), "{rolled:#}");
    let ask = ["ask", "--json", "--tier", "deep", "--text", "Wanda, who is there"];
    let line = place.run(&ask).ends_with(0).line();
    let seen = line["tools"][0]["result"].to_string();
    assert!(line["reply"] == "I see them." && seen.contains("Bartok"), "{line:#}");
}

#[test]
fn own_host_says_why_a_token_is_refused() {
    let served = Served::start();
    let place = beside(&served.url(), WRONG);
    let refused = place.run(&["mcp", "servers", "--json"]).ends_with(1).line();
    let reason = refused["reason"].as_str().unwrap_or_default();
    assert!(!reason.is_empty() && !reason.contains(WRONG), "{refused:#}");
}
