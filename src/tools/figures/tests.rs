use std::{fs, path::Path, sync::Arc, time::Duration};

use futures::future::{BoxFuture, FutureExt, ready};
use rand::{SeedableRng, rngs::StdRng};
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::{hashed, host_of, state::FILE_NAME, *};
use crate::{
    domain::{Owner, Tier},
    tools::{
        CallContext, CallError, CallOutput, Declared, Definition, Handler, LatencySummary,
        ServerKey, SourceKind, ToolHost, latency::Ending, percentiles,
    },
};

const MS: Duration = Duration::from_millis(1);

struct Silent;

impl Handler for Silent {
    fn call<'a>(
        &'a self,
        _: &'a CallContext,
        _: &'a Map<String, Value>,
    ) -> BoxFuture<'a, Result<CallOutput, CallError>> {
        ready(Ok(CallOutput::default())).boxed()
    }
}

fn definition(name: &str, description: &str) -> Definition {
    Definition {
        name: name.to_owned(),
        description: description.to_owned(),
        input: json!({"type": "object"}),
        output: None,
        declared: Declared { categories: vec!["lore".to_owned()], ..Declared::default() },
        handler: Arc::new(Silent),
    }
}

/// A host whose figures are kept in `folder`.
fn host(folder: &Path, environment: &str) -> ToolHost {
    let host = ToolHost::new(StdRng::seed_from_u64(1));
    host.catalog().figures().open(folder, environment);
    host
}

/// Offers `s.t` at `endpoint`; returns its figures and tier.
fn offered(host: &ToolHost, endpoint: &str, description: &str) -> (LatencySummary, Option<Tier>) {
    host.catalog().figures().set_endpoint(&ServerKey::installed("s"), endpoint);
    assert_eq!(host.offer("s", SourceKind::Server, vec![definition("t", description)]), []);
    let snapshot = host.snapshot();
    let entry = snapshot.find("s.t").expect("the tool");
    (entry.tool.latency.standing(Instant::now()), entry.tier)
}

/// Ten calls of 20 ms.
fn play(host: &ToolHost, took: Duration) {
    let snapshot = host.snapshot();
    let tool = &snapshot.find("s.t").expect("the tool").tool;
    for _ in 0..10 {
        tool.latency.record(Instant::now(), took, Ending::Answered);
    }
}

const ADDRESS: &str = "https://anna:hunter2@mcp.example.com:8443/x?key=t0ps3cret";

#[test]
fn figures_survive_restart_of_unchanged_tools() {
    let folder = tempfile::tempdir().expect("a folder");
    let first = host(folder.path(), "home");
    assert_eq!(
        offered(&first, ADDRESS, "Asks."),
        (LatencySummary::default(), Some(Tier::Standard))
    );
    play(&first, 20 * MS);
    first.keep_figures().expect("kept");

    let again = |environment: &str, endpoint: &str, description: &str| {
        offered(&host(folder.path(), environment), endpoint, description)
    };
    let (standing, tier) = again("home", ADDRESS, "Asks.");
    assert_eq!(standing.measured, Some(percentiles(&mut [20 * MS; 10])));
    assert_eq!((standing.calls, tier), (0, Some(Tier::Fast)), "from the first turn");
    for (environment, endpoint, description) in [
        ("elsewhere", ADDRESS, "Asks."),
        ("home", "npx other", "Asks."),
        ("home", ADDRESS, "Asks something else."),
    ] {
        let (standing, _) = again(environment, endpoint, description);
        assert_eq!(standing.measured, None, "{environment} {endpoint} {description}");
    }
}

#[test]
fn changed_tools_are_measured_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = host(folder.path(), "home");
    offered(&host, ADDRESS, "Asks.");
    play(&host, 20 * MS);
    assert_eq!(offered(&host, ADDRESS, "Asks.").0.calls, 10, "nothing has changed");
    host.catalog().withdraw(&ServerKey::installed("s"), SourceKind::Server);
    assert!(offered(&host, ADDRESS, "Asks.").0.measured.is_some(), "it was only away");
    assert_eq!(offered(&host, ADDRESS, "New.").0.measured, None);
    assert_eq!(offered(&host, "npx other", "Asks.").0.measured, None);
}

