//! A page as its user has it: things by role and name, the mouse, the keyboard, and what is heard.
//!
//! Entry type: [`Page`].

use std::{cell::RefCell, rc::Rc, time::Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{BOUND, devtools::DevTools};

/// Listens to what pages play and to their microphone; see its head.
const INSTRUMENTS: &str = include_str!("instruments.js");
/// Milliseconds without sound after which an answer is over.
const QUIET_MS: f64 = 700.0;

/// A tab.
pub struct Page {
    devtools: Rc<RefCell<DevTools>>,
    target: String,
    session: String,
}

/// A place on a page, in CSS pixels.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    x: f64,
    y: f64,
}

impl Page {
    /// A tab that goes to `url`.
    #[track_caller]
    pub(super) fn open(
        devtools: Rc<RefCell<DevTools>>,
        target: String,
        session: String,
        url: &str,
    ) -> Self {
        let page = Self { devtools, target, session };
        for domain in ["Runtime", "Log", "Page", "DOM"] {
            page.call(&format!("{domain}.enable"), &json!({}));
        }
        let first = json!({ "source": INSTRUMENTS });
        page.call("Page.addScriptToEvaluateOnNewDocument", &first);
        page.call("Page.navigate", &json!({ "url": url }));
        page
    }

    fn tries(&self, method: &str, params: &Value) -> Result<Value, String> {
        self.devtools.borrow_mut().call(Some(&self.session), method, params)
    }

