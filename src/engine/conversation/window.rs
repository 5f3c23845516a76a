//! The context window of an NPC's models, and what they read in one turn.
//!
//! Entry types: [`Window`], shared by everything of one NPC; [`Excerpt`] of the conversation; and
//! [`Prompt`], which replaces the oldest exchanges by an extract if they do not fit.

use std::sync::{Arc, Mutex};

use super::{exchanges::exchanges, summary::SummaryTask};
use crate::{
    domain::{Message, ToolSpec},
    engine::{
        NpcModel,
        locked::locked,
        npc_model::{bytes, tool_bytes},
    },
    logic::{
        prompt::{self, PromptPart},
        window::Gauge,
    },
    provider::Usage,
};

/// Percent of the window summarised at once: the summary must fit beside them.
const SUMMED_UP: u64 = 50;
/// Percent below which a summary is not worthwhile.
const WORTH_IT: u64 = 6;
/// Percent that a turn's calls may use.
const CALLS: u64 = 50;
/// Percent that an extract may use.
const EXTRACT: u64 = 6;

/// The smallest window of an NPC's models; none for models without prompts.
#[derive(Clone)]
pub struct Window(Option<Arc<Mutex<State>>>);

struct State {
    gauge: Gauge,
    /// Bytes of the last request besides the conversation: system prompt, tools, turn.
    beside: u64,
    warning: Option<String>,
    told: Told,
}

#[derive(Default)]
struct Told {
    shortened: bool,
    /// The server reads only part of them.
    cut: bool,
}

impl Window {
    /// Its first message is `system`.
    pub fn of(model: &NpcModel, system: &str) -> Self {
        let state = |window| State {
            gauge: Gauge::new(window, model.max_tokens.saturating_add(model.models.thinks())),
            beside: u64::try_from(system.len()).unwrap_or(u64::MAX),
            warning: None,
            told: Told::default(),
        };
        Self(model.models.window().map(|window| Arc::new(Mutex::new(state(window)))))
    }

    pub const fn is_known(&self) -> bool {
        self.0.is_some()
    }

    /// Notes the service's count of a request of this size.
    pub fn counted(&self, npc: &str, size: Size, usage: Usage) {
        self.with(|state| {
            let expected = state.gauge.tokens(size.total());
            // Some services omit cached tokens from their input count.
            let whole = usage.input_tokens.saturating_add(usage.cached_tokens);
            let is_whole = state.gauge.counted(size.total(), usage.input_tokens)
                || state.gauge.counted(size.total(), whole);
            if !is_whole && !std::mem::replace(&mut state.told.cut, true) {
                state.warning = Some(format!(
                    "the model of {npc} has read {whole} tokens of about {expected}: its server \
                     drops what does not fit (set context_window to the server's size, or raise \
                     that size)"
                ));
            }
        });
    }

    /// True if the calls in `messages` leave room for anything else.
    pub fn has_room_beside(&self, messages: &[Message]) -> bool {
        let calls = messages.iter().filter_map(|message| match message {
            Message::Assistant { calls, .. } => Some(calls),
            _ => None,
        });
        let size: usize = calls.flatten().map(|call| call.arguments.len()).sum();
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        self.with(|state| size <= state.gauge.bytes(CALLS)).unwrap_or(true)
    }

    pub fn warning(&self) -> Option<String> {
        self.with(|state| state.warning.take()).flatten()
    }

    /// The older half of a conversation, if the next request would fill the window.
    pub fn task(&self, talk: &[Message]) -> Option<SummaryTask> {
        self.with(|state| {
            let gauge = &state.gauge;
            if !gauge.is_filling(state.beside + bytes(talk)) {
                return None;
            }
            let oldest = oldest(talk, gauge.bytes(SUMMED_UP));
            let new = oldest.iter().filter(|it| !matches!(it, Message::Summary { .. }));
            let new: u64 = new.map(|it| bytes(std::slice::from_ref(it))).sum();
            (new >= gauge.bytes(WORTH_IT))
                .then(|| SummaryTask { of: oldest.to_vec(), longest: gauge.summary() })
        })
        .flatten()
    }

    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> Option<T> {
        let state = self.0.as_ref()?;
        Some(act(&mut locked(state)))
    }
}

pub struct Prompt {
    /// Stable prefix: the NPC's description.
    pub system: Message,
    pub talk: Arc<[Message]>,
    /// The turn's own message, then calls and results.
    pub turn: Vec<Message>,
    pub window: Window,
}

#[derive(Clone, Copy, Debug)]
pub struct Size {
    talk: u64,
    beside: u64,
}

impl Size {
    pub const fn total(self) -> u64 {
        self.talk.saturating_add(self.beside)
    }
}

