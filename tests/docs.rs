//! The page for tool authors: what it shows is what runs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::support::{
    program::{Place, repository, shipped},
    skipped::skipped,
};

/// Every example stands in the page word for word.
#[test]
fn page_shows_the_examples_as_they_are() {
    let page = shipped("docs/tools.md");
    let mut shown = 0;
    for example in fs::read_dir(repository("docs/examples")).unwrap() {
        let path = example.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let mark = format!("<!-- docs/examples/{name} -->\n```");
        let (_, after) = page.split_once(&mark).unwrap_or_else(|| panic!("{name} is not shown"));
        let (_, body) = after.split_once('\n').unwrap();
        assert!(body.starts_with(&format!("{text}```")), "{name} is shown differently");
        shown += 1;
    }
    assert_eq!(shown, 3);
}

/// The built-in is registered as the page says.
#[test]
fn page_names_the_places_of_a_built_in() {
    let builtins = shipped("src/tools/builtin/mod.rs");
    for place in ["pub const IDENTITIES", "pub fn offer(", "(\"dice-roller\", dice::tools("] {
        assert!(builtins.contains(place), "'{place}' has moved: docs/tools.md must follow");
    }
}

#[test]
fn server_in_python_serves_an_npc() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skipped("docs/examples/weather.py", "there is no python3");
    }
    let place = Place::new();
    for name in ["weather.py", "glyphoxa.yaml"] {
        place.write(name, shipped(&format!("docs/examples/{name}")));
    }
    place.run(&["mcp", "probe", "--", "python3", "weather.py"]).ends_with(0);
    let listed = place.run(&["tools", "list", "--json"]).ends_with(0).lines();
    let tool = listed.iter().find(|it| it["identity"] == "weather.get_weather").unwrap();
    assert_eq!(
        (&tool["tier"], &tool["read_only"], &tool["cacheable_seconds"]),
        (&json!("fast"), &json!(true), &json!(60.0)),
        "{tool:#}"
    );
    let call = ["tools", "call", "weather.get_weather", r#"{"place": "Ravenford"}"#];
    let called = place.run(&call).ends_with(0);
    assert_eq!(called.stdout, "Ravenford has fog today.\n");
    let ask = ["ask", "--json", "--text", "Mira, how is the weather?"];
    let line = place.run(&ask).ends_with(0).line();
    assert_eq!(line["tools"][0]["tool"], "weather.get_weather", "{line:#}");
    assert_eq!(line["reply"], "Ravenford has fog today.", "{line:#}");
}

/// The files and folders that the map names are there: in `src`, at the top, or beside the first
/// that its line names.
#[test]
fn map_names_what_is_there() {
    let map = shipped("ARCHITECTURE.md");
    let is_path = |name: &&str| {
        name.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
            && (name.ends_with(".rs") || name.ends_with('/'))
    };
    let (mut read, mut missing) = (0, Vec::new());
    for line in map.lines() {
        let mut folder = None;
        for name in line.split('`').skip(1).step_by(2).filter(is_path) {
            read += 1;
            let places = [Some(repository(&format!("src/{name}"))), Some(repository(name))];
            let beside = folder.as_ref().map(|folder: &PathBuf| folder.join(name));
            let found = places.into_iter().chain([beside]).flatten().find(|path| path.exists());
            match found {
                Some(path) if folder.is_none() => {
                    let parent = path.parent().map(Path::to_path_buf);
                    folder = if path.is_dir() { Some(path) } else { parent };
                }
                Some(_) => {}
                None => missing.push(name),
            }
        }
    }
    assert!(read > 50, "only {read} files were read from the map");
    assert!(missing.is_empty(), "not there: {missing:?}");
}

/// A paragraph is read at one glance.
#[test]
fn paragraphs_of_the_map_are_short() {
    let map = shipped("ARCHITECTURE.md");
    let text = map.split("```").step_by(2);
    let is_prose = |line: &str| !line.starts_with(['|', '#', '-']) && !line.is_empty();
    for paragraph in text.flat_map(|text| text.split("\n\n")) {
        let lines = paragraph.lines().filter(|line| is_prose(line));
        // A line of the file is a sentence; about 110 characters are a line of a reader.
        let lines: usize = lines.map(|line| line.chars().count().div_ceil(110)).sum();
        assert!(lines <= 6, "{lines} lines:\n{paragraph}");
    }
}
