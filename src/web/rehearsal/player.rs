//! Pages as players of a table. Entry function: [`seat_pages`].
//!
//! A page's sound reaches the table while its talk button is held; letting go ends the utterance at
//! once. A frame counts from when it was spoken: one frame after the one before, and after a
//! hold-up in the network at most [`LATE`] ago. All players of a rehearsal are game masters.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
    time::{Instant, timeout},
};

use super::{
    audience::speaker_of,
    cards,
    face::{OPTED_OUT, PageFace},
    orders,
    pages::{Joined, Page, PageSent},
    sample,
    shown::{in_file, notice},
    table::RehearsalTable,
    wire::{FromPage, PromptPart, ToPage},
};
use crate::{
    audio::{FRAME, Frame, SampleRate},
    domain::{Tier, redact},
    logic::command::typed_x_card_in,
    panics::caught,
    session::{Command, SoundTime, Speaker, Status, ToolLine, VoiceFrame, VoiceInput},
};

/// Sound that was held up counts as at most this old: what is older ended by silence.
const LATE: Duration = Duration::from_secs(1);
/// Sound may be this much ahead of the clock; a page that sends faster loses some.
const AHEAD: Duration = Duration::from_millis(200);
/// Commands that take longer go on beside the page's next words.
const IN_SEQUENCE: Duration = Duration::from_millis(500);
/// Commands of one page that run at a time.
const COMMANDS_MAX: usize = 4;

/// Seats every page that joins, until no more can. Dropping it ends them.
pub async fn seat_pages(table: Arc<RehearsalTable>, mut joined: mpsc::Receiver<Joined>) {
    let mut players = JoinSet::new();
    loop {
        tokio::select! {
            next = joined.recv() => match next {
                Some(page) => {
                    let playing = play(Arc::clone(&table), page);
                    players.spawn(async move {
                        if let Err(fault) = caught(playing).await {
                            tracing::error!(%fault, "a page's player has failed");
                        }
                    });
                }
                None => return,
            },
            Some(_) = players.join_next() => {}
        }
    }
}

/// Plays one page from its hello to the end of its socket.
async fn play(table: Arc<RehearsalTable>, joined: Joined) {
    let Joined { page, name, again, mut sent } = joined;
    let mut player = PagePlayer::new(table, page, &name);
    player.sit_down(again).await;
    while let Some(sent) = sent.recv().await {
        match sent {
            PageSent::Sound(samples) => player.hear(&samples),
            PageSent::Event(event) => player.take(event).await,
        }
    }
    player.leave().await;
}

struct PagePlayer {
    table: Arc<RehearsalTable>,
    page: Page,
    speaker: Speaker,
    opted_out: Arc<AtomicBool>,
    talks: bool,
    /// Time of the last frame since the button was pressed.
    last: Option<Instant>,
    running: Arc<Semaphore>,
}

impl PagePlayer {
    fn new(table: Arc<RehearsalTable>, page: Page, name: &str) -> Self {
        let id = speaker_of(&page);
        let mut player = Self {
            table,
            page,
            speaker: Speaker { id, name: String::new(), is_dm: true },
            opted_out: Arc::default(),
            talks: false,
            last: None,
            running: Arc::new(Semaphore::new(COMMANDS_MAX)),
        };
        player.call(name);
        player
    }

    /// Names the player, by number too if another one has the name: what is stored of people here
    /// goes by their names.
    fn call(&mut self, name: &str) {
        let known = self.table.audience.named(name);
        self.speaker.name = match known.is_some_and(|id| id != self.speaker.id) {
            true => format!("{name} {}", self.page.player),
            false => name.to_owned(),
        };
    }

    async fn sit_down(&self, again: bool) {
        let Self { table, page, speaker, .. } = self;
        table.order(Command::Join(speaker.clone())).await;
        let Some(status) = table.status().await else { return };
        self.welcome(&status, again);
        if status.card.is_some() {
            page.send(&ToPage::Card { on: true });
        }
        let files: Vec<_> = table.mistakes.now().iter().map(in_file).collect();
        if !files.is_empty() {
            page.send(&ToPage::Mistakes { files });
        }
        if let Some(why) = &table.cannot_hear {
            page.send(&notice(&format!("I can't hear anyone: {why}"), false));
        }
        table.audience.join(page, &speaker.name);
        table.sound.opened(page);
    }

    /// Tells the page its player's name, and who and what is at the table.
    fn welcome(&self, status: &Status, again: bool) {
        let Self { table, page, speaker, .. } = self;
        page.send(&ToPage::Welcome {
            player: speaker.name.clone(),
            npcs: cards::npcs(status, &table.link.cast()),
            scene: cards::scene(status),
            services: cards::services(&table.engines.services()),
            again,
        });
    }

    async fn leave(self) {
        self.table.audience.leave(self.page.id);
        self.table.order(Command::Leave(self.speaker.id)).await;
    }

    async fn take(&mut self, event: FromPage) {
        match event {
            FromPage::Hello { name, .. } => self.rename(&name).await,
            FromPage::Talk { on } => self.talk(on).await,
            FromPage::Say { text, npc } => self.say(text, npc.as_deref()).await,
            FromPage::Played { turn, samples } => {
                self.table.sound.played(self.page.id, turn, samples);
            }
            FromPage::Order { command } => self.order(command).await,
            FromPage::Why { turn } => self.explain(turn),
            FromPage::HearVoice { npc } => self.hear_voice(npc),
            FromPage::Tier { tier } => self.set_tier(tier).await,
        }
    }

