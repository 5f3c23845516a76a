//! A table that records its orders. Entry type: [`Recorded`].

use std::{collections::BTreeSet, sync::Arc};

use futures::{
    FutureExt,
    future::{BoxFuture, ready},
};

use super::{
    answer::{Answer, NextStep},
    call::Call,
    counting::Counting,
    declared::Subcommand,
    face::{AtTable, Face, Lasting, StatusSoon},
    planning::Planning,
    runs::{RunsWorkflows, WorkflowsHere},
    stored::{FaceWords, HeardState, StoredWords},
    text::{Refusal, Text},
    worlds::{Campaigns, Chosen, OrderSoon, WorldSoon, Worlds},
};
use crate::{
    campaign::{
        Analytics, ChangeError, Dice, EngineOffer, Engines, FoundVoice, ImportStage, NamesOf,
        Planner, ServiceInfo, Services, WantedVoice, WorldAnswer, WorldOrder,
    },
    domain::{EngineKind, Npc},
    logic::music::{Layer, Library, Track},
    session::{Command as TableCommand, Explanations, Seated, Speaker, SpeakerId, Status},
};

pub use crate::session::stand_in::{seat, status};

pub struct Recorded {
    status: Status,
    /// Orders and lasting changes, in sequence.
    pub orders: Vec<String>,
    pub explanations: Option<Explanations>,
    /// Lines reach a disk in time.
    pub writes: bool,
}

impl Recorded {
    /// A table of Bartok and Mira.
    pub fn table() -> Self {
        Self::showing(status(vec![seat("Bartok"), seat("Mira")]))
    }

    pub const fn showing(status: Status) -> Self {
        Self { status, orders: Vec::new(), explanations: None, writes: true }
    }

    /// Executes a command; the text of the answer, or the refusal.
    pub fn carries_out(&mut self, sub: &Subcommand, call: &Call) -> String {
        let mut answered = sub.carry_out(self, call);
        loop {
            answered = match answered {
                Ok(Answer::Now(reply)) => {
                    let line =
                        reply.next_step.as_ref().and_then(NextStep::line).unwrap_or_default();
                    return reply.text.rendered(|piece| format!("{piece:?}")) + &line;
                }
                Ok(Answer::Later(work)) => work.now_or_never().unwrap()(self).map(Answer::Now),
                Ok(Answer::Ask(question)) => return format!("asks: {question}"),
                Ok(Answer::Soon(work)) => work.now_or_never().unwrap()(self),
                Err(Refusal(why)) => return why,
            }
        }
    }
}

fn library() -> Library {
    let track = |title: &str, layer| {
        Arc::new(Track { moods: vec![title.to_lowercase()], layer, ..Track::plain(title) })
    };
    Library { tracks: vec![track("Inn", Layer::Music), track("Bell", Layer::Effect)] }
}

/// Immutable engines.
struct Fixed;

impl Engines for Fixed {
    fn services(&self) -> Arc<Services> {
        let hears = vec![ServiceInfo::here("Whisper")];
        let thinks = vec![ServiceInfo::here("lines")];
        let (speaks, speaks_and_hears) = (Vec::new(), Vec::new());
        Arc::new(Services {
            hears,
            here: None,
            thinks,
            sums_up: false,
            speaks,
            speaks_and_hears,
            compares: None,
            draws: None,
            searches: None,
            programs: None,
            collector: None,
        })
    }

    fn announced(&self, _: &BTreeSet<String>) {}

    fn offer(&self, npc: &str, _: EngineKind) -> Result<EngineOffer, ChangeError> {
        Err(ChangeError::NoOpener(npc.to_owned()))
    }

    fn change(&self, npc: &str, _: EngineKind) -> Result<(), ChangeError> {
        Err(ChangeError::NoOpener(npc.to_owned()))
    }

    /// Only "piper joe" is known.
    fn find_voice(
        &self,
        _: &str,
        wanted: WantedVoice,
    ) -> BoxFuture<'static, Result<FoundVoice, ChangeError>> {
        let found = FoundVoice { service: "piper".to_owned(), id: wanted.id, is_listed: true };
        let unknown = |id: &str| ChangeError::UnknownVoice(format!("unknown voice '{id}'"));
        ready(if found.id == "joe" { Ok(found) } else { Err(unknown(&found.id)) }).boxed()
    }
}

impl Face for Recorded {
    fn table(&self) -> Result<AtTable, Refusal> {
        let seats = self.status.seats.iter();
        let seats = seats.map(|it| Seated { seat: it.id, npc: Arc::new(Npc::plain(&it.name)) });
        let people = vec![SpeakerId(11)];
        Ok(AtTable {
            seats: seats.collect(),
            people,
            engines: Arc::new(Fixed),
            music: Arc::new(library()),
        })
    }

    fn dice(&self) -> Dice {
        Dice::new(1)
    }

    fn cast(&self) -> Vec<Arc<Npc>> {
        self.status.seats.iter().map(|it| Arc::new(Npc::plain(&it.name))).collect()
    }

