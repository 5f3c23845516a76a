use proptest::prelude::*;

use super::*;
use crate::{
    domain::EntityKind,
    import::draft::{EntityDraft, NpcDraft, Passage, RelationDraft, RelationTarget},
};

fn drafts(files: &[(&str, &str)]) -> Drafts {
    let files: Vec<(String, String)> =
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
    let mut drafts = Drafts::default();
    read("", &files, &mut drafts);
    drafts
}

fn texts(passages: &[Passage]) -> String {
    passages.iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// All that players and models may see of `drafts`, names and relations included.
fn seen(drafts: &Drafts) -> String {
    let npc = |it: &NpcDraft| {
        let it = NpcDraft { secrets: Vec::new(), for_dm: Vec::new(), ..it.clone() };
        format!("{it:?}")
    };
    let entity = |it: &EntityDraft| {
        let it = EntityDraft { secrets: Vec::new(), ..it.clone() };
        if it.dm_only { String::new() } else { format!("{it:?}") }
    };
    let npcs = drafts.npcs.iter().map(npc);
    let entities = drafts.entities.iter().map(entity);
    npcs.chain(entities).collect::<String>() + &format!("{:?}", drafts.relations)
}

fn kept(drafts: &Drafts) -> String {
    let npcs = drafts.npcs.iter().map(|it| texts(&it.secrets));
    let entities = drafts.entities.iter().map(|it| texts(&it.secrets));
    npcs.chain(entities).collect::<Vec<_>>().join("\n")
}

#[test]
fn field_with_a_pronunciation_is_no_property() {
    let drafts = drafts(&[
        ("v/a.md", "---\ntype: npc\nAussprache: HOL-ya\nage: 40\n---\nShe bakes."),
        ("v/b.md", "---\ntype: location\npronounced: myre\nsize: small\n---\nA town."),
    ]);
    let npc = &drafts.npcs[0];
    assert_eq!(npc.pronunciation, [("a".to_owned(), "HOL-ya".to_owned())]);
    assert!(!texts(&npc.knowledge).contains("HOL-ya"), "{npc:?}");
    let owned = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let wanted = [owned("size", "small"), owned("pronunciation", "myre")];
    assert_eq!(drafts.entities[0].properties, wanted);
}

const HOLYA: &str = "---
type: npc
aliases: [Hol, Mother Holya]
tags: [ally/strong, town]
gender: female
home: \"[[Soggy Boot|the Boot]]\"
dm_notes: She is SPYING.
created: 2025-01-01
stats: { ac: 12 }
---
# Holya - Townmaster

The biggest woman of [[Mire]]. %%She is TIRED.%%

## Personality
Blunt.

## Background
Born in [the hills](../places/High%20Hills.md). ![[holya.png]]

> [!secret]- Plot
> She hides the PRISM
lazily CONTINUED

## GM Notes
The [[Cult]] has her SON.
### Later
She will FLEE.
## Greetings
- \"Welcome, stranger.\"
";

#[test]
fn note_of_an_npc_becomes_a_seat() {
    let files = [
        ("v/npcs/Holya.md", HOLYA),
        ("v/places/Mire.md", "An old town."),
        ("v/places/High Hills.md", "Bare."),
        ("v/places/Cult.md", "%%Nobody knows it.%%"),
    ];
    for ends in ["\n", "\r\n"] {
        let holya = HOLYA.replace('\n', ends);
        let files = [(files[0].0, holya.as_str()), files[1], files[2], files[3]];
        let drafts = drafts(&files);
        let [npc] = drafts.npcs.as_slice() else { panic!("{:?}", drafts.npcs) };
        assert_eq!(npc.name, "Holya - Townmaster");
        assert_eq!(npc.aliases, ["Hol", "Mother Holya", "Holya"]);
        assert_eq!(npc.looks, ["gender: female"]);
        assert_eq!(npc.greetings, ["Welcome, stranger."]);
        let personality = "The biggest woman of Mire.\nPersonality:\nBlunt.";
        assert_eq!(texts(&npc.personality), personality);
        let knowledge = "Background:\nBorn in the hills.\ngender: female\nhome: the Boot";
        assert_eq!(texts(&npc.knowledge), knowledge);
        for word in ["SPYING", "TIRED", "PRISM", "CONTINUED", "SON", "FLEE"] {
            assert!(texts(&npc.secrets).contains(word), "{word}: {npc:?}");
            assert!(!seen(&drafts).contains(word), "{word}: {drafts:?}");
        }
    }
}

#[test]
fn links_of_open_text_become_relations() {
    let files = [
        ("npcs/Holya.md", HOLYA),
        ("places/Mire.md", "Town."),
        ("places/High Hills.md", "Bare."),
        ("x/Cult.md", "Dark."),
    ];
    let drafts = drafts(&files);
    let relation = |kind: &str, to| {
        let from = "notes:npcs/Holya.md".to_owned();
        RelationDraft { from, to, kind: kind.to_owned() }
    };
    let source = |path: &str| RelationTarget::Source(format!("notes:{path}"));
    let mut found = drafts.relations;
    found.sort_by(|one, other| format!("{one:?}").cmp(&format!("{other:?}")));
    let mut meant = [
        relation("mentions", source("places/Mire.md")),
        relation("mentions", source("places/High Hills.md")),
        relation("home", RelationTarget::Name("Soggy Boot".to_owned())),
    ];
    meant.sort_by(|one, other| format!("{one:?}").cmp(&format!("{other:?}")));
    assert_eq!(found, meant);
}

#[test]
fn unused_parts_are_reported_by_kind() {
    let drafts = drafts(&[
        ("Holya.md", HOLYA),
        (".obsidian/app.md", "x"),
        ("Templates/NPC.md", "x"),
        ("Empty.md", " \n"),
        ("Query.md", "```dataview\nLIST\n```\nAll."),
    ]);
    let what: Vec<&str> = drafts.left_out.iter().map(|it| it.what.as_str()).collect();
    let meant = [
        "1 hidden file",
        "1 template",
        "1 empty note",
        "1 embedded file",
        "1 block of code",
        "1 field",
        "1 nested field",
    ];
    assert_eq!(what, meant);
    assert!(drafts.mistakes.is_empty());
}

#[test]
fn broken_front_matter_keeps_note_and_secrets() {
    let broken =
        "---\ntype: npc\nname: Holya\ndm_notes: He is: a SPY\n\tand: more\n---\nShe bakes.\n";
    let unclosed = "---\ntype: npc\ndm_notes: a SPY\n\nShe bakes.\n";
    for text in [broken, unclosed] {
        let drafts = drafts(&[("Holya.md", text)]);
        assert!(drafts.mistakes.is_empty());
        assert!(drafts.left_out[0].what.starts_with("front matter ("), "{:?}", drafts.left_out);
        assert_eq!(drafts.npcs[0].name, "Holya");
        assert_eq!(texts(&drafts.npcs[0].personality), "She bakes.");
        assert!(kept(&drafts).contains("SPY") && !seen(&drafts).contains("SPY"), "{drafts:?}");
    }
}

#[test]
fn whole_notes_of_the_game_master_get_no_seat() {
    for (path, text) in [
        ("DM/npcs/Vex.md", "He is a SPY."),
        ("npcs/Vex.md", "---\ndm-only: true\n---\nHe is a SPY."),
        ("npcs/Vex.md", "---\ntags: [npc, secret]\n---\nHe is a SPY."),
        ("npcs/Vex.md", "---\nvisibility: gm\n---\nHe is a SPY."),
        ("npcs/Vex.md", "---\npublish: false\n---\nHe is a SPY."),
        ("npcs/Vex.md", "#gm\nHe is a SPY."),
    ] {
        let drafts = drafts(&[(path, text)]);
        assert!(drafts.npcs.is_empty() && !seen(&drafts).contains("SPY"), "{text}: {drafts:?}");
        let [entity] = drafts.entities.as_slice() else { panic!("{text}: {drafts:?}") };
        assert!(entity.dm_only && entity.kind == EntityKind::Npc, "{text}");
        assert_eq!(drafts.left_out.len(), 1 + usize::from(text.contains("publish")), "{text}");
    }
}

#[test]
fn game_masters_sections_hide_no_others() {
    let text = "---\ntype: npc\n---\n# Old Pete\nFisher.\n\n## \u{1f4dd} GM Notes\nSPY1\n### More\nSPY2\n\n\
                ## Looks\nTall.\n\n## **DM Secrets** ##\nSPY3\n\n```\n## Looks fine\n```\nSPY4\n\n## Voice\n\
                Hoarse.\n\nGM Notes\n--------\nSPY5\n\nHabits\n------\nSmokes.\n\n   ## GM ONLY:\nSPY6\n\n\
                # Epilogue\nGone.\n";
    let drafts = drafts(&[("m05_gm_headings.md", text)]);
    let [npc] = drafts.npcs.as_slice() else { panic!("{drafts:?}") };
    let open = texts(&npc.personality) + &texts(&npc.knowledge);
    for word in ["Fisher.", "Tall.", "Hoarse.", "Smokes.", "Gone."] {
        assert!(open.contains(word), "{word}: {open}");
    }
    assert!(!seen(&drafts).contains("SPY"), "{drafts:?}");
    assert!((1..=6).all(|it| kept(&drafts).contains(&format!("SPY{it}"))), "{drafts:?}");
}

#[test]
fn marks_count_behind_many_others() {
    let tags: String = (0..200).map(|number| format!("- t{number}\n")).collect();
    let fields: String = (0..200).map(|number| format!("f{number}: x\n")).collect();
    for front in [format!("tags:\n{tags}- dm-only\n"), format!("{fields}dm-only: true\n")] {
        let drafts = drafts(&[("x.md", &format!("---\n{front}---\nHe is a SPY."))]);
        assert!(drafts.entities[0].dm_only, "{front}");
    }
    let text = "---\nname: \"Vex %%SPY%%\"\naliases: [\"%%SPY%% Vex\"]\n---\nHe bakes.";
    let drafts = drafts(&[("x.md", text)]);
    assert!(!seen(&drafts).contains("SPY"), "{drafts:?}");
}

#[test]
fn hostile_names_are_one_clean_line() {
    let long = format!("# {}\nx", "x".repeat(100_000));
    let files = [
        ("npcs/../../etc/passwd\0\u{202e}.md", "---\nname: \"../\\0\\u202Eevil\\nroot\"\n---\nx"),
        ("npcs/a.md", long.as_str()),
        ("npcs/b.md", "# ${DISCORD_TOKEN} {dice}\n${DISCORD_TOKEN} and {result}"),
    ];
    let drafts = drafts(&files);
    let names: Vec<&str> = drafts.npcs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names[0], "../evil root");
    assert_eq!(names[1].chars().count(), 80);
    assert_eq!(names[2], "${DISCORD_TOKEN} {dice}");
    assert_eq!(texts(&drafts.npcs[2].personality), "${DISCORD_TOKEN} and {result}");
    assert!(drafts.npcs.iter().all(|it| !it.source.chars().any(char::is_control)));
}

