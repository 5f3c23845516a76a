//! Messages of the bot in a channel, and names of their files.
//!
//! Entry type: [`ChannelMessage`]. Messages ping no one.

use serenity::all::{CreateAttachment, CreateMessage};

use super::names::escaped;
use crate::tools::{Caption, bare};

/// Longest message, in characters (Discord's limit).
pub const MESSAGE_MAX: usize = 2_000;
/// Largest file a bot may send, in bytes (Discord's limit).
pub const FILE_BYTES: usize = 10 << 20;

#[derive(Debug, PartialEq, Eq)]
pub enum ChannelMessage {
    /// At most [`MESSAGE_MAX`] characters.
    Text(String),
    /// A file without text.
    File { name: String, bytes: Vec<u8> },
    /// A picture that an NPC shows.
    Picture { name: String, bytes: Vec<u8>, caption: Caption },
}

impl ChannelMessage {
    /// Text; becomes a file when longer than a message.
    pub fn text(text: String) -> Self {
        match text.chars().count() > MESSAGE_MAX {
            true => Self::File { name: "shown.txt".to_owned(), bytes: text.into_bytes() },
            false => Self::Text(text),
        }
    }

    pub fn message(self) -> CreateMessage {
        let message = CreateMessage::new();
        match self {
            Self::Text(text) => message.content(text),
            Self::File { name, bytes } => message.add_file(CreateAttachment::bytes(bytes, name)),
            Self::Picture { name, bytes, caption: Caption { by, alt } } => {
                let file = CreateAttachment::bytes(bytes, name).description(alt);
                message.content(format!("**{}** shows a picture", escaped(&by))).add_file(file)
            }
        }
    }
}

/// Words of an NPC that no voice has spoken.
pub fn unspoken(npc: &str, words: &str) -> String {
    format!("**{}** (not heard): {}", escaped(npc), escaped(words))
}

pub fn file_name(tool: &str, mime: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let name: String = bare(tool).chars().take(40).map(plain).collect();
    format!("{name}.{}", extension(mime))
}

fn extension(mime: &str) -> &'static str {
    let mime = mime.split(';').next().unwrap_or_default().trim();
    match mime {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "audio/mpeg" => "mp3",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/ogg" | "audio/opus" => "ogg",
        "audio/flac" => "flac",
        "audio/mp4" | "audio/aac" => "m4a",
        "application/pdf" => "pdf",
        "text/plain" => "txt",
        "text/markdown" => "md",
        "application/json" => "json",
        _ => "bin",
    }
}
