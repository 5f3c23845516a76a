//! A web server of this machine that answers as a test wants, in bytes: whole, held back or dripped. As the
//! program's proxy, it answers for every address of the web.
//!
//! Entry types: [`WebServer`], [`Reply`], [`Gate`]. **Never**: keeps a connection for a second request.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use flate2::{Compression, write::GzEncoder};
use reqwest::Url;

/// Longest wait of a connection, and of an answer behind a gate.
const PATIENCE: Duration = Duration::from_secs(120);
/// Pause between two bytes of an answer that drips.
const DRIP: Duration = Duration::from_millis(200);

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    /// Of a request to a proxy the address it is for; else with this server's own name.
    pub url: Url,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// An answer.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    end: End,
}

/// End of an answer, after its body.
#[derive(Clone, Copy, Debug)]
enum End {
    /// Its length was announced.
    Whole,
    /// Nothing more, and the connection stays open.
    Held,
    /// A byte now and then.
    Drips,
}

/// A running server; its threads end with the process.
pub struct WebServer {
    address: SocketAddr,
    record: Arc<Mutex<Record>>,
}

#[derive(Default)]
struct Record {
    connections: usize,
    requests: Vec<Request>,
}

/// Holds answers back until the test opens it. Cloning shares it.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// Lets everything through from now on.
    pub fn open(&self) {
        let (is_open, bell) = &*self.0;
        *is_open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        bell.notify_all();
    }

    /// Waits until it is open, at most [`PATIENCE`].
    pub fn pass(&self) {
        let (is_open, bell) = &*self.0;
        let closed = is_open.lock().unwrap_or_else(PoisonError::into_inner);
        drop(bell.wait_timeout_while(closed, PATIENCE, |is_open| !*is_open));
    }
}

impl WebServer {
    /// A server that answers by `answer`.
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let record = Arc::new(Mutex::new(Record::default()));
        let (kept, answer) = (Arc::clone(&record), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                kept.lock().unwrap_or_else(PoisonError::into_inner).connections += 1;
                let (kept, answer) = (Arc::clone(&kept), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let request = read(&stream, address)?;
                    let mut record = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    record.requests.push(request.clone());
                    drop(record);
                    // A client may have gone away meanwhile.
                    answer(&request).send(&stream).ok()
                });
            }
        });
        Self { address, record }
    }

    /// A server that finds nothing.
    pub fn silent() -> Self {
        Self::start(|_| Reply::text(404, "nothing here"))
    }

    /// `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// Connections so far, those without a request too.
    pub fn connections(&self) -> usize {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).connections
    }

    /// The requests so far, in order.
    pub fn requests(&self) -> Vec<Request> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// The addresses that were asked for, in order.
    pub fn asked(&self) -> Vec<String> {
        self.requests().iter().map(|it| it.url.to_string()).collect()
    }
}

impl Request {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Query string, decoded.
    pub fn query(&self) -> Vec<(String, String)> {
        self.url.query_pairs().into_owned().collect()
    }
}

impl Reply {
    /// A body of some kind.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, body: body.into(), end: End::Whole }
    }

    /// Plain text.
    pub fn text(status: u16, text: &str) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text)
    }

    /// A page in UTF-8.
    pub fn html(text: &str) -> Self {
        Self::new(200, "text/html; charset=utf-8", text)
    }

    /// A redirect.
    pub fn to(place: &str) -> Self {
        Self::text(302, "").header("location", place)
    }

    /// One more header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Compresses the body.
    pub fn gzipped(mut self) -> Self {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        packer.write_all(&self.body).expect("memory takes it");
        self.body = packer.finish().expect("memory takes it");
        self.header("content-encoding", "gzip")
    }

    /// Nothing comes after the body, and the connection stays open.
    pub fn held(self) -> Self {
        Self { end: End::Held, ..self }
    }

    /// After the body a byte comes now and then, without an end.
    pub fn dripping(self) -> Self {
        Self { end: End::Drips, ..self }
    }

    fn send(&self, mut stream: &TcpStream) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Scripted\r\nconnection: close\r\n", self.status);
        if matches!(self.end, End::Whole) {
            head.push_str(&format!("content-length: {}\r\n", self.body.len()));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes())?;
        stream.write_all(&self.body)?;
        let until = Instant::now() + PATIENCE;
        match self.end {
            End::Whole => {}
            End::Held => drop(is_left(stream, PATIENCE)),
            End::Drips => {
                while Instant::now() < until && !is_left(stream, DRIP)? {
                    stream.write_all(b"a")?;
                }
            }
        }
        Ok(())
    }
}

/// True if the client disconnects within `limit`, without sending more.
fn is_left(mut stream: &TcpStream, limit: Duration) -> io::Result<bool> {
    stream.set_read_timeout(Some(limit))?;
    Ok(stream.read(&mut [0; 1]).is_ok())
}

fn read(stream: &TcpStream, address: SocketAddr) -> Option<Request> {
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?);
    let own = Url::parse(&format!("http://{address}/")).ok()?;
    let url = own.join(target).ok()?;
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or_default();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, url, headers, body })
}
