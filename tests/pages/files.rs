//! Files, keys and lines on the pages: the program reads them as they stand.

use glyphoxa::measure::{TOOL_IDENTITIES, load_config};
use serde_json::{Value, json};

use super::{Page, pages};
use crate::support::program::{Place, repository, shipped};

/// Code in sentences that looks like a key and is none: a name, a value, a command, a word of Rust.
const NO_KEYS: &str = "flite espeak wild_magic treasure_hoard random_encounter check doctor glyphoxa \
    weather.get_weather server.tool cwd node_modules _meta offer max call confirm made_by \
    fetch_page web.key settings.yml search.formats server.limiter html json false wiki.lan \
    calls.jsonl extensions.glyphoxa refuse complete \
    voice.speak voice_speak system.health session.status workflow.run workflow.list schedule.create \
    schedule.list schedule.cancel npc.list npc.ask memory.search entity.get session.recap \
    session.transcript dice.roll tools.call \
    glyphoxa.stage glyphoxa.first_audio_seconds hear think play chat trace traceparent \
    invoke_agent execute_tool generate_live_content \
    speech_to_text text_to_speech";
/// Variables that the pages name.
const VARIABLES: [(&str, &str); 8] = [
    ("OPENAI_API_KEY", "sk-x"),
    ("ANTHROPIC_API_KEY", "sk-x"),
    ("DEEPGRAM_API_KEY", "dg-x"),
    ("ELEVENLABS_API_KEY", "xi-x"),
    ("CARTESIA_API_KEY", "ca-x"),
    ("GEMINI_API_KEY", "gm-x"),
    ("BRAVE_API_KEY", "bs-x"),
    ("DATABASE_URL", "postgres://me:secret@127.0.0.1/glyphoxa"),
];
/// Endings of files' names.
const FILES: [&str; 3] = [".yaml", ".json", ".wav"];

/// Blocks of a language on all pages, with the page's name.
fn blocks(language: &str) -> Vec<(String, String)> {
    let of_page = |page: Page| {
        let blocks = page.blocks().into_iter().filter(|block| block.language == language);
        blocks.map(|block| (page.name.clone(), block.text)).collect::<Vec<_>>()
    };
    pages().into_iter().flat_map(of_page).collect()
}

/// Replaces the shortened hashes of the pages (`58afce03…`) by full ones.
fn with_whole_hashes(text: &str) -> String {
    let mut parts = text.split('…');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let start: String =
            whole.chars().rev().take(8).collect::<Vec<_>>().into_iter().rev().collect();
        whole += &start.repeat(7);
        whole += part;
    }
    whole
}

/// A kind of file in YAML.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Config,
    Npc,
    Workflow,
    Manifest,
    Campaign,
    Rules,
    Music,
}

impl Kind {
    /// The kind that a block on a page is.
    fn of(block: &str) -> Self {
        let has = |start: &str| format!("\n{block}").contains(&format!("\n{start}"));
        match () {
            () if has("apiVersion:") => Self::Manifest,
            () if has("tracks:") => Self::Music,
            () if has("steps:") => Self::Workflow,
            () if has("name: ") => Self::Npc,
            () if has("campaign:\n") || has("entities:") => Self::Campaign,
            () if has("rules:\n  - ") => Self::Rules,
            () => Self::Config,
        }
    }
}

/// A configuration whose one NPC has these `tools`.
fn with_pip(tools: &[&str]) -> String {
    json!({"npcs": [{"name": "Pip", "tools": tools, "lines": [{"say": "Hm."}]}]}).to_string()
}

/// The identity of the tool in a manifest.
fn identity(manifest: &str) -> String {
    let tool: Value = serde_yaml::from_str(manifest).expect("YAML");
    let name = |key: &str| tool["metadata"][key].as_str().expect("a name");
    format!("{}.{}", name("namespace"), name("name"))
}

