//! A real browser for tests, driven over its DevTools socket: no driver program.
//!
//! Entry types: [`Browser`], [`Page`]. A test finds things as a user or a screen reader does, by role and
//! name. Every wait is bounded by [`BOUND`]. The browser is Debian's `chromium-headless-shell`, or the
//! Chromium that `GLYPHOXA_TEST_BROWSER` names; [`Browser::start`] reports where neither is installed.
//!
//! Fake devices cannot test echo cancellation or the browser's rule on sound without a click.

mod devtools;
mod page;

use std::{
    cell::RefCell,
    env,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    rc::Rc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use self::devtools::{DevTools, pause};
pub use self::page::Page;
use super::skipped::skipped;

/// Longest wait for anything in a browser; far more than any needs on a machine that is busy.
const BOUND: Duration = Duration::from_secs(60);
/// Longest wait for a browser to end by itself.
const ENDS_WITHIN: Duration = Duration::from_secs(10);
const NAME: &str = "chromium-headless-shell";

/// Options of every start. The sandbox needs rights that a container lacks; pages here are our own.
const OPTIONS: [&str; 13] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--lang=en-US",
    "--accept-lang=en-US",
    "--autoplay-policy=no-user-gesture-required",
    "--remote-debugging-port=0",
];

/// The microphone of a browser.
#[derive(Clone, Copy, Debug)]
pub enum Microphone<'a> {
    /// Permitted; plays this WAV file again and again, from when a page opens it.
    Plays(&'a Path),
    /// Connected, but the user does not permit it.
    Refused,
    /// Permitted, but none is connected.
    Missing,
}

/// A running browser; ends when dropped.
pub struct Browser {
    devtools: Rc<RefCell<DevTools>>,
    process: Child,
    /// Its profile.
    _folder: TempDir,
}

impl Browser {
    /// Starts a browser; `None`, after a report: none is installed.
    pub fn start(microphone: Microphone<'_>) -> Option<Self> {
        Self::with(microphone, &[])
    }

    /// Like [`Self::start`], with more options.
    pub fn with(microphone: Microphone<'_>, options: &[&str]) -> Option<Self> {
        let Some(program) = installed() else {
            skipped("tests in a browser", &format!("there is no {NAME}"));
            return None;
        };
        let folder = TempDir::new().expect("a temporary folder");
        let mut command = Command::new(program);
        command.args(OPTIONS).args(devices(microphone)).args(options);
        command.arg(format!("--user-data-dir={}", folder.path().display())).arg("about:blank");
        command.env("HOME", folder.path()).env("LANGUAGE", "en");
        // Neither a real microphone nor a loudspeaker of this machine.
        command.env("PULSE_SERVER", folder.path()).env("ALSA_CONFIG_PATH", "/dev/null");
        let log = File::create(folder.path().join("log")).expect("a file is made");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let mut process = command.spawn().expect("the browser starts");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (port, path) = listens_at(&mut process, folder.path(), &runtime);
        let devtools = Rc::new(RefCell::new(DevTools::connect(runtime, port, &path)));
        let browser = Self { devtools, process, _folder: folder };
        if matches!(microphone, Microphone::Missing) {
            browser.call("Browser.grantPermissions", &json!({ "permissions": ["audioCapture"] }));
        }
        Some(browser)
    }

    /// Opens an address in a new tab.
    #[track_caller]
    pub fn open(&self, url: &str) -> Page {
        let target = self.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let target = target["targetId"].as_str().expect("a target").to_owned();
        let to = json!({ "targetId": target, "flatten": true });
        let attached = self.call("Target.attachToTarget", &to);
        let session = attached["sessionId"].as_str().expect("a session").to_owned();
        Page::open(Rc::clone(&self.devtools), target, session, url)
    }

    #[track_caller]
    fn call(&self, method: &str, params: &Value) -> Value {
        let answer = self.devtools.borrow_mut().call(None, method, params);
        answer.unwrap_or_else(|error| panic!("{error}"))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // By itself it takes its own children along.
        _ = self.devtools.borrow_mut().call(None, "Browser.close", &json!({}));
        let until = Instant::now() + ENDS_WITHIN;
        while self.process.try_wait().is_ok_and(|status| status.is_none()) {
            if Instant::now() > until {
                _ = self.process.kill();
                _ = self.process.wait();
                break;
            }
            self.devtools.borrow().pause();
        }
    }
}

/// The browser's program.
fn installed() -> Option<PathBuf> {
    if let Some(named) = env::var_os("GLYPHOXA_TEST_BROWSER") {
        return Some(PathBuf::from(named));
    }
    // The script in /usr/bin is another process, and could not be killed together with the browser.
    let path = Path::new("/usr/lib/chromium").join(NAME);
    path.is_file().then_some(path)
}

fn devices(microphone: Microphone<'_>) -> Vec<String> {
    let fake = "--use-fake-device-for-media-stream".to_owned();
    match microphone {
        Microphone::Plays(recording) => {
            // Of a file that is not there Chromium makes silence.
            assert!(recording.is_file(), "no recording {}", recording.display());
            let plays = format!("--use-file-for-fake-audio-capture={}", recording.display());
            vec![fake, "--use-fake-ui-for-media-stream".to_owned(), plays]
        }
        Microphone::Refused => vec![fake, "--use-fake-ui-for-media-stream=deny".to_owned()],
        Microphone::Missing => Vec::new(),
    }
}

/// Port and path of the DevTools socket, which the browser writes into its profile.
#[track_caller]
fn listens_at(process: &mut Child, profile: &Path, runtime: &Runtime) -> (u16, String) {
    let until = Instant::now() + BOUND;
    loop {
        let written = fs::read_to_string(profile.join("DevToolsActivePort")).unwrap_or_default();
        if let Some((port, path)) = written.split_once('\n')
            && let Ok(port) = port.parse()
            && path.starts_with('/')
        {
            return (port, path.trim().to_owned());
        }
        let has_ended = process.try_wait().is_ok_and(|status| status.is_some());
        if has_ended || Instant::now() > until {
            _ = process.kill();
            _ = process.wait();
            let log = fs::read_to_string(profile.join("log")).unwrap_or_default();
            panic!("the browser does not start: {log}");
        }
        pause(runtime);
    }
}
