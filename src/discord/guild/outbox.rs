//! Output of tools, on its way to the session's text channel.
//!
//! Entry type: [`Outbox`]; the guild sends one message of it per second. **Never**: cuts a line.

use std::collections::VecDeque;

use tokio::sync::OwnedSemaphorePermit;

use crate::{
    discord::ui::message::{ChannelMessage, MESSAGE_MAX, file_name},
    domain::PersonId,
    tools::{Attachment, Caption},
};

/// Waiting lines, about a minute of a busy tool; further ones are counted as lost.
const LINES_MAX: usize = 64;

#[derive(Debug, Default)]
pub struct Outbox {
    waiting: VecDeque<Item>,
    lost: usize,
}

#[derive(Debug)]
enum Item {
    Line(String),
    File(File),
}

#[derive(Debug)]
struct File {
    name: String,
    bytes: Vec<u8>,
    caption: Option<Caption>,
    halts: u64,
    asked_by: Option<PersonId>,
    /// Its place among waiting files; dropping it frees the place.
    _place: Option<OwnedSemaphorePermit>,
}

impl Outbox {
    pub fn line(&mut self, text: String) {
        let lines = self.waiting.iter().filter(|it| matches!(it, Item::Line(_))).count();
        match lines < LINES_MAX {
            true => self.waiting.push_back(Item::Line(text)),
            false => self.lost += 1,
        }
    }

    /// Adds a picture or sound of `tool`, requested after `halts` X-cards; `place` is its place
    /// among waiting files.
    pub fn file(
        &mut self,
        tool: &str,
        attachment: &Attachment,
        halts: u64,
        place: Option<OwnedSemaphorePermit>,
    ) {
        let name = file_name(tool, &attachment.mime);
        let (bytes, caption) = (attachment.bytes.to_vec(), attachment.caption.clone());
        let asked_by = attachment.asked_by.clone();
        self.waiting.push_back(Item::File(File {
            name,
            bytes,
            caption,
            halts,
            asked_by,
            _place: place,
        }));
    }

    /// Drops waiting files requested before the last of `used` X-cards.
    pub fn withdraw_files(&mut self, used: u64) {
        self.waiting.retain(|it| !matches!(it, Item::File(file) if file.halts != used));
    }

    /// Drops waiting files made for `person`.
    pub fn withdraw_files_of(&mut self, person: &PersonId) {
        let is_theirs = |file: &File| file.asked_by.as_ref() == Some(person);
        self.waiting.retain(|it| !matches!(it, Item::File(file) if is_theirs(file)));
    }

    /// The next message: a file, or as many lines as fit.
    pub fn next(&mut self) -> Option<ChannelMessage> {
        let mut text = String::new();
        while let Some(Item::Line(line)) = self.waiting.front() {
            let length = line.chars().count();
            let sum = text.chars().count() + usize::from(!text.is_empty()) + length;
            if sum > MESSAGE_MAX && !text.is_empty() {
                return Some(ChannelMessage::Text(text));
            }
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(line);
            self.waiting.pop_front();
            if sum > MESSAGE_MAX {
                return Some(ChannelMessage::text(text));
            }
        }
        if !text.is_empty() {
            return Some(ChannelMessage::Text(text));
        }
        if let Some(Item::File(File { name, bytes, caption, .. })) = self.waiting.pop_front() {
            return Some(match caption {
                Some(caption) => ChannelMessage::Picture { name, bytes, caption },
                None => ChannelMessage::File { name, bytes },
            });
        }
        let lost = std::mem::take(&mut self.lost);
        (lost > 0).then(|| ChannelMessage::Text(format!("… and {lost} more results of tools")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgotten_person_withdraws_files_that_wait() {
        let mut outbox = Outbox::default();
        for id in ["1", "2"] {
            let asked_by = Some(PersonId(id.to_owned()));
            outbox.file(
                &format!("x.of_{id}"),
                &Attachment { asked_by, ..Attachment::picture(3) },
                0,
                None,
            );
        }
        outbox.withdraw_files_of(&PersonId("1".to_owned()));
        let (name, bytes) = ("of_2.png".to_owned(), vec![0; 3]);
        assert_eq!(outbox.next(), Some(ChannelMessage::File { name, bytes }));
        assert_eq!(outbox.next(), None);
    }

    #[test]
    fn x_card_withdraws_files_that_wait() {
        let mut outbox = Outbox::default();
        let caption = Caption { by: "Mira".into(), alt: "A ring".to_owned() };
        let shown = Attachment { caption: Some(caption.clone()), ..Attachment::picture(3) };
        outbox.file("image-gen.generate_image", &shown, 0, None);
        let (name, bytes) = ("generate_image.png".to_owned(), vec![0; 3]);
        assert_eq!(outbox.next(), Some(ChannelMessage::Picture { name, bytes, caption }));
        outbox.file("image-gen.generate_image", &shown, 0, None);
        outbox.line("a".to_owned());
        outbox.withdraw_files(1);
        assert_eq!(outbox.next(), Some(ChannelMessage::Text("a".to_owned())));
        assert_eq!(outbox.next(), None);
    }

    #[test]
    fn merged_lines_keep_their_order_around_files() {
        let mut outbox = Outbox::default();
        assert_eq!(outbox.next(), None);
        outbox.line("a".to_owned());
        outbox.line("b".to_owned());
        outbox.file("maps.draw-it", &Attachment::picture(3), 0, None);
        outbox.line("c".to_owned());
        assert_eq!(outbox.next(), Some(ChannelMessage::Text("a\nb".to_owned())));
        let file = ChannelMessage::File { name: "draw_it.png".to_owned(), bytes: vec![0; 3] };
        assert_eq!(outbox.next(), Some(file));
        assert_eq!(outbox.next(), Some(ChannelMessage::Text("c".to_owned())));
        assert_eq!(outbox.next(), None);
    }

    #[test]
    fn nothing_is_cut() {
        let mut outbox = Outbox::default();
        for length in [1_500, 499, 1, 2_001] {
            outbox.line("ü".repeat(length));
        }
        let Some(ChannelMessage::Text(first)) = outbox.next() else { panic!("no text") };
        assert_eq!(first.chars().count(), 2_000);
        assert_eq!(outbox.next(), Some(ChannelMessage::Text("ü".to_owned())));
        let Some(ChannelMessage::File { bytes, .. }) = outbox.next() else { panic!("no file") };
        assert_eq!(bytes.len(), 4_002);
    }

    #[test]
    fn overflow_is_counted() {
        let mut outbox = Outbox::default();
        for _ in 0..LINES_MAX + 4 {
            outbox.line("x".to_owned());
        }
        assert!(outbox.next().is_some());
        let last = ChannelMessage::Text("… and 4 more results of tools".to_owned());
        assert_eq!(outbox.next(), Some(last));
    }
}
