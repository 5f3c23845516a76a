//! Requests that wait for the game master, with the messages that show them.
//!
//! Entry type: [`Approvals`]. **Never**: writes to Discord; the guild does.

use std::collections::BTreeMap;

use serenity::all::ChannelId;

use super::panel::MessagePlace;
use crate::{
    campaign::CallbackChoice,
    discord::{
        decisions::{Asked, Choice, DecisionProgress, Outcome, PendingDecisions},
        ui::approvals,
    },
    domain::{PersonId, SessionId},
};

/// Text of a request withdrawn with the words that led to it.
const WITHDRAWN: &str = "Withdrawn";
/// Shown instead of a game master's name.
const NOTIFIED: &str = "the notified system";

#[derive(Default)]
pub struct Approvals {
    /// Decided by the handler of their buttons.
    pub pending: PendingDecisions,
    places: BTreeMap<String, MessagePlace>,
    /// New texts of requests that ended before they were shown, by key.
    over_unshown: BTreeMap<String, String>,
    /// Channels of buttons pressed for requests without a known place, by key: an earlier run was
    /// killed before it stored the place.
    pressed: BTreeMap<String, ChannelId>,
}

/// A message whose request is over, with its new text.
pub struct ClosedMessage {
    pub place: MessagePlace,
    pub text: String,
}

impl Approvals {
    /// Stores the message that shows the request `key`. Returns it if the request is over already,
    /// unless a button decided it, which the message then says.
    pub fn shown(&mut self, key: &str, place: MessagePlace) -> Option<ClosedMessage> {
        if let Some(text) = self.over_unshown.remove(key) {
            return Some(ClosedMessage { place, text });
        }
        if self.pending.get(key).is_some() {
            self.places.insert(key.to_owned(), place);
        }
        None
    }

    /// Notes that a button of the request `key` was pressed in `channel`.
    pub fn pressed_in(&mut self, key: &str, channel: ChannelId) {
        if self.pending.get(key).is_some() && !self.places.contains_key(key) {
            self.pressed.insert(key.to_owned(), channel);
        }
    }

    /// Takes the channel in which the request `key`, of unknown place, was decided.
    pub fn take_pressed(&mut self, key: &str) -> Option<ChannelId> {
        self.pressed.remove(key)
    }

    /// Closes requests that have expired or that an X-card has withdrawn.
    pub fn close_expired(&mut self) -> Vec<ClosedMessage> {
        let over = self.pending.take_expired().into_iter().map(|(key, asked, outcome)| {
            let how = if outcome == Outcome::Withdrawn { WITHDRAWN } else { "Expired" };
            (key, asked, how)
        });
        let closed = self.closed(over.collect());
        self.places.retain(|key, _| self.pending.get(key).is_some());
        closed
    }

    /// Withdraws the calls for `person`, who is being forgotten.
    pub fn withdraw(&mut self, person: &PersonId) -> Vec<ClosedMessage> {
        let theirs = self.pending.take_for(person);
        self.closed(theirs.into_iter().map(|(key, asked)| (key, asked, WITHDRAWN)).collect())
    }

    pub fn close_of(&mut self, session: &SessionId) -> Vec<ClosedMessage> {
        let all = self.pending.take_of(session);
        let how = "Expired: the session is over";
        self.closed(all.into_iter().map(|(key, asked)| (key, asked, how)).collect())
    }

    /// Applies the notified system's choice about the request `key`; false if it came too late.
    pub fn decide_outside(
        &mut self,
        key: &str,
        choice: CallbackChoice,
    ) -> (bool, Option<ClosedMessage>) {
        let decided = self.pending.decide(key, Choice::Notified(choice));
        let Ok(DecisionProgress::Decided(asked, outcome)) = decided else { return (false, None) };
        let in_time = !matches!(outcome, Outcome::Expired | Outcome::Withdrawn);
        let text = approvals::decided(&asked, outcome, NOTIFIED);
        let Some(place) = self.places.remove(key) else {
            self.over_unshown.insert(key.to_owned(), text);
            return (in_time, None);
        };
        (in_time, Some(ClosedMessage { place, text }))
    }

