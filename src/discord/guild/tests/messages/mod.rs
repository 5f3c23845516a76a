//! All messages of the bot in one file, for proofreading.
//!
//! Includes messages of a running session that need no voice connection.

mod pressed;
mod shown;
mod used;

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use tokio::time::timeout;

use super::{HERE, shared};
use crate::discord::{
    commands::{Answer, Refusal},
    guild::Guild,
};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// First line of the file.
const HEAD: &str =
    "Messages of the bot. UPDATE_EXPECT=1 cargo test messages_of_the_bot writes them.\n";

/// A case and its readable lines.
type Message = (String, String);

fn message(name: &str, lines: impl Into<String>) -> Message {
    (name.to_owned(), lines.into())
}

/// The readable texts of a message, an answer or a form, one per line.
fn read(shown: impl serde::Serialize) -> String {
    let mut lines = Vec::new();
    collect(&serde_json::to_value(shown).expect("JSON"), &mut lines);
    lines.join("\n")
}

fn collect(value: &Value, lines: &mut Vec<String>) {
    const SHOWN: [&str; 5] = ["content", "title", "description", "label", "placeholder"];
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, lines)),
        Value::Object(map) => {
            let text = |key: &str| map.get(key).and_then(Value::as_str);
            lines.extend(SHOWN.iter().filter_map(|key| text(key)).map(str::to_owned));
            // A field of an embed.
            if let (Some(name), Some(value), Some(_)) =
                (text("name"), text("value"), map.get("inline"))
            {
                lines.push(format!("{name}: {value}"));
            }
            let (buttons, others): (Vec<_>, Vec<_>) =
                map.iter().partition(|(key, _)| *key == "components");
            others.into_iter().chain(buttons).for_each(|(_, inner)| collect(inner, lines));
        }
        _ => {}
    }
}

/// A guild without a session; its store is in the folder.
fn guild() -> (tempfile::TempDir, Guild) {
    let folder = tempfile::tempdir().expect("a folder");
    let guild = Guild::new(HERE, shared(folder.path()));
    (folder, guild)
}

/// The readable texts of an answer, after all work it waits for.
async fn answered(guild: &mut Guild, mut answer: Result<Answer, Refusal>) -> String {
    loop {
        answer = match answer {
            Err(Refusal(why)) => return why,
            Ok(Answer::Now(reply) | Answer::Replace(reply)) => return read(reply.message()),
            Ok(Answer::Form(form)) => return read(form),
            Ok(Answer::Soon(work)) => {
                let next = timeout(PATIENCE, work).await.expect("the table or memory answers");
                next(guild)
            }
            Ok(Answer::Later { work, .. }) => {
                let then = timeout(PATIENCE, work).await.expect("the work ends");
                return read(then(guild).message());
            }
        };
    }
}

/// `UPDATE_EXPECT=1` rewrites the file.
#[tokio::test]
async fn messages_of_the_bot() {
    let mut all = shown::messages();
    all.extend(used::messages().await);
    all.extend(pressed::messages().await);
    let count = all.len();
    let all: BTreeMap<String, String> = all.into_iter().collect();
    assert_eq!(all.len(), count, "two cases have one name");
    let entry = |(name, lines): (&String, &String)| {
        let lines = lines.lines().map(str::trim_end).filter(|line| !line.is_empty());
        format!("\n# {name}\n{}\n", lines.collect::<Vec<_>>().join("\n"))
    };
    let text: String = std::iter::once(HEAD.to_owned()).chain(all.iter().map(entry)).collect();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/messages_discord.txt");
    expect_test::expect_file![file].assert_eq(&text);
}
