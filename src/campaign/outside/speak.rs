//! An NPC speaks or answers for a program outside. Entry methods: [`Outside::speak`],
//! [`Outside::ask`].

use std::sync::Arc;

use futures::StreamExt;

use super::{
    Outside,
    error::{OutsideError, TEXT_MAX},
    sound::{SAMPLES_MAX, TableSound, Utterance48},
    way_to_table,
};
use crate::{
    campaign::{
        AccountFor, TableHere,
        ordered::{LineError, OrderedLine, failure, framed_question, is_heard, silenced, unheard},
    },
    domain::{Npc, Owner, redact::without_credentials, visible},
    logic::{
        cast::find_npc,
        sentence::{SentenceOptions, SentenceSplitter},
        words::fold,
    },
    provider::{Error, Kind},
    session::{Outcome, Seated, Status, TurnLine},
};

/// Names of an NPC that speaks by default.
const NARRATORS: [&str; 3] = ["narrator", "erzähler", "erzählerin"];

const SPOKEN: &str = "spoken";
const BEGUN: &str = "begun";
const INTERRUPTED: &str = "interrupted";
const X_CARD: &str = "x_card";
const NOT_SAID: &str = "not_said";

/// The end of an order: the words that were heard, or why none were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutsideSpoken {
    pub npc: String,
    /// The text as far as it was played.
    pub heard: String,
    /// `spoken`, `begun`, `interrupted`, `x_card` or `not_said`.
    pub how: &'static str,
    pub why: Option<String>,
    /// `None`: it was played at the table.
    pub sound: Option<Utterance48>,
}

/// Words that an NPC says for a program.
#[derive(Clone, Copy, Debug)]
pub struct WantedLine<'a> {
    pub owner: Owner,
    /// `None`: the newest.
    pub table: Option<&'a str>,
    /// `None`: the narrator, else the first who is present.
    pub npc: Option<&'a str>,
    pub text: &'a str,
}

/// The NPC that an order is for, at its table.
struct Meant {
    /// X-cards used so far.
    halts: u64,
    seated: Seated,
    status: Status,
}

