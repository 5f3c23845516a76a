use proptest::prelude::*;

mod table;

use super::*;

const BARTOK: usize = 0;
const GREYMANTLE: usize = 1;
const ROSE: usize = 2;
const MIRA: usize = 3;
const ELARA: usize = 0;
const THORIN: usize = 1;

const HERE: Candidate = Candidate { mode: AddressMode::Adaptive, present: true, muted: false };

fn addresser() -> Addresser {
    let barkeep = ["Barty".to_owned(), "old bear".to_owned()];
    let npcs = [
        Called { name: "Bartok the Barkeep", aliases: &barkeep },
        Called { name: "Greymantle the Sage", aliases: &[] },
        Called { name: "Rose Millwright", aliases: &[] },
        Called { name: "Élodie Mira", aliases: &[] },
    ];
    let players =
        [Called { name: "Elara", aliases: &[] }, Called { name: "Thorin Oakson", aliases: &[] }];
    Addresser::new(&npcs, &players, "en")
}

fn ask(text: &str, change: impl FnOnce(&mut AddressInput<'_>, &mut [Candidate; 4])) -> Address {
    let mut candidates = [HERE; 4];
    let mut input = AddressInput {
        text,
        candidates: &[],
        conversation: None,
        pinned: None,
        players_present: 3,
    };
    change(&mut input, &mut candidates);
    let input = AddressInput { candidates: &candidates, ..input };
    addresser().address(&input)
}

fn plain(text: &str) -> Address {
    ask(text, |_, _| {})
}

fn npc(index: usize, reason: Reason) -> Address {
    Address::Npc { index, others_named: vec![], reason }
}

fn asked(address: &Address) -> Option<usize> {
    match address {
        Address::Npc { index, .. } => Some(*index),
        _ => None,
    }
}

const TALKING: Option<(usize, Duration)> = Some((GREYMANTLE, Duration::from_secs(10)));

#[test]
fn names_at_the_edges_call() {
    for (text, who) in [
        ("Bartok, roll two d six", BARTOK),
        ("bartok roll two d six plus three", BARTOK),
        ("BARTOK!", BARTOK),
        ("hey Bartok what's on the menu", BARTOK),
        ("So, Bartok, what now?", BARTOK),
        ("um okay bartok give me a beer", BARTOK),
        ("What do you have, Bartok?", BARTOK),
        ("what do you have bartok", BARTOK),
        ("give me a beer Bartok please", BARTOK),
        ("tell me, Bartok, about the duke", BARTOK),
        ("I look around. Bartok, what do you see?", BARTOK),
        ("Bartok the Barkeep, good evening", BARTOK),
        ("Barty, another round", BARTOK),
        ("Old Bear, another round", BARTOK),
        ("Barkeep, another round!", BARTOK),
        ("hey barkeep another round", BARTOK),
        ("another round, barkeep", BARTOK),
        ("greymantle what is that rune", GREYMANTLE),
        ("elodie what do you sell", MIRA),
        ("ÉLODIE, was?", MIRA),
        ("what do you sell, mira", MIRA),
        ("Rose Millwright where are you", ROSE),
        ("Rose, where are you?", ROSE),
    ] {
        assert_eq!(plain(text), npc(who, Reason::Named), "{text}");
    }
}

/// Each name is read with the words near it, not with the whole text.
#[test]
fn text_full_of_names_is_for_the_first() {
    let text = format!("Bartok, {}", "asks Bartok, ".repeat(1_000));
    assert_eq!(plain(&text), npc(BARTOK, Reason::Named));
}

#[test]
fn names_inside_and_generic_words_do_not_call() {
    for text in [
        "I think Bartok lies",
        "I think that Bartok lies to us all",
        "the door is open",
        "the barkeep looks nervous",
        "we should ask the barkeep",
        "there is the other sage",
        "tell me about Bartok",
        "where is Greymantle",
        "a rose is a rose",
        "rose petals are pretty",
        "Bartok's beer is bad",
        "this is Bartok's",
        "I saw Elara, Bartok, and Greymantle there yesterday",
        "barter is all they do",
        "I open the bar",
        "thorns everywhere",
        "the art of war",
    ] {
        let nobody = Address::Nobody(Why::NotAddressed);
        let address = plain(text);
        let is_spoken_of = matches!(address, Address::Nobody(Why::SpokenOf(_)));
        assert!(is_spoken_of || address == nobody, "{text}: {address:?}");
    }
}

#[test]
fn misheard_names_call_at_the_edges_only() {
    for (text, who) in [
        ("bar talk roll two d six", BARTOK),
        ("hey bar talk a beer", BARTOK),
        ("grey mantle tell me a story", GREYMANTLE),
        ("gray man tell what is it", GREYMANTLE),
        ("what is that, Graymantle?", GREYMANTLE),
        ("Bartock, hello", BARTOK),
    ] {
        assert_eq!(plain(text), npc(who, Reason::SoundsLike), "{text}");
    }
    for text in [
        "I heard bar talk all evening long",
        "barter, everyone",
        "part of it, all",
        "I'm Bartock",
        "Ich heiße Bartock",
    ] {
        assert_eq!(plain(text), Address::Nobody(Why::NotAddressed), "{text}");
    }
}

#[test]
fn several_names_ask_one_and_list_others() {
    let check = |text: &str, index: usize, others: &[usize]| {
        let others_named = others.to_vec();
        assert_eq!(
            plain(text),
            Address::Npc { index, others_named, reason: Reason::Named },
            "{text}"
        );
    };
    check("Bartok and Greymantle, what do you think?", BARTOK, &[GREYMANTLE]);
    check("what do you think, Greymantle and Bartok?", GREYMANTLE, &[BARTOK]);
    check("Bartok, Greymantle, listen", BARTOK, &[GREYMANTLE]);
    check("Bartok, where is Greymantle?", BARTOK, &[GREYMANTLE]);
    check("Bartok hates you, Greymantle", GREYMANTLE, &[BARTOK]);
    check("bartok do you trust greymantle", BARTOK, &[GREYMANTLE]);
    check("Elara and Bartok, come here", BARTOK, &[]);
    let muted = ask("Bartok and Greymantle, what now?", |_, npcs| npcs[BARTOK].muted = true);
    assert_eq!(asked(&muted), Some(GREYMANTLE));
}

#[test]
fn players_are_not_npcs() {
    assert_eq!(plain("Elara, what do we do?"), Address::Player(ELARA));
    assert_eq!(plain("what do we do, Thorin?"), Address::Player(THORIN));
    assert_eq!(plain("Elara, ask Bartok"), Address::Player(ELARA));
    assert_eq!(plain("Ellara, come on"), Address::Player(ELARA));
    let turned_away = ask("Elara, do you trust him?", |input, _| input.conversation = TALKING);
    assert_eq!(turned_away, Address::Player(ELARA));
    let about = ask("I met Elara yesterday evening", |input, _| input.conversation = TALKING);
    assert_eq!(about, npc(GREYMANTLE, Reason::Conversation));
}

#[test]
fn name_beats_pin_and_pin_beats_conversation() {
    let set = |input: &mut AddressInput<'_>, _: &mut [Candidate; 4]| {
        input.pinned = Some(ROSE);
        input.conversation = TALKING;
    };
    assert_eq!(ask("Bartok, hello", set), npc(BARTOK, Reason::Named));
    assert_eq!(ask("hello there", set), npc(ROSE, Reason::Pinned));
    let muted = ask("hello there", |input, npcs| {
        input.pinned = Some(ROSE);
        npcs[ROSE].muted = true;
    });
    assert_eq!(muted, Address::Nobody(Why::Muted(ROSE)));
    assert_eq!(asked(&ask("hi", |input, _| input.pinned = Some(99))), None);
}

