//! Pictures that do not come: refused, too large, too many, or none at all.

use serde_json::json;

use super::{LINE, Table, asks, said_to_the_end, told};
use crate::{
    hostile::peak,
    support::{
        NOBODY,
        images::{Form, ImageServer, Picture, files},
    },
};

/// The longest answer that is read, and what a system may hold on the way, in bytes.
const LONGEST: usize = 32 << 20;
/// Most memory of a program that decodes no bomb, in MiB.
const MEMORY: u64 = 600;

/// Each of these is an error that the model reads, and no picture.
fn all_refused(form: Form, answers: Vec<(&str, Picture)>) {
    // A tool that fails again and again is withheld: no more than these at one table.
    for few in answers.chunks(3) {
        let table = Table::of(form);
        let mut live = table.open(&[]);
        for (name, answer) in few {
            table.images.always(answer.clone());
            let call = asks(&mut live);
            assert_eq!(call["ok"], false, "{name}: {call:#}");
            assert!(call["result"]["message"].is_string(), "{name}: {call:#}");
            let read = told(&table.chat);
            assert!(read.contains("error"), "{name}: {read}");
        }
        let refused: Vec<Option<String>> =
            table.images.requests().into_iter().map(|it| it.refused).collect();
        assert!(refused.iter().all(Option::is_none), "{refused:?}");
        assert_eq!(live.leave(), 0);
        assert_eq!(table.pictures(), Vec::<Vec<u8>>::new());
    }
}

#[test]
fn refusals_are_errors_for_the_model() {
    let error = json!({"error": {"message": "upstream", "type": "server_error", "code": null}});
    all_refused(
        Form::OpenAi,
        vec![
            ("blocked", Picture::blocked()),
            ("error as text", Picture::json(400, json!({"error": "no such sampler"}))),
            ("no data", Picture::json(200, json!({"created": 1, "data": []}))),
            ("broken service", Picture::json(500, error)),
            ("too many requests", Picture::limited()),
            ("no members", Picture::json(200, json!({"created": 1, "data": [{}]}))),
        ],
    );
}

#[test]
fn refusals_of_gemini_are_errors_for_the_model() {
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
    let candidate = json!({"candidates": [{"index": 0, "finishReason": "IMAGE_SAFETY",
        "finishMessage": "Unable to show the generated image."}]});
    all_refused(
        Form::Gemini,
        vec![
            ("unsafe picture", Picture::json(200, candidate)),
            ("blocked prompt", Picture::json(200, blocked)),
            ("text alone", Picture::candidate(json!([{"text": "I would rather not."}]), "STOP")),
            ("no picture", Picture::candidate(json!([]), "NO_IMAGE")),
            ("no candidates", Picture::json(200, json!({"candidates": []}))),
        ],
    );
}

#[test]
fn files_that_are_no_pictures_are_errors() {
    let half = files::png()[..40].to_vec();
    all_refused(
        Form::OpenAi,
        vec![
            ("text", Picture::bytes(b"this is no picture".to_vec())),
            ("half a picture", Picture::bytes(half)),
            (
                "vector graphics",
                Picture::bytes(b"<svg xmlns='http://www.w3.org/2000/svg'/>".into()),
            ),
            ("nothing", Picture::bytes(Vec::new())),
        ],
    );
}

#[test]
fn missing_picture_is_asked_for_once_more() {
    for (reason, requests, ok) in [("NO_IMAGE", 2, true), ("IMAGE_SAFETY", 1, false)] {
        let table = Table::of(Form::Gemini);
        table.images.push(Picture::candidate(json!([]), reason));
        let call = table.drawn();
        assert_eq!(call["ok"], ok, "{reason}: {call:#}");
        assert_eq!(table.images.requests().len(), requests, "{reason}");
    }
}

#[test]
fn bomb_is_refused_before_it_is_decoded() {
    let table = Table::of(Form::OpenAi);
    let mut live = table.open(&[]);
    for size in [(30_000, 30_000), (5_000, 4_000), (1, u32::MAX)] {
        table.images.push(Picture::bytes(files::bomb(size)));
        let call = asks(&mut live);
        assert_eq!(call["ok"], false, "{size:?}: {call:#}");
    }
    let most = peak(&live);
    assert!(most < MEMORY, "{most} MiB");
    assert_eq!(live.leave(), 0);
    assert_eq!(table.pictures(), Vec::<Vec<u8>>::new());
}

#[test]
fn answer_without_an_end_is_given_up() {
    let table = Table::of(Form::OpenAi);
    table.images.always(Picture::endless());
    let mut live = table.open(&[]);
    let call = asks(&mut live);
    assert_eq!(call["ok"], false, "{call:#}");
    let (sent, most) = (table.images.sent(), peak(&live));
    assert!((1 << 20..LONGEST).contains(&sent), "{sent} bytes");
    assert!(most < MEMORY, "{most} MiB");
    assert_eq!(live.leave(), 0);
}

#[test]
fn picture_at_another_address_is_not_fetched() {
    let other = ImageServer::start(Form::OpenAi);
    let table = Table::of(Form::OpenAi);
    table.images.push(Picture::elsewhere(&format!("{}/files/0", other.origin())));
    let call = table.drawn();
    assert_eq!(call["ok"], false, "{call:#}");
    assert_eq!(other.requests().len(), 0);
    assert_eq!(table.pictures(), Vec::<Vec<u8>>::new());
}

#[test]
fn wrong_key_is_an_error_that_hides_it() {
    const WRONG: &str = "sk-key-of-a-thief-0815-4711";
    for form in [Form::OpenAi, Form::Gemini] {
        let table = Table::of(form);
        let config = std::fs::read_to_string(table.place.path("glyphoxa.yaml")).unwrap();
        let config = config.replace(crate::support::images::KEY, WRONG);
        table.place.write("glyphoxa.yaml", config);
        let ask = ["ask", "--tier", "deep", "--as-dm", "--verbose"];
        let mut live = table.place.start(&ask);
        live.types(LINE);
        let said = said_to_the_end(live);
        assert!(said.contains("no picture for Greymantle") && !said.contains(WRONG), "{said}");
        assert!(!told(&table.chat).contains(WRONG));
        let asked = table.images.requests();
        let is_repeated = asked[0].refused.as_ref().is_some_and(|why| why.contains(WRONG));
        assert!(is_repeated, "{asked:#?}");
    }
}

#[test]
fn service_that_is_gone_is_an_error() {
    let table = Table::of(Form::OpenAi);
    let config = std::fs::read_to_string(table.place.path("glyphoxa.yaml")).unwrap();
    let gone = config.replace(&table.images.origin(), &format!("http://{NOBODY}"));
    table.place.write("glyphoxa.yaml", gone);
    let call = table.drawn();
    assert_eq!(call["ok"], false, "{call:#}");
    assert!(told(&table.chat).contains("error"));
}