/// An order to an NPC.
#[derive(Clone, Copy)]
enum Order<'a> {
    Say(&'a str),
    Ask(&'a str),
}

impl Outside {
    /// An NPC (by default the narrator, else the first who is present) says `text` verbatim. With a
    /// table it is said there, and the future resolves once it was heard; dropping it silences the
    /// NPC. Without one it is synthesised, paid from outside sessions, and returned as sound.
    pub async fn speak(&self, wanted: WantedLine<'_>) -> Result<OutsideSpoken, OutsideError> {
        let WantedLine { owner, table, npc, text } = wanted;
        let text = worded(text)?;
        match self.table(owner, table)? {
            Some(here) => self.at_table(&here, npc, Order::Say(text)).await,
            None => self.synthesised(owner, npc, text).await,
        }
    }

    /// Like [`Self::speak`] at a table, but resolves once the line is ordered, which then goes on:
    /// until it was heard, or silenced by the end of `until` or by [`Self::close`].
    pub async fn begin_speaking(
        &self,
        wanted: WantedLine<'_>,
        until: impl Future<Output = ()> + Send + 'static,
    ) -> Result<OutsideSpoken, OutsideError> {
        let WantedLine { owner, table, npc, text } = wanted;
        let text = worded(text)?.to_owned();
        let here = self.table(owner, table)?;
        let here = here.ok_or(OutsideError::NoTableToGoOn(way_to_table(owner)))?;
        let place = self.place()?;
        let Meant { halts, seated, status } = Self::meant(&here, npc).await?;
        let (name, sound) = (seated.npc.name.clone(), self.sound_of(&here.link.session));
        if let Some(why) = silenced(&status, &seated) {
            return spoken(name, Err(why), sound.as_ref());
        }
        let (npc, speaker) = (name.clone(), self.speaker);
        place.go_on(async move {
            let ordered = OrderedLine { link: &here.link, halts, seated, speaker };
            let line = tokio::select! {
                line = ordered.say(&text, true) => line,
                () = until => return,
            };
            // Takes its sound, which is not fetched.
            _ = spoken(name, line, sound.as_ref());
        });
        Ok(OutsideSpoken { npc, heard: String::new(), how: BEGUN, why: None, sound: None })
    }

    /// A sample of this NPC's voice, which no table hears and no transcript has.
    pub async fn sample(
        &self,
        owner: Owner,
        npc: &str,
        text: &str,
    ) -> Result<OutsideSpoken, OutsideError> {
        self.synthesised(owner, Some(npc), worded(text)?).await
    }

    /// Asks an NPC in writing; it answers at the table, and takes the text for data from outside.
    /// Dropping the future takes the question back.
    pub async fn ask(
        &self,
        owner: Owner,
        table: Option<&str>,
        npc: &str,
        text: &str,
    ) -> Result<OutsideSpoken, OutsideError> {
        let here = self.running(owner, table)?;
        self.at_table(&here, Some(npc), Order::Ask(worded(text)?)).await
    }

    async fn at_table(
        &self,
        here: &TableHere,
        npc: Option<&str>,
        order: Order<'_>,
    ) -> Result<OutsideSpoken, OutsideError> {
        let link = &here.link;
        let Meant { halts, seated, status } = Self::meant(here, npc).await?;
        let (name, sound) = (seated.npc.name.clone(), self.sound_of(&link.session));
        if let Some(way_out) = status.card {
            return spoken(name, Err(LineError::Carded(way_out)), sound.as_ref());
        }
        let ordered = OrderedLine { link, halts, seated, speaker: self.speaker };
        let line = match order {
            // A table remembers that the words came from outside.
            Order::Say(text) => ordered.say(text, true).await,
            Order::Ask(text) => ordered.ask(&framed_question(text)).await,
        };
        spoken(name, line, sound.as_ref())
    }

    /// The NPC called `npc`; without a name the narrator, else the first who is present.
    async fn meant(here: &TableHere, npc: Option<&str>) -> Result<Meant, OutsideError> {
        let (link, mut halts) = (&here.link, here.link.halts.count());
        let status = match link.status(halts).await {
            // An X-card was used meanwhile.
            Err(_) if link.halts.count() != halts => {
                halts = link.halts.count();
                link.status(halts).await
            }
            status => status,
        };
        let status = status.map_err(|_| OutsideError::Ended)?;
        let seated = match npc {
            Some(name) => link.seat(name)?,
            None => first_present(&link.cast(), &status)?,
        };
        Ok(Meant { halts, seated, status })
    }

    /// Speaks without a table.
    async fn synthesised(
        &self,
        owner: Owner,
        npc: Option<&str>,
        text: &str,
    ) -> Result<OutsideSpoken, OutsideError> {
        // It is never closed.
        let _place = self.syntheses.acquire().await;
        let settings = self.parts.settings.load_full();
        let npc = chosen(&settings.cast, npc)?;
        let scope = self.scope(owner, None).await?;
        let budget = self.parts.accounts.open(&scope, AccountFor::Outside, &settings.budget);
        let budget = budget.await?;
        let cannot = |why: Error| {
            let npc = npc.name.clone();
            tracing::warn!(npc, %why, "an NPC could not speak for a program outside");
            match why.kind() {
                Kind::OverBudget => OutsideError::Spent(npc),
                _ => OutsideError::Voice(npc),
            }
        };
        let voice = self.parts.factory.voice(npc, budget).map_err(cannot)?;
        let (mut filter, mut written) = (voice.spoken_filter(), voice.written_filter());
        let (mut samples, mut heard) = (Vec::new(), Vec::new());
        for sentence in sentences(npc, &without_credentials(text)) {
            let (words, shown) = (filter.next(&sentence), written.next(&sentence));
            if words.is_empty() {
                continue;
            }
            let mut made = voice.synthesise(&words);
            while let Some(frames) = made.next().await {
                for frame in frames.map_err(cannot)? {
                    samples.extend_from_slice(frame.samples());
                }
                if samples.len() > SAMPLES_MAX {
                    return Err(OutsideError::LongSound);
                }
            }
            heard.push(shown);
        }
        if samples.is_empty() {
            return Err(OutsideError::NoText);
        }
        Ok(OutsideSpoken {
            npc: npc.name.clone(),
            heard: heard.join(" "),
            how: SPOKEN,
            why: None,
            sound: Some(Utterance48 { samples }),
        })
    }
}

/// Fails on a text that is empty or too long.
fn worded(text: &str) -> Result<&str, OutsideError> {
    match text.trim() {
        text if visible(text).trim().is_empty() => Err(OutsideError::NoText),
        text if text.len() > TEXT_MAX => Err(OutsideError::LongText(text.len())),
        text => Ok(text),
    }
}

fn sentences(npc: &Npc, text: &str) -> Vec<String> {
    let options = SentenceOptions { language: npc.language.clone(), ..SentenceOptions::default() };
    let mut splitter = SentenceSplitter::new(&options);
    let mut sentences = splitter.push(text);
    sentences.extend(splitter.finish());
    sentences
}

fn is_narrator(npc: &Npc) -> bool {
    let mut names = std::iter::once(&npc.name).chain(&npc.aliases);
    names.any(|name| NARRATORS.iter().any(|narrator| fold(narrator) == fold(name)))
}

/// The NPC of this name; without one the narrator, else the first.
fn chosen<'n>(cast: &'n [Arc<Npc>], name: Option<&str>) -> Result<&'n Arc<Npc>, OutsideError> {
    let found = match name {
        Some(name) => cast.get(find_npc(cast, name)?.0),
        None => cast.iter().find(|npc| is_narrator(npc)).or(cast.first()),
    };
    found.ok_or(OutsideError::NobodyPresent)
}

