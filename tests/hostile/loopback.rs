//! A web server of this machine that says what a test wants and remembers what it was asked.
//!
//! Entry type: [`Loopback`].

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use serde_json::Value;

/// Longest wait of a connection that says nothing.
const SILENT: Duration = Duration::from_secs(30);

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// "GET /a?b=c".
    pub line: String,
    /// All header lines and the body.
    pub rest: String,
}

/// Status, headers, body.
pub type Said = (u16, Vec<(&'static str, String)>, String);

/// A running server; its threads end with the process.
pub struct Loopback {
    address: SocketAddr,
    asked: Arc<Record>,
}

/// Requests, and a bell that rings with each.
#[derive(Default)]
struct Record {
    all: Mutex<Vec<Asked>>,
    bell: Condvar,
}

impl Loopback {
    /// A server that answers by `answer`, which is given the request and the server's own origin.
    pub fn start(answer: impl Fn(&Asked, &str) -> Said + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::new(Record::default());
        let (record, answer) = (Arc::clone(&asked), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (record, answer) = (Arc::clone(&record), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let request = read(&stream)?;
                    record.all.lock().unwrap().push(request.clone());
                    record.bell.notify_all();
                    let (status, headers, body) = answer(&request, &format!("http://{address}"));
                    let mut head = format!(
                        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n",
                        body.len()
                    );
                    for (name, value) in headers {
                        head.push_str(&format!("{name}: {value}\r\n"));
                    }
                    (&stream).write_all(format!("{head}\r\n{body}").as_bytes()).ok()
                });
            }
        });
        Self { address, asked }
    }

    /// A server that finds nothing.
    pub fn silent() -> Self {
        Self::start(|_, _| (404, Vec::new(), String::new()))
    }

    /// `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Everything it was asked.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.all.lock().unwrap().clone()
    }

    /// The first request, once there is one.
    pub fn first(&self, limit: Duration) -> Asked {
        let all = self.asked.all.lock().unwrap();
        let waited = self.asked.bell.wait_timeout_while(all, limit, |all| all.is_empty());
        waited.unwrap().0.first().expect("nobody asked").clone()
    }
}

/// JSON as an answer.
pub fn json(body: &Value) -> Said {
    (200, vec![("Content-Type", "application/json".to_owned())], body.to_string())
}

fn read(stream: &TcpStream) -> Option<Asked> {
    stream.set_read_timeout(Some(SILENT)).ok()?;
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let line = line.rsplit_once(' ')?.0.to_owned();
    let (mut rest, mut length) = (String::new(), 0);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        rest.push_str(&header);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    rest.push_str(&String::from_utf8_lossy(&body));
    Some(Asked { line, rest })
}