#[test]
fn conversation_goes_on_for_thirty_seconds() {
    let after = |text: &str, millis: u64| {
        ask(text, |input, _| {
            input.conversation = Some((GREYMANTLE, Duration::from_millis(millis)));
        })
    };
    let going_on = npc(GREYMANTLE, Reason::Conversation);
    for text in ["and what then?", "yes", "No.", "ja", "yes okay", "tell me more", "nein"] {
        assert_eq!(after(text, 29_999), going_on, "{text}");
    }
    assert_eq!(after("and then?", 30_000), Address::Nobody(Why::NotAddressed));
    for text in ["mhm", "Uh...", "okay", "Mm-hm.", "oh, okay", "Äh"] {
        assert_eq!(after(text, 1_000), Address::Nobody(Why::Filler), "{text}");
    }
    for text in ["", " … "] {
        assert_eq!(after(text, 1_000), Address::Nobody(Why::Silence));
    }
    let about = after("what do you know of Bartok", 1_000);
    let others_named = vec![BARTOK];
    let reason = Reason::Conversation;
    assert_eq!(about, Address::Npc { index: GREYMANTLE, others_named, reason });
    let name_only = ask("and then?", |input, npcs| {
        input.conversation = TALKING;
        npcs[GREYMANTLE].mode = AddressMode::NameOnly;
    });
    assert_eq!(name_only, Address::Nobody(Why::NotAddressed));
    let muted = ask("and then?", |input, npcs| {
        input.conversation = TALKING;
        npcs[GREYMANTLE].muted = true;
    });
    assert_eq!(muted, Address::Nobody(Why::Muted(GREYMANTLE)));
}

