//! Addresses to which others would send the program, and what it would take there.

use std::time::Duration;

use discord_loopback::{Options, Slash};
use serde_json::{Value, json};

use super::loopback::{Asked, Loopback, Said, json};
use crate::{
    bot::hall::Hall,
    support::{
        program::Place,
        protected::{Protected, SECRET},
    },
};

/// Longest wait for a connection that is made in the background.
const BOUND: Duration = Duration::from_secs(120);

/// A place whose server `vtt` is at `url`, with `auth`.
fn place(url: &str, auth: &str) -> Place {
    Place::with_config(&format!(
        "npcs: [{{ name: Bartok }}]\nmcp_servers:\n  vtt:\n    url: {url}\n    auth: {auth}\n"
    ))
}

/// An MCP server that wants a token, and says of itself what `metadata` makes of its origin and the
/// last part of the path asked for; it names `authority` as the one that gives out tokens.
fn wanting(
    authority: impl Fn(&str) -> String + Send + Sync + 'static,
    metadata: impl Fn(&str) -> Value + Send + Sync + 'static,
) -> Loopback {
    Loopback::start(move |asked: &Asked, origin: &str| -> Said {
        let path = asked.line.split(' ').nth(1).unwrap_or_default();
        if path.starts_with("/.well-known/oauth-protected-resource") {
            return json(&json!({
                "resource": format!("{origin}/mcp"), "authorization_servers": [authority(origin)],
            }));
        }
        if path.starts_with("/.well-known/") {
            return json(&metadata(origin));
        }
        if path == "/register" {
            return json(&json!({"client_id": "c", "client_secret": "registered-secret",
                "redirect_uris": []}));
        }
        let said = format!(
            "Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\""
        );
        (401, vec![("WWW-Authenticate", said)], String::new())
    })
}

/// Metadata of the authorization server at `issuer`, whose tokens are given out at `token`.
fn metadata(issuer: &str, login: &str, token: &str, own: &str) -> Value {
    json!({
        "issuer": issuer,
        "authorization_endpoint": login,
        "token_endpoint": token,
        "registration_endpoint": format!("{own}/register"),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "client_credentials"],
        "code_challenge_methods_supported": ["S256"],
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn game_master_urls_never_reach_local_network() {
    let (inside, proxy) = (Loopback::silent(), Loopback::silent());
    let mut hall = Hall::new(Options::default(), "").await;
    let own = std::mem::replace(&mut hall.place, Place::new());
    hall.place = own.env("HTTP_PROXY", &proxy.origin());
    hall.start().await;
    let port = inside.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "①②⑦.⓪.⓪.①",
        "１２７.0.0.1",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "%6c%6f%63%61%6c%68%6f%73%74",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::1]",
        "[fe80::1%25lo]",
        "100.64.0.1",
        "192.0.0.8",
        "198.18.0.1",
        "169.254.169.254",
        "metadata.google.internal",
        "nas.local",
        "router",
        "a@127.0.0.1",
    ] {
        let add = Slash::new("tools server add").option("name", "far");
        let add = add.option("url", &*format!("http://{host}:{port}/mcp"));
        let said = hall.told(&hall.dm, add).await;
        let is_refused = said.contains("discord.trust_dms") || said.contains("'url' is");
        assert!(is_refused, "{host}: {said}");
    }
    assert_eq!(inside.asked().len(), 0, "{:#?}", inside.asked());
    assert_eq!(proxy.asked().len(), 0, "a proxy is not asked either: {:#?}", proxy.asked());

    // Addresses outside go to the proxy, but no names: their addresses could not be checked.
    let add = Slash::new("tools server add").option("name", "far");
    let add = add.option("url", "http://tools.example.com/mcp");
    let said = hall.told(&hall.dm, add).await;
    assert!(said.contains("discord.trust_dms"), "{said}");
    assert_eq!(proxy.asked().len(), 0, "{:#?}", proxy.asked());
    let add = Slash::new("tools server add").option("name", "far");
    let add = add.option("url", "http://1.1.1.1/mcp");
    let said = hall.told(&hall.dm, add).await;
    assert!(said.contains("Connecting 'far'"), "{said}");
    let asked = tokio::task::block_in_place(|| proxy.first(BOUND));
    assert_eq!(asked.line, "POST http://1.1.1.1/mcp");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
}

