//! Wishes about music, granted by the table itself even if addressed to an NPC.
//!
//! An utterance of wishes alone is answered by the change. If it says more, the NPC answers the
//! rest. Guesses grant nothing.

use super::{SpeakerId, routing::Understood, table::Table, utterance::Utterance};
use crate::logic::{music::MusicWish, spoken};

impl Table {
    /// Replaces `understood` by wishes if all of `text` consists of them.
    pub(super) fn or_wishes(&self, understood: Understood, text: &str) -> Understood {
        let wishes = self.music.wishes(text, self.router.npc_names());
        match understood {
            // An NPC with a tool for music answers itself.
            Understood::Addressed { seat, .. }
                if wishes == [MusicWish::Stop] && self.seats[seat].npc.plays_music() =>
            {
                understood
            }
            _ if wishes.is_empty() => understood,
            _ => Understood::Music(wishes),
        }
    }

    /// Grants wishes in parts of `utterance`, and removes them from it.
    pub(super) fn grant_within(&mut self, understood: &Understood, utterance: &mut Utterance) {
        let said = utterance.text.clone();
        if let Some(wishes) = self.leave_wishes_out(understood, utterance) {
            // A continued utterance is processed again from the start; the wish is granted once.
            utterance.raw.clone_from(&utterance.text);
            let done = self.grant(utterance.speaker, &said, wishes);
            self.reports.notice(done);
        }
    }

    /// Removes wishes from `utterance`, which says more; `None` without any.
    pub(super) fn leave_wishes_out(
        &self,
        understood: &Understood,
        utterance: &mut Utterance,
    ) -> Option<Vec<MusicWish>> {
        if !matches!(understood, Understood::Addressed { .. } | Understood::Nobody(_)) {
            return None;
        }
        let names = self.router.npc_names();
        let (wishes, rest) = self.music.wishes_within(&utterance.text, names)?;
        utterance.text = rest;
        Some(wishes)
    }

    /// Grants the `wishes` in `text`; describes the changes. An NPC tells the titles if asked, in
    /// the language of the question.
    pub(super) fn grant(
        &mut self,
        speaker: SpeakerId,
        text: &str,
        wishes: Vec<MusicWish>,
    ) -> String {
        let spoken_in = self.speakers.language(speaker, text);
        let is_asked = wishes.contains(&MusicWish::Name);
        let is_missing = wishes.iter().any(|wish| matches!(wish, MusicWish::Missing(_)));
        let done: Vec<String> = wishes.into_iter().map(|wish| self.music.grant(wish)).collect();
        let titles = self.music.titles().filter(|_| is_asked);
        let speaks = self.seats.iter().find(|it| self.may_speak(*it));
        let said = speaks.and_then(|(id, seat)| {
            let language = spoken_in.unwrap_or(&seat.npc.language);
            let unknown = is_missing.then(|| spoken::music_unknown(language).to_owned());
            let said = titles.map(|titles| spoken::music_title(language, &titles)).or(unknown)?;
            Some((id, said))
        });
        if let Some((id, said)) = said {
            self.puppet(speaker, id, said);
        }
        done.join(", ")
    }
}
