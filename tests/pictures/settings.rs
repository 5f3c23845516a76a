//! The image service in the configuration: what `check` finds, and what `doctor` tries; each wrong setting is
//! tested beside its reader.

use super::{LINE, Table, cast};
use crate::support::{
    chat_server::ChatServer,
    images::{Form, KEY, Picture, files},
    program::Place,
};

/// Pip, who may have pictures made, on the first line.
const PIP: &str = "npcs: [{ name: Pip, tools: [\"image-gen.*\"], lines: [{ say: hi }] }]\n";

#[test]
fn wrong_image_service_is_shown_with_its_place() {
    let place = Place::with_config(&format!("{PIP}providers: {{ image: {{ service: dalle }} }}\n"));
    let report = place.run(&["check"]).ends_with(2).stderr;
    let is_shown =
        |it: &str| it.contains("glyphoxa.yaml:2:") && it.contains("dalle") && it.ends_with(')');
    assert!(report.lines().any(is_shown), "{report}");
}

#[test]
fn tool_is_withdrawn_without_an_image_service() {
    let chat = ChatServer::start();
    let place = Place::with_config(&cast(&chat, ""));
    place.run(&["ask", "--json", "--tier", "deep", "--text", "Greymantle, hello"]).ends_with(0);
    assert!(!chat.requests().is_empty());
    for request in chat.requests() {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        assert!(!body.contains("generate_image"), "{body}");
    }
}

#[test]
fn doctor_tests_pictures_only_with_try_paid() {
    let table = Table::with(Form::OpenAi, ", price: { picture: 0.05 }", "");
    let looked = table.place.run(&["doctor"]);
    assert!(looked.stdout.contains("--try-paid"), "{looked:#?}");
    assert_eq!(table.images.requests().len(), 0, "{looked:#?}");
    let tried = table.place.run(&["doctor", "--try-paid"]);
    assert!(tried.stdout.contains("drew image/png"), "{tried:#?}");
    let asked = table.images.requests();
    assert_eq!(asked.len(), 1, "{tried:#?}");
    assert_eq!(asked[0].refused, None, "{asked:#?}");
    assert!(!tried.stdout.contains("not tried"), "{tried:#?}");
    table.images.push(Picture::blocked());
    let refused = table.place.run(&["doctor", "--try-paid"]).ends_with(1);
    assert!(refused.stdout.contains('✗'), "{refused:#?}");
    assert_eq!(table.pictures(), Vec::<Vec<u8>>::new());
}

#[test]
fn key_of_pictures_is_never_shown() {
    let mut table = Table::of(Form::Gemini);
    table.place.set_env("RUST_LOG", "glyphoxa=trace");
    table.images.push(Picture::bytes(files::png()));
    let mut live = table.open(&["--as-dm", "--verbose"]);
    live.types(LINE);
    let mut said = live.says_until("\"pending\":false");
    assert_eq!(live.leave(), 0);
    for arguments in [&["doctor"][..], &["doctor", "--try-paid"][..], &["check"][..]] {
        let ran = table.place.run(arguments);
        said.extend([ran.stdout, ran.stderr]);
    }
    let said = said.join("\n");
    assert!(!said.contains(KEY), "{said}");
    assert!(table.images.requests().iter().all(|it| it.refused.is_none()));
}
