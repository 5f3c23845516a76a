//! Wishes about music that the table grants itself, even if they are addressed to an NPC.
//!
//! An utterance that only wishes is answered by the change alone. If it says more, the NPC answers the rest.
//! **Never**: grants anything before the words are final.

use super::{SpeakerId, routing::Understood, table::Table, utterance::Utterance};
use crate::logic::{music::MusicWish, spoken};

impl Table {
    /// `understood`, or the wishes that the whole of `text` consists of.
    pub(super) fn or_wishes(&self, understood: Understood, text: &str) -> Understood {
        let wishes = self.music.wishes(text, self.router.npc_names());
        match understood {
            // An NPC that can stop music answers for it.
            Understood::Addressed { seat, .. }
                if wishes == [MusicWish::Stop] && self.seats[seat].npc.plays_music() =>
            {
                understood
            }
            _ if wishes.is_empty() => understood,
            _ => Understood::Music(wishes),
        }
    }

    /// Grants the wishes in parts of `utterance`, and leaves the rest of it to be answered.
    pub(super) fn grant_within(&mut self, understood: &Understood, utterance: &mut Utterance) {
        if let Some(wishes) = self.leave_wishes_out(understood, utterance) {
            // A speaker who goes on is heard again from the start, and a wish is granted once.
            utterance.raw.clone_from(&utterance.text);
            let done = self.grant(utterance.speaker, wishes);
            self.reports.notice(done);
        }
    }

    /// Takes wishes about music out of `utterance`, which says more than them; `None`: it has none.
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

    /// Grants `wishes`; returns the changes in words. An NPC says the titles if they are asked for, and that it
    /// does not know a title that there is none of.
    pub(super) fn grant(&mut self, speaker: SpeakerId, wishes: Vec<MusicWish>) -> String {
        let is_asked = wishes.contains(&MusicWish::Name);
        let is_missing = wishes.iter().any(|wish| matches!(wish, MusicWish::Missing(_)));
        let done: Vec<String> = wishes.into_iter().map(|wish| self.music.grant(wish)).collect();
        let titles = self.music.titles().filter(|_| is_asked);
        let speaks = self.seats.iter().find(|it| self.may_speak(*it));
        let said = speaks.and_then(|(id, seat)| {
            let language = &seat.npc.language;
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
