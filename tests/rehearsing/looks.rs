//! Every state of the page in three widths, light and dark: nothing overflows, axe-core has no serious
//! finding, and `./dev screens` stores a picture of each.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    OVERFLOW, ROLLED, Rehearsal, SAY, TALK, TRANSCRIPT, is_connected, is_greeted, is_shown,
    microphone, starts_sound, table,
};
use crate::{
    support::{
        browser::{Browser, Microphone, Page},
        program::Place,
    },
    third_party::installed,
};

/// Sizes of windows: a narrow telephone, a tablet, a wide screen.
const SIZES: [(u32, u32); 3] = [(360, 740), (800, 1_000), (1_440, 900)];
const SCHEMES: [&str; 2] = ["light", "dark"];
/// axe-core's serious findings, with what they are about.
const SERIOUS: &str = "axe.run().then(({ violations }) => violations\
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))\
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`))";

/// Looks at states, and collects what is wrong.
struct Look {
    /// Text of axe-core; `None`: not installed.
    axe: Option<String>,
    /// Folder of the pictures.
    pictures: Option<PathBuf>,
    wrong: Vec<String>,
}

impl Look {
    fn new() -> Self {
        let axe = installed("page-tools").map(|it| it.join("node_modules/axe-core/axe.min.js"));
        let pictures = env::var_os("GLYPHOXA_TEST_SCREENS").map(PathBuf::from);
        Self { axe: axe.map(|file| read(&file)), pictures, wrong: Vec::new() }
    }

    /// Looks at the page as it is.
    #[track_caller]
    fn at(&mut self, page: &Page, state: &str) {
        for (scheme, (width, height)) in
            SCHEMES.iter().flat_map(|scheme| SIZES.iter().map(move |size| (*scheme, *size)))
        {
            page.looks(width, height, scheme);
            let name = format!("{state}-{width}-{scheme}");
            let overflow = page.evaluate(OVERFLOW);
            if overflow != 0 {
                self.wrong.push(format!("{name}: {overflow} pixels too wide"));
            }
            if let Some(folder) = &self.pictures {
                let file = folder.join(format!("{name}.png"));
                fs::write(file, page.picture()).expect("a picture is written");
            }
        }
        for scheme in SCHEMES {
            page.looks(SIZES[0].0, SIZES[0].1, scheme);
            let findings = self.axe.as_ref().map(|axe| serious(page, axe)).unwrap_or_default();
            self.wrong.extend(findings.iter().map(|it| format!("{state}, {scheme}: {it}")));
        }
    }
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).expect("an installed file")
}

/// Serious findings of axe-core.
#[track_caller]
fn serious(page: &Page, axe: &str) -> Vec<String> {
    page.evaluate(&format!("if (!globalThis.axe) {{\n{axe}\n}}\n1"));
    let found = page.evaluate(SERIOUS);
    let found = found.as_array().expect("a list").iter().filter_map(Value::as_str);
    found.map(str::to_owned).collect()
}

#[test]
fn every_state_fits_and_is_accessible_at_length() {
    let place = table("");
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let mut look = Look::new();
    let page = browser.open(&rehearsal.link);
    is_connected(&page);
    let tier = page.evaluate("document.getElementById('tier').value");
    assert_eq!(tier, "", "each turn's own");
    look.at(&page, "start");
    aside(&mut look, &page);
    at_the_table(&mut look, &page, &place);
    rehearsal.program.kill();
    is_shown(&page, &["trying again"]);
    look.at(&page, "lost");
    drop(browser);
    without_microphone(&mut look, &place);
    assert!(look.wrong.is_empty(), "{:#?}", look.wrong);
}

/// What a narrow page shows in place of the conversation, and the settings.
#[track_caller]
fn aside(look: &mut Look, page: &Page) {
    page.press("Table");
    page.awaits("button", "Mute: Bartok");
    look.at(page, "table");
    page.press("Table");
    page.press("Settings");
    look.at(page, "settings");
    page.press("Close");
}

/// States of a table that plays.
#[track_caller]
fn at_the_table(look: &mut Look, page: &Page, place: &Place) {
    let held = page.hold(TALK);
    look.at(page, "talking");
    page.release(held);
    page.types(SAY, "Bartok, roll two d six plus three");
    page.reads("log", TRANSCRIPT, |text| text.contains(ROLLED));
    look.at(page, "answer");
    page.evaluate("document.querySelector('.answer details').open = true");
    look.at(page, "details");
    page.press("Why did it say that?");
    look.at(page, "why");
    page.reload();
    starts_sound(page);
    // A word without an end must not widen the page.
    page.types(SAY, &format!("Bartok, tell me a story of {}", "x".repeat(200)));
    page.hears(0.3);
    look.at(page, "speaking");
    page.press("X-card");
    look.at(page, "card");
    let good = read(&place.path("npcs/bartok.yaml"));
    place.write("npcs/bartok.yaml", good.replace("lines:", "linse:"));
    is_shown(page, &["bartok.yaml"]);
    look.at(page, "mistake");
    place.write("npcs/bartok.yaml", good);
}

#[track_caller]
fn without_microphone(look: &mut Look, place: &Place) {
    let Some(browser) = Browser::start(Microphone::Refused) else { return };
    let rehearsal = Rehearsal::start(place);
    let page = browser.open(&rehearsal.link);
    is_greeted(&page);
    page.press(TALK);
    is_shown(&page, &["doesn't allow"]);
    look.at(&page, "no-microphone");
    assert_eq!(rehearsal.program.terminate(), 0);
}