#[test]
fn alone_with_the_only_npc() {
    let alone = |mode, players| {
        ask("is anybody here?", move |input, npcs| {
            input.players_present = players;
            npcs.iter_mut().for_each(|npc| npc.present = false);
            npcs[ROSE] = Candidate { mode, ..HERE };
        })
    };
    assert_eq!(alone(AddressMode::Adaptive, 1), npc(ROSE, Reason::Alone));
    assert_eq!(alone(AddressMode::Adaptive, 2), Address::Nobody(Why::NotAddressed));
    assert_eq!(alone(AddressMode::NameOnly, 1), Address::Nobody(Why::NotAddressed));
    assert_eq!(alone(AddressMode::Always, 2), npc(ROSE, Reason::Always));
    let two = ask("is anybody here?", |input, _| input.players_present = 1);
    assert_eq!(two, Address::Nobody(Why::NotAddressed));
}

#[test]
fn always_mode_npc_takes_unclaimed_text() {
    let always = |input: &mut AddressInput<'_>, npcs: &mut [Candidate; 4]| {
        npcs[MIRA].mode = AddressMode::Always;
        input.conversation = TALKING;
    };
    assert_eq!(asked(&ask("Bartok, hello", always)), Some(BARTOK));
    assert_eq!(asked(&ask("and then?", always)), Some(GREYMANTLE));
    assert_eq!(ask("Elara, and you?", always), Address::Player(ELARA));
    assert_eq!(ask("mhm", always), Address::Nobody(Why::Filler));
    let alone = ask("and then?", |_, npcs| npcs[MIRA].mode = AddressMode::Always);
    assert_eq!(alone, npc(MIRA, Reason::Always));
    let muted = ask("and then?", |_, npcs| {
        npcs[MIRA] = Candidate { mode: AddressMode::Always, muted: true, ..HERE };
    });
    assert_eq!(muted, Address::Nobody(Why::NotAddressed));
}

#[test]
fn muted_and_absent_npcs_never_answer() {
    let muted = ask("Bartok, a beer", |input, npcs| {
        npcs[BARTOK].muted = true;
        input.conversation = TALKING;
    });
    assert_eq!(muted, Address::Nobody(Why::Muted(BARTOK)));
    let absent = ask("Bartok, a beer", |_, npcs| npcs[BARTOK].present = false);
    assert_eq!(absent, Address::Nobody(Why::Absent(BARTOK)));
}

