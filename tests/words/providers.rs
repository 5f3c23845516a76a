//! Services that hear, think and speak, wrongly configured.

use super::{PIP, check, compare};

const WRONG: &[(&str, &str)] = &[
    ("unknown service", "{ llm: { service: chatgtp } }"),
    ("service and name", "{ llm: { service: scripted, name: scripted } }"),
    ("key of another service", "{ stt: { name: local, model: x }, llm: { max_tokens: 5 } }"),
    ("no model", "{ llm: { name: openai, api_key: k } }"),
    ("no key", "{ llm: { name: openai, model: m, free: true } }"),
    ("no price", "{ llm: { name: openai, api_key: k, model: m } }"),
    (
        "price that fits another use",
        "{ llm: { name: openai, api_key: k, model: m, price: { minute: 1 } } }",
    ),
    (
        "price and free",
        "{ llm: { name: openai, api_key: k, model: m, free: true, price: { input: 1, output: 1 } } }",
    ),
    (
        "bad address",
        "{ llm: { name: openai, api_key: k, model: m, free: true, base_url: x.example } }",
    ),
    (
        "key sent in the clear",
        "{ llm: { name: openai, api_key: k, model: m, free: true, base_url: 'http://x.example/v1' } }",
    ),
    (
        "own member of a request",
        "{ llm: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: m, \
         extra_body: { stream: false } } }",
    ),
    (
        "thinking of openai",
        "{ llm: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: m, thinking_budget: 2048 } }",
    ),
    (
        "temperature of anthropic",
        "{ llm: { name: anthropic, model: m, api_key: k, temperature: 1 } }",
    ),
    ("empty list", "{ llm: [] }"),
    (
        "two of one name",
        "{ llm: [{ name: openai, base_url: 'http://127.0.0.1:1/v1', model: m }, \
         { name: openai, base_url: 'http://127.0.0.1:1/v1', model: m }] }",
    ),
    ("hedge of one", "{ llm: { service: scripted }, hedge: { llm: true } }"),
    (
        "deepgram key of openai",
        "{ stt: { name: openai, api_key: k, model: m, free: true, eager: 0.5 } }",
    ),
    (
        "english alone",
        "{ stt: { name: deepgram, api_key: k, model: flux-general-en, free: true, language: de } }",
    ),
    (
        "sure beyond limits",
        "{ stt: { name: deepgram, api_key: k, model: nova-3, free: true, eager: 2 } }",
    ),
    (
        "speech without a voice",
        "{ tts: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: s } }",
    ),
    ("wyoming by http", "{ stt: { name: wyoming, base_url: 'http://127.0.0.1:10300' } }"),
    ("voice model without a key", "{ speech_to_speech: { model: r, free: true } }"),
    (
        "voice models of one name",
        "{ speech_to_speech: [{ model: r, base_url: 'http://127.0.0.1:1/v1' }, { model: s, base_url: \
         'http://127.0.0.1:1/v1' }] }",
    ),
    ("unknown voice model", "{ speech_to_speech: { name: gemini, model: r } }"),
    (
        "voice model priced by text",
        "{ speech_to_speech: { model: r, api_key: k, price: { input: 4, output: 24 } } }",
    ),
];

#[test]
fn wrong_providers() {
    let cases = WRONG.iter();
    compare(
        "providers",
        cases.map(|(name, text)| check(name, &format!("{PIP}providers: {text}\n"))),
    );
}
