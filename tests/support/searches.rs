//! Search services of this machine: Brave, Tavily and a SearXNG of one's own.
//!
//! Entry types: [`Searches`], [`Way`]; their rules are in `search_check.rs`. **Never**: answers a request
//! that the real service would not have taken, or bills one that it would not have billed.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};

use super::web_server::{Gate, Reply, Request, WebServer};
use check::refusal;

#[path = "search_check.rs"]
mod check;

/// The key that a service takes.
pub const KEY: &str = "BSA-raven-under-the-mill-4711";
/// Headers of Brave's two windows: a second, and a month.
const LIMITS: [(&str, &str); 3] = [
    ("x-ratelimit-limit", "50, 15000"),
    ("x-ratelimit-policy", "50;w=1, 15000;w=2592000"),
    ("x-ratelimit-reset", "1, 1419704"),
];

/// Protocol of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Brave,
    Tavily,
    SearXng,
}

/// A page that is found.
#[derive(Clone, Debug)]
pub struct Hit {
    pub title: String,
    pub url: String,
    pub text: String,
}

/// Answer to an accepted request.
#[derive(Clone, Debug)]
pub enum Way {
    /// These pages, best first.
    Finds(Vec<Hit>),
    /// Like `Finds`, once the gate is open.
    FindsLater(Gate, Vec<Hit>),
    /// Brave: the requests of this second are used up.
    SecondIsFull,
    /// Brave: those of this month are; Tavily: those of the plan.
    PlanIsSpent,
    /// Tavily: no key, and the free tries are used up.
    KeylessIsSpent,
    /// SearXNG: `json` is not among its formats.
    JsonIsOff,
    /// SearXNG: nothing found, because no engine answered.
    EnginesFail,
    /// Its error, as a whole answer.
    Fails(&'static str),
    /// A page for people.
    Html,
    /// Anything.
    Says(Reply),
}

/// A running service.
pub struct Searches {
    web: WebServer,
    kind: Kind,
    state: Arc<Mutex<State>>,
}

struct State {
    queue: VecDeque<Way>,
    otherwise: Way,
    refused: Vec<String>,
    billed: usize,
}

impl Hit {
    /// A page.
    pub fn new(title: &str, url: &str, text: &str) -> Self {
        Self { title: title.to_owned(), url: url.to_owned(), text: text.to_owned() }
    }
}

impl Searches {
    /// A service that finds nothing until told otherwise.
    pub fn start(kind: Kind) -> Self {
        let state = State {
            queue: VecDeque::new(),
            otherwise: Way::Finds(Vec::new()),
            refused: Vec::new(),
            billed: 0,
        };
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        let web = WebServer::start(move |request| {
            if let Some((why, reply)) = refusal(kind, request) {
                locked(&shared).refused.push(why);
                return with_limits(kind, reply, "49, 14999");
            }
            let way = {
                let mut state = locked(&shared);
                let way = state.queue.pop_front().unwrap_or_else(|| state.otherwise.clone());
                state.billed += usize::from(is_billed(&way));
                way
            };
            answer(kind, way, request)
        });
        Self { web, kind, state }
    }

    /// A service that finds these pages whatever is asked.
    pub fn finding(kind: Kind, hits: &[Hit]) -> Self {
        let service = Self::start(kind);
        service.otherwise(Way::Finds(hits.to_vec()));
        service
    }

    /// Answers the next request that has no answer yet.
    pub fn push(&self, way: Way) {
        self.state().queue.push_back(way);
    }

    /// Answers all others.
    pub fn otherwise(&self, way: Way) {
        self.state().otherwise = way;
    }

    /// The address to configure.
    pub fn origin(&self) -> String {
        self.web.origin()
    }

    /// The entry below `providers`, with `more` keys.
    pub fn entry(&self, more: &str) -> String {
        let (service, key) = match self.kind {
            Kind::Brave => ("brave", format!(", api_key: {KEY}")),
            Kind::Tavily => ("tavily", format!(", api_key: {KEY}")),
            Kind::SearXng => ("searxng", String::new()),
        };
        let origin = self.origin();
        format!("  search: {{ service: {service}, base_url: \"{origin}\"{key}{more} }}\n")
    }

    /// Reasons the real service would have refused requests.
    pub fn refused(&self) -> Vec<String> {
        self.state().refused.clone()
    }

    /// Requests that cost something.
    pub fn billed(&self) -> usize {
        self.state().billed
    }

    /// All requests, those refused too.
    pub fn requests(&self) -> Vec<Request> {
        self.web.requests()
    }