#[test]
fn redirects_to_another_port_are_not_followed() {
    let other = Loopback::silent();
    let target = format!("{}/mcp", other.origin());
    for status in [301, 302, 303, 307, 308] {
        let target = target.clone();
        let server = Loopback::start(move |_, _| {
            (status, vec![("Location", target.clone())], String::new())
        });
        let place = place(&format!("{}/mcp", server.origin()), "{ token: keep-me }");
        let ran = place.run(&["mcp", "servers", "--json"]).ends_with(1);
        assert!(!ran.stdout.contains("keep-me"), "{ran:#?}");
        assert!(server.asked()[0].rest.contains("keep-me"));
        // A tool of a file, with its key.
        place.write(
            "tools/forecast.yaml",
            format!(
                "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nmetadata: {{ name: forecast, \
                 namespace: weather }}\nspec:\n  description: The weather.\n  input_schema: {{ type: \
                 object }}\n  http: {{ url: \"{}/x\", method: GET, headers: {{ X-Key: keep-me }} }}\n",
                server.origin()
            ),
        );
        let called = place.run(&["tools", "call", "weather.forecast", "{}"]);
        assert!(
            called.stdout.contains("redirects elsewhere")
                || called.stderr.contains("redirects elsewhere"),
            "{called:#?}"
        );
    }
    assert_eq!(other.asked().len(), 0, "{:#?}", other.asked());
}

#[test]
fn secret_goes_only_to_configured_issuer() {
    let good = Protected::start();
    let evil = wanting(str::to_owned, |own| {
        metadata(own, &format!("{own}/authorize"), &format!("{own}/token"), own)
    });
    let url = format!("{}/mcp", evil.origin());
    let secret = format!(
        "{{ oauth: {{ client_id: program, client_secret: {SECRET}, scopes: [play], issuer: \"{}\" }} }}",
        good.issuer()
    );
    let ran = place(&url, &secret).run(&["mcp", "servers", "--json"]).ends_with(1);
    assert!(ran.stdout.contains("could not be authorized"), "{ran:#?}");
    // The issuer was asked, and gives no tokens for such a server.
    assert_eq!(good.state().refused, ["token: no resource"]);
    assert!(!evil.asked().is_empty());
    for asked in evil.asked() {
        assert!(!asked.rest.contains("sesame") && asked.line != "POST /token", "{asked:#?}");
    }
}

#[test]
fn without_an_issuer_a_secret_stays_here() {
    let server = Protected::start();
    let auth = format!("{{ oauth: {{ client_id: program, client_secret: {SECRET} }} }}");
    let place = place(&server.url(), &auth);
    for command in [&["check"][..], &["mcp", "servers"], &["mcp", "probe", &server.url()]] {
        let context = json!({"client_id": "program", "client_secret": SECRET});
        let ran = match command {
            ["mcp", "probe", ..] => {
                Place::new().env("MCP_CONFORMANCE_CONTEXT", &context.to_string()).run(command)
            }
            _ => place.run(command),
        };
        assert_ne!(ran.status, 0, "{ran:#?}");
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(said.contains("issuer") && said.contains("token_url"), "{said}");
        assert!(!said.contains("sesame"), "{said}");
    }
    assert_eq!(
        (server.done("mint"), &*server.state().refused),
        (0, &["mcp: no token".to_owned()][..])
    );
    let context =
        json!({"client_id": "program", "client_secret": SECRET, "issuer": server.issuer()});
    let known = Place::new().env("MCP_CONFORMANCE_CONTEXT", &context.to_string());
    known.run(&["mcp", "probe", "--list", &server.url()]).ends_with(0);
    assert_eq!(server.done("mint"), 1);
}

#[test]
fn metadata_for_another_issuer_is_refused() {
    // The page to log in at is the good one's; what it gives would go to the other.
    let good = Protected::start();
    let issuer = good.issuer();
    let evil = wanting(
        |own| format!("{own}/.well-known/elsewhere"),
        move |own| metadata(&issuer, &format!("{issuer}/authorize"), &format!("{own}/token"), own),
    );
    let place = place(&format!("{}/mcp", evil.origin()), "login");
    let ran = place.run(&["mcp", "login", "vtt", "--no-open", "--timeout", "5"]).ends_with(1);
    assert!(ran.stderr.contains("publishes metadata for"), "{ran:#?}");
    assert!(!ran.stderr.contains("log in here"), "{ran:#?}");
    assert_eq!(good.done("authorize"), 0);
}

