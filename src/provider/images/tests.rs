//! Both wire formats against scripted answers, and against a stand-in as strict as the real
//! services.

use base64::{Engine, prelude::BASE64_STANDARD};
use futures::future::{FutureExt, ready};
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};

use self::stand_in::{Form, ImageServer, files, part};
use super::{clean::used, *};
use crate::{
    domain::Secret,
    logic::budget::Consumption,
    provider::{
        Attempts, ImageRequest, Kind, NoPicture, Picture,
        remote::{
            chat_server::{ChatServer, Script},
            options, own_thread,
        },
    },
};

#[path = "../../../tests/support/images/mod.rs"]
#[expect(dead_code, reason = "tests of the real program use the rest")]
mod stand_in;

fn file(kind: ImageFormat) -> Vec<u8> {
    let mut file = std::io::Cursor::new(Vec::new());
    RgbImage::new(4, 4).write_to(&mut file, kind).unwrap();
    file.into_inner()
}

fn encoded() -> String {
    BASE64_STANDARD.encode(file(ImageFormat::Jpeg))
}

fn entry(service: ImageService, base_url: &str) -> ImageEntry {
    ImageEntry { service, options: options(base_url) }
}

/// A service with one scripted answer per request.
fn server(service: ImageService, answers: &[Value]) -> (ChatServer, Arc<dyn ImageModel>) {
    let server = ChatServer::start();
    server.lenient();
    answers.iter().for_each(|answer| server.push(Script::json(200, answer)));
    let base_url = server.base_url();
    let base_url = match service {
        ImageService::OpenAi => base_url.as_str(),
        ImageService::Gemini => base_url.trim_end_matches("/v1"),
    };
    let model = Painters::default().open(&entry(service, base_url)).unwrap();
    (server, model)
}

async fn made(model: &dyn ImageModel, prompt: &str) -> Result<Picture, NoPicture> {
    let request = ImageRequest { prompt: prompt.to_owned(), ..ImageRequest::default() };
    model.generate(request).await
}

async fn openai(answer: Value) -> Result<Picture, NoPicture> {
    let (_server, model) = server(ImageService::OpenAi, &[answer]);
    made(&*model, "a ring").await
}

async fn gemini(answers: &[Value]) -> (usize, Result<Picture, NoPicture>) {
    let (server, model) = server(ImageService::Gemini, answers);
    let made = made(&*model, "a ring").await;
    (server.requests().len(), made)
}

#[tokio::test]
async fn answer_of_many_values_is_not_read() {
    let odd = json!({"data": vec![json!([]); 60_000], "candidates": []});
    for service in [ImageService::OpenAi, ImageService::Gemini] {
        let (_server, model) = server(service, std::slice::from_ref(&odd));
        let NoPicture::Failed(error) = made(&*model, "a ring").await.unwrap_err() else {
            panic!("it is no refusal");
        };
        assert_eq!(error.kind(), Kind::Protocol);
        assert!(error.to_string().contains("100000 values an answer"), "{error}");
    }
}

fn kind(made: Result<Picture, NoPicture>) -> Kind {
    match made.unwrap_err() {
        NoPicture::Failed(error) => error.kind(),
        refused @ NoPicture::Refused { .. } => panic!("{refused}"),
    }
}

fn is_refused(made: &Result<Picture, NoPicture>) -> bool {
    matches!(made, Err(NoPicture::Refused { .. }))
}

#[tokio::test]
async fn openai_picture_is_encoded_again() {
    let usage = json!({"input_tokens": 12, "output_tokens": 1_056});
    let answer = json!({"data": [{"b64_json": encoded()}], "usage": usage});
    let (server, model) = server(ImageService::OpenAi, &[answer]);
    let prompt = "a <b>ring</b> | ugly <sd_cpp_extra_args>{\"steps\": 1}</sd_cpp_extra_args>!";
    let picture = made(&*model, prompt).await.unwrap();
    assert_eq!((picture.mime, picture.used.output_tokens), ("image/png", 1_056));
    let sent = &server.requests()[0];
    assert_eq!(sent.line, "POST /v1/images/generations");
    assert_eq!(sent.json["prompt"], "a b ring /b , ugly !");
    assert_eq!(sent.json["response_format"], "b64_json", "not at OpenAI's own address");
    assert_eq!(sent.json.get("quality"), None);
}

#[tokio::test]
async fn openai_refusals_differ_from_failures() {
    assert!(is_refused(&openai(json!({"data": []})).await));
    let blocked = json!({"error": {"type": "image_generation_user_error",
        "code": "moderation_blocked", "message": "no"}});
    assert!(is_refused(&openai(blocked).await));
    assert_eq!(kind(openai(json!({"error": "out of memory"})).await), Kind::Unavailable);
    assert_eq!(kind(openai(json!({"data": [{}]})).await), Kind::Protocol);
    assert_eq!(kind(openai(json!([])).await), Kind::Protocol);
    assert_eq!(kind(openai(json!({"data": [{"b64_json": "?"}]})).await), Kind::Protocol);
    let text = BASE64_STANDARD.encode("<svg/>");
    assert_eq!(kind(openai(json!({"data": [{"b64_json": text}]})).await), Kind::Protocol);
}

