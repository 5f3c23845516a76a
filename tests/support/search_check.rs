//! Refusals of search services, in their words or near them.
//!
//! Entry function: [`refusal`]. **Never**: refuses what the real service takes.

use serde_json::{Value, json};

use super::{
    super::web_server::{Reply, Request},
    KEY, Kind, parameter,
};

/// Longest query of Brave and Tavily, in characters.
const CHARACTERS: usize = 400;
/// Longest query of Brave, in words.
const WORDS: usize = 50;
/// Parameters that Brave knows.
const OF_BRAVE: [&str; 14] = [
    "q",
    "count",
    "offset",
    "country",
    "search_lang",
    "ui_lang",
    "safesearch",
    "freshness",
    "result_filter",
    "extra_snippets",
    "text_decorations",
    "spellcheck",
    "units",
    "goggles",
];
/// Headers without which a limiter of SearXNG takes a client for a bot.
const OF_PEOPLE: [&str; 4] = ["accept", "accept-encoding", "accept-language", "user-agent"];
/// Beginnings of user agents that it takes for bots.
const BOTS: [&str; 5] = ["curl", "python", "go-http-client", "okhttp", "wget"];

/// Reason the service refuses the request, and its answer; `None`: it accepts it.
pub fn refusal(kind: Kind, request: &Request) -> Option<(String, Reply)> {
    let refused = match kind {
        Kind::Brave => brave(request),
        Kind::Tavily => tavily(request),
        Kind::SearXng => searxng(request),
    };
    refused.err()
}

/// The error, and the answer.
type Refused = Result<(), (String, Reply)>;

fn brave(request: &Request) -> Refused {
    let refuse = |holds: bool, status: u16, code: &str, why: &str| {
        let error = json!({"id": "1", "status": status, "code": code, "detail": why, "meta": {}});
        let body = json!({"type": "ErrorResponse", "error": error, "time": 1});
        ensure(holds, why, || Reply::new(status, "application/json", body.to_string()))
    };
    let invalid = |holds: bool, why: &str| refuse(holds, 422, "VALIDATION", why);
    let is_search = request.method == "GET" && request.url.path() == "/res/v1/web/search";
    refuse(is_search, 404, "NOT_FOUND", "unknown path")?;
    let token = "The provided subscription token is invalid.";
    let is_known = request.header("x-subscription-token") == Some(KEY);
    refuse(is_known, 422, "SUBSCRIPTION_TOKEN_INVALID", token)?;
    let accept = request.header("accept").unwrap_or_default();
    invalid(accept.contains("application/json") || accept.contains("*/*"), "invalid Accept")?;
    for (name, _) in request.query() {
        invalid(OF_BRAVE.contains(&&*name), &format!("unknown parameter '{name}'"))?;
    }
    let query = parameter(request, "q").unwrap_or_default();
    invalid(!query.trim().is_empty(), "q is empty")?;
    invalid(query.chars().count() <= CHARACTERS, "q has more than 400 characters")?;
    invalid(query.split_whitespace().count() <= WORDS, "q has more than 50 words")?;
    let number = |name: &str, most: u64| {
        let given = parameter(request, name);
        given.is_none_or(|it| it.parse::<u64>().is_ok_and(|it| it <= most))
    };
    invalid(number("count", 20) && parameter(request, "count").as_deref() != Some("0"), "count")?;
    invalid(number("offset", 9), "offset")?;
    let is_one_of = |name: &str, words: &[&str]| {
        parameter(request, name).is_none_or(|it| words.contains(&&*it))
    };
    invalid(is_one_of("safesearch", &["off", "moderate", "strict"]), "safesearch")?;
    for flag in ["text_decorations", "spellcheck", "extra_snippets"] {
        invalid(is_one_of(flag, &["true", "false", "1", "0"]), flag)?;
    }
    Ok(())
}

