//! The engine of NPCs whose model takes and makes sound.
//!
//! Entry type: [`SpeechToSpeech`]. It keeps one session per seat (`line.rs`). The NPC's cascade
//! answers turns that are unsuitable for the model, and finishes those that fail.

mod bounds;
mod line;
mod money;
mod outgoing;
mod route;
mod talk;

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};
use tokio::{
    sync::Mutex as Shared,
    time::{Instant, sleep},
};

use self::{
    bounds::NotAnswered,
    line::S2sLine,
    route::{Habits, failed, resting},
    talk::S2sTurn,
};
use super::{
    Cascaded, PlayedPart, ReplyPort, Turn, TurnReport, VoiceEngine, conversation::Excerpt,
    locked::locked, report::EngineUsed, tool_loop::Before, trouble::Trouble,
};
use crate::{
    audio::Frame,
    domain::{EngineKind, Tier, ToolSpec},
    provider,
    tools::Query,
    traces::Operation,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionLimits {
    pub max_age: Duration,
    pub idle: Duration,
}

#[derive(Default)]
struct Behind {
    /// Played part of the last turn, until the session is settled.
    played: Option<PlayedPart>,
    changes: u64,
}

impl Behind {
    const fn change(&mut self) -> u64 {
        self.changes += 1;
        self.changes
    }
}

pub struct SpeechToSpeech {
    cascade: Cascaded,
    service: Arc<dyn provider::SpeechToSpeech>,
    line: Arc<Shared<S2sLine>>,
    trouble: Arc<Mutex<Trouble>>,
    habits: Arc<Mutex<Habits>>,
    behind: Arc<Mutex<Behind>>,
    /// True if the model answers the last turn from its sound.
    answers_sound: Arc<AtomicBool>,
    limits: SessionLimits,
    /// Its words would need a check before playback, which does not exist yet.
    is_guarded: bool,
}

impl SpeechToSpeech {
    /// `service` answers; `cascade` takes the rest.
    pub fn new(
        service: Arc<dyn provider::SpeechToSpeech>,
        cascade: Cascaded,
        limits: SessionLimits,
        is_guarded: bool,
    ) -> Self {
        let line = S2sLine::new(Arc::clone(&service), &cascade.model().npc, limits.max_age);
        Self {
            cascade,
            service,
            line: Arc::new(Shared::new(line)),
            trouble: Arc::default(),
            habits: Arc::default(),
            behind: Arc::default(),
            answers_sound: Arc::default(),
            limits,
            is_guarded,
        }
    }

    /// Why the cascade answers `turn`; `None`: the model may.
    fn declines(&self, turn: &Turn) -> Option<String> {
        if self.is_guarded {
            return Some(route::GUARDED.to_owned());
        }
        let npc = &self.cascade.model().npc;
        let resting = || locked(&self.trouble).rests().map(resting);
        let habits = || locked(&self.habits).expects(turn, npc);
        let abilities = self.service.abilities();
        route::not_for_it(turn, npc, abilities).or_else(habits).or_else(resting)
    }

    /// Probable tools of the first turn, if a session cannot change them.
    fn first_tools(&self, conversation: &Excerpt) -> Option<Arc<[ToolSpec]>> {
        if self.service.abilities().changes_tools {
            return None;
        }
        let (tier, host) = (Tier::default(), &self.cascade.calls().host);
        let visible = host.visible(&self.cascade.model().npc.name, tier, tier.ceiling());
        // A long list is narrowed by the utterance, which is not known yet.
        let query = Query { recent_categories: &conversation.topics, ..Query::default() };
        Some(Arc::clone(&host.narrowed(visible, &query).now_or_never()?.specs))
    }

    fn answer(&self, turn: Arc<Turn>, replies: ReplyPort) -> BoxFuture<'static, TurnReport> {
        let cascade = self.cascade.clone();
        let declined = self.declines(&turn);
        let hears_it = declined.is_none() && !turn.audio.is_empty();
        self.answers_sound.store(hears_it, Ordering::Relaxed);
        if let Some(why) = declined {
            let answer = cascade.go_on(turn, replies, Before::default());
            return async move { by_cascade(answer.await, why) }.boxed();
        }
        let (line, behind) = (Arc::clone(&self.line), Arc::clone(&self.behind));
        let (service, trouble) = (Arc::clone(&self.service), Arc::clone(&self.trouble));
        let answers_sound = Arc::clone(&self.answers_sound);
        let begun = Instant::now();
        async move {
            let span = turn.trace.begin(Operation::Live, || service.name().to_owned());
            let told = {
                let mut line = line.lock().await;
                let before = locked(&behind).played.take();
                line.settle(before).await;
                S2sTurn::new(&mut line, &cascade, (&turn, begun), &replies).answer().await
            };
            if told.is_err() {
                span.failed("not_answered");
            }
            span.end();
            let NotAnswered { why, kind, sentences, before } = match told {
                Ok(report) => {
                    // A turn that ended before its first word proves nothing about the service.
                    if report.first_text_at.is_some() {
                        locked(&trouble).is_over();
                    }
                    return report;
                }
                Err(not_answered) => not_answered,
            };
            // The cascade uses the words.
            answers_sound.store(false, Ordering::Relaxed);
            let npc = &cascade.model().npc.name;
            tracing::warn!(npc, service = service.name(), why, "the cascade answers instead");
            let news = kind.and_then(|kind| failed(&mut locked(&trouble), npc, &why, kind));
            let answer = cascade.go_on(turn, replies.after(sentences), before);
            let mut report = by_cascade(answer.await, why);
            report.news.extend(news);
            report
        }
        .boxed()
    }
}

