//! One utterance: transcribed repeatedly while it is spoken, and as a whole in each pause. An
//! unclear text of a pause is used at once, while a likelier one is searched for the final.
//!
//! Entry function: [`listening`].

use std::{sync::Arc, time::Duration};

use futures::stream::{self, Stream};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::crew::{Answer, Crew, RecognisedText, Sound, Urgency};
use crate::{
    audio::Frame,
    provider::{Error, Kind, SpeechEvent},
};

/// Sound this late is a pause, whatever came before: no packet is that late. The table holds
/// silence back after 120 ms, so that the whole is transcribed from 200 ms of silence on; the text
/// is dropped when speech goes on.
const PAUSE: Duration = Duration::from_millis(80);
/// Like [`PAUSE`], after quiet sound, which only has to stay away until the next frame: the whole
/// is transcribed from 150 ms of silence on.
const QUIET_PAUSE: Duration = Duration::from_millis(30);
/// Frames that must be quiet for [`QUIET_PAUSE`], each at most a tenth as loud as the loudest: five
/// are longer than the closure of a "p" or a "t".
const QUIET_FRAMES: usize = 5;
const QUIET: f32 = 0.1;
/// Shortest time between two partials; also at least as long as the last one took. So a speaker
/// takes at most half a core, and less when many wait.
const EVERY: Duration = Duration::from_millis(400);
/// The pre-roll and 300 ms of speech; less is no word yet.
const FRAMES_AT_LEAST: usize = 25;

/// Transcripts of `audio` by `crew`, until its final or an error.
pub fn listening(
    crew: Arc<Crew>,
    prompt: Arc<str>,
    audio: mpsc::Receiver<Frame>,
) -> impl Stream<Item = Result<SpeechEvent, Error>> {
    let now = Instant::now();
    let listening = Listening {
        crew,
        audio,
        sound: Sound { frames: Vec::new(), prompt, is_sought: false },
        is_closed: false,
        asked: None,
        ahead: None,
        partial: String::new(),
        asked_frames: 0,
        loudest: 0.0,
        quiet: 0,
        came_at: now,
        again_at: now,
    };
    stream::unfold(Some(listening), |listening| async move {
        let mut listening = listening?;
        let event = listening.next().await;
        let goes_on = matches!(event, Ok(SpeechEvent::Partial { .. } | SpeechEvent::Pause { .. }));
        Some((event, goes_on.then_some(listening)))
    })
}

struct Listening {
    crew: Arc<Crew>,
    audio: mpsc::Receiver<Frame>,
    sound: Sound,
    is_closed: bool,
    asked: Option<Asked>,
    /// Text of all sound so far, which becomes the final if no more comes.
    ahead: Option<String>,
    partial: String,
    asked_frames: usize,
    loudest: f32,
    quiet: usize,
    came_at: Instant,
    again_at: Instant,
}

struct Asked {
    answer: Answer,
    urgency: Urgency,
    since: Instant,
}

impl Listening {
    /// The next event. Cancel safe.
    async fn next(&mut self) -> Result<SpeechEvent, Error> {
        loop {
            if self.is_closed {
                if !self.is_asked_for(Urgency::Final)
                    && let Some(text) = self.ahead.take()
                {
                    return Ok(SpeechEvent::Final { text });
                }
                if self.sound.frames.is_empty() {
                    return Ok(SpeechEvent::Final { text: String::new() });
                }
                if !self.is_asked_for(Urgency::Final) {
                    self.ask(Urgency::Final)?;
                }
            }
            let due = self.due();
            tokio::select! {
                biased;
                // No socket is polled here. Sound before the clock, which takes its absence for a
                // pause.
                answered = answer(&mut self.asked), if self.asked.is_some() => {
                    if let Some(told) = self.take_answer(answered)? {
                        return Ok(told);
                    }
                }
                frame = self.audio.recv(), if !self.is_closed => match frame {
                    Some(frame) => self.take_frame(frame),
                    None => self.is_closed = true,
                },
                () = sleep_until(due.map_or(self.came_at, |(at, _)| at)), if due.is_some() => {
                    if let Some((_, urgency)) = due {
                        self.ask(urgency)?;
                    }
                }
            }
        }
    }

    fn is_asked_for(&self, urgency: Urgency) -> bool {
        self.asked.as_ref().is_some_and(|asked| asked.urgency == urgency)
    }

