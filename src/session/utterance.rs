//! An utterance, and the purpose of the turn that answers it.
//!
//! Entry types: [`Utterance`], [`Purpose`]. **Never**: decides what it means.

use std::{collections::VecDeque, sync::Arc};

use tokio::time::Instant;

use super::{line::Circumstances, overrides::TurnTier, seat_id::SeatId, speakers::SpeakerId};
use crate::{
    audio::{FRAME, Frame},
    domain::redact::without_credentials,
    engine::Cause,
    logic::command::{typed_x_card_in, x_card_in},
};

/// Longest text of an utterance in bytes; nobody says as much in half a minute.
pub const LONGEST: usize = 8 << 10;

/// Something one speaker said.
#[derive(Clone, Debug)]
pub struct Utterance {
    /// The speaker.
    pub speaker: SpeakerId,
    /// Text as the recogniser gave it.
    pub raw: String,
    /// `raw`, with misheard names corrected if it was spoken; empty until it is looked at.
    pub text: String,
    /// The last part of it, said after more than a pause: a "stop" in it counts as if nothing had been said
    /// before.
    pub apart: Option<Apart>,
    /// Partials before the final.
    pub partials: u32,
    /// First voice of it, of what it continues included.
    pub began: Instant,
    /// Last voiced frame handed in.
    pub speech_end: Instant,
    /// Arrival of the final transcript.
    pub final_at: Option<Instant>,
    /// Its sound, 16 kHz mono, that of what it continues included; the newest 32 s of it, and none
    /// when it was typed.
    pub audio: Arc<[Frame]>,
    /// Frames of it with a voice.
    pub voiced: u32,
    /// It was typed.
    pub typed: bool,
}

/// The part of an utterance that was said after more than a pause.
#[derive(Clone, Debug)]
pub struct Apart {
    /// Text as the recogniser gave it.
    pub text: String,
    /// First voice of it.
    pub began: Instant,
}

/// `text` of a recogniser or a keyboard as far as it counts, without credentials.
pub fn taken(text: &str) -> String {
    let (counts, rest) = text.split_at(text.floor_char_boundary(LONGEST));
    if !rest.is_empty() {
        let most = LONGEST >> 10;
        tracing::warn!(
            bytes = text.len(),
            "an utterance is longer than {most} KiB: its end is cut off"
        );
    }
    without_credentials(counts)
}

impl Utterance {
    /// Something `speaker` said of which nothing is known yet.
    pub fn unknown(speaker: SpeakerId, speech_end: Instant) -> Self {
        Self {
            speaker,
            raw: String::new(),
            apart: None,
            text: String::new(),
            partials: 0,
            began: speech_end,
            speech_end,
            final_at: None,
            audio: Arc::from([]),
            voiced: 0,
            typed: false,
        }
    }

    /// The part of it that may be an order or a stop word.
    pub fn order(&self) -> &str {
        self.apart.as_ref().map_or(self.raw.as_str(), |apart| apart.text.as_str())
    }

    /// Time at which the words of an X-card in it began. Within a spoken sentence the time is estimated by
    /// the number of words before the card.
    pub fn x_card_at(&self) -> Option<Instant> {
        if self.typed {
            let card = typed_x_card_in(&self.text).or_else(|| typed_x_card_in(&self.raw));
            return card.map(|_| self.speech_end);
        }
        let card_at = |text: &str, began: Instant| {
            let card = x_card_in(text)?;
            let said_for = self.speech_end.saturating_duration_since(began);
            Some(began + said_for * card.before / card.all)
        };
        let apart = self.apart.as_ref().and_then(|apart| card_at(&apart.text, apart.began));
        let whole = || card_at(&self.text, self.began).or_else(|| card_at(&self.raw, self.began));
        apart.or_else(whole)
    }

    /// True if it is what `speaker` said until `end`.
    pub fn was_said_by(&self, speaker: SpeakerId, end: Instant) -> bool {
        self.speaker == speaker && self.speech_end == end && !self.typed
    }

    /// True if `whole` adds nothing to it but silence.
    pub fn has_the_voice_of(&self, whole: &Self) -> bool {
        self.was_said_by(whole.speaker, whole.speech_end)
            && self.voiced == whole.voiced
            && whole.audio.starts_with(&self.audio)
    }

    /// Circumstances of the utterance, as far as it knows them.
    pub fn circumstances(&self) -> Circumstances {
        let frames = u32::try_from(self.audio.len()).unwrap_or(u32::MAX);
        Circumstances {
            raw: self.raw.clone(),
            said_at: Some(self.speech_end),
            said_for: FRAME.saturating_mul(frames),
            ..Circumstances::default()
        }
    }
}

/// Purpose of a turn.
#[derive(Clone, Debug)]
pub struct Purpose {
    /// The utterance it answers.
    pub utterance: Utterance,
    /// Seat that answers.
    pub seat: SeatId,
    /// The tier and why.
    pub tier: TurnTier,
    /// Occasion for which the NPC speaks.
    pub cause: Cause,
}

impl Purpose {
    /// True if the NPC is to say the game master's own words.
    pub const fn is_puppet(&self) -> bool {
        matches!(self.cause, Cause::Puppet(_))
    }

    /// Circumstances of the words that it answers; those of a late result were said before its call.
    pub fn circumstances(&self) -> Circumstances {
        let known = self.utterance.circumstances();
        match &self.cause {
            Cause::FollowUp(late) => {
                let called_at = self.utterance.speech_end.checked_sub(late.record.took);
                Circumstances { said_at: called_at, ..known }
            }
            Cause::Utterance | Cause::Puppet(_) => known,
        }
    }
}

/// Turns of one seat that wait for it.
pub type Waiting = VecDeque<Purpose>;

/// The NPC and the services of an answer.
pub struct Cast {
    /// The NPC's name.
    pub npc: String,
    /// Name of the chat model.
    pub brain: String,
    /// Name of the voice service.
    pub tts: String,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn card_time_follows_its_words() {
        let (began, second) = (Instant::now(), Duration::from_secs(1));
        let said = |text: &str, apart: Option<(&str, u32)>| {
            let apart =
                apart.map(|(text, at)| Apart { text: text.to_owned(), began: began + second * at });
            let end = began + second * 8;
            let utterance = Utterance::unknown(SpeakerId(1), end);
            let at = Utterance { text: text.to_owned(), apart, began, ..utterance }.x_card_at();
            at.map(|at| (at - began).as_secs())
        };
        assert_eq!(said("X-card", None), Some(0));
        assert_eq!(said("Bartok tell me about X card please stop", None), Some(4));
        assert_eq!(said("Bartok tell me X card", Some(("X card", 7))), Some(7));
        assert_eq!(said("X card Bartok stop now", Some(("stop now", 7))), Some(0));
        assert_eq!(said("Bartok tell me", None), None);
    }

    #[test]
    fn typed_card_may_be_part_of_a_sentence() {
        let now = Instant::now();
        let typed = |text: &str| Utterance {
            text: text.to_owned(),
            typed: true,
            ..Utterance::unknown(SpeakerId(1), now)
        };
        assert_eq!(typed("X-card!").x_card_at(), Some(now));
        assert_eq!(typed("No spiders for me please. X-card.").x_card_at(), Some(now));
        assert_eq!(typed("what is the X-card?").x_card_at(), None);
    }
}
