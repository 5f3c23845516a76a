//! Files that list NPCs.

use serde_json::{Value, json};

use super::{refused, taken};
use crate::support::program::{Live, Place};

const LIST: &str = "npcs:\n  - name: Odo\n    lines: [{ say: Odo is here. }]\n  - name: Mira\n    \
                    lines: [{ say: Mira is here. }]\n";

/// A table of Tom, in a file, and `list`, in another.
fn table(list: &str) -> Place {
    let place = Place::with_config("data_dir: data\n");
    place.write("npcs/tom.yaml", "name: Tom\nlines: [{ say: Tom is here. }]\n");
    place.write("npcs/village.yaml", list);
    place
}

/// Reply to a typed line.
fn reply(live: &mut Live, line: &str) -> Value {
    live.types(line);
    let line: Value = serde_json::from_str(&live.says("\"outcome\"")).expect("a line of JSON");
    line["reply"].clone()
}

#[test]
fn npc_list_beside_single_file_is_read() {
    let place = table(LIST);
    assert!(taken(&place).contains("3 NPCs (Tom, Odo, Mira)"), "{}", taken(&place));
    let said = place.run(&["ask", "--json", "--text", "Mira, hello"]).line();
    assert_eq!(said["reply"], "Mira is here.");
}

#[test]
fn npc_list_changed_while_running_is_reread() {
    let place = table(LIST);
    let mut live = place.start(&["ask", "--json"]);
    assert_eq!(reply(&mut live, "Odo, hello"), json!("Odo is here."));
    place.write("npcs/village.yaml", LIST.replace("Mira is here", "Mira was there"));
    live.says("configuration reloaded");
    assert_eq!(reply(&mut live, "Mira, hello"), json!("Mira was there."));
    assert_eq!(reply(&mut live, "Odo, hello"), json!("Odo is here."));
}

#[test]
fn npc_list_misspelt_key_is_placed() {
    let misspelt = table(&LIST.replace("    lines", "    linse"));
    refused(&misspelt, &["village.yaml:3:5: unknown key 'linse'", "did you mean 'lines'?"]);
    let top = table(&LIST.replace("npcs:", "npc:"));
    refused(&top, &["village.yaml:1:1: unknown key 'npc'", "did you mean 'npcs'?"]);
}

#[test]
fn npc_list_two_of_one_name_are_placed() {
    refused(
        &table(&LIST.replace("Mira\n", "Tom\n")),
        &["village.yaml:4:11: the name 'Tom' is taken"],
    );
    refused(
        &table(&LIST.replace("Mira\n", "Odo\n")),
        &["village.yaml:4:11: the name 'Odo' is taken"],
    );
}

#[test]
fn npc_list_as_mapping_is_refused() {
    refused(&table("npcs:\n  name: Odo\n"), &["village.yaml:2:3: 'npcs' is a mapping", "a list"]);
    refused(&table("- name: Odo\n"), &["village.yaml:1:1: the file is a list"]);
}
