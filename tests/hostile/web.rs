//! Clients that attack the web listener of the running bot; each attack by itself is beside the code.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use super::peak;
use crate::support::{
    NOBODY,
    program::{Live, Place},
};

/// Longest wait for an answer.
const BOUND: Duration = Duration::from_secs(60);
/// Connections that say nothing; far more than are served at once.
const SILENT: usize = 600;
/// Most memory that all attacks together may take, in MiB.
const GROWTH: u64 = 64;

/// The bot with a listener at `address`, and a Discord that is never there.
fn place(address: &str) -> Place {
    Place::with_config(&format!(
        "npcs: [{{ name: Pip, lines: [{{ say: Hello. }}] }}]\n\
         discord: {{ token: MTIz.abcdef.ghijkl, api_base: 'https://{NOBODY}' }}\n\
         web: {{ listen: '{address}' }}\n"
    ))
}

fn listening(place: &Place) -> (Live, SocketAddr) {
    let program = place.start(&["run"]);
    let said = program.says("listening on http://");
    let address = said.rsplit("http://").next().and_then(|it| it.trim().parse().ok());
    (program, address.unwrap_or_else(|| panic!("no address: {said}")))
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("something listens");
    stream.set_read_timeout(Some(BOUND)).expect("a socket");
    stream.set_write_timeout(Some(BOUND)).expect("a socket");
    stream
}

/// Status of the answer to a request with this line, these headers and what follows them.
fn status(address: SocketAddr, line: &str, headers: &[&str], body: &str) -> u16 {
    let mut stream = connect(address);
    let headers = headers.join("\r\n");
    let request = format!("{line} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n\r\n{body}");
    // A server that refuses reads no further.
    let _ = stream.write_all(request.as_bytes());
    let mut start = [0; 12];
    stream.read_exact(&mut start).expect("an answer");
    let start = String::from_utf8_lossy(&start).into_owned();
    start.rsplit(' ').next().and_then(|it| it.parse().ok()).expect("a status")
}

#[test]
fn listener_outlives_attacks_on_it() {
    let place = place("127.0.0.1:0");
    let (program, address) = listening(&place);
    let made = place.run(&["token", "create", "--role", "dm", "--local"]).ends_with(0).stdout;
    let token = made.split_whitespace().find(|word| word.starts_with("glx_")).expect("a token");
    let (host, bearer) = (format!("Host: {address}"), format!("Authorization: Bearer {token}"));
    let before = peak(&program);
    let silent: Vec<TcpStream> = (0..SILENT).map(|_| connect(address)).collect();
    let enters = || status(address, "GET /nothing", &[&host, &bearer], "");
    assert_eq!(enters(), 404);
    let in_address = format!("GET /mcp?token={token}");
    let foreign = ["Host: evil.example", bearer.as_str()];
    let page = [host.as_str(), "Origin: https://evil.example", bearer.as_str()];
    let huge = [host.as_str(), bearer.as_str(), "Content-Length: 104857600"];
    let deep = "[".repeat(1_000_000);
    let deep_length = format!("Content-Length: {}", deep.len());
    let nested = [host.as_str(), bearer.as_str(), deep_length.as_str()];
    for (line, headers, body, expected) in [
        (in_address.as_str(), &[host.as_str()][..], "", 401),
        ("GET /nothing", &foreign[..], "", 421),
        ("POST /nothing", &page[..], "", 403),
        ("POST /nothing", &huge[..], "", 413),
        ("POST /nothing", &nested[..], deep.as_str(), 400),
        ("TRACE /nothing", &[host.as_str(), bearer.as_str()][..], "", 405),
    ] {
        assert_eq!(status(address, line, headers, body), expected, "{line} {headers:?}");
    }
    assert_eq!(enters(), 404);
    let grown = peak(&program).saturating_sub(before);
    assert!(grown <= GROWTH, "{grown} MiB");
    // Connections that are open do not hold up the end.
    assert_eq!(program.terminate(), 0);
    drop(silent);
}

#[test]
fn port_in_use_is_said_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address");
    let ran = place(&address.to_string()).run(&["run"]).ends_with(1);
    assert!(ran.message().starts_with(&format!("address {address} is in use (")), "{ran:#?}");
}
