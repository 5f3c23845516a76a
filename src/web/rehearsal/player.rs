//! Pages as players of a table. Entry function: [`seat_pages`].
//!
//! A page's sound reaches the table while its talk button is held; letting go ends the utterance at
//! once. A frame counts from when it was spoken: one frame after the one before, and after a
//! hold-up in the network at most [`LATE`] ago. All players of a rehearsal are game masters.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use tokio::{
    sync::{mpsc, oneshot},
    task::{AbortHandle, JoinSet},
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
    logic::{
        command::{is_x_card, typed_x_card_in},
        prompt,
    },
    panics::caught,
    session::{Command, SoundTime, Speaker, Status, ToolLine, VoiceFrame, VoiceInput},
};

/// Sound that was held up counts as at most this old: what is older ended by silence.
const LATE: Duration = Duration::from_secs(1);
/// Sound may be this much ahead of the clock; a page that sends faster loses some.
const AHEAD: Duration = Duration::from_millis(200);
/// Commands that take longer go on beside the page's next words.
const IN_SEQUENCE: Duration = Duration::from_millis(500);
/// Answer to "why" about a line without an explanation.
const UNEXPLAINED: &str = "that answer has no explanation (only the last ones have one, unless an \
                           X-card or a deletion removed it)";
/// Commands of one page that run at a time.
const COMMANDS_MAX: usize = 4;

/// Seats every page that joins, until no more can. Dropping it ends them, and their commands.
pub async fn seat_pages(table: Arc<RehearsalTable>, mut joined: mpsc::Receiver<Joined>) {
    let mut players = JoinSet::new();
    loop {
        tokio::select! {
            next = joined.recv() => match next {
                Some(page) => drop(players.spawn(play(Arc::clone(&table), page))),
                None => return,
            },
            Some(_) = players.join_next() => {}
        }
    }
}

/// Plays one page from its hello to the end of its socket, and waits for its last commands.
async fn play(table: Arc<RehearsalTable>, joined: Joined) {
    let Joined { page, name, browser, again, sent, place } = joined;
    let player = PagePlayer::new(Arc::clone(&table), page.clone(), &name, browser);
    let commands = caught(player.play(again, sent)).await;
    table.audience.leave(page.id);
    table.order(Command::Leave(speaker_of(&page))).await;
    drop((page, place));
    match commands {
        // A deletion, say, goes on without its page.
        Ok(mut commands) => while commands.join_next().await.is_some() {},
        Err(fault) => tracing::error!(%fault, "a page's player has failed"),
    }
}

struct PagePlayer {
    table: Arc<RehearsalTable>,
    page: Page,
    speaker: Speaker,
    /// Random name of its browser.
    browser: String,
    talks: bool,
    /// Time of the last frame.
    last: Option<Instant>,
    /// Frames that the table was too busy for.
    crowded_out: u64,
    commands: JoinSet<()>,
    /// Plays a sample of a voice.
    sample: Option<AbortHandle>,
}

impl PagePlayer {
    fn new(table: Arc<RehearsalTable>, page: Page, name: &str, browser: String) -> Self {
        let name = table.audience.call(&page, name);
        let speaker = Speaker { id: speaker_of(&page), name, is_dm: true };
        Self {
            table,
            page,
            speaker,
            browser,
            talks: false,
            last: None,
            crowded_out: 0,
            commands: JoinSet::new(),
            sample: None,
        }
    }

    /// Plays until the page has sent its last; returns the commands that still run.
    async fn play(mut self, again: bool, mut sent: mpsc::Receiver<PageSent>) -> JoinSet<()> {
        self.sit_down(again).await;
        while let Some(sent) = sent.recv().await {
            match sent {
                PageSent::Sound(samples) => self.hear(&samples),
                PageSent::Event(event) => self.take(event).await,
            }
        }
        if let Some(sample) = self.sample {
            sample.abort();
        }
        self.commands
    }

    async fn sit_down(&self, again: bool) {
        let Self { table, page, speaker, .. } = self;
        if self.is_heard() {
            table.order(Command::Join(speaker.clone())).await;
        }
        let Some(status) = table.status().await else { return };
        let known = table.removals();
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
        if !self.is_heard() {
            page.send(&notice(OPTED_OUT, true));
        }
        table.sound.open(page);
        let removals = table.removals();
        if removals != known {
            // Told before the page was open.
            page.send(&ToPage::Cleared { removals });
        }
    }

    /// Tells the page its player's name, and who and what is at the table.
    fn welcome(&self, status: &Status, again: bool) {
        let Self { table, page, speaker, .. } = self;
        page.send(&ToPage::Welcome {
            player: speaker.name.clone(),
            npcs: cards::npcs(status, &table.link.cast()),
            scene: cards::scene(status),
            music: cards::music(status),
            services: cards::services(&table.engines.services()),
            again,
            session: table.link.session.0.clone(),
            removals: table.removals(),
        });
    }

