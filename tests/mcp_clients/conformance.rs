//! The protocol's own conformance suite against `glyphoxa serve`. Most of its scenarios want tools, resources
//! and prompts made for them (`test_simple_text` and the like); those named here want none.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{Served, node_of_suite, run_by, script};
use crate::{
    support::program::{Live, Place, run},
    third_party::installed,
};

/// A scenario without fixtures.
struct Scenario {
    name: &'static str,
    /// Checks inside it that want a fixture nevertheless.
    of_fixtures: &'static [&'static str],
}

const fn whole(name: &'static str) -> Scenario {
    Scenario { name, of_fixtures: &[] }
}

#[test]
fn conformance_of_2025_holds_without_fixtures() {
    let scenarios = [
        "server-initialize",
        "ping",
        "tools-list",
        "resources-list",
        "prompts-list",
        "dns-rebinding-protection",
    ];
    check("2025-11-25", &scenarios.map(whole));
}

#[test]
fn conformance_of_2026_holds_without_fixtures() {
    let stateless = Scenario {
        name: "server-stateless",
        of_fixtures: &[
            "sep-2575-server-rejects-undeclared-capability",
            "sep-2575-missing-capability-http-400",
            "sep-2575-http-server-no-independent-requests-on-stream",
            "sep-2575-server-no-log-without-loglevel",
        ],
    };
    check(
        "2026-07-28",
        &[
            stateless,
            whole("tools-list"),
            whole("resources-list"),
            whole("sep-2164-resource-not-found"),
            whole("prompts-list"),
            whole("dns-rebinding-protection"),
            whole("caching"),
            whole("http-header-validation"),
        ],
    );
}

/// Runs all required scenarios of a revision; those named must pass.
#[track_caller]
fn check(revision: &str, scenarios: &[Scenario]) {
    let (Some(suite), Some(node)) = (installed("conformance"), node_of_suite()) else { return };
    let package = suite.join("node_modules/@modelcontextprotocol/conformance");
    let results = Place::new();
    let said = run_suite(&node, &package, revision, &results.path(""));
    let passed = |name: &str| said.lines().any(|line| line.starts_with(&format!("✓ {name}: ")));
    let required = required(&package, revision);
    let (passing, others): (Vec<_>, Vec<_>) = required.iter().partition(|it| passed(it));
    let mut failures = Vec::new();
    for scenario in scenarios {
        let results = results.path("");
        let failed = failed_checks(&results, scenario.name);
        let failed = failed.filter(|(id, _)| !scenario.of_fixtures.contains(&id.as_str()));
        failures.extend(failed.map(|it| (scenario.name, it)));
    }
    eprintln!(
        "MCP server conformance {revision}: {} of {} scenarios without fixtures pass; in all {} of {} \
         required ones pass, not: {others:?}",
        scenarios.iter().filter(|it| failures.iter().all(|(name, _)| *name != it.name)).count(),
        scenarios.len(),
        passing.len(),
        required.len()
    );
    assert!(failures.is_empty(), "{failures:#?}\n{said}");
}

/// Output of the suite for a revision; the token is added to its requests on their way.
fn run_suite(node: &Path, package: &Path, revision: &str, results: &Path) -> String {
    let served = Served::start();
    let mut bearer = run_by(node, &script("bearer.mjs"));
    bearer.args([served.url(), served.token("dm")]);
    let bearer = Live::of(bearer);
    let url = format!("http://127.0.0.1:{}/mcp", bearer.says("").trim());
    let mut suite = run_by(node, &package.join("dist/index.js"));
    suite.args(["server", "--url", &url, "--requirements", revision, "--timeout", "15000", "-o"]);
    suite.arg(results);
    // Its exit status counts scenarios with fixtures too.
    run(suite, "").stdout
}

/// Scenarios that a revision requires of a server.
fn required(package: &Path, revision: &str) -> Vec<String> {
    let file = package.join(format!("requirements/{revision}.yaml"));
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().skip_while(|line| *line != "server:").skip(1);
    let lines = lines.take_while(|line| line.is_empty() || line.starts_with([' ', '#']));
    lines.filter_map(|line| Some(line.strip_prefix("  - ")?.to_owned())).collect()
}

/// Id and reason of each check of a scenario that failed; one for a scenario that did not run.
fn failed_checks(results: &Path, scenario: &str) -> impl Iterator<Item = (String, String)> {
    // Its folder's name ends with the time.
    let prefix = format!("server-{scenario}-20");
    let mut folders = fs::read_dir(results).unwrap().map(|entry| entry.unwrap().path());
    let its = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
    };
    let checks = folders.find(its).map(|folder| fs::read(folder.join("checks.json")).unwrap());
    let checks = checks.unwrap_or_else(|| br#"[{"id": "none", "status": "FAILURE"}]"#.to_vec());
    let checks: Vec<Value> = serde_json::from_slice(&checks).unwrap();
    let failed = checks.into_iter().filter(|check| check["status"] == "FAILURE");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    failed.map(move |check| (text(&check["id"]), text(&check["errorMessage"])))
}