#[tokio::test]
async fn link_is_fetched_from_its_own_origin_only() {
    let elsewhere = ChatServer::start();
    let link = |server: &ChatServer| format!("{}/files/a.png", server.base_url());
    let (server, model) =
        server(ImageService::OpenAi, &[json!({"data": [{"url": link(&elsewhere)}]})]);
    assert_eq!(kind(made(&*model, "a ring").await), Kind::Protocol);
    assert!(elsewhere.requests().is_empty());
    server.push(Script::json(200, &json!({"data": [{"url": link(&server)}]})));
    server.push(Script::plain(200, "text/plain").bytes(&file(ImageFormat::WebP)));
    assert_eq!(made(&*model, "a ring").await.unwrap().mime, "image/png");
    server.push(Script::json(200, &json!({"data": [{"url": link(&server)}]})));
    server.push(Script::plain(404, "text/plain"));
    assert_eq!(kind(made(&*model, "a ring").await), Kind::Protocol, "it is made and billed");
}

#[tokio::test]
async fn openai_picture_counts_whatever_is_said_of_it() {
    let encoded = format!("data:image/jpeg;base64,{}", encoded());
    let answer = json!({"detail": "low", "data": [{"b64_json": encoded}]});
    assert_eq!(openai(answer).await.unwrap().mime, "image/png");
}

#[tokio::test]
async fn refused_response_format_is_left_out() {
    let (server, model) = server(ImageService::OpenAi, &[]);
    let said = "Unknown parameter: 'response_format'.";
    let refused = json!({"error": {"message": said, "param": "response_format"}});
    server.push(Script::json(400, &refused));
    server.push(Script::json(200, &json!({"data": [{"b64_json": encoded()}]})));
    assert_eq!(made(&*model, "a ring").await.unwrap().mime, "image/png");
    let sent = server.requests();
    assert_eq!((sent.len(), sent[1].json.get("response_format")), (2, None));
}

