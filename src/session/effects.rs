//! Effects of tools on the table: the face's part, music, and late results. Never waits.
//!
//! Entry type: [`TableEffects`].

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio::{sync::mpsc, time::Instant};

use super::{
    music::MusicPlayer,
    overrides::TurnTier,
    seats::Seats,
    speakers::Speakers,
    utterance::{Purpose, Utterance},
};
use crate::{
    engine::Cause,
    logic::music::MusicOrder,
    tools::{ApprovalRequest, Attachment, CallErrorKind, Decision, Effects, FollowUp, Form},
};

/// The face's effects, plus the table's music and its queue for late results.
pub struct TableEffects {
    face: Arc<dyn Effects>,
    music: MusicPlayer,
    late: mpsc::Sender<FollowUp>,
    halts: Arc<Halts>,
}

/// Number of X-cards used at a table so far.
#[derive(Debug, Default)]
pub struct Halts(AtomicU64);

impl Halts {
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

impl TableEffects {
    /// `late` receives results that come after their turn.
    pub fn new(
        face: Arc<dyn Effects>,
        music: MusicPlayer,
        halts: Arc<Halts>,
        late: mpsc::Sender<FollowUp>,
    ) -> Self {
        Self { face, music, late, halts }
    }
}

impl Effects for TableEffects {
    fn show(&self, text: &str) {
        self.face.show(text);
    }

    fn attach(&self, tool: &str, attachment: &Attachment) -> bool {
        self.face.attach(tool, attachment)
    }

    fn tell_dm(&self, text: &str) {
        self.face.tell_dm(text);
    }

    fn halts(&self) -> u64 {
        self.halts.count()
    }

    fn music(&self, order: MusicOrder) -> Result<(), &'static str> {
        if let Some(why) = self.face.lacks_loudspeaker() {
            return Err(why);
        }
        self.music.order(order);
        Ok(())
    }

    fn lacks_loudspeaker(&self) -> Option<&'static str> {
        self.face.lacks_loudspeaker()
    }

    fn lacks_approver(&self) -> Option<&'static str> {
        self.face.lacks_approver()
    }

    fn approve(&self, request: ApprovalRequest) -> BoxFuture<'static, Decision> {
        self.face.approve(request)
    }

    fn elicit(&self, form: Form) -> BoxFuture<'static, Option<Map<String, Value>>> {
        self.face.elicit(form)
    }

    fn follow_up(&self, late: FollowUp) {
        if let Err(lost) = self.late.try_send(late) {
            let tool = match &lost {
                mpsc::error::TrySendError::Full(late) | mpsc::error::TrySendError::Closed(late) => {
                    &late.record.tool
                }
            };
            tracing::warn!(tool = &**tool, "no table for a late result");
        }
    }
}

pub enum FollowedUp {
    Nothing,
    /// Explains to the game master why no NPC mentions the result.
    Notice(String),
    Ask(Box<Purpose>),
}

impl FollowedUp {
    pub fn of(late: FollowUp, now: Instant, seats: &Seats, speakers: &Speakers) -> Self {
        let refused =
            late.record.result.as_ref().err().filter(|error| {
                matches!(error.kind, CallErrorKind::Denied | CallErrorKind::Expired)
            });
        let (npc, tool) = (&late.npc, &late.record.tool);
        if let Some(error) = refused {
            return Self::Notice(format!("{npc}: {tool} was not called: {error}"));
        }
        let Some(seat) = seats.of_npc(npc) else { return Self::Nothing };
        let Some(speaker) = late.by.as_ref().and_then(|person| speakers.of(person)) else {
            return Self::Notice(format!(
                "{npc} doesn't tell the result of {tool}: the player who asked for it is unknown here"
            ));
        };
        if seats[seat].muted {
            return Self::Notice(format!("{npc} is muted and doesn't tell the result of {tool}"));
        }
        let utterance =
            Utterance { final_at: Some(now), typed: true, ..Utterance::unknown(speaker, now) };
        let tier = TurnTier::fast(format!("the late result of {tool}"));
        let cause = Cause::FollowUp(Box::new(late));
        Self::Ask(Box::new(Purpose { utterance, seat, tier, cause }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::TableEvents;

    struct Soundless;

    impl Effects for Soundless {
        fn show(&self, _: &str) {}

        fn attach(&self, _: &str, _: &Attachment) -> bool {
            false
        }

        fn lacks_loudspeaker(&self) -> Option<&'static str> {
            Some("no loudspeaker")
        }
    }

    #[test]
    fn music_is_refused_without_a_loudspeaker() {
        let music = MusicPlayer::new(TableEvents::new(1).downgrade());
        let (late, _lates) = mpsc::channel(1);
        let effects = TableEffects::new(Arc::new(Soundless), music, Arc::default(), late);
        assert_eq!(effects.music(MusicOrder::Stop), Err("no loudspeaker"));
    }
}
