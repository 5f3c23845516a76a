//! A wrong `glyphoxa.yaml`.

use super::{Case, PIP, check, compare};

/// Files that are not YAML, or not a mapping.
const NOT_READ: &[(&str, &str)] = &[
    ("tab", "npcs:\n\t- name: x\n"),
    ("open bracket", "npcs: [{ name: Pip }\n"),
    ("zero byte", "npcs: \u{0}\n"),
    ("list", "- a\n- b\n"),
    ("word", "hello\n"),
    ("key twice", "language: en\nlanguage: de\n"),
    ("second document", "language: en\n---\nlanguage: de\n"),
    ("unknown tag", "npcs: !secret x\n"),
    ("merge key", "<<: { language: en }\n"),
    ("no npc", "# nothing\n"),
];

/// Wrong values beside a good NPC.
const WRONG: &[(&str, &str)] = &[
    ("unknown key", "budgets: {}\n"),
    ("far-off key", "banana: {}\n"),
    ("unknown word", "turn: { patience: slow }\n"),
    ("text for a number", "turn: { timeout_ms: soon }\n"),
    ("number out of range", "turn: { timeout_ms: -5 }\n"),
    ("text for a flag", "turn: { preemptive: 'yes' }\n"),
    ("number for a text", "language: 7\n"),
    ("language by name", "language: english\n"),
    ("list for a mapping", "turn: [patient]\n"),
    ("large budget", "budget: { session_max: 200 }\n"),
    ("unknown log level", "log: { level: loud }\n"),
    ("unset variable", "data_dir: '${NOWHERE}'\n"),
    ("variable without a name", "data_dir: '${1x}'\n"),
    ("open variable", "data_dir: '${X'\n"),
    ("missing campaign", "campaign: c.yaml\n"),
    ("missing folder of npcs", "npc_dir: casts\n"),
    ("missing folder of tables", "tools: { table_dir: t }\n"),
    ("missing second campaign", "campaigns: [{ file: missing.yaml, shared: true }]\n"),
    ("table without entries", "tools: { tables: { food: [] } }\n"),
    ("table of the program", "tools: { tables: { wild_magic: [x] } }\n"),
    ("unknown core tool", "tools: { selection: { core: [rol] } }\n"),
    ("threshold without an embedder", "tools: { selection: { threshold: 0.5 } }\n"),
    ("retired embedder", "tools: { selection: { embedder: { name: minilm } } }\n"),
    ("unknown tool choice", "tools: { policy: { tool_choice: banana } }\n"),
    ("word for a server's id", "discord: { guilds: [mine] }\n"),
    ("id of letters", "discord: { guild_id: inn }\n"),
    ("unknown consent", "discord: { consent: maybe }\n"),
    ("missing file of rules", "rules: { files: [no.yaml] }\n"),
    ("unknown edition", "rules: { edition: 5e-2015 }\n"),
    ("address without a port", "web: { listen: localhost }\n"),
    ("listener for other machines", "web: { listen: '0.0.0.0:4100' }\n"),
    ("host with a scheme", "web: { listen: '127.0.0.1:4100', hosts: ['https://x'] }\n"),
    ("collector without a scheme", "telemetry: { otlp: 'localhost:4318' }\n"),
    ("memory elsewhere", "memory: { url: 'mysql://x' }\n"),
    (
        "assistant with an engine",
        "npcs: [{ name: Clerk, kind: assistant, engine: s2s, s2s: {} }]\n",
    ),
];

#[test]
fn wrong_settings() {
    let unread = NOT_READ.iter().map(|(name, text)| check(name, text));
    let wrong = WRONG.iter().map(|(name, text)| beside_pip(name, text));
    let unused = check("campaign that nobody plays", "campaigns: [{ file: b.yaml }]\n")
        .with("npcs/pip.yaml", "name: Pip\nlines: [{ say: Hello. }]\n")
        .with("b.yaml", "campaign: { name: B }\n");
    compare("settings", unread.chain(wrong).chain([unused, super::command("fine", &["check"])]));
}

/// `check` of these settings, with Pip where they name no NPC.
fn beside_pip(name: &'static str, text: &str) -> Case {
    match text.contains("npcs:") || text.contains("npc_dir:") {
        true => check(name, text).with("npcs/pip.yaml", "name: Pip\nlines: [{ say: Hello. }]\n"),
        false => check(name, &[PIP, text].concat()),
    }
}
