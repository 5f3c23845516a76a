//! Commands at the table, by its game master and by players.

use std::time::Duration;

use discord_loopback::{AUDIBLE, Member, Options, Slash};

use super::hall::{BOUND, Hall};

/// Answer that only the asker reads.
async fn told(hall: &Hall, member: &Member, slash: Slash) -> String {
    let answer = hall.asks(member, slash).await;
    assert!(answer.ephemeral() && !answer.deferred(), "{}", answer.text());
    answer.text()
}

fn npc(sub: &str, name: &str) -> Slash {
    Slash::new(&format!("npc {sub}")).option("name", name)
}

#[tokio::test(flavor = "multi_thread")]
async fn game_master_steers_the_table() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let dm = &hall.dm;
    let is = async |slash: Slash, wanted: &str| {
        let text = told(&hall, dm, slash).await;
        assert!(text.contains(wanted), "wanted '{wanted}': {text}");
    };
    is(npc("mute", "bartok"), "Bartok the Barkeep is muted.").await;
    is(Slash::new("npc list"), "**Bartok the Barkeep** · muted · up to").await;
    is(Slash::new("npc muteall"), "Everyone is muted.").await;
    is(npc("unmute", "Mira"), "Mira Quickfingers may speak again.").await;
    is(Slash::new("npc unmuteall"), "Everyone may speak again.").await;
    is(npc("mute", "Bartk"), "npc 'Bartk' (known: Bartok the Barkeep,").await;
    is(npc("direct", "Hale").option("note", "Be late.").option("turns", 3), "for 3 turns").await;
    is(npc("show", "Hale"), "Has a note for 3 more turns").await;
    is(npc("direct", "Hale"), "Captain Hale has no note.").await;
    is(npc("pin", "Hale"), "go to Captain Hale").await;
    is(npc("show", "Hale"), "Pinned: what everyone says").await;
    is(Slash::new("npc unpin"), "go to the NPC they name or talk with").await;
    let deep = Slash::new("tier set").option("tier", "deep").option("minutes", 5);
    is(deep.option("npc", "Mira"), "**Mira Quickfingers** · up to").await;
    is(Slash::new("tier show"), "set to deep, 5 min left · no answer yet").await;
    is(Slash::new("tier set").option("tier", "fast"), " · set to fast · ").await;
    let cleared = told(&hall, dm, Slash::new("tier clear")).await;
    assert!(!cleared.contains("set to"), "{cleared}");
    let mill = Slash::new("scene set").option("location", "The Old Mill").option("time", "dusk");
    is(mill, "**The Old Mill**, dusk").await;
    is(Slash::new("scene leave").option("npc", "Mira"), "Not here: Mira Quickfingers").await;
    is(Slash::new("scene set").option("time", "-"), "**The Old Mill**\nHere:").await;
    is(Slash::new("scene set"), "no place or time given").await;
    is(Slash::new("scene enter").option("npc", "Mira"), "Mira Quickfingers").await;
    is(Slash::new("session status"), "Heard:").await;
    let typing = Slash::new("scene enter").option("npc", "quick");
    let completed = hall.discord.autocomplete(dm, hall.inn.text, typing, "npc").await.unwrap();
    let completed = completed.wait_first(BOUND).await.unwrap().choices();
    assert_eq!(completed[0].0, "Mira Quickfingers");
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn typed_words_are_answered_aloud() {
    let (hall, dora) = Hall::in_session(Options::default(), "").await;
    let bot = hall.discord.bot();
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    dora.forget();
    let anna = hall.inn.add_member("Anna", &[]);
    let named = told(&hall, &anna, Slash::new("character set").option("name", "Thorin")).await;
    assert!(named.contains("**Thorin**"), "{named}");
    let taken = told(&hall, &anna, Slash::new("character set").option("name", "bartok")).await;
    assert!(taken.contains("'bartok' is an NPC"), "{taken}");
    let other = Slash::new("character set").option("name", "X").option("player", hall.dm.id);
    assert!(told(&hall, &anna, other).await.contains("only game masters"));
    let say = |text: &str| Slash::new("say").option("text", text).option("npc", "Bartok");
    let answer = hall.asks(&anna, say("roll 2d6+3 for me")).await;
    assert!(!answer.ephemeral(), "the table reads what was asked");
    assert!(answer.text().contains("To **Bartok the Barkeep**"), "{}", answer.text());
    dora.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    hall.reads(|it| it.content().contains("Thorin") && it.content().contains("2d6")).await;
    let to_nobody = Slash::new("say").option("text", "How do you do?");
    let berta = hall.inn.add_member("Berta", &[]);
    assert!(!hall.asks(&berta, to_nobody).await.ephemeral());
    hall.reads(|it| it.text().contains("Berta: say a name first")).await;
    let card = Slash::new("say").option("text", "x card");
    assert!(told(&hall, &anna, card).await.contains("No player learns"));
    told(&hall, &hall.dm, Slash::new("npc unmuteall")).await;
    told(&hall, &hall.dm, npc("mute", "Bartok")).await;
    assert!(told(&hall, &anna, say("and again")).await.contains("Bartok the Barkeep is muted"));
    hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn players_roll_and_use_xcard_but_cannot_steer() {
    let (hall, dora) = Hall::in_session(Options::default(), "").await;
    let (bot, anna) = (hall.discord.bot(), hall.inn.add_member("Anna", &[]));
    let roll = |text: &str| Slash::new("roll").option("expression", text);
    let open = hall.asks(&anna, roll("2d6+3 to hit")).await;
    assert!(!open.ephemeral() && open.text().contains("to hit"), "{}", open.text());
    assert!(told(&hall, &anna, roll("1d20 adv").option("secret", true)).await.contains("2d20kh1"));
    let wrong = told(&hall, &anna, roll("5000d6")).await;
    assert!(wrong.contains("1,000") || wrong.contains("1000"), "{wrong}");
    for slash in ["npc muteall", "tier show", "scene show", "session status"] {
        let refused = told(&hall, &anna, Slash::new(slash)).await;
        assert!(refused.contains("only game masters"), "{refused}");
    }
    let typing = Slash::new("scene set").option("location", "");
    let completed = hall.discord.autocomplete(&anna, hall.inn.text, typing, "location").await;
    let completed = completed.unwrap().wait_first(BOUND).await.unwrap().choices();
    assert_eq!(completed, [], "players see no places of the game master");
    hall.listens_to("Dora").await;
    dora.wait_for_silence(bot, Duration::from_millis(700), BOUND).await.unwrap();
    dora.forget();
    let line = "I will now tell you a very long story about a very old mill beside the river.";
    told(&hall, &hall.dm, npc("speak", "Bartok").option("text", line)).await;
    dora.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    let card = told(&hall, &anna, Slash::new("xcard")).await;
    assert!(card.contains("No player learns"), "{card}");
    let word = hall.reads(|it| it.content().contains("An X-card was held up.")).await;
    assert!(!word.content().contains("Anna"), "{}", word.content());
    let list = told(&hall, &hall.dm, Slash::new("npc list")).await;
    assert!(list.lines().filter(|it| it.contains("**")).all(|it| it.contains("muted")), "{list}");
    told(&hall, &hall.dm, Slash::new("session stop")).await;
    let none = told(&hall, &anna, Slash::new("xcard")).await;
    assert!(none.contains("(start one: /session start)"), "{none}");
    assert!(told(&hall, &hall.dm, Slash::new("npc list")).await.contains("Bartok"));
    hall.ends();
}