    /// The next task if no sound comes, and its time.
    fn due(&self) -> Option<(Instant, Urgency)> {
        let frames = self.sound.frames.len();
        let is_whole = self.ahead.is_some() || self.is_asked_for(Urgency::Final);
        if self.is_closed || is_whole || frames == 0 {
            return None;
        }
        let is_quiet = self.quiet >= QUIET_FRAMES;
        let pause = self.came_at + if is_quiet { QUIET_PAUSE } else { PAUSE };
        let partial =
            self.asked.is_none() && frames >= FRAMES_AT_LEAST && frames > self.asked_frames;
        if partial && self.again_at < pause {
            Some((self.again_at, Urgency::Partial))
        } else {
            Some((pause, Urgency::Final))
        }
    }

    /// Asks for the text of the sound so far; drops an earlier task.
    fn ask(&mut self, urgency: Urgency) -> Result<(), Error> {
        self.asked_frames = self.sound.frames.len();
        self.asked = None;
        self.sound.is_sought = false;
        let answer = self.crew.ask(self.sound.clone(), urgency)?;
        self.asked = Some(Asked { answer, urgency, since: Instant::now() });
        Ok(())
    }

    /// Asks for a likelier text. If the queue is full, the present one stays.
    fn seek(&mut self) {
        self.sound.is_sought = true;
        let asked = self.crew.ask(self.sound.clone(), Urgency::Final);
        let since = Instant::now();
        self.asked = asked.ok().map(|answer| Asked { answer, urgency: Urgency::Final, since });
    }

    /// Adds 20 ms; the text of a pause is no longer the whole.
    fn take_frame(&mut self, frame: Frame) {
        self.came_at = Instant::now();
        let loud = loudness(&frame);
        self.loudest = self.loudest.max(loud);
        self.quiet = if loud <= QUIET * self.loudest { self.quiet + 1 } else { 0 };
        self.sound.frames.push(frame);
        if self.is_asked_for(Urgency::Final) {
            self.asked = None;
        }
        self.ahead = None;
    }

    /// The event for an answer, if its text is new.
    fn take_answer(
        &mut self,
        answered: Option<Result<RecognisedText, Error>>,
    ) -> Result<Option<SpeechEvent>, Error> {
        let Some(asked) = self.asked.take() else { return Ok(None) };
        let now = Instant::now();
        self.again_at = (asked.since + EVERY).max(now + (now - asked.since));
        if self.ahead.is_some() {
            return Ok(answered.and_then(Result::ok).and_then(|sought| self.take_sought(sought)));
        }
        let RecognisedText { text, is_unclear } = match (answered, asked.urgency) {
            (Some(answered), _) => answered?,
            (None, Urgency::Partial) => return Ok(None),
            (None, Urgency::Final) => {
                let text = "speech recognition failed (speak again; see the log)";
                return Err(Error::new(Kind::Interrupted, text));
            }
        };
        if asked.urgency == Urgency::Final {
            self.ahead = Some(text.clone());
            if is_unclear {
                self.seek();
            }
            if self.is_closed {
                return Ok(None);
            }
            self.partial.clone_from(&text);
            return Ok(Some(SpeechEvent::Pause { text }));
        }
        if text.is_empty() || text == self.partial {
            return Ok(None);
        }
        self.partial.clone_from(&text);
        Ok(Some(SpeechEvent::Partial { text }))
    }

    /// Uses a likelier text unless it is empty.
    fn take_sought(&mut self, sought: RecognisedText) -> Option<SpeechEvent> {
        if sought.text.is_empty() || self.ahead.as_ref() == Some(&sought.text) {
            return None;
        }
        self.ahead = Some(sought.text.clone());
        self.partial.clone_from(&sought.text);
        (!self.is_closed).then_some(SpeechEvent::Pause { text: sought.text })
    }
}

/// Root of the sum of squares.
fn loudness(frame: &Frame) -> f32 {
    frame.samples().iter().map(|it| f32::from(*it).powi(2)).sum::<f32>().sqrt()
}

/// The answer to `asked`; `None`: it will not come.
async fn answer(asked: &mut Option<Asked>) -> Option<Result<RecognisedText, Error>> {
    match asked {
        Some(asked) => (&mut asked.answer).await.ok(),
        None => std::future::pending().await,
    }
}