#[tokio::test]
async fn gemini_gives_its_last_picture() {
    let part = |data: String| json!({"inlineData": {"mimeType": "image/gif", "data": data}});
    let draft = BASE64_STANDARD.encode("a draft");
    let answer = json!({
        "candidates": [{"content": {"parts": [
            {"text": "Here"}, part(draft), part(encoded()),
        ]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 1_290,
            "thoughtsTokenCount": 10},
    });
    let (server, model) = server(ImageService::Gemini, &[answer]);
    let picture = made(&*model, "a ring").await.unwrap();
    assert_eq!((picture.mime, picture.used.output_tokens), ("image/png", 1_300));
    let line = "POST /v1beta/models/test-model:generateContent";
    assert_eq!(server.requests()[0].line, line);
}

#[tokio::test]
async fn gemini_is_asked_again_once_without_a_picture() {
    let none = |reason: &str| json!({"candidates": [{"finishReason": reason}]});
    let drawn = json!({"candidates": [{"content": {"parts": [
        {"inlineData": {"data": encoded()}}]}}]});
    let (asked, picture) = gemini(&[none("NO_IMAGE"), drawn]).await;
    assert_eq!((asked, picture.is_ok()), (2, true));
    let (server, model) = server(
        ImageService::Gemini,
        &[json!({
            "candidates": [{"finishReason": "NO_IMAGE"}],
            "usageMetadata": {"promptTokenCount": 8, "candidatesTokenCount": 9},
        })],
    );
    let unpaid = |_| ready(Err(Error::new(Kind::OverBudget, "no money is left"))).boxed();
    let request = ImageRequest { prompt: "a ring".to_owned(), attempts: Attempts::new(unpaid) };
    let Err(NoPicture::Refused { used, .. }) = model.generate(request).await else {
        panic!("the first answer counts")
    };
    assert_eq!((used.pictures, used.output_tokens), (0, 9));
    assert_eq!(server.requests().len(), 1);
    let (asked, picture) = gemini(&[none("IMAGE_OTHER"), none("STOP")]).await;
    assert_eq!((asked, is_refused(&picture)), (2, true));
    for reason in ["IMAGE_SAFETY", "PROHIBITED_CONTENT", "A_NEW_ONE"] {
        let (asked, picture) = gemini(&[none(reason)]).await;
        assert_eq!((asked, is_refused(&picture)), (1, true), "{reason}");
    }
    let (asked, picture) = gemini(&[json!({"promptFeedback": {"blockReason": "SAFETY"}})]).await;
    assert_eq!((asked, is_refused(&picture)), (1, true));
    assert_eq!(kind(gemini(&[json!({})]).await.1), Kind::Protocol);
}

#[tokio::test]
async fn gemini_key_travels_in_its_header() {
    let server = ChatServer::start();
    server.lenient();
    let mut entry = entry(ImageService::Gemini, server.base_url().trim_end_matches("/v1"));
    entry.options.api_key = Some(Secret("g-secret".to_owned()));
    let model = Painters::default().open(&entry).unwrap();
    let error = made(&*model, "a ring").await.unwrap_err();
    assert!(!error.to_string().contains("g-secret"), "{error}");
    assert_eq!(server.requests()[0].header("x-goog-api-key"), Some("g-secret"));
    let hostile = Options { model: "../x?key".to_owned(), ..entry.options };
    let model = Painters::default()
        .open(&ImageEntry { service: ImageService::Gemini, options: hostile })
        .unwrap();
    assert_eq!(kind(made(&*model, "a ring").await), Kind::InvalidRequest);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn counts_that_cannot_be_true_are_dropped() {
    let of = |made| used(1, None, made).output_tokens;
    assert_eq!([None, Some(0), Some(3), Some(u64::MAX)].map(of), [0; 4]);
    assert_eq!(of(Some(1_056)), 1_056);
}

/// A stand-in, and its client with `key`.
fn stand_in(form: Form, key: &str) -> (ImageServer, Arc<dyn ImageModel>) {
    let server = ImageServer::start(form);
    let (service, version) = match form {
        Form::OpenAi => (ImageService::OpenAi, "/v1"),
        Form::Gemini => (ImageService::Gemini, ""),
    };
    let mut entry = entry(service, &format!("{}{version}", server.origin()));
    entry.options.model = service.model().to_owned();
    entry.options.api_key = Some(Secret(key.to_owned()));
    (server, Painters::default().open(&entry).unwrap())
}

/// Asks a stand-in that accepts every request and gives `answer`.
async fn drawn(form: Form, answer: stand_in::Picture) -> (Result<Picture, NoPicture>, ImageServer) {
    let (server, model) = stand_in(form, stand_in::KEY);
    server.always(answer);
    let made = made(&*model, "a ring").await;
    assert!(server.requests().iter().all(|it| it.refused.is_none()), "{:?}", server.requests());
    (made, server)
}

/// Checks the kind of failure for each answer; `None`: a free refusal.
async fn all_fail(form: Form, answers: Vec<(&str, stand_in::Picture, Option<Kind>)>) {
    for (name, answer, kind) in answers {
        match (drawn(form, answer).await.0.expect_err(name), kind) {
            (NoPicture::Failed(error), Some(kind)) => assert_eq!(error.kind(), kind, "{name}"),
            (NoPicture::Refused { used, .. }, None) => assert_eq!(used.pictures, 0, "{name}"),
            (lack, _) => panic!("{name}: {lack:?}"),
        }
    }
}

#[tokio::test]
async fn every_refusal_of_openai_is_an_error() {
    let broken = json!({"error": {"message": "upstream", "type": "server_error", "code": null}});
    let limited = Kind::RateLimited { retry_after: Some(Duration::from_secs(60)) };
    let of_json = stand_in::Picture::json;
    let answers = vec![
        ("blocked", stand_in::Picture::blocked(), None),
        (
            "error as text",
            of_json(400, json!({"error": "no such sampler"})),
            Some(Kind::InvalidRequest),
        ),
        ("no data", of_json(200, json!({"created": 1, "data": []})), None),
        ("broken service", of_json(500, broken), Some(Kind::Unavailable)),
        ("too many requests", stand_in::Picture::limited(), Some(limited)),
        ("no members", of_json(200, json!({"created": 1, "data": [{}]})), Some(Kind::Protocol)),
    ];
    all_fail(Form::OpenAi, answers).await;
}

#[tokio::test]
async fn every_refusal_of_gemini_is_an_error() {
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}});
    let unsafe_one = json!({"candidates": [{"index": 0, "finishReason": "IMAGE_SAFETY",
        "finishMessage": "Unable to show the generated image."}]});
    let text = json!([{"text": "I would rather not."}]);
    let (of_json, candidate) = (stand_in::Picture::json, stand_in::Picture::candidate);
    let answers = vec![
        ("unsafe picture", of_json(200, unsafe_one), None),
        ("blocked prompt", of_json(200, blocked), None),
        ("text alone", candidate(text, "STOP"), None),
        ("no picture", candidate(json!([]), "NO_IMAGE"), None),
        ("no candidates", of_json(200, json!({"candidates": []})), None),
    ];
    all_fail(Form::Gemini, answers).await;
}

