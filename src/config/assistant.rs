//! The game master's built-in assistant, and any assistant's scripted answers.

use std::sync::Arc;

use serde_json::json;

use super::cast::Cast;
use crate::domain::{
    AddressMode, EngineKind, LineTool, LineWhen, Npc, Policy, S2s, ScriptedLine, Tier, Voice,
};

/// Names of the built-in one; the first that no NPC has.
const NAMES: [&str; 2] = ["Assistant", "The Game Master's Assistant"];
const TOOLS: [&str; 3] = ["rules-lookup.*", "dice-roller.*", "memory.*"];
/// Its further tools with a search service.
const WEB: &str = "web-search.*";
const SEARCH: &str = "rules-lookup.search_rules";

/// The assistant of `cast`, else the built-in one. Looks up rules when its own lines have no
/// answer.
pub fn assistant(cast: &mut Cast, language: &str, policy: &Policy, searches: bool) -> Npc {
    let own = cast.assistant.take();
    scripted(own.unwrap_or_else(|| {
        let mut assistant = built_in(&cast.npcs, language, policy);
        assistant.tools.extend(searches.then(|| WEB.to_owned()));
        assistant
    }))
}

/// The built-in assistant, with a name that no NPC of `cast` has.
fn built_in(cast: &[Npc], language: &str, policy: &Policy) -> Npc {
    let taken = |name: &&str| cast.iter().any(|npc| npc.name.eq_ignore_ascii_case(name));
    let name = NAMES.into_iter().find(|name| !taken(name)).unwrap_or(NAMES[1]);
    Npc {
        name: name.to_owned(),
        aliases: Vec::new(),
        pronunciation: Vec::new(),
        personality: String::new(),
        behavior_rules: Vec::new(),
        secret_knowledge: Vec::new(),
        knowledge_scope: Vec::new(),
        voice: Voice::as_is("", ""),
        llm: None,
        cascade: None,
        language: language.to_owned(),
        max_sentences: u8::MAX,
        engine: EngineKind::Cascaded,
        s2s: S2s::default(),
        budget_tier: Tier::Deep,
        tools: TOOLS.map(str::to_owned).to_vec(),
        address: AddressMode::NameOnly,
        lines: Arc::default(),
        fillers: Vec::new(),
        policy: policy.clone(),
    }
}

/// Makes the scripted brain look up anything its own lines do not answer.
fn scripted(mut assistant: Npc) -> Npc {
    // It always answers in writing.
    assistant.engine = EngineKind::Cascaded;
    let line = |when: Option<LineWhen>, say: &str| ScriptedLine {
        when,
        language: None,
        say: vec![say.to_owned()],
        otherwise: Vec::new(),
        tool: None,
        once: false,
        weight: 1,
    };
    let search = LineTool { name: SEARCH.to_owned(), arguments: json!({"query": "{utterance}"}) };
    // One letter matches everything, with less weight than any line of its own.
    let mut lines = assistant.lines.to_vec();
    lines.push(ScriptedLine {
        tool: Some(search),
        ..line(Some(LineWhen::Pattern("^.".to_owned())), FOUND)
    });
    if !lines.iter().any(|line| line.when.is_none()) {
        lines.push(line(None, NOTHING));
    }
    assistant.lines = lines.into();
    assistant
}

/// Answer after a look-up.
const FOUND: &str = "I am scripted and only look things up. {result.results.0.name}: \
                     {result.results.0.text}";
const NOTHING: &str = "I am scripted and only look things up, and found nothing (name a rule, a \
                       spell or a condition, or set providers.llm to a model).";
