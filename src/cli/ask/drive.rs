//! Feeds inputs to a table, at its pace or the clock's. Entry type: [`Driver`].

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::oneshot,
    time::{Instant, sleep_until},
};

use super::{
    super::Failure,
    face::SlashContext,
    inputs::{Input, What},
    print::Printer,
    record::SessionRecord,
    steps::{RECEIVED, RecordedSound, Recording, Step},
};
use crate::{
    audio::{FRAME, Frame},
    domain::Person,
    session::{
        Command, EventReader, Outcome, SoundTime, Speaker, SpeakerId, TableEvent, TableHandle,
        TurnLine, VoiceFrame, VoiceInput,
    },
};

/// Frames between checks of the table's progress.
const FRAMES_PER_LOOK: usize = 5;
/// Silence after a recording: slightly more than the longest that ends an utterance.
const SILENCE_AFTER: Duration = Duration::from_millis(2_000);
/// Pause between an input and the next one without a time.
const PAUSE: Duration = Duration::from_secs(1);
/// Lead of the recordings' time over the clock in runs not paced by the clock: never overtaken, or
/// a busy machine would find silence in the middle of a word.
const AHEAD: Duration = Duration::from_secs(24 * 3600);

/// Speed at which sound is fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// One input after another, as fast as the recogniser accepts it.
    AsFastAsTaken,
    /// In real time.
    Clock,
}

impl Pacing {
    pub const fn of(clock_runs: bool) -> Self {
        if clock_runs { Self::Clock } else { Self::AsFastAsTaken }
    }
}

/// An unfinished input.
struct Waiting<'a> {
    at: Duration,
    step: &'a Step,
    /// Its sound, once begun.
    sound: Option<RecordedSound>,
    is_over: bool,
}

/// Feeds a table and prints its events.
pub struct Driver {
    pub(super) table: TableHandle,
    pub(super) events: EventReader,
    pub(super) printer: Printer,
    pacing: Pacing,
    pub(super) speakers: HashMap<String, SpeakerId>,
    /// Time of the next frame; may be ahead of the clock.
    at: Instant,
    lines: u64,
    last: Option<Outcome>,
    pub(super) typed_anything: bool,
    /// Success of the last input if it was a command.
    pub(super) last_command: Option<bool>,
    /// People who have left the table until their next line.
    pub(super) away: HashSet<SpeakerId>,
    pub(super) opted_out: HashSet<SpeakerId>,
    /// People whose words were deleted.
    pub(super) forgotten: Vec<Person>,
    record: Option<SessionRecord>,
}

impl Driver {
    pub fn new(
        table: TableHandle,
        events: EventReader,
        printer: Printer,
        record: Option<SessionRecord>,
        pacing: Pacing,
    ) -> Self {
        Self {
            table,
            events,
            printer,
            pacing,
            speakers: HashMap::new(),
            at: match pacing {
                Pacing::AsFastAsTaken => Instant::now() + AHEAD,
                Pacing::Clock => Instant::now(),
            },
            lines: 0,
            last: None,
            typed_anything: false,
            last_command: None,
            away: HashSet::new(),
            opted_out: HashSet::new(),
            forgotten: Vec::new(),
            record,
        }
    }

    /// True if the last input was answered, or was a successful command.
    pub fn ended_well(&self) -> bool {
        let well = || self.last.is_some_and(|outcome| outcome.is_well());
        self.last_command.unwrap_or_else(well)
    }

    /// True if earlier typed lines were answered before the typist left.
    pub fn is_quiet_end(&self) -> bool {
        self.typed_anything
    }

    /// Records the rest after the table has closed.
    pub async fn close_record(&mut self) -> Result<(), Failure> {
        let Some(record) = &mut self.record else { return Ok(()) };
        while let Some(event) = self.events.try_recv() {
            // Without the state, which the end of the session saves.
            record.take(&event).await?;
        }
        record.close().await;
        Ok(())
    }

