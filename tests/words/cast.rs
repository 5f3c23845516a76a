//! A wrong NPC, and a wrong campaign.

use super::{PIP, check, compare};

/// Lines of an NPC file below `name: Bart`.
const WRONG: &[(&str, &str)] = &[
    ("misspelt key", "personalty: gruff\n"),
    ("unknown tool", "tools: [banana]\n"),
    ("misspelt tool", "tools: [dice-roller.rol]\n"),
    ("tool of many servers", "tools: ['*']\n"),
    ("unknown provider of a voice", "voice: { provider: siri }\n"),
    ("voice of no service", "voice: { provider: openai, voice_id: alloy }\n"),
    ("unknown voice", "voice: { voice_id: rmss }\n"),
    ("pitch too high", "voice: { pitch_shift: 11 }\n"),
    ("shift without effect", "voice: { provider: espeak, formant_shift: 2 }\n"),
    ("language and voice", "language: de\nlines: [{ say: Hallo. }]\n"),
    ("language by name", "language: german\n"),
    ("engine without a service", "engine: s2s\n"),
    ("engine without models", "engine: sentence_cascade\n"),
    (
        "unknown models of a cascade",
        "engine: sentence_cascade\ncascade: { opener: fast, strong: main }\n",
    ),
    ("misspelt engine", "engine: cascadet\n"),
    ("settings without an engine", "s2s: { voice: cedar }\nlines: [{ say: Hi. }]\n"),
    ("unknown tier", "budget_tier: slow\n"),
    ("unknown chat model", "llm: home\n"),
    ("broken pattern", "lines: [{ when: /a(/, say: x }]\n"),
    ("pattern with a flag", "lines: [{ when: '/ring/i', say: x }]\n"),
    ("phrase without a word", "lines: [{ when: ['?!'], say: x }]\n"),
    ("pattern among phrases", "lines: [{ when: [a, /b/], say: x }]\n"),
    ("misspelt placeholder", "lines: [{ say: '{spaeker}' }]\n"),
    ("unknown placeholder", "lines: [{ say: '{1}' }]\n"),
    ("result without a tool", "lines: [{ say: '{result.total}' }]\n"),
    ("tool that is not the npc's", "lines: [{ say: x, tool: { name: roll_table } }]\n"),
    ("group of tools", "tools: [roll]\nlines: [{ say: x, tool: { name: 'dice-roller.*' } }]\n"),
    ("otherwise without a tool", "lines: [{ say: x, else: y }]\n"),
    ("no phrases", "lines: [{ when: [], say: x }]\n"),
    ("line without words", "lines: [{ when: x }]\n"),
    ("more sentences than it says", "max_sentences: 1\nlines: [{ say: One. Two. Three. }]\n"),
    ("respelling with a digit", "pronunciation: 'b4rt!'\nlines: [{ say: Hi. }]\n"),
    ("blocked tool that is unknown", "policy: { blocklist: [rol] }\n"),
    ("name of another", "aliases: [pip]\n"),
];

#[test]
fn wrong_npcs() {
    let pip = "name: Pip\nlines: [{ say: Hello. }]\n";
    let case = |name, text: &str| {
        let lines = if text.contains("lines:") { "" } else { "lines: [{ say: Hm. }]\n" };
        check(name, "language: en\n")
            .with("npcs/bart.yaml", format!("name: Bart\n{text}{lines}"))
            .with("npcs/pip.yaml", pip)
    };
    let unnamed = check("no name", "language: en\n").with("npcs/bart.yaml", "naem: Bart\n");
    let silent = check("no lines", "npcs: [{ name: Bart }]\n");
    let cases = WRONG.iter().map(|(name, text)| case(name, text));
    compare("npc", cases.chain([unnamed, silent]));
}

const CAMPAIGNS: &[(&str, &str)] = &[
    ("unknown type", "entities: [{ name: Inn, type: place }]\n"),
    ("missing type", "entities: [{ name: Grump, typ: npc }]\n"),
    ("id twice", "entities: [{ id: a, name: A, type: npc }, { id: a, name: B, type: npc }]\n"),
    ("name that makes no id", "entities: [{ name: '!?', type: lore }]\n"),
    (
        "relation to nothing known",
        "entities: [{ name: Elara, type: npc }, { name: T, type: npc, \
         relationships: [{ target: Elarra, type: t }] }]\n",
    ),
    (
        "relation without the other side",
        "entities: [{ name: T, type: npc, relationships: [{ type: t }] }]\n",
    ),
    (
        "two of one name",
        "entities: [{ id: a, name: E, type: npc }, { id: b, name: E, type: npc }, \
         { name: T, type: npc, relationships: [{ target: E, type: t }] }]\n",
    ),
    (
        "property that is a list",
        "entities: [{ name: I, type: lore, properties: { rooms: [1] } }]\n",
    ),
    ("secret of an unknown npc", "entities: [{ name: I, type: lore, visibility: [Pap] }]\n"),
    ("scene of an unknown npc", "scenes: [{ name: inn, npcs: [Pap] }]\n"),
    ("respelling with a digit", "entities: [{ name: E, type: npc, pronunciation: e-1 }]\n"),
    ("no campaign", "npcs: []\n"),
];

#[test]
fn wrong_campaigns() {
    let case = |(name, text): &(&'static str, &str)| {
        check(name, &format!("{PIP}campaign: c.yaml\n")).with("c.yaml", *text)
    };
    compare("campaign", CAMPAIGNS.iter().map(case));
}
