//! Several pages at one table.

use super::{
    GREETING, ROLLED, Rehearsal, SAY, TRANSCRIPT, is_greeted, is_shown, microphone, starts_sound,
    table,
};
use crate::support::browser::{Browser, Microphone};

#[test]
fn two_pages_are_two_players_in_time() {
    let place = table("");
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let first = browser.open(&rehearsal.link);
    starts_sound(&first);
    // The same browser was let in before.
    let second = browser.open(&rehearsal.address());
    starts_sound(&second);
    first.types(SAY, "Bartok, good evening");
    let transcripts = [&first, &second].map(|page| {
        page.hears(0.3);
        page.reads("log", TRANSCRIPT, |text| text.contains(GREETING))
    });
    assert!(transcripts.iter().all(|text| text.contains("Bartok, good evening")));
    second.types(SAY, "Bartok, roll two d six plus three");
    for page in [&first, &second] {
        let text = page.reads("log", TRANSCRIPT, |text| text.contains(ROLLED));
        assert!(text.contains("Player 2"), "the second of a name has a number: {text}");
        assert_eq!(page.mistakes(), [""; 0]);
    }
    assert_eq!(rehearsal.program.terminate(), 0);
}

#[test]
fn both_pages_hear_a_shipped_ambience_in_time() {
    let place = table("");
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let first = browser.open(&rehearsal.link);
    starts_sound(&first);
    let second = browser.open(&rehearsal.address());
    starts_sound(&second);
    first.types(SAY, "/music play rain");
    for page in [&first, &second] {
        page.hears(1.0);
        let shown = page.evaluate("document.getElementById('music-now').textContent");
        assert_eq!(shown, "Playing: Rain");
        // Nothing of it is a turn's.
        assert_eq!(page.evaluate("glyphoxa.sound().turns.length"), 0);
        assert_eq!(page.mistakes(), [""; 0]);
    }
    assert_eq!(rehearsal.program.terminate(), 0);
}

#[test]
fn used_link_admits_no_second_browser_in_time() {
    let place = table("");
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let Some(stranger) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let page = browser.open(&rehearsal.link);
    is_greeted(&page);
    let other = stranger.open(&rehearsal.link);
    is_shown(&other, &["may not enter"]);
    let asked = "new Promise((end) => { const socket = new WebSocket(`ws://${location.host}/table`); \
         socket.onopen = () => end('open'); socket.onerror = () => end('refused') })";
    assert_eq!(other.evaluate(asked), "refused");
    is_greeted(&page);
}

#[test]
fn table_goes_on_after_page_closes_in_time() {
    let place = table("");
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let rehearsal = Rehearsal::start(&place);
    let page = browser.open(&rehearsal.link);
    starts_sound(&page);
    page.types(SAY, "Bartok, tell me a story");
    page.hears(0.5);
    page.close();
    let again = browser.open(&rehearsal.address());
    is_greeted(&again);
    assert_eq!(again.mistakes(), [""; 0]);
    assert_eq!(rehearsal.program.terminate(), 0);
}
