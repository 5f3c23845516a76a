//! The fast model of a sentence cascade: one opening sentence, spoken at once.
//!
//! Entry type: [`Opener`]. It calls no tools, and its failure is no failure of the turn. In turns
//! that may roll it must not speak numbers, because results are not known yet.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    Cause, NpcModel, Turn,
    asking::Answering,
    conversation::Window,
    locked::locked,
    opened::{FirstSentence, Opened, State, order},
    report::plain,
    tool_loop::Say,
    trouble::{IN_A_ROW, REST, Trouble, Worth},
};
use crate::{
    domain::{Message, Npc, ToolChoice, redact},
    logic::{
        own_lines::OwnLines,
        prompt::{NOTHING_MORE, OPEN},
        sentence::{SentenceOptions, SentenceSplitter, is_clause},
        speakable::SpeakableFilter,
        splice::{Splicer, closed, has_rolling, is_small_talk, numbers},
    },
    provider::{Attempts, ChatEvent, ChatRequest, Error, Kind},
    traces::{Operation, names},
};

/// Longest opening sentence, in tokens.
const MAX_TOKENS: u32 = 40;
/// Longest in bytes, for servers that ignore tokens.
const LONGEST: usize = 1_000;
/// Longest wait for the mark of a whole answer after the sentence.
const MARK: Duration = Duration::from_millis(100);
/// Longest wait for the sentence; then the strong model answers alone.
const LATEST: Duration = Duration::from_millis(800);

#[derive(Clone)]
pub struct Opener {
    model: NpcModel,
    trouble: Arc<Mutex<Trouble>>,
    /// Notice of a rest for the game master.
    news: Arc<Mutex<Option<String>>>,
}

impl Opener {
    pub fn new(model: NpcModel) -> Self {
        let model = NpcModel { max_tokens: MAX_TOKENS, models: model.models.first(), ..model };
        Self { model, trouble: Arc::default(), news: Arc::default() }
    }

    pub const fn model(&self) -> &NpcModel {
        &self.model
    }

    pub fn name(&self) -> String {
        self.model.models.iter().map(|it| it.name().to_string()).collect()
    }

    /// Speaks the opening sentence, if one arrives in time and before `stop`. Read the returned
    /// answer to its end, so that its consumption is known.
    pub async fn open(
        &self,
        turn: &Turn,
        message: Message,
        out: &mpsc::Sender<Say>,
        stop: &CancellationToken,
    ) -> (Opened, Option<Answering>) {
        let npc = &self.model.npc;
        let has_tools = !turn.tools.specs.is_empty();
        let is_short = npc.max_sentences <= 1 && !has_tools
            || is_small_talk(&turn.facts.utterance, &names(npc));
        let is_roll = may_roll(turn) && has_rolling(&turn.facts.utterance);
        let needs_call = has_tools && (turn.facts.dice.is_some() || is_roll || demands_call(npc));
        let is_alone = is_short && !needs_call;
        // A single sentence that needs a call is for the model with tools.
        let is_for_strong = npc.max_sentences <= 1 && !is_alone;
        let rests = locked(&self.trouble).rests().is_some();
        if !matches!(turn.cause, Cause::Utterance) || is_for_strong || rests {
            return (Opened::default(), None);
        }
        let mut sentence = Sentence {
            plain: plain(npc),
            holds_numbers: may_roll(turn) && !is_alone,
            out,
            text: String::new(),
            by: None,
            first_text_at: None,
            is_held: false,
            is_over: false,
            may_be_whole: !needs_call,
            is_marked: false,
        };
        // Spoken words stay in the answer, even if the turn ends first.
        let asked = timeout(LATEST, self.ask(turn, message, &mut sentence));
        let Some(asked) = stop.run_until_cancelled(asked).await else {
            return (sentence.opened(turn, is_alone), None);
        };
        let late = |_| Err(Error::new(Kind::Timeout, "the opening sentence is late"));
        let rest = asked.unwrap_or_else(late);
        match &rest {
            Ok(_) => locked(&self.trouble).is_over(),
            // Words that arrived in time were worth the wait.
            Err(_) if !sentence.text.is_empty() && !sentence.is_held => {
                locked(&self.trouble).is_over();
            }
            Err(error) => self.failed(error),
        }
        (sentence.opened(turn, is_alone), rest.ok())
    }

