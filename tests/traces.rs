//! Traces of the real program, at a collector that reads OpenTelemetry's own messages.

use opentelemetry_proto::tonic::{
    collector::trace::v1::ExportTraceServiceRequest,
    common::v1::any_value,
    trace::v1::{Span, span::SpanKind},
};
use prost::Message;
use serde_json::{Value, json};

use crate::support::{
    chat_server::{ChatServer, Script},
    ears::Ears,
    program::Place,
    speech::{plain_wav, speech},
    web_server::{Gate, Reply, WebServer},
};

/// Words that nothing else contains.
const ASKED: &str = "Bartok, roll for the xylophone";
const ANSWERED: [&str; 3] = ["Your", " marzipan", " awaits."];
const STAGES: [&str; 4] = ["hear", "think", "voice", "play"];

fn collector() -> WebServer {
    WebServer::start(|_| Reply::new(200, "application/x-protobuf", ""))
}

/// Bartok, who thinks at `model` and is heard by `providers`; traces go to `collector`.
fn place(model: &ChatServer, collector: &str, (providers, content): (&str, bool)) -> Place {
    model.push(Script::calls(&[("a", "roll", r#"{"expression": "1d20"}"#)]));
    model.push(Script::text(&ANSWERED));
    let llm = format!("{{ name: openai, base_url: \"{}\", model: m }}", model.base_url());
    Place::with_config(&format!(
        "npcs:\n  - name: Bartok\n    personality: An innkeeper.\n    voice: {{ provider: flite, \
         voice_id: rms }}\n    budget_tier: standard\n    tools: \
         [dice-roller.roll]\nproviders:\n{providers}  llm: {llm}\ntelemetry: {{ otlp: \"{collector}\", \
         content: {content} }}\n"
    ))
    .brief()
}

fn spans(collector: &WebServer) -> Vec<Span> {
    let mut all = Vec::new();
    for request in collector.requests() {
        assert_eq!((request.method.as_str(), request.url.path()), ("POST", "/v1/traces"));
        let body = ExportTraceServiceRequest::decode(request.body.as_slice()).expect("a request");
        let scopes = body.resource_spans.into_iter().flat_map(|it| it.scope_spans);
        all.extend(scopes.flat_map(|it| it.spans));
    }
    all
}

fn attribute<'s>(span: &'s Span, key: &str) -> Option<&'s any_value::Value> {
    span.attributes.iter().find(|it| it.key == key)?.value.as_ref()?.value.as_ref()
}

fn text<'s>(span: &'s Span, key: &str) -> &'s str {
    match attribute(span, key) {
        Some(any_value::Value::StringValue(text)) => text,
        other => panic!("'{key}' of '{}' is {other:?}", span.name),
    }
}

fn seconds(span: &Span) -> f64 {
    (span.end_time_unix_nano - span.start_time_unix_nano) as f64 / 1e9
}

fn count(spans: &[Span], name: &str) -> usize {
    spans.iter().filter(|span| span.name == name).count()
}

/// The only root, to which all other spans belong.
#[track_caller]
fn root_of(spans: &[Span]) -> &Span {
    let roots: Vec<&Span> = spans.iter().filter(|it| it.parent_span_id.is_empty()).collect();
    let [root] = roots.as_slice() else { panic!("roots: {roots:#?}") };
    for span in spans {
        assert_eq!(span.trace_id, root.trace_id, "{span:#?}");
        let is_below = span.parent_span_id == root.span_id;
        assert!(is_below || span.span_id == root.span_id, "{span:#?}");
    }
    root
}