#[test]
fn long_note_is_cut_at_a_line() {
    let text = format!("{}\n{} #dm-only\n", "ab ".repeat(50_000), "SPY ".repeat(50_000));
    let drafts = drafts(&[("x.md", &text)]);
    assert!(!seen(&drafts).contains("SPY"));
    assert_eq!(drafts.left_out[0].what, "text after line 1");
}

#[test]
fn markdown_is_known_by_name_or_shape() {
    assert!(is_notes("a.MD", "") && is_notes("x", "---\ntype: npc\n---\nText"));
    assert!(is_notes("x", "She lives in [[Mire]].") && is_notes("x", "\n## Day"));
    assert!(!is_notes("x.yaml", "# comment\nname: x\n") && !is_notes("x", "---\nname: x\n---\n"));
}

proptest! {
    #[test]
    fn no_note_panics(text in "\\PC{0,400}", path in "[a-zA-Z./\\\\ ]{0,20}") {
        drafts(&[(&path, &text)]);
    }

    #[test]
    fn no_mixture_of_marks_panics(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "---\n", "type: npc\n", "%%", "<!--", "-->", "`", "```\n", "> ", "[!dm]", "[!info]- ",
                "\n", "\n\n", "## ", "# GM Notes\n", "- ", "**", "__", "::", "secret", "[[", "]]", "|",
                "](", ")", "![", "<section class='secret'>", "</section>", "ä", "#dm ", "=", "\t", "a",
            ]),
            0..60,
        ),
    ) {
        drafts(&[("npcs/x.md", &parts.concat())]);
    }

    /// A closed comment is never shown, whatever precedes it.
    #[test]
    fn comment_is_never_open(before in "[a-z>#\\- \n\\[\\]!|]{0,80}", after in "[a-z>#\\- \n]{0,40}") {
        let text = format!("a {before}\n%%PLANTED%%\n{after}");
        prop_assert!(!seen(&drafts(&[("x.md", &text)])).contains("PLANTED"));
    }
}
