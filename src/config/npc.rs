//! One NPC.

use super::{
    engine::{self, Engines},
    keys, line,
    reading::Notes,
    tools, voice, whitelist,
};
use crate::{
    domain::{AddressMode, CascadeModels, EngineKind, Npc, Policy, Pronunciation, Tier, Voice},
    import::campaign::check_respelling,
    logic::sentence::{SentenceOptions, SentenceSplitter, is_clause, sentences_at_most},
    provider::{EntryList, ModelEntry, VoiceList},
    yaml::{Fields, Node, Problems, Value, nearest, quoted},
};

/// Words that do not distinguish names.
const INDISTINCT: &[&str] = &[
    "the", "a", "an", "of", "old", "young", "sir", "lady", "lord", "captain", "master", "mistress",
    "king", "queen", "duke", "doctor", "mr", "mrs", "miss", "der", "die", "das", "von", "herr",
    "frau",
];

/// Settings shared by the NPCs of a table.
#[derive(Clone, Copy, Debug)]
pub struct NpcDefaults<'a> {
    /// Default language.
    pub language: &'a str,
    /// Configured voice services; the first is the default.
    pub voices: &'a VoiceList,
    /// Default limits.
    pub policy: &'a Policy,
    /// Identities of all tools.
    pub tools: &'a [&'a str],
    /// Configured chat models; the first is the default.
    pub models: &'a EntryList<ModelEntry>,
    /// True if all of their names are valid.
    pub names_models: bool,
    pub engines: Engines<'a>,
}

/// The NPC in the checked `node`.
pub fn npc(node: &Node, defaults: &NpcDefaults, notes: &mut Notes) -> Npc {
    let fields = Fields::new(node, &keys::npc::NPC);
    let text = |key| fields.text(key).unwrap_or_default().to_owned();
    let before = notes.problems.count();
    let tools = whitelist::resolve_all(fields.items("tools"), defaults.tools, notes);
    let is_whole = notes.problems.count() == before && !has_broken(&fields);
    let policy = fields.get("policy").map_or_else(
        || defaults.policy.clone(),
        |node| tools::policy(node, defaults.policy, defaults.tools, notes),
    );
    let problems = &mut notes.problems;
    let language = language(&fields, problems).unwrap_or(defaults.language);
    let allowed = is_whole.then_some(tools.as_slice());
    let line_tools = line::LineTools { known: defaults.tools, allowed };
    let lines = fields.items("lines").iter();
    let lines = lines.filter(|node| matches!(node.value, Value::Map(_)));
    // The assistant needs none: it writes.
    let has_service = defaults.engines.may_talk() || is_assistant(&fields);
    let (longest, highest) =
        if is_assistant(&fields) { (u8::MAX, Tier::Deep) } else { (4, Tier::Fast) };
    let npc = Npc {
        name: text("name").trim().to_owned(),
        aliases: fields.texts("aliases"),
        pronunciation: pronunciation(&fields, problems),
        personality: text("personality").trim().to_owned(),
        behavior_rules: fields.texts("behavior_rules"),
        secret_knowledge: fields.texts("secret_knowledge"),
        knowledge_scope: fields.texts("knowledge_scope"),
        voice: voice::voice(&fields, language, defaults.voices, problems),
        llm: model(&fields, "llm", defaults, problems),
        cascade: cascade(&fields, defaults, problems),
        language: language.to_owned(),
        max_sentences: fields.whole("max_sentences").unwrap_or(longest),
        engine: engine::engine(&fields, has_service, problems),
        s2s: engine::s2s(&fields, defaults.engines, problems),
        budget_tier: fields.text("budget_tier").and_then(|it| it.parse().ok()).unwrap_or(highest),
        lines: lines.map(|node| line::line(node, line_tools, problems)).collect(),
        tools: tools.clone(),
        address: address(&fields),
        fillers: fields.texts("fillers"),
        policy,
    };
    warn(&npc, &fields, defaults, &mut notes.warnings);
    if is_whole {
        warn_of_lines_tools(&npc, &fields, defaults.tools, &mut notes.warnings);
    }
    npc
}

