//! An utterance, and the purpose of the turn that answers it.
//!
//! Entry types: [`Utterance`], [`Purpose`].

use std::{collections::VecDeque, sync::Arc};

use tokio::time::Instant;

use super::{
    SeatId,
    caller::OrderId,
    line::{AskedId, Circumstances, TurnLine},
    overrides::TurnTier,
    speakers::SpeakerId,
};
use crate::{
    audio::{FRAME, Frame},
    domain::redact::without_credentials,
    engine::Cause,
    logic::command::{typed_x_card_in, x_card_in},
};

/// Longest text in bytes, more than half a minute of speech.
pub const LONGEST: usize = 8 << 10;

#[derive(Clone, Debug)]
pub struct Utterance {
    pub speaker: SpeakerId,
    pub raw: String,
    /// `raw` with misheard names corrected, if spoken; empty until corrected.
    pub text: String,
    /// The last part, after more than a pause: a "stop" in it counts as if it stood alone.
    pub apart: Option<Apart>,
    pub partials: u32,
    /// The recogniser that gave the words; `None`: none did.
    pub understood_by: Option<Arc<str>>,
    /// First voice, including what it continues.
    pub began: Instant,
    /// Arrival of the last voiced frame.
    pub speech_end: Instant,
    pub final_at: Option<Instant>,
    /// 16 kHz mono, including what it continues; the newest 32 s. Empty if typed.
    pub audio: Arc<[Frame]>,
    pub voiced: u32,
    pub typed: bool,
    /// The order of a workflow or a program that it is.
    pub order: Option<OrderId>,
    /// It was published ahead of its line, to be stored.
    pub asked: Option<AskedId>,
}

#[derive(Clone, Debug)]
pub struct Apart {
    pub text: String,
    pub began: Instant,
}

/// Cuts `text` to [`LONGEST`] and removes credentials.
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
    pub fn unknown(speaker: SpeakerId, speech_end: Instant) -> Self {
        Self {
            speaker,
            raw: String::new(),
            apart: None,
            text: String::new(),
            partials: 0,
            understood_by: None,
            began: speech_end,
            speech_end,
            final_at: None,
            audio: Arc::from([]),
            voiced: 0,
            typed: false,
            order: None,
            asked: None,
        }
    }

    /// Source of its words: [`TurnLine::TYPED`], or the recogniser, `otherwise` if none gave them.
    pub fn source<'a>(&'a self, otherwise: &'a str) -> &'a str {
        match self.typed {
            true => TurnLine::TYPED,
            false => self.understood_by.as_deref().unwrap_or(otherwise),
        }
    }

    /// The part that may be an order or a stop word.
    pub fn order(&self) -> &str {
        self.apart.as_ref().map_or(self.raw.as_str(), |apart| apart.text.as_str())
    }

    /// When the words of an X-card in it began. A typed card is played at its end. Within a
    /// spoken sentence the time is estimated from the words before the card.
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

    pub fn was_said_by(&self, speaker: SpeakerId, end: Instant) -> bool {
        self.speaker == speaker && self.speech_end == end && !self.typed
    }

    /// True if `whole` only adds silence.
    pub fn has_the_voice_of(&self, whole: &Self) -> bool {
        self.was_said_by(whole.speaker, whole.speech_end)
            && self.voiced == whole.voiced
            && whole.audio.starts_with(&self.audio)
    }

    pub fn circumstances(&self) -> Circumstances {
        let frames = u32::try_from(self.audio.len()).unwrap_or(u32::MAX);
        Circumstances {
            raw: self.raw.clone(),
            order: self.order,
            asked: self.asked,
            said_at: Some(self.speech_end),
            said_for: FRAME.saturating_mul(frames),
            ..Circumstances::default()
        }
    }
}

#[derive(Clone, Debug)]
pub struct Purpose {
    pub utterance: Utterance,
    pub seat: SeatId,
    pub tier: TurnTier,
    pub cause: Cause,
}

impl Purpose {
    pub const fn is_puppet(&self) -> bool {
        matches!(self.cause, Cause::Puppet { .. })
    }

    /// True for a line or a question that a workflow or a program has ordered.
    pub const fn is_ordered(&self) -> bool {
        self.utterance.order.is_some()
    }

    /// Context of the answered words; a late result has that of its call.
    pub fn circumstances(&self) -> Circumstances {
        let known = self.utterance.circumstances();
        match &self.cause {
            Cause::FollowUp(late) => {
                let called_at = self.utterance.speech_end.checked_sub(late.record.took);
                Circumstances { said_at: called_at, ..known }
            }
            Cause::Puppet { .. } | Cause::Utterance => known,
        }
    }
}

pub type Waiting = VecDeque<Purpose>;

pub struct Cast {
    pub npc: String,
    pub brain: String,
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