    async fn take(&mut self, event: FromPage) {
        match event {
            FromPage::Hello { name } => self.rename(&name).await,
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
        let Some(found) = found else { return self.answer(UNEXPLAINED, false) };
        let shown = |text: &str| redact::known(text).into_owned();
        let part =
            |it: &prompt::PromptPart| PromptPart { name: it.name.clone(), text: shown(&it.text) };
        let tool = |it: &ToolLine| redact::json(&serde_json::to_value(it).unwrap_or_default());
        self.page.send(&ToPage::Why {
            turn,
            parts: found.parts.iter().map(part).collect(),
            recalled: found.recalled.iter().map(|it| json!(shown(it))).collect(),
            tools: found.tools.iter().map(tool).collect(),
        });
    }

    fn is_heard(&self) -> bool {
        self.table.is_heard(&self.browser)
    }

    async fn rename(&mut self, name: &str) {
        self.speaker.name = self.table.audience.call(&self.page, name);
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
        match (self.talks, on) {
            (false, true) => self.last = pressed_at(self.last, Instant::now()),
            (true, false) => {
                // Behind all sound so far. A table that is gone hears nothing.
                _ = self.table.handle.voice.send(VoiceInput::Released(self.speaker.id)).await;
                let lost = std::mem::take(&mut self.crowded_out);
                if lost > 0 {
                    tracing::warn!(page = self.page.id, lost, "the table was too busy for frames");
                }
            }
            (false, false) | (true, true) => {}
        }
        self.talks = on;
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
            self.crowded_out += 1;
        }
    }

    /// Says a typed line; one that begins with a slash is a command.
    async fn say(&mut self, text: String, npc: Option<&str>) {
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
    async fn order(&mut self, line: String) {
        if !is_card(&line) && !self.has_place() {
            return;
        }
        let (table, page) = (Arc::clone(&self.table), self.page.clone());
        let (player, browser) = (self.speaker.clone(), self.browser.clone());
        let face = PageFace { table: Arc::clone(&table), player, browser, orders: Vec::new() };
        let (done, carried_out) = oneshot::channel();
        drop(self.commands.spawn(async move {
            let (text, ok) = orders::carry_out(face, &line).await;
            page.send(&ToPage::Answer { text, ok });
            table.changed.notify_one();
            _ = done.send(());
        }));
        // A panic was logged where it happened; a long one goes on.
        _ = timeout(IN_SEQUENCE, carried_out).await;
    }

    /// Plays a sample of a voice, in place of the last one.
    fn hear_voice(&mut self, npc: String) {
        if let Some(last) = self.sample.take() {
            last.abort();
        }
        if !self.has_place() {
            return;
        }
        let (table, page) = (Arc::clone(&self.table), self.page.clone());
        self.sample = Some(self.commands.spawn(async move {
            if let Err(text) = sample::play(&table, &page, &npc).await {
                page.send(&ToPage::Answer { text, ok: false });
            }
        }));
    }

    /// False if too many commands run; notifies the page.
    fn has_place(&mut self) -> bool {
        while self.commands.try_join_next().is_some() {}
        let is_free = self.commands.len() < COMMANDS_MAX;
        if !is_free {
            self.answer("earlier commands still run (wait for their answers)", false);
        }
        is_free
    }

    async fn set_tier(&self, tier: Option<Tier>) {
        self.table.order(Command::SetTier { seat: None, tier, until: None }).await;
        self.table.changed.notify_one();
    }
}

/// True if the command is the X-card, which works however busy its player is.
fn is_card(line: &str) -> bool {
    is_x_card(line) || line.split_whitespace().next().is_some_and(is_x_card)
}

/// Time assumed for the last frame when the button is pressed `now`: the next one is spoken now,
/// but not before frames that were counted ahead of the clock.
fn pressed_at(last: Option<Instant>, now: Instant) -> Option<Instant> {
    last.max(now.checked_sub(FRAME))
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

    #[test]
    fn only_the_card_waits_for_no_command() {
        for card in ["/xcard", "/X-Card now, please", "/x card!", "/ xcard"] {
            assert!(is_card(card), "{card}");
        }
        for other in ["/npc mute Bartok", "/npc say Bartok xcard", "/", ""] {
            assert!(!is_card(other), "{other}");
        }
    }

    #[test]
    fn button_never_turns_back_the_clock() {
        let begin = Instant::now() + LATE;
        let first = |last| spoken_at(pressed_at(last, begin), begin);
        assert_eq!(first(None), Some(begin));
        assert_eq!(first(Some(begin - LATE)), Some(begin), "a pause is no sound");
        let ahead = begin + Duration::from_millis(100);
        assert_eq!(first(Some(ahead)), Some(ahead + FRAME));
        assert_eq!(first(Some(begin + AHEAD)), None, "pressing again gains nothing");
    }
}