#[tokio::test]
async fn files_that_are_no_pictures_are_errors() {
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec();
    let answers = [
        ("text", b"this is no picture".to_vec()),
        ("half a picture", files::png()[..40].to_vec()),
        ("vector graphics", svg),
        ("nothing", Vec::new()),
        ("large bomb", files::bomb((30_000, 30_000))),
        ("small bomb", files::bomb((5_000, 4_000))),
        ("long bomb", files::bomb((1, u32::MAX))),
    ];
    let answers =
        answers.map(|(name, file)| (name, stand_in::Picture::bytes(file), Some(Kind::Protocol)));
    all_fail(Form::OpenAi, answers.into()).await;
}

#[tokio::test]
async fn picture_of_each_kind_loses_its_metadata() {
    let secret = files::SECRET.as_bytes();
    let holds = |file: &[u8]| file.windows(secret.len()).any(|it| it == secret);
    for file in [files::marked(), files::jpeg(), files::webp()] {
        assert!(holds(&file));
        let (made, _) = drawn(Form::OpenAi, stand_in::Picture::bytes(file)).await;
        let picture = made.unwrap();
        assert_eq!(files::size_of(&picture.bytes), Some(files::SMALL), "it is a PNG now");
        assert!(!holds(&picture.bytes));
        let used = Consumption {
            pictures: 1,
            input_tokens: 40,
            output_tokens: 1_056,
            ..Consumption::default()
        };
        assert_eq!(picture.used, used);
    }
}

#[tokio::test]
async fn picture_at_the_services_address_is_fetched() {
    let (made, server) = drawn(Form::OpenAi, stand_in::Picture::linked(files::png())).await;
    assert_eq!(files::size_of(&made.unwrap().bytes), Some(files::SMALL));
    let lines: Vec<String> = server.requests().into_iter().map(|it| it.line).collect();
    assert_eq!(lines, ["POST /v1/images/generations", "GET /files/0"]);
    let other = ImageServer::start(Form::OpenAi);
    let elsewhere = stand_in::Picture::elsewhere(&format!("{}/files/0", other.origin()));
    assert_eq!(kind(drawn(Form::OpenAi, elsewhere).await.0), Kind::Protocol);
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn last_picture_of_gemini_is_shown() {
    let (draft, last) = (files::plain((16, 16)), files::png());
    let texts = json!({"text": "Here it is."});
    for parts in [
        json!([texts, part(&draft, true), part(&last, false)]),
        json!([part(&draft, false), part(&last, false), texts]),
        // Sometimes the only picture is marked as a draft.
        json!([texts, part(&last, true)]),
    ] {
        let answer = stand_in::Picture::candidate(parts, "STOP");
        let (made, server) = drawn(Form::Gemini, answer).await;
        assert_eq!(files::size_of(&made.unwrap().bytes), Some(files::SMALL));
        let sent = server.requests()[0].json["contents"].to_string();
        assert!(sent.contains("a ring"), "{sent}");
    }
}

#[tokio::test]
async fn missing_picture_is_asked_for_once_more() {
    for (reason, requests, works) in [("NO_IMAGE", 2, true), ("IMAGE_SAFETY", 1, false)] {
        let (server, model) = stand_in(Form::Gemini, stand_in::KEY);
        server.push(stand_in::Picture::candidate(json!([]), reason));
        let made = made(&*model, "a ring").await;
        assert_eq!((made.is_ok(), server.requests().len()), (works, requests), "{reason}");
    }
}

#[tokio::test]
async fn answer_without_an_end_is_given_up() {
    let (made, server) = drawn(Form::OpenAi, stand_in::Picture::endless()).await;
    assert_eq!(kind(made), Kind::Protocol);
    // The bound, plus data the system may buffer in transit.
    let sent = server.sent();
    assert!((12 << 20..24 << 20).contains(&sent), "{sent} bytes");
}

#[tokio::test]
async fn wrong_key_is_an_error_that_hides_it() {
    let wrong = "sk-key-of-a-thief-0815-4711";
    for form in [Form::OpenAi, Form::Gemini] {
        let (server, model) = stand_in(form, wrong);
        let Err(NoPicture::Failed(error)) = made(&*model, "a ring").await else {
            panic!("{form:?} takes it")
        };
        assert_eq!(error.kind(), Kind::Unauthorized, "{error}");
        assert!(!format!("{error} {error:?}").contains(wrong), "{error}");
        let refused = server.requests()[0].refused.clone();
        assert!(refused.is_some_and(|why| why.contains(wrong)), "it is repeated to the client");
    }
}

#[tokio::test]
async fn service_that_is_gone_is_an_error() {
    // No system assigns this port.
    let gone = entry(ImageService::OpenAi, "http://127.0.0.1:1/v1");
    let model = Painters::default().open(&gone).unwrap();
    assert_eq!(kind(made(&*model, "a ring").await), Kind::Unreachable);
}