/// The stages follow each other and share the whole turn.
#[track_caller]
fn assert_stages(spans: &[Span], root: &Span, line: &Value) {
    let stage = |name: &str| {
        let is_it = |span: &&Span| {
            attribute(span, "glyphoxa.stage").is_some() && text(span, "glyphoxa.stage") == name
        };
        spans.iter().find(is_it).unwrap_or_else(|| panic!("no stage '{name}': {spans:#?}"))
    };
    let sum: f64 = STAGES.iter().map(|name| seconds(stage(name))).sum();
    assert!((sum - seconds(root)).abs() < 0.002, "{sum} s of {}", seconds(root));
    for pair in STAGES.windows(2) {
        assert_eq!(stage(pair[0]).end_time_unix_nano, stage(pair[1]).start_time_unix_nano);
    }
    let before: f64 = STAGES[..3].iter().map(|name| seconds(stage(name))).sum();
    let told = line["ms"]["speech_end_to_first_audio"].as_f64().expect("a time") / 1e3;
    assert!((before - told).abs() < 0.002, "{before} s, the line says {told}");
}

#[test]
fn spoken_turn_is_one_trace_with_every_stage() {
    let (model, ears, collector) = (ChatServer::start(), Ears::start(), collector());
    let place = place(&model, &collector.origin(), (&ears.entry(), false));
    let place = place.env("RUST_LOG", "glyphoxa=debug");
    place.write("roll.wav", plain_wav(&speech("rms", ASKED)));
    let ran = place.run(&["ask", "--json", "--in", "roll.wav"]).ends_with(0);
    let line = ran.line();
    let spans = spans(&collector);
    let root = root_of(&spans);
    assert_eq!((root.name.as_str(), root.kind), ("invoke_agent Bartok", SpanKind::Internal as i32));
    let id: String = root.trace_id.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(line["trace"], json!(id));
    assert!(ran.stderr.contains(&format!("turn{{trace={id}}}")), "{}", ran.stderr);
    assert_eq!(text(root, "glyphoxa.outcome"), "spoken");
    assert_stages(&spans, root, &line);
    for (name, wanted) in [
        ("chat m", 2),
        ("execute_tool dice-roller.roll", 1),
        ("speech_to_text openai", 1),
        ("text_to_speech flite", 1),
    ] {
        assert_eq!(count(&spans, name), wanted, "{name}: {spans:#?}");
    }
    let answer = spans.iter().find(|span| span.name == "chat m").expect("a request");
    let tokens = attribute(answer, "gen_ai.usage.output_tokens");
    assert_eq!(tokens, Some(&any_value::Value::IntValue(5)));
}

#[test]
fn words_are_sent_only_with_content() {
    for content in [false, true] {
        let (model, collector) = (ChatServer::start(), collector());
        let place = place(&model, &collector.origin(), ("", content));
        place.run(&["ask", "--json", "--speaker", "Quillon", "--text", ASKED]).ends_with(0);
        let spans = spans(&collector);
        root_of(&spans);
        let mut has_words = false;
        for span in &spans {
            for attribute in &span.attributes {
                let value = format!("{:?}", attribute.value);
                let holds = ["xylophone", "marzipan", "1d20"].iter().any(|it| value.contains(it));
                has_words |= holds;
                let may = content && attribute.key.contains(".pii.");
                assert!(!holds || may, "{}: {attribute:?}", span.name);
                let is_named = value.contains("Quillon");
                assert!(!is_named || may, "{}: {attribute:?}", span.name);
            }
        }
        assert_eq!(has_words, content);
    }
}

#[test]
fn program_ends_without_a_hanging_collector() {
    let (model, gate) = (ChatServer::start(), Gate::default());
    let shut = gate.clone();
    let hanging = WebServer::start(move |_| {
        shut.pass();
        Reply::text(200, "")
    });
    let place = place(&model, &hanging.origin(), ("", false));
    let ran = place.run(&["ask", "--json", "--text", ASKED]).ends_with(0);
    gate.open();
    assert_eq!(ran.line()["outcome"], "spoken");
    assert!(ran.stderr.contains("the last traces were not sent"), "{}", ran.stderr);
    let nobody = place_without_collector();
    let line = nobody.run(&["ask", "--json", "--text", "Pip, hello"]).ends_with(0).line();
    assert_eq!((&line["outcome"], &line["trace"]), (&json!("spoken"), &Value::Null));
}

/// Pip, who is not traced.
fn place_without_collector() -> Place {
    Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n").brief()
}