/// Warns once of lines that call built-in tools the NPC does not have.
fn warn_of_lines_tools(npc: &Npc, fields: &Fields, known: &[&str], warnings: &mut Problems) {
    let mut missing: Vec<&str> = Vec::new();
    for tool in npc.lines.iter().filter_map(|line| line.tool.as_ref()) {
        let name = tool.name.as_str();
        let is_lacking = known.contains(&name) && !whitelist::allows(&npc.tools, name);
        if is_lacking && !missing.contains(&name) {
            missing.push(name);
        }
    }
    if !missing.is_empty() {
        let message = format!("lines of {} call tools that it does not have", quoted(&npc.name));
        let way_out = format!("add to 'tools': {}", missing.join(", "));
        warnings.add(fields.place("tools"), message, way_out);
    }
}

pub fn is_assistant(fields: &Fields) -> bool {
    fields.text("kind") == Some("assistant")
}

/// A two-letter code under `language`.
pub fn language<'a>(fields: &Fields<'a>, problems: &mut Problems) -> Option<&'a str> {
    let code = fields.text("language")?;
    if code.len() == 2 && code.chars().all(|char| char.is_ascii_lowercase()) {
        return Some(code);
    }
    let message = format!("'language' is {}", fields.shown("language"));
    problems.add(fields.place("language"), message, "use a two-letter code such as en or de");
    None
}

/// The configured chat model under `key`.
fn model(
    fields: &Fields,
    key: &str,
    defaults: &NpcDefaults,
    problems: &mut Problems,
) -> Option<String> {
    let name = fields.text(key)?.trim();
    let mut models: Vec<&str> = Vec::new();
    for named in defaults.models.names() {
        if !models.contains(&named) {
            models.push(named);
        }
    }
    // An invalid name has its own problem, and may be this one.
    if defaults.names_models && !models.contains(&name) {
        let there_are = match defaults.models.reads_prompts() {
            true => format!("providers.llm has {}", models.join(", ")),
            false => "list it under providers.llm".to_owned(),
        };
        let way_out = match nearest(name, models.iter().copied()) {
            Some(near) => format!("did you mean '{near}'? {there_are}"),
            None => there_are,
        };
        let message = format!("unknown chat model {}", fields.shown(key));
        problems.add(fields.place(key), message, way_out);
    }
    Some(name.to_owned())
}

/// The two chat models under `cascade`; scripted lines can neither open nor continue an answer.
fn cascade(
    fields: &Fields,
    defaults: &NpcDefaults,
    problems: &mut Problems,
) -> Option<CascadeModels> {
    let fields = fields.map("cascade", &keys::npc::CASCADE)?;
    let mut named = |key| {
        let name = model(&fields, key, defaults, problems)?;
        let is_known = defaults.models.names().any(|it| it == name);
        if is_known && defaults.models.says_lines(Some(&name)) {
            let message = format!("{} is no chat model", quoted(&name));
            problems.add(fields.place(key), message, "name a model of providers.llm that writes");
        }
        Some(name)
    };
    let (opener, strong) = (named("opener"), named("strong"));
    Some(CascadeModels { opener: opener?, strong: strong? })
}

/// True if a problem with the whitelist was reported.
fn has_broken(fields: &Fields) -> bool {
    let broken = |node: &Node| matches!(node.value, Value::Broken);
    fields.is_broken("tools") || fields.items("tools").iter().any(broken)
}

/// Condition for being addressed.
fn address(fields: &Fields) -> AddressMode {
    match fields.text("address") {
        Some("name_only") => AddressMode::NameOnly,
        Some("always") => AddressMode::Always,
        _ => AddressMode::Adaptive,
    }
}