    fn closed(&mut self, over: Vec<(String, Asked, &'static str)>) -> Vec<ClosedMessage> {
        let closed = over.into_iter().filter_map(|(key, asked, how)| {
            let Some(place) = self.places.remove(&key) else {
                self.over_unshown.insert(key, format!("**{how}**"));
                return None;
            };
            Some(ClosedMessage { place, text: approvals::closed(&asked, how) })
        });
        closed.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serenity::all::MessageId;
    use tokio::sync::oneshot;

    use super::*;
    use crate::{
        discord::decisions::Request,
        tools::{ApprovalRequest, Decision},
    };

    /// Adds a call for this person; returns its key, and the caller's end.
    fn ask(approvals: &mut Approvals, id: &str) -> (String, oneshot::Receiver<Decision>) {
        let (answer, waits) = oneshot::channel();
        let asked = ApprovalRequest {
            npc: "Bartok".into(),
            by: Some(PersonId(id.to_owned())),
            tool: "post.send".into(),
            arguments: json!({"text": "my wombat"}).as_object().cloned().unwrap_or_default(),
            reason: "this tool always asks".into(),
            definition: "1".into(),
            may_be_waived: false,
        };
        let session = SessionId("table".to_owned());
        let key = approvals.pending.add(&session, Request::Call { asked, answer, callback: None });
        let place = MessagePlace { channel: ChannelId::new(1), message: MessageId::new(2) };
        assert!(approvals.shown(&key, place).is_none());
        (key, waits)
    }

    #[test]
    fn withdrawn_request_quotes_no_arguments() {
        let mut approvals = Approvals::default();
        let (theirs, mut waits) = ask(&mut approvals, "1");
        let (other, _waits) = ask(&mut approvals, "2");
        let closed = approvals.withdraw(&PersonId("1".to_owned()));
        let texts: Vec<&str> = closed.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, ["**Bartok** wanted to call `post.send`.\n**Withdrawn**"]);
        assert!(waits.try_recv().is_err() && approvals.pending.get(&theirs).is_none());
        assert!(approvals.pending.get(&other).is_some(), "another person's waits on");
    }

    #[test]
    fn notified_system_decides_an_open_call_alone() {
        let mut approvals = Approvals::default();
        let (key, mut waits) = ask(&mut approvals, "1");
        let result = CallbackChoice::Complete(json!("sent"));
        let (in_time, closed) = approvals.decide_outside(&key, result);
        let text = closed.expect("a message").text;
        assert!(in_time && text.contains("my wombat"), "{text}");
        assert!(text.ends_with("**Answered in place of the tool by the notified system**"));
        assert_eq!(waits.try_recv(), Ok(Decision::Complete(json!("sent"))));
        assert!(!approvals.decide_outside(&key, CallbackChoice::Allow).0, "once");
        // The call has ended, but its request is still open.
        let (key, waits) = ask(&mut approvals, "1");
        drop(waits);
        let (in_time, closed) = approvals.decide_outside(&key, CallbackChoice::Allow);
        assert!(!in_time && closed.is_some_and(|it| it.text.ends_with("**Expired**")));
    }

    #[test]
    fn early_decision_is_shown_once_the_message_is() {
        let mut approvals = Approvals::default();
        let (key, mut waits) = ask(&mut approvals, "1");
        let place = approvals.places.remove(&key).expect("a place");
        let (in_time, closed) = approvals.decide_outside(&key, CallbackChoice::Refuse);
        assert!(in_time && closed.is_none(), "nothing to close yet");
        assert!(matches!(waits.try_recv(), Ok(Decision::Deny(_))));
        let closed = approvals.shown(&key, place).expect("it is over");
        assert!(closed.text.ends_with("**Denied by the notified system**"), "{}", closed.text);
    }

    #[test]
    fn request_that_an_x_card_ended_is_withdrawn() {
        let mut approvals = Approvals::default();
        let texts = |closed: Vec<ClosedMessage>| {
            closed.iter().map(|it| it.text.contains("**Withdrawn**")).collect::<Vec<_>>()
        };
        let (_, expires) = ask(&mut approvals, "1");
        drop(expires);
        assert_eq!(texts(approvals.close_expired()), [false]);
        let [(_, shown), (pressed, waits)] = [(); 2].map(|()| ask(&mut approvals, "1"));
        approvals.pending.halt(&SessionId("table".to_owned()));
        drop((shown, waits));
        let done = approvals.pending.decide(&pressed, Choice::Approve);
        assert!(matches!(done, Ok(DecisionProgress::Decided(_, Outcome::Withdrawn))), "{done:?}");
        assert_eq!(texts(approvals.close_expired()), [true]);
        let (_, later) = ask(&mut approvals, "1");
        drop(later);
        assert_eq!(texts(approvals.close_expired()), [false]);
    }
}
