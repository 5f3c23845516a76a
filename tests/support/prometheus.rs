//! Prometheus, as `./dev test` unpacks it, and its tool that checks what it reads.
//!
//! Entry type: [`Prometheus`]; entry functions: [`promtool`], [`fetched`].

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use tempfile::TempDir;

use super::{
    processes::wait_until,
    program::{Ran, run, shipped},
    skipped::{not_installed, skipped, third_party},
};

/// Longest wait for an answer.
const BOUND: Duration = Duration::from_secs(120);

/// One of Prometheus' two programs; `None`, after a report: it is not here.
fn program(name: &str) -> Option<PathBuf> {
    let path = third_party("prometheus").join("usr/bin").join(name);
    if path.exists() {
        return Some(path);
    }
    skipped("tests with Prometheus", &not_installed("prometheus"));
    None
}

/// Runs Prometheus' tool, which reads `typed`; `None`, after a report: it is not here.
pub fn promtool(arguments: &[&str], typed: &str) -> Option<Ran> {
    let mut command = Command::new(program("promtool")?);
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    Some(run(command, typed))
}

/// The body at `path` of a server on this machine. Fails on any status but 200.
pub fn fetched(port: u16, path: &str) -> Result<String, String> {
    let answer = || -> std::io::Result<String> {
        let mut socket = TcpStream::connect(("127.0.0.1", port))?;
        socket.set_read_timeout(Some(BOUND))?;
        // Version 1.0: the body ends with the connection.
        write!(
            socket,
            "GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        Ok(answer)
    };
    let answer = answer().map_err(|error| error.to_string())?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.split(' ').nth(1) == Some("200") => Ok(body.to_owned()),
        _ => Err(answer),
    }
}

/// A running Prometheus with the shipped configuration; it ends when dropped.
pub struct Prometheus {
    child: Child,
    port: u16,
    _folder: TempDir,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    /// Listens on `port`, and reads the program on `scraped` every second. `None`, after a report:
    /// it is not here.
    pub fn start(port: u16, scraped: u16) -> Option<Self> {
        let program = program("prometheus")?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        let config = shipped("deploy/prometheus/prometheus.yml");
        let (own, every) = (format!("127.0.0.1:{scraped}\"]"), "_interval: 1s");
        let config = config.replace("127.0.0.1:4100\"]", &own).replace("_interval: 15s", every);
        assert!(config.contains(&own) && config.matches(every).count() == 2, "{config}");
        fs::write(at("prometheus.yml"), config).expect("a file is written");
        fs::write(at("alerts.yml"), shipped("deploy/prometheus/alerts.yml")).expect("a file");
        let mut command = Command::new(program);
        command
            .arg(format!("--config.file={}", at("prometheus.yml").display()))
            .arg(format!("--storage.tsdb.path={}", at("data").display()))
            .arg(format!("--web.listen-address=127.0.0.1:{port}"))
            .arg("--log.level=error")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let child = command.spawn().expect("it starts");
        Some(Self { child, port, _folder: folder })
    }

    /// Data of Prometheus' API, once it listens.
    fn asked(&self, path: &str) -> Value {
        let mut answer = Err(String::new());
        wait_until(path, || {
            answer = fetched(self.port, path);
            answer.is_ok()
        });
        let text = answer.expect("an answer");
        let answer: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(answer["status"], "success", "{path}: {answer}");
        answer["data"].clone()
    }

    /// Values of a query now, without those that are no number.
    pub fn query(&self, query: &str) -> Vec<f64> {
        let query = utf8_percent_encode(query, NON_ALPHANUMERIC);
        let data = self.asked(&format!("/api/v1/query?query={query}"));
        let results = data["result"].as_array().expect("a vector").iter();
        let values = results.filter_map(|it| it["value"][1].as_str()?.parse::<f64>().ok());
        values.filter(|value| value.is_finite()).collect()
    }

    /// Waits until a query has values that are as wanted.
    #[track_caller]
    pub fn until(&self, query: &str, wanted: impl Fn(&[f64]) -> bool) {
        wait_until(query, || wanted(&self.query(query)));
    }

    /// Rules that Prometheus could not evaluate.
    pub fn broken_rules(&self) -> Vec<Value> {
        let data = self.asked("/api/v1/rules");
        let groups = data["groups"].as_array().expect("groups").iter();
        let rules = groups.flat_map(|group| group["rules"].as_array().expect("rules"));
        rules.filter(|rule| rule["health"] != "ok").cloned().collect()
    }
}
