//! The current answer: its bounds, its calls and its end.
//!
//! Entry type: [`Answer`]. **Never**: returns calls of an incomplete answer.

use serde_json::Map;
use tokio::time::Instant;

use super::peer::{Peer, exceeds};
use crate::{
    domain::{CallId, ToolCall},
    provider::{
        SpeechDone, SpeechEnding, SpeechUsage,
        bounds::{ANSWER, ARGUMENTS, Bound, CALLS, TURN_TEXT},
    },
};

/// A tool call; members an event lacks are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Called {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

#[derive(Debug)]
pub struct Answer {
    pub asked_as: String,
    /// The service's id, once known.
    pub response: Option<String>,
    pub cancelled_at: Option<Instant>,
    text: usize,
    calls: Vec<Called>,
    cut: Option<Cut>,
}

#[derive(Clone, Debug)]
struct Cut {
    why: String,
    /// Cuts only the sound: words of sound already taken may still follow.
    sound_only: bool,
}

impl Answer {
    pub fn new(asked_as: String) -> Self {
        Self { asked_as, response: None, cancelled_at: None, text: 0, calls: Vec::new(), cut: None }
    }

    pub fn takes_sound(&self) -> bool {
        self.cut.is_none()
    }

    /// True if words and calls are still accepted.
    pub fn takes_words(&self) -> bool {
        self.cut.as_ref().is_none_or(|cut| cut.sound_only)
    }

    pub fn words(&mut self, delta: &str) -> Result<(), Bound> {
        self.text = self.text.saturating_add(delta.len());
        TURN_TEXT.check(self.text)
    }

    /// Adds a call; events about one call complete each other.
    pub fn call(&mut self, call: Called) -> Result<(), Bound> {
        ARGUMENTS.check(call.arguments.len().saturating_add(call.name.len()))?;
        let all: usize = self.calls.iter().map(|it| it.arguments.len() + it.name.len()).sum();
        ANSWER.check(all.saturating_add(call.arguments.len() + call.name.len()))?;
        if let Some(known) = self.calls.iter_mut().find(|known| known.id == call.id) {
            if known.name.is_empty() {
                known.name = call.name;
            }
            if known.arguments.is_empty() {
                known.arguments = call.arguments;
            }
            return Ok(());
        }
        CALLS.check(self.calls.len() + 1)?;
        self.calls.push(call);
        Ok(())
    }

    pub fn cut(&mut self, why: String) {
        self.cut = Some(Cut { why, sound_only: false });
    }

    pub fn mute(&mut self, why: String) {
        self.cut.get_or_insert(Cut { why, sound_only: true });
    }

    pub fn calls(&mut self) -> &mut Vec<Called> {
        &mut self.calls
    }

    /// Its calls, if it was completed, and its ending. The service's final event has `ending` and
    /// these calls.
    pub fn end(
        mut self,
        mut ending: SpeechEnding,
        calls: Vec<Called>,
        usage: Option<SpeechUsage>,
        peer: &Peer,
    ) -> (Vec<ToolCall>, SpeechDone) {
        if self.takes_words() {
            for call in calls {
                if let Err(bound) = self.call(call) {
                    self.cut(exceeds(bound));
                }
            }
        }
        if let Some(cut) = self.cut {
            ending = SpeechEnding::Failed(cut.why);
        }
        let calls = match ending {
            SpeechEnding::Completed => self.calls,
            _ => Vec::new(),
        };
        let calls = calls.into_iter().filter_map(|call| whole(call, peer)).collect();
        (calls, SpeechDone { ending, usage })
    }
}

/// The call for the tool host; `None`: it has no id or name, so it cannot be answered.
fn whole(call: Called, peer: &Peer) -> Option<ToolCall> {
    if call.id.is_empty() || call.name.is_empty() {
        peer.notes("a call without an id or a name");
        return None;
    }
    let Called { id, name, arguments } = call;
    Some(ToolCall { id: CallId(id), name, arguments, extra: Map::new() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::speech_to_speech::Options;

    fn peer() -> Peer {
        Peer::new(&Options::of_tests("http://127.0.0.1:9"), |peer, _| peer.slow())
    }

    fn called(id: &str, arguments: &str) -> Called {
        let (name, arguments) = ("roll".to_owned(), arguments.to_owned());
        Called { id: id.to_owned(), name, arguments }
    }

    fn ended(answer: Answer, calls: Vec<Called>) -> (Vec<ToolCall>, SpeechDone) {
        answer.end(SpeechEnding::Completed, calls, None, &peer())
    }

    fn answer() -> Answer {
        Answer::new("answer_1".to_owned())
    }

    #[test]
    fn calls_come_only_of_completed_answers() {
        let (cancelled, failed) = (SpeechEnding::Cancelled, SpeechEnding::Failed(String::new()));
        for (ending, count) in [(SpeechEnding::Completed, 2), (cancelled, 0), (failed, 0)] {
            let mut answer = answer();
            answer.call(called("c1", "{}")).unwrap();
            answer.call(called("c1", "{}")).unwrap();
            let all = vec![called("c2", "{}")];
            assert_eq!(answer.end(ending.clone(), all, None, &peer()).0.len(), count, "{ending:?}");
        }
    }

    #[test]
    fn call_without_a_name_is_completed_later() {
        let mut answer = answer();
        answer.call(Called { name: String::new(), ..called("c1", "{}") }).unwrap();
        answer.call(Called { name: String::new(), ..called("c2", "{}") }).unwrap();
        answer.call(called("c1", "{}")).unwrap();
        let (calls, _) = ended(answer, Vec::new());
        assert_eq!(calls.iter().map(|call| call.id.0.as_str()).collect::<Vec<_>>(), ["c1"]);
    }

    #[test]
    fn answer_over_a_bound_fails_and_names_it() {
        let mut answer = answer();
        assert_eq!(answer.words(&"x".repeat(64 << 10)), Ok(()));
        assert_eq!(answer.words("x"), Err(TURN_TEXT));
        assert_eq!(answer.call(called("c", &"x".repeat((256 << 10) + 1))), Err(ARGUMENTS));
        for n in 0..64 {
            assert_eq!(answer.call(called(&n.to_string(), "")), Ok(()));
        }
        assert_eq!(answer.call(called("more", "")), Err(CALLS));
        answer.cut(exceeds(CALLS));
        assert!(!answer.takes_words());
        let (calls, done) = ended(answer, Vec::new());
        assert!(calls.is_empty());
        let why = "the answer exceeds the limit of 64 calls a round".to_owned();
        assert_eq!(done.ending, SpeechEnding::Failed(why));
    }

    #[test]
    fn muted_answer_keeps_its_words_and_fails() {
        let mut answer = answer();
        answer.mute("too slow".to_owned());
        assert!(answer.takes_words() && !answer.takes_sound());
        let (_, done) = answer.end(SpeechEnding::Cancelled, Vec::new(), None, &peer());
        assert_eq!(done.ending, SpeechEnding::Failed("too slow".to_owned()));
    }
}
