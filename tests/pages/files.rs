//! Files, keys and lines on the pages: the program reads them as they stand.

use glyphoxa::measure::TOOL_IDENTITIES;
use serde_json::{Value, json};

use super::{Page, pages};
use crate::support::program::{Place, repository, shipped};

/// Code in sentences that looks like a key and is none: a name, a value, a command, a word of Rust.
const NO_KEYS: &str = "flite espeak wild_magic treasure_hoard random_encounter check doctor glyphoxa \
    weather.get_weather server.tool cwd node_modules _meta offer max call confirm made_by \
    fetch_page settings.yml search.formats server.limiter html json false wiki.lan";
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

/// A folder where a block of YAML lies as the file that it is.
fn place_of(block: &str) -> Place {
    let name = |of: &str, key: &str| {
        let tool: Value = serde_yaml::from_str(of).expect("YAML");
        tool["metadata"][key].as_str().expect("a name").to_owned()
    };
    if block.starts_with("name: ") {
        let place = Place::new();
        place.write("glyphoxa.yaml", shipped("glyphoxa.yaml"));
        place.write("campaigns/ravenford.yaml", shipped("campaigns/ravenford.yaml"));
        place.write("npcs/one.yaml", block);
        return place;
    }
    if block.starts_with("apiVersion:") {
        let tool = format!("{}.{}", name(block, "namespace"), name(block, "name"));
        let npcs = json!({"npcs": [{"name": "Pip", "tools": [tool], "lines": [{"say": "Hm."}]}]});
        let place = Place::with_config(&npcs.to_string());
        place.write("tools/one.yaml", block);
        return place;
    }
    if block.starts_with("tracks:") {
        let npcs = json!({"npcs": [{"name": "Pip", "lines": [{"say": "Hm."}]}]});
        let place = Place::with_config(&npcs.to_string());
        place.write("music/inn/music.yaml", block);
        let described: Value = serde_yaml::from_str(block).expect("YAML");
        for track in described["tracks"].as_array().expect("a list") {
            let file = track["file"].as_str().expect("a name");
            let sound = std::fs::read(repository("assets/music/fire.opus")).expect("a sound");
            place.write(&format!("music/inn/{file}"), sound);
        }
        return place;
    }
    let place = Place::with_config(&with_whole_hashes(block))
        .env("OPENAI_API_KEY", "sk-x")
        .env("ANTHROPIC_API_KEY", "sk-x")
        .env("DEEPGRAM_API_KEY", "dg-x")
        .env("GEMINI_API_KEY", "gm-x")
        .env("BRAVE_API_KEY", "bs-x")
        .env("DATABASE_URL", "postgres://me:secret@127.0.0.1/glyphoxa");
    if block.starts_with("npcs:\n") {
        seat_the_shipped_cast(&place);
    } else if !block.contains("\nnpcs:\n") {
        place.write("npcs/mira.yaml", shipped("npcs/mira.yaml"));
    }
    place.write("sounds/readme.txt", "Music of the house.");
    place.write("house_rules.yaml", shipped("assets/rules/5e/combat.yaml"));
    let spell = json!([{"index": "mend", "name": "Mend", "desc": ["It is whole again."], "level": 1,
        "school": {"index": "transmutation", "name": "Transmutation"}}]);
    place.write("5e-SRD-Spells.json", spell.to_string());
    place
}

fn seat_the_shipped_cast(place: &Place) {
    for name in ["bartok", "greymantle", "hale", "mira", "vesper"] {
        let name = format!("npcs/{name}.yaml");
        place.write(&name, shipped(&name));
    }
}

/// Entries under `npcs:` on the pages work with the shipped folder.
#[test]
fn npcs_of_the_pages_fit_the_shipped_folder() {
    let files = blocks("yaml");
    let of_npcs = files.iter().filter(|(_, text)| format!("\n{text}").contains("\nnpcs:\n"));
    for (page, text) in of_npcs {
        let place = place_of(text);
        seat_the_shipped_cast(&place);
        let ran = place.run(&["check"]);
        assert_eq!(ran.status, 0, "{page}: {text}\n{ran:#?}");
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
    let schemas = ["config", "npc", "campaign", "tool", "rules", "music"];
    let schemas = schemas.map(|kind| Place::new().run(&["schema", kind]).stdout);
    let is_key = |code: &String| {
        let plain = |part: &str| part.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        code.split('.').all(|part| part.len() > 2 && plain(part))
            && !FILES.iter().any(|end| code.ends_with(end))
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