impl VoiceEngine for SpeechToSpeech {
    fn start(&mut self, turn: Arc<Turn>, replies: ReplyPort) -> BoxFuture<'static, TurnReport> {
        self.cascade.begins(turn.tier);
        let answer = self.answer(Arc::clone(&turn), replies);
        let (habits, npc) = (Arc::clone(&self.habits), Arc::clone(&self.cascade.model().npc));
        async move {
            let report = answer.await;
            locked(&habits).note(&turn, &npc, &report.calls);
            report
        }
        .boxed()
    }

    fn receive(&mut self, sound: &VecDeque<Frame>) {
        let is_resting = locked(&self.trouble).rests().is_some();
        // A session being opened receives it later, whole.
        if let (false, Ok(mut line)) = (is_resting, self.line.try_lock()) {
            line.receive(sound);
        }
    }

    fn receives_ahead(&self) -> bool {
        !self.is_guarded && self.service.abilities().clears
    }

    fn answers_sound(&self) -> bool {
        self.answers_sound.load(Ordering::Relaxed)
    }

    fn played(&mut self, played: &PlayedPart) {
        // `warm` follows and settles the turn. An unsettled turn was the model's; this one was not.
        let mut behind = locked(&self.behind);
        behind.change();
        behind.played.get_or_insert_with(|| played.clone());
    }

    fn costs(&self) -> bool {
        self.service.priced_as().is_some() || self.cascade.costs()
    }

    fn warm(&self, conversation: Excerpt) -> BoxFuture<'static, ()> {
        let (line, behind) = (Arc::clone(&self.line), Arc::clone(&self.behind));
        let (now, trouble) = (locked(&behind).change(), Arc::clone(&self.trouble));
        let idle = self.limits.idle;
        let is_used = !self.is_guarded;
        let first_tools = self.first_tools(&conversation);
        let cascade = self.cascade.warm_up();
        let session = async move {
            let begun = {
                let mut open = line.lock().await;
                let before = {
                    let mut behind = locked(&behind);
                    // On a busy machine the conversation may have changed before this runs.
                    let is_late = behind.changes != now;
                    if is_late || behind.played.is_none() && open.is_playing() {
                        return;
                    }
                    behind.played.take()
                };
                open.settle(before).await;
                let is_resting = locked(&trouble).rests().is_some();
                if is_resting || !is_used {
                    return open.lose();
                }
                if open.turns() == 0
                    && let Some(tools) = first_tools
                {
                    open.wants(&tools);
                }
                if let Err(error) = open.open(&conversation, Instant::now(), Duration::MAX).await {
                    tracing::warn!(%error, "a voice model is not ready");
                    return;
                }
                open.turns()
            };
            drop(conversation);
            // A dropped engine closes its session.
            let waiting = Arc::downgrade(&line);
            drop(line);
            sleep(idle).await;
            if let Some(line) = waiting.upgrade() {
                line.lock().await.close_unless_used_since(begun);
            }
        };
        async move {
            futures::join!(session, cascade);
        }
        .boxed()
    }
}

fn by_cascade(report: TurnReport, why: String) -> TurnReport {
    let engine = report.engine;
    let engine = EngineUsed { kind: EngineKind::Cascaded, because: Some(why), ..engine };
    TurnReport { engine, ..report }
}