/// Respellings by word; a single one is for the first distinctive word of the name.
fn pronunciation(fields: &Fields, problems: &mut Problems) -> Vec<Pronunciation> {
    let Some(node) = fields.get("pronunciation") else { return Vec::new() };
    let mut words = Vec::new();
    let name = fields.text("name").unwrap_or_default();
    if let Some(respelling) = node.text() {
        let plain = |word: &&str| !INDISTINCT.contains(&word.to_lowercase().as_str());
        let mut parts = name.split_whitespace();
        let first = parts.clone().next();
        words.extend(parts.find(plain).or(first).map(|word| (word, node.at, respelling)));
    }
    let pairs = node.entries().iter();
    words.extend(pairs.filter_map(|it| Some((it.key.as_str(), it.node.at, it.node.text()?))));
    for (_, at, respelling) in &words {
        check_respelling(respelling, *at, problems);
    }
    let words = words.into_iter();
    words
        .map(|(word, _, respelling)| Pronunciation {
            word: word.to_owned(),
            respelling: respelling.to_owned(),
        })
        .collect()
}

/// Warns of allowed settings that are probably unintended.
fn warn(npc: &Npc, fields: &Fields, defaults: &NpcDefaults, warnings: &mut Problems) {
    if is_assistant(fields) {
        return engine::warn_assistant(fields, warnings);
    }
    engine::warn(fields, &npc.name, defaults.engines, warnings);
    if let Some(models) = npc.cascade.as_ref().filter(|it| it.opener == it.strong) {
        let message = format!("{} opens and goes on with the same chat model", quoted(&npc.name));
        let way_out = format!("name a faster one than {} as opener", quoted(&models.strong));
        warnings.add(fields.place("cascade"), message, way_out);
    }
    let llm = npc.thinks_with();
    let is_known = llm.is_none_or(|name| defaults.models.names().any(|it| it == name));
    let says_lines = is_known && defaults.models.says_lines(llm);
    if says_lines && npc.lines.is_empty() && !npc.name.is_empty() {
        let message = match npc.engine {
            EngineKind::Cascaded | EngineKind::SentenceCascade => {
                format!("{} has no lines and will not answer", quoted(&npc.name))
            }
            EngineKind::SpeechToSpeech => {
                format!("{} has no lines for answers through the cascade", quoted(&npc.name))
            }
        };
        let way_out = match defaults.models.reads_prompts() {
            true => "add 'lines', or choose a model of providers.llm with 'llm'",
            false => "add 'lines', or set providers.llm to a model",
        };
        warnings.add(fields.at(), message, way_out);
    }
    if says_lines {
        cut_short(npc, fields, warnings);
    }
    let voices = [Some(&npc.voice), npc.voice.fallback.as_deref()].into_iter().flatten();
    let is_english = |voice: &Voice| {
        let named = defaults.voices.get(&voice.provider);
        named.is_some_and(|it| it.entry.service().traits().english_only)
    };
    if npc.language != "en" && voices.into_iter().any(is_english) {
        let message =
            format!("{} speaks '{}' with an English voice", quoted(&npc.name), npc.language);
        warnings.add(fields.place("voice"), message, "use the provider espeak");
    }
}

/// Warns of lines that would be cut when spoken.
fn cut_short(npc: &Npc, fields: &Fields, warnings: &mut Problems) {
    let longest = npc.max_sentences.max(1);
    let options = SentenceOptions { language: npc.language.clone(), ..SentenceOptions::default() };
    for line in fields.items("lines") {
        let Value::Map(_) = line.value else { continue };
        for say in Fields::new(line, &keys::npc::LINE).items("say") {
            let text = say.text().unwrap_or_default();
            if sentences_at_most(text) <= usize::from(longest) {
                continue;
            }
            let mut splitter = SentenceSplitter::new(&options);
            let mut said = splitter.push(text);
            said.extend(splitter.finish());
            // The first part of a long sentence does not count.
            let sentences = said.iter().filter(|part| !is_clause(part)).count();
            if sentences > usize::from(longest) {
                let message = format!(
                    "a line of {} has {sentences} sentences and stops after {longest}",
                    quoted(&npc.name)
                );
                let way_out = format!("shorten it, or set max_sentences: {sentences}");
                warnings.add(say.at, message, way_out);
            }
        }
    }
}
