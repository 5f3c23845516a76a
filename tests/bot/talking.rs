//! Players talk, NPCs answer.

use discord_loopback::{AUDIBLE, Options};

use super::hall::{BOUND, Hall, answers_of, is_in, said, throws, understood};

#[tokio::test(flavor = "multi_thread")]
async fn spoken_dice_request_is_answered_with_total() {
    let (hall, [_dora, player]) = Hall::with_player(Options::default(), "", "Anna").await;
    let total = hall.rolls_for(&player).await;
    // An answer is kept as far as it was heard.
    let answers = answers_of("Bartok", &hall.ends_keeping());
    assert!(answers.iter().any(|answer| is_in(answer, total)), "{total}: {answers:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn spoken_dice_total_is_understood_by_whisper() {
    let Some((hall, [_dora, player])) = Hall::heard_by_whisper("Anna").await else { return };
    // A recogniser mishears one synthesised number in six ("eight" as "it"): it may ask again.
    let mut misheard = Vec::new();
    while misheard.len() < 4 {
        let total = hall.rolls_for(&player).await;
        let heard = understood(&player.heard(hall.discord.bot())).await;
        if is_in(&heard, total) {
            return hall.ends();
        }
        misheard.push((total, heard));
    }
    panic!("no total was understood: {misheard:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_players_are_answered_by_two_npcs() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let [anna, ben, carl] = ["Anna", "Ben", "Carl"].map(|name| hall.inn.add_member(name, &[]));
    let mut players = Vec::new();
    for member in [&anna, &ben, &carl] {
        players.push(hall.discord.join_voice(member, hall.inn.voice).await.unwrap());
    }
    hall.listens_to("Carl").await;
    let notice = hall.reads(|it| it.content().contains("Carl**")).await;
    let pressed = hall.discord.press(&carl, hall.inn.text, notice.id, "consent:out").await.unwrap();
    assert!(pressed.now().text().contains("no longer hear you"));
    hall.reads(|it| it.content().contains("Not heard: Carl")).await;
    let bot = hall.discord.bot();
    let quiet = std::time::Duration::from_millis(500);
    hall.has_greeted(&players[2]).await;
    players[0].forget();

    // All three at once; the one who opted out asks for other dice.
    let lines = [
        said("slt", "Bartok, roll two d six plus three"),
        said("rms", "Greymantle, good evening"),
        said("awb", "Bartok, roll three d twenty"),
    ];
    let speeches: Vec<_> =
        players.iter().zip(lines).map(|(player, line)| player.start_saying(line)).collect();
    for speech in speeches {
        speech.finished().await.unwrap();
    }
    players[0].wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    hall.reads(|it| it.text().contains("2: 2 answered")).await;
    players[0].wait_for_silence(bot, quiet, BOUND).await.unwrap();
    assert_eq!(throws(&hall).len(), 1, "one throw of dice, and not of three d twenty");
    let kept = hall.ends_keeping();
    assert!(kept.contains("Greymantle") && kept.contains("good evening"), "{kept}");
    assert!(!kept.to_lowercase().contains("twenty"), "{kept}");
}
