//! Changes by the game master, by command or by voice, and X-cards. **Never**: reveals the NPC of a
//! stage note, or the person who used a card.
//!
//! An X-card silences every NPC that could speak. The game master ends it; at a local table, a
//! person who is alone may end it too. NPCs that the game master muted stay muted.

use tokio::time::Instant;

use super::{
    Seat, SeatId, Speaker, SpeakerId, TableEvent,
    caller::Caller,
    command::SceneChange,
    line::Outcome,
    overrides::TurnTier,
    retraction::Card,
    routing::Understood,
    seat::Note,
    table::Table,
    turns::Active,
    utterance::{Purpose, Utterance},
    withdrawal::Withdrawn,
};
use crate::{
    domain::{Person, Tier, TurnId},
    engine::Cause,
    logic::command::{Command as SpokenOrder, is_go_on},
};

/// Shown if the only person may end the card.
const ALONE: &str = "an X-card has muted everyone (\"everyone continue\" or /resume unmutes them)";
/// Shown otherwise.
const GAME_MASTERS: &str = "an X-card has muted everyone (the game master says \"everyone continue\" or uses \
                            /npc unmuteall)";
/// Orders of workflows and programs that wait for one NPC.
const ORDERS_MAX: usize = 8;

impl Table {
    /// Silences an NPC or all, mid-word if necessary; or lets them speak again.
    pub(super) fn mute(&mut self, seat: Option<SeatId>, muted: bool) {
        // This order replaces the X-card.
        self.carded.retain(|carded| seat.is_some_and(|seat| seat != *carded));
        self.set_muted(seat, muted);
        self.tell_how_it_stands();
    }

    pub(super) fn set_muted(&mut self, seat: Option<SeatId>, muted: bool) {
        let now = Instant::now();
        for index in self.seats.ids() {
            if seat.is_none_or(|seat| seat == index) {
                self.seats[index].muted = muted;
                if muted {
                    self.silence(now, index);
                }
            }
        }
    }

    /// Publishes the conversations that have changed.
    pub(super) fn tell_conversations(&mut self) {
        let changed = |seat: &mut Seat| {
            let messages = seat.conversation.changed()?.to_vec();
            Some((seat.npc.name.clone(), messages))
        };
        let changed: Vec<_> = self.seats.all_mut().filter_map(changed).collect();
        if !changed.is_empty() {
            self.reports.tell(TableEvent::Conversed(changed.into()));
        }
    }

    pub(super) fn pause(&mut self, paused: bool) {
        if paused {
            self.hold_answers();
        }
        self.paused.by_dm = paused;
        self.tell_how_it_stands();
    }

    /// Pauses to the end. The state to continue from stays as it is.
    pub(super) fn hand_over(&mut self) {
        self.hold_answers();
        self.paused.handed_over = true;
    }

    fn hold_answers(&mut self) {
        if !self.paused.holds() {
            self.drop_guesses();
            self.put_back_unplayed();
        }
    }

    /// Requeues unplayed answers until the table resumes.
    fn put_back_unplayed(&mut self) {
        let now = Instant::now();
        let unplayed =
            |turn: &&Active| (turn.is_ahead() || turn.is_thinking()) && !turn.purpose.is_puppet();
        let unplayed: Vec<(TurnId, Option<Purpose>)> = self
            .turns
            .all()
            .filter(unplayed)
            .map(|turn| (turn.id, (!turn.taken_back).then(|| turn.purpose.clone())))
            .collect();
        for (turn, purpose) in unplayed {
            self.drop_turn(now, turn);
            if let Some(purpose) = purpose {
                self.ask(purpose);
            }
        }
    }

    pub(super) fn skip(&mut self) {
        let thought_of = || self.turns.all().find(|turn| turn.is_certain()).map(|turn| turn.id);
        if let Some(turn) = self.playback.current().or_else(thought_of) {
            self.cut_off(Instant::now(), turn);
        }
    }

    /// Speaks the game master's own words in an NPC's voice, before everything else.
    pub(super) fn puppet(&mut self, speaker: SpeakerId, seat: SeatId, text: String) {
        if self.seats.has(seat) && !text.trim().is_empty() {
            self.silence(Instant::now(), seat);
            self.say(wordless(speaker), seat, Cause::Puppet { words: text, outside: false });
        }
    }

