//! Ctrl-C in an evening on the terminal: what is said of it, what is kept, and the exit status.

use crate::support::program::Place;

const PIP: &str = "data_dir: data\nnpcs: [{ name: Pip, lines: [{ say: \"So it is.\" }] }]\n";
/// One line now, and one that comes much later.
const WAITING: [&str; 8] = ["ask", "--at", "0", "--text", "Pip, hello", "--at", "600", "--text"];

#[test]
fn interrupted_session_is_reported_as_saved() {
    let place = Place::with_config(PIP);
    let live = place.start(&[&WAITING[..], &["Pip, bye", "--session", "friday"]].concat());
    live.says("Pip: So it is.");
    let (status, said) = live.interrupt();
    assert_eq!(status, 1, "{said:#?}");
    let said = said.join("\n");
    assert!(said.contains("saved (glyphoxa session show friday)"), "{said}");
    assert!(!said.contains("nothing"), "{said}");
    let shown = place.run(&["session", "show", "friday"]).ends_with(0);
    assert!(shown.stdout.contains("So it is."), "{shown:#?}");
    let kept = std::fs::read_to_string(place.path("data/sessions/friday.json")).unwrap();
    assert!(kept.contains("So it is."), "the conversation goes on from there: {kept}");
}

#[test]
fn interrupt_names_the_recording_not_written() {
    let place = Place::with_config(PIP);
    let live = place.start(&[&WAITING[..], &["Pip, bye", "--out", "pip.wav"]].concat());
    live.says("Pip: So it is.");
    let (status, said) = live.interrupt();
    assert_eq!(status, 1, "{said:#?}");
    let said = said.join("\n");
    assert!(said.contains("'pip.wav' not written, nothing is saved"), "{said}");
    assert!(!place.path("pip.wav").exists());
}

#[test]
fn ctrl_c_while_typing_exits_with_status_0() {
    let place = Place::with_config(PIP);
    let mut live = place.start(&["ask", "--session", "friday"]);
    live.types("Pip, hello");
    live.says("Pip: So it is.");
    let (status, said) = live.interrupt();
    assert_eq!((status, said.iter().any(|line| line.contains("stopped"))), (0, false), "{said:#?}");
    let shown = place.run(&["session", "show", "friday"]).ends_with(0);
    assert!(shown.stdout.contains("So it is."), "{shown:#?}");
    // A user who has not typed anything yet has not failed either.
    let mut live = place.start_at_terminal(&["ask"]);
    live.says("type to the cast");
    live.types("\u{3}");
    assert_eq!(live.leave(), 0);
}

#[test]
fn interrupt_during_startup_exits_with_status_1() {
    let server = "mcp: { servers: [{ name: slow, required: true, sandbox: off, \
                  command: sh, args: [-c, \"echo up > up; sleep 100\"] }] }\n";
    let place = Place::with_config(&format!("{PIP}{server}"));
    let live = place.start(&["ask", "--text", "Pip, hello"]);
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !place.path("up").exists() {
        assert!(std::time::Instant::now() < until, "{:#?}", live.said());
        std::thread::yield_now();
    }
    let (status, said) = live.interrupt();
    assert_eq!(status, 1, "{said:#?}");
    assert!(said.iter().any(|line| line.contains("stopped before all was answered")), "{said:#?}");
}
