//! Reply to a command.
//!
//! Entry type: [`Reply`]. Text longer than a message becomes a file. Replies ping no one.

use serenity::all::{
    CreateActionRow, CreateAllowedMentions, CreateAttachment, CreateEmbed,
    CreateInteractionResponseMessage, EditInteractionResponse,
};

/// Longest text of a message, in characters (Discord's limit).
const CONTENT_MAX: usize = 2_000;
/// Longest text of an embed, in characters (Discord's limit).
const EMBED_MAX: usize = 4_096;

#[derive(Clone, Debug, Default)]
pub struct Reply {
    text: String,
    title: Option<String>,
    rows: Vec<CreateActionRow>,
    files: Vec<(String, Vec<u8>)>,
    public: bool,
}

impl Reply {
    /// Visible to the asker only.
    pub fn private(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Visible to everyone in the channel.
    pub fn public(text: impl Into<String>) -> Self {
        Self { text: text.into(), public: true, ..Self::default() }
    }

    pub fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    pub fn with_rows(mut self, rows: Vec<CreateActionRow>) -> Self {
        self.rows = rows;
        self
    }

    pub fn with_file(mut self, name: impl Into<String>, bytes: Vec<u8>) -> Self {
        self.files.push((name.into(), bytes));
        self
    }

    /// Adds a paragraph.
    pub fn noting(mut self, word: Option<String>) -> Self {
        if let Some(word) = word {
            self.text.push_str("\n\n");
            self.text.push_str(&word);
        }
        self
    }

    /// Text without title and files.
    #[cfg(test)]
    pub fn text(&self) -> &str {
        &self.text
    }

    #[cfg(test)]
    pub fn rows(&self) -> &[CreateActionRow] {
        &self.rows
    }

    fn parts(&self) -> (String, Vec<CreateEmbed>, Vec<CreateAttachment>) {
        let files = self.files.iter();
        let mut files: Vec<CreateAttachment> = files
            .map(|(name, bytes)| CreateAttachment::bytes(bytes.clone(), name.clone()))
            .collect();
        let length = self.text.chars().count();
        let whole = if self.title.is_some() { EMBED_MAX } else { CONTENT_MAX };
        if length > whole {
            files.push(CreateAttachment::bytes(self.text.clone().into_bytes(), "answer.txt"));
            let head = self.title.clone().unwrap_or_else(|| "the whole answer".to_owned());
            return (format!("{head}: see the file"), Vec::new(), files);
        }
        match &self.title {
            Some(title) => {
                let embed = CreateEmbed::new().title(title.clone()).description(self.text.clone());
                (String::new(), vec![embed], files)
            }
            None => (self.text.clone(), Vec::new(), files),
        }
    }

    pub fn message(&self) -> CreateInteractionResponseMessage {
        let (text, embeds, files) = self.parts();
        CreateInteractionResponseMessage::new()
            .content(text)
            .embeds(embeds)
            .files(files)
            .components(self.rows.clone())
            .ephemeral(!self.public)
            .allowed_mentions(CreateAllowedMentions::new())
    }

    pub fn edit(&self) -> EditInteractionResponse {
        let (text, embeds, files) = self.parts();
        let edit = EditInteractionResponse::new()
            .content(text)
            .embeds(embeds)
            .components(self.rows.clone())
            .allowed_mentions(CreateAllowedMentions::new());
        files.into_iter().fold(edit, EditInteractionResponse::new_attachment)
    }
}
