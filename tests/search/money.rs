//! Cost of searches; nothing is spent unasked.

use serde_json::Value;

use super::{Setting, Table, hits, searching};
use crate::support::{
    chat_server::Script,
    searches::{Kind, Searches, Way},
    web_server::Reply,
};

/// Of each request.
const PRICE: f64 = 0.005;
/// That price in the file.
const PRICED: &str = ", price: { request: 0.005 }";

/// A table whose searches cost something, under a cap.
fn table(searches: &Searches, cap: f64) -> Table {
    let more = format!("budget: {{ session_max: {cap} }}\n");
    let npc = "    policy: { max_calls_per_minute: 200 }\n";
    Table::with(searches, &Setting { service: PRICED, npc, more: &more })
}

/// The service's bill, in money.
fn bill(searches: &Searches) -> f64 {
    searches.queries().iter().map(|_| PRICE).sum()
}

#[test]
fn searches_end_at_the_cap() {
    let (searches, cap) = (Searches::finding(Kind::Brave, &hits()), 0.022);
    let table = table(&searches, cap);
    for number in 0..6 {
        table.turn(&[searching(&format!("mill number {number}"))]);
    }
    let lines = table.plays(6, &["--session", "friday"]);
    let calls: Vec<&Value> = lines.iter().map(|it| &it["tools"][0]).collect();
    assert_eq!(calls[0]["ok"], true, "{calls:#?}");
    assert_eq!(calls[5]["ok"], false, "{calls:#?}");
    let refused = calls[5].to_string();
    assert!(refused.contains("session_max"), "{refused}");
    let bill = bill(&searches);
    assert_eq!(searches.queries().len(), 4);
    assert!(bill <= cap, "{bill} under a cap of {cap}");
    assert_eq!(searches.refused(), [""; 0]);
    // Earlier spending counts on the next evening.
    let before = searches.requests().len();
    table.turn(&[searching("another mill")]);
    table.plays(1, &["--session", "friday"]);
    assert_eq!(searches.requests().len(), before);
}

#[test]
fn searches_at_once_see_each_other() {
    let (searches, cap) = (Searches::finding(Kind::Brave, &hits()), 0.011);
    let table = table(&searches, cap);
    let arguments: Vec<String> = (0..6).map(|it| format!("{{\"query\": \"mill {it}\"}}")).collect();
    let ids: Vec<String> = (0..6).map(|it| format!("c{it}")).collect();
    let calls: Vec<(&str, &str, &str)> =
        ids.iter().zip(&arguments).map(|(id, it)| (&**id, "search", &**it)).collect();
    table.model.push(Script::calls(&calls));
    table.model.push(Script::text(&["So be it."]));
    let lines = table.plays(1, &[]);
    let bill = bill(&searches);
    assert_eq!(searches.queries().len(), 2, "{lines:#?}");
    assert!(bill <= cap, "{bill}: {lines:#?}");
}

/// A service that fails may have billed all the same, and each attempt is another request.
#[test]
fn attempts_are_paid_one_by_one() {
    let (searches, cap) = (Searches::start(Kind::Brave), 0.012);
    searches.otherwise(Way::Says(Reply::text(503, "busy")));
    let table = table(&searches, cap);
    for number in 0..4 {
        table.turn(&[searching(&format!("mill {number}"))]);
    }
    let lines = table.plays(4, &[]);
    let bill = bill(&searches);
    assert!(bill <= cap && bill >= PRICE, "{bill} under a cap of {cap}: {lines:#?}");
}

#[test]
fn doctor_spends_nothing_unasked() {
    let searches = Searches::finding(Kind::Brave, &hits());
    let table = table(&searches, 1.0);
    let doctor = table.place.run(&["doctor"]).stdout;
    assert_eq!(searches.requests().len(), 0, "{doctor}");
    let line = doctor.lines().find(|it| it.contains("brave")).expect("it is named");
    assert!(line.contains("--try-paid"), "{line}");
    let tried = table.place.run(&["doctor", "--try-paid"]).stdout;
    assert_eq!(searches.queries(), ["tabletop role-playing"], "{tried}");
    assert!(tried.lines().any(|it| it.starts_with('✓') && it.contains("brave")), "{tried}");
    searches.otherwise(Way::PlanIsSpent);
    let tried = table.place.run(&["doctor", "--try-paid"]).ends_with(1).stdout;
    assert!(tried.lines().any(|it| it.starts_with('✗') && it.contains("brave")), "{tried}");
}

#[test]
fn doctor_tries_what_is_free() {
    let searches = Searches::finding(Kind::SearXng, &hits());
    let table = Table::of(&searches);
    let found = table.place.run(&["doctor"]).stdout;
    assert_eq!(searches.queries(), ["tabletop role-playing"], "{found}");
    searches.otherwise(Way::JsonIsOff);
    let found = table.place.run(&["doctor"]).ends_with(1).stdout;
    let line = found.lines().find(|it| it.contains("searxng")).expect("it is named");
    assert!(line.starts_with('✗') && line.contains("search.formats"), "{line}");
}
