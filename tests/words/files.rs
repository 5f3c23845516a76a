//! Files that cannot be read or imported, and what `doctor` finds on a bare machine.

use super::{check, command, compare};

/// Findings that no machine changes: no voice, no program.
const FINDINGS: &[&str] = &[
    "✓ configuration",
    "✗ configuration",
    "✓ hearing",
    "✗ hearing",
    "✓ end of turn",
    "✗ end of turn",
    "– end of turn",
    "✓ thinking",
    "✗ thinking",
    "✓ speech",
    "✗ speech",
    "– speech",
    "✓ music",
    "✓ model files",
    "✗ model files",
    "– model files",
    "✓ disk",
    "✗ disk",
    "✓ memory",
    "✗ memory",
    "– memory",
    "✗ tool server",
    "✓ discord",
    "✗ discord",
    "– discord",
];
/// Services at a closed port.
const GONE: &str = "providers:
  stt: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: w }
  llm: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: m }
  tts: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: s }
  speech_to_speech: { model: r, base_url: 'http://127.0.0.1:1/v1' }
turn: { detector: both }
npcs: [{ name: Pip, engine: s2s, s2s: { voice: cedar }, voice: { voice_id: alloy }, lines: [{ say: Hi. }] }]
";
/// The house's services, at a closed port.
const OF_THE_HOUSE: &str = "providers:
  stt: { name: wyoming, base_url: 'tcp://127.0.0.1:1' }
  tts: { name: wyoming, base_url: 'tcp://127.0.0.1:1' }
mcp: { servers: [{ name: home, url: 'http://127.0.0.1:1/mcp' }, { name: gone, command: /no/such/program }] }
npcs: [{ name: Pip, lines: [{ say: Hi. }] }]
";

/// A listener that other machines reach.
const LISTENING: &str = "web: { listen: '0.0.0.0:4100', behind_tls: true, mcp: { listen: true } }
npcs: [{ name: Pip, lines: [{ say: Hi. }] }]
";

#[test]
fn wrong_files_and_bare_machines() {
    let import = |name, file: &'static str| command(name, &["import", file]);
    compare(
        "files",
        [
            import("import what is missing", "missing.yaml"),
            import("import a folder", "folder").with("folder/x", ""),
            import("import settings", "glyphoxa.yaml"),
            import("import wrong entities", "c.yaml")
                .with("c.yaml", "entities: [{ name: Inn, type: place }]\n"),
            import("import a campaign", "c.yaml").with(
                "c.yaml",
                "campaign: { name: Saltmarsh }\nplayers: [{ name: A, character: B }]\n\
                 entities: [{ name: Inn, type: location }]\nscenes: [{ name: inn }]\n",
            ),
            command("import without playing", &["import", "c.yaml", "--dry-run"])
                .with("c.yaml", "entities: [{ name: Inn, type: location }]\n"),
            check("listener is on", LISTENING),
            check("names of two npcs", "language: en\n")
                .with("npcs/a.yaml", "name: Bart\nlines: [{ say: Hi. }]\n")
                .with("npcs/b.yaml", "name: BART\nlines: [{ say: Hi. }]\n"),
            check("npc file that is a list", "language: en\n").with("npcs/a.yaml", "- Bart\n"),
            check("data folder that is a file", "data_dir: notes.txt\nlanguage: en\n")
                .with("npcs/a.yaml", "name: Bart\nlines: [{ say: Hi. }]\n")
                .with("notes.txt", "x"),
            command("doctor of a bare folder", &["doctor"]).bare().only(FINDINGS),
            command("doctor of wrong settings", &["doctor"])
                .with("glyphoxa.yaml", "npc: 1\n")
                .only(FINDINGS),
            command("doctor of services that are gone", &["doctor"])
                .with("glyphoxa.yaml", GONE)
                .only(FINDINGS),
            command("doctor of a house that is gone", &["doctor"])
                .with("glyphoxa.yaml", OF_THE_HOUSE)
                .only(FINDINGS),
            command("doctor of a foreign memory", &["doctor"])
                .with("data/memory.db", "a text file, and of some length besides. ".repeat(20))
                .only(FINDINGS),
            command("memory that is foreign", &["session", "list"])
                .with("data/memory.db", "a text file, and of some length besides. ".repeat(20)),
        ],
    );
}