#[test]
fn secrets_of_an_endpoint_are_in_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = host(folder.path(), "home");
    offered(&host, ADDRESS, "Asks.");
    play(&host, 20 * MS);
    host.keep_figures().expect("kept");
    let file = fs::read_to_string(folder.path().join(FILE_NAME)).expect("the file");
    let report = serde_json::to_string(&report(folder.path(), "home")).expect("JSON");
    assert!(report.contains("s.t") && report.contains(&hashed("mcp.example.com")), "{report}");
    for text in [file, report] {
        for secret in ["anna", "hunter2", "example", "t0ps3cret"] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

#[test]
fn hosts_are_found_in_addresses_alone() {
    for (endpoint, host) in [
        (ADDRESS, Some("mcp.example.com")),
        ("http://Localhost:3000", Some("localhost")),
        ("http://[::1]:3000/mcp", Some("[::1]")),
        ("npx server --url https://example.com", None),
        ("https://", None),
        ("built-in", None),
    ] {
        assert_eq!(host_of(endpoint).as_deref(), host, "{endpoint}");
    }
}

#[test]
fn two_programs_keep_what_each_has_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let (one, other) = (host(folder.path(), "home"), host(folder.path(), "home"));
    offered(&one, "npx one", "Asks.");
    offered(&other, "npx other", "Asks.");
    play(&one, 20 * MS);
    one.keep_figures().expect("kept");
    play(&other, 300 * MS);
    other.keep_figures().expect("kept");
    // A program without new figures takes nothing back.
    one.keep_figures().expect("kept");
    let p50 = |endpoint: &str| {
        let (standing, _) = offered(&host(folder.path(), "home"), endpoint, "Asks.");
        standing.measured.map(|measured| measured.p50)
    };
    assert_eq!((p50("npx one"), p50("npx other")), (Some(20 * MS), Some(300 * MS)));
    // A report has each tool once, as it was measured last.
    let report = report(folder.path(), "home");
    let told: Vec<_> = report.tools.iter().map(|it| (it.tool.as_str(), it.p50_ms)).collect();
    assert_eq!(told, [("s.t", 300.0)]);
    let entries = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(entries, 1, "nothing half-written is left");
}

#[test]
fn broken_file_is_set_aside() {
    for broken in [
        &b"{\"version\": 1"[..],
        b"\xff\xfe",
        b"[]",
        b"{\"version\":99,\"written\":0,\"environments\":{}}",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE_NAME);
        fs::write(&path, broken).expect("written");
        let host = host(folder.path(), "home");
        assert_eq!(offered(&host, ADDRESS, "Asks.").0.measured, None);
        assert_eq!(fs::read(path.with_extension("json.broken")).expect("set aside"), broken);
        play(&host, 20 * MS);
        host.keep_figures().expect("kept");
        assert_eq!(report(folder.path(), "home").tools.len(), 1);
    }
}

#[test]
fn write_failure_names_file_and_setting() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    fs::write(&file, "").expect("written");
    let host = host(&file, "home");
    host.keep_figures().expect("there is nothing to keep");
    offered(&host, ADDRESS, "Asks.");
    play(&host, 20 * MS);
    let told = host.keep_figures().expect_err("no folder").to_string();
    assert!(told.contains("figures.json") && told.contains("(set data_dir)"), "{told}");
}

#[test]
fn badges_and_tags() {
    let badge = |micros: u64| Badge::of(Duration::from_micros(micros)).name();
    let badges = [0, 49_999, 50_000, 199_999, 200_000, 999_999, 1_000_000].map(badge);
    let expected = ["Lightning", "Lightning", "Fast", "Fast", "Standard", "Standard", "Slow"];
    assert_eq!(badges, expected);
    let tags = [Some(Tier::Fast), Some(Tier::Standard), Some(Tier::Deep), None].map(tag);
    assert_eq!(tags, ["FAST compatible", "STANDARD and DEEP", "DEEP only", "withheld"]);
}