    /// The queries, in order.
    pub fn queries(&self) -> Vec<String> {
        let name = if self.kind == Kind::Tavily { "query" } else { "q" };
        self.requests().iter().filter_map(|it| parameter(it, name)).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A parameter of a request, in its address or its body.
pub fn parameter(request: &Request, name: &str) -> Option<String> {
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let in_body = match &body[name] {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let mut query = request.query().into_iter();
    query.find(|(known, _)| known == name).map(|(_, value)| value).or(in_body)
}

/// Only what succeeded is billed; a page for people is none of the service's.
fn is_billed(way: &Way) -> bool {
    matches!(way, Way::Finds(_) | Way::FindsLater(..) | Way::Says(_))
}

fn answer(kind: Kind, way: Way, request: &Request) -> Reply {
    let reply = match way {
        Way::Finds(hits) => found(kind, request, &hits),
        Way::FindsLater(gate, hits) => {
            gate.pass();
            found(kind, request, &hits)
        }
        Way::SecondIsFull => return with_limits(kind, brave_is_full(), "0, 14000"),
        Way::PlanIsSpent if kind == Kind::Brave => {
            return with_limits(kind, brave_is_full(), "49, 0");
        }
        Way::PlanIsSpent => {
            let says =
                "This request exceeds your plan's set usage limit. Please upgrade your plan.";
            of_json(432, &json!({"detail": {"error": says}}))
        }
        Way::KeylessIsSpent => {
            let error = json!({"code": "keyless_limit", "message": "Keyless searches are used up.",
                "window": "day", "retry_after_seconds": 3600, "next_actions": ["Get a key."]});
            of_json(429, &json!({"error": error})).header("retry-after", "3600")
        }
        Way::JsonIsOff => Reply::new(403, "text/html", "<!doctype html><h1>Forbidden</h1>"),
        Way::EnginesFail => {
            let failed = json!([["google", "CAPTCHA"], ["duckduckgo", "access denied"]]);
            of_json(200, &searxng(request, &[], &failed))
        }
        Way::Fails(text) => of_json(200, &json!({ "error": text })),
        Way::Html => Reply::html("<!doctype html><title>Just a moment...</title><p>Are you human?"),
        Way::Says(reply) => reply,
    };
    with_limits(kind, reply, "49, 14999")
}

/// The rate headers that Brave sends with everything.
fn with_limits(kind: Kind, reply: Reply, remaining: &str) -> Reply {
    if kind != Kind::Brave {
        return reply;
    }
    let reply = reply.header("x-ratelimit-remaining", remaining);
    LIMITS.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
}

fn brave_is_full() -> Reply {
    let error = json!({"id": "1", "status": 429, "code": "RATE_LIMITED",
        "detail": "Request rate limit exceeded for plan.", "meta": {"plan": "Search"}});
    of_json(429, &json!({"type": "ErrorResponse", "error": error, "time": 1}))
}

fn found(kind: Kind, request: &Request, hits: &[Hit]) -> Reply {
    let reply = match kind {
        Kind::Brave => of_json(200, &brave(request, hits)),
        Kind::Tavily => of_json(200, &tavily(request, hits)),
        Kind::SearXng => of_json(200, &searxng(request, hits, &json!([]))),
    };
    let packs = kind == Kind::Brave
        && request.header("accept-encoding").is_some_and(|it| it.contains("gzip"));
    if packs { reply.gzipped() } else { reply }
}

fn of_json(status: u16, body: &Value) -> Reply {
    Reply::new(status, "application/json", body.to_string())
}

/// `web` is missing where nothing was found.
fn brave(request: &Request, hits: &[Hit]) -> Value {
    let results = hits.iter().map(|hit| {
        json!({"type": "search_result", "title": hit.title, "url": hit.url,
            "description": hit.text, "is_source_local": false, "language": "en",
            "family_friendly": true, "page_age": "2026-01-02T03:04:05", "age": "2 weeks ago",
            "meta_url": {"scheme": "https", "netloc": "example.org"}})
    });
    let results: Vec<Value> = results.collect();
    let query = parameter(request, "q");
    let mut body = json!({"type": "search", "query": {"original": query, "is_navigational": false},
        "mixed": {"type": "mixed", "main": [], "top": [], "side": []}});
    if !results.is_empty() {
        body["web"] = json!({"type": "search", "results": results, "family_friendly": true});
    }
    body
}

fn tavily(request: &Request, hits: &[Hit]) -> Value {
    let results = hits.iter().map(|hit| {
        json!({"title": hit.title, "url": hit.url, "content": hit.text, "score": 0.9,
            "raw_content": null, "favicon": null})
    });
    json!({"query": parameter(request, "query"), "follow_up_questions": null, "answer": null,
        "images": [], "results": results.collect::<Vec<_>>(), "response_time": 0.6,
        "request_id": "r"})
}

fn searxng(request: &Request, hits: &[Hit], failed: &Value) -> Value {
    let results = hits.iter().map(|hit| {
        json!({"url": hit.url, "title": hit.title, "content": hit.text, "publishedDate": null,
            "thumbnail": "", "engine": "brave", "engines": ["brave"], "template": "default.html",
            "parsed_url": ["https", "example.org", "/", "", "", ""], "img_src": "", "priority": "",
            "positions": [1], "score": 1.0, "category": "general"})
    });
    json!({"query": parameter(request, "q"), "number_of_results": 0,
        "results": results.collect::<Vec<_>>(), "answers": [], "corrections": [],
        "infoboxes": [], "suggestions": [], "unresponsive_engines": failed})
}
