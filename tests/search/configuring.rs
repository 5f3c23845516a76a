//! Settings in the file: errors with their place, and keys that stay hidden.

use super::{FAR, SO_BE_IT, Setting, Table, assert_failed, fetching, hits, offered, searching};
use crate::support::{
    chat_server::Script,
    program::Place,
    searches::{KEY, Kind, Searches, Way},
    web_server::{Reply, WebServer},
};

/// One NPC who may search.
const PIP: &str = "npcs: [{ name: Pip, budget_tier: deep, tools: [web-search.search], \
                   lines: [{ say: Hm. }] }]\n";

/// Arguments of a search.
const QUERY: &str = "{\"query\": \"old mill\"}";

/// `check` refuses the file for one reason, at `line`, and says each of `parts`.
#[track_caller]
fn refused(text: &str, line: usize, parts: &[&str]) {
    let ran = Place::with_config(text).run(&["check"]).ends_with(2);
    let problems: Vec<&str> = ran.stderr.lines().collect();
    let [problem] = &*problems else { panic!("one problem is wanted: {ran:#?}\n{text}") };
    assert!(problem.starts_with(&format!("glyphoxa.yaml:{line}:")), "{problem}\n{text}");
    assert!(problem.trim_end().ends_with(')'), "no fix: {problem}");
    for part in parts {
        assert!(problem.contains(part), "no '{part}': {problem}");
    }
}

#[test]
fn wrong_services_are_refused_with_a_fix() {
    let cases: [(&str, &[&str]); 8] = [
        ("service: bing, api_key: k", &["'bing'", "searxng", "brave", "tavily"]),
        ("service: serxng, base_url: \"http://127.0.0.1:1\"", &["searxng"]),
        ("service: searxng", &["base_url"]),
        ("service: brave, price: { request: 0.005 }", &["api_key"]),
        ("service: tavily, safe: off, price: { request: 0.008 }", &["api_key"]),
        ("service: searxng, base_url: \"nowhere\"", &["base_url"]),
        ("service: brave, api_key: k, free: true, safe: very", &["safe", "strict"]),
        ("service: brave, api_key: k, free: true, price: { request: 0.005 }", &["free"]),
    ];
    for (entry, parts) in cases {
        refused(&format!("{PIP}providers:\n  search: {{ {entry} }}\n"), 3, parts);
    }
}

#[test]
fn wrong_hosts_are_refused_with_a_fix() {
    let service = "providers:\n  search: { service: searxng, base_url: \"http://127.0.0.1:1\" }\n";
    for host in ["https://a.example.org", "a.example.org/page", "*", "*.lan", "a b", "u@a.org", ""]
    {
        let search = format!("search:\n  allow:\n    - srd.example.org\n    - \"{host}\"\n");
        refused(&format!("{PIP}{service}{search}"), 7, &[]);
    }
    let good = "search: { allow: [srd.example.org, \"*.example.com\", \"127.0.0.1:8080\"] }\n";
    Place::with_config(&format!("{PIP}{service}{good}")).run(&["check"]).ends_with(0);
}

#[test]
fn whitelist_without_a_service_is_a_warning() {
    let ran = Place::with_config(PIP).run(&["check"]).ends_with(0);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    let warning = said.lines().find(|it| it.contains("web-search")).expect("a warning");
    assert!(
        warning.contains("providers.search") && warning.contains("glyphoxa.yaml:1:"),
        "{warning}"
    );
    let service = "providers:\n  search: { service: searxng, base_url: \"http://127.0.0.1:1\" }\n";
    let ran = Place::with_config(&format!("{PIP}{service}")).run(&["check"]).ends_with(0);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("web-search"), "{ran:#?}");
    let wrong = PIP.replace("web-search.search", "web-search.look");
    let ran = Place::with_config(&format!("{wrong}{service}")).run(&["check"]).ends_with(2);
    assert!(ran.stderr.contains("web-search.look"), "{ran:#?}");
}