#[test]
fn words_shared_by_npcs_call_none_of_them() {
    let names = ["Hilda the Guard", "Olaf the Guard", "Tom Oakhand", "Tim Oakhand"];
    let npcs = names.map(|name| Called { name, aliases: &[] });
    let addresser = Addresser::new(&npcs, &[], "en");
    let ask = |text| {
        let input = AddressInput {
            text,
            candidates: &[HERE; 4],
            conversation: Some((1, Duration::ZERO)),
            pinned: None,
            players_present: 4,
        };
        addresser.address(&input)
    };
    assert_eq!(ask("Guard, open up!"), npc(1, Reason::Conversation));
    assert_eq!(ask("Oakhand, open up!"), npc(1, Reason::Conversation));
    assert_eq!(ask("Tim, open up!"), npc(3, Reason::Named));
    assert_eq!(ask("hilda open up"), npc(0, Reason::Named));
}

#[test]
fn german_works_too() {
    let npcs = [
        Called { name: "Bärbel die Wirtin", aliases: &[] },
        Called { name: "Wilhelm", aliases: &[] },
    ];
    let addresser = Addresser::new(&npcs, &[], "de");
    let ask = |text| {
        let input = AddressInput {
            text,
            candidates: &[HERE; 2],
            conversation: None,
            pinned: None,
            players_present: 2,
        };
        addresser.address(&input)
    };
    assert_eq!(ask("barbel, noch ein Bier bitte"), npc(0, Reason::Named));
    assert_eq!(ask("Noch ein Bier, Wirtin!"), npc(0, Reason::Named));
    assert_eq!(ask("Hallo Bärbel"), npc(0, Reason::Named));
    assert_eq!(ask("Villhelm, komm mal her"), npc(1, Reason::SoundsLike));
    assert_eq!(ask("die Wirtin lügt"), Address::Nobody(Why::NotAddressed));
    assert_eq!(ask("was weißt du über Wilhelm"), Address::Nobody(Why::SpokenOf(1)));
}

#[test]
fn denied_listener_is_not_addressed() {
    let talking = |text: &str| ask(text, |input, _| input.conversation = TALKING);
    for text in [
        "Not you, Greymantle",
        "not you greymantle",
        "Greymantle, not you.",
        "Not you!",
        "No, not you, Bartok.",
        "sorry not you Bartok I was asking Elara something",
        "I don't mean you, Greymantle.",
        "I'm not talking to you, Greymantle",
        "I wasn't speaking to you Bartok",
        "Not Bartok.",
        "Nicht du, Bartok",
        "nicht du bartok",
        "Bartok, du nicht",
        "Dich meine ich nicht, Greymantle!",
        "dich habe ich nicht gemeint",
        "Ich rede gerade nicht mit dir, Bartok.",
        "nein nicht mit dir",
    ] {
        assert_eq!(talking(text), Address::Nobody(Why::Denied), "{text}");
    }
    for text in [
        "not you greymantle and bartok",
        "not you Greymantle I was thinking about Bartok",
        "Not you, Greymantle. I didn't ask Bartok either",
        "Not you, Greymantle. Bartok is lying",
        "nicht du Greymantle ich habe an Bartok gedacht",
    ] {
        assert_eq!(talking(text), Address::Nobody(Why::Denied), "{text}");
    }
}

