//! Results as a model reads and cites them; requests and answers of each service are tested beside its
//! client.

use serde_json::json;

use super::{Table, assert_framed, hits, searching};
use crate::support::{
    chat_server::Script,
    searches::{Kind, Searches},
};

#[test]
fn results_reach_the_model_numbered_and_framed() {
    let searches = Searches::finding(Kind::Brave, &hits());
    let table = Table::of(&searches);
    let (call, read) = table.searched("old mill of Ravenford");
    assert_eq!((&call["ok"], &call["tool"]), (&json!(true), &json!("web-search.search")));
    assert_eq!(searches.refused(), [""; 0]);
    assert_eq!(searches.queries(), ["old mill of Ravenford"]);
    let [first, second] = hits();
    assert_framed(&read, &[&*first.title, &first.url, &second.title, &second.url, &second.text]);
    assert_framed(&read, &["The old mill grinds & grinds."]);
    for (number, hit) in [(1, &first), (2, &second)] {
        let start = format!("{{\"number\":{number},\"title\":\"{}\"", hit.title);
        assert!(read.contains(&start), "{read}");
    }
}

/// A model that reads its source off the results names it.
#[test]
fn assistant_names_its_source() {
    let searches = Searches::finding(Kind::SearXng, &hits());
    let table = Table::of(&searches);
    let (_, query) = searching("old mill");
    let query = query.to_string();
    table.model.otherwise(move |request| {
        let last = request.json["messages"].as_array().and_then(|it| it.last());
        let result = last.filter(|it| it["role"] == "tool").and_then(|it| it["content"].as_str());
        let Some(result) = result else {
            return Script::calls(&[("c", "search", &query)]);
        };
        let from = result.find("https://").unwrap_or_default();
        let url = result[from..].split(|c: char| c.is_whitespace() || "<>()\"".contains(c));
        let url = url.into_iter().next().unwrap_or_default();
        Script::text(&["It grinds. Source: ", url])
    });
    let ask = ["ask", "--json", "--assistant", "--text", "search the web for the old mill"];
    let answer = table.place.run(&ask).ends_with(0).line();
    let text = answer["text"].as_str().expect("a text");
    assert!(text.contains("https://mill.example.org/old"), "{answer:#}");
    assert_eq!(answer["tools"][0]["tool"], "web-search.search", "{answer:#}");
    let tools = table.model.requests()[0].json["tools"].clone();
    let tools = tools.as_array().expect("tools");
    let search = tools.iter().find(|it| it["function"]["name"] == "search").expect("it is offered");
    let described = search["function"]["description"].as_str().unwrap_or_default();
    assert!(described.to_lowercase().contains("source"), "{described}");
}
