//! Pictures that an NPC has made, through the real program at a terminal; answers of each service are tested
//! beside its client.

use std::{fs, sync::Arc};

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::{
    chat_server::{ChatServer, Recorded, Script},
    images::{
        Form, ImageServer, Picture,
        files::{self, SMALL},
    },
    program::{Live, Place},
};

mod analytics;
mod money;
mod refused;
mod settings;

/// The game master's alone.
pub const PROMPT: &str = "The silver signet of the raven, hidden in the drawer of the sage";
/// For players who cannot see the picture.
pub const ALT: &str = "A heavy signet ring with a raven on it.";
/// An NPC's answer while the picture is made.
pub const MEANWHILE: &str = "Let me find some ink.";
/// Its words when the picture is there, or is not.
const AFTER: &str = "So much for that.";
/// Asks for the deep tier by its words.
const LINE: &str = "Greymantle, generate image of the ring";
/// Identity of the tool.
const TOOL: &str = "image-gen.generate_image";
/// First characters of every PNG in base64.
const PNG: &str = "iVBORw0KGgo";
/// Typed lines at the deep tier.
const ASK: [&str; 6] = ["ask", "--tier", "deep", "--json", "--out", "out.wav"];

/// A place with an NPC that may have pictures made, and what it thinks and draws with.
struct Table {
    chat: ChatServer,
    images: ImageServer,
    place: Place,
}

impl Table {
    fn of(form: Form) -> Self {
        Self::with(form, "", "")
    }

    /// Like [`Self::of`]; `more` are keys of the image service, `rest` ends the configuration.
    fn with(form: Form, more: &str, rest: &str) -> Self {
        let (chat, images) = (ChatServer::start(), ImageServer::start(form));
        draws(&chat);
        let place = Place::with_config(&format!("{}{rest}", cast(&chat, &images.entry(more))));
        Self { chat, images, place }
    }

    /// The program at typed lines.
    fn open(&self, flags: &[&str]) -> Live {
        self.place.start(&[&ASK[..], flags].concat())
    }

    /// Result of one line, with or without a picture.
    fn drawn(&self) -> Value {
        let mut live = self.open(&[]);
        let call = asks(&mut live);
        assert_eq!(live.leave(), 0);
        call
    }

    /// The pictures that lie beside the sound.
    fn pictures(&self) -> Vec<Vec<u8>> {
        let files = self.place.names().into_iter().map(|name| self.place.path(&name));
        let files = files.filter(|path| path.is_file()).map(|path| fs::read(path).unwrap());
        files.filter(|file| files::is_picture(file)).collect()
    }

    /// The only picture that lies there.
    #[track_caller]
    fn picture(&self) -> Vec<u8> {
        let mut pictures = self.pictures();
        assert_eq!(pictures.len(), 1, "{:?}", self.place.names());
        pictures.remove(0)
    }
}

/// The head of a configuration whose Greymantle thinks at `chat`; `image` is the entry of pictures.
fn cast(chat: &ChatServer, image: &str) -> String {
    format!(
        "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\n{image}npcs:\n  - name: Greymantle\n    \
         voice: {{ provider: flite, voice_id: rms }}\n    budget_tier: deep\n    tools: [\"image-gen.*\"]\n  - name: \
         Mira\n    voice: {{ provider: flite, voice_id: slt }}\n    budget_tier: deep\n",
        chat.base_url()
    )
}

/// A model that requests a picture in every turn.
pub fn draws(chat: &ChatServer) {
    chat.otherwise(|request| {
        let Some(last) = last_message(request) else { return Script::text(&["Aye."]) };
        let arguments = json!({"prompt": PROMPT, "style": "ink on parchment", "alt": ALT});
        match last["role"].as_str() {
            Some("tool") if is_pending(&last) => Script::text(&[MEANWHILE]),
            Some("tool") => Script::text(&[AFTER]),
            _ => Script::calls(&[("call_1", "generate_image", &arguments.to_string())]),
        }
    });
}

/// The end of the conversation as the model reads it.
pub fn last_message(request: &Recorded) -> Option<Value> {
    request.json["messages"].as_array()?.last().cloned()
}

fn is_pending(message: &Value) -> bool {
    message["content"].to_string().contains("its result comes later")
}

/// All output of a run whose last words are about the picture or its error.
fn said_to_the_end(live: Live) -> String {
    let mut said = live.says_until(AFTER);
    let (status, rest) = live.interrupt();
    assert_eq!(status, 0);
    said.extend(rest);
    said.join("\n")
}

/// The model's last result of the picture tool.
fn told(chat: &ChatServer) -> String {
    let last = chat.requests().last().and_then(last_message).expect("a request with messages");
    assert_eq!(last["role"], "tool", "{last:#}");
    assert!(!is_pending(&last), "{last:#}");
    last["content"].to_string()
}

/// Types a line; the call that came of it, when it is over.
fn asks(live: &mut Live) -> Value {
    live.types(LINE);
    let line: Value = serde_json::from_str(&live.says("\"pending\":false")).unwrap();
    assert_eq!(line["tools"][0]["tool"], TOOL, "{line:#}");
    line["tools"][0].clone()
}

