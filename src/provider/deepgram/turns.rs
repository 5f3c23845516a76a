//! Turns of `/v2/listen` -> events of a recogniser.
//!
//! Entry type: [`Turns`]. **Never**: relies on the order of events.

use super::wire::{TurnEvent, TurnInfo};
use crate::provider::SpeechEvent;

#[derive(Debug, Default)]
pub struct Turns {
    pub is_open: bool,
    told: String,
    /// An early end was announced and not withdrawn.
    is_eager: bool,
}

impl Turns {
    /// Events for the table; only partials may be dropped.
    pub fn take(&mut self, turn: TurnInfo) -> Vec<SpeechEvent> {
        let TurnInfo { event, transcript: text } = turn;
        match event {
            TurnEvent::Start => {
                self.is_open = true;
                self.partial(text)
            }
            TurnEvent::Update => {
                self.is_open |= !text.is_empty();
                self.partial(text)
            }
            TurnEvent::EagerEnd if !text.is_empty() => {
                (self.is_open, self.is_eager) = (true, true);
                self.told.clone_from(&text);
                vec![SpeechEvent::EagerEnd { text }]
            }
            TurnEvent::Resumed => {
                let mut events = Vec::new();
                if std::mem::take(&mut self.is_eager) {
                    events.push(SpeechEvent::Resumed);
                }
                self.is_open = true;
                events.extend(self.partial(text));
                events
            }
            TurnEvent::End => {
                let Self { told, .. } = std::mem::take(self);
                // Noise that began a turn.
                let is_nothing = text.is_empty() && told.is_empty();
                if is_nothing { Vec::new() } else { vec![SpeechEvent::Final { text }] }
            }
            TurnEvent::EagerEnd | TurnEvent::Other(_) => Vec::new(),
        }
    }

    fn partial(&mut self, text: String) -> Vec<SpeechEvent> {
        if text.is_empty() || text == self.told {
            return Vec::new();
        }
        self.told.clone_from(&text);
        vec![SpeechEvent::Partial { text }]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(events: &[(TurnEvent, &str)]) -> Vec<SpeechEvent> {
        let mut turns = Turns::default();
        let turn = |(event, text): &(TurnEvent, &str)| {
            turns.take(TurnInfo { event: event.clone(), transcript: (*text).to_owned() })
        };
        events.iter().flat_map(turn).collect()
    }

    #[test]
    fn early_end_is_resumed_and_sent_again() {
        use SpeechEvent::{EagerEnd, Final, Partial, Resumed};
        let text = |text: &str| text.to_owned();
        assert_eq!(
            all(&[
                (TurnEvent::Start, ""),
                (TurnEvent::Update, "I draw"),
                (TurnEvent::Update, "I draw"),
                (TurnEvent::EagerEnd, "I draw my sword"),
                (TurnEvent::Resumed, "I draw my sword"),
                (TurnEvent::Update, "I draw my sword and"),
                (TurnEvent::Other("Sighed".to_owned()), "?"),
                (TurnEvent::EagerEnd, "I draw my sword and look"),
                (TurnEvent::End, "I draw my sword and look"),
            ]),
            [
                Partial { text: text("I draw") },
                EagerEnd { text: text("I draw my sword") },
                Resumed,
                Partial { text: text("I draw my sword and") },
                EagerEnd { text: text("I draw my sword and look") },
                Final { text: text("I draw my sword and look") },
            ]
        );
    }

    #[test]
    fn noise_is_no_turn_and_what_vanishes_is_over() {
        assert_eq!(all(&[(TurnEvent::Start, ""), (TurnEvent::End, "")]), []);
        let vanished = all(&[(TurnEvent::Update, "hm"), (TurnEvent::End, "")]);
        assert_eq!(vanished.last(), Some(&SpeechEvent::Final { text: String::new() }));
    }
}
