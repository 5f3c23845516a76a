//! `glyphoxa rehearse` in a real browser: a user who speaks, types and listens.
//!
//! In the gate one browser does what a first evening does ([`talking`]) and the page's types are checked
//! ([`types`]); the rest is for `./dev proof`. Without `chromium-headless-shell` the tests report that and
//! pass.

mod looks;
mod several;
mod talking;
mod trouble;
mod types;

use std::path::PathBuf;

use crate::{
    support::{
        browser::Page,
        program::{Live, Place},
        speech::{padded, plain_wav, speech},
    },
    third_party::free_port,
};

/// Words of the player's recording.
const ROLL: &str = "Bartok, roll two d six plus three";
/// Beginning of what is understood of it, before the dice.
const HEARD: &str = "Bartok, roll";
/// Beginning of Bartok's answer to it.
const ROLLED: &str = "The dice say";
/// Beginning of the story, which is long enough to be interrupted.
const STORY: &str = "We passed stone 1 on the road.";
/// Sentences of the story.
const MILES: u32 = 40;
/// His answer to anything else.
const GREETING: &str = "Well met.";
/// Name of the button that is held to talk.
const TALK: &str = "Talk";
/// Name of the text box.
const SAY: &str = "Say or command";
/// Name of the log.
const TRANSCRIPT: &str = "Conversation";
/// The page's heading.
const TITLE: &str = "Rehearsal";
/// Pixels by which the page is wider than its window.
const OVERFLOW: &str = "Math.max(0, document.documentElement.scrollWidth - innerWidth)";

/// A folder with Bartok, who tells a story, rolls dice and greets; `providers` is a line of the recogniser, or
/// empty.
fn table(providers: &str) -> Place {
    let place = Place::with_config(&format!("npc_dir: npcs\n{providers}"));
    let story: Vec<String> =
        (1..=MILES).map(|mile| format!("We passed stone {mile} on the road.")).collect();
    let bartok = format!(
        "name: Bartok\nvoice: {{ provider: flite, voice_id: rms }}\ntools: [dice-roller.roll]\nlines:\n  \
         - {{ when: [story], say: \"{}\" }}\n  \
         - {{ when: '/.*/', tool: {{ name: dice-roller.roll, arguments: {{ expression: \"{{dice}}\" }} }}, \
         say: \"{ROLLED} {{result.total}}.\" }}\n  \
         - {{ say: {GREETING} }}\n",
        story.join(" ")
    );
    place.write("npcs/bartok.yaml", bartok);
    place.brief()
}

/// Writes the recording that a browser plays again and again as its microphone: the request, and a silence
/// that is long enough to let go of the button.
fn microphone(place: &Place) -> PathBuf {
    place.write("microphone.wav", plain_wav(&padded(0.3, &speech("slt", ROLL), 3.0)));
    place.path("microphone.wav")
}

/// `glyphoxa rehearse` while it runs.
struct Rehearsal {
    program: Live,
    port: u16,
    /// The address that opens the page, once.
    link: String,
}

impl Rehearsal {
    #[track_caller]
    fn start(place: &Place) -> Self {
        Self::at(place, free_port())
    }

    #[track_caller]
    fn at(place: &Place, port: u16) -> Self {
        let program = place.start(&["rehearse", "--no-open", "--port", &port.to_string()]);
        let line = program.says("#token=");
        let link = line.find("http://").and_then(|at| line[at..].split_whitespace().next());
        let link = link.expect("a link").trim_end_matches([')', '.', ',']).to_owned();
        assert!(link.starts_with(&format!("http://127.0.0.1:{port}/")), "{line}");
        Self { program, port, link }
    }

    /// The page's address, for a browser that was let in.
    fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

/// Holds the button until the transcript agrees to `is_there`.
#[track_caller]
fn talks_until(page: &Page, is_there: impl Fn(&str) -> bool) -> String {
    let held = page.hold(TALK);
    let text = page.reads("log", TRANSCRIPT, is_there);
    page.release(held);
    text
}

/// How often the dice were rolled, by a transcript.
fn rolls(transcript: &str) -> usize {
    transcript.matches(ROLLED).count()
}

/// Waits until the page shows one of these texts, in any case.
#[track_caller]
fn is_shown(page: &Page, words: &[&str]) {
    page.wait(&format!("{words:?}"), |page| {
        let shown = page.tries_to_evaluate("document.body.innerText")?;
        let shown = shown.as_str().unwrap_or_default().to_lowercase();
        Ok(words.iter().any(|word| shown.contains(word)).then_some(()))
    });
}

/// Waits until a player can talk: before that the page is connecting.
#[track_caller]
fn is_connected(page: &Page) {
    page.awaits("button", TALK);
}

/// Opens the page's sound by a click anywhere, as browsers want it.
#[track_caller]
fn starts_sound(page: &Page) {
    is_connected(page);
    page.clicks("heading", TITLE);
    page.wait("loudspeaker", |page| {
        let is_open = page.tries_to_evaluate("instruments.isListening()")?;
        Ok((is_open == true).then_some(()))
    });
}

/// Types a line that Bartok greets.
#[track_caller]
fn is_greeted(page: &Page) {
    is_connected(page);
    let before = page.reads("log", TRANSCRIPT, |_| true).matches(GREETING).count();
    page.types(SAY, "Bartok, good evening");
    page.reads("log", TRANSCRIPT, |text| text.matches(GREETING).count() > before);
}