#[test]
fn picture_asked_for_lies_beside_the_sound() {
    let table = Table::of(Form::OpenAi);
    let go = Arc::new(Notify::new());
    table.images.push(Picture::bytes(files::png()).held(&go));
    let mut live = table.place.start(&["ask", "--json", "--out", "out.wav"]);
    live.types(LINE);
    let turn: Value = serde_json::from_str(&live.says("\"pending\":true")).unwrap();
    go.notify_one();
    assert_eq!((&turn["tier"]["effective"], &turn["reply"]), (&json!("deep"), &json!(MEANWHILE)));
    let later: Value = serde_json::from_str(&live.says("\"pending\":false")).unwrap();
    assert_eq!(live.leave(), 0);
    let call = &later["tools"][0];
    assert_eq!((&call["tool"], &call["ok"]), (&json!(TOOL), &json!(true)), "{later:#}");
    assert_eq!((&call["result"]["shown"], &call["result"]["alt"]), (&json!(true), &json!(ALT)));
    assert_eq!((&later["reply"], &later["outcome"]), (&json!(AFTER), &json!("spoken")));
    assert_eq!(files::size_of(&table.picture()), Some(SMALL));
    let asked = table.images.requests();
    assert_eq!(asked.len(), 1, "{asked:#?}");
    assert_eq!(asked[0].refused, None, "{asked:#?}");
    let prompt = asked[0].json["prompt"].as_str().unwrap();
    assert!(prompt.contains(PROMPT) && prompt.contains("ink on parchment"), "{prompt}");
    let read = told(&table.chat);
    assert!(read.contains("shown") && read.contains(ALT), "{read}");
    let requests = table.chat.requests();
    assert_eq!(requests.len(), 3, "a turn with a call, and one for what came of it");
    for request in requests {
        assert_eq!(request.refused, None);
        let body = String::from_utf8_lossy(&request.body);
        assert!(!body.contains(PNG), "the picture itself is not for the model: {body}");
    }
}

/// Encoding millions of pixels takes seconds; `heavy_picture_becomes_a_jpeg` has a hundredth of them.
#[test]
fn large_picture_is_made_smaller_at_length() {
    let table = Table::of(Form::OpenAi);
    let large = files::noise(1_700);
    assert!(large.len() > 8 << 20, "{} bytes", large.len());
    table.images.push(Picture::bytes(large));
    let call = table.drawn();
    assert_eq!(call["ok"], true, "{call:#}");
    let shown = table.picture();
    assert!(shown.starts_with(b"\xff\xd8\xff"), "a JPEG");
    assert!(shown.len() <= 8 << 20, "{} bytes", shown.len());
}

#[test]
fn prompt_is_shown_to_the_game_master_alone() {
    for (flags, is_shown) in [(&[][..], false), (&["--as-dm"][..], true)] {
        let table = Table::of(Form::OpenAi);
        let ask = ["ask", "--tier", "deep", "--out", "out.wav"];
        let mut live = table.place.start(&[&ask[..], flags].concat());
        live.types(LINE);
        let said = said_to_the_end(live);
        assert_eq!(said.contains(PROMPT), is_shown, "{said}");
        assert!(said.contains(ALT), "{said}");
    }
}

/// Names of the tools that a request offers.
pub fn offered(request: &Recorded) -> Vec<String> {
    let tools = request.json["tools"].as_array().map_or(&[][..], Vec::as_slice);
    tools.iter().filter_map(|it| it["function"]["name"].as_str()).map(str::to_owned).collect()
}

#[test]
fn image_tool_is_offered_in_deep_turns_if_listed() {
    let table = Table::of(Form::OpenAi);
    table.chat.otherwise(|_| Script::text(&["Aye."]));
    for (tier, line, is_offered) in [
        ("deep", "Greymantle, hello", true),
        ("standard", "Greymantle, hello", false),
        ("fast", "Greymantle, hello", false),
        ("deep", "Mira, hello", false),
    ] {
        table.place.run(&["ask", "--json", "--tier", tier, "--text", line]).ends_with(0);
        let names = offered(table.chat.requests().last().unwrap());
        let is_there = names.iter().any(|name| name == "generate_image");
        assert_eq!(is_there, is_offered, "{tier}, {line}: {names:?}");
    }
    assert_eq!(table.images.requests().len(), 0);
}

#[test]
fn show_us_selects_deep_only_with_image_tool() {
    let table = Table::of(Form::OpenAi);
    table.chat.otherwise(|_| Script::text(&["Aye."]));
    for (name, is_deep) in [("Greymantle", true), ("Mira", false)] {
        let line = format!("{name}, show us the ring");
        let turn = table.place.run(&["ask", "--json", "--text", &line]).ends_with(0).line();
        assert_eq!(turn["tier"]["effective"] == "deep", is_deep, "{turn:#}");
    }
}