    fn tell(&mut self, order: TableCommand) -> Result<(), Refusal> {
        // Times are the clock's; tests pause it.
        self.orders.push(format!("{order:?}"));
        Ok(())
    }

    fn status(&mut self) -> Result<StatusSoon, Refusal> {
        Ok(ready(Ok(self.status.clone())).boxed())
    }

    fn sit_down(&mut self, speaker: Speaker) -> Result<SpeakerId, Refusal> {
        Ok(speaker.id)
    }

    fn change_engine(&mut self, npc: &str, engine: EngineKind) -> Result<(), Refusal> {
        self.orders.push(format!("engine {npc} {engine:?}"));
        Ok(())
    }

    fn change_voice(&mut self, npc: &str, found: &FoundVoice) -> Result<(), Refusal> {
        self.orders.push(format!("voice {npc} {} {}", found.service, found.id));
        Ok(())
    }

    fn keep(&mut self, change: Lasting) -> Result<(), Refusal> {
        self.orders.push(match change {
            Lasting::Character(speaker, name) => format!("character {speaker:?} {name}"),
            Lasting::Received(speaker, heard) => format!("heard {speaker:?} {heard}"),
            Lasting::Volume(percent) => format!("volume {percent}"),
            Lasting::Revoke(tool) => format!("revoke {tool}"),
        });
        Ok(())
    }

    fn explanations(&self) -> Result<Explanations, Refusal> {
        Ok(self.explanations.clone().ok_or("answers are not explained here")?)
    }

    fn permits(&self) -> Result<Vec<String>, Refusal> {
        Ok(vec!["home.dust: needs no approval".to_owned()])
    }
}

impl RunsWorkflows for Recorded {
    fn workflows(&self, _: &Speaker) -> Result<WorkflowsHere, Refusal> {
        Err("no workflows here".into())
    }
}

impl Worlds for Recorded {
    fn world(&mut self, order: OrderSoon) -> WorldSoon {
        let order = order.now_or_never().unwrap();
        let done = order.map(|order| {
            self.orders.push(format!("world {order:?}"));
            let is_preview =
                matches!(&order, WorldOrder::Import(import) if !import.choices.confirmed);
            let key = "a1".to_owned();
            let import = is_preview.then_some(ImportStage::Previewed { key, has_secrets: false });
            let (text, entity) = ("**Old Mill** · location".to_owned(), "old-mill".to_owned());
            WorldAnswer { text, entity: Some(entity), import, ..WorldAnswer::default() }
        });
        ready(done).boxed()
    }

    fn world_of_file(&mut self, order: OrderSoon) -> WorldSoon {
        self.orders.push("turn".to_owned());
        self.world(order)
    }

    fn campaigns(&self) -> Campaigns {
        let all = vec!["Ravenford".to_owned(), "The Sunken City".to_owned()];
        Campaigns { played: "Ravenford".to_owned(), all, fixed: None }
    }

    fn play(&mut self, chosen: Chosen) -> Text {
        self.orders.push(match chosen {
            Chosen::Configured => "play the configured campaign".to_owned(),
            Chosen::Known(name) => format!("play {name}"),
            Chosen::Loaded(campaign) => format!("play the loaded {}", campaign.name),
        });
        "It is played.".into()
    }
}

impl Planning for Recorded {
    fn planner(&self) -> Result<Planner, Refusal> {
        Err("nothing is scheduled at this table".into())
    }
}

impl Counting for Recorded {
    fn analytics(&self) -> Result<Analytics, Refusal> {
        Err("no costs are kept at this table".into())
    }
}

/// Words for a table that records its orders.
pub const PLACE: FaceWords = FaceWords {
    name: "your name",
    written: "I write everything down.",
    opting_out: "I hear nothing.",
    here: "at this table",
    left: "Nothing else stays.",
};

impl StoredWords for Recorded {
    fn face_words(&self) -> FaceWords {
        PLACE
    }

    fn hearing(&self, _: SpeakerId) -> Result<HeardState, Refusal> {
        let (now, services) = ("I hear you.".to_owned(), Fixed.services());
        Ok(HeardState { now, is_heard: true, services, named: str::to_owned })
    }

    fn written(&mut self) -> BoxFuture<'static, bool> {
        ready(self.writes).boxed()
    }

    fn own_words(&self, speaker: &Speaker) -> BoxFuture<'static, Result<String, Refusal>> {
        ready(Ok(format!("{}: hello", speaker.name))).boxed()
    }

    fn names_of(&self, _: &Speaker) -> BoxFuture<'static, Result<NamesOf, Refusal>> {
        ready(Ok(NamesOf::default())).boxed()
    }

    fn forget(&mut self, speaker: &Speaker) -> BoxFuture<'static, Result<u64, Refusal>> {
        self.orders.push(format!("forget {}", speaker.name));
        ready(Ok(2)).boxed()
    }
}