    #[track_caller]
    fn call(&self, method: &str, params: &Value) -> Value {
        self.tries(method, params).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Value of a script, of which a promise is awaited.
    ///
    /// # Errors
    /// Its exception, or the page is loading.
    pub fn tries_to_evaluate(&self, script: &str) -> Result<Value, String> {
        let asked = json!({
            "expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true
        });
        let mut answer = self.tries("Runtime.evaluate", &asked)?;
        match answer.get("exceptionDetails") {
            Some(details) => Err(format!("{script}: {details}")),
            None => Ok(answer["result"]["value"].take()),
        }
    }

    /// Like [`Self::tries_to_evaluate`]; an exception fails the test.
    #[track_caller]
    pub fn evaluate(&self, script: &str) -> Value {
        self.tries_to_evaluate(script).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The first value that `look` finds.
    #[track_caller]
    pub fn wait<T>(&self, what: &str, look: impl Fn(&Self) -> Result<Option<T>, String>) -> T {
        let until = Instant::now() + BOUND;
        loop {
            // While a page loads, what was looked at is gone.
            let found = look(self);
            if let Ok(Some(found)) = found {
                return found;
            }
            if Instant::now() > until {
                let shows = self.tries_to_evaluate("document.body.innerText");
                let (error, mistakes) = (found.err(), self.mistakes());
                panic!("no {what}: {error:?} {mistakes:#?}\n{shows:#?}");
            }
            self.devtools.borrow().pause();
        }
    }

    /// Ids of what a screen reader has with this role and name, and a user can use.
    fn nodes(&self, role: &str, name: &str) -> Result<Vec<Value>, String> {
        let document = self.tries("Runtime.evaluate", &json!({ "expression": "document" }))?;
        let asked = json!({ "objectId": document["result"]["objectId"], "role": role });
        let found = self.tries("Accessibility.queryAXTree", &asked)?;
        let nodes = found["nodes"].as_array().into_iter().flatten();
        let nodes = nodes.filter(|node| node["ignored"] != true && !is_disabled(node));
        let nodes =
            nodes.filter(|node| is_named(node["name"]["value"].as_str().unwrap_or(""), name));
        Ok(nodes.map(|node| node["backendDOMNodeId"].clone()).collect())
    }

    #[track_caller]
    fn node(&self, role: &str, name: &str) -> Value {
        let what = format!("{role} '{name}'");
        self.wait(&what, |page| Ok(page.nodes(role, name)?.into_iter().next()))
    }

    /// Waits until something with this role and name can be used.
    #[track_caller]
    pub fn awaits(&self, role: &str, name: &str) {
        self.node(role, name);
    }

    /// True if a screen reader has something with this role and name.
    pub fn has(&self, role: &str, name: &str) -> bool {
        self.nodes(role, name).is_ok_and(|nodes| !nodes.is_empty())
    }

    /// Text of everything with this role and name, line by line.
    fn text(&self, role: &str, name: &str) -> Result<String, String> {
        let mut texts = Vec::new();
        for node in self.nodes(role, name)? {
            let node = self.tries("DOM.resolveNode", &json!({ "backendNodeId": node }))?;
            let asked = json!({
                "objectId": node["object"]["objectId"],
                "functionDeclaration": "function () { return this.innerText }",
                "returnByValue": true
            });
            let answer = self.tries("Runtime.callFunctionOn", &asked)?;
            texts.push(answer["result"]["value"].as_str().unwrap_or_default().to_owned());
        }
        Ok(texts.join("\n"))
    }

    /// The text of everything with this role and name, once `is_there` agrees to it.
    #[track_caller]
    pub fn reads(&self, role: &str, name: &str, is_there: impl Fn(&str) -> bool) -> String {
        let what = format!("such text in {role} '{name}'");
        self.wait(&what, |page| Ok(Some(page.text(role, name)?).filter(|text| is_there(text))))
    }

    #[track_caller]
    fn centre(&self, role: &str, name: &str) -> Point {
        let node = json!({ "backendNodeId": self.node(role, name) });
        self.call("DOM.scrollIntoViewIfNeeded", &node);
        let quads = self.call("DOM.getContentQuads", &node);
        let of = |first: usize| {
            let corners = quads["quads"][0].as_array().expect("it is shown");
            corners.iter().skip(first).step_by(2).filter_map(Value::as_f64).sum::<f64>() / 4.0
        };
        Point { x: of(0), y: of(1) }
    }

    #[track_caller]
    fn mouse(&self, kind: &str, at: Point) {
        let event = json!({
            "type": kind, "x": at.x, "y": at.y, "button": "left",
            "buttons": i32::from(kind == "mousePressed"), "clickCount": 1
        });
        self.call("Input.dispatchMouseEvent", &event);
    }

    #[track_caller]
    fn presses(&self, role: &str, name: &str) -> Point {
        self.call("Page.bringToFront", &json!({}));
        let at = self.centre(role, name);
        self.mouse("mousePressed", at);
        at
    }

    /// Presses a button and keeps it down.
    #[track_caller]
    pub fn hold(&self, name: &str) -> Point {
        self.presses("button", name)
    }

    /// Clicks into the middle of something.
    #[track_caller]
    pub fn clicks(&self, role: &str, name: &str) {
        let at = self.presses(role, name);
        self.release(at);
    }

    /// Lets go of what is held.
    #[track_caller]
    pub fn release(&self, at: Point) {
        self.mouse("mouseReleased", at);
    }

    /// Presses a button.
    #[track_caller]
    pub fn press(&self, name: &str) {
        self.clicks("button", name);
    }

    /// Presses a key down, or lets go of it; `text` is what it types.
    #[track_caller]
    pub fn key(&self, is_down: bool, key: &str, text: &str) {
        let (code, number) = match key {
            " " => ("Space", 32),
            "Enter" => ("Enter", 13),
            other => panic!("no code of key '{other}' is known"),
        };
        let kind = if is_down { "keyDown" } else { "keyUp" };
        let mut event =
            json!({ "type": kind, "key": key, "code": code, "windowsVirtualKeyCode": number });
        if is_down {
            event["text"] = json!(text);
        }
        self.call("Input.dispatchKeyEvent", &event);
    }

    /// Types a line into a text box and presses Enter.
    #[track_caller]
    pub fn types(&self, name: &str, line: &str) {
        self.call("Page.bringToFront", &json!({}));
        let node = self.node("textbox", name);
        self.call("DOM.focus", &json!({ "backendNodeId": node }));
        self.call("Input.insertText", &json!({ "text": line }));
        self.key(true, "Enter", "\r");
        self.key(false, "Enter", "");
    }

    /// Loads the page again, and waits for it.
    #[track_caller]
    pub fn reload(&self) {
        self.evaluate("globalThis.isBeforeReload = true");
        self.call("Page.reload", &json!({}));
        let script = "!globalThis.isBeforeReload && document.readyState === 'complete'";
        self.wait("page after reload", |page| {
            Ok((page.tries_to_evaluate(script)? == true).then_some(()))
        });
    }

    /// Closes the tab.
    #[track_caller]
    pub fn close(self) {
        let target = json!({ "targetId": self.target });
        let closed = self.devtools.borrow_mut().call(None, "Target.closeTarget", &target);
        closed.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Exceptions and errors of all pages since the last call.
    pub fn mistakes(&self) -> Vec<String> {
        // Reports come with an answer.
        _ = self.tries_to_evaluate("1");
        self.devtools.borrow_mut().mistakes()
    }

    /// Sets the size of the window, and `light` or `dark`.
    #[track_caller]
    pub fn looks(&self, width: u32, height: u32, scheme: &str) {
        let size = json!({
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false
        });
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let features = json!({ "features": [
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" }
        ] });
        self.call("Emulation.setEmulatedMedia", &features);
    }

    /// A picture of the window, as PNG.
    #[track_caller]
    pub fn picture(&self) -> Vec<u8> {
        let picture = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        STANDARD.decode(picture["data"].as_str().expect("a picture")).expect("base64")
    }

    /// Forgets what the page has played so far.
    #[track_caller]
    pub fn listen_from_now(&self) {
        self.evaluate("instruments.listenFromNow()");
    }

    /// Waits until the page has played this many seconds of sound that is no silence.
    #[track_caller]
    pub fn hears(&self, seconds: f64) {
        let what = format!("{seconds} s of sound");
        self.wait(&what, |page| {
            let loud = page.tries_to_evaluate("instruments.loudSeconds()")?;
            Ok((loud.as_f64() >= Some(seconds)).then_some(()))
        });
    }

    /// Waits until the page has played nothing for a while.
    #[track_caller]
    pub fn is_quiet(&self) {
        self.wait("silence", |page| {
            let quiet = page.tries_to_evaluate("instruments.quietFor()")?;
            Ok((quiet.as_f64() >= Some(QUIET_MS)).then_some(()))
        });
    }

    /// What the page has played since [`Self::listen_from_now`]: rate and samples.
    #[track_caller]
    pub fn played(&self) -> (u32, Vec<i16>) {
        let played = self.evaluate("instruments.played()");
        let rate = played["rate"].as_u64().and_then(|rate| u32::try_from(rate).ok());
        let bytes = STANDARD.decode(played["samples"].as_str().expect("samples")).expect("base64");
        let samples = bytes.chunks_exact(2).map(|two| i16::from_le_bytes([two[0], two[1]]));
        (rate.expect("a rate"), samples.collect())
    }
}

/// True if a node of the accessibility tree is switched off.
fn is_disabled(node: &Value) -> bool {
    let mut properties = node["properties"].as_array().into_iter().flatten();
    properties.any(|it| it["name"] == "disabled" && it["value"]["value"] == true)
}

/// True if a name is `wanted`, perhaps with more behind it: "Talk (hold space)".
fn is_named(given: &str, wanted: &str) -> bool {
    let rest = given.strip_prefix(wanted);
    rest.is_some_and(|rest| wanted.is_empty() || !rest.starts_with(char::is_alphanumeric))
}
