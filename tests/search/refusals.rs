//! A refusal as a model reads it, and a service that never answers; each service's refusals and failures are
//! tested beside its client.

use serde_json::Value;

use super::{Table, assert_failed};
use crate::support::{
    searches::{Kind, Searches, Way},
    web_server::Reply,
};

#[test]
fn refusal_reaches_the_model_with_a_fix() {
    let searches = Searches::start(Kind::SearXng);
    searches.otherwise(Way::JsonIsOff);
    let (call, read) = Table::of(&searches).searched("old mill");
    assert_eq!(searches.refused(), [""; 0]);
    let parts = ["add json to search.formats", "settings.yml"];
    assert_failed(&call, &parts);
    assert!(parts.iter().all(|part| read.contains(part)), "{read}");
    assert_eq!(searches.requests().len(), 1);
}

/// Searches by the operator whose answers never end, which are waited for at once.
fn endless() -> [Value; 2] {
    let of_json = |body: &str| Reply::new(200, "application/json", body);
    let replies = [of_json("").held(), of_json("{\"results\": [").dripping()];
    let asked = |reply| {
        std::thread::spawn(move || {
            let searches = Searches::start(Kind::SearXng);
            searches.otherwise(Way::Says(reply));
            let arguments = "{\"query\": \"old mill\"}";
            let call = ["tools", "call", "web-search.search", arguments, "--json"];
            Table::of(&searches).place.run(&call).ends_with(1).line()
        })
    };
    replies.map(asked).map(|it| it.join().expect("a call"))
}

/// The search has 8 s by itself; the turn is over before, and its result comes later.
#[test]
fn service_that_never_answers_is_left_in_time() {
    for line in endless() {
        assert_failed(&line, &["8 s"]);
        let took = line["ms"].as_f64().unwrap_or_default();
        assert!((8_000.0..9_500.0).contains(&took), "{line:#}");
    }
}