    fn answer(&self, text: impl Into<String>, ok: bool) {
        self.page.send(&ToPage::Answer { text: text.into(), ok });
    }

    /// "Why did it say that?"
    fn explain(&self, turn: u64) {
        let all = self.table.handle.explanations.as_ref();
        let found = self.table.line_of(turn).zip(all).and_then(|(line, all)| all.of(line));
        let Some(found) = found else { return self.answer("that answer is too long ago", false) };
        let shown = |text: &str| redact::known(text).into_owned();
        let part = |it: &crate::logic::prompt::PromptPart| PromptPart {
            name: it.name.clone(),
            text: shown(&it.text),
        };
        let tool = |it: &ToolLine| redact::json(&serde_json::to_value(it).unwrap_or_default());
        self.page.send(&ToPage::Why {
            turn,
            parts: found.parts.iter().map(part).collect(),
            recalled: found.recalled.iter().map(|it| json!(shown(it))).collect(),
            tools: found.tools.iter().map(tool).collect(),
        });
    }

    fn is_heard(&self) -> bool {
        !self.opted_out.load(Ordering::Relaxed)
    }

    async fn rename(&mut self, name: &str) {
        self.call(name);
        self.table.audience.join(&self.page, &self.speaker.name);
        if self.is_heard() {
            self.table.order(Command::Join(self.speaker.clone())).await;
        }
        // The name may have a number now.
        if let Some(status) = self.table.status().await {
            self.welcome(&status, false);
        }
    }

    async fn talk(&mut self, on: bool) {
        if on && !self.is_heard() {
            return self.answer(OPTED_OUT, false);
        }
        if self.talks && !on {
            // Behind all sound so far. A table that is gone hears nothing.
            _ = self.table.handle.voice.send(VoiceInput::Released(self.speaker.id)).await;
        }
        (self.talks, self.last) = (on, None);
    }

    /// Takes 20 ms of a page's microphone.
    fn hear(&mut self, samples: &[i16]) {
        if !self.talks || !self.is_heard() {
            return;
        }
        let Some(at) = spoken_at(self.last, Instant::now()) else { return };
        self.last = Some(at);
        let frame = Frame::padded(samples, SampleRate::HZ_16000);
        let frame = VoiceFrame { speaker: self.speaker.id, at: SoundTime(at), frame };
        if self.table.handle.voice.try_send(VoiceInput::Frame(frame)).is_err() {
            tracing::warn!(page = self.page.id, "the table is too busy for a page's sound");
        }
    }

    /// Says a typed line; one that begins with a slash is a command.
    async fn say(&self, text: String, npc: Option<&str>) {
        if text.starts_with('/') {
            return self.order(text).await;
        }
        if !self.is_heard() {
            // A player who opted out may play the X-card too.
            return match typed_x_card_in(&text) {
                Some(_) => self.order("/xcard".to_owned()).await,
                None => self.answer(OPTED_OUT, false),
            };
        }
        let speaker = self.speaker.id;
        let said = match npc.map(|name| self.table.link.seat(name)) {
            None => Command::Typed { speaker, text },
            Some(Ok(seated)) => Command::TypedTo { speaker, seat: seated.seat, text },
            Some(Err(why)) => return self.answer(why.to_string(), false),
        };
        self.table.order(said).await;
    }

    /// Carries out a command; one that takes long answers later.
    async fn order(&self, line: String) {
        let Ok(place) = Arc::clone(&self.running).try_acquire_owned() else {
            return self.answer("earlier commands still run (wait for their answers)", false);
        };
        let (table, page) = (Arc::clone(&self.table), self.page.clone());
        let (player, opted_out) = (self.speaker.clone(), Arc::clone(&self.opted_out));
        let face = PageFace { table, player, opted_out, orders: Vec::new() };
        let carried_out = tokio::spawn(async move {
            let _place = place;
            let (text, ok) = orders::carry_out(face, &line).await;
            page.send(&ToPage::Answer { text, ok });
        });
        // A panic was logged where it happened; a long one goes on.
        _ = timeout(IN_SEQUENCE, carried_out).await;
    }

    fn hear_voice(&self, npc: String) {
        let Ok(place) = Arc::clone(&self.running).try_acquire_owned() else { return };
        let (table, page) = (Arc::clone(&self.table), self.page.clone());
        tokio::spawn(async move {
            let _place = place;
            if let Err(text) = sample::play(&table, &page, &npc).await {
                page.send(&ToPage::Answer { text, ok: false });
            }
        });
    }

    async fn set_tier(&self, tier: Option<Tier>) {
        self.table.order(Command::SetTier { seat: None, tier, until: None }).await;
    }
}

/// When a frame that has come `now` was spoken, `last` being the time of the one before; `None`:
/// the page sends faster than people speak.
fn spoken_at(last: Option<Instant>, now: Instant) -> Option<Instant> {
    let Some(last) = last else { return Some(now) };
    let at = now.checked_sub(LATE).map_or(last + FRAME, |oldest| oldest.max(last + FRAME));
    (at <= now + AHEAD).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_count_from_when_they_were_spoken() {
        let begin = Instant::now() + LATE;
        assert_eq!(spoken_at(None, begin), Some(begin));
        let held_up = begin + Duration::from_millis(400);
        assert_eq!(spoken_at(Some(begin), held_up), Some(begin + FRAME));
        let long = begin + 5 * LATE;
        assert_eq!(spoken_at(Some(begin), long), Some(long - LATE));
        let fast = std::iter::successors(Some(begin), |last| spoken_at(Some(*last), begin));
        assert_eq!(fast.take(1_000).count(), 11, "200 ms ahead of the clock");
    }
}