    /// Rests the model after several failures in a row, because each delays the table by up to
    /// [`LATEST`].
    fn failed(&self, error: &Error) {
        let npc = &self.model.npc.name;
        tracing::warn!(npc, %error, "no opening sentence");
        let worth = locked(&self.trouble).had(error.kind() != Kind::OverBudget);
        if worth == Some(Worth::Rest) {
            let (name, minutes, most) = (self.name(), REST.as_secs() / 60, LATEST.as_millis());
            *locked(&self.news) = Some(format!(
                "the opener of {npc}, '{name}', has failed {IN_A_ROW} times in a row: for {minutes} \
                 minutes the strong model answers alone (name a model in 'cascade' that has its first \
                 sentence within {most} ms; last: {error})"
            ));
        }
    }

    pub fn news(&self) -> impl Iterator<Item = String> + use<> {
        let own = locked(&self.news).take();
        self.model.models.news().into_iter().chain(own)
    }

    fn request(&self, turn: &Turn, message: Message) -> (ChatRequest, u64) {
        let mut prompt = turn.conversation.prompt(message);
        order(&mut prompt.turn, OPEN);
        // Its window may be smaller than that of the other model.
        prompt.window = Window::of(&self.model, "");
        let npc = &self.model.npc.name;
        let (messages, size) = prompt.request(npc, &[]);
        turn.record_prompt(|| prompt.parts(npc, &messages));
        let request = ChatRequest {
            messages,
            tools: Arc::from([]),
            tool_choice: ToolChoice::None,
            max_tokens: MAX_TOKENS,
            facts: Arc::clone(&turn.facts),
            attempts: Attempts::default(),
        };
        (request, size.total())
    }

    /// Requests and reads `sentence` to its end; returns the unread rest. Fails if the model or the
    /// budget does.
    async fn ask(
        &self,
        turn: &Turn,
        message: Message,
        sentence: &mut Sentence<'_>,
    ) -> Result<Answering, Error> {
        let npc = &self.model.npc;
        let (request, bytes) = self.request(turn, message);
        let span = turn.trace.begin(Operation::Chat, || self.name());
        let asked = self.model.ask(request, bytes).await;
        let mut answering = asked.inspect_err(|_| span.failed("model_error"))?;
        span.of(answering.name());
        sentence.by = Some(Arc::clone(answering.name()));
        let options =
            SentenceOptions { language: npc.language.clone(), ..SentenceOptions::default() };
        let mut splitter = SentenceSplitter::new(&options);
        let mut own = OwnLines::new(&turn.labels);
        let mut behind = String::new();
        while let Some(event) = sentence.next_of(&mut answering).await {
            match event {
                Ok(ChatEvent::Text(delta)) => {
                    span.reached(names::FIRST_TEXT);
                    sentence.first_text_at.get_or_insert_with(Instant::now);
                    let delta = own.push(&delta);
                    for part in splitter.push(&delta) {
                        sentence.take_or(part, &mut behind).await;
                    }
                    let after = || [behind.as_str(), splitter.left(), own.held()].concat();
                    if sentence.is_over && sentence.reads_mark(&after()) {
                        return Ok(answering);
                    }
                    if own.is_over() {
                        break;
                    }
                    if splitter.left().len() > LONGEST {
                        return Ok(answering);
                    }
                }
                Ok(ChatEvent::Usage(_) | ChatEvent::Hidden(_) | ChatEvent::ToolCall(_)) => {}
                // Half a sentence is not spoken.
                Ok(ChatEvent::CutOff(_)) => return Ok(answering),
                Ok(ChatEvent::Done) => break,
                Err(error) => {
                    answering.failed(error.kind());
                    return Err(error);
                }
            }
        }
        for part in splitter.push(&own.finish()).into_iter().chain(splitter.finish()) {
            sentence.take_or(closed(&part), &mut behind).await;
        }
        sentence.reads_mark(&behind);
        Ok(answering)
    }
}

impl Answering {
    /// Reads the rest of an answer and books it; in full if that takes too long. Cancel safe.
    pub async fn read_on(mut self) {
        let rest = async {
            while let Some(Ok(event)) = self.next().await {
                if matches!(event, ChatEvent::Done) {
                    break;
                }
            }
        };
        if timeout(LATEST, rest).await.is_ok() {
            self.settle();
        }
    }
}