#[test]
fn login_page_is_on_the_web() {
    for (page, says) in [
        ("file:///etc/passwd", "'file' is not an http:// or https:// address"),
        ("javascript:alert(1)", "'javascript' is not an http:// or https:// address"),
        ("http://169.254.169.254/latest", "'169.254.169.254' is not on the public internet"),
        ("http://10.0.0.1/a", "'10.0.0.1' is not on the public internet"),
        ("https://somebody@example.com/", "a user name"),
    ] {
        let evil =
            wanting(str::to_owned, move |own| metadata(own, page, &format!("{own}/token"), own));
        let place = place(&format!("{}/mcp", evil.origin()), "login");
        let ran = place.run(&["mcp", "login", "vtt", "--no-open", "--timeout", "5"]).ends_with(1);
        assert!(ran.stderr.contains(says), "{page}: {ran:#?}");
        assert!(!ran.stderr.contains("log in here"), "{page}: {ran:#?}");
    }
}

#[test]
fn discovery_leads_to_nothing_inside() {
    // The token endpoint of a server on this machine is asked for a registration elsewhere.
    for elsewhere in ["http://10.255.255.1:9", "http://169.254.169.254", "http://[fd00::1]"] {
        let evil = wanting(str::to_owned, move |own| {
            metadata(own, &format!("{own}/authorize"), &format!("{own}/token"), elsewhere)
        });
        let place = place(&format!("{}/mcp", evil.origin()), "login");
        let ran = place.run(&["mcp", "login", "vtt", "--no-open", "--timeout", "5"]).ends_with(1);
        assert!(ran.stderr.contains("is not on the public internet"), "{elsewhere}: {ran:#?}");
    }
    for elsewhere in ["http://10.255.255.1:9/", "http://169.254.169.254/", "http://①0.0.0.1/"] {
        let evil = wanting(move |_| elsewhere.to_owned(), |_| Value::Null);
        let place = place(&format!("{}/mcp", evil.origin()), "login");
        place.run(&["mcp", "login", "vtt", "--no-open", "--timeout", "5"]).ends_with(1);
    }
}

#[test]
fn addresses_in_files_mean_what_they_say() {
    for host in ["①②⑦.⓪.⓪.①", "%31%32%37.0.0.1", "127.1", "0x7f.0.0.1", "127.0.0.1.", "a..b"]
    {
        let url = format!("\"http://{host}/mcp\"");
        let ran = place(&url, "login").run(&["check"]).ends_with(2);
        assert!(ran.stderr.contains("'url' is"), "{host}: {ran:#?}");
        let place = Place::with_config("npcs: [{ name: Bartok }]\n");
        place.write(
            "tools/forecast.yaml",
            format!(
                "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nmetadata: {{ name: forecast }}\n\
                 spec:\n  description: The weather.\n  input_schema: {{ type: object }}\n  http: {{ \
                 url: {url} }}\n"
            ),
        );
        let ran = place.run(&["check"]).ends_with(2);
        assert!(ran.stderr.contains("'url' is"), "{host}: {ran:#?}");
    }
}

#[test]
fn model_changes_nothing_that_a_manifest_fixes() {
    let server = Loopback::start(|_, _| json(&json!({"ok": true})));
    let place = Place::with_config("npcs: [{ name: Bartok, tools: [\"weather.*\"] }]\n");
    place.write(
        "tools/forecast.yaml",
        format!(
            "apiVersion: promptkit.altairalabs.ai/v1\nkind: Tool\nmetadata: {{ name: forecast, \
             namespace: weather }}\nspec:\n  description: The weather.\n  input_schema: {{ type: \
             object }}\n  http:\n    url: \"{}/v1/{{city}}/now?fix=1&of={{city}}\"\n    method: GET\n    \
             headers: {{ X-Role: guest }}\n    headers_from_env: [WEATHER_KEY]\n    request: {{ \
             static_query: {{ key: ours }}, header_params: {{ x-role: \"{{role}}\" }} }}\n",
            server.origin()
        ),
    );
    let place = place.env("WEATHER_KEY", "s3cret");
    let attack = "../../admin?fix=2#@evil.example//";
    let arguments = json!({
        "city": attack, "fix": 2, "FIX": 3, "fix[]": 4, "of": "x", "key": "theirs", "role": "admin",
    });
    let ran = place.run(&["tools", "call", "weather.forecast", &arguments.to_string()]);
    assert_eq!(ran.status, 0, "{ran:#?}");
    let asked = server.asked();
    assert_eq!(asked.len(), 1, "{asked:#?}");
    let encoded = "..%2F..%2Fadmin%3Ffix%3D2%23%40evil.example%2F%2F";
    assert_eq!(asked[0].line, format!("GET /v1/{encoded}/now?fix=1&of={encoded}&key=ours"),);
    let headers = asked[0].rest.to_ascii_lowercase();
    assert!(headers.contains("x-role: guest") && !headers.contains("admin"), "{headers}");
    assert!(headers.contains("weather-key: s3cret"), "{headers}");
}
