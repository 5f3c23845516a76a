//! Messages between a page and the program; `assets/web/wire.js` has the same for the page.
//!
//! Entry functions: [`read_event`] and [`read_sound`], which take anything a page may send within
//! bounds; [`sound`] and [`music`]. Events are JSON in text messages; binary messages are sound:
//! samples of 16 bits, little-endian, at most 20 ms, at 16 kHz from the page and at 48 kHz to it.
//! Speech is mono, so it has at most 1,920 bytes; music is stereo, left before right, and always
//! has [`MUSIC_BYTES`]. The size alone tells pages which of both it is.

use axum::body::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    audio::FRAME_SAMPLES_48K,
    domain::{Tier, json_depth, json_values, one_line, visible},
};

/// Longest message of a page, in bytes.
pub const MESSAGE_MAX: usize = 64 * 1024;
/// Samples in a page's binary message: 20 ms at 16 kHz.
pub const SAMPLES: usize = 320;
/// Bytes of a binary message of music: 20 ms at 48 kHz, two channels of two bytes.
pub const MUSIC_BYTES: usize = 4 * FRAME_SAMPLES_48K;
/// Characters of a player's or an NPC's name.
const NAME_MAX: usize = 64;
/// Characters of a typed line; more than one turn may have.
const TEXT_MAX: usize = 4_000;
/// Nesting and values of an event's JSON; events are flat.
const DEPTH_MAX: usize = 4;
const VALUES_MAX: usize = 32;

/// A JSON message from a page. Texts are cleaned of hidden characters, and not blank.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum FromPage {
    /// The first message; later ones rename the player.
    Hello { name: String },
    /// Sound reaches the table while this is on.
    Talk { on: bool },
    /// A typed line; `npc`: to whom, whatever it says.
    Say {
        text: String,
        #[serde(default)]
        npc: Option<String>,
    },
    /// Samples of a turn that the page has played by now, at 48 kHz.
    Played { turn: u64, samples: u64 },
    /// A typed command, answered by [`ToPage::Answer`].
    Order { command: String },
    /// "Why did it say that?"
    Why { turn: u64 },
    /// Plays a sample of an NPC's voice.
    HearVoice { npc: String },
    /// Overrides the tier; `None`: each turn's own.
    Tier {
        #[serde(default)]
        tier: Option<Tier>,
    },
}