    /// Like [`Self::puppet`], but waits behind other orders; `outside`: some of the words came from
    /// outside.
    pub(super) fn recite(&mut self, caller: Caller, seat: SeatId, words: String, outside: bool) {
        if !self.seats.has(seat) || words.trim().is_empty() {
            return;
        }
        let Caller { speaker, order } = caller;
        let utterance = Utterance { order: Some(order), ..wordless(speaker) };
        let ordered = self.seats[seat].waiting.iter().filter(|it| it.is_ordered()).count();
        if ordered >= ORDERS_MAX {
            let why = format!("up to {ORDERS_MAX} lines wait for one npc");
            return self.unanswered(utterance, Outcome::PutOff, Some(why));
        }
        self.silence_unordered(seat);
        self.say(utterance, seat, Cause::Puppet { words, outside });
    }

    fn say(&mut self, utterance: Utterance, seat: SeatId, cause: Cause) {
        let tier = TurnTier::fast("the game master's own words".to_owned());
        self.ask(Purpose { utterance, seat, tier, cause });
    }

    /// Sets or replaces an NPC's stage note.
    pub(super) fn direct(&mut self, seat: SeatId, note: &str, turns: Option<u32>) {
        let note = Note::new(note, turns);
        if let Some(seat) = self.seats.get_mut(seat) {
            seat.note = note;
            self.drop_guesses();
            self.tell_how_it_stands();
        }
    }

    pub(super) fn change_scene(&mut self, change: SceneChange) {
        match change {
            SceneChange::Set { location, time, music } => {
                self.router.scene.set(location.as_deref(), time.as_deref());
                self.score(location.is_some(), music.as_deref());
            }
            SceneChange::Enter(seat) => self.router.scene.place(seat, true),
            SceneChange::Leave(seat) => self.router.scene.place(seat, false),
        }
        self.expect_names();
        self.drop_guesses();
        let now = Instant::now();
        for seat in self.seats.ids() {
            if !self.router.scene.is_present(seat) {
                self.silence(now, seat);
            }
        }
        self.tell_how_it_stands();
    }

    /// Plays music requested with a scene, or that of the campaign's scene just entered.
    pub(super) fn score(&self, entered: bool, words: Option<&str>) {
        let scenes = || self.router.scene.music().filter(|_| entered);
        if let Some(notice) = words.or_else(scenes).and_then(|words| self.music.set(words)) {
            self.reports.private(notice);
        }
    }

    pub(super) fn join(&mut self, speaker: Speaker) {
        let has_former = self.router.meet(speaker.id, &speaker.name);
        self.speakers.join(speaker);
        if has_former {
            self.learn_names();
        }
        // A note may name them.
        self.tell_how_it_stands();
    }

    pub(super) fn character(&mut self, speaker: SpeakerId, name: Option<String>) {
        if !self.speakers.play(speaker, name) {
            return;
        }
        self.learn_names();
        self.drop_guesses();
    }

    /// Removes a player and drops their current utterance.
    pub(super) fn leave(&mut self, speaker: SpeakerId) {
        self.drop_ahead(Instant::now(), speaker);
        if let Some((utterance, why)) = self.hearing.remove(speaker) {
            self.said_to_nobody(utterance, why);
        }
        self.speakers.leave(speaker);
    }

    pub(super) fn forget(&mut self, speaker: SpeakerId) {
        // Entries stored before ids existed are not certainly theirs.
        self.erase(&Person { id: self.speakers.person(speaker), names: Vec::new() });
        self.speakers.leave(speaker);
    }

    /// Makes NPCs forget a person's words, and ends work in progress for them.
    pub(super) fn erase(&mut self, person: &Person) {
        self.withdraw(Some(&person.id));
        self.seats.all_mut().for_each(|seat| seat.conversation.forget(person));
        self.turns.all().for_each(Active::leave_unexplained);
        self.reports.forget(&person.id);
        self.reports.tell(TableEvent::Forgotten(person.id.clone()));
        // Before the deletion goes on to what is stored.
        self.remove_orders_about(&person.id);
        self.tell_conversations();
        // Sessions that held those words are closed now.
        self.warm();
    }

