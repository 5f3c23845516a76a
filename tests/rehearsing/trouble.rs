//! What the page does without a program, without a microphone, and under another name.

use super::{Rehearsal, SAY, TALK, TRANSCRIPT, is_greeted, is_shown, microphone, table};
use crate::support::browser::{Browser, Microphone};

#[test]
fn page_finds_a_restarted_program_in_time() {
    let place = table("");
    let recording = microphone(&place);
    let Some(browser) = Browser::start(Microphone::Plays(&recording)) else { return };
    let Rehearsal { program, port, link } = Rehearsal::start(&place);
    let page = browser.open(&link);
    is_greeted(&page);
    program.kill();
    is_shown(&page, &["trying again"]);
    let rehearsal = Rehearsal::at(&place, port);
    is_shown(&page, &["connected again"]);
    is_greeted(&page);
    assert_eq!(rehearsal.program.terminate(), 0);
}

#[test]
fn missing_microphone_is_explained_in_time() {
    let place = table("");
    let causes =
        [(Microphone::Refused, "doesn't allow"), (Microphone::Missing, "no microphone is")];
    for (microphone, notice) in causes {
        let Some(browser) = Browser::start(microphone) else { return };
        let rehearsal = Rehearsal::start(&place);
        let page = browser.open(&rehearsal.link);
        is_greeted(&page);
        page.press(TALK);
        is_shown(&page, &[notice]);
        // A player can still type.
        is_greeted(&page);
        assert_eq!(rehearsal.program.terminate(), 0);
    }
}

/// A name that another site had resolve to this machine.
#[test]
fn page_is_refused_under_another_name_in_time() {
    let place = table("");
    let recording = microphone(&place);
    let rules = ["--host-resolver-rules=MAP dm.test 127.0.0.1"];
    let Some(browser) = Browser::with(Microphone::Plays(&recording), &rules) else { return };
    let rehearsal = Rehearsal::start(&place);
    let page = browser.open(&rehearsal.link.replace("127.0.0.1", "dm.test"));
    page.wait("answer", |page| {
        let script = "document.readyState === 'complete' && location.hostname === 'dm.test'";
        Ok((page.tries_to_evaluate(script)? == true).then_some(()))
    });
    assert!(!page.has("textbox", SAY) && !page.has("log", TRANSCRIPT));
    // The link was not used.
    let page = browser.open(&rehearsal.link);
    is_greeted(&page);
}