#[test]
fn another_is_addressed_behind_a_denial() {
    let talking = |text: &str| ask(text, |input, _| input.conversation = TALKING);
    let another = [
        ("Not you, Greymantle. Bartok, what do you say?", BARTOK),
        ("not you greymantle i mean bartok", BARTOK),
        ("not you greymantle i was asking bartok about the bridge", BARTOK),
        ("Not you, Greymantle. I wanted to talk to Bartok about the bridge", BARTOK),
        ("I don't mean you, Greymantle, I was asking Rose for a room", ROSE),
        ("not you greymantle bartok have you seen the ring", BARTOK),
        ("not you greymantle but bartok what do you say to that", BARTOK),
        ("dich mein ich nicht greymantle bartok hast du den ring gesehen", BARTOK),
        ("nicht du greymantle bartok was meinst du dazu", BARTOK),
        ("Nicht du, Greymantle. Ich habe Bartok nach der Brücke gefragt", BARTOK),
        ("ich red nich mit dir greymantle bartok was kostet ein bier", BARTOK),
        ("Not Greymantle, Bartok!", BARTOK),
    ];
    for (text, who) in another {
        assert_eq!(asked(&talking(text)), Some(who), "{text}");
    }
    assert_eq!(talking("Not you, Bartok. Elara, what now?"), Address::Player(ELARA));
    for text in [
        "Why not you, Greymantle?",
        "Are you not the sage, Greymantle?",
        "Not now, Greymantle",
        "Didn't I ask you, Greymantle?",
        "not you again",
        "I am not you",
        "If not you, who then?",
        "Warum nicht du, Greymantle?",
        "Greymantle, ich verstehe dich nicht",
        "Redest du nicht mit mir?",
        "Do not lie to us",
    ] {
        assert_eq!(asked(&talking(text)), Some(GREYMANTLE), "{text}");
    }
}

#[test]
fn who_is_told_to_wait_leaves_it_to_the_next() {
    let talking = |text: &str| ask(text, |input, _| input.conversation = TALKING);
    for text in [
        "Not now, Greymantle. Bartok, who ordered the patrol away?",
        "not now greymantle bartok what does an ale cost",
        "Greymantle, wait. Bartok, what did you see?",
        "Thanks, Greymantle. Bartok, where is the ring?",
        "One moment please, Greymantle, Bartok, is the stew good?",
        "Jetzt nicht, Greymantle. Bartok, wer hat das befohlen?",
        "moment greymantle bartok was kostet ein zimmer",
        "Danke, Greymantle! Und Bartok, was sagst du dazu?",
    ] {
        let address = talking(text);
        assert_eq!(asked(&address), Some(BARTOK), "{text}");
        let Address::Npc { others_named, .. } = address else { continue };
        assert_eq!(others_named, [GREYMANTLE], "{text}");
    }
    for text in [
        "Not now, Greymantle",
        "Not now, Greymantle. Bartok is coming",
        "Wait, Greymantle, Bartok wants to say something",
        "Thanks, Greymantle and Bartok",
        "Thanks, Greymantle, Bartok!",
        "Greymantle, where is the ring? Bartok, do you know?",
        "Jetzt nicht, Greymantle. Bartok hat das befohlen",
        "Danke, Greymantle und Bartok, das war gut",
    ] {
        assert_eq!(asked(&talking(text)), Some(GREYMANTLE), "{text}");
    }
    let muted = ask("Not now, Greymantle. Bartok, an ale!", |_, npcs| npcs[BARTOK].muted = true);
    assert_eq!(muted, Address::Nobody(Why::Muted(BARTOK)));
}

#[test]
fn greeting_before_a_name_calls_it() {
    for text in [
        "Grüß dich Bartok, sag mal, haste noch n Bett?",
        "good evening Bartok have you a room",
        "Schönen guten Abend Bartok was gibt es zu essen",
    ] {
        assert_eq!(asked(&plain(text)), Some(BARTOK), "{text}");
    }
    for text in [
        "I greet the evening Bartok saw",
        "morgen kommt Bartok zu uns",
        "the evening with Bartok was good",
    ] {
        assert_eq!(asked(&plain(text)), None, "{text}");
    }
}

