//! Settings in the file: errors with their place, and keys that stay hidden; each wrong setting is tested
//! beside its reader.

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

#[test]
fn wrong_service_is_refused_with_a_fix() {
    let search =
        "providers:\n  search: { service: bing, api_key: k }\nsearch: { allow: [\"*\"] }\n";
    let ran = Place::with_config(&format!("{PIP}{search}")).run(&["check"]).ends_with(2);
    let problems: Vec<&str> = ran.stderr.lines().map(str::trim_end).collect();
    let [service, host] = &*problems else { panic!("two problems are wanted: {ran:#?}") };
    assert!(service.starts_with("glyphoxa.yaml:3:") && service.contains("'bing'"), "{service}");
    assert!(host.starts_with("glyphoxa.yaml:4:") && host.contains("search.allow"), "{host}");
    assert!(service.ends_with(')') && host.ends_with(')'), "no fix: {ran:#?}");
}

#[test]
fn keys_reach_no_output() {
    let all: [&[&str]; 6] = [
        &["check"],
        &["doctor", "--try-paid"],
        &["tools", "list"],
        &["tools", "call", "web-search.search", QUERY],
        &["ask", "--verbose", "--tier", "deep", "--session", "friday", "--text", "Bartok, go on"],
        &["session", "export", "friday"],
    ];
    for (kind, way, runs) in [
        (Kind::Brave, Way::Finds(hits().to_vec()), &all[..]),
        (Kind::Tavily, Way::PlanIsSpent, &all[3..5]),
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
        for arguments in runs {
            let ran = table.place.run(arguments);
            let is_silent = !ran.stdout.contains(KEY) && !ran.stderr.contains(KEY);
            assert!(is_silent, "{kind:?} {arguments:?}: {ran:#?}");
        }
        let asked = table.model.requests();
        assert!(asked.iter().all(|it| !it.json.to_string().contains(KEY)), "{kind:?}");
        assert!(searches.requests().len() >= 2, "{kind:?}");
    }
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
