//! Players talk, NPCs answer.

use discord_loopback::{Options, Slash};

use super::hall::{BOUND, Hall, said, understood};

#[tokio::test(flavor = "multi_thread")]
async fn a_player_asks_for_dice_and_hears_the_total() {
    let (hall, _dora) = Hall::in_session(Options::default(), "").await;
    let anna = hall.inn.add_member("Anna", &[]);
    let player = hall.discord.join_voice(&anna, hall.inn.voice).await.unwrap();
    hall.listens_to("Anna").await;
    let bot = hall.discord.bot();
    player.wait_for_silence(bot, std::time::Duration::from_millis(500), BOUND).await.unwrap();
    player.forget();
    player.say(&said("slt", "Bartok, roll two d six plus three")).await.unwrap();
    player.wait_for_voice(bot, discord_loopback::AUDIBLE, BOUND).await.unwrap();
    player.wait_for_silence(bot, std::time::Duration::from_millis(700), BOUND).await.unwrap();
    let heard = understood(&player.heard(bot)).await;
    eprintln!("heard: {heard}");
    let roll = hall.reads(|it| it.content().contains("2d6")).await;
    eprintln!("roll: {}", roll.content());
    hall.ends();
}
