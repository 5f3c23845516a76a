//! The page on our own MCP server: its entries for clients and its table of tools are what the
//! program has.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::{Value, json};

use super::{Block, Page, pages};
use crate::support::{outside::Caller, program::Place};

const PAGE: &str = "docs/mcp-server.md";

fn page() -> Page {
    pages().into_iter().find(|page| page.name == PAGE).expect("the page")
}

/// Text with the secrets of tokens left out, as the page has them.
fn without_secrets(text: &str) -> String {
    let secret = Regex::new("glx_[A-Za-z0-9_-]{43}").expect("a pattern");
    secret.replace_all(text, "glx_...").into_owned()
}

/// Every block `json` is the entry that the command in the comment above it prints.
#[test]
fn entries_of_clients_are_what_is_printed() {
    let mark = Regex::new(r"<!-- glyphoxa (mcp entry --client [a-z-]+) -->\n```json\n").unwrap();
    let (mut shown, place) = (0, Place::new());
    for Page { name, text } in pages() {
        for found in mark.captures_iter(&text) {
            let arguments: Vec<&str> = found[1].split(' ').collect();
            let printed = without_secrets(&place.run(&arguments).ends_with(0).stdout);
            let after = &text[found.get(0).unwrap().end()..];
            let written = after.split("```").next().unwrap_or_default();
            let read = |json: &str| -> Value {
                serde_json::from_str(json).unwrap_or_else(|why| panic!("{}: {why}", &found[1]))
            };
            assert_eq!(read(written), read(&printed), "{name}: {}", &found[1]);
            shown += 1;
        }
    }
    let is_json = |block: &Block| block.language == "json";
    let blocks = pages().iter().flat_map(Page::blocks).filter(is_json).count();
    assert_eq!((shown, blocks), (3, 3), "each block has its command above it");
}

/// Tools of the page's table, and those of them that a player's token has.
fn tools_of_the_page() -> (BTreeSet<String>, BTreeSet<String>) {
    let text = page().text;
    let table = text.split("| tool | does | player's token |").nth(1).expect("the table");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let (mut all, mut of_players) = (BTreeSet::new(), BTreeSet::new());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let name = cells[0].trim_matches('`').to_owned();
        if cells[2] == "yes" {
            of_players.insert(name.clone());
        } else {
            assert_eq!(cells[2], "no", "{row}");
        }
        all.insert(name);
    }
    (all, of_players)
}

/// Names of the tools that are listed for a program.
fn listed(program: &Caller) -> BTreeSet<String> {
    let answer = program.asks("tools/list", &json!({}));
    let tools = answer["tools"].as_array().unwrap_or_else(|| panic!("no tools: {answer}"));
    tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

/// A game master's token lists all tools where listening is on, a player's those marked so.
#[test]
fn table_of_tools_is_what_programs_get() {
    let (all, of_players) = tools_of_the_page();
    let npcs = "npcs: [{ name: Pip, lines: [{ say: Hi. }] }]\n";
    let web = "web: { listen: '127.0.0.1:4100', mcp: { listen: true } }\n";
    let place = Place::with_config(&format!("{npcs}{web}"));
    let served = place.start(&["serve", "--listen", "127.0.0.1:0"]);
    let address = Regex::new(r"127\.0\.0\.1:(\d+)").unwrap();
    let said = served.says("127.0.0.1:");
    let port = address.captures(&said).expect("its address")[1].parse().expect("a port");
    assert_eq!(listed(&Caller::new(&place, port, &[])), all);
    assert_eq!(listed(&Caller::with_role("player", &place, port, &[])), of_players);
    assert_eq!(served.terminate(), 0);
}