#[test]
fn figures_of_added_servers_are_per_guild() {
    let folder = tempfile::tempdir().expect("a folder");
    let guilds = [1, 2].map(Owner::Guild);
    let measured = |host: &ToolHost, key: &ServerKey| {
        host.catalog().figures().set_endpoint(key, ADDRESS);
        let tools = vec![definition("t", "Asks.")];
        assert_eq!(host.offer_of(key, SourceKind::Server, tools), []);
        let owner = key.owner.unwrap_or(Owner::Local);
        let snapshot = host.catalog().snapshot(owner);
        let latency = Arc::clone(&snapshot.find("s.t").expect("the tool").tool.latency);
        (latency.standing(Instant::now()).measured.map(|it| it.p50), latency)
    };
    let keys = guilds.map(|owner| ServerKey::added(owner, "s"));
    let first = host(folder.path(), "home");
    for (key, took) in keys.iter().zip([20, 300]) {
        let (known, latency) = measured(&first, key);
        assert_eq!(known, None, "though the other's tool is the same");
        for _ in 0..10 {
            latency.record(Instant::now(), took * MS, Ending::Answered);
        }
    }
    first.keep_figures().expect("kept");
    let again = host(folder.path(), "home");
    let known = keys.each_ref().map(|key| measured(&again, key).0);
    assert_eq!(known, [Some(20 * MS), Some(300 * MS)]);
    assert_eq!(measured(&again, &ServerKey::installed("s")).0, None);
    assert!(report(folder.path(), "home").tools.is_empty(), "nobody else's");
    let theirs = report_of(folder.path(), "home", |owner, _| owner == Some(guilds[1]));
    assert_eq!(theirs.tools.iter().map(|it| it.p50_ms).collect::<Vec<_>>(), [300.0]);
}

/// Another installation's report.
fn theirs(tools: Value) -> String {
    json!({"format": "glyphoxa tools report", "version": 1, "glyphoxa": "9", "tools": tools})
        .to_string()
}

fn entry(tool: &str, category: &str, p50: f64) -> Value {
    json!({"tool": tool, "category": category, "source": "server", "calls": 10, "p50_ms": p50,
        "p95_ms": p50 + 1.0, "p99_ms": p50 + 2.0, "tier": "fast", "hash": "0"})
}

#[test]
fn tools_are_ranked_in_their_category() {
    let parse = |tools: Value| Report::parse(&theirs(tools)).expect("a report");
    let reports = [
        ("here".to_owned(), parse(json!([entry("a.x", "lore", 30.0), entry("a.d", "dice", 1.0)]))),
        (
            "b.json".to_owned(),
            parse(json!([entry("a.x", "lore", 20.0), entry("b.y", "lore", 250.0)])),
        ),
    ];
    let ranked = rank(&reports, Some("Lore"));
    let told: Vec<_> =
        ranked["lore"].iter().map(|(from, it)| (*from, it.tool.as_str(), it.badge)).collect();
    let expected = [
        ("b.json", "a.x", "Lightning"),
        ("here", "a.x", "Lightning"),
        ("b.json", "b.y", "Standard"),
    ];
    assert_eq!((ranked.len(), told), (1, expected.to_vec()));
    assert_eq!(rank(&reports, None).keys().collect::<Vec<_>>(), [&"dice", &"lore"]);
}

#[test]
fn reports_that_make_no_sense_are_refused() {
    let wrong = [
        "{".to_owned(),
        "[]".to_owned(),
        json!({"format": "other", "version": 1, "glyphoxa": "9", "tools": []}).to_string(),
        json!({"format": "glyphoxa tools report", "version": 2, "glyphoxa": "9", "tools": []})
            .to_string(),
        theirs(json!([entry("a\u{1b}[2J", "lore", 1.0)])),
        theirs(json!([entry("", "lore", 1.0)])),
        theirs(json!([entry("a.x", "lore", -1.0)])),
        theirs(json!([entry("a.x", "lore", 1e300)])),
        theirs(json!([{"tool": "a.x"}])),
    ];
    for text in wrong {
        assert!(Report::parse(&text).is_err(), "{text}");
    }
}
