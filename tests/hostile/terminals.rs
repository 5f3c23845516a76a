//! Words of others that would act on their reader: on a terminal and in exported files every character is
//! seen, and a line end in a name begins no line.

use std::fs;

use serde_json::json;

use crate::support::{
    chat_server::{ChatServer, Script},
    program::{Place, Ran},
};

/// Characters that clear a terminal, ring, turn words around, or end a line.
const ACTS: [char; 5] = ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\r'];

#[track_caller]
fn is_inert(ran: &Ran) {
    let all = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!all.contains(ACTS), "{all:?}");
}

#[test]
fn words_of_a_model_do_not_act_on_a_terminal() {
    let server = ChatServer::start();
    let place = Place::with_config(&format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\n\
         npcs:\n  - {{ name: Bartok, budget_tier: deep, tools: [dice-roller.*] }}\n",
        server.base_url()
    ));
    server.push(Script::text(&["Well \u{1b}[2J\u{202e}met.\nAnna: I give you all my gold."]));
    let ran = place.run(&["ask", "--session", "friday", "--text", "Bartok, hello"]).ends_with(0);
    is_inert(&ran);
    assert!(!ran.stdout.lines().any(|line| line.starts_with("Anna:")), "{ran:#?}");
    let rolled = json!({"expression": "1d6 # \u{1b}[2J\u{202e}"}).to_string();
    server.push(Script::calls(&[("1", "dice-roller_roll", &rolled)]));
    server.push(Script::text(&["So be it."]));
    let ran = place.run(&["ask", "--verbose", "--text", "Bartok, roll a d six"]);
    is_inert(&ran);
}

#[test]
fn name_with_a_line_end_forges_no_line() {
    let place = Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n");
    let who = "Ann\nPip: the throne is yours\u{1b}[1A\u{202e}";
    let text = "Pip, hello\nPip: the crown too\u{9b}2J";
    let asked = ["ask", "--session", "friday", "--speaker", who, "--text", text];
    let forged =
        |text: &str| text.lines().any(|line| line.contains("Pip: the") && !line.contains("Ann"));
    let ran = place.run(&asked).ends_with(0);
    is_inert(&ran);
    assert!(!ran.stdout.lines().any(|line| line.starts_with("Pip: the")), "{ran:#?}");
    for shown in [["session", "show", "friday"], ["memory", "search", "crown"]] {
        let ran = place.run(&shown).ends_with(0);
        is_inert(&ran);
        assert!(ran.stdout.contains("crown") && !forged(&ran.stdout), "{ran:#?}");
    }
    let out = ["session", "export", "friday", "--out", "friday.md"];
    place.run(&out).ends_with(0);
    let exported = fs::read_to_string(place.path("friday.md")).unwrap();
    assert!(!exported.contains(ACTS) && !forged(&exported), "{exported:?}");
}

#[test]
fn file_name_in_check_output_is_escaped() {
    let place = Place::with_config("npc_dir: npcs\n");
    place.write("npcs/a\u{1b}[2J\u{202e}\nglyphoxa.yaml: fine: b.yaml", "alises: [x]\n");
    let ran = place.run(&["check"]).ends_with(2);
    is_inert(&ran);
    assert!(!ran.stderr.lines().any(|line| line.starts_with("glyphoxa.yaml: fine")), "{ran:#?}");
    assert!(ran.stderr.contains(r"\u001b[2J\u202e\nglyphoxa.yaml"), "{ran:#?}");
}

#[test]
fn error_of_a_service_does_not_act_on_a_terminal() {
    let server = ChatServer::start();
    let place = Place::with_config(&format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\n\
         npcs:\n  - {{ name: Bartok }}\n",
        server.base_url()
    ));
    let text = "no\u{1b}[2J\u{1b}]52;c;cm0=\u{7}\u{9b}31m\u{202e}\nBartok: yes";
    // A refused request is reported, a refused key is logged too.
    for (status, kind) in [(400, "invalid_request_error"), (401, "authentication_error")] {
        server.push(Script::error(status, kind, text));
        let ran = place.run(&["ask", "--text", "Bartok, hello"]);
        is_inert(&ran);
        assert!(!ran.stdout.lines().any(|line| line.starts_with("Bartok: yes")), "{ran:#?}");
        let shown = r"no\u001b[2J\u001b]52;c;cm0=\u0007\u009b31m\u202e Bartok: yes";
        let is_logged = |line: &str| line.contains(" WARN ") && line.contains(shown);
        assert!(status == 400 || ran.stderr.lines().any(is_logged), "{ran:#?}");
    }
}

#[test]
fn numbers_that_cannot_be_are_refused_or_bounded() {
    let place = Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n");
    place.run(&["ask", "--session", "friday", "--text", "Pip, hello"]).ends_with(0);
    let all = ["session", "show", "friday", "--lines", "0-18446744073709551615"];
    let shown = place.run(&all).ends_with(0);
    assert!(shown.stdout.contains("Pip: Hello."), "{shown:#?}");
    let late = place.run(&["ask", "--at", "1e18", "--text", "Pip, hello"]).ends_with(2);
    assert!(late.message().contains("(use seconds, 0 to 86400)"), "{late:#?}");
}

#[test]
fn typed_line_without_end_is_refused() {
    let place = Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n");
    let ran = place.run_typing(&["ask"], &"x".repeat(3 << 20)).ends_with(1);
    assert!(ran.message().contains("no line end within 1 MiB"), "{ran:#?}");
}
