//! Voices of NPCs, changed at a table in Discord.

use discord_loopback::{AUDIBLE, Options, Slash};

use super::hall::{BOUND, Hall};

fn voice(name: &str) -> Slash {
    Slash::new("npc voice").option("name", "Hale").option("voice", name)
}

#[tokio::test(flavor = "multi_thread")]
async fn another_voice_is_chosen_and_heard() {
    let (hall, dora) = Hall::in_session(Options::default(), "").await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    dora.forget();
    let anna = hall.inn.add_member("Anna", &[]);
    assert!(hall.told(&anna, voice("flite awb")).await.contains("only game masters"));
    let refused = hall.told(&hall.dm, voice("espeak enn")).await;
    assert!(refused.contains("unknown voice 'enn' of espeak (nearest: "), "{refused}");
    let refused = hall.told(&hall.dm, voice("wyoming joe")).await;
    assert!(refused.contains("voice service 'wyoming' is not configured"), "{refused}");
    let answer = hall.asks(&hall.dm, voice("flite awb · male, Scottish")).await;
    let answer = answer.message.expect("an answer");
    assert!(answer.text().contains("Captain Hale speaks as flite awb"), "{}", answer.text());
    let found = hall.discord.autocomplete(&hall.dm, hall.inn.text, voice("scott"), "voice").await;
    let found = found.unwrap().wait_first(BOUND).await.unwrap().choices();
    assert!(found.iter().any(|it| it.0 == "flite awb · male, Scottish"), "{found:?}");
    let pressed = hall.presses(&hall.dm, &answer, "Hear it").await;
    assert!(pressed.text().contains("Captain Hale says how it sounds."), "{}", pressed.text());
    dora.wait_for_voice(hall.discord.bot(), AUDIBLE, BOUND).await.unwrap();
    hall.ends();
}
