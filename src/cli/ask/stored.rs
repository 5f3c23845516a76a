//! Campaigns and people's stored lines, for shared commands given at a terminal.
//!
//! **Never**: waits; what takes a while is handed over as a future.

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};
use tokio::sync::oneshot;

use super::face::Terminal;
use crate::{
    campaign::NamesOf,
    commands::{
        Campaigns, Chosen, FaceWords, HeardState, OrderSoon, Refusal, StoredWords, Text, WorldSoon,
        Worlds,
    },
    domain::{Owner, Person},
    session::{Command as TableCommand, Speaker, SpeakerId},
};

/// Reason why a terminal plays no other campaign, with the way out.
const FIXED: &str = "the configuration says which campaign a terminal plays (name its file as campaign: in \
                     glyphoxa.yaml, and start again)";

/// Words for a terminal whose session is saved.
const SAVED: FaceWords = FaceWords {
    name: "your name",
    written: "I write down all I understand at the table, said to an NPC or not, on this machine, with \
              your name, the time and who was there. I also store the NPCs' answers and the tool calls \
              they led to, so that the session can go on from there.",
    opting_out: "I drop what you say unheard, until the program ends.",
    here: "on this machine",
    left: "What you said on Discord stays, and so do recordings and exported files.",
};

/// Words for a terminal whose session is not saved.
const UNSAVED: FaceWords = FaceWords {
    written: "Nothing of this session is written down (--session NAME saves one, with every line, your \
              name, the time and who was there).",
    ..SAVED
};

impl Worlds for Terminal<'_> {
    fn world(&mut self, order: OrderSoon) -> WorldSoon {
        self.context.memory.clone().world(order).boxed()
    }

    fn campaigns(&self) -> Campaigns {
        let played = self.context.memory.campaign().to_owned();
        Campaigns { all: vec![played.clone()], played, fixed: Some(FIXED) }
    }

    fn play(&mut self, chosen: Chosen) -> Text {
        match chosen {
            Chosen::Loaded(campaign) if self.context.memory.plays(&campaign.name) => {
                Text::of(campaign.name).plain(" is played here.")
            }
            Chosen::Loaded(campaign) => Text::of(campaign.name)
                .plain(format!(" is stored as a campaign of its own: {FIXED}.")),
            Chosen::Configured | Chosen::Known(_) => FIXED.into(),
        }
    }
}

impl StoredWords for Terminal<'_> {
    fn face_words(&self) -> FaceWords {
        if self.context.memory.saved.is_some() { SAVED } else { UNSAVED }
    }

    fn hearing(&self, _: SpeakerId) -> Result<HeardState, Refusal> {
        let now = match self.opted_out {
            true => "You opted out: I don't hear you.",
            false => "I hear what you type, and recordings given with --in.",
        };
        let (now, services) = (now.to_owned(), self.context.engines.services());
        Ok(HeardState { now, is_heard: !self.opted_out, services, named: str::to_owned })
    }

    /// The terminal writes all lines before it shows the answer.
    fn written(&mut self) -> BoxFuture<'static, bool> {
        self.writes_first = true;
        ready(true).boxed()
    }

    fn own_words(&self, speaker: &Speaker) -> BoxFuture<'static, Result<String, Refusal>> {
        self.context.memory.clone().own_words(person(speaker).id).boxed()
    }

    fn names_of(&self, speaker: &Speaker) -> BoxFuture<'static, Result<NamesOf, Refusal>> {
        self.context.memory.clone().names_of(person(speaker)).boxed()
    }

    fn forget(&mut self, speaker: &Speaker) -> BoxFuture<'static, Result<u64, Refusal>> {
        let memory = self.context.memory.clone();
        let refusal = match memory.played_elsewhere() {
            Ok(None) => None,
            Ok(Some(id)) => Some(Refusal(format!(
                "session '{id}' is open in another program, which would store your lines again: \
                 nothing is deleted (end it there)"
            ))),
            Err(error) => Some(error.into()),
        };
        if let Some(refusal) = refusal {
            return ready(Err(refusal)).boxed();
        }
        let person = person(speaker);
        let (done, erased) = oneshot::channel();
        self.orders.push(TableCommand::Erase(person.clone(), done));
        self.forgotten = Some(person.clone());
        async move {
            // A table that closes drops the sender.
            _ = erased.await;
            memory.forget(person).await.map_err(|Refusal(why)| {
                Refusal(format!(
                    "I couldn't delete everything yet: {why} (/privacy delete confirm tries again)"
                ))
            })
        }
        .boxed()
    }
}

/// A speaker as they are stored on this machine.
fn person(speaker: &Speaker) -> Person {
    let id = Owner::Local.person(speaker.id.0, &speaker.name);
    Person { id, names: vec![speaker.name.clone()] }
}
