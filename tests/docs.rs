//! The page for tool authors: what it shows is what runs.

use std::{fs, process::Command};

use serde_json::json;

use crate::support::program::{Place, repository, shipped};

/// Every example stands in the page word for word.
#[test]
fn the_page_shows_the_examples_as_they_are() {
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
fn the_page_names_the_places_of_a_built_in() {
    let builtins = shipped("src/tools/builtin/mod.rs");
    for place in ["pub const IDENTITIES", "pub fn offer(", "(\"dice-roller\", dice::tools("] {
        assert!(builtins.contains(place), "'{place}' has moved: docs/tools.md must follow");
    }
}

#[test]
fn the_server_in_python_serves_an_npc() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no python3, so docs/examples/weather.py was not run");
        return;
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
