//! Transcripts of an export: all of it for the game master, and what players may read.
//!
//! Entry functions: [`for_dm`], [`for_players`].

use std::{collections::BTreeSet, io::Write};

use super::super::shown::Shown;
use super::{arguments::Format, folder::NewFile};
use crate::{
    campaign::{ScopeContent, date, time},
    export::{Evening, FileNames, SaidLine, markdown, tagged_json, web_vtt},
    memory::{Session, TranscriptLine, Visibility},
};

/// A Markdown file a session with everything that was not taken back.
pub fn for_dm(held: &ScopeContent, campaign: &str) -> Vec<NewFile> {
    let mut names = FileNames::default();
    let file = |session: &Session| {
        let is_there = |line: &&TranscriptLine| !line.withdrawn;
        let of_session = lines(held, session).filter(is_there);
        let evening = evening(session, campaign, of_session.map(|it| said(it, who(it))).collect());
        (format!("sessions/{}.md", names.take(&session.id)), text(&markdown(&evening)))
    };
    held.sessions.iter().map(file).collect()
}

/// Files in `formats` a session, without secrets and without the words of `opted_out` and the answers to them.
pub fn for_players(
    held: &ScopeContent,
    campaign: &str,
    formats: &[Format],
    opted_out: &BTreeSet<String>,
) -> Vec<NewFile> {
    let mut names = FileNames::default();
    let is_open = |line: &&TranscriptLine| {
        let is_theirs = || opted_out.iter().any(|player| line.said.is_of(player, i64::MAX));
        !line.withdrawn && line.said.visibility == Visibility::Everyone && !is_theirs()
    };
    let mut files = Vec::new();
    for session in &held.sessions {
        let open = lines(held, session).filter(is_open);
        let open = open.map(|line| said(line, line.said.who().to_owned()));
        let evening = evening(session, campaign, open.collect());
        let name = names.take(&session.id);
        for format in formats {
            let shown = match format {
                Format::Md => markdown(&evening),
                Format::Vtt => web_vtt(&evening),
                Format::Json => format!("{:#}\n", tagged_json(&evening)),
            };
            files.push((format!("transcripts/{name}.{}", format.ending()), text(&shown)));
        }
    }
    files
}

/// `text` for a file, with hidden characters escaped.
pub fn text(text: &str) -> Vec<u8> {
    let mut shown = Shown(Vec::new());
    // Writing to memory cannot fail.
    _ = shown.write_all(text.as_bytes());
    shown.0
}

fn lines<'a>(
    held: &'a ScopeContent,
    session: &'a Session,
) -> impl Iterator<Item = &'a TranscriptLine> {
    held.lines.iter().filter(move |line| line.said.session == session.id)
}

fn evening(session: &Session, campaign: &str, lines: Vec<SaidLine>) -> Evening {
    Evening {
        title: session.title.clone().unwrap_or_else(|| session.id.clone()),
        campaign: campaign.to_owned(),
        began: session.started.map(date).unwrap_or_default(),
        summary: session.summary.clone(),
        lines,
    }
}

fn said(line: &TranscriptLine, speaker: String) -> SaidLine {
    SaidLine {
        at: line.said.at,
        clock: time(line.said.at),
        length: line.said.duration,
        speaker,
        is_npc: line.said.speaker_id.is_none(),
        text: line.said.text.clone(),
    }
}

/// The character with the player's name.
fn who(line: &TranscriptLine) -> String {
    let speaker = &line.said.speaker;
    line.said.character.as_ref().map_or_else(|| speaker.clone(), |it| format!("{it} ({speaker})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Asked, Uid, Utterance};

    fn line(seq: u64, by: Option<&str>, text: &str) -> TranscriptLine {
        let said = Utterance {
            uid: Uid(format!("one-{seq}")),
            session: "one".to_owned(),
            speaker: by.map_or("Bartok", |_| "Anna").to_owned(),
            character: by.map(|_| "Rhea".to_owned()),
            speaker_id: by.map(str::to_owned),
            text: text.to_owned(),
            ..Utterance::default()
        };
        TranscriptLine { seq, said, withdrawn: false }
    }

    fn held() -> ScopeContent {
        let mut secret = line(2, Some("7"), "between us");
        secret.said.visibility = Visibility::Dm;
        let mut answer = line(4, None, "about mules");
        answer.said.asked = Some(Asked { by: "8".to_owned(), at: 0 });
        let lines =
            vec![line(1, Some("7"), "aloud"), secret, line(3, Some("8"), "my mule"), answer];
        let session = Session { id: "one".to_owned(), ..Session::default() };
        ScopeContent { sessions: vec![session], lines, ..ScopeContent::default() }
    }

    #[test]
    fn players_see_no_secret_and_no_opted_out_person() {
        let all = [Format::Md, Format::Vtt, Format::Json];
        let files = for_players(&held(), "saltmarsh", &all, &["8".to_owned()].into());
        assert_eq!(files.len(), 3);
        for (name, bytes) in files {
            let text = String::from_utf8(bytes).unwrap();
            assert!(name.starts_with("transcripts/one.") && text.contains("aloud"), "{text}");
            for hidden in ["between us", "mule", "Anna"] {
                assert!(!text.contains(hidden), "{name}: {text}");
            }
        }
    }

    #[test]
    fn game_master_sees_everything() {
        let files = for_dm(&held(), "saltmarsh");
        let text = String::from_utf8(files[0].1.clone()).unwrap();
        for shown in ["between us", "my mule", "about mules", "**Rhea (Anna)**: aloud"] {
            assert!(text.contains(shown), "{text}");
        }
    }
}