fn tavily(request: &Request) -> Refused {
    let refuse = |holds: bool, status: u16, why: &str| {
        let body = json!({"detail": {"error": why}});
        ensure(holds, why, || Reply::new(status, "application/json", body.to_string()))
    };
    let is_search = request.method == "POST" && request.url.path() == "/search";
    refuse(is_search, 404, "unknown path")?;
    let key = request.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    refuse(key == Some(KEY), 401, "Unauthorized: missing or invalid API key.")?;
    let is_json =
        request.header("content-type").is_some_and(|it| it.starts_with("application/json"));
    refuse(is_json, 422, "the body is no JSON")?;
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    refuse(body.is_object(), 422, "the body is no object")?;
    let query = body["query"].as_str().unwrap_or_default();
    refuse(!query.trim().is_empty(), 422, "query: Field required")?;
    let fits = query.chars().count() <= CHARACTERS;
    refuse(fits, 400, "Query is too long. Max query length is 400 characters.")?;
    let most = body.get("max_results");
    refuse(most.is_none_or(|it| it.as_u64().is_some()), 422, "max_results: no whole number")?;
    let fits = most.is_none_or(|it| it.as_u64().is_some_and(|it| it <= 20));
    refuse(fits, 400, "Max results must be between 0 and 20.")?;
    let is_one_of = |name: &str, words: &[&str]| {
        body.get(name).is_none_or(|it| it.as_str().is_some_and(|it| words.contains(&it)))
    };
    let depths = ["basic", "advanced", "fast", "ultra-fast"];
    refuse(is_one_of("search_depth", &depths), 400, "Invalid search depth.")?;
    refuse(is_one_of("topic", &["general", "news", "finance"]), 400, "Invalid topic.")?;
    let word = |name: &str| body.get(name).is_none_or(|it| it.is_boolean() || it.is_string());
    refuse(word("include_answer") && word("include_raw_content"), 422, "include_...: wrong type")?;
    let flag = |name: &str| body.get(name).is_none_or(Value::is_boolean);
    for name in ["include_images", "include_favicon", "include_usage", "auto_parameters"] {
        refuse(flag(name), 422, name)?;
    }
    let listed = |name: &str| body.get(name).is_none_or(Value::is_array);
    refuse(listed("include_domains") && listed("exclude_domains"), 422, "..._domains: no list")
}

fn searxng(request: &Request) -> Refused {
    let refuse = |holds: bool, status: u16, why: &str| {
        ensure(holds, why, || Reply::new(status, "text/html", format!("<h1>{why}</h1>")))
    };
    refuse(request.url.path() == "/search", 404, "unknown path")?;
    refuse(request.method == "GET", 405, "wrong method")?;
    for name in OF_PEOPLE {
        let is_there = request.header(name).is_some_and(|it| !it.is_empty());
        refuse(is_there, 429, &format!("Too Many Requests: no {name}"))?;
    }
    let has = |name: &str, part: &str| request.header(name).is_some_and(|it| it.contains(part));
    refuse(has("accept", "text/html"), 429, "Too Many Requests: accept")?;
    let unpacks = has("accept-encoding", "gzip") || has("accept-encoding", "deflate");
    refuse(unpacks, 429, "Too Many Requests: accept-encoding")?;
    let agent = request.header("user-agent").unwrap_or_default().to_ascii_lowercase();
    refuse(!BOTS.iter().any(|it| agent.starts_with(it)), 429, "Too Many Requests: user-agent")?;
    let format = parameter(request, "format");
    refuse(format.as_deref() == Some("json"), 400, "no JSON is asked for")?;
    let query = parameter(request, "q").unwrap_or_default();
    refuse(!query.trim().is_empty(), 400, "no query")?;
    let safe = parameter(request, "safesearch");
    let fits = safe.is_none_or(|it| ["0", "1", "2"].contains(&&*it));
    refuse(fits, 400, "Invalid value for parameter safesearch")
}

fn ensure(holds: bool, why: &str, reply: impl FnOnce() -> Reply) -> Refused {
    if holds { Ok(()) } else { Err((why.to_owned(), reply())) }
}