    /// Plays all inputs; texts that begin with a slash are commands.
    pub async fn steps(
        &mut self,
        steps: &[Step],
        context: &SlashContext<'_>,
    ) -> Result<(), Failure> {
        for step in steps {
            self.join(&step.input.speaker, step.input.as_dm).await?;
        }
        if steps.iter().any(|step| step.input.at.is_some()) {
            return self.timeline(steps, context).await;
        }
        for step in steps {
            let before = self.lines;
            let speaker = self.speakers[&step.input.speaker];
            if let What::Text(text) = &step.input.what {
                self.take_line(text, &self.speaker_of(&step.input), context).await?;
            }
            if let (What::File(path), Some(recording)) = (&step.input.what, &step.recording) {
                self.feed(speaker, recording).await?;
                self.settle().await?;
                if self.lines == before {
                    self.nothing_said(&step.input.speaker, path).await?;
                }
            }
            self.settle().await?;
            self.runs_end(context).await?;
            self.at = self.at.max(Instant::now());
        }
        Ok(())
    }

    /// Plays everything at its own time.
    async fn timeline(
        &mut self,
        steps: &[Step],
        context: &SlashContext<'_>,
    ) -> Result<(), Failure> {
        let start = Instant::now();
        let mut free_at = Duration::ZERO;
        let mut waiting: Vec<Waiting> = Vec::new();
        for step in steps {
            let at = step.input.at.unwrap_or(free_at);
            free_at = at + step.length() + PAUSE;
            waiting.push(Waiting { at, step, sound: None, is_over: false });
        }
        let mut tick = Duration::ZERO;
        while !waiting.is_empty() {
            sleep_until(start + tick).await;
            for it in waiting.iter_mut().filter(|it| it.at <= tick) {
                self.go_on(it, start + tick, context).await?;
            }
            waiting.retain(|it| !it.is_over);
            tick += FRAME;
            self.print().await?;
        }
        // No more speech: end all waits for silence now.
        let quiet = start + tick + SILENCE_AFTER;
        while Instant::now() < quiet {
            sleep_until((Instant::now() + FRAME).min(quiet)).await;
            self.print().await?;
        }
        self.settle().await?;
        self.runs_end(context).await
    }

    /// Feeds the part of an input `at` this time: a whole text, or one frame of a recording.
    async fn go_on(
        &mut self,
        it: &mut Waiting<'_>,
        at: Instant,
        context: &SlashContext<'_>,
    ) -> Result<(), Failure> {
        let speaker = self.speakers[&it.step.input.speaker];
        if let What::Text(text) = &it.step.input.what {
            self.take_line(text, &self.speaker_of(&it.step.input), context).await?;
        }
        if let (None, Some(recording)) = (&it.sound, &it.step.recording) {
            it.sound = Some(recording.play()?);
        }
        let frame = match &mut it.sound {
            Some(sound) => sound.next().await,
            None => None,
        };
        it.is_over = frame.is_none();
        match frame {
            Some(frame) => self.frame(speaker, at, &frame).await,
            None => Ok(()),
        }
    }

    /// One recording and the silence after it.
    async fn feed(&mut self, speaker: SpeakerId, recording: &Recording) -> Result<(), Failure> {
        let mut sound = recording.play()?;
        let mut index = 0;
        while let Some(frame) = sound.next().await {
            self.feed_frame(speaker, &frame, index).await?;
            index += 1;
        }
        let silence = SILENCE_AFTER.as_millis() / FRAME.as_millis();
        for _ in 0..silence {
            self.feed_frame(speaker, &[], index).await?;
            index += 1;
        }
        Ok(())
    }

    /// The frame of this number, when due.
    async fn feed_frame(
        &mut self,
        speaker: SpeakerId,
        samples: &[i16],
        index: usize,
    ) -> Result<(), Failure> {
        if self.pacing == Pacing::Clock {
            sleep_until(self.at).await;
        }
        self.frame(speaker, self.at, samples).await?;
        self.at += FRAME;
        if index.is_multiple_of(FRAMES_PER_LOOK) {
            match self.pacing {
                Pacing::AsFastAsTaken => self.settle().await?,
                Pacing::Clock => self.print().await?,
            }
        }
        Ok(())
    }

    /// Feeds the first 20 ms of `samples`.
    async fn frame(&self, speaker: SpeakerId, at: Instant, samples: &[i16]) -> Result<(), Failure> {
        let frame = Frame::padded(samples, RECEIVED);
        let frame = VoiceFrame { speaker, at: SoundTime(at), frame };
        Ok(self.table.voice.send(VoiceInput::Frame(frame)).await?)
    }