#[test]
fn keys_reach_no_output() {
    for (kind, way) in [
        (Kind::Brave, Way::Finds(hits().to_vec())),
        (Kind::Brave, Way::PlanIsSpent),
        (Kind::Tavily, Way::PlanIsSpent),
        (Kind::Tavily, Way::Html),
    ] {
        let searches = Searches::start(kind);
        searches.otherwise(way);
        let mut table = Table::of(&searches);
        table.place.set_env("RUST_LOG", "trace");
        table.model.otherwise(|request| {
            let messages = request.json["messages"].as_array().cloned().unwrap_or_default();
            match messages.last() {
                Some(last) if last["role"] == "tool" => Script::text(&["So be it."]),
                _ => Script::calls(&[("c", "search", QUERY)]),
            }
        });
        let runs: [&[&str]; 6] = [
            &["check"],
            &["doctor", "--try-paid"],
            &["tools", "list"],
            &["tools", "call", "web-search.search", QUERY],
            &[
                "ask",
                "--verbose",
                "--tier",
                "deep",
                "--session",
                "friday",
                "--text",
                "Bartok, go on",
            ],
            &["session", "export", "friday"],
        ];
        for arguments in runs {
            let ran = table.place.run(arguments);
            let is_silent = !ran.stdout.contains(KEY) && !ran.stderr.contains(KEY);
            assert!(is_silent, "{kind:?} {arguments:?}: {ran:#?}");
        }
        let asked = table.model.requests();
        assert!(asked.iter().all(|it| !it.json.to_string().contains(KEY)), "{kind:?}");
        assert!(searches.requests().len() >= 3, "{kind:?}");
    }
}

#[test]
fn key_comes_from_the_environment() {
    let searches = Searches::finding(Kind::Brave, &hits());
    let mut table = Table::with(&searches, &Setting::default());
    table.rewrites(KEY, "\"${SEARCH_KEY}\"");
    let ran = table.place.run(&["check"]).ends_with(2);
    assert!(ran.stderr.contains("SEARCH_KEY"), "{ran:#?}");
    table.place.set_env("SEARCH_KEY", KEY);
    let (call, _) = table.searched("old mill");
    assert_eq!(call["ok"], true, "{call:#}");
}

#[test]
fn another_service_is_asked_after_a_reload() {
    let (old, new) = (Searches::finding(Kind::Brave, &hits()), Searches::start(Kind::Brave));
    let table = Table::of(&old);
    table.turn(&[searching("old mill")]);
    table.turn(&[searching("new mill")]);
    let mut live = table.place.start(&["ask", "--json", "--tier", "deep"]);
    live.types("Bartok, go on");
    live.says("\"outcome\"");
    table.rewrites(&old.origin(), &new.origin());
    live.says("configuration reloaded");
    live.types("Bartok, go on");
    live.says("\"outcome\"");
    assert_eq!(live.leave(), 0);
    assert_eq!((old.queries(), new.queries()), (vec!["old mill".into()], vec!["new mill".into()]));
}

#[test]
fn hosts_are_refused_after_a_reload() {
    let pages = WebServer::start(|_| Reply::html("<p>The mill has stood here for ages."));
    let searches = Searches::start(Kind::SearXng);
    let more = "search: { allow: [1.1.1.1] }\n";
    let table = Table::with(&searches, &Setting { more, ..Setting::default() }).behind(&pages);
    let url = format!("{FAR}/mill");
    table.turn(&[fetching(&url)]);
    table.turn(&[fetching(&url)]);
    table.model.push(Script::text(&SO_BE_IT));
    let mut live = table.place.start(&["ask", "--json", "--tier", "deep"]);
    live.types("Bartok, go on");
    let read = live.says("\"outcome\"");
    assert!(read.contains("stood here for ages"), "{read}");
    table.rewrites("[1.1.1.1]", "[1.0.0.1]");
    live.says("configuration reloaded");
    live.types("Bartok, go on");
    let read = live.says("\"outcome\"");
    assert!(read.contains("no search of this session"), "{read}");
    assert_eq!(pages.asked(), [url]);
    // Without a service the tools are gone.
    table.rewrites(&searches.entry(", free: true"), "");
    live.says("configuration reloaded");
    live.types("Bartok, go on");
    live.says("\"outcome\"");
    assert_eq!(live.leave(), 0);
    let last = table.model.requests().pop().expect("a request");
    let names = offered(&last);
    assert!(!names.iter().any(|it| it == "fetch_page" || it == "search"), "{names:?}");
}

#[test]
fn tools_are_listed_where_a_service_is() {
    let searches = Searches::finding(Kind::Brave, &hits());
    let table = Table::of(&searches);
    let ran = table.place.run(&["tools", "list"]).ends_with(0);
    for tool in ["web-search.search", "web-search.fetch_page"] {
        assert!(ran.stdout.contains(tool), "{ran:#?}");
    }
    table.rewrites(&searches.entry(", free: true"), "");
    let ran = table.place.run(&["tools", "list"]).ends_with(0);
    assert!(!ran.stdout.contains("web-search"), "{ran:#?}");
    let call = ["tools", "call", "web-search.search", QUERY, "--json"];
    assert_failed(&table.place.run(&call).ends_with(1).line(), &[]);
}
