//! Logging in to a server through the real program.

use std::{fs, time::Duration};

use serde_json::json;

use crate::support::{
    program::{Live, Place},
    protected::{Protected, SECRET},
};

fn config(url: &str, auth: &str) -> String {
    format!(
        "npcs: [{{ name: Bartok }}]\nmcp:\n  servers:\n    - name: vtt\n      url: {url}\n      auth: {auth}\n"
    )
}

/// Does what the person's browser does with the address the program prints.
fn log_in(running: &Live) {
    let address = running.says("/authorize?");
    // An error only says that there is one already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let page = runtime.block_on(async {
        let browser = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60));
        let browser = browser.build().unwrap();
        browser.get(address.trim()).send().await.unwrap().text().await.unwrap()
    });
    assert!(page.contains("close this page"), "{page}");
}

#[test]
fn login_is_asked_again_only_when_revoked() {
    let server = Protected::start();
    let place = Place::with_config(&config(&server.url(), "login"));
    let before = place.run(&["mcp", "servers", "--json"]).ends_with(1).line();
    let reason = before["reason"].as_str().unwrap();
    assert!(reason.contains("needs login"), "{reason}");
    assert!(reason.contains("glyphoxa mcp login vtt"), "{reason}");

    let running = place.start(&["mcp", "login", "vtt", "--no-open"]);
    log_in(&running);
    let kept = running.says("logged in to 'vtt'");
    assert_eq!(running.leave(), 0);
    let path = place.path("data/logins/vtt.json");
    assert!(kept.contains("vtt.json"), "{kept}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let ready = place.run(&["mcp", "servers", "--json"]).ends_with(0).line();
    assert_eq!(ready["tools"], json!(["play", "whisper"]), "{ready}");
    assert_eq!(server.done("authorize"), 1);

    // The access token is gone, the refresh token good: no login is asked for.
    server.state().access.clear();
    place.run(&["mcp", "servers", "--json"]).ends_with(0);
    assert_eq!(server.done("refresh"), 1);

    server.state().access.clear();
    server.state().refresh.clear();
    let revoked = place.run(&["mcp", "servers", "--json"]).ends_with(1).line();
    let reason = revoked["reason"].as_str().unwrap();
    assert!(reason.contains("no longer accepts the last login"), "{reason}");
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("refresh-"), "a refused token is not kept: {text}");
    let running = place.start(&["mcp", "login", "vtt", "--no-open"]);
    log_in(&running);
    assert_eq!(running.leave(), 0);
    place.run(&["mcp", "servers", "--json"]).ends_with(0);
    assert!(
        server
            .state()
            .refused
            .iter()
            .all(|why| why.starts_with("mcp: ") || why.contains("refresh"))
    );
}

#[test]
fn client_credentials_work_without_user_login() {
    let server = Protected::start();
    let auth = |secret: &str| {
        let issuer = server.issuer();
        format!(
            "{{ oauth: {{ client_id: program, client_secret: {secret}, scopes: [play], \
             issuer: \"{issuer}\" }} }}"
        )
    };
    let place = Place::with_config(&config(&server.url(), &auth(SECRET)));
    let ready = place.run(&["mcp", "servers", "--json"]).ends_with(0).line();
    assert_eq!(ready["state"], "ready");
    assert_eq!((server.done("mint"), server.done("authorize")), (1, 0));
    let wrong = Place::with_config(&config(&server.url(), &auth("guessed")));
    let refused = wrong.run(&["mcp", "servers", "--json"]).ends_with(1);
    assert!(refused.stdout.contains("could not be authorized"), "{refused:#?}");
    assert!(!refused.stdout.contains("guessed") && !refused.stderr.contains("guessed"));
}

#[test]
fn impossible_login_reports_the_reason() {
    let place = Place::with_config(&config("http://127.0.0.1:9/mcp", "{ token: abc }"));
    let unknown = place.run(&["mcp", "login", "home"]).ends_with(2);
    assert!(unknown.stderr.contains("unknown server 'home'"), "{unknown:#?}");
    assert!(unknown.message().contains("mcp.servers: vtt"));
    let token = place.run(&["mcp", "login", "vtt"]).ends_with(2);
    assert!(token.message().contains("without a login"), "{token:#?}");
    let silent = Place::with_config(&config("http://127.0.0.1:9/mcp", "login"));
    let silent = silent.run(&["mcp", "login", "vtt", "--no-open"]).ends_with(1);
    assert!(silent.stderr.contains("'vtt'"), "{silent:#?}");
}

#[test]
fn probe_reports_what_every_tool_answers() {
    let server = Protected::start();
    let place = Place::new();
    let found = place.run(&["mcp", "probe", &server.url(), "--json"]).ends_with(0).line();
    assert_eq!(found["protocol"], "2025-11-25");
    assert_eq!(found["server"], "protected");
    let calls = found["calls"].as_array().unwrap();
    let said: Vec<_> = calls.iter().map(|call| (&call["tool"], &call["text"])).collect();
    assert_eq!(
        said,
        [(&json!("play"), &json!("played")), (&json!("whisper"), &json!("whispered"))]
    );
    // One consent for a start, one for the scope of `whisper`.
    assert_eq!(server.done("authorize"), 2);
    let listed = place.run(&["mcp", "probe", "--list", &server.url()]).ends_with(0);
    assert!(
        listed.stdout.contains("2 tools") && !listed.stdout.contains("answered"),
        "{listed:#?}"
    );
}

#[test]
fn failed_probe_reports_the_cause_in_one_line() {
    let place = Place::new();
    let page = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = page.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in page.incoming().map_while(Result::ok) {
            use std::io::{BufRead, Write};
            let mut lines = std::io::BufReader::new(&stream).lines().map_while(Result::ok);
            while lines.next().is_some_and(|line| !line.is_empty()) {}
            let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\
                        Connection: close\r\n\r\nhi";
            let _ = (&stream).write_all(page.as_bytes());
        }
    });
    let page = place.run(&["mcp", "probe", &format!("http://{address}/")]).ends_with(1);
    assert!(page.stderr.contains("cannot be used as an MCP server"), "{page:#?}");
    assert!(page.message().contains("is this the address of an MCP server?"), "{page:#?}");
    let nobody = place.run(&["mcp", "probe", "http://127.0.0.1:9/mcp"]).ends_with(1);
    assert!(nobody.stderr.contains("cannot connect"), "{nobody:#?}");
    let wrong = place.run(&["mcp", "probe", "ftp://a"]).ends_with(2);
    assert!(wrong.message().contains("invalid address"), "{wrong:#?}");
    let missing = place.run(&["mcp", "probe", "--", "no-such-program-here"]).ends_with(1);
    assert!(missing.stderr.contains("cannot find the program"), "{missing:#?}");
}