/// Writes a block that is no configuration into `place`, as the file that it is.
fn put(place: &Place, block: &str, kind: Kind) {
    match kind {
        Kind::Config => {}
        Kind::Npc => place.write("npcs/one.yaml", block),
        Kind::Workflow => place.write("workflows/one.yaml", block),
        Kind::Manifest => place.write("tools/one.yaml", block),
        Kind::Campaign => place.write("campaigns/ravenford.yaml", block),
        Kind::Rules => place.write("house_rules.yaml", block),
        Kind::Music => {
            place.write("music/inn/music.yaml", block);
            let described: Value = serde_yaml::from_str(block).expect("YAML");
            for track in described["tracks"].as_array().expect("a list") {
                let file = track["file"].as_str().expect("a name");
                let sound = std::fs::read(repository("assets/music/fire.opus")).expect("a sound");
                place.write(&format!("music/inn/{file}"), sound);
            }
        }
    }
}

/// Writes what the configurations on the pages name.
fn put_what_is_named(place: &Place) {
    place.write("sounds/readme.txt", "Music of the house.");
    place.write("house_rules.yaml", shipped("assets/rules/5e/combat.yaml"));
    let spell = json!([{"index": "mend", "name": "Mend", "desc": ["It is whole again."], "level": 1,
        "school": {"index": "transmutation", "name": "Transmutation"}}]);
    place.write("5e-SRD-Spells.json", spell.to_string());
}

/// A folder where a block of YAML lies as the file that it is.
fn place_of(block: &str) -> Place {
    let kind = Kind::of(block);
    let place = match kind {
        Kind::Config => {
            let place = Place::with_config(&with_whole_hashes(block));
            VARIABLES.into_iter().fold(place, |place, (name, value)| place.env(name, value))
        }
        Kind::Manifest => Place::with_config(&with_pip(&[&identity(block)])),
        Kind::Music => Place::with_config(&with_pip(&[])),
        Kind::Rules => Place::with_config("rules: { files: [house_rules.yaml] }\n"),
        Kind::Npc | Kind::Workflow | Kind::Campaign => {
            Place::with_config(&shipped("glyphoxa.yaml"))
        }
    };
    match kind {
        Kind::Npc => place.write("campaigns/ravenford.yaml", shipped("campaigns/ravenford.yaml")),
        Kind::Workflow => {
            place.write("campaigns/ravenford.yaml", shipped("campaigns/ravenford.yaml"));
            place.write("tools/tavern_rumour.yaml", shipped("tools/tavern_rumour.yaml"));
            seat_the_shipped_cast(&place);
        }
        Kind::Campaign => seat_the_shipped_cast(&place),
        _ => {}
    }
    if block.starts_with("npcs:\n") {
        seat_the_shipped_cast(&place);
    } else if matches!(kind, Kind::Config | Kind::Rules) && !block.contains("\nnpcs:\n") {
        place.write("npcs/mira.yaml", shipped("npcs/mira.yaml"));
    }
    put_what_is_named(&place);
    put(&place, block, kind);
    place
}

fn seat_the_shipped_cast(place: &Place) {
    for name in ["bartok", "greymantle", "hale", "mira", "vesper"] {
        let name = format!("npcs/{name}.yaml");
        place.write(&name, shipped(&name));
    }
}

/// The shipped configuration with each key of `block` in place of its own.
fn merged(block: &str) -> String {
    let key = |line: &str| {
        let starts = line.starts_with(|c: char| c.is_ascii_alphabetic());
        line.split_once(':').filter(|_| starts).map(|(key, _)| key.to_owned())
    };
    let keys: Vec<String> = block.lines().filter_map(key).collect();
    let (mut merged, mut is_replaced) = (String::new(), false);
    for line in shipped("glyphoxa.yaml").lines() {
        if let Some(key) = key(line) {
            is_replaced = keys.contains(&key);
        }
        if !is_replaced {
            merged += &format!("{line}\n");
        }
    }
    merged + block
}