struct Sentence<'o> {
    plain: SpeakableFilter,
    /// Hold the sentence if it contains a number.
    holds_numbers: bool,
    out: &'o mpsc::Sender<Say>,
    /// Words without mark-up, spoken or held.
    text: String,
    by: Option<Arc<str>>,
    first_text_at: Option<Instant>,
    is_held: bool,
    is_over: bool,
    may_be_whole: bool,
    is_marked: bool,
}

impl Sentence<'_> {
    /// Next event of `answering`. After the sentence only its mark is of interest, which follows at
    /// once or never (`None`).
    async fn next_of(&self, answering: &mut Answering) -> Option<Result<ChatEvent, Error>> {
        match self.is_over {
            true => timeout(MARK, answering.next()).await.unwrap_or_default(),
            false => answering.next().await,
        }
    }

    /// Takes the next part; text after the sentence goes to `behind`.
    async fn take_or(&mut self, part: String, behind: &mut String) {
        if self.is_over {
            behind.push_str(&part);
            return;
        }
        let (words, mark) = match part.split_once(NOTHING_MORE) {
            Some((words, _)) => (closed(words), NOTHING_MORE),
            None => (part, ""),
        };
        behind.push_str(mark);
        let bare = self.plain.next(&words);
        let is_clause = is_clause(&bare);
        if bare.is_empty() {
            // A direction alone on its line: the sentence follows.
            self.is_over = !mark.is_empty();
            return;
        }
        self.is_over = !is_clause;
        let is_secret = redact::holds_credential(&words) || redact::holds_credential(&bare);
        if is_secret || bare.len() > LONGEST {
            self.is_over = true;
            return;
        }
        // A label or direction would hide a repetition from the other model.
        let bare = if is_clause { bare } else { closed(&bare) };
        if self.holds_numbers && !numbers(&bare).is_empty() {
            // After a spoken clause, the rest is left to the other model.
            self.is_over = true;
            if self.text.is_empty() && !is_clause {
                self.is_held = true;
                self.text = bare;
            }
            return;
        }
        if !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(&bare);
        // A failed voice reports itself.
        let _ = self.out.send(Say::Sentence(bare)).await;
    }

    /// Looks for the mark of a whole answer in `after`; true once decided.
    fn reads_mark(&mut self, after: &str) -> bool {
        let after = after.trim_start();
        self.is_marked = after.starts_with(NOTHING_MORE);
        self.is_marked || !NOTHING_MORE.starts_with(after)
    }

    /// The opening of `turn`; `is_alone`: no other model answers.
    fn opened(self, turn: &Turn, is_alone: bool) -> Opened {
        if self.text.is_empty() {
            return Opened::default();
        }
        let is_whole = self.is_over
            && closed(&self.text) == self.text
            && (self.is_marked && self.may_be_whole || is_alone);
        let facts = &turn.facts;
        let opening = FirstSentence {
            splicer: Splicer::new(&self.text, &facts.utterance, &facts.speaker),
            utterance: facts.utterance.clone(),
            text: self.text,
        };
        let state = match (self.is_held, is_whole) {
            (true, _) => State::Held(opening),
            (false, true) => State::Whole,
            (false, false) => State::Said(opening),
        };
        Opened { by: self.by, first_text_at: self.first_text_at, state }
    }
}

fn names(npc: &Npc) -> Vec<&str> {
    std::iter::once(&npc.name).chain(&npc.aliases).map(String::as_str).collect()
}

/// True if the policy of `npc` demands a call in each turn.
const fn demands_call(npc: &Npc) -> bool {
    matches!(npc.policy.tool_choice, ToolChoice::Required | ToolChoice::Named(_))
}

fn may_roll(turn: &Turn) -> bool {
    let rolls = |identity: &str| {
        let mut words = identity.split(|c: char| !c.is_alphanumeric());
        words.any(|word| {
            let word = word.to_lowercase();
            word.starts_with("roll") || word.starts_with("dice")
        })
    };
    turn.facts.dice.is_some() || turn.tools.iter().any(|it| rolls(&it.tool.identity))
}
