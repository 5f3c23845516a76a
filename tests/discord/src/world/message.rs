//! Messages with everything they ever said.
//!
//! Entry types: [`Message`] for tests, `Stored` inside. Never: deciding who may write.

use serde_json::Value;
use tokio::time::Instant;

/// One wording of a message.
#[derive(Clone, Debug)]
pub struct Version {
    /// Time of writing, on the loopback's clock.
    pub at: Instant,
    /// The whole message object.
    pub json: Value,
}

/// A message as it is now, and as it was.
#[derive(Clone, Debug)]
pub struct Message {
    /// Id.
    pub id: u64,
    /// Its channel.
    pub channel: u64,
    /// Its author.
    pub author: u64,
    /// The only user who sees it, if it is ephemeral.
    pub ephemeral_for: Option<u64>,
    /// True if it has been deleted.
    pub deleted: bool,
    /// All wordings, the first one first; never empty.
    pub versions: Vec<Version>,
}

/// Message as the world stores it.
pub(crate) type Stored = Message;

impl Message {
    /// The message object as it is now.
    #[must_use]
    pub fn json(&self) -> &Value {
        self.versions.last().map_or(&Value::Null, |version| &version.json)
    }

    /// Its content.
    #[must_use]
    pub fn content(&self) -> &str {
        self.json()["content"].as_str().unwrap_or_default()
    }

    /// Its embeds.
    #[must_use]
    pub fn embeds(&self) -> &[Value] {
        self.json()["embeds"].as_array().map_or(&[], Vec::as_slice)
    }

    /// All there is to read: content and every text of the embeds, a line each.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![self.content().to_owned()];
        for embed in self.embeds() {
            let mut add = |value: &Value| lines.extend(value.as_str().map(str::to_owned));
            add(&embed["author"]["name"]);
            add(&embed["title"]);
            add(&embed["description"]);
            for field in embed["fields"].as_array().map_or(&[][..], Vec::as_slice) {
                add(&field["name"]);
                add(&field["value"]);
            }
            add(&embed["footer"]["text"]);
        }
        lines.retain(|line| !line.is_empty());
        lines.join("\n")
    }

    /// Its buttons, selects and inputs, row by row.
    #[must_use]
    pub fn components(&self) -> Vec<&Value> {
        components(self.json())
    }

    /// The button with this label.
    #[must_use]
    pub fn button(&self, label: &str) -> Option<&Value> {
        self.components().into_iter().find(|one| one["type"] == 2 && one["label"] == label)
    }

    /// Addresses of the files at it, with their names.
    #[must_use]
    pub fn files(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let all = self.json()["attachments"].as_array().map_or(&[][..], Vec::as_slice);
        all.iter().map(|file| (text(&file["filename"]), text(&file["url"]))).collect()
    }

    /// Number of edits.
    #[must_use]
    pub fn edits(&self) -> usize {
        self.versions.len().saturating_sub(1)
    }
}

/// All components inside the rows of a message or a modal.
pub(crate) fn components(message: &Value) -> Vec<&Value> {
    let rows = message["components"].as_array().map_or(&[][..], Vec::as_slice);
    rows.iter().filter_map(|row| row["components"].as_array()).flatten().collect()
}