    /// X-card: stops and mutes everyone, music too, and drops current speech with its rest. Takes
    /// back the exchange that was audible when the card's words `began`, or the last one before,
    /// with everything since.
    pub(super) fn halt(&mut self, began: Instant) {
        let now = Instant::now();
        self.halts.add();
        let audible_since = self.turns.all().filter_map(Active::audible_since).min();
        let card = Card { began, now, audible_since };
        let Withdrawn { turns, waiting } = self.withdraw(None);
        for purpose in turns.iter().chain(&waiting) {
            self.take_back_from_others(purpose);
        }
        for purpose in waiting {
            self.reports.taken_back(Outcome::Cancelled, &purpose.utterance);
        }
        self.carded = self.silenced_by_card();
        self.set_muted(None, true);
        self.tell_how_it_stands();
        // Words not recognised yet may be the reason for the card.
        self.hearing.drop_speech(now);
        self.playback.hush();
        // After the turns, which may have started a track until cancelled.
        self.music.silence();
        let taken_back = self.reports.take_back(card, &mut self.seats);
        self.seats.all_mut().for_each(|seat| seat.conversation.retract());
        self.warm();
        self.reports.tell(TableEvent::Halted { taken_back });
    }

    pub(super) fn obey(&mut self, speaker: SpeakerId, order: SpokenOrder) -> String {
        match order {
            SpokenOrder::Mute(npc) => {
                let seat = self.router.seat(npc);
                self.mute(Some(seat), true);
                format!("{} is muted", self.name(seat))
            }
            SpokenOrder::Unmute(npc) => {
                let seat = self.router.seat(npc);
                self.mute(Some(seat), false);
                format!("{} may speak again", self.name(seat))
            }
            SpokenOrder::MuteAll => {
                self.mute(None, true);
                "everyone is muted".to_owned()
            }
            SpokenOrder::UnmuteAll => {
                self.mute(None, false);
                "everyone may speak again".to_owned()
            }
            SpokenOrder::Say { npc, text } => {
                let seat = self.router.seat(npc);
                self.puppet(speaker, seat, text);
                format!("{} says it", self.name(seat))
            }
            SpokenOrder::Think(npc) => {
                let seat = self.router.seat(npc);
                self.router.overrides.set_next(seat, Tier::Deep);
                self.tell_how_it_stands();
                format!("{} thinks carefully about the next answer", self.name(seat))
            }
            SpokenOrder::Faster => {
                self.router.go_faster(Instant::now());
                self.tell_how_it_stands();
                "answers come faster for five minutes".to_owned()
            }
            SpokenOrder::Scene(name) => {
                self.change_scene(SceneChange::Set {
                    location: Some(name),
                    time: None,
                    music: None,
                });
                format!("the scene is {}", self.router.scene.location().unwrap_or_default())
            }
        }
    }

    fn name(&self, seat: SeatId) -> &str {
        &self.seats[seat].npc.name
    }

    /// NPCs that an X-card silences: those not muted for another reason.
    pub(super) fn silenced_by_card(&self) -> Vec<SeatId> {
        let could_speak = |id: &SeatId| !self.seats[*id].muted || self.carded.contains(id);
        self.seats.ids().into_iter().filter(could_speak).collect()
    }

    /// Way to end the X-card that keeps NPCs silent; `None` without one.
    pub(super) fn way_out_of_card(&self) -> Option<&'static str> {
        let is_silent = |seat: &SeatId| self.seats.has(*seat) && self.seats[*seat].muted;
        let way = if self.is_ended_by_anyone() { ALONE } else { GAME_MASTERS };
        self.carded.iter().any(is_silent).then_some(way)
    }

    fn is_ended_by_anyone(&self) -> bool {
        self.is_here && self.speakers.here().len() <= 1
    }

    /// Meaning of an utterance that would end the X-card; `None` for other utterances or without a
    /// card.
    pub(super) fn end_of_card(&self, utterance: &Utterance) -> Option<Understood> {
        let way_out = self.way_out_of_card()?;
        let text = utterance.order();
        let unmutes = self.router.order(text) == Some(SpokenOrder::UnmuteAll);
        if !unmutes && !is_go_on(text) {
            return None;
        }
        let may = self.speakers.is_dm(utterance.speaker) || self.is_ended_by_anyone();
        Some(if may { Understood::CardEnds } else { Understood::Nobody(way_out.to_owned()) })
    }

    pub(super) fn end_card(&mut self, speaker: SpeakerId) {
        if !self.speakers.is_dm(speaker) && !self.is_ended_by_anyone() {
            return;
        }
        for seat in std::mem::take(&mut self.carded) {
            self.set_muted(Some(seat), false);
        }
        self.tell_how_it_stands();
    }
}

/// Stands for prepared words.
fn wordless(speaker: SpeakerId) -> Utterance {
    let now = Instant::now();
    Utterance { final_at: Some(now), typed: true, ..Utterance::unknown(speaker, now) }
}