/// A JSON message to a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToPage {
    /// Answers every [`FromPage::Hello`].
    Welcome {
        player: String,
        npcs: Vec<NpcCard>,
        scene: SceneCard,
        music: MusicCard,
        services: ServiceNames,
        /// The browser was here before; the program may have been restarted since.
        again: bool,
        /// The table's session; numbers of lines and turns begin again in another one.
        session: String,
        /// X-cards and deletions in it so far, which have removed lines.
        removals: u64,
    },
    /// Partial: words of a player, still subject to change.
    Partial {
        player: String,
        text: String,
    },
    /// Final: words of a player.
    Said {
        player: String,
        text: String,
        id: u64,
    },
    Turn {
        turn: u64,
        state: TurnState,
        npc: Option<String>,
    },
    /// A turn's line, as `ask --json` prints it; `number`: of the line, from 1.
    Line {
        number: u64,
        line: Value,
    },
    /// An X-card: these lines are gone, and all that has no line yet.
    TakenBack {
        lines: Vec<u64>,
        removals: u64,
    },
    /// The player's words are gone, and the answers to them.
    Forgotten {
        player: String,
        removals: u64,
    },
    /// All lines so far are gone: some of them may have to be.
    Cleared {
        removals: u64,
    },
    /// Answers [`FromPage::Order`].
    Answer {
        text: String,
        ok: bool,
    },
    Notice {
        text: String,
        private: bool,
    },
    /// Mistakes in the configuration's files; none once they are fixed.
    Mistakes {
        files: Vec<FileMistake>,
    },
    /// Answers [`FromPage::Why`].
    Why {
        turn: u64,
        parts: Vec<PromptPart>,
        recalled: Vec<Value>,
        tools: Vec<Value>,
    },
    /// NPCs, scene and music, whenever one changes.
    Npcs {
        npcs: Vec<NpcCard>,
        scene: SceneCard,
        music: MusicCard,
    },
    /// Binary messages from here on are this turn's.
    Speech {
        turn: u64,
        npc: String,
    },
    /// Drops the unplayed rest of this turn at once.
    Flush {
        turn: u64,
    },
    /// Music that is not played yet is dropped at once.
    MusicFlush,
    /// The X-card is in force.
    Card {
        on: bool,
    },
    /// The last message.
    Bye {
        reason: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    Thinking,
    Speaking,
    Idle,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NpcCard {
    pub name: String,
    pub language: String,
    pub engine: String,
    pub voice: Option<String>,
    /// The tier that a game master has set.
    pub tier: Option<Tier>,
    pub muted: bool,
    /// Takes part in the scene.
    pub present: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SceneCard {
    pub location: Option<String>,
    pub time: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MusicCard {
    /// Titles, without effects.
    pub playing: Vec<String>,
    /// In percent.
    pub volume: u8,
}

/// Names of the services that the table uses; `None`: it has none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServiceNames {
    pub hears: Option<String>,
    pub thinks: Option<String>,
    pub speaks: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FileMistake {
    pub file: String,
    pub line: u64,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptPart {
    pub name: String,
    pub text: String,
}

/// Reason a message of a page is refused; sent to the page before its socket closes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    #[error("an event is nested too deep or has too many values (reload the page)")]
    Large,
    #[error("unknown event (reload the page; it may be of another version)")]
    Unknown,
    #[error("{0} is empty or longer than {1} characters (send a shorter one)")]
    Text(&'static str, usize),
    #[error("{0} bytes of sound in a message (send 20 ms: 640 bytes)")]
    Sound(usize),
}

/// Reads a text message of a page. Errors do not repeat its words.
pub fn read_event(text: &str) -> Result<FromPage, Unreadable> {
    let bytes = text.as_bytes();
    if json_depth(bytes) > DEPTH_MAX || json_values(bytes) > VALUES_MAX {
        return Err(Unreadable::Large);
    }
    let event = serde_json::from_str(text).map_err(|_| Unreadable::Unknown)?;
    Ok(match event {
        FromPage::Hello { name } => FromPage::Hello { name: named(&name)? },
        FromPage::Say { text, npc } => FromPage::Say {
            text: bounded("the text", &text)?,
            npc: npc.as_deref().map(named).transpose()?,
        },
        FromPage::Order { command } => {
            FromPage::Order { command: bounded("the command", &command)? }
        }
        FromPage::HearVoice { npc } => FromPage::HearVoice { npc: named(&npc)? },
        FromPage::Talk { .. }
        | FromPage::Played { .. }
        | FromPage::Why { .. }
        | FromPage::Tier { .. } => event,
    })
}

/// Reads a binary message of a page: [`SAMPLES`] samples.
pub fn read_sound(bytes: &[u8]) -> Result<Vec<i16>, Unreadable> {
    let (samples, rest) = bytes.as_chunks::<2>();
    if samples.len() != SAMPLES || !rest.is_empty() {
        return Err(Unreadable::Sound(bytes.len()));
    }
    Ok(samples.iter().map(|pair| i16::from_le_bytes(*pair)).collect())
}

/// Samples at 48 kHz as a binary message to pages.
pub fn sound(samples: &[i16]) -> Bytes {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}

/// Mono music at 48 kHz, a frame, as a binary message to pages: both channels alike.
pub fn music(samples: &[i16]) -> Bytes {
    let pairs = samples.iter().flat_map(|sample| [*sample, *sample]);
    pairs.flat_map(i16::to_le_bytes).collect()
}

fn named(name: &str) -> Result<String, Unreadable> {
    let flat = one_line(name, NAME_MAX + 1);
    checked("a name", flat.trim(), NAME_MAX)
}

fn bounded(what: &'static str, text: &str) -> Result<String, Unreadable> {
    checked(what, visible(text).trim(), TEXT_MAX)
}

fn checked(what: &'static str, text: &str, most: usize) -> Result<String, Unreadable> {
    match text.is_empty() || text.chars().nth(most).is_some() {
        true => Err(Unreadable::Text(what, most)),
        false => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(event: &Value) -> Result<FromPage, Unreadable> {
        read_event(&event.to_string())
    }

    #[test]
    fn events_of_a_page_are_read() {
        let to = |npc: Option<&str>| FromPage::Say {
            text: "Roll!".to_owned(),
            npc: npc.map(str::to_owned),
        };
        let hello = FromPage::Hello { name: "Ada".to_owned() };
        let bartok = || "Bartok".to_owned();
        for (event, expected) in [
            (json!({"type": "hello", "name": " A\u{202e}da\n"}), hello),
            (json!({"type": "talk", "on": true}), FromPage::Talk { on: true }),
            (json!({"type": "say", "text": "Roll!"}), to(None)),
            (json!({"type": "say", "text": "Roll!", "npc": null}), to(None)),
            (json!({"type": "say", "text": "Roll!", "npc": "Bartok"}), to(Some("Bartok"))),
            (
                json!({"type": "played", "turn": 3, "samples": 12_345}),
                FromPage::Played { turn: 3, samples: 12_345 },
            ),
            (
                json!({"type": "order", "command": "/npc mute Bartok"}),
                FromPage::Order { command: "/npc mute Bartok".to_owned() },
            ),
            (json!({"type": "why", "turn": 3}), FromPage::Why { turn: 3 }),
            (json!({"type": "hear_voice", "npc": "Bartok"}), FromPage::HearVoice { npc: bartok() }),
            (json!({"type": "tier", "tier": null}), FromPage::Tier { tier: None }),
            (json!({"type": "tier", "tier": "deep"}), FromPage::Tier { tier: Some(Tier::Deep) }),
        ] {
            assert_eq!(read(&event), Ok(expected), "{event}");
        }
    }

    #[test]
    fn odd_events_are_refused() {
        for unknown in [
            json!(null),
            json!({"type": "shutdown"}),
            json!({"type": "talk"}),
            json!({"type": "talk", "on": "yes"}),
            json!({"type": "played", "turn": -1, "samples": 0}),
            json!({"type": "tier", "tier": "slow"}),
        ] {
            assert_eq!(read(&unknown), Err(Unreadable::Unknown), "{unknown}");
        }
        let deep = format!("{{\"type\":\"why\",\"turn\":{}", "[".repeat(30_000));
        let wide = format!("[{}0]", "0,".repeat(1_000));
        for large in [deep, wide] {
            assert_eq!(read_event(&large), Err(Unreadable::Large));
        }
        for name in ["", " \u{200b} ", "x".repeat(65).as_str()] {
            let hello = json!({"type": "hello", "name": name});
            assert_eq!(read(&hello), Err(Unreadable::Text("a name", NAME_MAX)));
        }
        let long = json!({"type": "say", "text": "x".repeat(TEXT_MAX + 1)});
        assert_eq!(read(&long), Err(Unreadable::Text("the text", TEXT_MAX)));
    }

    #[test]
    fn sound_is_20_ms_at_a_time() {
        let samples: Vec<i16> = (0..320).map(|it| it * 100 - 16_000).collect();
        assert_eq!(read_sound(&sound(&samples)), Ok(samples));
        for length in [0, 1, 638, 639, 641, 1_280] {
            assert_eq!(read_sound(&vec![0; length]), Err(Unreadable::Sound(length)));
        }
    }

    #[test]
    fn events_for_a_page_have_their_type() {
        let turn = ToPage::Turn { turn: 3, state: TurnState::Thinking, npc: None };
        let text = serde_json::to_string(&turn).unwrap();
        assert_eq!(text, r#"{"type":"turn","turn":3,"state":"thinking","npc":null}"#);
        let bye = serde_json::to_value(ToPage::Bye { reason: "x".to_owned() }).unwrap();
        assert_eq!(bye, json!({"type": "bye", "reason": "x"}));
        let back = serde_json::to_value(ToPage::TakenBack { lines: vec![2, 3], removals: 1 });
        let expected = json!({"type": "taken_back", "lines": [2, 3], "removals": 1});
        assert_eq!(back.unwrap(), expected);
    }

    proptest! {
        /// Whatever comes, it is refused or within its bounds.
        #[test]
        fn anything_is_read_within_bounds(
            text in r#"(\{"type":"(hello|say|order|tier|played|why|hear_voice|talk|x)"(,"(name|text|npc|on|turn|samples|tier|command)":(null|true|-?[0-9]{1,20}|"[^"\\]{0,80}")){0,4}\}?|\PC{0,200})"#,
            bytes in proptest::collection::vec(any::<u8>(), 0..1_300),
        ) {
            match read_event(&text) {
                Ok(FromPage::Hello { name } | FromPage::HearVoice { npc: name }) => {
                    prop_assert!((1..=NAME_MAX).contains(&name.chars().count()));
                    prop_assert!(!name.chars().any(char::is_control));
                }
                Ok(FromPage::Say { text, .. } | FromPage::Order { command: text }) => {
                    prop_assert!((1..=TEXT_MAX).contains(&text.chars().count()));
                }
                Ok(_) => {}
                Err(why) => prop_assert!(!why.to_string().is_empty()),
            }
            prop_assert_eq!(read_sound(&bytes).is_ok(), bytes.len() == 2 * SAMPLES);
        }
    }
}
