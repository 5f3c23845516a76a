//! A file that a game master has sent: its preview, or its import.
//!
//! Entry function: [`opened`]; [`OthersFile::bring`] previews or imports it. **Never**: changes anything
//! before the game master has confirmed it.

use tokio::task::{JoinError, spawn_blocking};

use super::{
    people::Cast,
    plan::{BringError, plan},
    preview::Preview,
    previewed::PreviewedFiles,
    voice::{UnknownVoice, VoiceOffer},
};
use crate::{
    campaign::{
        ImportSettings, Scoped, Settings,
        world::{FileImport, ImportStage, SentFile},
    },
    domain::{Npc, revealed_name},
    import::{Drafts, Given, Mistake, is_ours, read_one},
};

/// Most mistakes shown; more are counted.
const MISTAKES_MAX: usize = 10;
/// Most lines of a preview; more are counted.
const LINES_MAX: usize = 20;

/// Reason a file was neither previewed nor imported, with the fix.
#[derive(Debug, thiserror::Error)]
pub enum NotBrought {
    /// Faults of the file.
    #[error("{}", told(.0))]
    Mistakes(Vec<Mistake>),
    #[error("no NPC is in '{0}' (use /entity import for everything else)")]
    NoNpc(String),
    /// A file of ours.
    #[error(
        "'{0}' has Glyphoxa's own format (campaign files: /entity import; files of NPCs go into \
         npc_dir)"
    )]
    Ours(String),
    /// Other guilds have the same NPCs.
    #[error(
        "NPCs belong to all servers of this bot (ask its owner to import the file: glyphoxa import)"
    )]
    SharedCast,
    /// It was imported, or dropped.
    #[error("I no longer have this file (send it again)")]
    Gone,
    #[error(transparent)]
    Voice(#[from] UnknownVoice),
    #[error("the import was stopped: {0} (send the file again)")]
    Stopped(#[from] JoinError),
    #[error(transparent)]
    Bring(#[from] BringError),
}

/// The mistakes, at most [`MISTAKES_MAX`].
fn told(mistakes: &[Mistake]) -> String {
    let shown = mistakes.iter().take(MISTAKES_MAX);
    let mut lines: Vec<String> = shown.map(|it| revealed_name(&it.to_string())).collect();
    if let Some(more) = mistakes.len().checked_sub(MISTAKES_MAX).filter(|&more| more > 0) {
        lines.push(format!("and {more} more (glyphoxa import shows all)"));
    }
    lines.push("nothing was imported".to_owned());
    lines.join("\n")
}

/// A file by its content.
#[derive(Debug)]
pub enum Opened {
    /// A campaign file.
    Ours(SentFile),
    Others(Box<OthersFile>),
}

/// A file of another program.
#[derive(Debug)]
pub struct OthersFile {
    request: FileImport,
    drafts: Drafts,
}

/// Reads the file of `request`, away from the caller's thread. Fails on a file of ours if NPCs are wanted.
pub async fn opened(request: FileImport) -> Result<Opened, NotBrought> {
    spawn_blocking(move || open(request)).await?
}

fn open(request: FileImport) -> Result<Opened, NotBrought> {
    let FileImport { file: SentFile { name, bytes }, choices } = request;
    let given = Given { file: revealed_name(&name), inside: String::new(), bytes };
    if is_ours(&given) {
        return match choices.npcs {
            true => Err(NotBrought::Ours(given.file)),
            false => Ok(Opened::Ours(SentFile { name, bytes: given.bytes })),
        };
    }
    let drafts = read_one(&given);
    let Given { file: name, bytes, .. } = given;
    // Only a preview keeps the file.
    let bytes = if choices.confirmed { Vec::new() } else { bytes };
    let file = SentFile { name, bytes };
    Ok(Opened::Others(Box::new(OthersFile { request: FileImport { file, choices }, drafts })))
}

impl OthersFile {
    /// Imports the file if the game master has confirmed it, otherwise keeps it; what has changed or would
    /// change.
    pub async fn bring(
        self,
        at: Scoped<'_>,
        settings: &Settings,
        previewed: &PreviewedFiles,
    ) -> Result<(String, ImportStage), NotBrought> {
        self.check()?;
        let Self { request, drafts } = self;
        let choices = &request.choices;
        let ImportSettings { npc_dir, language, voices } = settings.imports.clone();
        let voices = spawn_blocking(move || voices.list()).await?;
        let voice = choices.voice.as_deref().map(|it| VoiceOffer::find(&voices, it)).transpose()?;
        let voice = voice.cloned();
        let seated = settings.cast.iter().chain([&settings.assistant.npc]);
        let npcs: Vec<Npc> = seated.map(|npc| (**npc).clone()).collect();
        let knows_secrets = choices.knows_secrets;
        let cast = Cast { folder: npc_dir, npcs, voices, voice, language, knows_secrets };
        let has_secrets = drafts.npcs.iter().any(|npc| !npc.secrets.is_empty());
        let mut bringing = plan(at, drafts, cast).await?;
        let (mut lines, summary) = (shown(&bringing.preview), bringing.preview.summary());
        let stage = if !bringing.is_new() {
            lines.push(format!("Nothing to import: {summary}."));
            ImportStage::Ended
        } else if choices.confirmed {
            let has_npcs = bringing.has_npcs();
            bringing.carry_out(at).await?;
            lines.push(format!("Imported: {summary}."));
            if has_npcs {
                lines.push("A running session seats the NPCs between two turns.".to_owned());
            }
            ImportStage::Ended
        } else {
            lines.push(format!("Would be imported: {summary}. Nothing has changed yet."));
            let has_secrets = has_secrets && !knows_secrets;
            ImportStage::Previewed { key: previewed.keep(at.scope, request), has_secrets }
        };
        Ok((lines.join("\n"), stage))
    }

    fn check(&self) -> Result<(), NotBrought> {
        let Self { request: FileImport { file, choices }, drafts } = self;
        if !drafts.mistakes.is_empty() {
            return Err(NotBrought::Mistakes(drafts.mistakes.clone()));
        }
        match drafts.npcs.is_empty() {
            true if choices.npcs => Err(NotBrought::NoNpc(file.name.clone())),
            false if !choices.has_own_cast => Err(NotBrought::SharedCast),
            _ => Ok(()),
        }
    }
}

/// Lines of a preview, at most [`LINES_MAX`].
fn shown(preview: &Preview) -> Vec<String> {
    let all = preview.lines();
    let mut lines: Vec<String> = all.iter().take(LINES_MAX).map(|it| revealed_name(it)).collect();
    if let Some(more) = all.len().checked_sub(LINES_MAX).filter(|&more| more > 0) {
        lines.push(format!("and {more} more (glyphoxa import --dry-run shows all)"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::ImportChoices;

    fn sent(text: &str, choices: ImportChoices) -> FileImport {
        FileImport { file: SentFile { name: "a".to_owned(), bytes: text.into() }, choices }
    }

    #[test]
    fn campaign_file_is_no_npc() {
        let text = "entities: [{ name: Inn, type: location }]\n";
        let ours = open(sent(text, ImportChoices::default())).unwrap();
        assert!(matches!(ours, Opened::Ours(file) if file.bytes == text.as_bytes()));
        let why = open(sent(text, ImportChoices { npcs: true, ..Default::default() })).unwrap_err();
        assert!(why.to_string().contains("campaign files: /entity import"), "{why}");
    }

    #[test]
    fn ten_mistakes_are_shown_with_their_places() {
        let mistake = |at: usize| Mistake {
            file: "world.zip!a\n.json".to_owned(),
            place: format!("actors/{at}"),
            message: "no name".to_owned(),
            way_out: "name it".to_owned(),
        };
        let why = NotBrought::Mistakes((0..12).map(mistake).collect()).to_string();
        let lines: Vec<&str> = why.lines().collect();
        assert_eq!(lines[9], "world.zip!a\\n.json: actors/9: no name (name it)");
        assert_eq!(lines[10..], ["and 2 more (glyphoxa import shows all)", "nothing was imported"]);
    }

    #[test]
    fn npcs_of_all_guilds_are_not_imported_in_one() {
        let card = r#"{"spec": "chara_card_v2", "spec_version": "2.0",
            "data": {"name": "Luna", "description": "A witch.", "first_mes": "Hello."}}"#;
        for (has_own_cast, is_taken) in [(true, true), (false, false)] {
            let choices = ImportChoices { npcs: true, has_own_cast, ..Default::default() };
            let Opened::Others(file) = open(sent(card, choices)).unwrap() else { panic!("a card") };
            assert_eq!(file.request.file.bytes, card.as_bytes(), "a preview keeps it");
            assert_eq!(file.check().is_ok(), is_taken);
        }
    }
}
