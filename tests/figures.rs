//! Measuring tools and what is made of the figures, through the real program.

use std::fs;

use serde_json::{Value, json};

use crate::support::program::Place;

/// Figures as an earlier run has kept them for `environment`.
fn kept(environment: &str, tools: &[(&str, &str, u64, &str)]) -> Value {
    let tools = tools.iter().map(|(tool, category, p50, tier)| {
        let kept = json!({"hash": "00", "category": category, "source": "server", "host": null,
            "tier": tier, "calls": 20, "p50_us": p50, "p95_us": p50 * 2, "p99_us": p50 * 3,
            "written": 1});
        ((*tool).to_owned(), kept)
    });
    let tools: serde_json::Map<String, Value> = tools.collect();
    json!({"version": 1, "written": 1, "environments": {environment: {"e": tools}}})
}

fn with_figures() -> Place {
    let place = Place::new();
    let tools = [("lore.ask", "lore", 300_000, "standard"), ("dusty.find", "lore", 30_000, "fast")];
    place.write("data/figures.json", kept("default", &tools).to_string());
    place
}

#[test]
fn dice_are_never_thrown_to_be_measured() {
    let place = Place::new();
    let told = place.run(&["tools", "calibrate", "--json"]).ends_with(0).lines();
    let dice: Vec<&Value> = told
        .iter()
        .filter(|line| line["tool"].as_str().is_some_and(|tool| tool.starts_with("dice-roller.")))
        .collect();
    assert_eq!(dice.len(), 4, "{told:#?}");
    for line in dice {
        assert_eq!((&line["status"], &line["calls"]), (&json!("skipped"), &json!(0)), "{line}");
        assert_eq!((&line["arguments"], &line["p50_ms"]), (&Value::Null, &Value::Null), "{line}");
        assert!(line["reason"].as_str().is_some_and(|why| why.ends_with(')')), "{line}");
        assert_eq!(line["tier_before"], line["tier_after"], "{line}");
    }
    // Measurements are known to the next run.
    let listed = place.run(&["tools", "list", "--json"]).ends_with(0).lines();
    for line in told.iter().filter(|line| line["status"] == "measured") {
        let known = listed.iter().find(|it| it["identity"] == line["tool"]).expect("listed");
        assert_eq!(known["measured_duration_ms"], line["p50_ms"], "{line}");
        assert_eq!((&known["badge"], &known["tag"]), (&line["badge"], &line["tag"]), "{line}");
    }
    let people = place.run(&["tools", "calibrate", "dice-roller"]).ends_with(0).stdout;
    assert!(people.contains("dice-roller.roll ") && people.contains("not called: "), "{people}");
}

#[test]
fn tools_are_picked_by_name() {
    let calibrate = |name: &str| Place::new().run(&["tools", "calibrate", name, "--json"]);
    for (name, count) in [("roll", 1), ("dice-roller.roll", 1), ("dice-roller.*", 4)] {
        assert_eq!(calibrate(name).ends_with(0).lines().len(), count, "{name}");
    }
    let ran = calibrate("rol").ends_with(2);
    assert!(ran.message().contains("'rol'"), "{ran:#?}");
}

#[test]
fn report_has_figures_and_nobodys_name() {
    let place = with_figures();
    place.run(&["tools", "report", "--out", "mine.json"]).ends_with(0);
    let written = fs::read_to_string(place.path("mine.json")).expect("the report");
    let report: Value = serde_json::from_str(&written).expect("JSON");
    assert_eq!(
        report["tools"][0],
        json!({"tool": "dusty.find", "category": "lore",
        "source": "server", "calls": 20, "p50_ms": 30.0, "p95_ms": 60.0, "p99_ms": 90.0,
        "tier": "fast", "hash": "00", "badge": "Lightning", "tag": "FAST compatible"})
    );
    let ran = place.run(&["tools", "report"]).ends_with(0);
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).ok(), Some(report));
    let ran = place.run(&["tools", "report", "--out", "no/such/folder.json"]).ends_with(1);
    assert!(ran.stderr.contains("no/such/folder.json"), "{ran:#?}");
    let nothing = Place::new().run(&["tools", "report"]).ends_with(0);
    assert!(nothing.message().contains("glyphoxa tools calibrate"), "{nothing:#?}");
}

#[test]
fn leaderboard_ranks_local_and_imported_figures() {
    let (place, other) = (with_figures(), Place::new());
    let theirs = [("swift.search", "lore", 9_000, "fast"), ("swift.roll", "dice", 50, "fast")];
    other.write("data/figures.json", kept("default", &theirs).to_string());
    let report = other.run(&["tools", "report"]).ends_with(0).stdout;
    place.write("theirs.json", report);
    let board = ["tools", "leaderboard", "--category", "lore", "theirs.json"];
    let lines = place.run(&[&board[..], &["--json"]].concat()).ends_with(0).lines();
    let told: Vec<_> = lines
        .iter()
        .map(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            (line["rank"].as_u64(), text("tool"), text("from"), text("badge"))
        })
        .collect();
    let place_of = |rank: u64, tool: &str, from: &str, badge: &str| {
        (Some(rank), tool.to_owned(), from.to_owned(), badge.to_owned())
    };
    assert_eq!(
        told,
        [
            place_of(1, "swift.search", "theirs.json", "Lightning"),
            place_of(2, "dusty.find", "here", "Lightning"),
            place_of(3, "lore.ask", "here", "Standard"),
        ]
    );
    let people = place.run(&board).ends_with(0).stdout;
    assert!(people.starts_with("lore\n  1. swift.search"), "{people}");
    let all = place.run(&["tools", "leaderboard", "theirs.json", "--json"]).ends_with(0).lines();
    assert_eq!(all.len(), 4, "{all:#?}");
}

#[test]
fn broken_report_is_named() {
    let place = with_figures();
    place.write("broken.json", "{\"tools\": [");
    place.write(
        "other.json",
        "{\"format\": \"x\", \"version\": 1, \"glyphoxa\": \"\", \"tools\": []}",
    );
    place.write("binary.json", b"\xff\xfe\x00");
    for file in ["broken.json", "other.json", "binary.json", "missing.json"] {
        let ran = place.run(&["tools", "leaderboard", file]).ends_with(1);
        assert!(ran.stderr.contains(&format!("report '{file}': ")), "{ran:#?}");
        assert_eq!(ran.stdout, "");
    }
}

#[test]
fn figures_count_only_in_their_environment() {
    let place = Place::with_config("npcs: [{name: Ann}]\nmcp: {environment: laptop}\n");
    let tools = |place: &Place| {
        let told = place.run(&["tools", "report"]).ends_with(0).stdout;
        let told: Value = serde_json::from_str(&told).expect("JSON");
        told["tools"].as_array().map_or(0, Vec::len)
    };
    place.write("data/figures.json", kept("default", &[("a.b", "c", 1, "fast")]).to_string());
    assert_eq!(tools(&place), 0);
    place.write("data/figures.json", kept("laptop", &[("a.b", "c", 1, "fast")]).to_string());
    assert_eq!(tools(&place), 1);
    place.write("data/figures.json", "not JSON");
    let ran = place.run(&["tools", "list"]).ends_with(0);
    assert!(ran.stderr.contains("figures.json.broken"), "{ran:#?}");
    assert!(place.path("data/figures.json.broken").exists());
}
