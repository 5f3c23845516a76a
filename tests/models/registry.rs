//! A package registry of this machine: Python's simple API, the addresses of npm and of Hugging Face, with everything that
//! goes wrong on the way.
//!
//! Entry type: [`Registry`].

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    time::Duration,
};

use serde_json::json;

use super::packages::sha256;

/// Longest wait for a request.
const BOUND: Duration = Duration::from_secs(60);

/// Fate of the next answer to a request for a file.
#[derive(Clone, Debug)]
pub enum Fate {
    /// The connection ends after so many bytes.
    Cut(usize),
    /// Nothing more comes after so many bytes.
    Stall(usize),
    /// Only this status.
    Status(u16),
    /// Elsewhere; `{origin}` is this server.
    Redirect(String),
    /// These bytes instead.
    Bytes(Vec<u8>),
    /// Another part of the file than was asked for.
    WrongRange,
}

/// Behaviour of a registry.
#[derive(Default)]
pub struct Manner {
    /// Its lists are HTML.
    pub html: bool,
    /// It sends the whole file, whatever range is asked for.
    pub rangeless: bool,
    /// Lists say this of every hash.
    pub listed_hash: Option<String>,
    /// Nothing is given without it.
    pub authorization: Option<&'static str>,
    /// Of files, in order; afterwards all goes well.
    pub fates: Vec<Fate>,
}

/// A running registry; its threads end with the process.
pub struct Registry {
    state: Arc<State>,
}

struct State {
    address: SocketAddr,
    manner: Manner,
    fates: Mutex<VecDeque<Fate>>,
    /// By project and file name.
    files: BTreeMap<(String, String), Vec<u8>>,
    asked: Mutex<Vec<Asked>>,
    bell: Condvar,
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    pub path: String,
    pub range: Option<String>,
    pub authorization: Option<String>,
    pub accept: Option<String>,
}

impl Registry {
    /// Serves `files` (project, file name, content).
    pub fn start(manner: Manner, files: &[(&str, &str, &[u8])]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let files = files.iter().map(|(project, name, content)| {
            (((*project).to_owned(), (*name).to_owned()), content.to_vec())
        });
        let state = Arc::new(State {
            address,
            fates: Mutex::new(manner.fates.clone().into()),
            manner,
            files: files.collect(),
            asked: Mutex::default(),
            bell: Condvar::new(),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || state.serve(&stream));
            }
        });
        Self { state }
    }

    /// Its address: `http://127.0.0.1:PORT`.
    pub fn origin(&self) -> String {
        self.state.origin()
    }

    /// Address of its lists.
    pub fn index(&self) -> String {
        format!("{}/simple", self.origin())
    }

    /// Everything it was asked for.
    pub fn asked(&self) -> Vec<Asked> {
        self.state.asked.lock().unwrap().clone()
    }

    /// Requests for files.
    pub fn files_asked(&self) -> Vec<Asked> {
        let is_file = |asked: &Asked| !asked.path.starts_with("/simple/");
        self.asked().into_iter().filter(is_file).collect()
    }

    /// Waits until files were asked for so often.
    pub fn wait_for_files(&self, count: usize) {
        let asked = self.state.asked.lock().unwrap();
        let is_missing = |asked: &mut Vec<Asked>| {
            asked.iter().filter(|it| !it.path.starts_with("/simple/")).count() < count
        };
        let (asked, waited) = self.state.bell.wait_timeout_while(asked, BOUND, is_missing).unwrap();
        assert!(!waited.timed_out(), "only {asked:#?}");
    }
}

impl State {
    fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    fn serve(&self, stream: &TcpStream) -> Option<()> {
        stream.set_read_timeout(Some(BOUND)).ok()?;
        let asked = read(stream)?;
        self.asked.lock().unwrap().push(asked.clone());
        self.bell.notify_all();
        if self.manner.authorization.is_some_and(|it| asked.authorization.as_deref() != Some(it)) {
            return send(stream, 401, &[], b"who are you?");
        }
        // Hugging Face: /OWNER/NAME/resolve/REVISION/PATH.
        if let Some((repository, path)) = asked.path.trim_start_matches('/').split_once("/resolve/")
        {
            return self.file(stream, &asked, repository, path.rsplit('/').next()?);
        }
        let mut parts = asked.path.trim_start_matches('/').split('/');
        let mut next = || parts.next();
        let project = match next()? {
            // npm: a name may have a scope.
            scope if scope.starts_with('@') => format!("{scope}/{}", next()?),
            project => project.to_owned(),
        };
        match (&*project, next()?) {
            ("simple", project) => self.list(stream, &asked, project),
            // npm: /PACKAGE/-/FILE; Python's files: /packages/PROJECT/ab/FILE.
            ("packages", project) => {
                self.file(stream, &asked, project, asked.path.rsplit('/').next()?)
            }
            (project, "-") => self.file(stream, &asked, project, next()?),
            _ => send(stream, 404, &[], b""),
        }
    }

