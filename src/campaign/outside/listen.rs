//! Listening to a table. Entry method: [`Outside::listen`].

use std::{future::pending, time::Duration};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};

use super::{
    Outside,
    error::OutsideError,
    lines::{Gathered, OutsideLine},
};
use crate::{
    campaign::link::TableLink,
    domain::Owner,
    session::{Command, EventReader},
};

/// Longest wait of one call.
const LONGEST: Duration = Duration::from_secs(60);
/// Silence that ends a call: longer than a pause between two speakers.
const QUIET: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug)]
pub struct ListenFor {
    /// At most a minute counts.
    pub most: Duration,
    pub until: ListenUntil,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListenUntil {
    /// A player has said something; does not wait for an answer.
    Utterance,
    /// Something was said, followed by two seconds of silence.
    Silence,
    /// The time is over.
    Time,
}

impl Outside {
    /// Returns the next lines at a table, of players that are received and of NPCs, until the
    /// wanted end. Leaves out lines that an X-card, an opt-out or a deletion takes back meanwhile.
    /// Fails unless [`Outside::set_listens`] has allowed it. Cancel safe.
    pub async fn listen(
        &self,
        owner: Owner,
        table: Option<&str>,
        wanted: ListenFor,
    ) -> Result<Vec<OutsideLine>, OutsideError> {
        if !self.listens() {
            return Err(OutsideError::ListenOff);
        }
        let here = self.running(owner, table)?;
        let events = here.link.events().map_err(|_| OutsideError::Ended)?;
        let listening = Listening {
            link: here.link,
            events,
            gathered: Gathered::new(owner),
            until: wanted.until,
            end: Instant::now() + wanted.most.min(LONGEST),
            quiet_at: None,
            silence: None,
        };
        Ok(listening.run().await)
    }
}

/// One call under way.
struct Listening {
    link: TableLink,
    events: EventReader,
    gathered: Gathered,
    until: ListenUntil,
    end: Instant,
    /// End of the quiet that [`ListenUntil::Silence`] waits for, unless a line comes first.
    quiet_at: Option<Instant>,
    /// Resolves once the table is silent.
    silence: Option<oneshot::Receiver<()>>,
}

impl Listening {
    async fn run(mut self) -> Vec<OutsideLine> {
        while !self.is_over() {
            let quiet_at = self.quiet_at;
            tokio::select! {
                () = sleep_until(self.end) => break,
                event = self.events.recv() => match event {
                    Some(event) => {
                        if self.gathered.take(&event) {
                            self.wait_for_quiet();
                        }
                    }
                    // The table is gone.
                    None => break,
                },
                () = sleep_until(quiet_at.unwrap_or(self.end)), if quiet_at.is_some() => {
                    self.quiet_at = None;
                    self.ask_for_silence();
                }
                is_silent = resolved(&mut self.silence) => {
                    self.silence = None;
                    if !self.read_on() && is_silent && !self.gathered.is_empty() {
                        break;
                    }
                    self.wait_for_quiet();
                }
            }
        }
        self.read_on();
        self.gathered.into_lines()
    }

    fn is_over(&self) -> bool {
        let is_said = self.until == ListenUntil::Utterance && self.gathered.has_utterance();
        is_said || self.gathered.is_full()
    }

    /// Takes the events that have come; true if lines are among them.
    fn read_on(&mut self) -> bool {
        let mut has_lines = false;
        while let Some(event) = self.events.try_recv() {
            has_lines |= self.gathered.take(&event);
        }
        has_lines
    }

    fn wait_for_quiet(&mut self) {
        if self.until == ListenUntil::Silence {
            (self.quiet_at, self.silence) = (Some(Instant::now() + QUIET), None);
        }
    }

    /// Asks the table; a table that is gone or busy is asked again.
    fn ask_for_silence(&mut self) {
        let (done, silence) = oneshot::channel();
        self.link.try_send(self.link.halts.count(), Command::AwaitSilence(done));
        self.silence = Some(silence);
    }
}

/// True once the table is silent; false if it has dropped the question. Does not resolve without a
/// question. Cancel safe.
async fn resolved(silence: &mut Option<oneshot::Receiver<()>>) -> bool {
    match silence {
        Some(silence) => silence.await.is_ok(),
        None => pending().await,
    }
}