/// Every block of YAML works in a copy of the shipped folder.
#[test]
fn snippets_of_the_pages_fit_the_shipped_folder() {
    let files = blocks("yaml");
    assert!(files.len() >= 30, "{}", files.len());
    let variable = |name: &str| {
        let found = VARIABLES.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.to_owned())
    };
    for (page, text) in files {
        let kind = Kind::of(&text);
        let config = match kind {
            Kind::Config => with_whole_hashes(&text),
            Kind::Manifest => format!(
                "npcs: [{{ name: Pip, tools: [{}], lines: [{{ say: Hm. }}] }}]\n",
                identity(&text)
            ),
            Kind::Rules => "rules: { files: [house_rules.yaml] }\n".to_owned(),
            _ => String::new(),
        };
        let place = Place::with_config(&merged(&config));
        seat_the_shipped_cast(&place);
        for name in ["campaigns/ravenford.yaml", "tools/tavern_rumour.yaml"] {
            place.write(name, shipped(name));
        }
        put_what_is_named(&place);
        put(&place, &text, kind);
        let read = load_config(Some(&place.path("glyphoxa.yaml")), &variable, TOOL_IDENTITIES);
        if let Err(report) = read {
            panic!("{page}: {text}\n{report}");
        }
    }
}

#[test]
fn files_of_the_pages_are_understood() {
    let files = blocks("yaml");
    assert!(files.len() >= 11, "{}", files.len());
    for (page, text) in files {
        let ran = place_of(&text).run(&["check"]);
        // Programs and folders of servers depend on the machine.
        let is_fine = ran.status == 0 && (ran.stderr.is_empty() || text.starts_with("mcp:"));
        assert!(is_fine, "{page}: {text}\n{ran:#?}");
    }
}

#[test]
fn lines_of_the_pages_are_answered() {
    let typed = blocks("text");
    for (page, lines) in &typed {
        let answers =
            Place::new().brief().run_typing(&["ask", "--json"], lines).ends_with(0).lines();
        let spoken = answers.iter().filter(|line| line["outcome"] == "spoken").count();
        assert_eq!(spoken, lines.lines().count(), "{page}: {answers:#?}");
        if page == "README.md" {
            let (bartok, hale) = ("Bartok the Barkeep", "Captain Hale");
            let npcs: Vec<&Value> = answers.iter().map(|line| &line["npc"]).collect();
            assert_eq!(npcs, [bartok, bartok, hale, hale]);
        }
    }
    assert!(typed.iter().any(|(page, _)| page == "README.md"));
}

#[test]
fn keys_of_the_pages_exist() {
    let schemas = ["config", "npc", "campaign", "tool", "rules", "music", "workflow"];
    let schemas = schemas.map(|kind| Place::new().run(&["schema", kind]).stdout);
    let is_key = |code: &String| {
        let plain = |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        code.split('.').all(|part| part.len() > 2 && plain(part))
            && !FILES.iter().any(|end| code.ends_with(end))
            && !code.starts_with("glyphoxa_")
            && !NO_KEYS.split_whitespace().any(|it| it == code)
            && !TOOL_IDENTITIES.contains(&code.as_str())
    };
    let known = |key: &str| schemas.iter().any(|schema| schema.contains(&format!("\"{key}\"")));
    let mut read = Vec::new();
    for page in pages() {
        for key in page.inline().into_iter().filter(is_key) {
            assert!(key.split('.').all(known), "{}: {key}", page.name);
            read.push(key);
        }
    }
    assert!(read.iter().any(|key| key == "budget.session_max"), "{read:?}");
}

/// Figures and alerts in sentences.
#[test]
fn figures_of_the_pages_exist() {
    let (figures, alerts) =
        (shipped("src/figures/names.rs"), shipped("deploy/prometheus/alerts.yml"));
    let mut named = 0;
    for page in pages() {
        for code in page.inline() {
            let is_known = match &*code {
                figure if figure.starts_with("glyphoxa_") => {
                    figures.contains(&format!("\"{figure}\""))
                }
                alert if alert.starts_with("Glyphoxa") && !alert.contains([' ', '.']) => {
                    alerts.contains(&format!("alert: {alert}\n"))
                }
                _ => continue,
            };
            assert!(is_known, "{}: {code}", page.name);
            named += 1;
        }
    }
    assert!(named >= 8, "{named}");
}

#[test]
fn dice_of_the_page_can_be_rolled() {
    let page = shipped("docs/dice.md");
    let table = page.split("| write | means |").nth(1).expect("the table of dice");
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let written: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert!(written.len() > 20, "{written:?}");
    for expression in written {
        Place::new().run(&["roll", expression, "--json"]).ends_with(0).line();
    }
}
