use serde_json::json;

use super::*;
use crate::tools::manifest::http::without;

fn http(url: &str, verb: Verb) -> Http {
    Http {
        address: Address::parse(url).expect("an address"),
        verb,
        timeout: None,
        headers: Vec::new(),
        query: Vec::new(),
        exclude: Vec::new(),
        static_query: Vec::new(),
        static_body: Map::new(),
        body: None,
        answer: None,
        redact: Vec::new(),
        max_bytes: 100,
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("an object: {other}"),
    }
}

fn url(http: &Http, arguments: Value) -> String {
    http.request(&members(arguments)).expect("a request").url.to_string()
}

#[test]
fn lists_are_repeated_and_objects_are_json() {
    let http = http("http://x.test/a", Verb::Get);
    let arguments = json!({"l": [1, "b"], "o": {"x": 1}, "none": null, "t": true});
    assert_eq!(url(&http, arguments), "http://x.test/a?l=1&l=b&o=%7B%22x%22%3A1%7D&t=true");
    assert_eq!(url(&http, json!({})), "http://x.test/a");
}

#[test]
fn no_argument_replaces_what_is_fixed() {
    let fixed = Http {
        static_query: vec![("key".to_owned(), "ours".to_owned())],
        ..http("http://x.test/a", Verb::Delete)
    };
    assert_eq!(url(&fixed, json!({"key": "theirs"})), "http://x.test/a?key=ours");
    let fixed = Http {
        static_body: members(json!({"role": "guest"})),
        ..http("http://x.test/a", Verb::Put)
    };
    let body = fixed.request(&members(json!({"role": "admin", "n": 1}))).expect("a request").body;
    let body: Value = serde_json::from_slice(&body.expect("a body")).expect("JSON");
    assert_eq!(body, json!({"role": "guest", "n": 1}));
}

#[test]
fn no_argument_says_again_what_the_address_says() {
    let http = Http {
        static_query: vec![("key".to_owned(), "ours".to_owned())],
        ..http("http://x.test/a?fix=1&of={city}", Verb::Get)
    };
    let arguments = json!({"city": "Bree", "fix": 2, "FIX": 2, "fix[]": 3, " fix": 4, "of": "me",
        "Key": "theirs", "more": 5});
    assert_eq!(url(&http, arguments), "http://x.test/a?fix=1&of=Bree&more=5&key=ours");
    let posts =
        Http { static_body: members(json!({"role": "guest"})), verb: Verb::Post, ..http.clone() };
    let request = posts.request(&members(json!({"city": "Bree", "Role": "admin", "fix": 2})));
    let request = request.expect("a request");
    assert_eq!(request.url.query(), Some("fix=1&of=Bree&key=ours"));
    let body: Value = serde_json::from_slice(&request.body.expect("a body")).expect("JSON");
    assert_eq!(body, json!({"fix": 2, "role": "guest"}));
}

#[test]
fn fixed_and_connection_headers_are_protected() {
    let headers = vec![
        Header::fixed("X-Role", "guest").expect("a header"),
        Header::template("x-role", "{role}").expect("a header"),
    ];
    let http = Http { headers, ..http("http://x.test/a", Verb::Get) };
    let request = http.request(&members(json!({"role": "admin"}))).expect("a request");
    let roles: Vec<_> = request.headers.get_all("x-role").iter().collect();
    assert_eq!(roles, ["guest"]);
    for name in ["Host", "Content-Length", "Transfer-Encoding", "Connection"] {
        assert!(Header::template(name, "{a}").is_err(), "{name}");
    }
}

#[test]
fn header_holds_one_line() {
    let header = Header::template("X-City", "in {city}").expect("a header");
    let http = Http { headers: vec![header], ..http("http://x.test/a", Verb::Get) };
    let said =
        http.request(&members(json!({"city": "a\r\nX-Admin: 1"}))).err().map(|it| it.to_string());
    assert_eq!(said.as_deref(), Some("a header cannot hold line ends"));
    assert!(Header::fixed("X", "a\nb").is_err());
    assert!(Header::fixed("a b", "c").is_err());
}

#[test]
fn debug_output_omits_secrets() {
    let header = Header::fixed("Authorization", "s3cret").expect("a header");
    let http = Http { headers: vec![header], ..http("http://x.test/a?key=s3cret", Verb::Get) };
    let printed = format!("{:?}", Behaviour::Live(Arc::new(http.clone())));
    assert!(printed.contains("x.test") && !printed.contains("s3cret"), "{printed}");
    let request = http.request(&Map::new()).expect("a request");
    assert!(!format!("{:?}", request.headers).contains("s3cret"));
}

#[test]
fn members_are_removed_at_any_depth() {
    let mut value = json!([{"Pin": 1, "a": [{"pin": {"x": 1}, "b": 2}]}, "pin"]);
    without(&["pin".to_owned()], &mut value);
    assert_eq!(value, json!([{"a": [{"b": 2}]}, "pin"]));
}

#[test]
fn tools_of_removed_manifests_are_withdrawn() {
    use rand::SeedableRng;
    let host = ToolHost::new(rand::rngs::StdRng::seed_from_u64(1));
    let tool = |namespace: &str, name: &str| Manifest {
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        description: "Something.".to_owned(),
        input: json!({"type": "object"}),
        output: None,
        declared: Declared::default(),
        behaviour: Behaviour::Mock(Mock::Fixed(json!(1))),
    };
    let offered = |host: &ToolHost| -> Vec<String> {
        let snapshot = host.snapshot();
        snapshot.all().iter().map(|entry| entry.tool.identity.to_string()).collect()
    };
    offer(&host, &[tool("a", "x"), tool("b", "y"), tool("a", "z")]);
    assert_eq!(offered(&host), ["a.x", "a.z", "b.y"]);
    offer(&host, &[tool("a", "z")]);
    assert_eq!(offered(&host), ["a.z"]);
}