    /// Seats the speaker of an input.
    fn speaker_of(&self, input: &Input) -> Speaker {
        let Input { speaker, as_dm, .. } = input;
        Speaker { id: self.speakers[speaker], name: speaker.clone(), is_dm: *as_dm }
    }

    pub(super) async fn say(&self, speaker: SpeakerId, text: String) -> Result<(), Failure> {
        Ok(self.table.commands.send(Command::Typed { speaker, text }).await?)
    }

    pub(super) async fn join(&mut self, name: &str, is_dm: bool) -> Result<(), Failure> {
        let next = u64::try_from(self.speakers.len()).unwrap_or(u64::MAX);
        let id = *self.speakers.entry(name.to_owned()).or_insert(SpeakerId(next));
        let speaker = Speaker { id, name: name.to_owned(), is_dm };
        Ok(self.table.commands.send(Command::Join(speaker)).await?)
    }

    /// Waits until all inputs are answered, and prints the answers.
    pub(super) async fn settle(&mut self) -> Result<(), Failure> {
        // Text and sound use different queues: all text must be taken before the mark.
        let commands = &self.table.commands;
        drop(commands.reserve_many(commands.max_capacity()).await?);
        let (done, settled) = oneshot::channel();
        self.table.voice.send(VoiceInput::Settle(done)).await?;
        self.print_until(settled).await
    }

    /// Waits until no workflow is running; prints the events meanwhile.
    pub(super) async fn runs_end(&mut self, context: &SlashContext<'_>) -> Result<(), Failure> {
        let idle = context.runs.idle();
        tokio::pin!(idle);
        loop {
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => self.event(&event).await?,
                () = &mut idle => break,
            }
        }
        self.settle().await?;
        if context.runs.service.take_failed() {
            self.last_command = Some(false);
        }
        Ok(())
    }

    /// Waits until no conversation needs a summary, if conversations are saved.
    pub async fn sum_up(&mut self) -> Result<(), Failure> {
        if self.record.is_none() {
            return Ok(());
        }
        let (done, summed_up) = oneshot::channel();
        self.table.commands.send(Command::SumUp(done)).await?;
        self.print_until(summed_up).await
    }

    /// Prints events until `done` is answered.
    async fn print_until(&mut self, mut done: oneshot::Receiver<()>) -> Result<(), Failure> {
        loop {
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => self.event(&event).await?,
                answered = &mut done => break answered?,
            }
        }
        self.print().await
    }

    /// Waits until the table has taken earlier orders, and saves the results.
    pub(super) async fn taken(&mut self) -> Result<(), Failure> {
        let (ask, answer) = oneshot::channel();
        self.table.commands.send(Command::Status(ask)).await?;
        answer.await?;
        self.print().await
    }

    /// Removes the calls of tools that `person` has led to, once the table has taken all orders.
    ///
    /// # Errors
    /// The table is gone, or the log of calls cannot be written.
    pub(super) async fn forget(&mut self, person: Person) -> Result<(), Failure> {
        self.taken().await?;
        if let Some(record) = &mut self.record {
            record.calls.forget(&person)?;
        }
        self.forgotten.push(person);
        Ok(())
    }

    /// Prints the events received so far.
    async fn print(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.events.try_recv() {
            self.event(&event).await?;
        }
        Ok(())
    }

    pub(super) async fn event(&mut self, event: &TableEvent) -> Result<(), Failure> {
        if let TableEvent::Line(line) = event {
            self.lines += 1;
            self.last = Some(line.outcome);
            self.last_command = None;
        }
        if let Some(record) = &mut self.record {
            // Every printed line is recorded.
            record.take(event).await?;
            if let TableEvent::Stands(continuation) = event {
                record.stands(continuation).await?;
            }
        }
        Ok(self.printer.event(event)?)
    }

    /// A recording without speech prints like an utterance that was not understood.
    async fn nothing_said(&mut self, speaker: &str, path: &Path) -> Result<(), Failure> {
        let detail = format!("no speech was found in '{}'", path.display());
        let line = TurnLine::without_speech(self.lines + 1, speaker, detail);
        self.event(&TableEvent::Line(Arc::new(line))).await
    }
}