#[test]
fn own_names_and_absent_people_are_known() {
    let mut addresser = addresser();
    ["Lena", "Will", "Max Moritz", "Bartok"].iter().for_each(|name| addresser.meet(name));
    ["Marrow", "the smith", "der Schmied"].iter().for_each(|name| addresser.miss(name));
    let talking = |text: &str| {
        addresser.address(&AddressInput {
            text,
            candidates: &[HERE; 4],
            conversation: TALKING,
            pinned: None,
            players_present: 3,
        })
    };
    for text in [
        "Lena, what do you think?",
        "lena kannst du mir helfen",
        "Will, your turn!",
        "Max, hast du Würfel?",
        "I whisper to Lena that he lies",
        "Lena was meinst du",
        "lena was hast du in der tasche",
        "lena what do you think",
    ] {
        assert!(matches!(talking(text), Address::Player(_)), "{text}: {:?}", talking(text));
    }
    for text in [
        "Smith, can you mend my sword?",
        "smith can you mend my sword",
        "Schmied, was kostet ein Schwert?",
        "I ask the smith for a sword",
        "Hey Marrow!",
        "Schmied was meinst du dazu",
    ] {
        assert_eq!(talking(text), Address::Nobody(Why::Away), "{text}");
    }
    for text in [
        "Will you help us?",
        "where is the smith",
        "Tell the smith that we wait",
        "I saw Lena yesterday evening",
        "Marrow pays well",
        "Greymantle, where is Marrow?",
        "Lena was late",
    ] {
        assert_eq!(asked(&talking(text)), Some(GREYMANTLE), "{text}");
    }
    for text in ["Bartok, an ale", "Bartok was kostet ein Bier", "bartok was gibt es neues"] {
        assert_eq!(asked(&talking(text)), Some(BARTOK), "{text}");
    }
}

#[test]
fn names_like_words_count_only_when_called() {
    let npcs =
        [Called { name: "Bartok", aliases: &[] }, Called { name: "Greymantle", aliases: &[] }];
    let players =
        [Called { name: "Wren", aliases: &[] }, Called { name: "Rose Oak", aliases: &[] }];
    let mut addresser = Addresser::new(&npcs, &players, "en");
    ["Amber", "Summer", "Peter", "Sommer"].iter().for_each(|name| addresser.meet(name));
    let talking = |text: &str| {
        addresser.address(&AddressInput {
            text,
            candidates: &[HERE; 2],
            conversation: TALKING,
            pinned: None,
            players_present: 3,
        })
    };
    for text in [
        "Amber ale, please",
        "Summer wine, please",
        "a pint of the amber",
        "Wren feathers, please",
        "Rose oil, please",
        "It will soon peter out",
        "Sommer war schöner",
        "Einen Krug vom letzten Sommer",
    ] {
        assert_eq!(asked(&talking(text)), Some(GREYMANTLE), "{text}");
    }
    for text in [
        "Amber, what do you think?",
        "What do you say, Summer?",
        "hey Peter can you help me",
        "rose can you help me",
        "peter kannst du mir helfen",
        "Wren, your turn!",
        "Rose, your turn!",
        "I ask Summer for a rope",
        "Sommer, hast du Würfel?",
        "Ich frage Peter, was er davon hält.",
    ] {
        assert!(matches!(talking(text), Address::Player(_)), "{text}: {:?}", talking(text));
    }
}

proptest! {
    #[test]
    fn only_npcs_that_can_answer_do(
        text in "(Bartok|Greymantle|Elara|barkeep|bar talk|the|and|hey|is|,|\\.|\\?|'s| ){0,14}\\PC{0,6}",
        present in any::<[bool; 4]>(),
        muted in any::<[bool; 4]>(),
        pinned in proptest::option::of(0usize..5),
        talking in proptest::option::of(0usize..5),
        players in 0usize..3,
    ) {
        let address = ask(&text, |input, npcs| {
            for (index, npc) in npcs.iter_mut().enumerate() {
                (npc.present, npc.muted) = (present[index], muted[index]);
            }
            input.pinned = pinned;
            input.conversation = talking.map(|index| (index, Duration::ZERO));
            input.players_present = players;
        });
        if let Address::Npc { index, others_named, .. } = address {
            prop_assert!(present[index] && !muted[index]);
            prop_assert!(!others_named.contains(&index));
        }
    }
}
