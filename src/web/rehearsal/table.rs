//! The table of a rehearsal, as its pages reach it. Entry types: [`PageOutlets`],
//! [`RehearsalTable`].

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::sync::{Notify, oneshot};

use super::{
    audience::Audience,
    effects::PageEffects,
    out::{LEAD, PageSound},
};
use crate::{
    campaign::{Engines, Handles, Mistakes, RunningTable, TableLink},
    domain::{Owner, Scope, SessionId},
    session::{
        Command, EventReader, LiveReader, MusicPlayer, Outlets, Pace, SceneChange, Status,
        TableEvents, TableHandle,
    },
};

/// Events of the table that wait to be shown or written: a burst of several turns.
const EVENT_CAPACITY: usize = 256;
/// Turns whose lines are known: as many as a page asks about.
const LINES_MAX: usize = 64;

/// Where a table speaks and shows: on pages that join later.
pub struct PageOutlets {
    audience: Audience,
    sound: PageSound,
    music: MusicPlayer,
    told: TableNews,
}

/// Everything a table tells from its opening on.
pub struct TableNews {
    pub events: EventReader,
    pub live: LiveReader,
}

impl PageOutlets {
    /// Also returns the outlets of the table that is to be opened.
    pub fn open() -> (Self, Outlets) {
        let (audience, events) = (Audience::default(), TableEvents::new(EVENT_CAPACITY));
        let sound = PageSound::new(audience.clone());
        let music = MusicPlayer::new(events.downgrade());
        let told = TableNews { events: events.subscribe(), live: events.follow_live() };
        let outlets = Outlets {
            out: Box::new(sound.clone()),
            pace: Pace::Ahead(LEAD),
            music: music.clone(),
            effects: Arc::new(PageEffects(audience.clone())),
            halts: Arc::default(),
            events,
        };
        (Self { audience, sound, music, told }, outlets)
    }
}

/// A running table whose players are pages.
pub struct RehearsalTable {
    pub handles: Handles,
    /// Mistakes in the files, for pages.
    pub mistakes: Mistakes,
    pub scope: Scope,
    pub link: TableLink,
    /// Its queues of sound and orders.
    pub handle: TableHandle,
    pub engines: Arc<dyn Engines>,
    /// Why it hears no one, with the fix.
    pub cannot_hear: Option<String>,
    pub audience: Audience,
    pub sound: PageSound,
    pub music: MusicPlayer,
    /// Woken when an NPC, the scene or the music may have changed without an event of the table.
    pub changed: Notify,
    /// Browsers whose players opted out of being heard; a page that connects again stays one.
    opted_out: Mutex<BTreeSet<String>>,
    /// Numbers of the last turns, by which pages name them, and of their lines.
    lines: Mutex<VecDeque<(u64, u64)>>,
    /// X-cards and deletions so far.
    removals: AtomicU64,
}

impl RehearsalTable {
    /// The running `table` of `session`, and what it tells; `None`: the session has ended.
    pub fn of(
        handles: &Handles,
        mistakes: Mistakes,
        (session, table): (&SessionId, &RunningTable),
        outlets: PageOutlets,
    ) -> Option<(Arc<Self>, TableNews)> {
        let mut tables = handles.sessions.tables(Owner::Local).into_iter();
        let here = tables.find(|it| it.link.session == *session)?;
        let PageOutlets { audience, sound, music, told } = outlets;
        let table = Self {
            handles: handles.clone(),
            mistakes,
            scope: here.scope,
            link: here.link,
            handle: table.handle.clone(),
            engines: Arc::clone(&table.engines),
            cannot_hear: table.cannot_hear.clone(),
            audience,
            sound,
            music,
            changed: Notify::new(),
            opted_out: Mutex::default(),
            lines: Mutex::default(),
            removals: AtomicU64::new(0),
        };
        Some((Arc::new(table), told))
    }

    /// Sends an order; false if the table is closed. Cancel safe.
    pub async fn order(&self, command: Command) -> bool {
        self.handle.commands.send(command).await.is_ok()
    }

    /// Status once the table has taken all orders so far; `None`: it is closed. Cancel safe.
    pub async fn status(&self) -> Option<Status> {
        let (ask, answer) = oneshot::channel();
        self.handle.commands.send(Command::Status(ask)).await.ok()?;
        answer.await.ok()
    }

    /// True unless the players of `browser` opted out.
    pub fn is_heard(&self, browser: &str) -> bool {
        !self.opted_out.lock().unwrap_or_else(PoisonError::into_inner).contains(browser)
    }

    /// Hears the players of `browser` from now on, or no longer.
    pub fn hear(&self, browser: &str, is_heard: bool) {
        let mut opted_out = self.opted_out.lock().unwrap_or_else(PoisonError::into_inner);
        if is_heard {
            opted_out.remove(browser);
        } else {
            opted_out.insert(browser.to_owned());
        }
    }

    /// Counts an X-card or a deletion; returns their number.
    pub fn count_removal(&self) -> u64 {
        self.removals.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Number of X-cards and deletions so far.
    pub fn removals(&self) -> u64 {
        self.removals.load(Ordering::Relaxed)
    }

    /// The line with number `line` tells of `turn`.
    pub fn told(&self, turn: u64, line: u64) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES_MAX {
            lines.pop_front();
        }
        lines.push_back((turn, line));
    }

    /// Number of the line that told of `turn`, if it is not too long ago.
    pub fn line_of(&self, turn: u64) -> Option<u64> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().find(|(of, _)| *of == turn).map(|(_, line)| *line)
    }

    /// Brings the NPC `name` into the scene, and lets it answer lines that name no other.
    ///
    /// # Errors
    /// No NPC matches, or several.
    pub async fn bring_in(&self, name: &str) -> Result<(), String> {
        let seat = self.link.seat(name).map_err(|why| why.to_string())?.seat;
        let status = self.status().await;
        let is_there = status.and_then(|it| it.of(seat).map(|seat| seat.present));
        if is_there == Some(false) {
            self.order(Command::Scene(SceneChange::Enter(seat))).await;
        }
        self.order(Command::Pin { seat: Some(seat), player: None }).await;
        Ok(())
    }
}