impl Prompt {
    /// Messages of one request with `tools`, and their size.
    pub fn request(&self, npc: &str, tools: &[ToolSpec]) -> (Vec<Message>, Size) {
        let beside = bytes(std::slice::from_ref(&self.system))
            + bytes(&self.turn)
            + tools.iter().map(tool_bytes).sum::<u64>();
        let size = Size { talk: bytes(&self.talk), beside };
        let fitted = self.window.with(|state| {
            if self.is_first() {
                state.beside = beside;
            }
            if self.talk.is_empty() || !state.gauge.is_full(size.total()) {
                return None;
            }
            let percent = state.gauge.percent(size.total());
            tracing::debug!(npc, percent, "request shortened to the model's window");
            if !std::mem::replace(&mut state.told.shortened, true) {
                state.warning = Some(format!(
                    "the conversation with {npc} no longer fits: its model reads an extract of the \
                     oldest part (raise context_window, if the server allows it)"
                ));
            }
            Some(shortened(&state.gauge, npc, &self.talk, beside))
        });
        match fitted.flatten() {
            None => (self.messages(None, &self.talk), size),
            Some((extract, rest)) => {
                let talk = bytes(std::slice::from_ref(&extract)) + bytes(rest);
                (self.messages(Some(extract), rest), Size { talk, beside })
            }
        }
    }

    /// Parts of a `request` made by [`Self::request`].
    pub fn parts(&self, npc: &str, request: &[Message]) -> Vec<PromptPart> {
        let system = match &self.system {
            Message::System(text) => text.as_str(),
            _ => "",
        };
        let talk = request.get(1..request.len().saturating_sub(self.turn.len()));
        prompt::parts(npc, system, talk.unwrap_or_default(), &self.turn)
    }

    /// True while the turn consists of its own message, and perhaps the beginning of an answer.
    fn is_first(&self) -> bool {
        match self.turn.as_slice() {
            [_] => true,
            [_, Message::Assistant { calls, .. }] => calls.is_empty(),
            _ => false,
        }
    }

    fn messages(&self, extract: Option<Message>, talk: &[Message]) -> Vec<Message> {
        let before = std::iter::once(self.system.clone()).chain(extract);
        before.chain(talk.iter().cloned()).chain(self.turn.iter().cloned()).collect()
    }
}

/// An extract of the oldest exchanges, and the rest, to fit beside `beside` bytes.
fn shortened<'m>(
    gauge: &Gauge,
    npc: &str,
    talk: &'m [Message],
    beside: u64,
) -> (Message, &'m [Message]) {
    let most = gauge.bytes(EXTRACT);
    let summary = talk.iter().take_while(|it| matches!(it, Message::Summary { .. })).count();
    let summary = bytes(talk.get(..summary).unwrap_or_default());
    let fits = |at: &usize| {
        let rest = talk.get(*at..).unwrap_or_default();
        !gauge.is_filling(beside + summary + most + bytes(rest))
    };
    let at = exchanges(talk).find(fits).unwrap_or(talk.len());
    let (old, rest) = talk.split_at(at);
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let text = prompt::extract(npc, old, most);
    let outside = old.iter().any(Message::is_from_outside);
    let gated = old.iter().any(Message::is_gated);
    let (speakers, people) = (Vec::new(), Vec::new());
    (Message::Summary { speakers, people, text, outside, gated }, rest)
}

/// The older half of a conversation, at most `most` bytes unless the first exchange is larger:
/// whole exchanges, and never the last.
fn oldest(talk: &[Message], most: u64) -> &[Message] {
    let most = most.min(bytes(talk) / 2);
    let upto = |at: usize| talk.get(..at).unwrap_or_default();
    let mut at = 0;
    for next in exchanges(talk) {
        if at > 0 && bytes(upto(next)) > most {
            break;
        }
        at = next;
    }
    upto(at)
}

/// One turn's copy of its NPC's conversation.
pub struct Excerpt {
    /// System prompt; equal in every turn, so that providers can cache it.
    pub system: String,
    /// Utterances and answers, oldest first.
    pub talk: Arc<[Message]>,
    pub side_lines: Vec<prompt::SideLine>,
    /// Categories of tools called or named in recent turns, without repetition.
    pub topics: Vec<Arc<str>>,
    pub retracted: u64,
    pub window: Window,
    /// True if it contains words of outsiders.
    pub outside: bool,
    /// True if it contains text that is not public.
    pub secrets: bool,
}

impl Excerpt {
    /// For a question of the game master without a conversation. `outside`: `system` contains words
    /// of outsiders. Question and memories may be secret.
    pub fn of_game_master(system: String, window: Window, outside: bool) -> Self {
        let (side_lines, topics) = (Vec::new(), Vec::new());
        let talk = Arc::from([]);
        Self { system, talk, side_lines, topics, retracted: 0, window, outside, secrets: true }
    }

    pub fn prompt(&self, message: Message) -> Prompt {
        Prompt {
            system: Message::System(self.system.clone()),
            talk: Arc::clone(&self.talk),
            turn: vec![message],
            window: self.window.clone(),
        }
    }
}