/// The narrator, else the first NPC that is present.
fn first_present(cast: &[Seated], status: &Status) -> Result<Seated, OutsideError> {
    let is_here = |it: &&Seated| status.of(it.seat).is_some_and(|seat| seat.present);
    let narrator = cast.iter().filter(is_here).find(|it| is_narrator(&it.npc));
    let found = narrator.or_else(|| cast.iter().find(is_here));
    found.cloned().ok_or(OutsideError::NobodyPresent)
}

/// The end of an order, with its sound where the table returns it.
fn spoken(
    npc: String,
    line: Result<Arc<TurnLine>, LineError>,
    sound: Option<&TableSound>,
) -> Result<OutsideSpoken, OutsideError> {
    let silent = |npc, how, why: String| {
        Ok(OutsideSpoken { npc, heard: String::new(), how, why: Some(why), sound: None })
    };
    match line {
        Ok(line) if is_heard(&line) => {
            let is_whole = matches!(line.outcome, Outcome::Spoken | Outcome::Granted);
            let how = if is_whole { SPOKEN } else { INTERRUPTED };
            let sound = sound.zip(line.circumstances.turn).and_then(|(it, turn)| it.take(turn));
            let why = failure(&line).map(str::to_owned).or_else(|| line.detail.clone());
            let heard = line.reply.clone();
            Ok(OutsideSpoken { npc, heard, how, why, sound })
        }
        Ok(line) => silent(npc, NOT_SAID, unheard(&line)),
        Err(why @ (LineError::XCard | LineError::Carded(_))) => {
            if let Some(sound) = sound {
                sound.clear();
            }
            silent(npc, X_CARD, why.to_string())
        }
        Err(LineError::Muted(_)) => {
            let why = format!("{npc} is muted (only a game master unmutes NPCs)");
            silent(npc, NOT_SAID, why)
        }
        Err(why @ (LineError::Left | LineError::Late)) => silent(npc, NOT_SAID, why.to_string()),
        Err(LineError::Empty) => Err(OutsideError::NoText),
        Err(LineError::TooLong) => Err(OutsideError::LongText(TEXT_MAX)),
        Err(LineError::Gone(_)) => Err(OutsideError::Ended),
    }
}