    fn list(&self, stream: &TcpStream, asked: &Asked, project: &str) -> Option<()> {
        // As PyPI does: a list is below its project's spelled name, with a slash.
        if !asked.path.ends_with('/') {
            let place = format!("{}/", asked.path);
            return send(stream, 301, &[("Location", &place)], b"");
        }
        let files: Vec<_> = self.files.iter().filter(|((of, _), _)| of == project).collect();
        if files.is_empty() {
            return send(stream, 404, &[], b"404 Not Found");
        }
        let hash =
            |content: &[u8]| self.manner.listed_hash.clone().unwrap_or_else(|| sha256(content));
        let place = |name: &str| format!("../../packages/{project}/ab/{name}");
        let wants_json = asked.accept.as_deref().is_some_and(|it| it.contains("simple.v1+json"));
        if self.manner.html || !wants_json {
            let links = files.iter().map(|((_, name), content)| {
                let (place, hash) = (place(name), hash(content));
                format!("<a href=\"{place}#sha256={hash}\" data-x=\"&gt;\">{name}</a><br/>\n")
            });
            let page =
                format!("<!DOCTYPE html><html><body>{}</body></html>", links.collect::<String>());
            return send(stream, 200, &[("Content-Type", "text/html")], page.as_bytes());
        }
        let files = files.iter().map(|((_, name), content)| {
            json!({"filename": name, "url": place(name), "size": content.len(),
                "hashes": {"sha256": hash(content)}, "yanked": false})
        });
        let page = json!({"meta": {"api-version": "1.4"}, "name": project,
            "files": files.collect::<Vec<_>>()});
        let kind = "application/vnd.pypi.simple.v1+json";
        send(stream, 200, &[("Content-Type", kind)], page.to_string().as_bytes())
    }

    fn file(&self, stream: &TcpStream, asked: &Asked, project: &str, name: &str) -> Option<()> {
        let key = (project.to_owned(), name.to_owned());
        let Some(content) = self.files.get(&key) else { return send(stream, 404, &[], b"") };
        let fate = self.fates.lock().unwrap().pop_front();
        let content = match &fate {
            Some(Fate::Status(status)) => return send(stream, *status, &[], b"not now"),
            Some(Fate::Redirect(place)) => {
                let place = place.replace("{origin}", &self.origin());
                return send(stream, 302, &[("Location", &place)], b"");
            }
            Some(Fate::Bytes(bytes)) => bytes,
            _ => content,
        };
        let from = asked.range.as_deref().filter(|_| !self.manner.rangeless).map(|range| {
            let from = range.strip_prefix("bytes=").and_then(|it| it.strip_suffix('-'));
            from.and_then(|it| it.parse::<usize>().ok()).expect("an open range")
        });
        let (status, from) = match from {
            Some(from) if from >= content.len() => {
                let all = format!("bytes */{}", content.len());
                return send(stream, 416, &[("Content-Range", &all)], b"");
            }
            Some(_) if matches!(fate, Some(Fate::WrongRange)) => (206, 0),
            Some(from) => (206, from),
            None => (200, 0),
        };
        let range = format!("bytes {from}-{}/{}", content.len() - 1, content.len());
        let rest = &content[from..];
        // Told that this is the last answer, a client closes its side at once.
        let is_last = !matches!(fate, Some(Fate::Stall(_)));
        let close = if is_last { "Connection: close\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nContent-Range: {range}\r\n{close}\r\n",
            rest.len()
        );
        let sent = match fate {
            Some(Fate::Cut(bytes) | Fate::Stall(bytes)) => bytes.min(rest.len()),
            _ => rest.len(),
        };
        let mut stream = stream;
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&rest[..sent]).ok()?;
        stream.flush().ok()?;
        if matches!(fate, Some(Fate::Stall(_))) {
            // Until the other side has had enough.
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).ok()?;
        }
        Some(())
    }
}

fn send(mut stream: &TcpStream, status: u16, headers: &[(&str, &str)], body: &[u8]) -> Option<()> {
    let mut head =
        format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
    stream.write_all(body).ok()
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut asked = Asked { path, range: None, authorization: None, accept: None };
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(": ") else { return Some(asked) };
        let value = Some(value.to_owned());
        match name.to_ascii_lowercase().as_str() {
            "range" => asked.range = value,
            "authorization" => asked.authorization = value,
            "accept" => asked.accept = value,
            _ => {}
        }
    }
}
